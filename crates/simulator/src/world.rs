//! The world: links, media, endpoints, and the loop that carries packets between them.
//!
//! Follow a packet: `pump` takes a segment from a sender and puts it on its route; `hop` offers it
//! to the next link. The agenda wakes the link when the packet comes out, and `hop` continues. A
//! link that keeps no packets (`lines.rs`) is not woken: the agenda has the packet's place. At
//! the end of the route `arrive` delivers it to the endpoint, whose answer travels back in the same
//! manner.

use crate::agenda::{Agenda, Due};
use crate::ends::Ends;
use crate::event_source::{EventSource, Numbering, Wake};
use crate::feeders::Feeders;
use crate::lines::Lines;
use crate::packed::{Envelope, PackedSegment, Pair, SideStore};
use crate::trace::{Event, EventKind};
use crate::watch::Watch;
use network::{Change, Link, Offer, Outcome, Passage};
use std::collections::BTreeSet;
use topology::{Hop, HopTarget, LazyStream, SharedMedia, Streams};
use transport::tcp::Usual;
use transport::{SendingEndpoint, Transmit};
use units::Time;

/// Events after which [`World::run_until`] returns, so that its caller may stop: a fraction of a
/// second. A power of two, because it is checked on every event.
const BATCH: u64 = 1 << 20;

/// A connection: both of its endpoints.
#[repr(align(64))]
pub(crate) struct Flow {
    pub(crate) ends: Ends,
    /// Number of its first path in the world.
    pub(crate) first_path: u32,
    /// Header bytes of its packets.
    pub(crate) header: u16,
    /// Whether its sender limits its packets in the host, and must be notified when one has left.
    pub(crate) small_queue: bool,
}

/// A path: its connection, the starts of its two routes among the hops, and its counts. They lie
/// together because an end reads all of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) flow: u32,
    pub(crate) forward: u32,
    pub(crate) back: u32,
    /// Whether its packets are of lower effort, in both directions.
    pub(crate) lower_effort: bool,
    pub(crate) count: PathCount,
}

/// A fork, where packets of a path take one of several ways in turn (striping).
#[derive(Clone, Debug, Default)]
pub(crate) struct Fork {
    /// The starts of the ways among the hops.
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

/// An action of the scenario at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    Change { link: u32, change: Change },
    Join { path: u32 },
    Leave { path: u32 },
}

impl Action {
    /// The link that it changes.
    pub(crate) fn link(&self) -> Option<u32> {
        match self {
            Action::Change { link, .. } => Some(*link),
            Action::Join { .. } | Action::Leave { .. } => None,
        }
    }

    /// The path that joins or leaves.
    pub(crate) fn path(&self) -> Option<u32> {
        match self {
            Action::Join { path } | Action::Leave { path } => Some(*path),
            Action::Change { .. } => None,
        }
    }
}

/// Packets of all kinds since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conservation {
    /// Handed to the network by an endpoint.
    pub sent: u64,
    /// Duplicated by a link.
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

