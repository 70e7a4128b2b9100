//! The hops of a route, one word each, so that all routes of a world lie in one array.

/// Bits below the kind.
const SHIFT: u32 = 29;
const NUMBER: u32 = (1 << SHIFT) - 1;
const ARRIVED: u32 = 1;
const FORK: u32 = 2;
const MEDIUM_LINK: u32 = 3;
const FEEDER: u32 = 4;
const ANSWERED: u32 = 5;
const LINE: u32 = 6;

/// One hop of a route: what a packet enters next. Built by the functions below, read by
/// [`Hop::target`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop(u32);

/// The decoded target of a [`Hop`]; numbers are below 2^29.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HopTarget {
    /// The link with this number.
    Link(u32),
    /// The feeder with this number, a link whose packets take their next step at once, for a later
    /// time.
    Feeder(u32),
    /// The receiver of the path with this number, which answers at once, behind a feeder.
    Answered(u32),
    /// The medium link with this number: from one station of a shared medium to another.
    MediumLink(u32),
    /// The fork with this number: packets take several routes in turn.
    Fork(u32),
    /// The link with this number, which accepts every packet and keeps none: the caller does.
    Line(u32),
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

    /// Feeder `number`: a link whose packets take their next step ahead of time.
    pub fn feeder(number: u32) -> Self {
        debug_assert!(number <= NUMBER, "too many feeders");
        Hop(FEEDER << SHIFT | number)
    }

    /// The end of the route of data of path `number`, behind a feeder.
    pub fn answered(number: u32) -> Self {
        debug_assert!(number <= NUMBER, "too many paths");
        Hop(ANSWERED << SHIFT | number)
    }

    /// Link `number`, which accepts every packet and keeps none.
    pub fn line(number: u32) -> Self {
        debug_assert!(number <= NUMBER, "too many links");
        Hop(LINE << SHIFT | number)
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

    /// Decodes the hop. Links are tested first, then the end, each with one comparison.
    #[inline(always)] // once for each hop of each packet
    pub fn target(self) -> HopTarget {
        match self {
            Hop(link) if link <= NUMBER => HopTarget::Link(link),
            Hop::ARRIVED => HopTarget::Arrived,
            Hop(other) => Hop::uncommon(other),
        }
    }

    fn uncommon(word: u32) -> HopTarget {
        match word >> SHIFT {
            FEEDER => HopTarget::Feeder(word & NUMBER),
            ANSWERED => HopTarget::Answered(word & NUMBER),
            LINE => HopTarget::Line(word & NUMBER),
            FORK => HopTarget::Fork(word & NUMBER),
            _ => HopTarget::MediumLink(word & NUMBER),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hop_decodes_to_its_target() {
        for number in [0, 1, NUMBER] {
            assert_eq!(Hop::link(number).target(), HopTarget::Link(number));
            assert_eq!(Hop::feeder(number).target(), HopTarget::Feeder(number));
            assert_eq!(Hop::answered(number).target(), HopTarget::Answered(number));
            assert_eq!(Hop::line(number).target(), HopTarget::Line(number));
            assert_eq!(Hop::medium_link(number).target(), HopTarget::MediumLink(number));
            assert_eq!(Hop::fork(number).target(), HopTarget::Fork(number));
        }
        assert_eq!(Hop::ARRIVED.target(), HopTarget::Arrived);
    }
}
