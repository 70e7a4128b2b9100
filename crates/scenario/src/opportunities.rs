//! Opportunities of a link to send, in place of a rate.

use crate::report::{BadLine, WrongKey, not_read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use std::sync::Arc;
use units::{NANOS, Rate, Span};

/// Times at which a link may send, as recorded on cellular links (the format of mahimahi). Each
/// number is a time in milliseconds at which the link may send up to 1500 B; numbers never
/// decrease. The last number is also the period after which the times repeat.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Opportunities {
    /// A file with the numbers, one on each line; its path is relative to the scenario file.
    #[serde(default)]
    pub file: Option<String>,
    /// The numbers themselves, with spaces or line breaks between them.
    #[serde(default)]
    pub times: Option<String>,
    /// Time in the trace at which the run begins.
    #[serde(default)]
    pub start: Span,
}

/// Most times of a link: each takes 4 B in a plan, and about 10 B in the scenario and the plan of a
/// result.
const MOST: usize = 10_000_000;

/// Longest period, in ms: 30 days.
const LONGEST_MS: u32 = 30 * 86_400_000;

/// Bytes that an opportunity carries.
const BYTES: u64 = 1500;

/// Help for a wrong number.
pub(crate) const RIGHT: &str =
    "a number is a time in milliseconds, such as 0 1 1 5, and none is below the one before it";

/// The opportunities of a link of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlanOpportunities {
    /// Times in ms, never decreasing; the last is the period and not zero.
    #[serde(serialize_with = "each")]
    #[schemars(with = "Vec<u32>")]
    pub times_ms: Arc<[u32]>,
    /// Time in the trace at which the run begins.
    #[serde(rename = "start_s")]
    pub start: Span,
}

fn each<S: Serializer>(times: &Arc<[u32]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(times.iter())
}

impl PlanOpportunities {
    /// Period after which they repeat.
    pub fn period(&self) -> Span {
        Span::millis(self.times_ms.last().map_or(0, |last| u64::from(*last)))
    }

    /// Their highest long-run rate, to the bit/s.
    pub fn mean_rate(&self) -> Rate {
        let bits = 8 * BYTES * self.times_ms.len() as u64;
        let rate = u128::from(bits) * u128::from(NANOS) / u128::from(self.period().0.max(1));
        Rate((rate as u64).max(1))
    }

    /// Their highest rate after `begin` and until `end` of the run, in bit/s.
    pub fn rate_bps(&self, begin: Span, end: Span) -> f64 {
        let count = self.until(end).saturating_sub(self.until(begin));
        (8 * BYTES * count) as f64 / (end.seconds() - begin.seconds())
    }

    /// Number of opportunities from the start of the trace to the time `at` of the run.
    fn until(&self, at: Span) -> u64 {
        let (at, period) = ((at + self.start).0, self.period().0.max(1));
        let within = Span(at % period);
        let index = self.times_ms.partition_point(|ms| Span::millis(u64::from(*ms)) <= within);
        at / period * self.times_ms.len() as u64 + index as u64
    }
}

/// The times in `text`, in ms. A `#` begins a remark.
pub(crate) fn parse(text: &str) -> Result<Vec<u32>, BadLine> {
    let text = text.trim_start_matches('\u{feff}'); // a byte order mark, which some programs write
    let mut times: Vec<u32> = Vec::new();
    let mut last = 1;
    for (line, row) in (1..).zip(text.lines()) {
        let numbers = row.split('#').next().unwrap_or("").split_whitespace();
        for number in numbers {
            let bad = |why| Err(BadLine { line, why });
            let digits = number.bytes().all(|byte| byte.is_ascii_digit());
            let Some(ms) = number.parse::<u128>().ok().filter(|_| digits) else {
                return bad(format!(
                    "`{}` is not a whole number of milliseconds",
                    shortened(number)
                ));
            };
            let Some(ms) = u32::try_from(ms).ok().filter(|ms| *ms <= LONGEST_MS) else {
                return bad(format!("{} ms is more than 30 days", shortened(number)));
            };
            if let Some(before) = times.last().filter(|before| **before > ms) {
                return bad(format!("time goes back: {ms} ms after {before} ms"));
            }
            if times.len() == MOST {
                return bad("there are more than 10,000,000 numbers".into());
            }
            times.push(ms);
            last = line;
        }
    }
    let why = match times.last() {
        None => "there is no number",
        Some(0) => "the last number is the period, and it is 0",
        Some(_) => return Ok(times),
    };
    Err(BadLine { line: last, why: why.into() })
}

