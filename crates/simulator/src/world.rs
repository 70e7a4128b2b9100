//! The world: elements, endpoints, and the loop that carries packets between them.
//!
//! Follow a packet: `pump` takes a segment from a sender and puts it on its route; `hop` offers it to
//! the next link; the agenda wakes the link when it comes out, and `hop` goes on; at the end of the
//! route `arrive` gives it to the endpoint, whose answer takes the same way back.

use crate::agenda::Agenda;
use crate::controller::Controller;
use crate::event_source::{EventSource, Numbering, Wake};
use crate::packed::{PackedSegment, SackStore};
use crate::trace::{Event, EventKind};
use crate::watch::Watch;
use control::Verdicts;
use network::{Change, Link, Offer, Outcome, Passage};
use topology::{Hop, SharedMedia, Step, Stream, StreamOf};
use transport::{Receiver, Sender};
use units::Time;
use wire::{Ack, Flags, Report};

/// Events after which whoever runs the world is asked whether to go on: a fraction of a second. A
/// power of two, as it is looked at on every event.
const BATCH: u64 = 1 << 20;

/// What a path's sender counts and the trace tells.
const TOLD: [EventKind; 5] = [
    EventKind::Timeout,
    EventKind::Recovery,
    EventKind::Noise,
    EventKind::Congestion,
    EventKind::Asked,
];

/// A connection: both of its endpoints.
#[repr(align(64))]
pub(crate) struct Flow {
    pub(crate) sender: Sender<Controller>,
    pub(crate) receiver: Receiver,
    /// Number of its first path in the world.
    pub(crate) first_path: u32,
    /// Header bytes of its packets.
    pub(crate) header: u16,
    /// Whether its sender wants to know what has left the host: what waits there is limited.
    pub(crate) small_queue: bool,
}

/// A path: whose it is, and where its two routes begin among the hops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    pub(crate) flow: u32,
    pub(crate) forward: u32,
    pub(crate) back: u32,
}

/// Where packets of a path take one of several ways in turn (striping).
#[derive(Clone, Debug, Default)]
pub(crate) struct Fork {
    /// Where the ways begin among the hops.
    pub(crate) ways: Vec<u32>,
    pub(crate) next: usize,
}

/// Packets and bytes of one path since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PathCount {
    /// Data packets sent.
    pub(crate) sent: u64,
    /// Data packets dropped or lost.
    pub(crate) lost: u64,
    /// Bytes of data packets, headers included, that arrived.
    pub(crate) arrived_bytes: u64,
}

/// What the scenario makes happen at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    Change { link: u32, change: Change },
    Join { path: u32 },
    Leave { path: u32 },
}

/// Packets of all kinds since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conservation {
    /// Handed to the network by an endpoint.
    pub sent: u64,
    /// Made from another one by a link that copies.
    pub copied: u64,
    /// Handed to an endpoint by the network.
    pub delivered: u64,
    /// Dropped by a queue or lost at random.
    pub dropped: u64,
    /// Inside a link.
    pub in_flight: u64,
}

impl Conservation {
    /// Sent + copied = delivered + dropped + in flight.
    pub fn holds(&self) -> bool {
        self.sent + self.copied == self.delivered + self.dropped + self.in_flight
    }
}

/// A network, its endpoints, and what is pending.
pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) links: Vec<Link<PackedSegment>>,
    /// The randomness of each link.
    pub(crate) streams: Vec<Stream>,
    pub(crate) flows: Vec<Flow>,
    /// For each flow the index of its class in the plan; apart from what every packet touches.
    pub(crate) classes: Vec<u32>,
    pub(crate) routes: Vec<Route>,
    pub(crate) counts: Vec<PathCount>,
    /// Routes one after another, each ended by [`Hop::ARRIVED`].
    pub(crate) hops: Vec<Hop>,
    pub(crate) forks: Vec<Fork>,
    pub(crate) media: SharedMedia<PackedSegment>,
    /// The outcomes of a medium that was woken; kept for its room.
    pub(crate) outcomes: Vec<Outcome<PackedSegment>>,
    /// Sorted by time, next one last.
    pub(crate) script: Vec<(Time, Action)>,
    pub(crate) sources: Numbering,
    pub(crate) agenda: Agenda,
    /// Whoever looks on, if anybody does.
    pub(crate) watch: Option<Box<Watch>>,
    pub(crate) sacks: SackStore,
    pub(crate) totals: Totals,
}

