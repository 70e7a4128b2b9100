//! Route discovery: RREQs in expanding rings (RFC 3561 §6.3, §6.4).

use super::message::{Message, Rreq};
use super::{Aodv, AodvSettings};
use crate::routing::{Action, Node};
use units::{Span, Time};

/// The discovery of a route to one destination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Discovery {
    /// TTL of the last RREQ, or if `held`, of the next one.
    ttl: u8,
    /// How often a RREQ with TTL `net_diameter` was repeated.
    retries: u32,
    /// Whether the rate limit delays the next RREQ.
    held: bool,
    /// When the next RREQ may be sent if `held`, otherwise when the wait for a RREP ends.
    pub(super) due: Time,
}

impl Discovery {
    /// How long to wait for a RREP: §6.4, and for a RREQ with TTL `net_diameter` §6.3, twice as
    /// long every time.
    fn wait(&self, settings: &AodvSettings) -> Span {
        if self.ttl < settings.net_diameter {
            return settings.ring_traversal_time(self.ttl);
        }
        // Bounded, so that the shift does not overflow.
        Span(settings.net_traversal_time().0 << self.retries.min(20))
    }

    /// The RREQ after this one, unless it was the last.
    fn next(self, settings: &AodvSettings) -> Option<Discovery> {
        if self.ttl < settings.net_diameter {
            return Some(Discovery { ttl: settings.next_ttl(self.ttl), ..self });
        }
        let retries = self.retries + 1;
        (retries <= settings.rreq_retries).then_some(Discovery { retries, ..self })
    }
}

impl Aodv {
    /// Starts the discovery of a route to `node`, unless one is under way.
    pub(super) fn start_discovery(&mut self, now: Time, node: Node, out: &mut Vec<Action>) {
        if self.discoveries.contains_key(&node) {
            return;
        }
        let hops = self.table.get(now, node).map_or(0, |route| route.hops);
        let ttl = self.settings.first_ttl(hops);
        self.send_rreq(now, node, Discovery { ttl, retries: 0, held: false, due: now }, out);
        self.rearm();
    }

    /// Sends a RREQ as soon as the rate limit lets it (§6.3).
    fn send_rreq(&mut self, now: Time, node: Node, mut next: Discovery, out: &mut Vec<Action>) {
        next.held = self.rreqs.next_allowed() > now;
        next.due =
            if next.held { self.rreqs.next_allowed() } else { now + next.wait(&self.settings) };
        self.discoveries.insert(node, next);
        if next.held {
            return;
        }
        self.rreqs.record(now);
        self.sequence = self.sequence.wrapping_add(1); // §6.1: before each RREQ
        self.rreq_id = self.rreq_id.wrapping_add(1);
        // §6.3: it must not process its own RREQ when a neighbour repeats it.
        let until = now + self.settings.path_discovery_time();
        self.seen.insert(now, (self.me, self.rreq_id), until);
        // The longest lifetime of a reverse route by this RREQ (§6.5).
        self.extend_active_route(now, now + Span(2 * self.settings.net_traversal_time().0));
        let rreq = Rreq {
            ttl: next.ttl,
            hops: 0,
            id: self.rreq_id,
            destination: node,
            destination_sequence: self.table.get(now, node).and_then(|route| route.sequence),
            originator: self.me,
            originator_sequence: self.sequence,
            gratuitous: self.settings.gratuitous_rrep,
            destination_only: self.settings.destination_only,
        };
        self.broadcast(now, Message::Rreq(rreq), out);
    }

    /// Sends the next RREQ of discoveries whose wait is over, or gives them up.
    pub(super) fn retry_discoveries(&mut self, now: Time, out: &mut Vec<Action>) {
        let due = self.discoveries.iter().filter(|(_, discovery)| discovery.due <= now);
        let due: Vec<_> = due.map(|(node, discovery)| (*node, *discovery)).collect();
        for (node, discovery) in due {
            let next = match discovery.held {
                true => Some(discovery),
                false => discovery.next(&self.settings),
            };
            match next {
                Some(next) => self.send_rreq(now, node, next, out),
                None => {
                    self.discoveries.remove(&node);
                    out.push(Action::DropBuffered { to: node });
                }
            }
        }
    }

    /// If any message has brought a route to `node`, sends the packets buffered for it (§6.2).
    pub(super) fn complete_discovery(&mut self, now: Time, node: Node, out: &mut Vec<Action>) {
        let waits = self.discoveries.contains_key(&node);
        if waits && self.table.route_to(now, node).is_some() {
            self.discoveries.remove(&node);
            self.rearm();
            out.push(Action::SendBuffered { to: node });
        }
    }
}
