//! A first-in-first-out queue in a ring of memory, for the packets of a link.

/// A ring that grows when it is full. It shrinks when it becomes empty, if it is large or has held
/// few items since it was last empty: this returns the memory of a burst. An empty ring begins
/// again at its first slot, so that a line that seldom carries more than one packet uses the memory
/// of one slot for all of them.
pub(crate) struct Ring<T> {
    /// Slots without an item are stale copies.
    slots: Box<[T]>,
    /// Slot of the oldest item. The others follow it; after the last slot comes the first one.
    head: u32,
    len: u32,
}

/// A ring with this many slots or fewer keeps them.
const LEAST: usize = 8;
/// A ring with more slots than this gives all of them back when it becomes empty: slow start fills
/// many rings, and few at a time. One with fewer keeps them for the next burst, because growing
/// takes time.
const LARGE: usize = 32;
/// A ring with this many slots or more grows in shorter steps: it seldom grows, and each step takes
/// much memory.
const HUGE: usize = 1024;

/// How many slots a ring gets when so many are too few. Beyond [`LARGE`] they are not doubled: a
/// quarter of the slots would be free on average.
fn more(slots: usize) -> usize {
    match slots {
        0 => 2,
        _ if slots < LARGE => 2 * slots,
        _ if slots < HUGE => slots + slots / 2,
        _ => slots + slots / 4,
    }
}

impl<T: Copy + Default> Ring<T> {
    pub(crate) fn new() -> Self {
        Ring { slots: Box::default(), head: 0, len: 0 }
    }

    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Whether the next item needs more memory.
    pub(crate) fn is_full(&self) -> bool {
        self.len as usize == self.slots.len()
    }

    /// The slot that comes so many after the oldest item's: at most as many as there are slots.
    fn slot(&self, offset: u32) -> usize {
        let slot = self.head + offset;
        // Without a branch: the difference wraps to a large number unless the slot is too large.
        slot.min(slot.wrapping_sub(self.slots.len() as u32)) as usize
    }

    /// The slot of the next item, to be written. What is in it is inside from [`Ring::admit`] on.
    #[inline(always)] // runs for every hop
    pub(crate) fn stage(&mut self) -> &mut T {
        if self.is_full() {
            self.grow();
        }
        let slot = self.slot(self.len);
        &mut self.slots[slot]
    }

    /// The item in the slot of [`Ring::stage`].
    #[inline(always)] // runs for every hop into some queues
    pub(crate) fn staged(&mut self) -> Option<&mut T> {
        let slot = self.slot(self.len);
        self.slots.get_mut(slot)
    }

    /// Pushes the item in the slot of [`Ring::stage`].
    #[inline(always)] // runs for every hop
    pub(crate) fn admit(&mut self) {
        debug_assert!(!self.is_full(), "nothing is staged");
        self.len += 1;
    }

    /// Moves the items of a full ring into a larger one.
    #[cold]
    fn grow(&mut self) {
        let (newer, older) = self.slots.split_at(self.head as usize);
        let slots = more(self.slots.len());
        let mut larger = Vec::with_capacity(slots);
        larger.extend_from_slice(older);
        larger.extend_from_slice(newer);
        larger.resize(slots, T::default());
        self.slots = larger.into();
        self.head = 0;
    }