/// Running totals of a world.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) digest: u64,
    pub(crate) events: u64,
    pub(crate) hops: u64,
    pub(crate) sent: u64,
    pub(crate) copied: u64,
    pub(crate) delivered: u64,
    pub(crate) dropped: u64,
}

impl World {
    /// Puts the starts of the flows, the first action of the script and what media do by themselves on the agenda.
    pub(crate) fn begin(&mut self) {
        for flow in 0..self.flows.len() as u32 {
            let start = self.flows[flow as usize].sender.start();
            self.agenda.schedule(self.sources.source(Wake::Sender(flow)), start);
        }
        if let Some((at, _)) = self.script.last() {
            self.agenda.schedule(self.sources.source(Wake::Script), *at);
        }
        (0..self.media.count()).for_each(|medium| self.schedule_medium(medium));
    }

    /// Runs everything up to and at `end`, or [`BATCH`] events of it; returns whether `end` is reached.
    pub(crate) fn run_until(&mut self, end: Time) -> bool {
        while let Some((now, source)) = self.agenda.pop(end) {
            debug_assert!(now >= self.now, "time went back");
            self.now = now;
            self.totals.events += 1;
            self.totals.digest = mix(self.totals.digest, now.0, source);
            match self.sources.wake(source) {
                Wake::Link(link) => self.wake_link(link),
                other => self.wake_other(other),
            }
            if self.totals.events.is_multiple_of(BATCH) {
                return false;
            }
        }
        self.now = end;
        true
    }

    fn wake_link(&mut self, link: u32) {
        let element = &mut self.links[link as usize];
        let packet;
        if element.is_plain() {
            let Some(&front) = element.front() else {
                return;
            };
            packet = front;
            if let Some(next) = element.deliver() {
                self.agenda.schedule(self.sources.source(Wake::Link(link)), next);
            }
        } else {
            let Some(out) = self.wake_extended(link) else {
                return;
            };
            packet = out;
        }
        self.totals.hops += 1;
        self.hop(packet);
    }

    /// The packet that comes out of a link that is not plain. If there is more to do now, the link is woken
    /// again at once.
    #[inline(never)]
    fn wake_extended(&mut self, link: u32) -> Option<PackedSegment> {
        let index = link as usize;
        let mut rng = StreamOf { streams: &mut self.streams, index: link };
        let passage = self.links[index].wake(self.now, &mut rng);
        self.lose_dropped(link);
        self.expect(link);
        match passage? {
            Passage::Out(packet) => Some(packet),
            Passage::Copy(packet) => {
                self.totals.copied += 1;
                if let Some(watch) = self.watch.as_mut().filter(|_| packet.is_ack()) {
                    watch.copied(packet.path(), &packet.as_ack(&self.sacks));
                }
                Some(packet.copied(&mut self.sacks))
            }
            Passage::Lost(packet) => {
                self.totals.hops += 1;
                self.lose(packet, link, EventKind::Lost);
                None
            }
        }
    }

    /// A link that is not plain has taken a packet, and may have dropped others.
    #[cold]
    fn taken(&mut self, link: u32) {
        self.lose_dropped(link);
        self.expect(link);
    }

    /// Has a link that is not plain woken when it next has something to do.
    fn expect(&mut self, link: u32) {
        let due = self.links[link as usize].due();
        self.agenda.advance(self.sources.source(Wake::Link(link)), due.max(self.now));
    }

    /// Takes away what the queue of a link has dropped after it had taken it.
    fn lose_dropped(&mut self, link: u32) {
        while let Some(packet) = self.links[link as usize].take_dropped() {
            self.lose(packet, link, EventKind::Dropped);
        }
    }

    /// A timer of an endpoint, the script, or a medium.
    #[cold]
    fn wake_other(&mut self, wake: Wake) {
        match wake {
            Wake::Link(link) => self.wake_link(link),
            Wake::Sender(flow) => self.wake_sender(flow),
            Wake::Receiver(flow) => self.wake_receiver(flow),
            Wake::Script => self.act(),
            Wake::Medium(medium) => self.wake_medium(medium),
        }
    }

