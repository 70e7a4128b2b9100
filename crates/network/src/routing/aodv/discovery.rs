//! Looking for a route: RREQs in growing rings (RFC 3561 §6.3, §6.4).

use super::message::{Message, Rreq};
use super::{Aodv, AodvSettings};
use crate::routing::{Action, Node};
use units::{Span, Time};

/// A destination that a route is looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Discovery {
    /// TTL of the RREQ that was sent last, or if `held`, of the one that is to be sent.
    ttl: u8,
    /// How often a RREQ that goes everywhere was repeated.
    retries: u32,
    /// The rate limit holds its next RREQ back.
    held: bool,
    /// When it is to be sent, or if not `held`, when the wait for a RREP is over.
    pub(super) due: Time,
}

impl Discovery {
    /// How long a RREP is waited for: §6.4, and for a RREQ that goes everywhere §6.3, twice as long
    /// every time.
    fn wait(&self, settings: &AodvSettings) -> Span {
        if self.ttl < settings.net_diameter {
            return settings.ring_traversal_time(self.ttl);
        }
        // Longer than 2²⁰ times is not told apart.
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
    /// A route to `node` is looked for, if it is not already.
    pub(super) fn discover(&mut self, now: Time, node: Node, out: &mut Vec<Action>) {
        if self.discoveries.contains_key(&node) {
            return;
        }
        let hops = self.table.get(now, node).map_or(0, |route| route.hops);
        let ttl = self.settings.first_ttl(hops);
        self.request(now, node, Discovery { ttl, retries: 0, held: false, due: now }, out);
        self.rearm();
    }

    /// Sends a RREQ as soon as the rate limit lets it (§6.3).
    fn request(&mut self, now: Time, node: Node, mut next: Discovery, out: &mut Vec<Action>) {
        next.held = self.rreqs.free() > now;
        next.due = if next.held { self.rreqs.free() } else { now + next.wait(&self.settings) };
        self.discoveries.insert(node, next);
        if next.held {
            return;
        }
        self.rreqs.spend(now);
        self.sequence = self.sequence.wrapping_add(1); // §6.1: before each RREQ
        self.rreq_id = self.rreq_id.wrapping_add(1);
        // §6.3: so that it does not process its own RREQ when a neighbour repeats it.
        let until = now + self.settings.path_discovery_time();
        self.seen.first(now, (self.me, self.rreq_id), until);
        // The longest that a reverse route to here lives by it (§6.5).
        self.used(now, now + Span(2 * self.settings.net_traversal_time().0));
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

    /// Discoveries whose wait is over ask further, or give up.
    pub(super) fn pursue(&mut self, now: Time, out: &mut Vec<Action>) {
        let due = self.discoveries.iter().filter(|(_, discovery)| discovery.due <= now);
        let due: Vec<_> = due.map(|(node, discovery)| (*node, *discovery)).collect();
        for (node, discovery) in due {
            let next = match discovery.held {
                true => Some(discovery),
                false => discovery.next(&self.settings),
            };
            match next {
                Some(next) => self.request(now, node, next, out),
                None => {
                    self.discoveries.remove(&node);
                    out.push(Action::Abandon { to: node });
                }
            }
        }
    }

    /// A route to `node` may have appeared, by whatever message: what waits for it can go (§6.2).
    pub(super) fn fulfil(&mut self, now: Time, node: Node, out: &mut Vec<Action>) {
        let waits = self.discoveries.contains_key(&node);
        if waits && self.table.known(now, node).is_some() {
            self.discoveries.remove(&node);
            self.rearm();
            out.push(Action::Release { to: node });
        }
    }
}
