//! A timing wheel: pending wake-ups of many sources. An array with one entry for each source is
//! threaded through a hierarchical timing wheel (Varghese and Lauck 1987): levels of 4096 slots,
//! the finest 1 µs wide. Insertion and removal take constant time whatever the number of sources.
//! So the cost of an event is the same for a thousand flows and for a hundred thousand. A source
//! alone in the next occupied slot is the next one, on whatever level the slot is, so a sparse
//! wheel moves no source down through the levels.

use crate::event_source::EventSource;
use units::Time;

/// The end of a list.
const NONE: EventSource = EventSource(u32::MAX);
/// log2 of the width of the finest slot in ns: 1 µs. Wider ones make a sparse agenda cheaper (10
/// flows by 2 % at 2 µs); in a dense one their slots hold more sources, which must be sorted.
const TICK_BITS: u32 = 10;
/// log2 of the slots of a level: as many as one word of words of bits can index.
const SLOT_BITS: u32 = 12;
const SLOTS: usize = 1 << SLOT_BITS;
/// Words of 64 slots.
const WORDS: usize = SLOTS / 64;
/// A power of two; the first five levels cover every time.
const LEVELS: usize = 8;

#[derive(Clone, Copy)]
struct Entry {
    /// [`Time::NEVER`] while not pending.
    when: Time,
    /// Next source in the same slot.
    next: EventSource,
    /// Previous source in the same slot; stale for the first one.
    previous: EventSource,
}

/// One level: the first source of each slot, and a bit for each occupied slot. All of its occupied
/// slots lie after the current tick.
#[derive(Clone, Copy)]
struct Level {
    first: [EventSource; SLOTS],
    occupied: [u64; WORDS],
    /// Bit `i` is set while `occupied[i]` is not zero.
    words: u64,
}

/// A wake-up within the current tick: nanoseconds since its beginning, then the source, in one
/// integer, because integers sort without branches.
type Rank = u64;

/// The rank of `source` at `when` among the events of its tick.
fn rank(when: Time, source: EventSource) -> Rank {
    (when.0 & ((1 << TICK_BITS) - 1)) << 32 | u64::from(source.0)
}

/// The source in a rank: its lower half.
fn source_of(rank: Rank) -> EventSource {
    EventSource(rank as u32)
}

/// The content of the first occupied slot.
enum Next {
    /// A single source, which is woken at this time.
    Alone(Time, EventSource),
    /// Several sources, which have been spread over the levels below.
    Spread,
    /// No wake-up is due by `end`.
    Later,
}

/// Pending wake-ups in total order.
pub(crate) struct Wheel {
    entries: Vec<Entry>,
    levels: Box<[Level; LEVELS]>,
    /// Bit `i` is set while level `i` has an occupied slot.
    occupied: u32,
    /// The tick whose sources are due; everything in the wheel is later.
    tick: u64,
    /// Sources of the current tick, last first, each with its rank.
    due: Vec<Rank>,
}

impl Level {
    const EMPTY: Level = Level { first: [NONE; SLOTS], occupied: [0; WORDS], words: 0 };

    /// The first occupied slot of a level that has one.
    #[inline(always)] // runs for every event
    fn first_occupied(&self) -> usize {
        let word = self.words.trailing_zeros() as usize % WORDS;
        64 * word + self.occupied[word].trailing_zeros() as usize % 64
    }

    /// Puts `source` in front of a slot's list and returns the former first source.
    fn put(&mut self, slot: usize, source: EventSource) -> EventSource {
        let word = slot / 64 % WORDS;
        self.occupied[word] |= 1 << (slot % 64);
        self.words |= 1 << word;
        std::mem::replace(&mut self.first[slot], source)
    }

