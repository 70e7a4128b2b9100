//! Quantities as text: `"10 Mb/s"`, `"27.5 ms"`, `"1448 B"`, `"200 packets"`.

use crate::{Bytes, Packets, Rate, Span, Time};
use core::fmt;
use core::str::FromStr;
use serde::de::{Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};
use std::borrow::Cow;

/// Why a text is not the quantity that was asked for, and what would be.
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

/// A kind of quantity: what its units are worth in its base unit.
#[derive(Debug, PartialEq, Eq)]
struct Kind {
    noun: &'static str,
    example: &'static str,
    /// Unit and its worth; the first of a worth is the one that is printed, largest first.
    units: &'static [(&'static str, u64)],
    zero_allowed: bool,
    /// The unit of a printed zero.
    zero: &'static str,
    /// What a number in the base unit is called, and its type in JSON.
    number: (&'static str, &'static str),
    /// Largest value in base units.
    most: u64,
}

static RATE: Kind = Kind {
    noun: "rate",
    example: "10 Mb/s",
    units: &[
        ("Gb/s", 1_000_000_000),
        ("Gbit/s", 1_000_000_000),
        ("Gbps", 1_000_000_000),
        ("Mb/s", 1_000_000),
        ("Mbit/s", 1_000_000),
        ("Mbps", 1_000_000),
        ("kb/s", 1_000),
        ("kbit/s", 1_000),
        ("kbps", 1_000),
        ("b/s", 1),
        ("bit/s", 1),
        ("bps", 1),
    ],
    zero_allowed: false,
    zero: "b/s",
    number: ("bit/s", "integer"),
    most: 1_000_000_000_000_000, // 1 Pb/s
};

static SPAN: Kind = Kind {
    noun: "time",
    example: "40 ms",
    units: &[("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("µs", 1_000), ("ns", 1)],
    zero_allowed: true,
    zero: "s",
    number: ("seconds", "number"),
    most: 31_536_000_000_000_000, // a year
};

static BYTES: Kind = Kind {
    noun: "size",
    example: "1500 B",
    units: &[
        ("GiB", 1 << 30),
        ("GB", 1_000_000_000),
        ("MiB", 1 << 20),
        ("MB", 1_000_000),
        ("KiB", 1 << 10),
        ("kB", 1_000),
        ("B", 1),
        ("bytes", 1),
    ],
    zero_allowed: true,
    zero: "B",
    number: ("bytes", "integer"),
    most: 1 << 60,
};

static PACKETS: Kind = Kind {
    noun: "number of packets",
    example: "200 packets",
    units: &[("packets", 1), ("packet", 1)],
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
    /// The schema of the number that is written.
    fn number(&self) -> schemars::Schema {
        let (unit, kind) = self.number;
        let description = format!("a {} in {unit}", self.noun);
        schemars::json_schema!({ "type": kind, "description": description })
    }

    /// The schema of the text that is read: with the units, and the range if there is one.
    fn text(&self) -> schemars::Schema {
        let Kind { noun, example, .. } = self;
        let units: Vec<_> = self.units.iter().map(|(name, _)| *name).collect();
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

    /// The number in front of the unit, and the worth of the unit.
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
        let Some(&(_, worth)) = self.units.iter().find(|(name, _)| *name == unit) else {
            let known: Vec<_> = self.units.iter().map(|(name, _)| *name).collect();
            return Err(self
                .error(text, format!("`{unit}` is not one of its units ({})", known.join(", "))));
        };
        if value < 0.0 {
            return Err(self.error(text, "it is negative"));
        }
        if value == 0.0 && !self.zero_allowed {
            return Err(self.error(text, "it is zero"));
        }
        Ok((value, worth))
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
        let fits = |worth: u64| base.is_multiple_of(worth);
        let (unit, worth) = self.units.iter().find(|(_, worth)| fits(*worth)).unwrap_or(&("", 1));
        write!(f, "{} {unit}", base / worth)
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

/// Takes the text, and says what to write when something else stands there.
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
