//! Feeders: links whose packets take their next step ahead of time.
//!
//! When a packet enters a feeder, it is known when it will come out: links run in virtual time. Its
//! next step is then taken at once, for that later time, and the feeder needs no events. This step
//! leads to a link or to a receiver:
//!
//! * A private line is a link without a queue limit that gets packets from one other link only. No
//!   other packet can come to it before, so the packet enters it at once.
//! * A receiver that answers every segment at once does nothing between segments, and a single path
//!   brings them in order. So the segment is answered at once, and its ACK enters the first link
//!   back for that later time, if this one is a private line behind such receivers. `build.rs` says
//!   in which worlds.
//!
//! On a path of an access link, a shared bottleneck and a private line, with such a line for ACKs,
//! neither the bottleneck nor the line is woken. Every packet comes out of every link when it would
//! have, so results are the same; digests count fewer events.
//!
//! How packets move is in `feeding.rs`.

use crate::packed::PackedSegment;
use network::{Link, LinkSettings, Packet};
use std::collections::BTreeMap;
use topology::{Hop, HopTarget, MeasuredLink};
use units::Time;

/// A packet in a feeder, which has taken its next step already.
#[derive(Clone, Copy)]
pub(crate) struct Entered {
    pub(crate) bytes: u32,
    /// That step.
    pub(crate) next: Hop,
}

impl Default for Entered {
    fn default() -> Self {
        Entered { bytes: 0, next: Hop::ARRIVED }
    }
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
    /// Arrivals ahead of time that were not in order, and some earlier ones.
    pub(crate) leaps: Vec<Leap>,
    /// During a pause: the packets that are still in a feeder. Their next steps are withheld.
    pub(crate) withheld: Vec<Entered>,
    /// During a pause: for each path the part of its receiver's counters that is ahead of time.
    pub(crate) unseen: BTreeMap<u32, Received>,
}

/// Counters of a receiver, or the change of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Received {
    /// Bytes of the connection that arrived and have no gap before them.
    pub(crate) delivered: u64,
    /// Bytes that wait for earlier ones; wraps when it is a change.
    pub(crate) held: u64,
    /// Bytes that arrived, each counted once.
    pub(crate) taken: u64,
}

impl Received {
    /// What `other` had still to receive.
    pub(crate) fn since(self, other: Received) -> Received {
        Received {
            delivered: self.delivered.wrapping_sub(other.delivered),
            held: self.held.wrapping_sub(other.held),
            taken: self.taken.wrapping_sub(other.taken),
        }
    }

    pub(crate) fn add(&mut self, other: Received) {
        self.delivered = self.delivered.wrapping_add(other.delivered);
        self.held = self.held.wrapping_add(other.held);
        self.taken = self.taken.wrapping_add(other.taken);
    }

    /// A segment of so many new bytes, in order.
    pub(crate) fn in_order(bytes: u64) -> Received {
        Received { delivered: bytes, held: 0, taken: bytes }
    }

    /// The change by a segment of `bytes` behind a hole.
    pub(crate) fn behind_a_hole(bytes: u64) -> Self {
        Received { delivered: 0, held: bytes, taken: 0 }
    }
}

/// An arrival ahead of time that changed its receiver otherwise than a segment in order does.
pub(crate) struct Leap {
    pub(crate) path: u32,
    /// When the segment arrives.
    pub(crate) at: Time,
    /// Its change less that of a segment in order.
    pub(crate) beyond: Received,
}

/// A path whose receiver answers every segment at once, and its routes among the hops.
pub(crate) struct Answering {
    pub(crate) path: u32,
    pub(crate) forward: u32,
    pub(crate) back: u32,
}

