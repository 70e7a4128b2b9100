//! An ad-hoc network: packets that go from station to station of one medium, as routing says.
//!
//! A *way* leads from a node to another one, or from or to any of several (gateways). A packet goes `offer` → queue of
//! the node → `send_on`, which asks the router → a lane of the medium → the next node, and so on, until a node is there
//! where the way ends. Routers' messages share the medium and stand before packets, as is usual.

mod association;
mod guide;
mod links;
mod packet;
#[cfg(test)]
mod tests;

use crate::dot11::{Medium, MediumSettings, StationSettings};
use crate::host::{Bound, Host};
use crate::routing::{Action, Hop, Message, Node, Transit};
use crate::shared::{Counters, Outcome};
use crate::{Packet, Place, Queue, Rng};
use guide::Guide;
pub use guide::Routing;
use links::Links;
use packet::{Messages, Routed, Trails};
use std::collections::{BTreeMap, VecDeque};
use units::{Span, Time};

/// Most by which a broadcast is delayed at random, so that neighbours do not repeat one at once (RFC 5148).
const JITTER: Span = Span::millis(10);

/// Packets of a node that wait for a route; the oldest goes when another one comes.
const WAITING: usize = 64;

/// Links after which a packet is dropped: an IP packet's usual time to live.
const MOST_HOPS: u32 = 64;

/// From where to where packets go: from any of these stations to any of those.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    /// Stations at which it begins.
    pub from: Vec<usize>,
    /// Stations at which it ends.
    pub to: Vec<usize>,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Passed<F> {
    /// It is at the end of its way.
    Arrived {
        /// Number of the way.
        way: u32,
        /// The packet.
        frame: F,
    },
    /// It has left the node at which it began.
    Left {
        /// Number of the way.
        way: u32,
        /// The packet.
        frame: F,
        /// Whether it was lost there.
        lost: bool,
    },
    /// It was lost further on.
    Lost {
        /// Number of the way.
        way: u32,
        /// The packet.
        frame: F,
    },
}

/// One route that packets of a way took.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// Number of the way.
    pub way: u32,
    /// The stations, from first to last.
    pub nodes: Vec<Node>,
    /// Packets that came so.
    pub packets: u64,
    /// When the first one arrived.
    pub first: Time,
    /// When the last one did.
    pub last: Time,
}

/// What routing has done on a way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets that arrived over another route than the one before.
    pub changes: u64,
    /// Packets for which there was no route.
    pub unreachable: u64,
}

#[derive(Clone, Copy, Debug)]
struct Used {
    packets: u64,
    first: Time,
    last: Time,
}

struct WayState {
    way: Way,
    tally: Tally,
    connected: bool,
    used: BTreeMap<u32, Used>,
    newest: Option<u32>,
}

struct Station<F> {
    /// Packets that the medium takes of it at a time.
    ring: u32,
    host: Host<Routed<F>>,
    /// Packets that wait for a route.
    waiting: VecDeque<Routed<F>>,
    offered: u64,
    dropped: u64,
    /// Lanes of the medium to neighbours, for packets and for messages.
    lanes: BTreeMap<(Node, bool), u32>,
    everybody: u32,
}

/// Packets and messages that stations have sent to one another so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Packets.
    pub packets: u64,
    /// Bytes of those packets.
    pub bytes: u64,
    /// Messages of routers, each counted once however often it was attempted.
    pub messages: u64,
    /// Bytes of those messages.
    pub message_bytes: u64,
}

/// An ad-hoc network on one medium.
pub struct Adhoc<F> {
    medium: Medium<Routed<F>>,
    stations: Vec<Station<F>>,
    guide: Guide,
    links: Links,
    ways: Vec<WayState>,
    trails: Trails,
    messages: Messages,
    /// Broadcasts that are delayed: when, in order of emission.
    delayed: BTreeMap<(Time, u64), (Node, Message)>,
    emitted: u64,
    /// By sender and receiver; a broadcast has none.
    sent: BTreeMap<(Node, Option<Node>), Sent>,
    passed: Vec<Passed<F>>,
    /// When a packet came last: what it has led to is to be asked for then.
    offered_at: Time,
}