    fn wake_sender(&mut self, flow: u32) {
        let before = self.tally(flow);
        self.flows[flow as usize].sender.on_deadline(self.now);
        self.trace_changes(flow, before);
        self.pump(flow);
    }

    fn wake_receiver(&mut self, flow: u32) {
        while let Some((path, ack)) = self.flows[flow as usize].receiver.on_deadline(self.now) {
            match self.flows[flow as usize].receiver.report(self.now, path) {
                None if ack.flags.has(Flags::DATAGRAM) => self.send_back(flow, path, &ack),
                None => self.send_ack(flow, path, &ack),
                Some(report) => self.send_report(flow, path, &ack, report),
            }
        }
        // This wake-up may have been for an ACK that left meanwhile: the next one is still due.
        let due = self.flows[flow as usize].receiver.next_deadline();
        self.agenda.advance(self.sources.source(Wake::Receiver(flow)), due);
    }

    /// A packet takes the next step of its route.
    #[inline(always)] // on the way of every hop
    fn hop(&mut self, mut packet: PackedSegment) {
        match self.hops[packet.cursor() as usize].step() {
            Step::Link(link) => self.offer(packet, link),
            Step::Arrived => self.arrive(packet),
            Step::MediumLink(link) => {
                packet.advance();
                self.offer_medium(packet, link);
            }
            Step::Fork(fork) => self.fork(packet, fork),
        }
    }

    /// An endpoint puts a packet on its route.
    fn launch(&mut self, packet: PackedSegment) {
        self.totals.sent += 1;
        self.enter(packet);
    }

    /// The same, of a packet that does not come out of a link.
    #[inline(never)] // one copy of `hop`, beside the one in `wake_link`
    pub(crate) fn enter(&mut self, packet: PackedSegment) {
        self.hop(packet);
    }

    #[inline(always)] // on the way of every hop
    fn offer(&mut self, mut packet: PackedSegment, link: u32) {
        packet.advance();
        let mut rng = StreamOf { streams: &mut self.streams, index: link };
        match self.links[link as usize].offer(self.now, packet, &mut rng) {
            Offer::Carried => {}
            Offer::Wake(at) => self.agenda.schedule(self.sources.source(Wake::Link(link)), at),
            Offer::Taken => self.taken(link),
            Offer::Dropped => self.lose(packet, link, EventKind::Dropped),
            Offer::Lost => self.lose(packet, link, EventKind::Lost),
        }
    }

    /// A packet takes the next way of a fork.
    fn fork(&mut self, mut packet: PackedSegment, fork: u32) {
        let Fork { ways, next } = &mut self.forks[fork as usize];
        packet.put_at(ways[*next]);
        *next = (*next + 1) % ways.len();
        self.enter(packet); // a way has at least one link
    }

    #[cold]
    pub(crate) fn lose(&mut self, packet: PackedSegment, link: u32, kind: EventKind) {
        self.totals.dropped += 1;
        self.counts[packet.path() as usize].lost += u64::from(!packet.is_ack());
        if let Some(watch) = &mut self.watch {
            watch.note(Event { at: self.now, kind, path: packet.path(), link: Some(link) });
            if packet.is_ack() {
                watch.gone(packet.path(), &packet.as_ack(&self.sacks));
            }
        }
        packet.discard(&mut self.sacks);
    }

    fn arrive(&mut self, packet: PackedSegment) {
        self.totals.delivered += 1;
        let Route { flow, .. } = self.routes[packet.path() as usize];
        let endpoint = &mut self.flows[flow as usize];
        let path = (packet.path() - endpoint.first_path) as usize;
        if packet.is_ack() {
            if packet.is_report() {
                return self.arrive_report(flow, path, packet);
            }
            let ack = packet.into_ack(&mut self.sacks);
            match self.watch {
                None => endpoint.sender.on_ack(self.now, path, &ack),
                Some(_) => self.watched_ack(flow, path, &ack),
            }
            self.pump(flow);
        } else {
            let bytes = network::Packet::bytes(&packet);
            self.counts[packet.path() as usize].arrived_bytes += u64::from(bytes);
            match endpoint.receiver.on_data(self.now, path, &packet.as_data()) {
                Some(ack) => self.send_ack(flow, path, &ack),
                None => {
                    let due = endpoint.receiver.next_deadline();
                    self.agenda.advance(self.sources.source(Wake::Receiver(flow)), due);
                }
            }
        }
    }

