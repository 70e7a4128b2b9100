//! A first-in-first-out queue in a ring of memory, for the packets of a link.

/// A ring whose capacity is a power of two. Items keep their ordinal while the ring is not empty.
/// An empty ring begins again at 0, so that a line that seldom carries more than one packet uses
/// the memory of one slot for all of them. The ring grows when it is full. It shrinks when
/// it becomes empty, if it is large or has held few items since it was last empty: this returns the
/// memory of a burst.
pub(crate) struct Ring<T> {
    /// Empty, or a power of two of slots; slots outside `head..tail` are stale copies.
    slots: Box<[T]>,
    head: u32,
    tail: u32,
}

/// A ring with this many slots or fewer keeps them.
const LEAST: usize = 8;
/// A ring with more slots than this gives all of them back when it becomes empty: slow start fills
/// many rings, and few at a time. One with fewer keeps them for the next burst, because growing
/// takes time.
const LARGE: usize = 32;

impl<T: Copy + Default> Ring<T> {
    pub(crate) fn new() -> Self {
        Ring { slots: Box::default(), head: 0, tail: 0 }
    }

    pub(crate) fn len(&self) -> u32 {
        self.tail.wrapping_sub(self.head)
    }

    /// Whether the next item needs more memory.
    pub(crate) fn is_full(&self) -> bool {
        self.len() as usize == self.slots.len()
    }

    /// Ordinal of the oldest item; in an empty ring, of the next item to be pushed.
    pub(crate) fn head(&self) -> u32 {
        self.head
    }

    /// Ordinal of the next item to be pushed.
    pub(crate) fn tail(&self) -> u32 {
        self.tail
    }

    fn slot(&self, ordinal: u32) -> usize {
        (ordinal & (self.slots.len() as u32).wrapping_sub(1)) as usize
    }

    /// The slot of the next item, to be written. What is in it is inside from [`Ring::admit`] on.
    #[inline(always)] // runs for every hop
    pub(crate) fn stage(&mut self) -> &mut T {
        if self.is_full() {
            self.grow();
        }
        let slot = self.slot(self.tail);
        &mut self.slots[slot]
    }

    /// The item in the slot of [`Ring::stage`].
    #[inline(always)] // runs for every hop into some queues
    pub(crate) fn staged(&mut self) -> Option<&mut T> {
        let slot = self.slot(self.tail);
        self.slots.get_mut(slot)
    }

    /// Pushes the item in the slot of [`Ring::stage`].
    #[inline(always)] // runs for every hop
    pub(crate) fn admit(&mut self) {
        debug_assert!(!self.is_full(), "nothing is staged");
        self.tail = self.tail.wrapping_add(1);
    }

    /// Doubles the memory.
    #[cold]
    fn grow(&mut self) {
        self.slots = match self.slots.len() {
            0 => [T::default(); 2].into(),
            // The bit that the new mask adds to an ordinal selects one of the two copies.
            _ => self.slots.repeat(2).into(),
        };
    }