impl<F: Packet> Adhoc<F> {
    /// A network of `stations` with these ways. Of each station's packets the medium takes `ring` at a time; the rest
    /// waits where routing can still send it elsewhere.
    ///
    /// # Panics
    /// If a way begins or ends nowhere, or at a station that does not exist.
    pub fn new(
        settings: MediumSettings,
        stations: &[StationSettings],
        routing: Routing,
        ways: Vec<Way>,
        rng: &mut impl Rng,
    ) -> Self {
        let bare = |own: &StationSettings| StationSettings {
            queue: Queue::Unlimited,
            ring: u32::MAX,
            ..own.clone()
        };
        let bare: Vec<_> = stations.iter().map(bare).collect();
        let mut medium = Medium::new(settings, &bare, &[], rng);
        for way in &ways {
            let known = |nodes: &[usize]| {
                !nodes.is_empty() && nodes.iter().all(|node| *node < stations.len())
            };
            assert!(known(&way.from) && known(&way.to), "a way from and to stations");
        }
        let links = Links::of(&medium);
        let station = |(node, own): (usize, &StationSettings)| Station {
            ring: own.ring,
            host: Host::new(own.queue.clone()),
            waiting: VecDeque::new(),
            offered: 0,
            dropped: 0,
            lanes: BTreeMap::new(),
            everybody: medium.add_lane(node, None),
        };
        let mut adhoc = Adhoc {
            stations: stations.iter().enumerate().map(station).collect(),
            guide: Guide::new(routing, &links),
            links,
            medium,
            ways: ways.into_iter().map(WayState::new).collect(),
            trails: Trails::default(),
            messages: Messages::default(),
            delayed: BTreeMap::new(),
            emitted: 0,
            sent: BTreeMap::new(),
            passed: Vec::new(),
            offered_at: Time::ZERO,
        };
        adhoc.look();
        adhoc
    }

    /// What a station has counted; packets of others that it sends on are its own here.
    pub fn counters(&self, station: usize) -> Counters {
        let Station { offered, dropped, .. } = self.stations[station];
        Counters { offered, queue_drops: dropped, ..self.medium.counters(station) }
    }

    /// Packets that wait in a station, with those that are being sent and those that wait for a route.
    pub fn backlog(&self, station: usize) -> u32 {
        let own = &self.stations[station];
        self.medium.backlog(station) + own.host.len() as u32 + own.waiting.len() as u32
    }

    /// What routing has done on a way.
    pub fn tally(&self, way: u32) -> Tally {
        self.ways[way as usize].tally
    }

    /// All routes that packets took, in order of ways.
    pub fn routes(&self) -> impl Iterator<Item = Route> {
        self.ways.iter().zip(0..).flat_map(move |(own, way)| {
            own.used.iter().map(move |(trail, used)| {
                let Used { packets, first, last } = *used;
                Route { way, nodes: self.trails.nodes(*trail), packets, first, last }
            })
        })
    }

    /// What went from each station to each other one, or to all, so far.
    pub fn sent(&self) -> impl Iterator<Item = (Node, Option<Node>, Sent)> {
        self.sent.iter().map(|((from, to), sent)| (*from, *to, *sent))
    }

    /// Whether stations could now hear one another so that packets of `way` arrive, whatever routing knows.
    pub fn connected(&self, way: u32) -> bool {
        self.ways[way as usize].connected
    }

    /// How often a station has changed its access point or lost it, where they have one.
    pub fn handovers(&self, station: usize) -> u64 {
        self.guide.handovers(station)
    }

    /// When [`Adhoc::wake`] is to be called next.
    pub fn next_wake(&self) -> Time {
        if !self.passed.is_empty() {
            return self.offered_at;
        }
        let delayed = self.delayed.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
        self.medium.next_wake().min(delayed).min(self.guide.next_timer())
    }

    /// The stations are now elsewhere.
    pub fn place(&mut self, now: Time, places: impl Iterator<Item = Place>) {
        self.medium.place(places);
        self.links = Links::of(&self.medium);
        self.guide.moved(now, &self.links);
        self.look();
    }

    /// Which ways can be gone from where the stations are.
    fn look(&mut self) {
        let mut tables: BTreeMap<&[usize], Vec<(Option<Node>, f64)>> = BTreeMap::new();
        let Adhoc { ways, links, .. } = self;
        for WayState { way, connected, .. } in ways {
            let table = tables.entry(&way.to).or_insert_with(|| links.towards(&way.to));
            *connected = way.from.iter().any(|node| table[*node].1 < f64::INFINITY);
        }
    }

    /// A packet comes to the beginning of `way`; returns whether it is taken.
    pub fn offer(&mut self, now: Time, way: u32, frame: F, rng: &mut impl Rng) -> bool {
        self.offered_at = now;
        let Some(node) = self.guide.entry(now, &self.ways[way as usize].way, &self.links) else {
            self.ways[way as usize].tally.unreachable += 1;
            return false;
        };
        let trail = self.trails.step(None, node);
        self.stations[usize::from(node)].offered += 1;
        let taken = self.enqueue(now, Routed::new(frame, way, trail), rng);
        self.feed(now, node, rng);
        taken
    }