    /// Sends all that `flow`'s sender may send, and sets its timer.
    pub(crate) fn pump(&mut self, flow: u32) {
        loop {
            let Flow { sender, first_path, header, small_queue, .. } =
                &mut self.flows[flow as usize];
            let Some(transmit) = sender.poll_transmit(self.now) else {
                break;
            };
            let path = *first_path + transmit.path as u32;
            let cursor = self.routes[path as usize].forward;
            if *small_queue && !matches!(self.hops[cursor as usize].step(), Step::MediumLink(_)) {
                sender.on_sent(transmit.path, transmit.data.len); // no medium holds it in the host
            }
            let packet = PackedSegment::data(&transmit.data, u32::from(*header), path, cursor);
            self.counts[path as usize].sent += 1;
            if let Some(watch) = &mut self.watch {
                let ranges = sender.combined(transmit.path, &transmit.data);
                watch.sent(self.now, path, &transmit.data, &ranges);
            }
            self.launch(packet);
        }
        let deadline = self.flows[flow as usize].sender.next_deadline();
        self.agenda.advance(self.sources.source(Wake::Sender(flow)), deadline.max(self.now));
    }

    #[inline(always)] // on the way of every segment
    fn send_ack(&mut self, flow: u32, path: usize, ack: &Ack) {
        let Flow { first_path, header, .. } = self.flows[flow as usize];
        let path = first_path + path as u32;
        let cursor = self.routes[path as usize].back;
        let packet = PackedSegment::ack(ack, u32::from(header), path, cursor, &mut self.sacks);
        if let Some(watch) = &mut self.watch {
            watch.answered(self.now, path, &packet.as_ack(&self.sacks));
        }
        self.launch(packet);
    }

    /// A datagram goes back to where it came from, with its payload.
    #[cold]
    fn send_back(&mut self, flow: u32, path: usize, ack: &Ack) {
        let Flow { first_path, header, .. } = self.flows[flow as usize];
        let path = first_path + path as u32;
        let bytes = u32::from(header) + (ack.window_edge - ack.data_ack) as u32;
        let cursor = self.routes[path as usize].back;
        let packet = PackedSegment::ack(ack, bytes, path, cursor, &mut self.sacks);
        if let Some(watch) = &mut self.watch {
            watch.answered(self.now, path, &packet.as_ack(&self.sacks));
        }
        self.launch(packet);
    }

    /// A receiver of TFRC reports.
    #[cold]
    fn send_report(&mut self, flow: u32, path: usize, ack: &Ack, report: Report) {
        let Flow { first_path, header, .. } = self.flows[flow as usize];
        let path = first_path + path as u32;
        let cursor = self.routes[path as usize].back;
        let packet =
            PackedSegment::report(ack, report, u32::from(header), path, cursor, &mut self.sacks);
        self.launch(packet);
    }

    /// A report has arrived at the sender.
    #[cold]
    fn arrive_report(&mut self, flow: u32, path: usize, packet: PackedSegment) {
        let (ack, report) = packet.into_report(&mut self.sacks);
        let before = self.tally(flow);
        let Flow { sender, first_path, .. } = &mut self.flows[flow as usize];
        sender.on_report(self.now, path, &ack, &report);
        if let Some(watch) = &mut self.watch {
            let number = *first_path + path as u32;
            watch.reported(self.now, number, report.bytes(), &sender.report(path));
        }
        self.trace_changes(flow, before);
        self.pump(flow);
    }

