//! The hops of a route, one word each, so that all routes of a world lie in one array.

/// Bits below the kind.
const SHIFT: u32 = 30;
const NUMBER: u32 = (1 << SHIFT) - 1;
const ARRIVED: u32 = 1;
const FORK: u32 = 2;
const LANE: u32 = 3;

/// One hop of a route: what a packet enters next. Built by the functions below, read by [`Hop::step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop(u32);

/// What a [`Hop`] stands for; numbers are below 2^30.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The link with this number.
    Link(u32),
    /// The lane of a shared medium with this number.
    Lane(u32),
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

    /// Lane `number` of the shared media.
    pub fn lane(number: u32) -> Self {
        debug_assert!(number <= NUMBER, "too many lanes");
        Hop(LANE << SHIFT | number)
    }

    /// Fork `number`.
    pub fn fork(number: u32) -> Self {
        debug_assert!(number <= NUMBER, "too many forks");
        Hop(FORK << SHIFT | number)
    }

    /// What it stands for.
    #[inline(always)] // once for each hop of each packet
    pub fn step(self) -> Step {
        let number = self.0 & NUMBER;
        match self.0 >> SHIFT {
            ARRIVED => Step::Arrived,
            FORK => Step::Fork(number),
            LANE => Step::Lane(number),
            _ => Step::Link(self.0), // its kind is 0
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
            assert_eq!(Hop::lane(number).step(), Step::Lane(number));
            assert_eq!(Hop::fork(number).step(), Step::Fork(number));
        }
        assert_eq!(Hop::ARRIVED.step(), Step::Arrived);
    }
}