impl Answering {
    /// Marks the end of its route of data, if its route back follows in memory, as it does unless
    /// packets take several ways.
    pub(crate) fn mark(&self, hops: &mut [Hop]) {
        let Answering { path, forward, back } = *self;
        let route = hops.get_mut(forward as usize..back as usize).unwrap_or_default();
        if let [ways @ .., end] = route
            && *end == Hop::ARRIVED
            && ways.iter().all(|hop| matches!(hop.target(), HopTarget::Link(_)))
        {
            *end = Hop::answered(path);
        }
    }
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
    /// Makes feeders of all `links` that can be, marks the hops into them, and removes the marks of
    /// [`Answering::mark`] that are not behind one. A link that the script changes, one of
    /// `changed`, is neither a feeder nor a private line.
    pub(crate) fn lay(
        hops: &mut [Hop],
        links: &mut [Link<PackedSegment>],
        changed: &[u32],
    ) -> Self {
        let numbers = numbers(hops, links, changed);
        let mut fed = false;
        for hop in hops {
            match hop.target() {
                HopTarget::Link(link) => {
                    let feeder = numbers.binary_search(&link);
                    fed = feeder.is_ok();
                    feeder.iter().for_each(|feeder| *hop = Hop::feeder(*feeder as u32));
                }
                HopTarget::Answered(_) if !fed => *hop = Hop::ARRIVED,
                _ => {}
            }
        }
        let list = numbers.into_iter().map(|number| {
            let own =
                std::mem::replace(&mut links[number as usize], Link::new(LinkSettings::default()));
            Feeder { number, link: own.retyped() }
        });
        Feeders { list: list.collect(), ..Feeders::default() }
    }

    /// The run is over: frees the memory of all but what is ahead of time.
    pub(crate) fn forget(&mut self) {
        (self.list, self.leaps, self.withheld) = Default::default();
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

/// The numbers of the links that are feeders, ascending: see [`Feeders::lay`].
pub(crate) fn numbers(hops: &[Hop], links: &[Link<PackedSegment>], changed: &[u32]) -> Vec<u32> {
    let mut constant: Vec<bool> = links.iter().map(Link::is_plain).collect();
    changed.iter().for_each(|link| constant[*link as usize] = false);
    let mut reached = vec![Reached::Never; links.len()];
    for (before, link) in steps(hops) {
        if let HopTarget::Link(link) = link {
            let from = match before {
                // Without latency, a line is then woken after the time at which its feeder would
                // have been woken.
                HopTarget::Link(feeder) if feeder < link => Reached::From(feeder),
                _ => Reached::Otherwise,
            };
            let known = &mut reached[link as usize];
            *known = known.also(from);
        }
    }
    let is_line = |link: u32| {
        let link = link as usize;
        constant[link] && links[link].is_unlimited() && matches!(reached[link], Reached::From(_))
    };
    let mut feeds = constant.clone();
    for step in steps(hops) {
        match step {
            (HopTarget::Link(_), HopTarget::Link(next)) if is_line(next) => {}
            // A link after a medium link is not a feeder: packets lost by the medium count as lost
            // there.
            (HopTarget::Link(link), _) | (HopTarget::MediumLink(_), HopTarget::Link(link)) => {
                feeds[link as usize] = false;
            }
            _ => {}
        }
    }
    let is_feeder = |link: &u32| {
        let link = *link as usize;
        feeds[link] && reached[link] != Reached::Never
    };
    (0..links.len() as u32).filter(is_feeder).collect()
}

/// The steps of all packets: pairs of a hop and the next one. The first hop of a route follows
/// [`Hop::ARRIVED`] or a fork; behind a receiver that answers at once, it follows the hop before
/// that receiver.
fn steps(hops: &[Hop]) -> impl Iterator<Item = (HopTarget, HopTarget)> {
    let steps = hops.iter().scan(HopTarget::Arrived, |before, hop| {
        let target = hop.target();
        let answered = matches!(target, HopTarget::Answered(_));
        let from = if answered { *before } else { std::mem::replace(before, target) };
        Some((!answered).then_some((from, target)))
    });
    steps.flatten()
}
