//! An ad-hoc network: stations of one 802.11 channel forward packets along routes.
//!
//! Its links are multi-hop: a link leads from one station to another, or has several gateways at
//! one end. A packet goes `offer` → queue of the station → `forward`, which asks the router → a
//! *station link* of the channel, to a neighbour → that station, and so on to an end of its link.
//! Routing messages share the channel and have priority, as is usual.

mod association;
mod common;
mod packet;
mod reachability;
mod routers;
#[cfg(test)]
mod tests;

use crate::dot11::{Channel, ChannelSettings};
use crate::host::{HostQueue, LinkPacket};
use crate::routing::{Action, Message, NextHop, Node, PacketHeader};
use crate::shared::{
    Common, Counters, Ends, HopCounters, MultiHop, Outcome, Route, RoutingCounters, SharedMedium,
    Station,
};
use crate::{Packet, Position, Queue, Rng};
use common::{Shared, View};
use packet::{Messages, RoutedPacket, Trails};
use routers::Routers;
pub use routers::Routing;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use units::{Span, Time};

/// Largest random delay of a broadcast, so that neighbours do not repeat it at once (RFC 5148).
const JITTER: Span = Span::millis(10);

/// Packets without a route that a station buffers; beyond that the oldest is dropped.
const BUFFERED: usize = 64;

/// Hops after which a packet is dropped: the usual time to live of an IP packet.
const MOST_HOPS: u32 = 64;

/// Parameters of an ad-hoc network.
#[derive(Clone, Debug)]
pub struct AdhocSettings {
    /// Its 802.11 channel.
    pub channel: ChannelSettings,
    /// The routing protocol.
    pub routing: Routing,
    /// The stations that are access points.
    pub access: Vec<usize>,
}

/// Use of one route.
#[derive(Clone, Copy, Debug)]
struct RouteUse {
    packets: u64,
    first: Time,
    last: Time,
}

struct LinkState {
    ends: Ends,
    /// Number of its ends among all different ones.
    target: usize,
    counters: RoutingCounters,
    used: BTreeMap<u32, RouteUse>,
    newest: Option<u32>,
}

/// Queues and station links of a station.
struct NodeState<P> {
    /// Most packets of the station in the channel at a time.
    ring: u32,
    host: HostQueue<RoutedPacket<P>>,
    /// Packets buffered until there is a route.
    buffered: VecDeque<RoutedPacket<P>>,
    offered: u64,
    dropped: u64,
    /// Station links to neighbours; `true` for routing messages.
    to: BTreeMap<(Node, bool), u32>,
    /// The station link of broadcasts.
    broadcast: u32,
}

/// An ad-hoc network on one channel.
pub struct Adhoc<P> {
    channel: Channel<RoutedPacket<P>>,
    stations: Vec<NodeState<P>>,
    routers: Routers,
    /// What it shares with networks of the same kind and with the same stations.
    shared: Arc<Shared>,
    /// [`Shared::components`]; `None` until the first query after a move.
    components: RefCell<Option<Arc<[usize]>>>,
    links: Vec<LinkState>,
    trails: Trails,
    messages: Messages,
    /// Delayed broadcasts by time, then in order of emission.
    delayed: BTreeMap<(Time, u64), (Node, Message)>,
    emitted: u64,
    /// By station link.
    hop_counters: Vec<HopCounters>,
    outcomes: Vec<Outcome<P>>,
    /// The outcomes of the channel; kept to reuse its memory.
    happened: Vec<Outcome<RoutedPacket<P>>>,
    /// When the last packet was offered: outcomes that it caused are collected at that time.
    offered_at: Time,
}