    /// Empties the first occupied slot, whose bits are the lowest ones; returns whether the level
    /// is empty now.
    fn vacate_first(&mut self, slot: usize) -> bool {
        let word = slot / 64 % WORDS;
        self.first[slot] = NONE;
        self.occupied[word] &= self.occupied[word] - 1;
        if self.occupied[word] == 0 {
            self.words &= self.words - 1;
        }
        self.words == 0
    }

    /// Empties a slot and returns whether the level is empty now.
    fn vacate(&mut self, slot: usize) -> bool {
        let word = slot / 64 % WORDS;
        self.first[slot] = NONE;
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
        far => (63 - far.leading_zeros()) as usize / SLOT_BITS as usize % LEVELS,
    }
}

fn slot_of(tick: u64, level: usize) -> usize {
    (tick >> (SLOT_BITS * level as u32)) as usize & (SLOTS - 1)
}

impl Wheel {
    /// A wheel for this many sources.
    pub(super) fn new(sources: usize) -> Self {
        Wheel {
            entries: vec![Entry { when: Time::NEVER, next: NONE, previous: NONE }; sources],
            levels: Box::new([Level::EMPTY; LEVELS]),
            occupied: 0,
            tick: 0,
            due: Vec::new(),
        }
    }

    /// Wakes `source`, which has no wake-up pending, at `when`, which is not in the past.
    #[inline]
    pub(super) fn schedule(&mut self, source: EventSource, when: Time) {
        debug_assert!(self.entries[source.index()].when == Time::NEVER, "already pending");
        self.insert(source, when);
    }

    /// Wakes `source` at `when` at the latest: an earlier wake-up stays, a later one is moved
    /// forward.
    #[inline(always)] // after every ACK; an earlier wake-up mostly stays
    pub(super) fn advance(&mut self, source: EventSource, when: Time) {
        let pending = self.entries[source.index()].when;
        if when < pending {
            self.move_forward(source, pending, when);
        }
    }

    #[inline(never)] // few wake-ups move
    fn move_forward(&mut self, source: EventSource, pending: Time, when: Time) {
        if pending != Time::NEVER {
            self.remove(source, pending);
        }
        self.insert(source, when);
    }

    /// Wakes `source` at `when`, whatever was pending.
    pub(super) fn reschedule(&mut self, source: EventSource, when: Time) {
        let pending = self.entries[source.index()].when;
        if pending == when {
            return;
        }
        if pending != Time::NEVER {
            self.remove(source, pending);
            self.entries[source.index()].when = Time::NEVER;
        }
        if when != Time::NEVER {
            self.insert(source, when);
        }
    }

    /// The next wake-up at or before `end`. In a dense agenda `ahead` is called with the sources 3,
    /// 6 and 9 places later in the same tick.
    #[inline(always)] // it has one caller
    pub(super) fn pop(
        &mut self,
        end: Time,
        ahead: impl FnOnce([EventSource; 3]),
    ) -> Option<(Time, EventSource)> {
        while self.due.is_empty() {
            let next = match self.occupied {
                0 => return None,
                most if most & 1 == 1 => self.pop_from(0, end),
                few => self.pop_from(few.trailing_zeros() as usize % LEVELS, end),
            };
            match next {
                Next::Alone(when, source) => return Some((when, source)),
                Next::Later => return None,
                Next::Spread => {}
            }
        }
        let &rank = self.due.last()?;
        let when = Time(self.tick << TICK_BITS | rank >> 32);
        if when > end {
            return None;
        }
        self.due.pop();
        if let [.., ninth, _, _, sixth, _, _, third, _, _] = *self.due {
            ahead([third, sixth, ninth].map(source_of));
        }
        let source = source_of(rank);
        self.entries[source.index()].when = Time::NEVER;
        Some((when, source))
    }

