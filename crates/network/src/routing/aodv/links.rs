//! Neighbours and lost routes (RFC 3561 §6.8 to §6.11).

use super::Aodv;
use super::message::{Hello, Message, Rerr};
use super::table::RouteUpdate;
use crate::routing::{Action, Node};
use std::collections::BTreeSet;
use units::Time;

/// Destinations that the count of a RERR has room for (§5.3).
const MOST_UNREACHABLE: usize = 255;

/// State of a neighbour besides the route to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Neighbour {
    /// When the last packet or message from it was received.
    heard: Time,
    /// When its last HELLO was received; `None` before the first and after a loss of the link.
    hello: Option<Time>,
    /// Until when it is in the blacklist: its RREQs are ignored.
    blacklisted_until: Time,
}

impl Aodv {
    fn neighbour(&mut self, now: Time, node: Node) -> &mut Neighbour {
        let new = Neighbour { heard: now, hello: None, blacklisted_until: Time::ZERO };
        self.neighbours.entry(node).or_insert(new)
    }

    /// A packet or message of a neighbour was received, so that its link works (§6.9).
    pub(super) fn refresh_neighbour(&mut self, now: Time, from: Node) {
        if let Some(neighbour) = self.neighbours.get_mut(&from) {
            neighbour.heard = now;
        }
    }

    /// §6.8: whether RREQs from a neighbour are ignored, because the link is unidirectional.
    pub(super) fn is_blacklisted(&self, now: Time, from: Node) -> bool {
        self.neighbours.get(&from).is_some_and(|neighbour| neighbour.blacklisted_until > now)
    }

    /// §6.8: the RREQ was received and the RREP was not acknowledged: the link is unidirectional.
    pub(super) fn blacklist(&mut self, now: Time, node: Node) {
        let until = now + self.settings.blacklist_timeout();
        self.neighbour(now, node).blacklisted_until = until;
    }

    /// This node is a part of an active route, and sends HELLOs until that expires (§6.9).
    pub(super) fn extend_active_route(&mut self, now: Time, until: Time) {
        self.active_until = self.active_until.max(until);
        if self.settings.hello && self.hello_due == Time::NEVER {
            self.hello_due = now + self.settings.hello_interval;
            self.timer = self.timer.min(self.hello_due);
        }
    }

    /// §6.9: sends a HELLO, unless there was another broadcast within the interval.
    pub(super) fn send_hello(&mut self, now: Time, out: &mut Vec<Action>) {
        let interval = self.settings.hello_interval;
        self.hello_due = match self.last_broadcast {
            _ if self.active_until <= now => Time::NEVER,
            Some(last) if last + interval > now => last + interval,
            _ => {
                let lifetime = self.settings.hello_lifetime();
                let hello = Hello { sequence: self.sequence, lifetime };
                self.broadcast(now, Message::Hello(hello), out);
                now + interval
            }
        };
    }

    /// §6.9: a HELLO makes a route to its sender, with the sequence number in it.
    pub(super) fn on_hello(&mut self, now: Time, from: Node, hello: Hello, out: &mut Vec<Action>) {
        let until = now + hello.lifetime;
        let loss = now + self.settings.hello_lifetime();
        self.neighbour(now, from).hello = Some(now);
        self.loss_due = self.loss_due.min(loss);
        self.timer = self.timer.min(loss);
        self.table.update_neighbour_route(now, from, until);
        let lifetime = self.table.valid(now, from).map_or(until, |route| route.lifetime);
        let sequence = hello.sequence;
        let update =
            RouteUpdate { destination: from, sequence, hops: 1, via: from, until: lifetime };
        self.table.update(now, update);
        self.complete_discovery(now, from, out);
    }

    /// §6.9: links to neighbours that sent HELLOs and are silent now are lost.
    pub(super) fn check_silent_neighbours(&mut self, now: Time, out: &mut Vec<Action>) {
        let patience = self.settings.hello_lifetime();
        let period = self.settings.delete_period();
        let mut lost = Vec::new();
        self.loss_due = Time::NEVER;
        for (node, neighbour) in &mut self.neighbours {
            let Some(hello) = neighbour.hello else { continue };
            let end = neighbour.heard + patience;
            if end > now {
                self.loss_due = self.loss_due.min(end);
                continue;
            }
            neighbour.hello = None;
            if now.since(hello) <= period {
                lost.push(*node);
            }
        }
        for node in lost {
            self.on_neighbour_lost(now, node, out);
        }
    }

    /// §6.11 case (i): the link to a neighbour is lost, and with it all routes over it.
    pub(super) fn on_neighbour_lost(&mut self, now: Time, neighbour: Node, out: &mut Vec<Action>) {
        if let Some(neighbour) = self.neighbours.get_mut(&neighbour) {
            neighbour.hello = None;
        }
        let lost = self.table.invalidate_routes_over(now, neighbour);
        self.send_rerr(now, &lost, None, out);
    }

    /// §6.11 case (iii). A RERR whose sequence number is not newer than the route's was sent before
    /// the route was made: it is ignored.
    pub(super) fn on_rerr(&mut self, now: Time, from: Node, rerr: &Rerr, out: &mut Vec<Action>) {
        let unreachable = rerr.unreachable.iter().filter(|(node, _)| *node != self.me);
        let mut lost: Vec<Node> = Vec::new();
        for (node, sequence) in unreachable {
            if self.table.invalidate_by_rerr(now, *node, from, *sequence) {
                lost.push(*node);
            }
        }
        self.send_rerr(now, &lost, None, out);
    }

    /// §6.11: sends a RERR with the lost destinations to precursors, and to the neighbour whose
    /// packet found no route.
    pub(super) fn send_rerr(
        &mut self,
        now: Time,
        lost: &[Node],
        sender: Option<Node>,
        out: &mut Vec<Action>,
    ) {
        let mut receivers: BTreeSet<Node> = sender.into_iter().collect();
        let mut unreachable = Vec::new();
        for node in lost {
            let Some(route) = self.table.get(now, *node) else { continue };
            // Without a sequence number no other node can have a route over this one.
            let Some(sequence) = route.sequence else { continue };
            if sender.is_some() || !route.precursors.is_empty() {
                receivers.extend(&route.precursors);
                unreachable.push((*node, sequence));
            }
        }
        for part in unreachable.chunks(MOST_UNREACHABLE) {
            if self.rerrs.next_allowed() > now {
                // RERR_RATELIMIT: further packets for the lost routes cause another RERR.
                return;
            }
            self.rerrs.record(now);
            for (node, _) in part {
                if let Some(route) = self.table.get(now, *node) {
                    route.precursors.clear(); // They receive this RERR.
                }
            }
            let message = Message::Rerr(Rerr { unreachable: part.to_vec() });
            match receivers.first() {
                Some(only) if receivers.len() == 1 => {
                    out.push(Action::Unicast { to: *only, message: message.into() });
                }
                _ => self.broadcast(now, message, out),
            }
        }
    }
}