impl<P: Packet> Adhoc<P> {
    /// A network of `stations` with these links. The channel holds up to `ring` packets of a
    /// station; the other packets have no next hop yet.
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
        let station = |(node, own): (usize, &Station)| NodeState {
            ring: own.ring,
            host: HostQueue::new(own.queue.clone()),
            buffered: VecDeque::new(),
            offered: 0,
            dropped: 0,
            to: BTreeMap::new(),
            broadcast: channel.add_link(node, None),
        };
        Adhoc {
            stations: stations.iter().enumerate().map(station).collect(),
            routers: Routers::new(routing, access, &channel),
            shared: Arc::new(Shared::new(channel.geometry())),
            components: RefCell::new(None),
            channel,
            links: numbered(links),
            trails: Trails::default(),
            messages: Messages::default(),
            delayed: BTreeMap::new(),
            emitted: 0,
            hop_counters: Vec::new(),
            outcomes: Vec::new(),
            happened: Vec::new(),
            offered_at: Time::ZERO,
        }
    }

    /// Puts a packet into the queue of its current station.
    #[inline(always)] // runs for every hop, and would copy the packet once more
    fn enqueue(&mut self, now: Time, packet: RoutedPacket<P>, rng: &mut dyn Rng) -> bool {
        let station = &mut self.stations[usize::from(self.trails.node(packet.trail))];
        let taken = station.host.offer(now, LinkPacket { link: 0, packet }, rng);
        station.dropped += u64::from(!taken);
        taken
    }

    /// Forwards packets of a station while the channel has room for them.
    fn fill_channel(&mut self, now: Time, node: Node, rng: &mut dyn Rng) {
        let at = usize::from(node);
        while self.channel.backlog(at) < self.stations[at].ring {
            let taken = self.stations[at].host.take(now);
            while let Some(LinkPacket { packet, .. }) = self.stations[at].host.dropped() {
                self.stations[at].dropped += 1;
                self.drop_packet(packet);
            }
            let Some(LinkPacket { packet, .. }) = taken else {
                return;
            };
            self.forward(now, node, packet, rng);
        }
    }

    /// Sends a packet to its next hop, buffers it, or drops it without a route.
    #[inline(always)] // runs for every hop, and would copy the packet once more
    fn forward(&mut self, now: Time, node: Node, packet: RoutedPacket<P>, rng: &mut dyn Rng) {
        let header = self.header(&packet);
        let LinkState { ends, target, .. } = &self.links[packet.link as usize];
        let target = (*target, &*ends.to);
        let view = View { channel: &self.channel, shared: &self.shared };
        let (hop, actions) = self.routers.next_hop(now, node, header, target, &view);
        match hop {
            NextHop::To(next) => {
                let link = self.station_link(node, next, false);
                self.channel.offer(now, link, packet, rng);
            }
            NextHop::Buffer => {
                let buffered = &mut self.stations[usize::from(node)].buffered;
                buffered.push_back(packet);
                if let Some(oldest) = (buffered.len() > BUFFERED).then(|| buffered.pop_front()) {
                    oldest.into_iter().for_each(|packet| self.drop_unreachable(packet));
                }
            }
            NextHop::Unreachable => self.drop_unreachable(packet),
        }
        if !actions.is_empty() {
            self.run_actions(now, actions, rng); // seldom
        }
    }

    /// The addresses of a packet, for routers.
    #[inline] // runs for every hop
    fn header(&self, packet: &RoutedPacket<P>) -> PacketHeader {
        PacketHeader {
            source: self.trails.source(packet.trail),
            destination: self.links[packet.link as usize].ends.to[0] as Node,
            previous: self.trails.previous(packet.trail),
        }
    }

    /// The station link to a neighbour: one for packets, and one for routing messages, which have
    /// priority.
    #[inline] // runs for every hop
    fn station_link(&mut self, from: Node, to: Node, messages: bool) -> u32 {
        let Adhoc { stations, channel, .. } = self;
        let links = &mut stations[usize::from(from)].to;
        let add = || channel.add_link(usize::from(from), Some(usize::from(to)));
        *links.entry((to, messages)).or_insert_with(add)
    }

    /// The counters of a station link.
    fn counters_of(&mut self, link: u32) -> &mut HopCounters {
        if self.hop_counters.len() <= link as usize {
            self.hop_counters.resize(link as usize + 1, HopCounters::default());
        }
        &mut self.hop_counters[link as usize]
    }

    /// Drops a packet without a route.
    fn drop_unreachable(&mut self, packet: RoutedPacket<P>) {
        self.links[packet.link as usize].counters.unreachable += 1;
        self.drop_packet(packet);
    }

    fn drop_packet(&mut self, packet: RoutedPacket<P>) {
        let RoutedPacket { inner: packet, link, trail, .. } = packet;
        self.outcomes.push(match self.trails.hops(trail) {
            0 => Outcome::Left { link, packet, lost: true },
            _ => Outcome::Lost { link, packet },
        });
    }

    /// A packet or a routing message was received by the next station.
    fn on_received(
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
                self.run_actions(now, out, rng);
            }
            return;
        }
        packet.trail = self.trails.step(Some(packet.trail), at);
        let state = &mut self.links[packet.link as usize];
        if state.ends.to.contains(&usize::from(at)) {
            state.arrived(now, packet.trail);
            self.routers.on_delivered(now, at, self.header(&packet));
            let RoutedPacket { inner: packet, link, .. } = packet;
            self.outcomes.push(Outcome::Arrived { link, at: at.into(), packet });
        } else if self.trails.hops(packet.trail) >= MOST_HOPS {
            self.drop_unreachable(packet);
        } else {
            self.stations[usize::from(at)].offered += 1;
            match self.enqueue(now, packet, rng) {
                true => self.fill_channel(now, at, rng),
                false => self.drop_packet(packet),
            }
        }
    }

    /// A packet or a routing message was acknowledged or given up: there is room for the next one.
    fn on_left(
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
                self.routers.on_message_lost(now, from as Node, to as Node, &message);
            }
            self.messages.drop(packet.trail, lost || to.is_none());
        } else if lost {
            self.drop_packet(packet);
        } else {
            let counters = self.counters_of(link);
            counters.packets += 1;
            counters.bytes += u64::from(packet.bytes());
            if self.trails.hops(packet.trail) == 0 {
                let RoutedPacket { inner: packet, link, .. } = packet;
                self.outcomes.push(Outcome::Left { link, packet, lost: false });
            }
        }
        if let Some(to) = to.filter(|_| lost) {
            let mut out = Vec::new();
            self.routers.on_link_break(now, from as Node, to as Node, &mut out);
            self.run_actions(now, out, rng);
        }
        self.fill_channel(now, from as Node, rng);
    }

    /// Carries out the actions of routers.
    fn run_actions(&mut self, now: Time, actions: Vec<(Node, Action)>, rng: &mut dyn Rng) {
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
                Action::SendBuffered { to } => {
                    for packet in self.take_buffered(node, to) {
                        if !self.enqueue(now, packet, rng) {
                            self.drop_packet(packet);
                        }
                    }
                    self.fill_channel(now, node, rng);
                }
                Action::DropBuffered { to } => {
                    self.take_buffered(node, to)
                        .into_iter()
                        .for_each(|packet| self.drop_unreachable(packet));
                }
            }
        }
    }

    /// Takes the packets that a station buffers for a route to `to`.
    fn take_buffered(&mut self, node: Node, to: Node) -> Vec<RoutedPacket<P>> {
        let links = &self.links;
        let wanted = |packet: &RoutedPacket<P>| {
            links[packet.link as usize].ends.to.contains(&usize::from(to))
        };
        let all = std::mem::take(&mut self.stations[usize::from(node)].buffered);
        let (taken, stay): (Vec<_>, Vec<_>) = all.into_iter().partition(wanted);
        self.stations[usize::from(node)].buffered = stay.into();
        taken
    }

    /// Sends a routing message before all packets of its station.
    fn send_message(
        &mut self,
        now: Time,
        hop: (Node, Option<Node>),
        link: u32,
        message: Message,
        rng: &mut dyn Rng,
    ) {
        let bytes = message.bytes();
        let counters = self.counters_of(link);
        counters.messages += 1;
        counters.message_bytes += u64::from(bytes);
        // A unicast is used twice, by its receiver and at the end of its transmission; a broadcast
        // is released at the end of its transmission.
        let index = self.messages.put(message, if hop.1.is_some() { 2 } else { 1 });
        self.channel.offer_first(now, link, RoutedPacket::message(index, bytes), rng);
    }
}

