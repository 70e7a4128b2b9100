//! The routing table (RFC 3561 §2, §6.1, §6.2).
//!
//! A route's lifetime ends without a timer: whoever reads a route lets it expire first. An entry is
//! never deleted, because its sequence number must not be forgotten (see [the module](super)).

use crate::routing::{Node, Transit};
use std::collections::{BTreeMap, BTreeSet};
use units::{Span, Time};

/// Whether `a` is a newer sequence number than `b`: signed 32-bit arithmetic (§6.1).
pub(super) fn newer(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// The newer one of two sequence numbers, of which either may be unknown.
pub(super) fn newest(a: Option<u32>, b: Option<u32>) -> Option<u32> {
    match (a, b) {
        (Some(a), Some(b)) if newer(b, a) => Some(b),
        _ => a.or(b),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Must not be used. Its sequence number is one above that of the route that was.
    Invalid,
    /// Valid and direct, because the neighbour was heard, which did not say its sequence number
    /// (§6.5, §6.7: "without a valid sequence number"). An older number is kept, only to be
    /// compared with.
    Adjacent,
    /// Valid, with the destination's sequence number.
    Active,
}

/// An entry of the table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Route {
    pub(super) state: State,
    /// The destination's sequence number; none if it was never known.
    pub(super) sequence: Option<u32>,
    /// Hop count, of an invalid route the last one; 0 if that is forgotten.
    pub(super) hops: u8,
    pub(super) next: Node,
    /// When it expires, or if it is invalid, is forgotten.
    pub(super) lifetime: Time,
    /// Neighbours that may send over it.
    pub(super) precursors: BTreeSet<Node>,
}

impl Route {
    fn unknown() -> Self {
        Route {
            state: State::Invalid,
            sequence: None,
            hops: 0,
            next: 0,
            lifetime: Time::ZERO,
            precursors: BTreeSet::new(),
        }
    }

    pub(super) fn valid(&self) -> bool {
        self.state != State::Invalid
    }

    /// §6.1, §6.11: the number grows if the route had it from its destination.
    fn invalidate(&mut self, forgotten: Time) {
        if self.state == State::Active {
            self.sequence = self.sequence.map(|number| number.wrapping_add(1));
        }
        self.state = State::Invalid;
        self.lifetime = forgotten;
    }

    /// Whether news replaces it (§6.2, §6.7).
    fn admits(&self, sequence: u32, hops: u8) -> bool {
        let Some(mine) = self.sequence else { return true };
        newer(sequence, mine)
            || sequence == mine && (self.state != State::Active || hops < self.hops)
    }
}

/// What a RREQ, a RREP or a HELLO says of a route.
#[derive(Clone, Copy, Debug)]
pub(super) struct News {
    pub(super) destination: Node,
    pub(super) sequence: u32,
    /// Hops from here.
    pub(super) hops: u8,
    /// Who said it.
    pub(super) via: Node,
    /// When the route expires.
    pub(super) until: Time,
}

#[derive(Debug)]
pub(super) struct Table {
    routes: BTreeMap<Node, Route>,
    delete_period: Span,
}

impl Table {
    pub(super) fn new(delete_period: Span) -> Self {
        Table { routes: BTreeMap::new(), delete_period }
    }

    /// The next hop of a valid route.
    pub(super) fn known(&self, now: Time, node: Node) -> Option<Node> {
        let route = self.routes.get(&node)?;
        (route.valid() && route.lifetime > now).then_some(route.next)
    }

    /// What is known of a destination.
    pub(super) fn get(&mut self, now: Time, node: Node) -> Option<&mut Route> {
        let route = self.routes.get_mut(&node)?;
        settle(route, now, self.delete_period);
        Some(route)
    }

    /// A valid route.
    pub(super) fn valid(&mut self, now: Time, node: Node) -> Option<&mut Route> {
        self.get(now, node).filter(|route| route.valid())
    }

    fn entry(&mut self, now: Time, node: Node) -> &mut Route {
        let route = self.routes.entry(node).or_insert_with(Route::unknown);
        settle(route, now, self.delete_period);
        route
    }

    /// A neighbour was heard: the route to it is direct (§6.5, §6.7). A valid route keeps its
    /// number, an invalid one has none that counts.
    pub(super) fn meet(&mut self, now: Time, neighbour: Node, until: Time) {
        let route = self.entry(now, neighbour);
        if !route.valid() {
            route.state = State::Adjacent;
            route.lifetime = until;
        }
        route.lifetime = route.lifetime.max(until);
        route.hops = 1;
        route.next = neighbour;
    }

    /// §6.2: what was heard of a route is taken if it is fresher or shorter. Whether the table says
    /// the same now.
    pub(super) fn learn(&mut self, now: Time, news: News) -> bool {
        let News { destination, sequence, hops, via, until } = news;
        let route = self.entry(now, destination);
        if route.admits(sequence, hops) {
            route.state = State::Active;
            route.sequence = Some(sequence);
            route.hops = hops;
            route.next = via;
            route.lifetime = until;
            return true;
        }
        let same = (route.state, route.sequence, route.hops, route.next)
            == (State::Active, Some(sequence), hops, via);
        if same {
            route.lifetime = route.lifetime.max(until);
        }
        same
    }

    /// A valid route lives until then at least.
    pub(super) fn refresh(&mut self, now: Time, node: Node, until: Time) {
        if let Some(route) = self.valid(now, node) {
            route.lifetime = route.lifetime.max(until);
        }
    }

    /// A data packet goes on over the next hop that comes back, if there is one: its use prolongs
    /// the routes to both ends, to the next hop and to the previous one (§6.2).
    pub(super) fn carry(&mut self, now: Time, packet: Transit, until: Time) -> Option<Node> {
        let route = self.valid(now, packet.destination)?;
        route.lifetime = route.lifetime.max(until);
        let next = route.next;
        self.refresh(now, next, until);
        self.refresh_back(now, packet, until);
        Some(next)
    }

    /// The routes to a packet's source and previous hop (§6.2).
    pub(super) fn refresh_back(&mut self, now: Time, packet: Transit, until: Time) {
        if let Some(previous) = packet.previous {
            self.refresh(now, previous, until);
            self.refresh(now, packet.source, until);
        }
    }

    /// §6.11: a packet came for an invalid route, which is remembered longer.
    pub(super) fn keep(&mut self, now: Time, node: Node) {
        let forgotten = now + self.delete_period;
        if let Some(route) = self.get(now, node).filter(|route| !route.valid()) {
            route.lifetime = forgotten;
        }
    }

    /// §6.11 case (i): all valid routes over a lost neighbour become invalid. Their destinations.
    pub(super) fn lose(&mut self, now: Time, neighbour: Node) -> Vec<Node> {
        let mut lost = Vec::new();
        for (node, route) in &mut self.routes {
            settle(route, now, self.delete_period);
            if route.valid() && route.next == neighbour {
                route.invalidate(now + self.delete_period);
                lost.push(*node);
            }
        }
        lost
    }

    /// §6.11 case (iii): a neighbour has lost its route to a destination, and says so with a
    /// sequence number. Whether that ends a route here.
    pub(super) fn fail(&mut self, now: Time, node: Node, neighbour: Node, sequence: u32) -> bool {
        let forgotten = now + self.delete_period;
        let Some(route) = self.valid(now, node) else { return false };
        let fresher = route.sequence.is_none_or(|mine| newer(sequence, mine));
        let ends = route.next == neighbour && fresher;
        if ends {
            route.invalidate(forgotten);
            route.sequence = Some(sequence);
        }
        ends
    }
}

/// The lifetime of a route ends: it becomes invalid, then it is forgotten but for its sequence
/// number.
fn settle(route: &mut Route, now: Time, delete_period: Span) {
    if route.valid() && route.lifetime <= now {
        route.invalidate(route.lifetime + delete_period);
    }
    if !route.valid() && route.lifetime <= now {
        route.hops = 0;
        route.precursors.clear();
    }
}
