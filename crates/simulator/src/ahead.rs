//! Prefetching for events that follow soon.
//!
//! A run with 100,000 flows visits 350 MB in random order, and each event would wait for memory
//! several times: for the packet that comes out of a link, its next hop, the link or the connection
//! there, and the state of its path. So these are prefetched for a few dozen events at a time, step
//! by step. A step reads what the step before it has prefetched, and takes all events before the
//! next step, so that a few dozen reads are under way at once.

use crate::agenda::{MOST_SHOWN, Soon};
use crate::ends::{Ends, Pair};
use crate::event_source::{Numbering, Wake};
use crate::lines::Lines;
use crate::packed::PackedSegment;
use crate::world::{Flow, Path, World};
use arrayvec::ArrayVec;
use network::{Link, prefetch, prefetch_at, prefetch_whole};
use topology::{Hop, HopTarget};

/// The parts of the world that events read.
struct Ahead<'a> {
    sources: Numbering,
    links: &'a [Link<PackedSegment>],
    lines: &'a Lines,
    hops: &'a [Hop],
    paths: &'a [Path],
    flows: &'a [Flow],
}

/// What packets enter soon, and the senders that are woken.
#[derive(Default)]
struct Targets {
    /// Numbers of links that keep their packets.
    links: ArrayVec<u32, MOST_SHOWN>,
    /// Numbers of lines.
    lines: ArrayVec<u32, MOST_SHOWN>,
    ends: ArrayVec<End, MOST_SHOWN>,
}

/// An end of a connection.
#[derive(Clone, Copy)]
struct End {
    path: u32,
    /// Whether it is the one that sends data.
    is_sender: bool,
}

impl World {
    /// Prefetches from the parts of a world, while its agenda is in use, for events that follow
    /// soon.
    #[inline(never)] // only in a dense agenda
    pub(crate) fn look_ahead(
        sources: Numbering,
        (links, lines): (&[Link<PackedSegment>], &Lines),
        (hops, paths, flows): (&[Hop], &[Path], &[Flow]),
        soon: Soon<'_>,
    ) {
        let ahead = Ahead { sources, links, lines, hops, paths, flows };
        ahead.prefetch_sources(soon);
        ahead.packets(soon).for_each(|packet| prefetch(&hops[packet.cursor() as usize]));
        ahead.prefetch_targets(&ahead.targets(soon));
    }
}

impl Ahead<'_> {
    /// Prefetches links and senders that are woken, and packets that come out.
    fn prefetch_sources(&self, soon: Soon<'_>) {
        let mut woken = false;
        for due in soon.events() {
            match (due.place, self.sources.wake(due.source)) {
                (Some(place), _) => self.lines.prefetch(place),
                (None, Wake::Link(link)) => {
                    woken = true;
                    prefetch(&self.links[link as usize]);
                }
                (None, Wake::Sender(flow)) => prefetch_whole(&self.flows[flow as usize]),
                _ => {}
            }
        }
        if !woken {
            return; // the usual case
        }
        for due in soon.events().filter(|due| due.place.is_none()) {
            if let Wake::Link(link) = self.sources.wake(due.source) {
                self.links[link as usize].prefetch_front();
            }
        }
    }

    /// What the packets that come out enter, and the senders that are woken.
    fn targets(&self, soon: Soon<'_>) -> Targets {
        let mut targets = Targets::default();
        for packet in self.packets(soon) {
            match self.target(packet) {
                HopTarget::Link(link) => targets.links.push(link),
                HopTarget::Line(line) => targets.lines.push(line),
                HopTarget::Arrived | HopTarget::Answered(_) => {
                    let (path, is_sender) = (packet.path(), packet.is_answer());
                    targets.ends.push(End { path, is_sender });
                }
                _ => {}
            }
        }
        for due in soon.events().filter(|due| due.place.is_none()) {
            if let Wake::Sender(flow) = self.sources.wake(due.source) {
                let path = self.flows[flow as usize].first_path;
                targets.ends.push(End { path, is_sender: true });
            }
        }
        targets
    }

    /// Prefetches links, lines and ends, and the links into which the ends send.
    fn prefetch_targets(&self, targets: &Targets) {
        let Targets { links, lines, ends } = targets;
        for link in links.iter().chain(lines) {
            prefetch_whole(&self.links[*link as usize]);
        }
        ends.iter().for_each(|end| prefetch_whole(&self.paths[end.path as usize]));
        for (_, flow, first) in ends.iter().map(|end| self.end(*end)) {
            prefetch_whole(flow);
            if let HopTarget::Link(link) | HopTarget::Line(link) = first.target() {
                prefetch_whole(&self.links[link as usize]);
            }
        }
        links.iter().for_each(|link| self.links[*link as usize].prefetch_back());
        for (end, flow, first) in ends.iter().map(|end| self.end(*end)) {
            prefetch_state(flow, end);
            if let HopTarget::Link(link) = first.target() {
                self.links[link as usize].prefetch_back();
            }
        }
    }

    /// The packets that come out of links and lines.
    #[inline(always)] // runs twice for every event
    fn packets(&self, soon: Soon<'_>) -> impl Iterator<Item = &PackedSegment> {
        soon.events().filter_map(|due| match (due.place, self.sources.wake(due.source)) {
            (Some(place), _) => self.lines.packet(place),
            (None, Wake::Link(link)) => self.links[link as usize].front(),
            _ => None,
        })
    }

    /// What a packet enters; behind a feeder, what it enters then.
    #[inline(always)] // runs for every event
    fn target(&self, packet: &PackedSegment) -> HopTarget {
        let cursor = packet.cursor() as usize;
        match self.hops[cursor].target() {
            HopTarget::Feeder(_) => self.hops[cursor + 1].target(),
            other => other,
        }
    }

    /// An end with its connection, and the first hop of the packets that it sends.
    #[inline(always)] // runs twice for many events
    fn end(&self, end: End) -> (End, &Flow, Hop) {
        let Path { flow, forward, back, .. } = self.paths[end.path as usize];
        let first = if end.is_sender { forward } else { back };
        (end, &self.flows[flow as usize], self.hops[first as usize])
    }
}

/// Prefetches the state of a path at an end.
#[inline(always)] // runs for many events
fn prefetch_state(flow: &Flow, end: End) {
    let Ends::Tcp(Pair { sender, receiver }) = &flow.ends else {
        return;
    };
    let path = (end.path - flow.first_path) as usize;
    if end.is_sender {
        sender.path(path).iter().for_each(|state| prefetch_whole(*state));
        sender.control_reads(path).into_iter().flatten().for_each(prefetch_at);
    } else {
        receiver.path(path).iter().for_each(|state| prefetch_whole(*state));
    }
}
