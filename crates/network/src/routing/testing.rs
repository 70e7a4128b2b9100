//! Routers on a graph, for tests: adjacent nodes receive every message, other nodes none. Unicasts
//! over links that do not exist are lost, and broadcasts on request.

use super::{Action, Message, NextHop, Node, PacketHeader, RoutingProtocol};
use crate::Rng;
use crate::testing::Lcg;
use std::collections::{BTreeMap, BTreeSet};
use units::{Span, Time};

/// Time of a message or a packet to a neighbour.
const TAKES: Span = Span::millis(1);
/// Time until the MAC gives up.
const FAILS: Span = Span::millis(10);
/// Default of the largest delay of a broadcast.
const JITTER: Span = Span::millis(10);
/// Hops after which a packet is dropped.
const MOST_HOPS: usize = 64;

/// A packet, with the nodes that it has visited.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Probe {
    pub(crate) source: Node,
    pub(crate) destination: Node,
    pub(crate) way: Vec<Node>,
}

#[derive(Clone, Debug)]
enum Event {
    Heard { at: Node, from: Node, message: Message },
    Broken { at: Node, neighbour: Node, message: Option<Message> },
    Packet { at: Node, probe: Probe },
}

/// Routers and the graph between them.
pub(crate) struct Ether<P> {
    pub(crate) now: Time,
    pub(crate) routers: Vec<P>,
    /// Pairs that hear each other, smaller number first.
    links: BTreeSet<(Node, Node)>,
    /// Linked pairs whose second node does not hear the first.
    deaf: BTreeSet<(Node, Node)>,
    events: BTreeMap<(Time, u64), Event>,
    serial: u64,
    rng: Lcg,
    waiting: Vec<Vec<Probe>>,
    /// Packets that were delivered, with their times.
    pub(crate) delivered: Vec<(Time, Probe)>,
    /// Packets that were not delivered.
    pub(crate) dropped: Vec<Probe>,
    /// Messages sent.
    pub(crate) messages: u64,
    /// Largest delay of a broadcast.
    pub(crate) jitter: Span,
    /// Probability that a neighbour misses a broadcast.
    pub(crate) loss: f64,
    /// A log of actions, on request: time, node, action.
    pub(crate) log: Option<Vec<(Time, Node, Action)>>,
}

impl<P: RoutingProtocol> Ether<P> {
    pub(crate) fn new(routers: Vec<P>, links: impl IntoIterator<Item = (Node, Node)>) -> Self {
        let mut ether = Ether {
            now: Time::ZERO,
            waiting: vec![Vec::new(); routers.len()],
            routers,
            links: BTreeSet::new(),
            deaf: BTreeSet::new(),
            events: BTreeMap::new(),
            serial: 0,
            rng: Lcg(1),
            delivered: Vec::new(),
            dropped: Vec::new(),
            messages: 0,
            jitter: JITTER,
            loss: 0.0,
            log: None,
        };
        ether.relink(links);
        ether
    }

    /// Sets the pairs that hear each other.
    pub(crate) fn relink(&mut self, links: impl IntoIterator<Item = (Node, Node)>) {
        self.links = links.into_iter().map(|(a, b)| (a.min(b), a.max(b))).collect();
    }

    /// Sets the pairs whose second node does not hear the first.
    pub(crate) fn deafen(&mut self, pairs: impl IntoIterator<Item = (Node, Node)>) {
        self.deaf = pairs.into_iter().collect();
    }

    /// Whether two nodes hear each other, so that packets between them are acknowledged.
    pub(crate) fn adjacent(&self, a: Node, b: Node) -> bool {
        self.hears(a, b) && self.hears(b, a)
    }

    fn hears(&self, at: Node, from: Node) -> bool {
        self.links.contains(&(at.min(from), at.max(from))) && !self.deaf.contains(&(from, at))
    }

    /// Hops from one node to all others by breadth-first search: the reference.
    pub(crate) fn distances(&self, from: Node) -> Vec<Option<usize>> {
        let mut distance = vec![None; self.routers.len()];
        distance[usize::from(from)] = Some(0);
        let mut front = vec![from];
        for hops in 1.. {
            let mut next = Vec::new();
            for at in 0..self.routers.len() as Node {
                let near = front.iter().any(|node| self.adjacent(*node, at));
                if near && distance[usize::from(at)].is_none() {
                    distance[usize::from(at)] = Some(hops);
                    next.push(at);
                }
            }
            if next.is_empty() {
                break;
            }
            front = next;
        }
        distance
    }

    /// A packet begins at its source.
    pub(crate) fn send(&mut self, source: Node, destination: Node) {
        let probe = Probe { source, destination, way: Vec::new() };
        self.later(Span::ZERO, Event::Packet { at: source, probe });
    }

