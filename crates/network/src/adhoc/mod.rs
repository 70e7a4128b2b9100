//! An ad-hoc network: packets go from station to station of one 802.11 channel, as routing says.
//!
//! Its links are multi-hop: one leads from a station to another one, or from or to any of several
//! (gateways). A packet goes `offer` → queue of the station → `send_on`, which asks the router → a
//! *station link* of the channel, to a neighbour → that station, and so on, until it is at an end
//! of its link. Messages of routers share the channel and go before packets, as is usual.

mod association;
mod packet;
mod reachability;
mod routers;
#[cfg(test)]
mod tests;

use crate::dot11::{Channel, ChannelSettings};
use crate::host::{HostQueue, LinkPacket};
use crate::routing::{Action, Hop, Message, Node, Transit};
use crate::shared::{
    Counters, Ends, HopCounters, MultiHop, Outcome, Route, RoutingCounters, SharedMedium, Station,
};
use crate::{Packet, Position, Queue, Rng};
use packet::{Messages, RoutedPacket, Trails};
use reachability::Reachability;
use routers::Routers;
pub use routers::Routing;
use std::collections::{BTreeMap, VecDeque};
use std::vec::Drain;
use units::{Span, Time};

/// Largest random delay of a broadcast, so that neighbours do not repeat one at once (RFC 5148).
const JITTER: Span = Span::millis(10);

/// Packets of a station that wait for a route; the oldest is dropped when another one comes.
const WAITING: usize = 64;

/// Hops after which a packet is dropped: the usual time to live of an IP packet.
const MOST_HOPS: u32 = 64;

/// What an ad-hoc network is.
#[derive(Clone, Debug)]
pub struct AdhocSettings {
    /// Its channel.
    pub channel: ChannelSettings,
    /// How packets find their way.
    pub routing: Routing,
    /// The stations that are access points.
    pub access: Vec<usize>,
}

/// How often one route was used.
#[derive(Clone, Copy, Debug)]
struct RouteUse {
    packets: u64,
    first: Time,
    last: Time,
}

struct LinkState {
    ends: Ends,
    counters: RoutingCounters,
    connected: bool,
    used: BTreeMap<u32, RouteUse>,
    newest: Option<u32>,
}

/// A station with its router's queues.
struct NodeState<P> {
    /// Packets that the channel takes of it at a time.
    ring: u32,
    host: HostQueue<RoutedPacket<P>>,
    /// Packets that wait for a route.
    waiting: VecDeque<RoutedPacket<P>>,
    offered: u64,
    dropped: u64,
    /// Station links to neighbours; `true` are those of messages.
    to: BTreeMap<(Node, bool), u32>,
    /// The station link of broadcasts.
    broadcast: u32,
}

/// An ad-hoc network on one channel.
pub struct Adhoc<P> {
    channel: Channel<RoutedPacket<P>>,
    stations: Vec<NodeState<P>>,
    routers: Routers,
    reach: Reachability,
    links: Vec<LinkState>,
    trails: Trails,
    messages: Messages,
    /// Broadcasts that are delayed: when, in order of emission.
    delayed: BTreeMap<(Time, u64), (Node, Message)>,
    emitted: u64,
    /// By sender and receiver; a broadcast has none.
    hop_counters: BTreeMap<(Node, Option<Node>), HopCounters>,
    outcomes: Vec<Outcome<P>>,
    /// When a packet came last: if that has led to outcomes, they are asked for at that time.
    offered_at: Time,
}

