//! The agenda: which element is to be woken next.
//!
//! An element (a link, an endpoint's timer) has at most one wake-up pending, so the agenda is an
//! array with one entry for each element, threaded through a hierarchical timing wheel (Varghese and
//! Lauck 1987): six levels of 1024 slots, the finest 64 ns wide. Insertion and removal take constant
//! time however many elements there are, which is what keeps the cost of an event flat from ten
//! flows to a hundred thousand.
//!
//! Order is total: by time, then by element. Simultaneous events therefore happen in the order of
//! their elements' numbers in every run.

use units::Time;

/// Number of an element.
pub(crate) type Element = u32;

const NONE: u32 = u32::MAX;
/// log2 of the width of the finest slot in ns.
const TICK_BITS: u32 = 6;
/// log2 of the slots of a level.
const SLOT_BITS: u32 = 10;
const SLOTS: usize = 1 << SLOT_BITS;
const LEVELS: usize = 6; // 6 · 10 + 6 bits cover every time

#[derive(Clone, Copy)]
struct Entry {
    /// [`Time::NEVER`] while not pending.
    when: Time,
    /// Next element in the same slot.
    next: u32,
}

/// One level: the first element of each slot, and which slots have one.
struct Level {
    first: Box<[u32; SLOTS]>,
    occupied: [u64; SLOTS / 64],
}

/// Pending wake-ups in total order.
pub(crate) struct Agenda {
    entries: Vec<Entry>,
    levels: [Level; LEVELS],
    /// The tick whose elements are due; everything in the wheel is later.
    tick: u64,
    /// Elements of the current tick, last first.
    due: Vec<(Time, Element)>,
}

impl Level {
    fn new() -> Self {
        Level { first: Box::new([NONE; SLOTS]), occupied: [0; SLOTS / 64] }
    }

    /// The first occupied slot at or after `from`.
    fn next_occupied(&self, from: usize) -> Option<usize> {
        let mut word = from / 64;
        let mut bits = *self.occupied.get(word)? & (!0 << (from % 64));
        while bits == 0 {
            word += 1;
            bits = *self.occupied.get(word)?;
        }
        Some(64 * word + bits.trailing_zeros() as usize)
    }

    /// Takes the list of a slot.
    fn take(&mut self, slot: usize) -> u32 {
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        std::mem::replace(&mut self.first[slot], NONE)
    }
}

/// The level on which `tick` stands while `now` is the current one: that of their highest difference.
fn level_of(tick: u64, now: u64) -> usize {
    let highest = 63 - ((tick ^ now) | 1).leading_zeros();
    (highest / SLOT_BITS) as usize
}

fn slot_of(tick: u64, level: usize) -> usize {
    (tick >> (SLOT_BITS * level as u32)) as usize & (SLOTS - 1)
}

impl Agenda {
    /// An agenda for elements `0..elements`.
    pub(crate) fn new(elements: usize) -> Self {
        Agenda {
            entries: vec![Entry { when: Time::NEVER, next: NONE }; elements],
            levels: std::array::from_fn(|_| Level::new()),
            tick: 0,
            due: Vec::new(),
        }
    }

    /// Wakes `element`, which has nothing pending, at `when`, which is not in the past.
    pub(crate) fn schedule(&mut self, element: Element, when: Time) {
        debug_assert!(self.entries[element as usize].when == Time::NEVER, "already pending");
        self.entries[element as usize].when = when;
        self.insert(element, when);
    }

    /// Wakes `element` at `when` at the latest: an earlier wake-up stays, a later one moves forward.
    pub(crate) fn advance(&mut self, element: Element, when: Time) {
        let pending = self.entries[element as usize].when;
        if when >= pending {
            return;
        }
        if pending != Time::NEVER {
            self.remove(element, pending);
        }
        self.entries[element as usize].when = when;
        self.insert(element, when);
    }

    /// The next wake-up at or before `end`.
    pub(crate) fn pop(&mut self, end: Time) -> Option<(Time, Element)> {
        loop {
            if let Some(&(when, element)) = self.due.last() {
                if when > end {
                    return None;
                }
                self.due.pop();
                self.entries[element as usize].when = Time::NEVER;
                return Some((when, element));
            }
            if !self.turn(end) {
                return None;
            }
        }
    }

