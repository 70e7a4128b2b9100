//! A timing wheel: pending wake-ups of many sources, in a hierarchical timing wheel (Varghese and
//! Lauck 1987) of levels of 4096 slots, the finest 4 µs wide. Insertion and removal take constant
//! time whatever the number of sources. So the cost of an event is the same for a thousand flows
//! and for a hundred thousand. A wake-up alone in the next occupied slot is the next one, on
//! whatever level the slot is, so a sparse wheel moves none down through the levels.
//!
//! A slot has its wake-ups one after another in memory, each with its time: with many flows, a list
//! through the sources would wait for memory at each of them. A wake-up that is moved stays behind
//! in its old slot, and is skipped there because it is not the one for which its source waits. A
//! packet on a line is beside the wake-ups: it is not moved, and its line may have several.

use super::{Due, Place};
use crate::event_source::EventSource;
use network::{prefetch, reserve_in_huge_pages};
use units::Time;

/// log2 of the width of the finest slot in ns: 4 µs. With 100,000 flows of 1 Mb/s some 150 sources
/// wake in such a slot: enough to know well ahead what will be read.
const TICK_BITS: u32 = 12;
/// log2 of the slots of a level: as many as one word of words of bits can index.
const SLOT_BITS: u32 = 12;
const SLOTS: usize = 1 << SLOT_BITS;
/// Words of 64 slots.
const WORDS: usize = SLOTS / 64;
/// Levels, which cover every time.
const LEVELS: usize = (u64::BITS - TICK_BITS).div_ceil(SLOT_BITS) as usize;

/// With fewer wake-ups that have been moved, they stay until their slots are emptied.
const MOST_MOVED: usize = 1 << 12;

/// Most events that are shown ahead of their turn at a time, and how many of them are left when the
/// next are shown. With fewer events due, the agenda is not dense, and none are shown.
pub(crate) const MOST_SHOWN: usize = 32;
const NEAR: usize = 4;

/// A wake-up, or a packet that comes out of a line: its time in ns, then its source, then the
/// packet's place or zero, in one integer, because integers sort without branches.
type Rank = u128;

#[inline(always)] // runs for every event
fn rank(when: Time, Due { source, place }: Due) -> Rank {
    let place = place.map_or(0, Place::number);
    u128::from(when.0) << u64::BITS | u128::from(source.0) << u32::BITS | u128::from(place)
}

/// The time in a rank.
fn time_of(rank: Rank) -> Time {
    Time((rank >> u64::BITS) as u64)
}

/// The source and the place in a rank.
#[inline(always)] // runs for every event
fn due_of(rank: Rank) -> Due {
    Due { source: EventSource((rank >> u32::BITS) as u32), place: Place::of(rank as u32) }
}

/// The tick of a rank.
fn tick_of(rank: Rank) -> u64 {
    (rank >> (u64::BITS + TICK_BITS)) as u64
}

/// One level: the wake-ups of each slot, and a bit for each occupied slot. All of its occupied
/// slots lie after the current tick.
struct Level {
    slots: Box<[Vec<Rank>]>,
    occupied: [u64; WORDS],
    /// Bit `i` is set while `occupied[i]` is not zero.
    words: u64,
}

/// Events that are due soon.
#[derive(Clone, Copy)]
pub(crate) struct Soon<'a>(&'a [Rank]);

impl Soon<'_> {
    /// The events in their order: at most [`MOST_SHOWN`].
    #[inline(always)] // runs several times for every event
    pub(crate) fn events(self) -> impl Iterator<Item = Due> {
        self.0.iter().rev().map(|rank| due_of(*rank))
    }
}

/// Pending wake-ups in total order.
pub(crate) struct Wheel {
    /// When each source is to be woken; [`Time::NEVER`] while it is not pending.
    pending: Vec<Time>,
    levels: Box<[Level; LEVELS]>,
    /// Bit `i` is set while level `i` has an occupied slot.
    occupied: u32,
    /// Everything in the levels is later than this tick, and everything up to it is due. It may be
    /// ahead of the last wake-up: at a wake-up after the end, or at one that has been moved.
    tick: u64,
    /// Wake-ups and packets up to the current tick, last first.
    due: Vec<Rank>,
    /// How many of those that are next have been shown ahead of their turn.
    shown: usize,
    /// Wake-ups in slots and due that have been moved, about: a wake-up that was moved away and
    /// back is there twice.
    moved: usize,
}

