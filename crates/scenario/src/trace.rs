//! Traces of links: rows of time, rate, delay and loss, and the changes that they expand to.

use crate::change::LinkChange;
use crate::error::list;
use crate::report::{BadLine, WrongKey, not_read};
use schemars::JsonSchema;
use serde::Deserialize;
use units::{Rate, Span};

/// Changes of a link in rows. The first row names the columns: `t_s`, an increasing time, and one
/// or more of `rate_bps` (0 is an outage: packets wait), `delay_s` and `loss`. Each row applies
/// from its time on.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// A file with the rows (CSV); its path is relative to the scenario file.
    #[serde(default)]
    pub file: Option<String>,
    /// The rows themselves.
    #[serde(default)]
    pub rows: Option<String>,
    /// Period after which the trace begins again. Without it the last row applies to the end of the
    /// run.
    #[serde(default)]
    #[schemars(extend("range" = REPEAT))]
    pub repeat: Option<Span>,
}

/// Most changes from a trace, with its repetitions and on all copies of its link: a plan and its
/// result contain each of them, at about 2 kB.
const MOST_CHANGES: u64 = 1_000_000;

/// Help for a wrong row.
pub(crate) const RIGHT: &str =
    "rows are numbers under the columns that the first row names, such as t_s,rate_bps";

const COLUMNS: [&str; 4] = ["t_s", "rate_bps", "delay_s", "loss"];

fn bad<T>(line: usize, why: String) -> Result<T, BadLine> {
    Err(BadLine { line, why })
}

/// The changes in `rows`, each once.
pub(crate) fn parse(rows: &str) -> Result<Vec<LinkChange>, BadLine> {
    let rows = rows.trim_start_matches('\u{feff}'); // a byte order mark, which some programs write
    let plain = |line: &str| line.split('#').next().unwrap_or("").trim().to_owned();
    let lines = (1..).zip(rows.lines().map(plain)).filter(|(_, line)| !line.is_empty());
    let mut columns = Vec::new();
    let mut changes: Vec<LinkChange> = Vec::new();
    for (number, line) in lines {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if columns.is_empty() {
            columns = header(number, &cells)?;
            continue;
        }
        if cells.len() != columns.len() {
            let why = format!("it has {} values for {} columns", cells.len(), columns.len());
            return bad(number, why);
        }
        let mut change =
            LinkChange { at: Span::ZERO, rate: None, delay: None, loss: None, up: None };
        for (column, cell) in columns.iter().zip(&cells) {
            fill(&mut change, column, cell).map_err(|why| BadLine { line: number, why })?;
        }
        if let Some(before) = changes.last().filter(|before| before.at >= change.at) {
            let (now, before) = (change.at.seconds(), before.at.seconds());
            return bad(number, format!("time goes back: {now} s after {before} s"));
        }
        changes.push(change);
    }
    match changes.is_empty() {
        true => bad(rows.lines().count().max(1), "there is no row".into()),
        false => Ok(changes),
    }
}

/// The columns named in the first row.
fn header(line: usize, cells: &[&str]) -> Result<Vec<&'static str>, BadLine> {
    let mut named: Vec<&'static str> = Vec::new();
    for cell in cells {
        let Some(column) = COLUMNS.into_iter().find(|column| column == cell) else {
            let known = list(COLUMNS.into_iter());
            return bad(line, format!("`{cell}` is not a column; the first row names {known}"));
        };
        named.push(column);
    }
    let twice = (1..named.len()).find(|&at| named[..at].contains(&named[at]));
    if let Some(at) = twice {
        return bad(line, format!("the column `{}` is there twice", named[at]));
    }
    match named.contains(&"t_s") && named.len() > 1 {
        true => Ok(named),
        false => bad(line, "the first row names `t_s` and at least one other column".into()),
    }
}

fn fill(change: &mut LinkChange, column: &str, cell: &str) -> Result<(), String> {
    let number = cell.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    let number = number.ok_or(format!("{column} is `{cell}`; it is a number, 0 or above"))?;
    let span = || match number <= LONGEST_S {
        true => Ok(Span::from_seconds(number)),
        false => Err(format!("{column} is {cell}; it is at most {LONGEST_S} s")),
    };
    match column {
        "t_s" => change.at = span()?,
        "delay_s" => change.delay = Some(span()?),
        "rate_bps" if number > 1e15 => {
            return Err(format!("{column} is {cell}; it is at most 1e15"));
        }
        // An outage has a rate of 1 bit/s: the rest of a frame is sent when the rate is back.
        "rate_bps" => change.rate = Some(Rate((number.round() as u64).max(1))),
        _ if number > 1.0 => return Err(format!("{column} is {cell}; it lies from 0 to 1")),
        _ => change.loss = Some(number),
    }
    Ok(())
}

/// Longest time in a scenario: a year.
const LONGEST_S: f64 = 366.0 * 86_400.0;