    /// Looks into the first occupied slot of a level, the first level that has one.
    #[inline(always)] // the finest level has its own copy
    fn pop_from(&mut self, level: usize, end: Time) -> Next {
        let slot = self.levels[level].first_occupied();
        let source = self.levels[level].first[slot];
        let entry = &mut self.entries[source.index()];
        if entry.next == NONE {
            if entry.when > end {
                return Next::Later;
            }
            let when = std::mem::replace(&mut entry.when, Time::NEVER);
            self.vacate_first(level, slot);
            self.tick = when.0 >> TICK_BITS;
            return Next::Alone(when, source);
        }
        match self.spread(level, slot, end) {
            true => Next::Spread,
            false => Next::Later,
        }
    }

    /// Advances to the beginning of a slot with several sources, if it begins by `end`, and spreads
    /// the sources over the levels below.
    #[inline(never)] // keeps the code for single sources short
    fn spread(&mut self, level: usize, slot: usize, end: Time) -> bool {
        let shift = SLOT_BITS * level as u32;
        let tick = (((self.tick >> shift) & !(SLOTS as u64 - 1)) | slot as u64) << shift;
        if tick << TICK_BITS > end.0 {
            return false;
        }
        self.tick = tick;
        let mut source = self.levels[level].first[slot];
        self.vacate_first(level, slot);
        while source != NONE {
            let Entry { when, next, .. } = self.entries[source.index()];
            match when.0 >> TICK_BITS == tick {
                true => self.due.push(rank(when, source)),
                false => self.insert(source, when),
            }
            source = next;
        }
        self.due.sort_unstable_by(|a, b| b.cmp(a));
        true
    }

    /// Empties the first occupied slot of the first occupied level.
    #[inline(always)] // runs for every event
    fn vacate_first(&mut self, level: usize, slot: usize) {
        if self.levels[level].vacate_first(slot) {
            self.occupied &= self.occupied - 1;
        }
    }

    /// Empties a slot.
    fn vacate(&mut self, level: usize, slot: usize) {
        if self.levels[level].vacate(slot) {
            self.occupied &= !(1 << level);
        }
    }

    /// Inserts an event of the current tick among the due ones.
    #[cold]
    fn insert_due(&mut self, source: EventSource, when: Time) {
        debug_assert_eq!(when.0 >> TICK_BITS, self.tick, "in the past");
        self.entries[source.index()].when = when;
        let rank = rank(when, source);
        let at = self.due.partition_point(|later| *later > rank);
        self.due.insert(at, rank);
    }

    #[inline]
    fn insert(&mut self, source: EventSource, when: Time) {
        let tick = when.0 >> TICK_BITS;
        if tick <= self.tick {
            return self.insert_due(source, when);
        }
        match level_of(tick, self.tick) {
            0 => self.put(0, source, when),
            level => self.put(level, source, when),
        }
    }

    /// Puts a source into its slot of a level.
    #[inline(always)] // the finest level has its own copy
    fn put(&mut self, level: usize, source: EventSource, when: Time) {
        let slot = slot_of(when.0 >> TICK_BITS, level);
        let next = self.levels[level].put(slot, source);
        let own = &mut self.entries[source.index()];
        (own.when, own.next) = (when, next);
        if next != NONE {
            self.entries[next.index()].previous = source;
        }
        self.occupied |= 1 << level;
    }

    /// Removes a pending source.
    #[cold]
    fn remove(&mut self, source: EventSource, when: Time) {
        let tick = when.0 >> TICK_BITS;
        if tick <= self.tick {
            let rank = rank(when, source);
            let at = self.due.partition_point(|later| *later > rank);
            debug_assert_eq!(self.due.get(at), Some(&rank), "not due");
            self.due.remove(at);
            return;
        }
        let level = level_of(tick, self.tick);
        let slot = slot_of(tick, level);
        let Entry { next, previous, .. } = self.entries[source.index()];
        if self.levels[level].first[slot] != source {
            self.entries[previous.index()].next = next;
        } else if next == NONE {
            self.vacate(level, slot);
        } else {
            self.levels[level].first[slot] = next;
        }
        if next != NONE {
            self.entries[next.index()].previous = previous;
        }
    }
}