    /// Everything that the script has for now.
    fn act(&mut self) {
        while let Some((_, action)) = self.script.pop_if(|(at, _)| *at <= self.now) {
            match action {
                Action::Change { link, change } => {
                    self.links[link as usize].change(self.now, change);
                    let due = self.links[link as usize].due();
                    let source = self.sources.source(Wake::Link(link));
                    self.agenda.reschedule(source, due.max(self.now));
                }
                Action::Join { path } => self.join(path),
                Action::Leave { path } => self.leave(path),
            }
        }
        if let Some((at, _)) = self.script.last() {
            self.agenda.schedule(self.sources.source(Wake::Script), *at);
        }
    }

    fn join(&mut self, path: u32) {
        let flow = self.routes[path as usize].flow;
        let Flow { sender, receiver, first_path, .. } = &mut self.flows[flow as usize];
        let local = (path - *first_path) as usize;
        let seq = sender.join(local);
        receiver.join(local, seq);
        if let Some(watch) = &mut self.watch {
            watch.joined(path, seq);
        }
        if sender.start() <= self.now {
            self.trace_path(path, EventKind::Joined);
            self.pump(flow);
        }
    }

    fn leave(&mut self, path: u32) {
        let flow = self.routes[path as usize].flow;
        let Flow { sender, first_path, .. } = &mut self.flows[flow as usize];
        sender.leave((path - *first_path) as usize);
        let started = sender.start() <= self.now;
        if let Some(watch) = &mut self.watch {
            watch.left(self.now, path);
        }
        self.trace_path(path, EventKind::Left);
        if started {
            self.pump(flow);
        }
    }

    /// Counts of packets since the start.
    pub(crate) fn conservation(&self) -> Conservation {
        Conservation {
            sent: self.totals.sent,
            copied: self.totals.copied,
            delivered: self.totals.delivered,
            dropped: self.totals.dropped,
            in_flight: self.links.iter().map(|link| link.carried() as u64).sum::<u64>()
                + self.media.carried(),
        }
    }

    fn trace_path(&mut self, path: u32, kind: EventKind) {
        if let Some(watch) = &mut self.watch {
            watch.note(Event { at: self.now, kind, path, link: None });
        }
    }

    /// What the trace tells of the paths of a flow, so far: as many of each kind as [`TOLD`] has.
    fn tally(&self, flow: u32) -> Vec<[u64; TOLD.len()]> {
        if self.watch.is_none() {
            return Vec::new();
        }
        let sender = &self.flows[flow as usize].sender;
        let tally = |path| {
            let report = sender.report(path);
            let Verdicts { asked, noise, congestion } = report.verdicts;
            [report.timeouts, report.recoveries, noise, congestion, asked]
        };
        (0..sender.paths()).map(tally).collect()
    }

    #[cold]
    fn watched_ack(&mut self, flow: u32, path: usize, ack: &Ack) {
        let before = self.tally(flow);
        let Flow { sender, first_path, .. } = &mut self.flows[flow as usize];
        sender.on_ack(self.now, path, ack);
        if let Some(watch) = &mut self.watch {
            watch.heard(self.now, *first_path + path as u32, ack, &sender.report(path));
        }
        self.trace_changes(flow, before);
    }

    fn trace_changes(&mut self, flow: u32, before: Vec<[u64; TOLD.len()]>) {
        if self.watch.is_none() {
            return;
        }
        let first = self.flows[flow as usize].first_path;
        for (path, (old, new)) in (first..).zip(before.iter().zip(self.tally(flow))) {
            for (index, kind) in TOLD.into_iter().enumerate() {
                if new[index] > old[index] {
                    self.trace_path(path, kind);
                }
            }
            self.watch_window(flow, path);
        }
    }

    /// After a timeout, a recovery that a timer has begun, or an ACK of a sibling, the window may be another
    /// one.
    fn watch_window(&mut self, flow: u32, path: u32) {
        let Flow { sender, first_path, .. } = &self.flows[flow as usize];
        if let Some(watch) = &mut self.watch {
            watch.fired(self.now, path, &sender.report((path - first_path) as usize));
        }
    }
}

/// The digest of a run: every event's time and source, in order.
fn mix(digest: u64, time: u64, source: EventSource) -> u64 {
    (digest.rotate_left(5) ^ time ^ (u64::from(source.0) << 40)).wrapping_mul(0x517c_c1b7_2722_0a95)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_fills_four_cache_lines() {
        assert_eq!(size_of::<Flow>(), 256);
    }
}