    /// A packet waits in the node where it is.
    fn enqueue(&mut self, now: Time, packet: Routed<F>, rng: &mut impl Rng) -> bool {
        let station = &mut self.stations[usize::from(self.trails.node(packet.trail))];
        let taken = station.host.offer(now, Bound { lane: 0, frame: packet }, rng);
        station.dropped += u64::from(!taken);
        taken
    }

    /// A node sends on packets while the medium has room for them.
    fn feed(&mut self, now: Time, node: Node, rng: &mut impl Rng) {
        let at = usize::from(node);
        while self.medium.backlog(at) < self.stations[at].ring {
            let taken = self.stations[at].host.take(now);
            while let Some(Bound { frame, .. }) = self.stations[at].host.dropped() {
                self.stations[at].dropped += 1;
                self.lose(frame);
            }
            let Some(Bound { frame, .. }) = taken else {
                return;
            };
            self.send_on(now, node, frame, rng);
        }
    }

    /// A packet goes to the next node, waits for a route, or is lost for want of one.
    fn send_on(&mut self, now: Time, node: Node, packet: Routed<F>, rng: &mut impl Rng) {
        let state = &self.ways[packet.way as usize];
        let transit = self.transit(&packet);
        let mut out = Vec::new();
        match self.guide.next_hop(now, node, transit, &state.way, &self.links, &mut out) {
            Hop::To(next) => {
                let lane = self.lane(node, next, false);
                self.medium.offer(now, lane, packet, rng);
            }
            Hop::Wait => {
                let waiting = &mut self.stations[usize::from(node)].waiting;
                waiting.push_back(packet);
                if let Some(oldest) = (waiting.len() > WAITING).then(|| waiting.pop_front()) {
                    oldest.into_iter().for_each(|packet| self.give_up(packet));
                }
            }
            Hop::Unreachable => self.give_up(packet),
        }
        self.act(now, out, rng);
    }

    /// What a router is told of a packet.
    fn transit(&self, packet: &Routed<F>) -> Transit {
        Transit {
            source: self.trails.source(packet.trail),
            destination: self.ways[packet.way as usize].way.to[0] as Node,
            previous: self.trails.previous(packet.trail),
        }
    }

    /// The lane from one node to a neighbour: one for packets, and one for messages, which wait for no packet.
    fn lane(&mut self, from: Node, to: Node, messages: bool) -> u32 {
        let Adhoc { stations, medium, .. } = self;
        let lanes = &mut stations[usize::from(from)].lanes;
        let add = || medium.add_lane(usize::from(from), Some(usize::from(to)));
        *lanes.entry((to, messages)).or_insert_with(add)
    }

    /// There is no route for a packet.
    fn give_up(&mut self, packet: Routed<F>) {
        self.ways[packet.way as usize].tally.unreachable += 1;
        self.lose(packet);
    }

    fn lose(&mut self, packet: Routed<F>) {
        let Routed { frame, way, trail, .. } = packet;
        self.passed.push(match self.trails.hops(trail) {
            0 => Passed::Left { way, frame, lost: true },
            _ => Passed::Lost { way, frame },
        });
    }

    /// Does what is due at `now`.
    pub fn wake(&mut self, now: Time, rng: &mut impl Rng) {
        while let Some(entry) = self.delayed.first_entry().filter(|it| it.key().0 <= now) {
            let (node, message) = entry.remove();
            let lane = self.stations[usize::from(node)].everybody;
            self.tell(now, node, None, lane, message, rng);
        }
        while let Some(out) = self.guide.on_timer(now) {
            self.act(now, out, rng);
        }
        self.medium.wake(now, rng);
        let outcomes: Vec<_> = self.medium.outcomes().collect();
        for outcome in outcomes {
            match outcome {
                Outcome::Arrived { lane, at, frame } => {
                    self.arrive(now, lane, at as Node, frame, rng);
                }
                Outcome::Left { lane, frame, lost } => self.left(now, lane, frame, lost, rng),
            }
        }
    }

    /// What has become of packets since it was asked last.
    pub fn passed(&mut self) -> impl Iterator<Item = Passed<F>> {
        self.passed.drain(..)
    }