/// A network, its endpoints, and pending events.
pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) links: Vec<Link<PackedSegment>>,
    /// The randomness of the links.
    pub(crate) streams: Streams,
    pub(crate) flows: Vec<Flow>,
    /// For each flow the index of its class in the plan; kept apart from the fields used for every
    /// packet.
    pub(crate) classes: Vec<u32>,
    pub(crate) paths: Vec<Path>,
    /// Routes one after another, each ended by [`Hop::ARRIVED`].
    pub(crate) hops: Vec<Hop>,
    pub(crate) forks: Vec<Fork>,
    pub(crate) feeders: Feeders,
    pub(crate) lines: Lines,
    pub(crate) media: SharedMedia<PackedSegment>,
    /// The outcomes of a woken medium; kept to reuse its memory.
    pub(crate) outcomes: Vec<Outcome<PackedSegment>>,
    /// The medium that is being woken: it is scheduled again afterwards, whatever it is offered.
    pub(crate) woken_medium: Option<u32>,
    /// Sorted by time, the next one last.
    pub(crate) script: Vec<(Time, Action)>,
    pub(crate) sources: Numbering,
    pub(crate) agenda: Agenda,
    /// The observers, if there are any.
    pub(crate) watch: Option<Box<Watch>>,
    /// With observers: links that are woken only for them, and are feeders without them. Their
    /// wake-ups are not counted, so that observers change no digest.
    pub(crate) uncounted: BTreeSet<EventSource>,
    /// Parts that do not fit into a [`PackedSegment`].
    pub(crate) store: SideStore,
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
    /// Puts the starts of the flows, the first action of the script and the first events of media
    /// on the agenda.
    pub(crate) fn begin(&mut self) {
        // Last flow first: those that start in the first tick are appended to the due events, and
        // move no other.
        for flow in (0..self.flows.len() as u32).rev() {
            let start = self.flows[flow as usize].ends.start();
            self.agenda.schedule(self.sources.source(Wake::Sender(flow)), start);
        }
        if let Some((at, _)) = self.script.last() {
            self.agenda.schedule(self.sources.source(Wake::Script), *at);
        }
        (0..self.media.count()).for_each(|medium| self.schedule_medium(medium));
    }

    /// The run is over: frees the memory of links and agenda for the results.
    pub(crate) fn forget_links(&mut self) {
        (self.links, self.hops, self.streams) = Default::default();
        self.feeders.forget();
        self.lines = Lines::default();
        self.agenda = Agenda::new(&[], Time::ZERO);
    }

    /// Runs all events up to and at `end`, or [`BATCH`] events; returns whether `end` is reached.
    pub(crate) fn run_until(&mut self, end: Time) -> bool {
        self.go_on();
        let reached = match (self.agenda.carries(), self.uncounted.is_empty()) {
            (false, true) => self.wake_until::<false, false>(end),
            (false, false) => self.wake_until::<false, true>(end),
            (true, _) => self.wake_many_until(end),
        };
        if reached {
            self.now = end;
            self.pause();
        }
        reached
    }

    /// [`World::wake_until`] in a world with many sources.
    #[inline(never)] // the code for few sources has its registers to itself
    fn wake_many_until(&mut self, end: Time) -> bool {
        self.wake_until::<true, true>(end)
    }

    /// [`World::run_until`] without the pause at the end. `MANY` tells which kind of agenda the
    /// world has, and without `SEEN` there are no links that are woken for observers: the code for
    /// few sources then has no branch for either.
    #[inline(always)] // once for each kind of world
    fn wake_until<const MANY: bool, const SEEN: bool>(&mut self, end: Time) -> bool {
        while let Some((now, due)) = self.next_event::<MANY>(end) {
            debug_assert!(now >= self.now, "time went back");
            self.now = now;
            let counts = !SEEN || !self.uncounted.contains(&due.source);
            if counts {
                self.totals.events += 1;
                self.totals.digest = mix(self.totals.digest, now.0, due.source);
            }
            self.wake::<MANY>(due);
            if counts && self.totals.events.is_multiple_of(BATCH) {
                return false;
            }
        }
        true
    }

    /// The next event by `end`. If many are due, memory that later ones will read is prefetched.
    #[inline(always)] // once for every event
    fn next_event<const MANY: bool>(&mut self, end: Time) -> Option<(Time, Due)> {
        let World { agenda, sources, links, lines, hops, paths, flows, .. } = self;
        agenda.pop::<MANY>(end, |soon| {
            World::look_ahead(*sources, (links, lines), (hops, paths, flows), soon);
        })
    }

    /// A packet comes out of a line, or a source is woken: mostly a link with a packet. A plain
    /// link has no function of its own: an `Option` of a packet goes through memory, which costs a
    /// hop twelve instructions.
    #[inline(always)] // runs for every event
    fn wake<const MANY: bool>(&mut self, Due { source, place }: Due) {
        if MANY && let Some(place) = place {
            return self.leave_line(source, place);
        }
        let Some(own) = self.links.get_mut(source.index()) else {
            return self.wake_other(source); // links are the first sources
        };
        let packet;
        if own.is_plain() {
            let Some(&front) = own.front() else {
                return self.agenda.follow(source, None);
            };
            packet = front;
            let next = own.deliver();
            self.agenda.follow(source, next);
        } else {
            let Some(out) = self.wake_extended(source.0) else {
                return;
            };
            packet = out;
        }
        self.totals.hops += 1;
        self.hop(packet);
    }

    /// The packet that comes out of a link that is not plain. If there is more to do now, the link
    /// is scheduled again at once.
    #[inline(never)]
    fn wake_extended(&mut self, link: u32) -> Option<PackedSegment> {
        let index = link as usize;
        let mut rng = LazyStream { streams: &mut self.streams, index: link };
        let passage = self.links[index].wake(self.now, &mut rng);
        self.lose_dropped(link);
        let next = Some(self.links[index].due()).filter(|due| *due < Time::NEVER);
        let source = self.sources.source(Wake::Link(link));
        self.agenda.follow(source, next.map(|due| due.max(self.now)));
        match passage? {
            Passage::Out(packet) => Some(packet),
            Passage::Copy(packet) => {
                self.totals.copied += 1;
                if let Some(watch) = self.watch.as_mut().filter(|_| packet.is_answer()) {
                    watch.copied(packet.path(), &packet.segment(&self.store));
                }
                Some(packet.copied(&mut self.store))
            }
            Passage::Lost(packet) => {
                self.totals.hops += 1;
                self.lose(packet, link, EventKind::Lost);
                None
            }
        }
    }

    /// A link that is not plain has accepted a packet, and may have dropped others.
    fn taken(&mut self, link: u32) {
        self.lose_dropped(link);
        self.expect(link);
    }

    /// Schedules the next wake-up of a link that is not plain.
    fn expect(&mut self, link: u32) {
        let due = self.links[link as usize].due();
        self.agenda.advance(self.sources.source(Wake::Link(link)), due.max(self.now));
    }

    /// Removes packets that the queue of a link dropped after accepting them.
    #[inline(always)] // mostly nothing
    fn lose_dropped(&mut self, link: u32) {
        if self.links[link as usize].has_dropped() {
            self.lose_all_dropped(link);
        }
    }

    #[cold]
    fn lose_all_dropped(&mut self, link: u32) {
        while let Some(packet) = self.links[link as usize].take_dropped() {
            self.lose(packet, link, EventKind::Dropped);
        }
    }

    /// Wakes an endpoint's timer, the script, or a medium.
    #[cold]
    fn wake_other(&mut self, source: EventSource) {
        let woken = self.sources.wake(source);
        if let Wake::Medium(medium) = woken {
            return self.wake_medium(source, medium); // which schedules it again
        }
        let moved = match woken {
            Wake::Sender(flow) => self.next_wake_up(flow),
            Wake::Receiver(flow) => self.moved_answer(flow),
            _ => None,
        };
        if let Some(later) = moved {
            return self.agenda.follow(source, Some(later).filter(|at| *at < Time::NEVER));
        }
        self.agenda.follow(source, None);
        match woken {
            Wake::Link(_) | Wake::Medium(_) => unreachable!("{source:?} is neither"),
            Wake::Sender(flow) => self.wake_sender(flow),
            Wake::Receiver(flow) => self.wake_receiver(flow),
            Wake::Script => self.act(),
        }
    }

    /// The next deadline of a sender that nobody observes: one of TCP whose timer has moved to a
    /// later time, if nothing else has happened, for which most of its wake-ups are, or one of
    /// TFRC, which sends what it may.
    fn next_wake_up(&mut self, flow: u32) -> Option<Time> {
        match &mut self.flows[flow as usize].ends {
            Ends::Tcp(tcp) if self.watch.is_none() => tcp.sender.moved_deadline(self.now),
            Ends::Tfrc(_) => self.wake_tfrc(flow),
            _ => None,
        }
    }

    fn wake_sender(&mut self, flow: u32) {
        self.flows[flow as usize].ends.on_deadline(self.now);
        self.show(flow);
        self.pump(flow);
    }

    /// A packet that came out of a link takes the next step of its route.
    #[inline(always)] // runs for every hop
    pub(crate) fn hop(&mut self, packet: PackedSegment) {
        let (first, second, third) = packet.words();
        self.hop_words(first, second, third);
    }

    /// [`World::hop`] of a packet in registers. Within a function that has the whole packet as a
    /// parameter it would be in memory after all, which costs W1 over one link 12 instructions a
    /// hop.
    #[inline(always)] // runs for every hop
    fn hop_words(&mut self, first: Pair, second: Pair, third: Pair) {
        let cursor = PackedSegment::of_words(first, second, third).cursor();
        match self.hops[cursor as usize].target() {
            HopTarget::Link(link) => self.offer(first, second, third, link),
            HopTarget::Line(line) => self.convey(first, second, third, line),
            HopTarget::Arrived => self.arrive(first, second, third),
            HopTarget::Feeder(link) => {
                self.feed(PackedSegment::of_words(first, second, third), link)
            }
            other => self.leave_wires(PackedSegment::of_words(first, second, third), other),
        }
    }

    /// An endpoint puts a packet on its route of at least one link.
    #[inline(always)] // runs for every segment
    pub(crate) fn launch(&mut self, packet: PackedSegment) {
        let (first, second, third) = packet.words();
        self.launch_words(first, second, third);
    }

    /// [`World::launch`] for a packet in registers: if other functions saw it in memory, it would
    /// be copied from there in larger pieces than it was written in, which a processor delays until
    /// the writes have reached the cache.
    #[inline(always)] // runs for every segment
    fn launch_words(&mut self, first: Pair, second: Pair, third: Pair) {
        self.totals.sent += 1;
        let cursor = PackedSegment::of_words(first, second, third).cursor();
        match self.hops[cursor as usize].target() {
            HopTarget::Link(link) => self.offer(first, second, third, link),
            HopTarget::Line(line) => self.convey(first, second, third, line),
            HopTarget::Feeder(link) => {
                self.feed(PackedSegment::of_words(first, second, third), link)
            }
            other => self.leave_wires(PackedSegment::of_words(first, second, third), other),
        }
    }

    /// A packet that does not come from a link takes the next step of its route, which is not at
    /// its end.
    #[inline(never)] // few packets come here
    pub(crate) fn enter(&mut self, packet: PackedSegment) {
        match self.hops[packet.cursor() as usize].target() {
            HopTarget::Link(link) => {
                let (first, second, third) = packet.words();
                self.offer(first, second, third, link);
            }
            HopTarget::Line(line) => {
                let (first, second, third) = packet.words();
                self.convey(first, second, third, line);
            }
            HopTarget::Feeder(link) => self.feed(packet, link),
            other => self.leave_wires(packet, other),
        }
    }

    /// The next step of the route is not a link.
    #[cold]
    fn leave_wires(&mut self, mut packet: PackedSegment, target: HopTarget) {
        match target {
            HopTarget::MediumLink(link) => {
                packet.advance();
                self.offer_medium(packet, link);
            }
            HopTarget::Fork(fork) => self.fork(packet, fork),
            HopTarget::Link(_)
            | HopTarget::Line(_)
            | HopTarget::Feeder(_)
            | HopTarget::Answered(_)
            | HopTarget::Arrived => unreachable!("{target:?}: a route has links, then ends"),
        }
    }

    /// Offers a packet to the link that is the next step of its route.
    #[inline(always)] // runs for every hop
    fn offer(&mut self, first: Pair, second: Pair, third: Pair, link: u32) {
        let mut packet = PackedSegment::of_words(first, second, third);
        packet.advance();
        match self.links[link as usize].offer_unasked(self.now, packet) {
            Some(Offer::Carried) => {}
            Some(Offer::Wake(at)) => {
                self.agenda.schedule(self.sources.source(Wake::Link(link)), at);
            }
            _ => self.offer_asked(first, second, third, link),
        }
    }

    /// A packet takes the next step of its route, into a link that does not accept every packet.
    #[inline(never)] // keeps the code of other hops short
    fn offer_asked(&mut self, first: Pair, second: Pair, third: Pair, link: u32) {
        let own = &mut self.links[link as usize];
        if !own.is_plain() {
            return self.offer_extended(first, second, third, link);
        }
        let mut packet = PackedSegment::of_words(first, second, third);
        packet.advance();
        let mut rng = LazyStream { streams: &mut self.streams, index: link };
        match own.offer_asked(self.now, packet, &mut rng) {
            Offer::Carried => {}
            Offer::Wake(at) => self.agenda.schedule(self.sources.source(Wake::Link(link)), at),
            _ => self.drop_asked(link),
        }
    }

    /// The queue of a link has dropped the packet that it was asked about.
    #[cold]
    fn drop_asked(&mut self, link: u32) {
        let packet = self.links[link as usize].dropped();
        self.lose(packet, link, EventKind::Dropped);
    }

    /// A packet takes the next step of its route, into a link that is not plain.
    #[inline(never)] // keeps the code of other hops short
    fn offer_extended(&mut self, first: Pair, second: Pair, third: Pair, link: u32) {
        let mut packet = PackedSegment::of_words(first, second, third);
        packet.advance();
        let mut rng = LazyStream { streams: &mut self.streams, index: link };
        match self.links[link as usize].offer_extended(self.now, packet, &mut rng) {
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
        self.paths[packet.path() as usize].count.lost += u64::from(!packet.is_answer());
        if let Some(watch) = &mut self.watch {
            watch.note(Event { at: self.now, kind, path: packet.path(), link: Some(link) });
            if packet.is_answer() {
                watch.gone(packet.path(), &packet.segment(&self.store));
            }
        }
        packet.discard(&mut self.store);
    }

    #[inline(always)] // it has one caller
    fn arrive(&mut self, first: Pair, second: Pair, third: Pair) {
        let packet = PackedSegment::of_words(first, second, third);
        self.totals.delivered += 1;
        let Path { flow, forward, back, lower_effort, count } =
            &mut self.paths[packet.path() as usize];
        let flow = *flow;
        let Flow { ends, first_path, header, small_queue } = &mut self.flows[flow as usize];
        let path = (packet.path() - *first_path) as usize;
        if packet.is_answer() {
            match ends {
                Ends::Tcp(tcp) if self.watch.is_none() => {
                    let usual = match packet.as_usual_ack() {
                        None => Usual::No,
                        Some(ack) => tcp.sender.on_usual_ack(self.now, path, &ack, !*small_queue),
                    };
                    match usual {
                        Usual::Releases(data) => {
                            let (header, path) = (u32::from(*header), packet.path());
                            let (cursor, lower_effort) = (*forward, *lower_effort);
                            let envelope = Envelope { header, path, cursor, lower_effort };
                            count.sent += 1;
                            let settled = tcp.sender.is_settled();
                            self.launch(PackedSegment::data(&data, envelope));
                            if settled {
                                return; // mostly
                            }
                        }
                        Usual::Processed => {}
                        Usual::No => {
                            let ack = packet.into_ack(&mut self.store);
                            tcp.sender.on_answer(self.now, path, &ack);
                            if tcp.sender.is_settled() {
                                return; // a full window
                            }
                        }
                    }
                }
                _ => self.arrive_answer(flow, path, &PackedSegment::of_words(first, second, third)),
            }
            self.pump(flow);
        } else {
            count.arrived_bytes += u64::from(network::Packet::bytes(&packet));
            let Ends::Tcp(tcp) = ends else {
                let packet = PackedSegment::of_words(first, second, third);
                return self.arrive_data(flow, path, &packet);
            };
            let data = packet.as_data();
            if self.watch.is_none()
                && let Some(ack) = tcp.receiver.on_usual_data(path, &data)
            {
                let (header, path) = (u32::from(*header), packet.path());
                let (cursor, lower_effort) = (*back, *lower_effort);
                let envelope = Envelope { header, path, cursor, lower_effort };
                return self.launch(PackedSegment::usual_ack(&ack, envelope));
            }
            self.arrive_unusual_data(flow, path, &data);
        }
    }

    /// An answer arrived at its sender, of any protocol and with any features.
    #[cold]
    fn arrive_answer(&mut self, flow: u32, path: usize, packet: &PackedSegment) {
        if !self.on_report(flow, path, packet) {
            self.arrive_any_answer(flow, path, packet);
        }
    }

    #[inline(never)] // keeps the code of TFRC's reports short
    fn arrive_any_answer(&mut self, flow: u32, path: usize, packet: &PackedSegment) {
        let segment = packet.unpack(&mut self.store);
        if let Some(watch) = &mut self.watch {
            watch.heard(self.now, packet.path(), &segment);
        }
        self.flows[flow as usize].ends.on_answer(self.now, path, segment);
        self.show(flow);
    }

    /// Sends all segments that `flow`'s sender may send, and sets its timer.
    #[inline(never)] // a usual ACK mostly releases one segment, without this
    pub(crate) fn pump(&mut self, flow: u32) {
        loop {
            let Flow { ends, first_path, header, small_queue } = &mut self.flows[flow as usize];
            let (first, header, small_queue) = (*first_path, u32::from(*header), *small_queue);
            let mut settled = false;
            let packet = match ends {
                Ends::Tcp(tcp) => {
                    let Some(Transmit { path, segment }) = tcp.sender.poll_transmit(self.now)
                    else {
                        break;
                    };
                    settled = tcp.sender.is_settled() && !small_queue;
                    let path = first + path as u32;
                    let Path { forward, lower_effort, .. } = self.paths[path as usize];
                    if let Some(watch) = &mut self.watch {
                        watch.sent(self.now, path, &segment.into(), &[]);
                    }
                    let envelope = Envelope { header, path, cursor: forward, lower_effort };
                    PackedSegment::data(&segment, envelope)
                }
                _ => match self.poll(flow) {
                    None => break,
                    Some(packet) => packet,
                },
            };
            if small_queue {
                self.leave_host_at_once(flow, &packet);
            }
            self.paths[packet.path() as usize].count.sent += 1;
            self.launch(packet);
            if settled {
                return;
            }
        }
        if let Some(deadline) = self.flows[flow as usize].ends.earlier_deadline() {
            self.agenda.advance(self.sources.source(Wake::Sender(flow)), deadline.max(self.now));
        }
    }

    /// The next segment of a sender of any protocol.
    #[inline(never)] // keeps the code of TCP's data short
    fn poll(&mut self, flow: u32) -> Option<PackedSegment> {
        if self.pump_tfrc(flow).is_some() {
            return None;
        }
        let Flow { ends, first_path, header, .. } = &mut self.flows[flow as usize];
        let envelope = |path| {
            let path = *first_path + path as u32;
            let Path { forward, lower_effort, .. } = self.paths[path as usize];
            Envelope { header: u32::from(*header), path, cursor: forward, lower_effort }
        };
        if let (Ends::Udp(udp), None) = (&mut *ends, &self.watch) {
            let Transmit { path, segment } = udp.sender.poll_transmit(self.now)?;
            return Some(PackedSegment::datagram(segment, envelope(path)));
        }
        let Transmit { path, segment } = ends.poll_transmit(self.now)?;
        let envelope = envelope(path);
        if let Some(watch) = &mut self.watch {
            let combined = ends.combined(path, &segment);
            watch.sent(self.now, envelope.path, &segment, &combined);
            watch.notes(self.now, *first_path, &ends.notes());
        }
        Some(PackedSegment::pack(segment, envelope, &mut self.store))
    }

    /// Without a medium at its start, a packet leaves the host at once: only a medium holds packets
    /// there.
    #[cold]
    fn leave_host_at_once(&mut self, flow: u32, packet: &PackedSegment) {
        if !matches!(self.hops[packet.cursor() as usize].target(), HopTarget::MediumLink(_)) {
            let Flow { ends, first_path, .. } = &mut self.flows[flow as usize];
            ends.on_sent((packet.path() - *first_path) as usize, packet.payload());
        }
    }

    /// Runs all actions of the script that are due.
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
        let flow = self.paths[path as usize].flow;
        let Flow { ends, first_path, .. } = &mut self.flows[flow as usize];
        let seq = ends.join((path - *first_path) as usize);
        let started = ends.start() <= self.now;
        if let Some(watch) = &mut self.watch {
            watch.joined(path, seq);
        }
        if started {
            self.trace_path(path, EventKind::Joined);
            self.pump(flow);
        }
    }

    fn leave(&mut self, path: u32) {
        let flow = self.paths[path as usize].flow;
        let Flow { ends, first_path, .. } = &mut self.flows[flow as usize];
        ends.leave((path - *first_path) as usize);
        let started = ends.start() <= self.now;
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
                + self.feeders.list.iter().map(|feeder| feeder.link.carried() as u64).sum::<u64>()
                + self.media.packets_inside(),
        }
    }

    fn trace_path(&mut self, path: u32, kind: EventKind) {
        if let Some(watch) = &mut self.watch {
            watch.note(Event { at: self.now, kind, path, link: None });
        }
    }

    /// Shows observers the state of all paths of a flow after an event of its sender: an ACK of one
    /// path may move the windows of others.
    fn show(&mut self, flow: u32) {
        let Flow { ends, first_path, .. } = &mut self.flows[flow as usize];
        if let Some(watch) = &mut self.watch {
            watch.notes(self.now, *first_path, &ends.notes());
            for path in 0..ends.paths() {
                watch.state(self.now, *first_path + path as u32, &ends.report(path));
            }
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
