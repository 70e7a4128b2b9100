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
use network::{Link, LinkSettings, Packet};
use topology::{Hop, HopTarget, MeasuredLink};

/// A packet in a feeder. The packet itself is in the line behind already.
#[derive(Clone, Copy, Default)]
pub(crate) struct Entered {
    pub(crate) bytes: u32,
    /// Number of the line.
    pub(crate) line: u32,
}

impl Packet for Entered {
    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn path(&self) -> u32 {
        unreachable!("only a link that is not plain asks for it")
    }

    fn ecn_capable(&self) -> bool {
        false // the packet itself is judged and marked
    }

    fn mark(&mut self) {}

    fn lower_effort(&self) -> bool {
        false
    }
}

/// A link that is a feeder, and its number.
pub(crate) struct Feeder {
    pub(crate) number: u32,
    pub(crate) link: Link<Entered>,
}

/// The feeders of a world.
#[derive(Default)]
pub(crate) struct Feeders {
    /// In the order of their numbers. The links with their numbers in the world stay empty.
    pub(crate) list: Vec<Feeder>,
    /// During a pause: for each packet that is still in a feeder, the line that withholds it.
    pub(crate) withheld: Vec<u32>,
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
        links: &mut [Link<PackedSegment>],
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
        let numbers: Vec<u32> = (0..links.len() as u32).filter(|link| is_feeder(*link)).collect();
        for hop in hops {
            if let HopTarget::Link(link) = hop.target()
                && let Ok(feeder) = numbers.binary_search(&link)
            {
                *hop = Hop::feeder(feeder as u32);
            }
        }
        let list = numbers.into_iter().map(|number| {
            let own =
                std::mem::replace(&mut links[number as usize], Link::new(LinkSettings::default()));
            Feeder { number, link: own.retyped() }
        });
        Feeders { list: list.collect(), withheld: Vec::new() }
    }

    /// The links of a world in the order of their numbers, feeders included.
    pub(crate) fn among<'a>(
        &'a self,
        links: &'a [Link<PackedSegment>],
    ) -> impl Iterator<Item = &'a dyn MeasuredLink> {
        let mut feeders = self.list.iter().peekable();
        links.iter().zip(0..).map(move |(link, number)| -> &dyn MeasuredLink {
            match feeders.next_if(|feeder| feeder.number == number) {
                Some(feeder) => &feeder.link,
                None => link,
            }
        })
    }

    /// The same for a meter that counts what waits.
    pub(crate) fn among_mut<'a>(
        &'a mut self,
        links: &'a mut [Link<PackedSegment>],
    ) -> impl Iterator<Item = &'a mut dyn MeasuredLink> {
        let mut feeders = self.list.iter_mut().peekable();
        links.iter_mut().zip(0..).map(move |(link, number)| -> &mut dyn MeasuredLink {
            match feeders.next_if(|feeder| feeder.number == number) {
                Some(feeder) => &mut feeder.link,
                None => link,
            }
        })
    }
}

/// Each hop with the hop before it in memory. The first hop of a route follows [`Hop::ARRIVED`] or
/// a fork.
fn pairs(hops: &[Hop]) -> impl Iterator<Item = (HopTarget, HopTarget)> {
    let before = std::iter::once(&Hop::ARRIVED).chain(hops);
    before.zip(hops).map(|(before, hop)| (before.target(), hop.target()))
}