    /// The oldest item.
    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        if self.len == 0 {
            return None;
        }
        self.slots.get(self.head as usize)
    }

    /// The slot of the next item, if there is room for one.
    #[inline]
    pub(crate) fn back_slot(&self) -> Option<&T> {
        self.slots.get(self.slot(self.len))
    }

    /// Removes so many of the oldest items, at least one. Returns whether the ring is empty now.
    #[inline]
    pub(crate) fn advance(&mut self, items: u32) -> bool {
        debug_assert!((1..=self.len).contains(&items), "there are not so many");
        self.len -= items;
        let empty = self.len == 0;
        if empty {
            // The items since it was last empty, or fewer if they have gone round.
            let passed = (self.head + items) as usize;
            if self.slots.len() > LARGE.min(4 * passed.max(LEAST / 4)) {
                self.shrink();
            }
            self.head = 0;
        } else {
            self.head = self.slot(items) as u32;
        }
        empty
    }

    /// Frees half of the memory of an empty ring, and all that of a large one.
    #[cold]
    fn shrink(&mut self) {
        let kept = if self.slots.len() > LARGE { 0 } else { (self.slots.len() / 2).max(LEAST) };
        self.slots = self.slots[..kept].into();
    }

    /// Hides the newest `items` until they are [`Ring::readmit`]ted; nothing may be pushed or
    /// removed meanwhile.
    pub(crate) fn withhold(&mut self, items: u32) {
        debug_assert!(items <= self.len, "more than there are");
        self.len -= items;
    }

    /// Shows this many withheld items again, or counts items that are elsewhere.
    pub(crate) fn readmit(&mut self, items: u32) {
        self.len += items;
    }

    /// The item after which `number` - 1 were pushed, if it is inside.
    #[inline(always)] // runs for every hop
    pub(crate) fn nth_newest(&self, number: u32) -> Option<&T> {
        if number.wrapping_sub(1) >= self.len {
            return None;
        }
        self.slots.get(self.slot(self.len - number))
    }

    /// The item that will leave after this many others, if it is inside.
    #[inline]
    pub(crate) fn get(&self, others: u32) -> Option<&T> {
        if others >= self.len {
            return None;
        }
        self.slots.get(self.slot(others))
    }

    /// How many items leave before the next one that `wanted` holds for; the oldest `first` items
    /// are not asked. Without such an item, all of them, and at least `first`.
    #[inline(always)] // runs for every hop into some queues
    pub(crate) fn find_from(&self, first: u32, mut wanted: impl FnMut(&T) -> bool) -> u32 {
        let mut others = first;
        while others < self.len
            && let Some(item) = self.slots.get(self.slot(others))
            && !wanted(item)
        {
            others += 1;
        }
        others
    }

    /// The item that will leave after this many others, if it is inside.
    #[inline]
    pub(crate) fn get_mut(&mut self, others: u32) -> Option<&mut T> {
        if others >= self.len {
            return None;
        }
        let slot = self.slot(others);
        self.slots.get_mut(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn add<T: Copy + Default>(ring: &mut Ring<T>, item: T) {
        *ring.stage() = item;
        ring.admit();
    }

    #[test]
    fn what_a_burst_took_is_given_back_in_quiet_times() {
        let mut ring = Ring::new();
        (0..100).for_each(|item| add(&mut ring, item));
        assert_eq!(ring.slots.len(), 108);
        while !ring.advance(1) {}
        assert_eq!(ring.slots.len(), 0);
        (0..LARGE).for_each(|item| add(&mut ring, item));
        while !ring.advance(1) {}
        assert_eq!(ring.slots.len(), LARGE);
        for least in [16, 8, 8] {
            add(&mut ring, 0);
            assert!(ring.advance(1));
            assert_eq!(ring.slots.len(), least);
        }
    }

    #[test]
    fn a_burst_that_comes_again_and_again_finds_the_memory_that_it_needs() {
        let mut ring = Ring::new();
        for burst in 0..10 {
            (0..20).for_each(|item| add(&mut ring, item));
            while !ring.advance(1) {}
            assert_eq!(ring.slots.len(), LARGE, "after burst {burst}");
        }
    }

    /// Every number of slots that a ring has on its way to some 10,000.
    fn capacities() -> impl Iterator<Item = usize> {
        std::iter::successors(Some(more(0)), |slots| Some(more(*slots)))
            .take_while(|it| *it < 10_000)
    }

    #[test]
    fn a_ring_of_many_slots_is_two_thirds_full_when_it_has_grown() {
        for slots in capacities().filter(|slots| *slots >= LARGE) {
            assert!(3 * slots >= 2 * more(slots), "{} slots after {slots}", more(slots));
        }
    }

    #[test]
    fn a_ring_of_any_size_keeps_the_order_when_it_grows_wherever_its_oldest_item_is() {
        for slots in capacities() {
            for gone in [0, 1, slots / 3, slots - 1, slots] {
                let mut ring = Ring::new();
                (0..slots).for_each(|item| add(&mut ring, item));
                for item in slots..slots + gone {
                    assert!(!ring.advance(1));
                    add(&mut ring, item);
                }
                assert_eq!((ring.slots.len(), ring.is_full()), (slots, true));
                add(&mut ring, slots + gone);
                assert_eq!(ring.slots.len(), more(slots));
                for item in gone..=slots + gone {
                    assert_eq!(ring.front(), Some(&item), "{gone} of {slots}");
                    assert_eq!(ring.advance(1), item == slots + gone);
                }
            }
        }
    }

    /// What happens to a burst of items.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Push,
        /// They leave one by one.
        Take,
        /// They leave at once.
        Skip,
    }

    /// Bursts of few items and of many.
    fn bursts() -> impl Strategy<Value = Vec<(Step, u32)>> {
        let step = prop::sample::select(vec![Step::Push, Step::Push, Step::Take, Step::Skip]);
        let items = prop_oneof![4 => 1..4u32, 2 => 1..40u32, 1 => 1..400u32];
        prop::collection::vec((step, items), 0..100)
    }

    proptest! {
        #[test]
        fn the_ring_behaves_like_a_queue(bursts in bursts()) {
            let (mut ring, mut model) = (Ring::new(), VecDeque::new());
            let mut items = 0..;
            for (step, count) in bursts {
                match step {
                    Step::Push => items.by_ref().take(count as usize).for_each(|item| {
                        add(&mut ring, item);
                        model.push_back(item);
                    }),
                    Step::Take => for _ in 0..count {
                        let expected = model.pop_front();
                        prop_assert_eq!(ring.front().copied(), expected);
                        if expected.is_some() {
                            prop_assert_eq!(ring.advance(1), model.is_empty());
                        }
                    },
                    Step::Skip => {
                        let skipped = count.min(ring.len());
                        drop(model.drain(..skipped as usize));
                        if skipped > 0 {
                            prop_assert_eq!(ring.advance(skipped), model.is_empty());
                        }
                    }
                }
                prop_assert_eq!(ring.len() as usize, model.len());
                for (others, item) in (0..).zip(&mut model) {
                    prop_assert_eq!(ring.get(others), Some(&*item));
                    prop_assert_eq!(ring.get_mut(others), Some(item));
                }
                prop_assert_eq!(ring.get(ring.len()), None);
                *ring.stage() = 1_000;
                prop_assert_eq!(ring.staged().copied(), Some(1_000));
                let wanted = |found: &usize| found % 7 == 3;
                for first in 0..=ring.len() {
                    let next = model.iter().skip(first as usize).position(wanted);
                    let expected = next.map_or(ring.len(), |offset| first + offset as u32);
                    prop_assert_eq!(ring.find_from(first, wanted), expected);
                }
                prop_assert_eq!(ring.find_from(ring.len() + 1, |_| true), ring.len() + 1);
                for (number, item) in (1..).zip(model.iter().rev()) {
                    prop_assert_eq!(ring.nth_newest(number), Some(item));
                }
                for number in [0, ring.len() + 1, u32::MAX] {
                    prop_assert_eq!(ring.nth_newest(number), None);
                }
                let newest = ring.len().min(2);
                ring.withhold(newest);
                prop_assert_eq!(ring.len() + newest, model.len() as u32);
                ring.readmit(newest);
            }
        }
    }
}