    fn later(&mut self, after: Span, event: Event) {
        self.serial += 1;
        self.events.insert((self.now + after, self.serial), event);
    }

    /// Runs all events up to and at `end`.
    pub(crate) fn run_until(&mut self, end: Time) {
        while self.step(end).is_some() {}
    }

    /// Runs the next event, if it is due up to and at `end`. Returns its node.
    pub(crate) fn step(&mut self, end: Time) -> Option<Node> {
        let event = self.events.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
        let timers = self.routers.iter().map(RoutingProtocol::next_timer).enumerate();
        let (node, timer) = timers.min_by_key(|(_, at)| *at).unwrap_or((0, Time::NEVER));
        let next = event.min(timer);
        if next > end {
            self.now = end;
            return None;
        }
        self.now = self.now.max(next);
        if timer > event {
            return self.events.pop_first().map(|(_, event)| self.happen(event));
        }
        let mut out = Vec::new();
        self.routers[node].on_timer(self.now, &mut out);
        assert!(
            self.routers[node].next_timer() > timer || !out.is_empty(),
            "a timer that stays due"
        );
        self.act(node as Node, out);
        Some(node as Node)
    }

    fn happen(&mut self, event: Event) -> Node {
        let mut out = Vec::new();
        match event {
            Event::Heard { at, from, message } => {
                self.routers[usize::from(at)].on_message(self.now, from, &message, &mut out);
                self.act(at, out);
                at
            }
            Event::Broken { at, neighbour, message } => {
                if let Some(message) = message {
                    self.routers[usize::from(at)].on_message_lost(self.now, neighbour, &message);
                }
                self.routers[usize::from(at)].on_link_break(self.now, neighbour, &mut out);
                self.act(at, out);
                at
            }
            Event::Packet { at, probe } => {
                self.forward(at, probe);
                at
            }
        }
    }

    fn forward(&mut self, at: Node, mut probe: Probe) {
        let Probe { source, destination, .. } = probe;
        let previous = probe.way.last().copied();
        let packet = PacketHeader { source, destination, previous };
        probe.way.push(at);
        if at == destination {
            self.routers[usize::from(at)].on_delivered(self.now, packet);
            return self.delivered.push((self.now, probe));
        }
        if probe.way.len() > MOST_HOPS {
            return self.dropped.push(probe);
        }
        let mut out = Vec::new();
        let hop = self.routers[usize::from(at)].next_hop(self.now, packet, &mut out);
        match hop {
            NextHop::To(next) if self.adjacent(at, next) => {
                self.later(TAKES, Event::Packet { at: next, probe });
            }
            NextHop::To(next) => {
                self.dropped.push(probe);
                self.later(FAILS, Event::Broken { at, neighbour: next, message: None });
            }
            NextHop::Buffer => {
                probe.way.pop();
                self.waiting[usize::from(at)].push(probe);
            }
            NextHop::Unreachable => self.dropped.push(probe),
        }
        self.act(at, out);
    }

    fn act(&mut self, at: Node, actions: Vec<Action>) {
        for action in actions {
            if let Some(log) = &mut self.log {
                log.push((self.now, at, action.clone()));
            }
            match action {
                Action::Broadcast(message) => {
                    self.messages += 1;
                    let after = TAKES + Span((self.rng.uniform() * self.jitter.0 as f64) as u64);
                    for to in 0..self.routers.len() as Node {
                        let lost = self.loss > 0.0 && self.rng.uniform() < self.loss;
                        if self.hears(to, at) && !lost {
                            let message = message.clone();
                            self.later(after, Event::Heard { at: to, from: at, message });
                        }
                    }
                }
                Action::Unicast { to, message } => {
                    self.messages += 1;
                    match self.adjacent(at, to) {
                        true => self.later(TAKES, Event::Heard { at: to, from: at, message }),
                        false => {
                            let message = Some(message);
                            self.later(FAILS, Event::Broken { at, neighbour: to, message });
                        }
                    }
                }
                Action::SendBuffered { to } => {
                    for probe in self.taken(at, to) {
                        self.later(Span::ZERO, Event::Packet { at, probe });
                    }
                }
                Action::DropBuffered { to } => {
                    let probes = self.taken(at, to);
                    self.dropped.extend(probes);
                }
            }
        }
    }

    /// Takes the packets that a node buffers for `to`.
    fn taken(&mut self, at: Node, to: Node) -> Vec<Probe> {
        let waiting = std::mem::take(&mut self.waiting[usize::from(at)]);
        let (taken, stay): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|probe| probe.destination == to);
        self.waiting[usize::from(at)] = stay;
        taken
    }
}
