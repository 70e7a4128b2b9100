//! Virtual time as the stack's type.
//!
//! [`Instant`] has no zero, so that virtual time is counted from a base. What a base is decides
//! nothing: the stack only compares and subtracts.

use noq_proto::TimeSource;
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime};
use units::Time;

/// Time zero of every run. A day ahead, because the stack may subtract from a time, and [`Instant`]
/// may begin when the machine does.
#[expect(
    clippy::disallowed_methods,
    reason = "Instant has no zero: this is one, and decides nothing"
)]
static BASE: LazyLock<Instant> = LazyLock::new(|| Instant::now() + Duration::from_secs(86_400));

/// The time for the stack.
pub(crate) fn instant(time: Time) -> Instant {
    *BASE + Duration::from_nanos(time.0)
}

/// The time from the stack; one that is too far away is never.
pub(crate) fn time(instant: Instant) -> Time {
    let nanos = instant.saturating_duration_since(*BASE).as_nanos();
    u64::try_from(nanos).map_or(Time::NEVER, Time)
}

/// The date, which only tokens would need.
pub(crate) struct NoCalendar;

impl TimeSource for NoCalendar {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_comes_back_as_it_went() {
        for nanos in [0, 1, 999_999_999, 3_600_000_000_001] {
            assert_eq!(time(instant(Time(nanos))), Time(nanos));
        }
    }
}