impl<P: Packet> SharedMedium<P> for Adhoc<P> {
    fn offer(&mut self, now: Time, link: u32, packet: P, rng: &mut dyn Rng) -> bool {
        self.offered_at = now;
        let state = &mut self.links[link as usize];
        let view = View { channel: &self.channel, shared: &self.shared };
        let LinkState { ends, target, .. } = state;
        let Some(node) = self.routers.source_station(now, ends, *target, &view) else {
            state.counters.unreachable += 1;
            return false;
        };
        let trail = self.trails.step(None, node);
        self.stations[usize::from(node)].offered += 1;
        let taken = self.enqueue(now, RoutedPacket::new(packet, link, trail), rng);
        self.fill_channel(now, node, rng);
        taken
    }

    fn wake(&mut self, now: Time, rng: &mut dyn Rng) {
        while let Some(entry) = self.delayed.first_entry().filter(|it| it.key().0 <= now) {
            let (node, message) = entry.remove();
            let link = self.stations[usize::from(node)].broadcast;
            self.send_message(now, (node, None), link, message, rng);
        }
        while let Some(out) = self.routers.on_timer(now) {
            self.run_actions(now, out, rng);
        }
        self.channel.wake(now, rng);
        std::mem::swap(&mut self.happened, self.channel.outcomes());
        let mut happened = std::mem::take(&mut self.happened);
        for outcome in happened.drain(..) {
            match outcome {
                Outcome::Arrived { link, at, packet } => {
                    self.on_received(now, link, at as Node, packet, rng);
                }
                Outcome::Left { link, packet, lost } => self.on_left(now, link, packet, lost, rng),
                Outcome::Lost { .. } => unreachable!("a channel has single hops"),
            }
        }
        self.happened = happened;
    }

