//! Quantities with units as types.
//!
//! Inside the simulator time is whole nanoseconds, size is whole bytes and rate is whole bits per
//! second; code that divides carries the remainder (see `network::link`). In files a quantity is
//! text with a unit, `"10 Mb/s"`; a bare number in place of a quantity is an error that says so.

#![cfg_attr(not(feature = "text"), no_std)]

extern crate alloc;

pub mod name;
#[cfg(feature = "text")]
mod parameter;
#[cfg(feature = "text")]
mod text;

#[cfg(feature = "text")]
pub use parameter::{Described, InvalidParameter, PROBABILITY, ValidRange, ensure};
#[cfg(feature = "text")]
pub use text::{QuantityError, WholePackets};

use core::ops::{Add, AddAssign, Sub};

/// Nanoseconds in a second.
pub const NANOS: u64 = 1_000_000_000;

/// A point in simulated time: nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A length of time in nanoseconds. Read from text it is at most a year, so that sums of many
/// stay far below 2⁶⁴.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A rate in bits per second; never zero when it comes from a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// A number of packets, the unit of queue limits.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Packets(pub f64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than any event: 584 years.
    pub const NEVER: Time = Time(u64::MAX);

    /// The time since `earlier`, zero if it is not earlier.
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// Seconds since the start, for reports and formulas.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / NANOS as f64
    }
}

impl Span {
    /// A span of zero.
    pub const ZERO: Span = Span(0);

    /// A span of whole milliseconds.
    pub const fn millis(ms: u64) -> Span {
        Span(ms * 1_000_000)
    }

    /// The nearest span to `seconds`; negative and non-finite values give zero.
    pub fn from_seconds(seconds: f64) -> Span {
        // A float-to-integer cast saturates and maps NaN to zero.
        Span((seconds * NANOS as f64 + 0.5) as u64)
    }

    /// Seconds, for reports and formulas.
    pub fn seconds(self) -> f64 {
        // Through i64, which the processor converts in one instruction; spans stay below 2⁶³.
        self.0 as i64 as f64 / NANOS as f64
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0 + span.0)
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

#[cfg(feature = "text")]
impl core::fmt::Display for Time {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        Span(self.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_quantity_reads_as_it_is_written_in_papers() {
        assert_eq!("10 Mb/s".parse(), Ok(Rate(10_000_000)));
        assert_eq!("10Mbit/s".parse(), Ok(Rate(10_000_000)));
        assert_eq!("2.5 Gb/s".parse(), Ok(Rate(2_500_000_000)));
        assert_eq!("27.5 ms".parse(), Ok(Span(27_500_000)));
        assert_eq!("1448 B".parse(), Ok(Bytes(1448)));
        assert_eq!("64 KiB".parse(), Ok(Bytes(65_536)));
        assert_eq!("200 packets".parse(), Ok(Packets(200.0)));
    }

    #[test]
    fn a_bare_number_is_refused_and_the_error_shows_a_right_one() {
        let error = "10".parse::<Rate>().unwrap_err().to_string();
        assert!(error.contains("unit") && error.contains("Mb/s"), "{error}");
        let error = serde_json::from_str::<Span>("5").unwrap_err().to_string();
        assert!(error.contains("unit") && error.contains("ms"), "{error}");
    }

    #[test]
    fn a_wrong_unit_and_a_negative_value_are_refused() {
        assert!("10 ms".parse::<Rate>().unwrap_err().to_string().contains("ms"));
        assert!("-1 ms".parse::<Span>().unwrap_err().to_string().contains("negative"));
        assert!("0 b/s".parse::<Rate>().unwrap_err().to_string().contains("zero"));
    }

    proptest! {
        #[test]
        fn what_is_printed_parses_back_to_the_same_value(ns in 0u64..1_000_000_000_000_000, bps in 1u64..1_000_000_000_000, bytes in 0u64..1_000_000_000_000) {
            prop_assert_eq!(Span(ns).to_string().parse(), Ok(Span(ns)));
            prop_assert_eq!(Rate(bps).to_string().parse(), Ok(Rate(bps)));
            prop_assert_eq!(Bytes(bytes).to_string().parse(), Ok(Bytes(bytes)));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "\\PC*") {
            let _ = text.parse::<Rate>();
            let _ = text.parse::<Span>();
            let _ = text.parse::<Bytes>();
            let _ = text.parse::<Packets>();
        }
    }
}
