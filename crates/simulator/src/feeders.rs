//! Private lines: a private line is a link without a queue limit that gets packets from one other
//! link only, its feeder.
//!
//! When a packet enters the feeder, it is known when it will come out: links run in virtual time.
//! No other packet can come to the line before it. So it enters the line at once, for that later
//! time, and the feeder needs no events. On a path of an access link, a shared bottleneck and a
//! private line, the bottleneck is not woken. Every packet comes out of the line when it would
//! have, so results are the same; digests count fewer events.
//!
//! How packets move is in `feeding.rs`.

use crate::packed::PackedSegment;
use network::Link;
use std::collections::BTreeMap;
use topology::{Hop, HopTarget};

/// The feeders of a world.
#[derive(Default)]
pub(crate) struct Feeders {
    /// Their links.
    pub(crate) links: Vec<u32>,
    /// Lines, and the number of packets that each withholds because they are still in the feeder.
    pub(crate) withheld: BTreeMap<u32, u32>,
}

/// The sources from which packets reach a link.
#[derive(Clone, Copy, PartialEq)]
enum Reached {
    /// None so far.
    Never,
    /// Only this link.
    From(u32),
    /// Several places, or something other than a link.
    Otherwise,
}

impl Reached {
    fn also(self, from: Reached) -> Reached {
        match self {
            Reached::Never => from,
            same if same == from => same,
            _ => Reached::Otherwise,
        }
    }
}

impl Feeders {
    /// Finds the feeders among `links`, and marks the hops into them. A link that the script
    /// changes, one of `changed`, is neither a feeder nor a private line.
    pub(crate) fn find(
        hops: &mut [Hop],
        links: &[Link<PackedSegment>],
        changed: impl Iterator<Item = u32>,
    ) -> Self {
        let mut constant: Vec<bool> = links.iter().map(Link::is_plain).collect();
        changed.for_each(|link| constant[link as usize] = false);
        let mut reached = vec![Reached::Never; links.len()];
        for (before, link) in pairs(hops) {
            if let HopTarget::Link(link) = link {
                let from = match before {
                    // Without latency, a line is then woken after the time at which its feeder
                    // would have been woken.
                    HopTarget::Link(feeder) if feeder < link => Reached::From(feeder),
                    _ => Reached::Otherwise,
                };
                let known = &mut reached[link as usize];
                *known = known.also(from);
            }
        }
        let is_line = |link: u32| {
            let link = link as usize;
            constant[link]
                && links[link].is_unlimited()
                && matches!(reached[link], Reached::From(_))
        };
        let mut feeds = constant.clone();
        for pair in pairs(hops) {
            match pair {
                (HopTarget::Link(_), HopTarget::Link(next)) if is_line(next) => {}
                // A link after a medium link is not a feeder: packets lost by the medium count as
                // lost there.
                (HopTarget::Link(link), _) | (HopTarget::MediumLink(_), HopTarget::Link(link)) => {
                    feeds[link as usize] = false;
                }
                _ => {}
            }
        }
        // A line that leads to another line is woken: a packet is never entered into two links
        // ahead of time.
        let is_feeder = |link: u32| {
            feeds[link as usize] && !is_line(link) && reached[link as usize] != Reached::Never
        };
        for hop in hops {
            if let HopTarget::Link(link) = hop.target()
                && is_feeder(link)
            {
                *hop = Hop::feeder(link);
            }
        }
        let links = (0..links.len() as u32).filter(|link| is_feeder(*link)).collect();
        Feeders { links, withheld: BTreeMap::new() }
    }
}

/// Each hop with the hop before it in memory. The first hop of a route follows [`Hop::ARRIVED`] or
/// a fork.
fn pairs(hops: &[Hop]) -> impl Iterator<Item = (HopTarget, HopTarget)> {
    let before = std::iter::once(&Hop::ARRIVED).chain(hops);
    before.zip(hops).map(|(before, hop)| (before.target(), hop.target()))
}