    /// The oldest item.
    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        if self.head == self.tail {
            return None;
        }
        self.slots.get(self.slot(self.head))
    }

    /// The slot of the next item, if there is room for one.
    #[inline]
    pub(crate) fn back_slot(&self) -> Option<&T> {
        self.slots.get(self.slot(self.tail))
    }

    /// Removes the oldest item of a ring that is not empty. Returns whether the ring is empty now.
    #[inline]
    pub(crate) fn advance(&mut self) -> bool {
        debug_assert!(self.len() > 0, "nothing to remove");
        self.head = self.head.wrapping_add(1);
        let empty = self.head == self.tail;
        if empty {
            if self.slots.len() > LARGE.min(4 * (self.tail as usize).max(LEAST / 4)) {
                self.shrink();
            }
            (self.head, self.tail) = (0, 0);
        }
        empty
    }

    /// Frees half of the memory of an empty ring, and all that of a large one.
    #[cold]
    fn shrink(&mut self) {
        let kept = if self.slots.len() > LARGE { 0 } else { self.slots.len() / 2 };
        self.slots = self.slots[..kept].into();
    }

    /// Hides the newest `items` until they are [`Ring::readmit`]ted; nothing may be pushed or
    /// removed meanwhile.
    pub(crate) fn withhold(&mut self, items: u32) {
        debug_assert!(items <= self.len(), "more than there are");
        self.tail = self.tail.wrapping_sub(items);
    }

    /// Shows this many withheld items again.
    pub(crate) fn readmit(&mut self, items: u32) {
        self.tail = self.tail.wrapping_add(items);
    }

    /// The item after which `number` - 1 were pushed, if it is inside.
    #[inline(always)] // runs for every hop
    pub(crate) fn nth_newest(&self, number: u32) -> Option<&T> {
        if number.wrapping_sub(1) >= self.len() {
            return None;
        }
        self.slots.get(self.slot(self.tail.wrapping_sub(number)))
    }

    /// The item with an ordinal, if it is inside.
    #[inline]
    pub(crate) fn get(&self, ordinal: u32) -> Option<&T> {
        if ordinal.wrapping_sub(self.head) >= self.len() {
            return None;
        }
        self.slots.get(self.slot(ordinal))
    }

    /// The ordinal of the first item at or after `first` that `wanted` holds for; if there is none,
    /// that of the next item to be pushed, or `first` if that is later.
    #[inline(always)] // runs for every hop into some queues
    pub(crate) fn find_from(&self, first: u32, mut wanted: impl FnMut(&T) -> bool) -> u32 {
        let mut left = self.len().saturating_sub(first.wrapping_sub(self.head));
        let mut ordinal = first;
        while left > 0
            && let Some(item) = self.slots.get(self.slot(ordinal))
            && !wanted(item)
        {
            (ordinal, left) = (ordinal.wrapping_add(1), left - 1);
        }
        ordinal
    }

    /// The item with an ordinal, if it is inside.
    #[inline]
    pub(crate) fn get_mut(&mut self, ordinal: u32) -> Option<&mut T> {
        if ordinal.wrapping_sub(self.head) >= self.len() {
            return None;
        }
        let slot = self.slot(ordinal);
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
        assert_eq!(ring.slots.len(), 128);
        while !ring.advance() {}
        assert_eq!(ring.slots.len(), 0);
        (0..LARGE).for_each(|item| add(&mut ring, item));
        while !ring.advance() {}
        assert_eq!(ring.slots.len(), LARGE);
        for least in [16, 8, 8] {
            add(&mut ring, 0);
            assert!(ring.advance());
            assert_eq!(ring.slots.len(), least);
        }
    }

    #[test]
    fn a_burst_that_comes_again_and_again_finds_the_memory_that_it_needs() {
        let mut ring = Ring::new();
        for burst in 0..10 {
            (0..20).for_each(|item| add(&mut ring, item));
            while !ring.advance() {}
            assert_eq!(ring.slots.len(), LARGE, "after burst {burst}");
        }
    }

    proptest! {
        #[test]
        fn the_ring_behaves_like_a_queue(steps in prop::collection::vec(any::<bool>(), 0..400)) {
            let (mut ring, mut model) = (Ring::new(), VecDeque::new());
            for (item, push) in steps.into_iter().enumerate() {
                if push {
                    add(&mut ring, item);
                    model.push_back(item);
                } else {
                    let expected = model.pop_front();
                    prop_assert_eq!(ring.front().copied(), expected);
                    if expected.is_some() {
                        prop_assert_eq!(ring.advance(), model.is_empty());
                    }
                }
                prop_assert_eq!(ring.len() as usize, model.len());
                for (offset, item) in model.iter().enumerate() {
                    prop_assert_eq!(ring.get(ring.head() + offset as u32), Some(item));
                }
                prop_assert_eq!(ring.get(ring.tail()), None);
                *ring.stage() = 1_000;
                prop_assert_eq!(ring.staged().copied(), Some(1_000));
                for (met, first) in (ring.head()..ring.tail()).enumerate() {
                    let wanted = |found: &usize| found % 7 == 3;
                    let offset = model.iter().skip(met).position(wanted);
                    let expected = offset.map_or(ring.tail(), |offset| first + offset as u32);
                    prop_assert_eq!(ring.find_from(first, wanted), expected);
                }
                prop_assert_eq!(ring.find_from(ring.tail() + 1, |_| true), ring.tail() + 1);
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
