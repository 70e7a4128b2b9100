//! Quantities as text: `"10 Mb/s"`, `"27.5 ms"`, `"1448 B"`, `"200 packets"`.

use crate::{Bytes, Packets, Rate, Span, Time};
use core::fmt;
use core::str::FromStr;
use serde::de::{Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};
use std::borrow::Cow;

/// The error for a text that is not the expected quantity, with a right example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantityError {
    text: String,
    problem: String,
    kind: &'static Kind,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Kind { noun, example, .. } = self.kind;
        write!(
            f,
            "`{}` is not a {noun}: {}; write, for example, \"{example}\"",
            self.text, self.problem
        )
    }
}

impl std::error::Error for QuantityError {}

/// A kind of quantity, with the values of its units in its base unit.
#[derive(Debug, PartialEq, Eq)]
struct Kind {
    noun: &'static str,
    example: &'static str,
    /// Values are printed in the first unit that gives a whole number.
    units: &'static [Unit],
    /// Units of another kind that are often mistaken for these, and the error text for each.
    foreign: &'static [(&'static str, &'static str)],
    zero_allowed: bool,
    /// The unit of a printed zero.
    zero: &'static str,
    /// The name of a number in the base unit, and its type in JSON.
    number: (&'static str, &'static str),
    /// Largest value in base units.
    most: u64,
}

/// A unit and its spellings.
#[derive(Debug, PartialEq, Eq)]
struct Unit {
    worth: u64,
    /// Spellings whose case matters, for bits against bytes or milli against mega; the first one is
    /// printed.
    exact: &'static [&'static str],
    /// Spellings whose case does not matter.
    words: &'static [&'static str],
}

impl Unit {
    const fn new(
        worth: u64,
        exact: &'static [&'static str],
        words: &'static [&'static str],
    ) -> Self {
        Unit { worth, exact, words }
    }

    /// The printed spelling.
    fn name(&self) -> &'static str {
        self.spellings().next().unwrap_or("")
    }

    fn spellings(&self) -> impl Iterator<Item = &'static str> {
        self.exact.iter().chain(self.words).copied()
    }

    fn is(&self, text: &str) -> bool {
        self.exact.contains(&text) || self.words.iter().any(|word| word.eq_ignore_ascii_case(text))
    }
}

const BYTES_A_SECOND: &str = "a capital B is a byte: a rate is in bits, eight times as many";
const BITS: &str = "a small b is a bit: a size is in bytes";

static RATE: Kind = Kind {
    noun: "rate",
    example: "10 Mb/s",
    units: &[
        Unit::new(
            1_000_000_000,
            &["Gb/s", "gb/s", "Gbps", "gbps"],
            &["Gbit/s", "Gbit", "Gbits/s", "Gbit/sec"],
        ),
        Unit::new(
            1_000_000,
            &["Mb/s", "mb/s", "Mbps", "mbps"],
            &["Mbit/s", "Mbit", "Mbits/s", "Mbit/sec"],
        ),
        Unit::new(
            1_000,
            &["kb/s", "Kb/s", "kbps", "Kbps"],
            &["kbit/s", "kbit", "kbits/s", "kbit/sec"],
        ),
        Unit::new(1, &["b/s", "bps"], &["bit/s", "bit", "bits/s", "bit/sec"]),
    ],
    foreign: &[("B/s", BYTES_A_SECOND), ("Bps", BYTES_A_SECOND), ("BPS", BYTES_A_SECOND)],
    zero_allowed: false,
    zero: "b/s",
    number: ("bit/s", "integer"),
    most: 1_000_000_000_000_000, // 1 Pb/s
};

static SPAN: Kind = Kind {
    noun: "time",
    example: "40 ms",
    units: &[
        Unit::new(1_000_000_000, &["s"], &["sec", "secs", "second", "seconds"]),
        Unit::new(1_000_000, &["ms"], &["msec", "msecs", "millisecond", "milliseconds"]),
        Unit::new(
            1_000,
            &["us", "\u{b5}s", "\u{3bc}s"],
            &["usec", "usecs", "microsecond", "microseconds"],
        ),
        Unit::new(1, &["ns"], &["nsec", "nsecs", "nanosecond", "nanoseconds"]),
        // Whatever is printed is printed in one of those above.
        Unit::new(60_000_000_000, &[], &["min", "mins", "minute", "minutes"]),
        Unit::new(3_600_000_000_000, &["h"], &["hour", "hours"]),
        Unit::new(86_400_000_000_000, &["d"], &["day", "days"]),
    ],
    foreign: &[],
    zero_allowed: true,
    zero: "s",
    number: ("seconds", "number"),
    most: 31_536_000_000_000_000, // a year
};

