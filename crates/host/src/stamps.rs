//! The clock of the timestamp option (RFC 7323 §4): ticks of 100 µs.
//!
//! RFC 7323 §5.4 wants a tick between 1 ms and 1 s. A shorter one makes round-trip samples of fast
//! paths exact, as Linux' ticks of 1 µs do (`tcp_usec_ts`). These here repeat after 119 hours, so
//! that PAWS (§5) still works on a connection that was idle for two days.

use units::{Span, Time};

/// One tick.
const TICK: Span = Span(100_000);

/// The clock of one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamps {
    /// What it shows at time zero: random, so that it does not tell how long the host runs (§5.4).
    offset: u32,
}

impl Stamps {
    pub(crate) fn new(offset: u32) -> Self {
        Stamps { offset }
    }

    /// TSval at `now`.
    pub(crate) fn value(self, now: Time) -> u32 {
        self.offset.wrapping_add((now.0 / TICK.0) as u32)
    }

    /// When the clock showed `echo`: at most `now`; `None` if that is before time zero.
    pub(crate) fn when(self, echo: u32, now: Time) -> Option<Time> {
        let age = self.value(now).wrapping_sub(echo);
        let ticks = now.0 / TICK.0;
        let at = ticks.checked_sub(u64::from(age))?;
        Some(Time((at * TICK.0).min(now.0)))
    }
}

/// Whether the peer's stamp `value` is older than `recent` (RFC 7323 §5.2, PAWS).
pub(crate) fn is_older(value: u32, recent: u32) -> bool {
    (value.wrapping_sub(recent) as i32) < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_gives_the_time_of_its_tick() {
        let stamps = Stamps::new(u32::MAX - 5);
        let sent = Time(123_456_789);
        let echo = stamps.value(sent);
        let now = sent + Span::millis(30);
        assert_eq!(stamps.when(echo, now), Some(Time(123_400_000)));
        assert_eq!(stamps.when(echo.wrapping_add(1_000), now), None);
        assert!(is_older(u32::MAX, 3) && !is_older(3, u32::MAX) && !is_older(3, 3));
    }
}