impl Level {
    fn new() -> Self {
        Level { slots: vec![Vec::new(); SLOTS].into(), occupied: [0; WORDS], words: 0 }
    }

    /// The first occupied slot of a level that has one.
    #[inline(always)] // runs for every few events
    fn first_occupied(&self) -> usize {
        let word = self.words.trailing_zeros() as usize % WORDS;
        64 * word + self.occupied[word].trailing_zeros() as usize % 64
    }

    /// Puts a wake-up into a slot.
    #[inline(always)] // runs for every hop
    fn put(&mut self, slot: usize, rank: Rank) {
        let word = slot / 64 % WORDS;
        self.occupied[word] |= 1 << (slot % 64);
        self.words |= 1 << word;
        self.slots[slot].push(rank);
    }

    /// A slot that was emptied is not occupied any more; returns whether the level is empty now.
    fn vacate(&mut self, slot: usize) -> bool {
        let word = slot / 64 % WORDS;
        self.occupied[word] &= !(1 << (slot % 64));
        if self.occupied[word] == 0 {
            self.words &= !(1 << word);
        }
        self.words == 0
    }
}

/// The level of `tick` while `now` is the current tick: the level of their highest differing bit.
#[inline(always)] // runs for every hop
fn level_of(tick: u64, now: u64) -> usize {
    match tick ^ now {
        near if near < SLOTS as u64 => 0, // the usual case
        far => (63 - far.leading_zeros()) as usize / SLOT_BITS as usize,
    }
}

fn slot_of(tick: u64, level: usize) -> usize {
    (tick >> (SLOT_BITS * level as u32)) as usize & (SLOTS - 1)
}

impl Wheel {
    /// A wheel for this many sources.
    pub(super) fn new(sources: usize) -> Self {
        let mut pending = Vec::new();
        reserve_in_huge_pages(&mut pending, sources);
        pending.resize(sources, Time::NEVER);
        Wheel {
            pending,
            levels: Box::new(std::array::from_fn(|_| Level::new())),
            occupied: 0,
            tick: 0,
            due: Vec::new(),
            shown: 0,
            moved: 0,
        }
    }

    /// Wakes `source`, which has no wake-up pending, at `when`, which is not in the past.
    #[inline]
    pub(super) fn schedule(&mut self, source: EventSource, when: Time) {
        let pending = &mut self.pending[source.index()];
        debug_assert!(*pending == Time::NEVER, "already pending");
        *pending = when;
        self.insert(rank(when, Due::wake_up(source)));
    }

    /// A packet comes out of `line` at `when`, which is not in the past.
    #[inline(always)] // runs for every hop into a line
    pub(super) fn carry(&mut self, line: EventSource, when: Time, place: Place) {
        self.insert(rank(when, Due { source: line, place: Some(place) }));
    }

    /// The packets that will come out of lines, and these lines, in any order.
    pub(super) fn packets(&self) -> impl Iterator<Item = (EventSource, Place)> {
        let levels = self.levels.iter().filter(|level| level.words != 0);
        let slots = levels.flat_map(|level| level.slots.iter().flatten());
        let all = self.due.iter().chain(slots).map(|rank| due_of(*rank));
        all.filter_map(|Due { source, place }| Some((source, place?)))
    }

    /// Wakes `source` at `when` at the latest: an earlier wake-up stays, a later one is moved
    /// forward.
    #[inline(always)] // after every ACK; an earlier wake-up mostly stays
    pub(super) fn advance(&mut self, source: EventSource, when: Time) {
        if when < self.pending[source.index()] {
            self.reschedule(source, when);
        }
    }