    /// Moves on to the next occupied slot, if one begins by `end`.
    fn turn(&mut self, end: Time) -> bool {
        for level in 0..LEVELS {
            // The slot of the current tick is empty: its elements are due or on a lower level.
            let Some(slot) = self.levels[level].next_occupied(slot_of(self.tick, level)) else {
                continue;
            };
            let shift = SLOT_BITS * level as u32;
            let tick = (((self.tick >> shift) & !(SLOTS as u64 - 1)) | slot as u64) << shift;
            if tick << TICK_BITS > end.0 {
                return false;
            }
            self.tick = tick;
            let mut element = self.levels[level].take(slot);
            while element != NONE {
                let Entry { when, next } = self.entries[element as usize];
                self.insert(element, when);
                element = next;
            }
            return true;
        }
        false
    }

    fn insert(&mut self, element: Element, when: Time) {
        let tick = when.0 >> TICK_BITS;
        if tick <= self.tick {
            let at = self.due.partition_point(|later| *later > (when, element));
            self.due.insert(at, (when, element));
            return;
        }
        let level = level_of(tick, self.tick);
        let slot = slot_of(tick, level);
        let Level { first, occupied } = &mut self.levels[level];
        self.entries[element as usize].next = first[slot];
        first[slot] = element;
        occupied[slot / 64] |= 1 << (slot % 64);
    }

    /// Takes a pending element out; lists are short and this is rare.
    fn remove(&mut self, element: Element, when: Time) {
        let tick = when.0 >> TICK_BITS;
        if tick <= self.tick {
            self.due.retain(|(_, due)| *due != element);
            return;
        }
        let level = level_of(tick, self.tick);
        let slot = slot_of(tick, level);
        let after = self.entries[element as usize].next;
        let mut at = self.levels[level].first[slot];
        if at == element {
            self.levels[level].first[slot] = after;
            if after == NONE {
                self.levels[level].occupied[slot / 64] &= !(1 << (slot % 64));
            }
            return;
        }
        while at != NONE {
            let next = self.entries[at as usize].next;
            if next == element {
                self.entries[at as usize].next = after;
                return;
            }
            at = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Against a plain sorted map: the same wake-ups in the same order, whatever is asked.
        #[test]
        fn wake_ups_come_in_the_order_of_time_and_then_of_element(
            steps in prop::collection::vec((0u32..20, 0u64..(1 << 40), 0u32..40, any::<bool>()), 1..300),
        ) {
            let mut agenda = Agenda::new(20);
            let mut model: BTreeMap<u32, Time> = BTreeMap::new();
            let mut now = Time::ZERO;
            for (element, gap, shrink, pop) in steps {
                if pop {
                    let expected = model.iter().map(|(e, t)| (*t, *e)).min();
                    let got = agenda.pop(Time::NEVER);
                    prop_assert_eq!(got, expected);
                    if let Some((when, element)) = got {
                        now = when;
                        model.remove(&element);
                    }
                } else {
                    let when = Time(now.0 + (gap >> shrink));
                    agenda.advance(element, when);
                    let pending = model.entry(element).or_insert(when);
                    *pending = when.min(*pending);
                }
            }
        }
    }

    #[test]
    fn nothing_after_the_end_is_handed_out_and_the_rest_can_still_be_had() {
        let mut agenda = Agenda::new(2);
        agenda.schedule(0, Time(1_000_000));
        agenda.schedule(1, Time(3_000_000_000));
        assert_eq!(agenda.pop(Time(2_000_000)), Some((Time(1_000_000), 0)));
        assert_eq!(agenda.pop(Time(2_000_000)), None);
        assert_eq!(agenda.pop(Time(2_999_999_999)), None);
        agenda.schedule(0, Time(2_000_001));
        assert_eq!(agenda.pop(Time(4_000_000_000)), Some((Time(2_000_001), 0)));
        assert_eq!(agenda.pop(Time(4_000_000_000)), Some((Time(3_000_000_000), 1)));
    }
}
