//! Prefetching for events that follow soon.
//!
//! A run with 100,000 flows visits 350 MB in random order, and each event would wait for memory
//! several times: for the link that is woken, the packet that comes out of it, its next hop, and
//! the link or the connection there. So each of these is prefetched some events before its turn,
//! when the one before it has arrived in the cache.

use crate::agenda::STAGES;
use crate::ends::{Ends, Pair};
use crate::event_source::{EventSource, Numbering, Wake};
use crate::feeders::{Entered, Feeders};
use crate::packed::PackedSegment;
use crate::world::{Flow, Path, World};
use network::{Link, prefetch, prefetch_whole};
use topology::{Hop, HopTarget};

/// The parts of the world that events read.
struct Ahead<'a> {
    sources: Numbering,
    links: &'a [Link<PackedSegment>],
    hops: &'a [Hop],
    feeders: &'a Feeders,
    paths: &'a [Path],
    flows: &'a [Flow],
}

/// What a packet that comes out of a link enters.
enum Next<'a> {
    /// A link that is not a feeder, or the private line behind one.
    Link(&'a Link<PackedSegment>),
    /// A receiver behind feeders, and the first hop of its answers. The last feeder may be private.
    Answered(Option<&'a Link<Entered>>, &'a Flow, &'a Hop),
    /// An end of a connection, and the first hop of the packets that it sends.
    End(&'a Flow, &'a Hop),
}

impl World {
    /// Prefetches from the parts of a world, while its agenda is in use, for sources that follow
    /// soon, the next one first.
    #[inline(never)] // only in a dense agenda
    pub(crate) fn look_ahead(
        sources: Numbering,
        links: &[Link<PackedSegment>],
        (hops, feeders): (&[Hop], &Feeders),
        (paths, flows): (&[Path], &[Flow]),
        later: [EventSource; STAGES],
    ) {
        Ahead { sources, links, hops, feeders, paths, flows }.prefetch(later);
    }
}

impl Ahead<'_> {
    /// Prefetches for each source what it will read next.
    fn prefetch(&self, [first, second, third, fourth, fifth, sixth]: [EventSource; STAGES]) {
        self.link(sixth).inspect(|link| prefetch(*link));
        self.link(fifth).inspect(|link| link.prefetch_front());
        if let Some(packet) = self.packet(fourth) {
            prefetch(&self.hops[packet.cursor() as usize]);
            prefetch(&self.paths[packet.path() as usize]);
        }
        match self.packet(third).and_then(|packet| self.next(packet)) {
            Some(Next::Link(link)) => prefetch_whole(link),
            Some(Next::End(flow, hop)) => {
                prefetch_whole(flow);
                prefetch(hop);
            }
            Some(Next::Answered(line, flow, hop)) => {
                line.inspect(|line| prefetch_whole(*line));
                prefetch_whole(flow);
                prefetch(hop);
            }
            None => {}
        }
        if let Some(packet) = self.packet(second)
            && let Some(Next::End(flow, hop) | Next::Answered(_, flow, hop)) = self.next(packet)
        {
            prefetch_path(flow, packet);
            self.link_of(*hop).inspect(|link| prefetch_whole(*link));
        }
        match self.packet(first).and_then(|packet| self.next(packet)) {
            Some(Next::Link(link)) => link.prefetch_back(),
            Some(Next::End(_, hop)) => _ = self.link_of(*hop).inspect(|link| link.prefetch_back()),
            Some(Next::Answered(line, _, hop)) => {
                line.inspect(|line| line.prefetch_back());
                self.link_of(*hop).inspect(|link| link.prefetch_back());
            }
            None => {}
        }
    }

    #[inline(always)] // runs several times for every event
    fn link(&self, source: EventSource) -> Option<&Link<PackedSegment>> {
        match self.sources.wake(source) {
            Wake::Link(link) => self.links.get(link as usize),
            _ => None,
        }
    }

    /// The packet that comes out when a source is woken.
    #[inline(always)] // runs several times for every event
    fn packet(&self, source: EventSource) -> Option<&PackedSegment> {
        self.link(source)?.front()
    }

    #[inline(always)] // runs several times for every event
    fn link_of(&self, hop: Hop) -> Option<&Link<PackedSegment>> {
        match hop.target() {
            HopTarget::Link(link) => self.links.get(link as usize),
            _ => None,
        }
    }

    #[inline(always)] // runs several times for every event
    fn next(&self, packet: &PackedSegment) -> Option<Next<'_>> {
        let cursor = packet.cursor() as usize;
        match self.hops[cursor].target() {
            HopTarget::Link(link) => Some(Next::Link(&self.links[link as usize])),
            HopTarget::Feeder(_) => self.behind_feeder(packet, cursor + 1),
            HopTarget::Arrived => {
                let Path { flow, forward, back, .. } = self.paths[packet.path() as usize];
                let first = if packet.is_answer() { forward } else { back };
                Some(Next::End(&self.flows[flow as usize], &self.hops[first as usize]))
            }
            _ => None,
        }
    }

    /// What a packet enters behind a feeder, whose next hop is at `cursor`.
    fn behind_feeder(&self, packet: &PackedSegment, cursor: usize) -> Option<Next<'_>> {
        let line = match self.hops[cursor].target() {
            HopTarget::Link(link) => return self.links.get(link as usize).map(Next::Link),
            HopTarget::Feeder(line) => Some(&self.feeders.list[line as usize].link),
            _ => None,
        };
        let Path { flow, back, .. } = self.paths[packet.path() as usize];
        let (flow, hop) = (&self.flows[flow as usize], &self.hops[back as usize]);
        (!packet.is_answer()).then_some(Next::Answered(line, flow, hop))
    }
}

/// Prefetches the state of a packet's path at the end where it arrives.
fn prefetch_path(flow: &Flow, packet: &PackedSegment) {
    if let Ends::Tcp(Pair { sender, receiver }) = &flow.ends {
        let path = (packet.path() - flow.first_path) as usize;
        match packet.is_answer() {
            true => sender.path(path).iter().for_each(|state| prefetch_whole(*state)),
            false => receiver.path(path).iter().for_each(|state| prefetch_whole(*state)),
        }
    }
}