    /// Wakes `source` at `when`, whatever was pending.
    #[inline(never)] // few move
    pub(super) fn reschedule(&mut self, source: EventSource, when: Time) {
        let before = std::mem::replace(&mut self.pending[source.index()], when);
        if before == when {
            return;
        }
        if when != Time::NEVER {
            self.insert(rank(when, Due::wake_up(source)));
        }
        if before != Time::NEVER {
            self.moved += 1;
            if self.moved > MOST_MOVED.max(self.pending.len() / 4) {
                self.forget_moved();
            }
        }
    }

    /// The next event at or before `end`. In a dense agenda `ahead` is called with events that
    /// follow soon, once with each.
    #[inline(always)] // it has one caller
    pub(super) fn pop(&mut self, end: Time, ahead: impl FnOnce(Soon<'_>)) -> Option<(Time, Due)> {
        loop {
            let Some(&next) = self.due.last() else {
                match self.spread(end) {
                    true => continue,
                    false => return None,
                }
            };
            let (when, due) = (time_of(next), due_of(next));
            if when > end {
                return None;
            }
            self.due.pop();
            self.shown = self.shown.saturating_sub(1);
            if due.place.is_none() {
                let pending = &mut self.pending[due.source.index()];
                if *pending != when {
                    self.moved = self.moved.saturating_sub(1);
                    continue;
                }
                *pending = Time::NEVER;
            }
            if self.shown <= NEAR && self.due.len() >= NEAR {
                ahead(self.show(end));
            }
            return Some((when, due));
        }
    }

    /// The next events that have not been shown.
    #[inline(never)] // runs for every few dozen events
    fn show(&mut self, end: Time) -> Soon<'_> {
        while self.due.len() < self.shown + MOST_SHOWN && self.spread(end) {}
        let before = self.due.len() - self.shown;
        let soon = &self.due[before.saturating_sub(MOST_SHOWN)..before];
        self.shown += soon.len();
        for Due { source, .. } in Soon(soon).events().filter(|due| due.place.is_none()) {
            prefetch(&self.pending[source.index()]);
        }
        Soon(soon)
    }

    /// Advances to the first occupied slot, if it begins by `end`; its wake-ups become due, or are
    /// spread over the levels below. Returns whether there was one.
    #[inline(never)] // keeps the code for each event short
    fn spread(&mut self, end: Time) -> bool {
        let level = self.occupied.trailing_zeros() as usize;
        if level >= LEVELS || level > 0 && !self.due.is_empty() {
            return false;
        }
        let slot = self.levels[level].first_occupied();
        let shift = SLOT_BITS * level as u32;
        let tick = match *self.levels[level].slots[slot] {
            [only] => tick_of(only),
            _ => (((self.tick >> shift) & !(SLOTS as u64 - 1)) | slot as u64) << shift,
        };
        if tick << TICK_BITS > end.0 {
            return false;
        }
        self.tick = tick;
        if self.levels[level].vacate(slot) {
            self.occupied &= !(1 << level);
        }
        let own = &mut self.levels[level].slots[slot];
        if level > 0 {
            std::mem::take(own).into_iter().for_each(|rank| self.insert_unsorted(rank));
            self.due.sort_unstable_by(|a, b| b.cmp(a));
        } else {
            std::mem::swap(&mut self.due, own);
            self.due.sort_unstable_by(|a, b| b.cmp(a));
            self.due.append(own); // those that were due are earlier
        }
        true
    }

    /// Puts a wake-up into its slot, or behind those that are due.
    #[inline(always)] // runs for every hop
    fn insert_unsorted(&mut self, rank: Rank) {
        let tick = tick_of(rank);
        if tick <= self.tick {
            return self.due.push(rank);
        }
        let level = level_of(tick, self.tick);
        self.levels[level].put(slot_of(tick, level), rank);
        self.occupied |= 1 << level;
    }

    /// Puts a wake-up into its slot, or among those that are due.
    #[inline(always)] // runs for every hop
    fn insert(&mut self, rank: Rank) {
        if tick_of(rank) <= self.tick {
            return self.insert_due(rank);
        }
        self.insert_unsorted(rank);
    }

    /// Inserts a wake-up of the current tick or an earlier one among those that are due.
    #[inline(never)] // few are so near
    fn insert_due(&mut self, rank: Rank) {
        let at = self.due.partition_point(|later| *later > rank);
        self.shown += usize::from(at + self.shown > self.due.len());
        self.due.insert(at, rank);
    }