impl<P: Packet> Adhoc<P> {
    /// A network of `stations` with these links. The channel takes `ring` packets of a station at a
    /// time; the others wait where routing can still send them elsewhere.
    ///
    /// # Panics
    /// If a link begins or ends nowhere, or at a station that does not exist.
    pub fn new(
        settings: AdhocSettings,
        stations: &[Station],
        links: Vec<Ends>,
        rng: &mut dyn Rng,
    ) -> Self {
        let AdhocSettings { channel, routing, access } = settings;
        let bare =
            |own: &Station| Station { queue: Queue::Unlimited, ring: u32::MAX, ..own.clone() };
        let bare: Vec<_> = stations.iter().map(bare).collect();
        let mut channel = Channel::new(channel, &bare, &[], rng);
        for ends in &links {
            let known = |nodes: &[usize]| {
                !nodes.is_empty() && nodes.iter().all(|node| *node < stations.len())
            };
            assert!(known(&ends.from) && known(&ends.to), "a link from and to stations");
        }
        let reach = Reachability::of(&channel);
        let station = |(node, own): (usize, &Station)| NodeState {
            ring: own.ring,
            host: HostQueue::new(own.queue.clone()),
            waiting: VecDeque::new(),
            offered: 0,
            dropped: 0,
            to: BTreeMap::new(),
            broadcast: channel.add_link(node, None),
        };
        let mut adhoc = Adhoc {
            stations: stations.iter().enumerate().map(station).collect(),
            routers: Routers::new(routing, access, &reach),
            reach,
            channel,
            links: links.into_iter().map(LinkState::new).collect(),
            trails: Trails::default(),
            messages: Messages::default(),
            delayed: BTreeMap::new(),
            emitted: 0,
            hop_counters: BTreeMap::new(),
            outcomes: Vec::new(),
            offered_at: Time::ZERO,
        };
        adhoc.update_connected();
        adhoc
    }

    /// Notes which links have a route from where the stations are now, whatever routing knows.
    fn update_connected(&mut self) {
        let mut tables: BTreeMap<&[usize], Vec<(Option<Node>, f64)>> = BTreeMap::new();
        let Adhoc { links, reach, .. } = self;
        for LinkState { ends, connected, .. } in links {
            let table = tables.entry(&ends.to).or_insert_with(|| reach.towards(&ends.to));
            *connected = ends.from.iter().any(|node| table[*node].1 < f64::INFINITY);
        }
    }

    /// Puts a packet into the queue of the station where it is.
    fn enqueue(&mut self, now: Time, packet: RoutedPacket<P>, rng: &mut dyn Rng) -> bool {
        let station = &mut self.stations[usize::from(self.trails.node(packet.trail))];
        let taken = station.host.offer(now, LinkPacket { link: 0, packet }, rng);
        station.dropped += u64::from(!taken);
        taken
    }

    /// A station sends on packets while the channel has room for them.
    fn feed(&mut self, now: Time, node: Node, rng: &mut dyn Rng) {
        let at = usize::from(node);
        while self.channel.backlog(at) < self.stations[at].ring {
            let taken = self.stations[at].host.take(now);
            while let Some(LinkPacket { packet, .. }) = self.stations[at].host.dropped() {
                self.stations[at].dropped += 1;
                self.lose(packet);
            }
            let Some(LinkPacket { packet, .. }) = taken else {
                return;
            };
            self.send_on(now, node, packet, rng);
        }
    }

