//! A transmitter with a rate, which may change.

use super::{FAR, Link};
use crate::Packet;
use units::{NANOS, Rate, Span, Time};

/// A transmitter that sends one packet after the other at a rate.
pub(super) struct Transmitter {
    /// Transmission time of a packet of `memo.bytes`: quotient in ns and remainder.
    memo: Transmission,
    /// Rate in bit/s; zero for a pure delay.
    rate: u64,
    /// The part of a nanosecond by which `idle_at` is too early, in units of 1/rate ns.
    remainder: u64,
    /// When the transmitter has sent all packets given to it.
    pub(super) idle_at: Time,
}

#[derive(Clone, Copy, Default)]
struct Transmission {
    bytes: u32,
    /// Whole nanoseconds; a time longer than 4 s does not fit and is not kept.
    ns: u32,
    remainder: u64,
}

impl Transmitter {
    pub(super) fn new(rate: Option<Rate>) -> Self {
        Transmitter {
            memo: Transmission::default(),
            rate: rate.map_or(0, |rate| rate.0),
            remainder: 0,
            idle_at: Time::ZERO,
        }
    }

    /// Sends `bytes` from `starts`; the fraction of a nanosecond is carried, so the rate is exact
    /// however long the run.
    #[inline(always)] // runs for every hop
    pub(super) fn send(&mut self, starts: Time, bytes: u32) {
        if self.memo.bytes != bytes && !self.learn(bytes) {
            return self.send_long(starts, bytes);
        }
        let Transmission { ns, remainder, .. } = self.memo;
        self.end(starts, Span(ns.into()), remainder);
    }

    /// A transmission from `starts` on takes `time`, and `remainder` in units of 1/rate ns.
    #[inline(always)] // runs for every hop
    fn end(&mut self, starts: Time, time: Span, remainder: u64) {
        let was_idle = starts > self.idle_at;
        self.idle_at = starts + time;
        if remainder | self.remainder != 0 {
            self.carry_over(remainder, was_idle);
        }
    }

    /// Carries a fraction of a nanosecond over to the next packet.
    fn carry_over(&mut self, remainder: u64, was_idle: bool) {
        let before = if was_idle { 0 } else { self.remainder };
        self.remainder = before + remainder;
        if self.remainder >= self.rate {
            self.remainder -= self.rate;
            self.idle_at = self.idle_at + Span(1);
        }
    }

    /// Transmission time of `bytes`: whole nanoseconds, and the rest in units of 1/rate ns. A pure
    /// delay takes none.
    fn transmission(&self, bytes: u32) -> (u64, u64) {
        let product = u64::from(bytes) * 8 * NANOS; // below 2^64 for packets below 2 GB
        match self.rate {
            0 => (0, 0),
            rate => (product / rate, product % rate),
        }
    }

    /// Whether a transmission of `bytes` takes a nanosecond or more.
    pub(super) fn takes_time(&self, bytes: u32) -> bool {
        self.transmission(bytes).0 > 0
    }

    /// Keeps the transmission time of `bytes`, if it fits. Most packets have the size of the last
    /// one.
    #[inline(never)] // keeps the code of other hops short
    fn learn(&mut self, bytes: u32) -> bool {
        let (whole, remainder) = self.transmission(bytes);
        let ns = u32::try_from(whole);
        if let Ok(ns) = ns {
            self.memo = Transmission { bytes, ns, remainder };
        }
        ns.is_ok()
    }

    /// Sends `bytes`, whose transmission time is not kept.
    #[cold]
    fn send_long(&mut self, starts: Time, bytes: u32) {
        let (whole, remainder) = match self.idle_at > FAR {
            true => (0, 0), // a queue that waits for an outage may not wait beyond the end of time
            false => self.transmission(bytes),
        };
        self.end(starts, Span(whole), remainder);
    }

    /// Sets a new rate at `now`. Of the packets given to it, the transmitter keeps only the one in
    /// transmission, which was to end at `ends`. Returns whether there is one.
    fn change(&mut self, now: Time, rate: Rate, ends: Time) -> bool {
        let before = std::mem::replace(&mut self.rate, rate.0);
        self.memo = Transmission::default();
        self.remainder = 0;
        self.idle_at = ends;
        let sends = ends > now && before > 0;
        if sends {
            let left = u128::from(ends.since(now).0) * u128::from(before);
            let left = left.div_ceil(u128::from(rate.0)).min(u128::from(FAR.0));
            self.idle_at = now + Span(left as u64);
        }
        sends
    }
}

impl<P: Packet> Link<P> {
    /// The present rate; `None` for a pure delay, and with opportunities.
    pub fn rate(&self) -> Option<Rate> {
        (self.transmitter.rate > 0).then_some(Rate(self.transmitter.rate))
    }

    /// Recomputes the times of waiting packets, and the rest of the one in transmission, at `rate`
    /// and with the present delay.
    pub(super) fn rerate(&mut self, now: Time, rate: Rate) {
        self.settle(now);
        let sending = self.started.wrapping_sub(1);
        let ends =
            self.line.get(self.started).map_or(self.transmitter.idle_at, |first| first.starts);
        let earlier = self.line.get(sending.wrapping_sub(1)).map_or(now, |carried| carried.arrives);
        let mut earliest = self.line.get(sending).map_or(now, |carried| carried.arrives);
        if self.transmitter.change(now, rate, ends) {
            earliest = earlier.max(self.transmitter.idle_at + self.delay);
            if let Some(carried) = self.line.get_mut(sending) {
                carried.arrives = earliest;
            }
        }
        for waiting in self.started..self.line.len() {
            let starts = self.transmitter.idle_at;
            let bytes = self.line.get(waiting).map_or(0, |carried| carried.packet.bytes());
            self.transmitter.send(starts, bytes);
            earliest = earliest.max(self.transmitter.idle_at + self.delay);
            if let Some(carried) = self.line.get_mut(waiting) {
                (carried.starts, carried.arrives) = (starts, earliest);
            }
        }
        self.last_arrival = earliest;
    }
}
