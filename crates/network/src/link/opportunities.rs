//! A transmitter that has opportunities instead of a rate, as links of cellular networks are
//! recorded.
//!
//! A trace lists when a base station served a phone whose queue was never empty (Winstein,
//! Sivaraman and Balakrishnan, NSDI 2013). The rule is that of mahimahi (Netravali et al., USENIX
//! ATC 2015; `LinkQueue::rationalize` in src/frontend/link_queue.cc):
//!
//! * An opportunity carries up to 1500 bytes of the packets that wait when it comes. Small packets
//!   share one; the rest of a packet that does not fit goes with the next ones. A packet is out
//!   with its last byte.
//! * The unused rest of an opportunity is lost. A packet that arrives at the very time of an
//!   opportunity is too late for it.
//! * The last time of the trace is its period: the one after it comes so much later than the first.
//!
//! mahimahi counts 4 bytes of a header of its TUN device with each packet, and 1504 with an
//! opportunity. Here only the packet counts, so that one of 1500 bytes needs one opportunity in
//! both.

use super::{FAR, Link, Offer};
use crate::Packet;
use std::collections::VecDeque;
use std::sync::Arc;
use units::{Span, Time};

/// Bytes that an opportunity carries.
const BYTES: u64 = 1500;

/// Nanoseconds in the unit of a trace.
const MILLISECOND: u64 = 1_000_000;

/// The times of opportunities; they repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opportunities {
    /// In ms, never decreasing; the last is the period, and not zero.
    times: Arc<[u32]>,
    /// The time of the trace at which the run starts.
    start: Span,
    period: u64,
}

impl Opportunities {
    /// Opportunities at `times` in ms, which never decrease; the run begins at the time `start` of
    /// the trace. `None` if they decrease or the period is zero.
    pub fn new(times: Arc<[u32]>, start: Span) -> Option<Self> {
        let period = u64::from(*times.last()?) * MILLISECOND;
        (period > 0 && times.is_sorted()).then_some(Opportunities { times, start, period })
    }

    /// Ordinal of the first opportunity later than `now`, counted from the start of the trace.
    fn after(&self, now: Time) -> u64 {
        let at = now.0.saturating_add(self.start.0);
        let (turn, within) = (at / self.period, at % self.period);
        let index = self.times.partition_point(|ms| u64::from(*ms) * MILLISECOND <= within);
        turn * self.times.len() as u64 + index as u64
    }

    /// Time of the opportunity `ordinal`.
    fn at(&self, ordinal: u64) -> Time {
        let count = self.times.len() as u64;
        let (turn, index) = (ordinal / count, (ordinal % count) as usize);
        let within = u64::from(self.times[index]) * MILLISECOND;
        let at = turn.saturating_mul(self.period).saturating_add(within);
        Time(at.saturating_sub(self.start.0)).min(FAR)
    }
}

/// Position of a transmitter in its opportunities.
pub(super) struct Schedule {
    opportunities: Opportunities,
    /// The opportunity with which the next packet begins, its time, and the bytes left in it: at
    /// least one.
    next: u64,
    ready: Time,
    left: u64,
    /// Times of the last bytes of packets on the line, for packets that were not out at the last
    /// look.
    ends: VecDeque<Time>,
}

impl Schedule {
    pub(super) fn new(opportunities: Opportunities) -> Self {
        let mut schedule = Schedule {
            opportunities,
            next: 0,
            ready: Time::ZERO,
            left: BYTES,
            ends: VecDeque::new(),
        };
        schedule.skip(Time::ZERO);
        schedule
    }

    /// When the next packet can begin.
    pub(super) fn ready(&self) -> Time {
        self.ready
    }

    /// The queue is empty: opportunities up to `now` expire, with the rest of the last one.
    fn skip(&mut self, now: Time) {
        if self.ready <= now {
            self.next = self.opportunities.after(now);
            self.ready = self.opportunities.at(self.next);
            self.left = BYTES;
        }
    }

    /// When `bytes` would be out, and the bytes used by then since the start of the next
    /// opportunity.
    fn end(&self, bytes: u64) -> (Time, u64) {
        let used = BYTES - self.left + bytes;
        (self.opportunities.at(self.next + used.saturating_sub(1) / BYTES), used)
    }

    /// Sends `bytes`: returns the times of their first opportunity and of their last.
    fn send(&mut self, bytes: u64) -> (Time, Time) {
        let starts = self.ready;
        let (ends, used) = self.end(bytes);
        self.next += used / BYTES;
        self.left = BYTES - used % BYTES;
        self.ready = self.opportunities.at(self.next);
        (starts, ends)
    }
}

impl<P: Packet> Link<P> {
    pub(super) fn schedule(&self) -> Option<&Schedule> {
        self.extras.as_ref()?.schedule.as_ref()
    }

    fn schedule_mut(&mut self) -> Option<&mut Schedule> {
        self.extras.as_mut()?.schedule.as_mut()
    }

    /// Serves the queue up to `now`; unused opportunities expire. A packet that arrives at `now`
    /// cannot use them, whatever the order of events at that time.
    pub(super) fn pass_opportunities(&mut self, now: Time) {
        if self.schedule().is_none() {
            return;
        }
        self.serve(now);
        let waits = self.undecided().0 > 0;
        if let Some(schedule) = self.schedule_mut().filter(|_| !waits) {
            schedule.skip(now);
        }
    }

    /// [`Link::carry`] with opportunities: the packet begins with the next one.
    pub(super) fn carry_by_opportunities(&mut self, now: Time, packet: P) -> Offer {
        let Some(schedule) = self.schedule_mut() else {
            return self.carry(now, packet);
        };
        let (starts, ends) = schedule.send(u64::from(packet.bytes()));
        forget(&mut schedule.ends, now);
        if ends > now {
            schedule.ends.push_back(ends);
        }
        self.transmitter.idle_at = ends;
        self.push(starts, packet)
    }

    /// Packets that are not out at `now` take the present delay.
    pub(super) fn redelay_by_opportunities(&mut self, now: Time) {
        let Some(schedule) = self.schedule_mut() else {
            return;
        };
        forget(&mut schedule.ends, now);
        let ends = std::mem::take(&mut schedule.ends);
        let first = self.line.len() - ends.len() as u32;
        let before = self.line.get(first.wrapping_sub(1));
        let mut earliest = before.map_or(now, |carried| carried.arrives);
        for (at, end) in (first..).zip(&ends) {
            earliest = earliest.max(*end + self.delay);
            if let Some(carried) = self.line.get_mut(at) {
                carried.arrives = earliest;
            }
        }
        self.last_arrival = earliest;
        if let Some(schedule) = self.schedule_mut() {
            schedule.ends = ends;
        }
    }

    /// Time from `now` until all accepted packets are out, if the link has opportunities.
    pub fn clears_in(&self, now: Time) -> Option<Span> {
        let schedule = self.schedule()?;
        let (packets, bytes) = self.undecided();
        Some(match packets {
            0 => self.transmitter.idle_at.since(now),
            _ => schedule.end(bytes).0.since(now),
        })
    }
}

/// Removes the times up to `now`.
fn forget(times: &mut VecDeque<Time>, now: Time) {
    while times.front().is_some_and(|time| *time <= now) {
        times.pop_front();
    }
}

#[cfg(test)]
mod tests;