    /// A packet goes to the next station, waits for a route, or is lost because there is none.
    fn send_on(&mut self, now: Time, node: Node, packet: RoutedPacket<P>, rng: &mut dyn Rng) {
        let ends = &self.links[packet.link as usize].ends;
        let transit = self.transit(&packet);
        let (hop, actions) = self.routers.next_hop(now, node, transit, ends, &self.reach);
        match hop {
            Hop::To(next) => {
                let link = self.station_link(node, next, false);
                self.channel.offer(now, link, packet, rng);
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
        self.act(now, actions, rng);
    }

    /// What a router may know of a packet.
    fn transit(&self, packet: &RoutedPacket<P>) -> Transit {
        Transit {
            source: self.trails.source(packet.trail),
            destination: self.links[packet.link as usize].ends.to[0] as Node,
            previous: self.trails.previous(packet.trail),
        }
    }

    /// The station link to a neighbour: one for packets, and one for messages, which wait for no
    /// packet.
    fn station_link(&mut self, from: Node, to: Node, messages: bool) -> u32 {
        let Adhoc { stations, channel, .. } = self;
        let links = &mut stations[usize::from(from)].to;
        let add = || channel.add_link(usize::from(from), Some(usize::from(to)));
        *links.entry((to, messages)).or_insert_with(add)
    }

    /// There is no route for a packet.
    fn give_up(&mut self, packet: RoutedPacket<P>) {
        self.links[packet.link as usize].counters.unreachable += 1;
        self.lose(packet);
    }

    fn lose(&mut self, packet: RoutedPacket<P>) {
        let RoutedPacket { inner: packet, link, trail, .. } = packet;
        self.outcomes.push(match self.trails.hops(trail) {
            0 => Outcome::Left { link, packet, lost: true },
            _ => Outcome::Lost { link, packet },
        });
    }

    /// A packet or a message is at the next station.
    fn arrive(
        &mut self,
        now: Time,
        link: u32,
        at: Node,
        mut packet: RoutedPacket<P>,
        rng: &mut dyn Rng,
    ) {
        let (from, to) = self.channel.ends(link);
        if packet.is_message() {
            if let Some(message) = self.messages.get(packet.trail) {
                let mut out = Vec::new();
                self.routers.on_message(now, at, from as Node, &message, &mut out);
                if to.is_some() {
                    self.messages.drop(packet.trail, false);
                }
                self.act(now, out, rng);
            }
            return;
        }
        packet.trail = self.trails.step(Some(packet.trail), at);
        let state = &mut self.links[packet.link as usize];
        if state.ends.to.contains(&usize::from(at)) {
            state.arrived(now, packet.trail);
            self.routers.on_arrival(now, at, self.transit(&packet));
            let RoutedPacket { inner: packet, link, .. } = packet;
            self.outcomes.push(Outcome::Arrived { link, at: at.into(), packet });
        } else if self.trails.hops(packet.trail) >= MOST_HOPS {
            self.give_up(packet);
        } else {
            self.stations[usize::from(at)].offered += 1;
            match self.enqueue(now, packet, rng) {
                true => self.feed(now, at, rng),
                false => self.lose(packet),
            }
        }
    }

    /// A station is done with a packet or a message: there is room for the next one.
    fn left(
        &mut self,
        now: Time,
        link: u32,
        packet: RoutedPacket<P>,
        lost: bool,
        rng: &mut dyn Rng,
    ) {
        let (from, to) = self.channel.ends(link);
        if packet.is_message() {
            let message = to.filter(|_| lost).and_then(|_| self.messages.get(packet.trail));
            if let (Some(to), Some(message)) = (to, message) {
                self.routers.on_unheard(now, from as Node, to as Node, &message);
            }
            self.messages.drop(packet.trail, lost || to.is_none());
        } else if lost {
            self.lose(packet);
        } else {
            let hop = (from as Node, to.map(|to| to as Node));
            let counters = self.hop_counters.entry(hop).or_default();
            counters.packets += 1;
            counters.bytes += u64::from(packet.bytes());
            if self.trails.hops(packet.trail) == 0 {
                let RoutedPacket { inner: packet, link, .. } = packet;
                self.outcomes.push(Outcome::Left { link, packet, lost: false });
            }
        }
        if let Some(to) = to.filter(|_| lost) {
            let mut out = Vec::new();
            self.routers.on_broken(now, from as Node, to as Node, &mut out);
            self.act(now, out, rng);
        }
        self.feed(now, from as Node, rng);
    }

    /// Carries out the actions of routers.
    fn act(&mut self, now: Time, actions: Vec<(Node, Action)>, rng: &mut dyn Rng) {
        for (node, action) in actions {
            match action {
                Action::Broadcast(message) => {
                    let at = now + Span((rng.uniform() * JITTER.0 as f64) as u64);
                    self.emitted += 1;
                    self.delayed.insert((at, self.emitted), (node, message));
                }
                Action::Unicast { to, message } => {
                    let link = self.station_link(node, to, true);
                    self.send_message(now, (node, Some(to)), link, message, rng);
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

    /// Takes the packets of a station that wait for a route to `to`.
    fn waiting_for(&mut self, node: Node, to: Node) -> Vec<RoutedPacket<P>> {
        let links = &self.links;
        let wanted = |packet: &RoutedPacket<P>| {
            links[packet.link as usize].ends.to.contains(&usize::from(to))
        };
        let all = std::mem::take(&mut self.stations[usize::from(node)].waiting);
        let (taken, stay): (Vec<_>, Vec<_>) = all.into_iter().partition(wanted);
        self.stations[usize::from(node)].waiting = stay.into();
        taken
    }

    /// Puts a message of a router before all packets of its station.
    fn send_message(
        &mut self,
        now: Time,
        hop: (Node, Option<Node>),
        link: u32,
        message: Message,
        rng: &mut dyn Rng,
    ) {
        let bytes = message.bytes();
        let counters = self.hop_counters.entry(hop).or_default();
        counters.messages += 1;
        counters.message_bytes += u64::from(bytes);
        // A unicast is dropped when it has arrived and when its sender is done, a broadcast when
        // its sender is.
        let index = self.messages.put(message, if hop.1.is_some() { 2 } else { 1 });
        self.channel.urge(now, link, RoutedPacket::message(index, bytes), rng);
    }
}

impl<P: Packet> SharedMedium<P> for Adhoc<P> {
    fn offer(&mut self, now: Time, link: u32, packet: P, rng: &mut dyn Rng) -> bool {
        self.offered_at = now;
        let state = &mut self.links[link as usize];
        let Some(node) = self.routers.entry(now, &state.ends, &self.reach) else {
            state.counters.unreachable += 1;
            return false;
        };
        let trail = self.trails.step(None, node);
        self.stations[usize::from(node)].offered += 1;
        let taken = self.enqueue(now, RoutedPacket::new(packet, link, trail), rng);
        self.feed(now, node, rng);
        taken
    }

    fn wake(&mut self, now: Time, rng: &mut dyn Rng) {
        while let Some(entry) = self.delayed.first_entry().filter(|it| it.key().0 <= now) {
            let (node, message) = entry.remove();
            let link = self.stations[usize::from(node)].broadcast;
            self.send_message(now, (node, None), link, message, rng);
        }
        while let Some(out) = self.routers.on_timer(now) {
            self.act(now, out, rng);
        }
        self.channel.wake(now, rng);
        let outcomes: Vec<_> = self.channel.outcomes().collect();
        for outcome in outcomes {
            match outcome {
                Outcome::Arrived { link, at, packet } => {
                    self.arrive(now, link, at as Node, packet, rng);
                }
                Outcome::Left { link, packet, lost } => self.left(now, link, packet, lost, rng),
                Outcome::Lost { .. } => unreachable!("a channel has single hops"),
            }
        }
    }

    fn next_wake(&self) -> Time {
        if !self.outcomes.is_empty() {
            return self.offered_at;
        }
        let delayed = self.delayed.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
        self.channel.next_wake().min(delayed).min(self.routers.next_timer())
    }

    fn outcomes(&mut self) -> Drain<'_, Outcome<P>> {
        self.outcomes.drain(..)
    }

    /// Packets of other stations that a station sends on are its own here.
    fn counters(&self, station: usize) -> Counters {
        let NodeState { offered, dropped, .. } = self.stations[station];
        Counters { offered, queue_drops: dropped, ..self.channel.counters(station) }
    }

    /// With those that wait for a route.
    fn backlog(&self, station: usize) -> u32 {
        let own = &self.stations[station];
        self.channel.backlog(station) + own.host.len() as u32 + own.waiting.len() as u32
    }

    fn set_positions(&mut self, now: Time, positions: &[Position]) {
        self.channel.set_positions(now, positions);
        self.reach = Reachability::of(&self.channel);
        self.routers.moved(now, &self.reach);
        self.update_connected();
    }

    fn connected(&self, link: u32) -> Option<bool> {
        Some(self.links[link as usize].connected)
    }

    fn multi_hop(&self) -> Option<&dyn MultiHop> {
        Some(self)
    }
}

impl<P: Packet> MultiHop for Adhoc<P> {
    fn routing_counters(&self, link: u32) -> RoutingCounters {
        self.links[link as usize].counters
    }

    fn routes(&self) -> Vec<Route> {
        let of_link = |(state, link): (&LinkState, u32)| -> Vec<Route> {
            let route = |(trail, used): (&u32, &RouteUse)| {
                let RouteUse { packets, first, last } = *used;
                Route { link, nodes: self.trails.nodes(*trail), packets, first, last }
            };
            state.used.iter().map(route).collect()
        };
        self.links.iter().zip(0..).flat_map(of_link).collect()
    }

    fn hop_counters(&self) -> Vec<(Node, Option<Node>, HopCounters)> {
        self.hop_counters.iter().map(|((from, to), counters)| (*from, *to, *counters)).collect()
    }

    fn handovers(&self, station: usize) -> u64 {
        self.routers.handovers(station)
    }
}

impl LinkState {
    fn new(ends: Ends) -> Self {
        LinkState {
            ends,
            counters: RoutingCounters::default(),
            connected: false,
            used: BTreeMap::new(),
            newest: None,
        }
    }

    /// A packet has come to the end.
    fn arrived(&mut self, now: Time, trail: u32) {
        self.counters.changes += u64::from(self.newest.is_some_and(|newest| newest != trail));
        self.newest = Some(trail);
        let used = self.used.entry(trail).or_insert(RouteUse { packets: 0, first: now, last: now });
        used.packets += 1;
        used.last = now;
    }
}