static BYTES: Kind = Kind {
    noun: "size",
    example: "1500 B",
    units: &[
        Unit::new(1 << 30, &["GiB"], &[]),
        Unit::new(1_000_000_000, &["GB"], &["gigabytes"]),
        Unit::new(1 << 20, &["MiB"], &[]),
        Unit::new(1_000_000, &["MB"], &["megabytes"]),
        Unit::new(1 << 10, &["KiB"], &[]),
        Unit::new(1_000, &["kB"], &["kilobytes"]),
        Unit::new(1, &["B"], &["bytes", "byte"]),
    ],
    foreign: &[("b", BITS), ("bit", BITS), ("bits", BITS)],
    zero_allowed: true,
    zero: "B",
    number: ("bytes", "integer"),
    most: 1 << 60,
};

static PACKETS: Kind = Kind {
    noun: "number of packets",
    example: "200 packets",
    units: &[Unit::new(1, &[], &["packets", "packet", "pkts", "pkt"])],
    foreign: &[],
    zero_allowed: true,
    zero: "packets",
    number: ("packets", "number"),
    most: 1 << 31,
};

/// Length of the digits, signs and points at the beginning.
fn digits(text: &str) -> usize {
    let other = |c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_'));
    text.find(other).unwrap_or(text.len())
}

impl Kind {
    /// The schema of the serialised number.
    fn number(&self) -> schemars::Schema {
        let (unit, kind) = self.number;
        let description = format!("a {} in {unit}", self.noun);
        schemars::json_schema!({ "type": kind, "description": description })
    }

    /// The schema of the parsed text: with the units, and the range if there is one.
    fn text(&self) -> schemars::Schema {
        let Kind { noun, example, .. } = self;
        let units: Vec<_> = self.units.iter().map(Unit::name).collect();
        let mut schema = schemars::json_schema!({
            "type": "string",
            "description": format!("a {noun} with its unit, for example \"{example}\""),
            "units": units,
        });
        if !self.zero_allowed {
            schema.insert("range".into(), "above zero".into());
        }
        schema
    }

    fn error(&'static self, text: &str, problem: impl Into<String>) -> QuantityError {
        QuantityError { text: text.into(), problem: problem.into(), kind: self }
    }

    /// The number before the unit, and the value of the unit.
    fn split(&'static self, text: &str) -> Result<(f64, u64), QuantityError> {
        let trimmed = text.trim();
        let mut end = digits(trimmed);
        if let Some(exponent) = trimmed[end..].strip_prefix(['e', 'E']) {
            let length = digits(exponent);
            end += if length > 0 { 1 + length } else { 0 };
        }
        let (number, unit) = (trimmed[..end].replace('_', ""), trimmed[end..].trim());
        let value: f64 =
            number.parse().map_err(|_| self.error(text, "it does not begin with a number"))?;
        if unit.is_empty() {
            return Err(self.error(text, "its unit is missing"));
        }
        let Some(&Unit { worth, .. }) = self.units.iter().find(|known| known.is(unit)) else {
            return Err(self.error(text, self.unknown(unit)));
        };
        if value < 0.0 {
            return Err(self.error(text, "it is negative"));
        }
        if value == 0.0 && !self.zero_allowed {
            return Err(self.error(text, "it is zero"));
        }
        Ok((value, worth))
    }

    /// The error for an unknown unit.
    fn unknown(&self, unit: &str) -> String {
        let known: Vec<_> = self.units.iter().map(Unit::name).collect();
        let known = known.join(", ");
        let foreign = self.foreign.iter().find(|(name, _)| unit.ends_with(name));
        let why = foreign.map_or(String::new(), |(_, why)| format!(", as {why}"));
        format!("`{unit}` is not one of its units ({known}){why}")
    }

    /// The quantity in base units, which must be a whole number of them within 64 bits.
    fn parse(&'static self, text: &str) -> Result<u64, QuantityError> {
        let (value, worth) = self.split(text)?;
        let base = value * worth as f64;
        if !base.is_finite() || base > self.most as f64 {
            return Err(self.error(text, "it is too large"));
        }
        let whole = (base + 0.5) as u64;
        if whole == 0 && value > 0.0 && !self.zero_allowed {
            return Err(self.error(text, "it is less than one of its smallest unit"));
        }
        Ok(whole)
    }

    /// The largest unit that prints `base` as a whole number.
    fn print(&self, base: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if base == 0 {
            return write!(f, "0 {}", self.zero);
        }
        let fits = |unit: &&Unit| base.is_multiple_of(unit.worth);
        match self.units.iter().find(fits) {
            Some(unit) => write!(f, "{} {}", base / unit.worth, unit.name()),
            None => write!(f, "{base}"), // each kind has a unit that is worth 1
        }
    }
}

/// Text in both directions for one quantity type over whole base units.
macro_rules! textual {
    ($type:ident, $kind:ident) => {
        impl FromStr for $type {
            type Err = QuantityError;
            fn from_str(text: &str) -> Result<Self, QuantityError> {
                $kind.parse(text).map($type)
            }
        }
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $kind.print(self.0, f)
            }
        }
        deserialised!($type, $kind);
    };
}

