//! The routing table (RFC 3561 §2, §6.1, §6.2).
//!
//! A route's lifetime ends without a timer: each access to a route lets it expire first. An entry
//! is never deleted, because its sequence number must not be forgotten (see [the module](super)).

use crate::routing::{Node, PacketHeader};
use std::collections::{BTreeMap, BTreeSet};
use units::{Span, Time};

/// Whether `a` is a newer sequence number than `b`: signed 32-bit arithmetic (§6.1).
pub(super) fn newer(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// The newer one of two sequence numbers; either may be unknown.
pub(super) fn newest(a: Option<u32>, b: Option<u32>) -> Option<u32> {
    match (a, b) {
        (Some(a), Some(b)) if newer(b, a) => Some(b),
        _ => a.or(b),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Must not be used. Its sequence number is one above that of the former route.
    Invalid,
    /// Valid and direct: the neighbour was heard, without its sequence number (§6.5, §6.7: "without
    /// a valid sequence number"). An older number is kept for comparison only.
    Adjacent,
    /// Valid, with the destination's sequence number.
    Active,
}

/// An entry of the table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Route {
    pub(super) state: State,
    /// The destination's sequence number; `None` if it was never known.
    pub(super) sequence: Option<u32>,
    /// Hop count. For an invalid route: the last one, and 0 after its deletion.
    pub(super) hops: u8,
    pub(super) next: Node,
    /// When it expires, or if it is invalid, is deleted.
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

    /// §6.1, §6.11: the sequence number is incremented if it came from the destination.
    fn invalidate(&mut self, forgotten: Time) {
        if self.state == State::Active {
            self.sequence = self.sequence.map(|number| number.wrapping_add(1));
        }
        self.state = State::Invalid;
        self.lifetime = forgotten;
    }

    /// Whether an update replaces it (§6.2, §6.7).
    fn accepts(&self, sequence: u32, hops: u8) -> bool {
        let Some(mine) = self.sequence else { return true };
        newer(sequence, mine)
            || sequence == mine && (self.state != State::Active || hops < self.hops)
    }
}

/// A route that a RREQ, a RREP or a HELLO announces.
#[derive(Clone, Copy, Debug)]
pub(super) struct RouteUpdate {
    pub(super) destination: Node,
    pub(super) sequence: u32,
    /// Hops from this node.
    pub(super) hops: u8,
    /// The neighbour that announced it.
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
    pub(super) fn route_to(&self, now: Time, node: Node) -> Option<Node> {
        let route = self.routes.get(&node)?;
        (route.valid() && route.lifetime > now).then_some(route.next)
    }

    /// The entry of a destination, valid or not.
    pub(super) fn get(&mut self, now: Time, node: Node) -> Option<&mut Route> {
        let route = self.routes.get_mut(&node)?;
        expire(route, now, self.delete_period);
        Some(route)
    }

    /// A valid route.
    pub(super) fn valid(&mut self, now: Time, node: Node) -> Option<&mut Route> {
        self.get(now, node).filter(|route| route.valid())
    }

    fn entry(&mut self, now: Time, node: Node) -> &mut Route {
        let route = self.routes.entry(node).or_insert_with(Route::unknown);
        expire(route, now, self.delete_period);
        route
    }

    /// A neighbour was heard: the route to it is direct (§6.5, §6.7). A valid route keeps its
    /// sequence number.
    pub(super) fn update_neighbour_route(&mut self, now: Time, neighbour: Node, until: Time) {
        let route = self.entry(now, neighbour);
        if !route.valid() {
            route.state = State::Adjacent;
            route.lifetime = until;
        }
        route.lifetime = route.lifetime.max(until);
        route.hops = 1;
        route.next = neighbour;
    }

    /// §6.2: takes an announced route if it is fresher or shorter. Returns whether the table agrees
    /// with it now.
    pub(super) fn update(&mut self, now: Time, update: RouteUpdate) -> bool {
        let RouteUpdate { destination, sequence, hops, via, until } = update;
        let route = self.entry(now, destination);
        if route.accepts(sequence, hops) {
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

    /// Extends the lifetime of a valid route to `until` at least.
    pub(super) fn refresh(&mut self, now: Time, node: Node, until: Time) {
        if let Some(route) = self.valid(now, node) {
            route.lifetime = route.lifetime.max(until);
        }
    }

    /// The next hop of a data packet, if there is a route. Its use extends the routes to both ends,
    /// to the next hop and to the previous one (§6.2).
    pub(super) fn forward(&mut self, now: Time, packet: PacketHeader, until: Time) -> Option<Node> {
        let route = self.valid(now, packet.destination)?;
        route.lifetime = route.lifetime.max(until);
        let next = route.next;
        self.refresh(now, next, until);
        self.refresh_reverse(now, packet, until);
        Some(next)
    }

    /// Extends the routes to a packet's source and previous hop (§6.2).
    pub(super) fn refresh_reverse(&mut self, now: Time, packet: PacketHeader, until: Time) {
        if let Some(previous) = packet.previous {
            self.refresh(now, previous, until);
            self.refresh(now, packet.source, until);
        }
    }

    /// §6.11: a packet came for an invalid route, which postpones its deletion.
    pub(super) fn postpone_deletion(&mut self, now: Time, node: Node) {
        let forgotten = now + self.delete_period;
        if let Some(route) = self.get(now, node).filter(|route| !route.valid()) {
            route.lifetime = forgotten;
        }
    }

    /// §6.11 case (i): invalidates all routes over a lost neighbour. Returns their destinations.
    pub(super) fn invalidate_routes_over(&mut self, now: Time, neighbour: Node) -> Vec<Node> {
        let mut lost = Vec::new();
        for (node, route) in &mut self.routes {
            expire(route, now, self.delete_period);
            if route.valid() && route.next == neighbour {
                route.invalidate(now + self.delete_period);
                lost.push(*node);
            }
        }
        lost
    }

    /// §6.11 case (iii): a RERR of a neighbour reports a destination with a sequence number.
    /// Returns whether that invalidates a route.
    pub(super) fn invalidate_by_rerr(
        &mut self,
        now: Time,
        node: Node,
        neighbour: Node,
        sequence: u32,
    ) -> bool {
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

/// Ends lifetimes that are over: a route becomes invalid, then it is deleted except for its
/// sequence number.
fn expire(route: &mut Route, now: Time, delete_period: Span) {
    if route.valid() && route.lifetime <= now {
        route.invalidate(route.lifetime + delete_period);
    }
    if !route.valid() && route.lifetime <= now {
        route.hops = 0;
        route.precursors.clear();
    }
}