    /// A packet or a message is at the next node.
    fn arrive(
        &mut self,
        now: Time,
        lane: u32,
        at: Node,
        mut packet: Routed<F>,
        rng: &mut impl Rng,
    ) {
        let (from, to) = self.medium.ends(lane);
        if packet.is_message() {
            if let Some(message) = self.messages.get(packet.trail) {
                let mut out = Vec::new();
                self.guide.on_message(now, at, from as Node, &message, &mut out);
                if to.is_some() {
                    self.messages.drop(packet.trail, false);
                }
                self.act(now, out, rng);
            }
            return;
        }
        packet.trail = self.trails.step(Some(packet.trail), at);
        let Routed { frame, way, trail, .. } = packet;
        if self.ways[way as usize].way.to.contains(&usize::from(at)) {
            self.ways[way as usize].arrived(now, trail);
            self.guide.on_arrival(now, at, self.transit(&packet));
            self.passed.push(Passed::Arrived { way, frame });
        } else if self.trails.hops(trail) >= MOST_HOPS {
            self.give_up(packet);
        } else {
            self.stations[usize::from(at)].offered += 1;
            match self.enqueue(now, packet, rng) {
                true => self.feed(now, at, rng),
                false => self.lose(packet),
            }
        }
    }

    /// A node is done with a packet or a message: there is room for the next.
    fn left(&mut self, now: Time, lane: u32, packet: Routed<F>, lost: bool, rng: &mut impl Rng) {
        let (from, to) = self.medium.ends(lane);
        if packet.is_message() {
            let message = to.filter(|_| lost).and_then(|_| self.messages.get(packet.trail));
            if let (Some(to), Some(message)) = (to, message) {
                self.guide.on_unheard(now, from as Node, to as Node, &message);
            }
            self.messages.drop(packet.trail, lost || to.is_none());
        } else if lost {
            self.lose(packet);
        } else {
            let sent = self.sent.entry((from as Node, to.map(|to| to as Node))).or_default();
            sent.packets += 1;
            sent.bytes += u64::from(packet.bytes());
            if self.trails.hops(packet.trail) == 0 {
                let Routed { frame, way, .. } = packet;
                self.passed.push(Passed::Left { way, frame, lost: false });
            }
        }
        if let Some(to) = to.filter(|_| lost) {
            let mut out = Vec::new();
            self.guide.on_broken(now, from as Node, to as Node, &mut out);
            self.act(now, out, rng);
        }
        self.feed(now, from as Node, rng);
    }

    /// Does what routers want done.
    fn act(&mut self, now: Time, actions: Vec<(Node, Action)>, rng: &mut impl Rng) {
        for (node, action) in actions {
            match action {
                Action::Broadcast(message) => {
                    let at = now + Span((rng.uniform() * JITTER.0 as f64) as u64);
                    self.emitted += 1;
                    self.delayed.insert((at, self.emitted), (node, message));
                }
                Action::Unicast { to, message } => {
                    let lane = self.lane(node, to, true);
                    self.tell(now, node, Some(to), lane, message, rng);
                }
                Action::Release { to } => {
                    for packet in self.waiting_for(node, to) {
                        if !self.enqueue(now, packet, rng) {
                            self.lose(packet);
                        }
                    }
                    self.feed(now, node, rng);
                }
                Action::Abandon { to } => {
                    self.waiting_for(node, to).into_iter().for_each(|packet| self.give_up(packet));
                }
            }
        }
    }

    /// Takes the packets of a node that wait for a route to `to`.
    fn waiting_for(&mut self, node: Node, to: Node) -> Vec<Routed<F>> {
        let ways = &self.ways;
        let wanted =
            |packet: &Routed<F>| ways[packet.way as usize].way.to.contains(&usize::from(to));
        let all = std::mem::take(&mut self.stations[usize::from(node)].waiting);
        let (taken, stay): (Vec<_>, Vec<_>) = all.into_iter().partition(wanted);
        self.stations[usize::from(node)].waiting = stay.into();
        taken
    }

    /// A message goes on the air.
    fn tell(
        &mut self,
        now: Time,
        from: Node,
        to: Option<Node>,
        lane: u32,
        message: Message,
        rng: &mut impl Rng,
    ) {
        let bytes = message.bytes();
        let sent = self.sent.entry((from, to)).or_default();
        sent.messages += 1;
        sent.message_bytes += u64::from(bytes);
        // A unicast is dropped when it has arrived and when its sender is done, a broadcast when its sender is.
        let place = self.messages.put(message, if to.is_some() { 2 } else { 1 });
        self.medium.urge(now, lane, Routed::message(place, bytes), rng);
    }
}

impl WayState {
    fn new(way: Way) -> Self {
        WayState {
            way,
            tally: Tally::default(),
            connected: false,
            used: BTreeMap::new(),
            newest: None,
        }
    }

    /// A packet has come to the end.
    fn arrived(&mut self, now: Time, trail: u32) {
        self.tally.changes += u64::from(self.newest.is_some_and(|newest| newest != trail));
        self.newest = Some(trail);
        let used = self.used.entry(trail).or_insert(Used { packets: 0, first: now, last: now });
        used.packets += 1;
        used.last = now;
    }
}