    fn next_wake(&self) -> Time {
        if !self.outcomes.is_empty() {
            return self.offered_at;
        }
        let delayed = self.delayed.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
        self.channel.next_wake().min(delayed).min(self.routers.next_timer())
    }

    fn outcomes(&mut self) -> &mut Vec<Outcome<P>> {
        &mut self.outcomes
    }

    /// Forwarded packets count as the station's own.
    fn counters(&self, station: usize) -> Counters {
        let NodeState { offered, dropped, .. } = self.stations[station];
        Counters { offered, queue_drops: dropped, ..self.channel.counters(station) }
    }

    /// Buffered packets included.
    fn backlog(&self, station: usize) -> u32 {
        let own = &self.stations[station];
        self.channel.backlog(station) + own.host.len() as u32 + own.buffered.len() as u32
    }

    fn set_positions(&mut self, now: Time, positions: &[Position]) {
        self.channel.set_positions(now, positions);
        self.components.replace(None);
        self.routers.on_moved(now, &self.channel);
    }

    fn common(&self) -> Option<Common> {
        Some(self.shared.clone())
    }

    fn share(&mut self, common: &Common) {
        if let Ok(shared) = common.clone().downcast::<Shared>() {
            self.channel.share_geometry(&shared.geometry);
            if Arc::ptr_eq(self.channel.geometry(), &shared.geometry) {
                self.shared = shared;
            }
        }
    }

    /// Whether a route exists at the present positions, even if routing has not found it.
    fn connected(&self, link: u32) -> Option<bool> {
        let mut components = self.components.borrow_mut();
        let component = components.get_or_insert_with(|| self.shared.components(&self.channel));
        let Ends { from, to } = &self.links[link as usize].ends;
        Some(from.iter().any(|from| to.iter().any(|to| component[*from] == component[*to])))
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
        let mut all: BTreeMap<_, HopCounters> = BTreeMap::new();
        for (link, own) in (0..).zip(&self.hop_counters) {
            if *own != HopCounters::default() {
                let (from, to) = self.channel.ends(link);
                let sum = all.entry((from as Node, to.map(|to| to as Node))).or_default();
                sum.packets += own.packets;
                sum.bytes += own.bytes;
                sum.messages += own.messages;
                sum.message_bytes += own.message_bytes;
            }
        }
        all.into_iter().map(|((from, to), counters)| (from, to, counters)).collect()
    }

    fn handovers(&self, station: usize) -> u64 {
        self.routers.handovers(station)
    }
}

/// Links, each with the number of the stations at which it ends.
fn numbered(links: Vec<Ends>) -> Vec<LinkState> {
    let mut targets = BTreeMap::new();
    let numbered = links.into_iter().map(|ends| {
        let next = targets.len();
        let target = *targets.entry(ends.to.clone()).or_insert(next);
        LinkState::new(ends, target)
    });
    numbered.collect()
}

impl LinkState {
    fn new(ends: Ends, target: usize) -> Self {
        LinkState {
            ends,
            target,
            counters: RoutingCounters::default(),
            used: BTreeMap::new(),
            newest: None,
        }
    }

    /// A packet arrived at the end of the link.
    fn arrived(&mut self, now: Time, trail: u32) {
        self.counters.changes += u64::from(self.newest.is_some_and(|newest| newest != trail));
        self.newest = Some(trail);
        let used = self.used.entry(trail).or_insert(RouteUse { packets: 0, first: now, last: now });
        used.packets += 1;
        used.last = now;
    }
}
