//! Lines: links that accept every packet and keep none.
//!
//! When a packet enters such a link, it is known when it will come out. Usually the link keeps the
//! packet in a ring of its own until it is woken. With many sources, that event waits for memory
//! three times: for the time of the wake-up, for the link, and for its ring. So there the packets
//! of all lines are in one store, and the agenda has an event for each packet with its place in the
//! store. A place that was freed last is used first, while it is in the cache.
//!
//! Events, their order and all results are the same. The agenda orders events by time and source.
//! So of several packets that come out of a line at the same time, as those of a burst into a pure
//! delay do, it has only the first, and the others follow one by one.
//!
//! How packets move is in `conveying.rs`.

use crate::agenda::Place;
use crate::event_source::EventSource;
use crate::packed::PackedSegment;
use network::{Conveyed, Link, Packet, prefetch, reserve_in_huge_pages};
use std::collections::{BTreeMap, VecDeque};
use topology::{Hop, HopTarget};
use units::Time;

/// A packet on a line. It fills a cache line.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
pub(crate) struct OnLine {
    pub(crate) enters: Time,
    /// When its transmission starts.
    pub(crate) starts: Time,
    pub(crate) packet: PackedSegment,
}

/// The packets on all lines of a world.
#[derive(Default)]
pub(crate) struct Lines {
    /// By the numbers of their places; those of free places are stale.
    slots: Vec<OnLine>,
    free: Vec<Place>,
    /// By line: the packets that come out together with one before them, and when.
    together: BTreeMap<EventSource, VecDeque<(Time, Place)>>,
    /// Whether the links are shown their packets, during a pause.
    pub(crate) shown: bool,
}

impl Lines {
    #[inline(always)] // runs for every hop into a line
    pub(crate) fn put(&mut self, packet: OnLine) -> Place {
        let place = self.free.pop().unwrap_or_else(|| self.add_place());
        self.slots[place.number() as usize] = packet;
        place
    }

    /// A place that no packet has had.
    #[inline(never)] // keeps the code of other hops short
    fn add_place(&mut self) -> Place {
        if self.slots.len() == self.slots.capacity() {
            let mut larger = Vec::new();
            reserve_in_huge_pages(&mut larger, (2 * self.slots.len()).max(1024));
            larger.append(&mut self.slots);
            self.slots = larger;
        }
        loop {
            let number = self.slots.len() as u32;
            self.slots.push(OnLine::default());
            if let Some(place) = Place::of(number) {
                return place; // zero is none
            }
        }
    }

    /// Removes the packet at a place.
    #[inline(always)] // runs for every hop out of a line
    pub(crate) fn take(&mut self, place: Place) -> PackedSegment {
        self.free.push(place);
        self.slots[place.number() as usize].packet
    }

    /// A packet comes out of a line together with the one before it.
    #[inline(never)] // keeps the code of other hops short
    pub(crate) fn follow(&mut self, line: EventSource, out: Time, place: Place) {
        self.together.entry(line).or_default().push_back((out, place));
    }

    /// Removes the next packet of a line that comes out `now` together with one that just has.
    #[inline(always)] // runs for every hop out of a line
    pub(crate) fn next_together(&mut self, line: EventSource, now: Time) -> Option<Place> {
        if self.together.is_empty() {
            return None; // the usual case
        }
        let others = self.together.get_mut(&line)?;
        let (_, place) = *others.front().filter(|(out, _)| *out == now)?;
        others.pop_front();
        if others.is_empty() {
            self.together.remove(&line);
        }
        Some(place)
    }

    /// The packet at a place.
    #[inline(always)] // runs several times for every event
    pub(crate) fn packet(&self, place: Place) -> Option<&PackedSegment> {
        self.slots.get(place.number() as usize).map(|own| &own.packet)
    }

    /// Prefetches a place into the cache.
    #[inline(always)] // runs for every event
    pub(crate) fn prefetch(&self, place: Place) {
        self.slots.get(place.number() as usize).inspect(|own| prefetch(*own));
    }

    /// The packets that the agenda does not have, and their lines.
    pub(crate) fn all_together(&self) -> impl Iterator<Item = (EventSource, Place)> {
        let lines = self.together.iter();
        lines.flat_map(|(line, others)| others.iter().map(|(_, place)| (*line, *place)))
    }

    /// What the link of a packet is shown of it.
    pub(crate) fn conveyed(&self, place: Place) -> Conveyed {
        let OnLine { enters, starts, packet } = self.slots[place.number() as usize];
        Conveyed { bytes: packet.bytes(), enters, starts }
    }
}

/// Marks the hops into links that are lines, if packets have `least` bytes or more. A link that the
/// script changes, one of `changed` in the order of their numbers, is none. Nor is one that takes
/// no time: a packet may come out of it together with one that is gone.
pub(crate) fn lay(hops: &mut [Hop], links: &[Link<PackedSegment>], changed: &[u32], least: u32) {
    for hop in hops {
        if let HopTarget::Link(link) = hop.target()
            && links[link as usize].takes_time(least)
            && changed.binary_search(&link).is_err()
        {
            *hop = Hop::line(link);
        }
    }
}