/// Shortens a word, which may be as long as a file.
fn shortened(word: &str) -> String {
    match word.char_indices().nth(20) {
        Some((end, _)) => format!("{}…", &word[..end]),
        None => word.into(),
    }
}

impl Opportunities {
    pub(crate) fn check(&self) -> Result<(), WrongKey> {
        match (&self.file, &self.times) {
            (None, Some(times)) => {
                parse(times).map(|_| ()).map_err(|bad| bad.of("opportunities.times", RIGHT))
            }
            (Some(file), None) => {
                let value = format!("\"{file}\"");
                Err(WrongKey::value("opportunities.file", value, not_read("times")))
            }
            _ => {
                let what = "`opportunities` has both `file` and `times`, or neither";
                Err(WrongKey::new("opportunities", what, "give one of them"))
            }
        }
    }

    /// Expands the opportunities of a link that has been checked.
    pub(crate) fn expand(&self) -> Option<PlanOpportunities> {
        let times_ms = parse(self.times.as_deref()?).ok()?.into();
        Some(PlanOpportunities { times_ms, start: self.start })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_may_be_in_lines_or_in_a_row_with_remarks() {
        let text = "\u{feff}# made by hand\n0\n1 1\r\n\n5 # a pause\n7\n";
        assert_eq!(parse(text), Ok(vec![0, 1, 1, 5, 7]));
    }

    #[test]
    fn what_is_wrong_with_numbers_is_said_with_its_line() {
        let cases = [
            ("", 1, "there is no number"),
            ("# nothing\n\n", 1, "there is no number"),
            ("0\n0\n", 2, "the last number is the period, and it is 0"),
            ("0\n5\n4\n", 3, "time goes back: 4 ms after 5 ms"),
            ("1\nx\n", 2, "`x` is not a whole number of milliseconds"),
            ("1\n2.5\n", 2, "`2.5` is not a whole number"),
            ("-1\n", 1, "`-1` is not a whole number"),
            ("+1\n", 1, "`+1` is not a whole number"),
            ("1\n2,3\n", 2, "`2,3` is not a whole number"),
            ("1\n2592000001\n", 2, "2592000001 ms is more than 30 days"),
            ("99999999999999999999999999999999999999999\n", 1, "`99999999999999999999…` is no"),
        ];
        for (text, line, why) in cases {
            let error = parse(text).unwrap_err();
            assert!(error.line == line && error.why.contains(why), "{text:?}: {error:?}");
        }
        let many = "1\n".repeat(MOST + 1);
        let error = parse(&many).unwrap_err();
        assert!(error.line == MOST + 1 && error.why.contains("more than 10,000,000"), "{error:?}");
    }

    #[test]
    fn what_can_be_carried_is_counted_opportunity_by_opportunity() {
        let own = |start| PlanOpportunities {
            times_ms: [0, 2, 2, 10].into(),
            start: Span::millis(start),
        };
        assert_eq!(own(0).mean_rate(), Rate(4 * 12_000 * 100));
        let within = |start, begin: u64, end: u64| {
            let (begin, end) = (Span::millis(begin), Span::millis(end));
            (own(start).rate_bps(begin, end) * (end.seconds() - begin.seconds()) / 12_000.0).round()
        };
        assert_eq!(within(0, 0, 2), 2.0); // the one at 0 ms expires at once
        assert_eq!(within(0, 2, 10), 2.0); // 10 and 0 of the next turn coincide
        assert_eq!(within(0, 0, 1_000_000), 400_000.0);
        assert_eq!(within(3, 0, 9), 4.0);
    }

    proptest! {
        #[test]
        fn no_numbers_make_the_reader_panic(text in "[-+0-9.,#\n \u{e9}a]{0,60}") {
            if let Ok(times) = parse(&text) {
                prop_assert!(times.is_sorted() && times.last() > Some(&0));
            }
        }
    }
}
