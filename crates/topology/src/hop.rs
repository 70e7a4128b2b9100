//! The hops of a route, one word each, so that all routes of a world lie in one array.

/// Bits below the kind.
const SHIFT: u32 = 30;
const NUMBER: u32 = (1 << SHIFT) - 1;
const ARRIVED: u32 = 1;
const FORK: u32 = 2;
const MEDIUM_LINK: u32 = 3;

/// One hop of a route: what a packet enters next. Built by the functions below, read by
/// [`Hop::step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop(u32);

/// What a [`Hop`] stands for; numbers are below 2^30.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The link with this number.
    Link(u32),
    /// The medium link with this number: from one station of a shared medium to another.
    MediumLink(u32),
    /// The fork with this number: packets take several routes in turn.
    Fork(u32),
    /// The end of the route.
    Arrived,
}

impl Hop {
    /// The end of a route.
    pub const ARRIVED: Hop = Hop(ARRIVED << SHIFT);

    /// Link `number`.
    pub fn link(number: u32) -> Self {
        debug_assert!(number <= NUMBER, "too many links");
        Hop(number)
    }

    /// Medium link `number`.
    pub fn medium_link(number: u32) -> Self {
        debug_assert!(number <= NUMBER, "too many medium links");
        Hop(MEDIUM_LINK << SHIFT | number)
    }

    /// Fork `number`.
    pub fn fork(number: u32) -> Self {
        debug_assert!(number <= NUMBER, "too many forks");
        Hop(FORK << SHIFT | number)
    }

    /// What it stands for. Links come first, then the end: a comparison for each.
    #[inline(always)] // once for each hop of each packet
    pub fn step(self) -> Step {
        match self {
            Hop(link) if link <= NUMBER => Step::Link(link),
            Hop::ARRIVED => Step::Arrived,
            Hop(other) => Hop::uncommon(other),
        }
    }

    #[cold]
    fn uncommon(word: u32) -> Step {
        match word >> SHIFT {
            FORK => Step::Fork(word & NUMBER),
            _ => Step::MediumLink(word & NUMBER),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hop_says_what_it_was_built_from() {
        for number in [0, 1, NUMBER] {
            assert_eq!(Hop::link(number).step(), Step::Link(number));
            assert_eq!(Hop::medium_link(number).step(), Step::MediumLink(number));
            assert_eq!(Hop::fork(number).step(), Step::Fork(number));
        }
        assert_eq!(Hop::ARRIVED.step(), Step::Arrived);
    }
}