    /// Removes all wake-ups that have been moved from the levels. Their number is a part of the
    /// number of sources then, so that each removal takes constant time.
    #[cold]
    fn forget_moved(&mut self) {
        let Wheel { pending, levels, occupied, .. } = self;
        for (number, level) in levels.iter_mut().enumerate() {
            for slot in 0..SLOTS {
                let own = &mut level.slots[slot];
                if own.is_empty() {
                    continue;
                }
                own.retain(|rank| {
                    let Due { source, place } = due_of(*rank);
                    place.is_some() || pending[source.index()] == time_of(*rank)
                });
                own.sort_unstable();
                own.dedup(); // moved away and back
                if own.is_empty() && level.vacate(slot) {
                    *occupied &= !(1 << number);
                }
            }
        }
        self.moved = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_wake_up_that_is_moved_again_and_again_fills_no_memory_and_comes_once() {
        let mut wheel = Wheel::new(2);
        let mut times = (0..100_000).map(|step| Time((1 + step % 1000) << 30));
        times.clone().for_each(|when| wheel.reschedule(EventSource(0), when));
        wheel.schedule(EventSource(1), Time(5));
        let slots = wheel.levels.iter().flat_map(|level| &level.slots);
        assert!(slots.map(Vec::len).sum::<usize>() <= MOST_MOVED + 2);
        let woken = std::iter::from_fn(|| wheel.pop(Time::NEVER, |_| {}));
        let last = times.next_back().map(|when| (when, Due::wake_up(EventSource(0))));
        let first = (Time(5), Due::wake_up(EventSource(1)));
        assert!(woken.eq([Some(first), last].into_iter().flatten()));
    }
    proptest! {
        /// Packets and wake-ups, some of them close to the present: `gaps` in ns from the last
        /// event.
        #[test]
        fn packets_come_in_the_order_of_time_and_line_among_wake_ups(
            steps in prop::collection::vec((0u64..20_000_000, 0u32..20, any::<bool>()), 1..400),
            (dense, sources) in (any::<bool>(), 40u32..60),
        ) {
            let mut wheel = Wheel::new(sources as usize);
            let mut model: BTreeMap<(Time, EventSource), Due> = BTreeMap::new();
            let mut now = Time::ZERO;
            for (number, (gap, shrink, pops)) in (0..).zip(steps) {
                let when = Time(now.0 + (gap >> shrink));
                let source = EventSource(number % sources);
                let place = Place::of(number + 1);
                model.entry((when, source)).or_insert_with(|| {
                    wheel.carry(source, when, place.unwrap());
                    Due { source, place }
                });
                if pops && !dense {
                    let expected = model.pop_first();
                    let got = wheel.pop(Time::NEVER, |_| {});
                    prop_assert_eq!(got, expected.map(|((when, _), due)| (when, due)));
                    now = got.map_or(now, |(when, _)| when);
                }
            }
            prop_assert_eq!(wheel.packets().count(), model.len());
            let rest = std::iter::from_fn(|| wheel.pop(Time::NEVER, |_| {}));
            prop_assert!(rest.eq(model.into_iter().map(|((when, _), due)| (when, due))));
        }

        /// `times` in ns: few ticks have all the events.
        #[test]
        fn each_event_of_a_dense_agenda_is_shown_once_before_its_turn(
            times in prop::collection::btree_set(1u64 << 30..(1 << 30) + 12_000, 500..1000),
        ) {
            let mut wheel = Wheel::new(1);
            for (number, when) in (1..).zip(&times) {
                wheel.carry(EventSource(0), Time(*when), Place::of(number).unwrap());
            }
            let (mut shown, mut popped) = (Vec::new(), 0);
            while let Some((_, due)) = wheel.pop(Time::NEVER, |soon| shown.extend(soon.events())) {
                // The first one is shown to nobody.
                prop_assert!(popped == 0 || shown[popped - 1] == due);
                popped += 1;
            }
            prop_assert_eq!((popped, shown.len()), (times.len(), times.len() - 1));
        }
    }
}