const REPEAT: &str = "it is longer than the trace";

impl Trace {
    /// Its changes in a run of `duration`, repetitions included; the rows must be valid.
    pub(crate) fn changes(&self, duration: Span) -> Vec<LinkChange> {
        let once = self.rows.as_deref().and_then(|rows| parse(rows).ok()).unwrap_or_default();
        let Some(period) = self.repeat else {
            return once;
        };
        let begins = (0..).map(|turn| Span(period.0 * turn));
        let moved = |begin: Span| {
            once.iter().map(move |change| LinkChange { at: begin + change.at, ..change.clone() })
        };
        begins.take_while(|begin| *begin <= duration).flat_map(moved).collect()
    }

    /// Checks the trace of a link with this many copies.
    pub(crate) fn check(&self, duration: Span, copies: u64) -> Result<(), WrongKey> {
        let rows = match (&self.file, &self.rows) {
            (None, Some(rows)) => rows,
            (Some(file), None) => {
                let value = format!("\"{file}\"");
                return Err(WrongKey::value("trace.file", value, not_read("rows")));
            }
            _ => {
                let what = "`trace` has both `file` and `rows`, or neither";
                return Err(WrongKey::new("trace", what, "give one of them"));
            }
        };
        let right = "rows are numbers under the columns that the first row names";
        let once = parse(rows).map_err(|bad| bad.of("trace.rows", right))?;
        let last = once.last().map_or(Span::ZERO, |change| change.at);
        if let Some(period) = self.repeat.filter(|period| *period <= last) {
            return Err(WrongKey::value("trace.repeat", period, REPEAT));
        }
        let turns = self.repeat.map_or(1, |period| duration.0 / period.0 + 1);
        let changes = turns.saturating_mul(once.len() as u64).saturating_mul(copies);
        match changes > MOST_CHANGES {
            true => {
                let right = "a trace has at most 1,000,000 rows, repetitions and copies of the \
                             link included";
                Err(WrongKey::new("trace", format!("its trace has {changes} rows"), right))
            }
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows_become_changes_and_a_rate_of_zero_an_outage() {
        let rows = "# a walk\nt_s, rate_bps, loss\n0, 8e6, 0\n0.5, 0, 0.25 # a tunnel\n\n1,1e6,0\n";
        let changes = parse(rows).unwrap();
        let seen: Vec<_> =
            changes.iter().map(|c| (c.at, c.rate.unwrap().0, c.loss.unwrap())).collect();
        let expected = [
            (Span::ZERO, 8_000_000, 0.0),
            (Span::millis(500), 1, 0.25),
            (Span::millis(1000), 1_000_000, 0.0),
        ];
        assert_eq!(seen, expected);
        assert!(changes.iter().all(|change| change.delay.is_none() && change.up.is_none()));
    }

    #[test]
    fn a_repeated_trace_begins_again_until_the_run_ends() {
        let rows = Some("t_s,delay_s\n0,0.01\n1,0.02\n".to_owned());
        let trace = Trace { rows, repeat: Some(Span::millis(2000)), ..Trace::default() };
        let at: Vec<_> = trace.changes(Span::millis(5000)).iter().map(|c| c.at.seconds()).collect();
        assert_eq!(at, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn what_is_wrong_with_rows_is_said_with_its_line() {
        let wrong = |rows: &str| parse(rows).map(|_| ()).unwrap_err();
        let cases = [
            ("t_s,rate_bps\n0,1\n2,1\n1,1\n", 4, "time goes back: 1 s after 2 s"),
            ("t_s,rate_bps\n0,1\n0,2\n", 3, "time goes back: 0 s after 0 s"),
            ("t_s,rate_bps\n0\n", 2, "it has 1 values for 2 columns"),
            ("t_s,rate_bps\n0,x\n", 2, "rate_bps is `x`; it is a number, 0 or above"),
            ("t_s,loss\n0,2\n", 2, "loss is 2; it lies from 0 to 1"),
            ("t_s,rate\n", 1, "`rate` is not a column"),
            ("t_s\n", 1, "the first row names `t_s` and at least one other column"),
            ("t_s,loss,loss\n", 1, "the column `loss` is there twice"),
            ("t_s,loss\n", 1, "there is no row"),
        ];
        for (rows, line, why) in cases {
            let error = wrong(rows);
            assert!(error.line == line && error.why.contains(why), "{rows:?}: {error:?}");
        }
    }

    proptest! {
        #[test]
        fn no_rows_make_the_reader_panic(rows in "(t_s,(rate_bps|delay_s|loss)\n)?[-0-9.,e#\n a-z]{0,80}") {
            if let Ok(changes) = parse(&rows) {
                prop_assert!(changes.windows(2).all(|pair| pair[0].at < pair[1].at));
            }
        }
    }
}
