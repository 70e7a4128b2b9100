//! A timing wheel: pending wake-ups of many sources, in a hierarchical timing wheel (Varghese and
//! Lauck 1987) of levels of 4096 slots, the finest 4 µs wide. Insertion and removal take constant
//! time whatever the number of sources. So the cost of an event is the same for a thousand flows
//! and for a hundred thousand. A wake-up alone in the next occupied slot is the next one, on
//! whatever level the slot is, so a sparse wheel moves none down through the levels.
//!
//! A slot has its wake-ups one after another in memory, each with its time: with many flows, a list
//! through the sources would wait for memory at each of them. A wake-up that is moved stays behind
//! in its old slot, and is skipped there because it is not the one for which its source waits.

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

/// How many sources [`Wheel::pop`] shows ahead of their turn, and the distance between them.
pub(crate) const STAGES: usize = 6;
const STEP: usize = 4;

/// A wake-up: its time in ns, then its source, in one integer, because integers sort without
/// branches.
type Rank = u128;

fn rank(when: Time, source: EventSource) -> Rank {
    u128::from(when.0) << u32::BITS | u128::from(source.0)
}

/// The time and the source in a rank.
#[inline(always)] // runs for every event
fn parts(rank: Rank) -> (Time, EventSource) {
    (Time((rank >> u32::BITS) as u64), EventSource(rank as u32))
}

/// The tick of a rank.
fn tick_of(rank: Rank) -> u64 {
    (rank >> (u32::BITS + TICK_BITS)) as u64
}

/// One level: the wake-ups of each slot, and a bit for each occupied slot. All of its occupied
/// slots lie after the current tick.
struct Level {
    slots: Box<[Vec<Rank>]>,
    occupied: [u64; WORDS],
    /// Bit `i` is set while `occupied[i]` is not zero.
    words: u64,
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
    /// Wake-ups up to the current tick, last first.
    due: Vec<Rank>,
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
            moved: 0,
        }
    }

    /// Wakes `source`, which has no wake-up pending, at `when`, which is not in the past.
    #[inline]
    pub(super) fn schedule(&mut self, source: EventSource, when: Time) {
        let pending = &mut self.pending[source.index()];
        debug_assert!(*pending == Time::NEVER, "already pending");
        *pending = when;
        self.insert(rank(when, source));
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
            self.insert(rank(when, source));
        }
        if before != Time::NEVER {
            self.moved += 1;
            if self.moved > MOST_MOVED.max(self.pending.len() / 4) {
                self.forget_moved();
            }
        }
    }

    /// The next wake-up at or before `end`. In a dense agenda `ahead` is called with the sources of
    /// the same tick that follow [`STEP`], twice [`STEP`] and so on places later.
    #[inline(always)] // it has one caller
    pub(super) fn pop(
        &mut self,
        end: Time,
        ahead: impl FnOnce([EventSource; STAGES]),
    ) -> Option<(Time, EventSource)> {
        loop {
            let Some(&next) = self.due.last() else {
                match self.spread(end) {
                    true => continue,
                    false => return None,
                }
            };
            let (when, source) = parts(next);
            if when > end {
                return None;
            }
            self.due.pop();
            let pending = &mut self.pending[source.index()];
            if *pending != when {
                self.moved = self.moved.saturating_sub(1);
                continue;
            }
            *pending = Time::NEVER;
            if let Some(far) = self.due.len().checked_sub(STAGES * STEP) {
                let due = &self.due[far..];
                let later: [_; STAGES] =
                    std::array::from_fn(|stage| parts(due[(STAGES - 1 - stage) * STEP]).1);
                prefetch(&self.pending[later[STAGES - 1].index()]);
                ahead(later);
            }
            return Some((when, source));
        }
    }

    /// Advances to the first occupied slot, if it begins by `end`; its wake-ups become due, or are
    /// spread over the levels below. Returns whether there was one.
    #[inline(never)] // keeps the code for each event short
    fn spread(&mut self, end: Time) -> bool {
        let level = self.occupied.trailing_zeros() as usize;
        if level >= LEVELS {
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
        match level {
            0 => std::mem::swap(&mut self.due, own), // none is due
            _ => std::mem::take(own).into_iter().for_each(|rank| self.insert_unsorted(rank)),
        }
        self.due.sort_unstable_by(|a, b| b.cmp(a));
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
                    let (when, source) = parts(*rank);
                    pending[source.index()] == when
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

    #[test]
    fn a_wake_up_that_is_moved_again_and_again_fills_no_memory_and_comes_once() {
        let mut wheel = Wheel::new(2);
        let mut times = (0..100_000).map(|step| Time((1 + step % 1000) << 30));
        times.clone().for_each(|when| wheel.reschedule(EventSource(0), when));
        wheel.schedule(EventSource(1), Time(5));
        let slots = wheel.levels.iter().flat_map(|level| &level.slots);
        assert!(slots.map(Vec::len).sum::<usize>() <= MOST_MOVED + 2);
        let woken = std::iter::from_fn(|| wheel.pop(Time::NEVER, |_| {}));
        let last = times.next_back().map(|when| (when, EventSource(0)));
        assert!(woken.eq([Some((Time(5), EventSource(1))), last].into_iter().flatten()));
    }
}