/// A quantity is read from text. It is written as a number in SI units, with the unit in the
/// field's name: `#[serde(rename(serialize = "delay_s"))]`.
macro_rules! deserialised {
    ($type:ident, $kind:ident) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(TextVisitor(&$kind)).and_then(|text: String| {
                    text.parse().map_err(<D::Error as serde::de::Error>::custom)
                })
            }
        }
        impl schemars::JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                if generator.contract().is_serialize() {
                    return $kind.number();
                }
                $kind.text()
            }
        }
    };
}

textual!(Rate, RATE);
textual!(Span, SPAN);
textual!(Bytes, BYTES);
deserialised!(Packets, PACKETS);

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.seconds())
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl Serialize for Packets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

/// The schema of [`Packets`] that are written as a whole number: for
/// `#[schemars(with = "WholePackets")]` beside [`Packets::whole`].
#[derive(Debug)]
pub struct WholePackets;

impl schemars::JsonSchema for WholePackets {
    fn schema_name() -> Cow<'static, str> {
        "WholePackets".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        if generator.contract().is_serialize() {
            return schemars::json_schema!({ "type": "integer" });
        }
        generator.subschema_for::<Packets>()
    }
}

impl Packets {
    /// Writes a limit as a whole number, for `#[serde(serialize_with = "Packets::whole")]`.
    ///
    /// # Errors
    /// Those of `serializer`.
    pub fn whole<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0 as u64)
    }
}

impl FromStr for Packets {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let (value, _) = PACKETS.split(text)?;
        match value <= PACKETS.most as f64 {
            true => Ok(Packets(value)),
            false => Err(PACKETS.error(text, "it is too large")),
        }
    }
}

impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packets", self.0)
    }
}

impl From<Span> for Time {
    fn from(span: Span) -> Time {
        Time(span.0)
    }
}

/// Parses the text; the error for another value says what to write.
struct TextVisitor(&'static Kind);

impl Visitor<'_> for TextVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {} with its unit, such as \"{}\"", self.0.noun, self.0.example)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_case(text: &str, upper: u64) -> String {
        let cased = |(i, c): (usize, char)| match upper >> (i % 64) & 1 {
            1 => c.to_ascii_uppercase(),
            _ => c.to_ascii_lowercase(),
        };
        text.chars().enumerate().map(cased).collect()
    }

    #[test]
    fn no_spelling_stands_for_two_units() {
        for kind in [&RATE, &SPAN, &BYTES, &PACKETS] {
            for unit in kind.units {
                for text in unit.spellings() {
                    let units = kind.units.iter().filter(|other| other.is(text));
                    assert_eq!(units.count(), 1, "{text}");
                }
            }
        }
    }

    #[test]
    fn what_people_and_tc_write_is_read() {
        let rate = |text: &str| text.parse::<Rate>().map(|rate| rate.0);
        for text in ["10 Mb/s", "10 mb/s", "10Mbit", "10mbit", "10 MBIT/S", "10Mbps", "1e7 b/s"] {
            assert_eq!(rate(text), Ok(10_000_000), "{text}");
        }
        let time = |text: &str| text.parse::<Span>().map(Span::seconds);
        for (text, seconds) in
            [("1 min", 60.0), ("1.5 Minutes", 90.0), ("2 h", 7200.0), ("1d", 86_400.0)]
        {
            assert_eq!(time(text), Ok(seconds), "{text}");
        }
        assert_eq!("60 s".parse::<Span>().unwrap().to_string(), "60 s");
    }

    #[test]
    fn where_case_changes_the_meaning_it_is_kept() {
        for text in ["10 MB/s", "10 MBps", "10 GBPS", "10 B/s"] {
            let error = text.parse::<Rate>().unwrap_err().to_string();
            assert!(error.contains("a capital B is a byte"), "{error}");
        }
        for text in ["10 Mb", "10 kb", "10 Mbit"] {
            let error = text.parse::<Bytes>().unwrap_err().to_string();
            assert!(error.contains("a small b is a bit"), "{error}");
        }
        for text in ["1 Ms", "1 MS", "1 m"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_accepted_spelling_of_a_unit_gives_the_same_value(
            number in 1u32..300, upper: u64, spaces in "[ ]{0,2}",
        ) {
            for kind in [&RATE, &SPAN, &BYTES, &PACKETS] {
                for unit in kind.units {
                    let right = kind.parse(&format!("{number} {}", unit.name()));
                    prop_assert_eq!(&right, &Ok(u64::from(number) * unit.worth));
                    for text in unit.exact {
                        prop_assert_eq!(&kind.parse(&format!("{number}{spaces}{text}")), &right);
                    }
                    for text in unit.words {
                        let text = any_case(text, upper);
                        prop_assert_eq!(&kind.parse(&format!("{number}{spaces}{text}")), &right);
                    }
                }
            }
        }

        #[test]
        fn a_spelling_that_is_not_listed_is_never_guessed(unit in "[a-zA-Z/]{1,6}") {
            for kind in [&RATE, &SPAN, &BYTES, &PACKETS] {
                let known = kind.units.iter().any(|known| known.is(&unit));
                prop_assert_eq!(kind.parse(&format!("7{unit}")).is_ok(), known);
            }
        }
    }
}
