//! What few links do: a discipline that decides when a packet leaves, reordering, copies.
//!
//! Such a link still has one event pending, but it stands for the first of several things: a packet comes
//! out, a packet that was held back comes out, or the transmitter takes the next packet from the queue.

use super::{Link, LinkSettings, Offer, Transmitter};
use crate::codel::Dropped;
use crate::departing::Departing;
use crate::queue::Backlog;
use crate::{Packet, Rng};
use std::collections::VecDeque;
use units::{Span, Time};

/// Packets that are held back at the end of the line, so that others overtake them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// Probability for each packet.
    pub probability: f64,
    /// For how long.
    pub delay: Span,
}

/// What comes out of a rare link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Passage<P> {
    /// A packet.
    Out(P),
    /// A packet that will come out once more.
    Copy(P),
    /// A packet that was lost on the line.
    Lost(P),
}

/// The rare part of a link.
pub(super) struct Rare<P> {
    waiting: Option<Departing<P>>,
    dropped: Dropped<P>,
    /// Packets dropped by the discipline and taken away since.
    shed: u64,
    reorder: Option<Reorder>,
    duplicate: f64,
    /// Packets held back, in the order in which they come out; all of them are held equally long.
    late: VecDeque<(Time, P)>,
    /// A packet whose copy has just come out.
    original: Option<P>,
}

impl<P: Packet> Rare<P> {
    /// The rare part of a link, if it has one.
    pub(super) fn new(settings: &LinkSettings) -> Option<Self> {
        let waiting = Departing::new(&settings.queue);
        let any = waiting.is_some() || settings.reorder.is_some() || settings.duplicate > 0.0;
        any.then(|| Rare {
            waiting,
            dropped: Dropped::new(),
            shed: 0,
            reorder: settings.reorder,
            duplicate: settings.duplicate,
            late: VecDeque::new(),
            original: None,
        })
    }
}

impl<P: Packet> Link<P> {
    /// Whether it may lose packets, or is rare.
    #[inline]
    pub fn faulty(&self) -> bool {
        self.faults.is_some()
    }

    /// Whether to use [`Link::wake`] instead of [`Link::deliver`].
    pub fn rare(&self) -> bool {
        self.rare_part().is_some()
    }

    fn rare_part(&self) -> Option<&Rare<P>> {
        self.faults.as_ref()?.rare.as_ref()
    }

    fn rare_part_mut(&mut self) -> Option<&mut Rare<P>> {
        self.faults.as_mut()?.rare.as_mut()
    }

    /// Packets and bytes under a discipline that decides when they leave.
    pub(super) fn rare_waiting(&self) -> (u64, u64) {
        let waiting = self.rare_part().and_then(|rare| rare.waiting.as_ref());
        waiting.map_or((0, 0), Departing::waiting)
    }

    /// What waits, given what of it is on the line.
    #[inline(never)]
    pub(super) fn backlog_rare(&self, on_line: Backlog) -> Backlog {
        let (packets, bytes) = self.rare_waiting();
        Backlog { packets: packets + on_line.packets, bytes: bytes + on_line.bytes, ..on_line }
    }

    /// Packets inside the rare part.
    pub(super) fn rare_carried(&self) -> usize {
        let inside = |rare: &Rare<P>| {
            rare.late.len() + rare.dropped.packets.len() + usize::from(rare.original.is_some())
        };
        self.rare_part().map_or(0, inside) + self.rare_waiting().0 as usize
    }

    /// Drops and marks of the rare part.
    pub(super) fn rare_counts(&self) -> (u64, u64) {
        self.rare_part().map_or((0, 0), |rare| (rare.shed, rare.dropped.marks))
    }

    #[cold]
    pub(super) fn offer_rare(&mut self, now: Time, packet: P) -> Offer {
        let queued = match self.rare_part_mut() {
            Some(Rare { waiting: Some(waiting), dropped, .. }) => {
                waiting.enqueue(now, packet, dropped);
                true
            }
            _ => false,
        };
        match queued {
            true => self.start(now),
            false => self.transmit_rare(now, packet),
        }
        Offer::Rare
    }

    /// The transmitter sends `packet`: what [`Link::carry`] does, out of the way of the common link.
    #[inline(never)]
    fn transmit_rare(&mut self, now: Time, packet: P) {
        self.carry_somehow(now, packet);
    }

    /// When the transmitter can take a packet.
    fn ready(&self) -> Time {
        self.transmitter().map_or(self.idle_at, Transmitter::ready)
    }

    /// The transmitter takes what it can send at `now`.
    pub(super) fn start(&mut self, now: Time) {
        while self.ready() <= now {
            let next = match self.rare_part_mut() {
                Some(Rare { waiting: Some(waiting), dropped, .. }) => waiting.dequeue(now, dropped),
                _ => None,
            };
            let Some(packet) = next else {
                return;
            };
            self.transmit_rare(now, packet);
        }
    }

    /// When to call [`Link::wake`]; never if nothing is inside.
    pub fn next_wake(&self) -> Time {
        if self.rare_part().is_some_and(|rare| rare.original.is_some()) {
            return Time::ZERO; // at once
        }
        let out = self.line.front().map_or(Time::NEVER, |carried| carried.arrives);
        let late = self.rare_part().and_then(|rare| rare.late.front());
        let held = late.map_or(Time::NEVER, |(at, _)| *at);
        let start = if self.rare_waiting().0 > 0 { self.ready() } else { Time::NEVER };
        out.min(held).min(start)
    }

    /// What comes out of a rare link at `now`; call until `None`, then [`Link::shed`] until `None`, and
    /// then ask [`Link::next_wake`].
    pub fn wake(&mut self, now: Time, rng: &mut impl Rng) -> Option<Passage<P>> {
        self.start(now);
        while let Some(packet) = self.next_due(now) {
            let faults = self.faults.as_mut()?;
            let rare = faults.rare.as_mut()?;
            let second = rare.original.take().is_some();
            if !second && faults.loss.as_mut().is_some_and(|loss| loss.model.strikes(rng)) {
                faults.losses += 1;
                return Some(Passage::Lost(packet));
            }
            if !second && rare.duplicate > 0.0 && rng.uniform() < rare.duplicate {
                rare.original = Some(packet);
                return Some(Passage::Copy(packet));
            }
            match rare.reorder.filter(|reorder| rng.uniform() < reorder.probability) {
                Some(reorder) => rare.late.push_back((now + reorder.delay, packet)),
                None => return Some(Passage::Out(packet)),
            }
        }
        let late = &mut self.rare_part_mut()?.late;
        late.front().filter(|(at, _)| *at <= now)?;
        late.pop_front().map(|(_, packet)| Passage::Out(packet))
    }

    /// The packet whose copy was taken, or the next one that is at the end of the line by `now`.
    fn next_due(&mut self, now: Time) -> Option<P> {
        if let Some(original) = self.rare_part().and_then(|rare| rare.original) {
            return Some(original);
        }
        let packet = self.line.front().filter(|carried| carried.arrives <= now)?.packet;
        self.deliver();
        Some(packet)
    }

    /// A packet that the discipline has dropped since it was asked last.
    pub fn shed(&mut self) -> Option<P> {
        let rare = self.rare_part_mut()?;
        let packet = rare.dropped.packets.pop_front()?;
        rare.shed += 1;
        Some(packet)
    }
}
