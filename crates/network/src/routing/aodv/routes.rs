//! Processing of RREQs and RREPs (RFC 3561 §6.5 to §6.7).

use super::Aodv;
use super::message::{Message, Rrep, Rreq};
use super::table::{RouteUpdate, State, newer, newest};
use crate::routing::{Action, Node};
use units::{Span, Time};

impl Aodv {
    /// A RREQ was received (§6.5).
    pub(super) fn on_rreq(&mut self, now: Time, from: Node, rreq: Rreq, out: &mut Vec<Action>) {
        if self.is_blacklisted(now, from) {
            return; // §6.8
        }
        self.update_neighbour_route(now, from, out);
        let until = now + self.settings.path_discovery_time();
        let name = (rreq.originator, rreq.id);
        if rreq.originator == self.me || !self.seen.insert(now, name, until) {
            return;
        }
        let hops = rreq.hops.saturating_add(1);
        self.update_reverse_route(now, from, Rreq { hops, ..rreq }, out);
        if rreq.destination == self.me {
            return self.reply_as_destination(now, &rreq, out);
        }
        if self.reply_as_intermediate(now, &rreq, out) || rreq.ttl <= 1 {
            return;
        }
        let mine = self.table.get(now, rreq.destination).and_then(|route| route.sequence);
        let destination_sequence = newest(rreq.destination_sequence, mine);
        let rreq = Rreq { ttl: rreq.ttl - 1, hops, destination_sequence, ..rreq };
        self.broadcast(now, Message::Rreq(rreq), out);
    }

    /// §6.5: updates the reverse route, with a lifetime of at least `MinimalLifetime`. The RREQ's
    /// hops are counted to this node.
    fn update_reverse_route(&mut self, now: Time, from: Node, rreq: Rreq, out: &mut Vec<Action>) {
        let hop = self.settings.node_traversal_time;
        let net = self.settings.net_traversal_time();
        let minimal = now + (Span(2 * net.0) - Span(2 * u64::from(rreq.hops) * hop.0));
        let existing = self.table.valid(now, rreq.originator).map_or(minimal, |r| r.lifetime);
        let update = RouteUpdate {
            destination: rreq.originator,
            sequence: rreq.originator_sequence,
            hops: rreq.hops,
            via: from,
            until: existing.max(minimal),
        };
        if !self.table.update(now, update) {
            self.table.refresh(now, rreq.originator, minimal);
        }
        self.extend_active_route(now, minimal);
        self.complete_discovery(now, rreq.originator, out);
    }

    /// §6.6.1: the destination answers.
    fn reply_as_destination(&mut self, now: Time, rreq: &Rreq, out: &mut Vec<Action>) {
        // §6.1: the larger one. §6.6.1 says the same unless the RREQ's is larger by more than 1.
        if let Some(asked) = rreq.destination_sequence.filter(|asked| newer(*asked, self.sequence))
        {
            self.sequence = asked;
        }
        let rrep = Rrep {
            hops: 0,
            destination: self.me,
            destination_sequence: self.sequence,
            originator: rreq.originator,
            lifetime: self.settings.my_route_timeout(),
        };
        self.send_rrep(now, rrep, out);
    }

    /// §6.6.2: an intermediate node answers if its route is fresh enough. Returns whether it does.
    fn reply_as_intermediate(&mut self, now: Time, rreq: &Rreq, out: &mut Vec<Action>) -> bool {
        if rreq.destination_only {
            return false;
        }
        let answer = self.rrep_from_table(now, rreq.destination, rreq.originator);
        let asked = rreq.destination_sequence;
        let fresh =
            |rrep: &Rrep| asked.is_none_or(|asked| !newer(asked, rrep.destination_sequence));
        let Some(rrep) = answer.filter(fresh) else { return false };
        self.send_rrep(now, rrep, out);
        if rreq.gratuitous {
            // §6.6.3: as if the destination had asked for the originator.
            let answer = self.rrep_from_table(now, rreq.originator, rreq.destination);
            if let Some(rrep) = answer {
                self.send_rrep(now, rrep, out);
            }
        }
        true
    }

    /// A RREP from the table's route to a destination, for `originator` (§6.6.2), if its sequence
    /// number is valid.
    fn rrep_from_table(&mut self, now: Time, destination: Node, originator: Node) -> Option<Rrep> {
        let route = self.table.valid(now, destination)?;
        if route.state != State::Active {
            return None;
        }
        Some(Rrep {
            hops: route.hops,
            destination,
            destination_sequence: route.sequence?,
            originator,
            lifetime: route.lifetime.since(now),
        })
    }

    /// §6.6, §6.7: a RREP goes to the next hop towards its originator, which may use the route from
    /// now on.
    fn send_rrep(&mut self, now: Time, rrep: Rrep, out: &mut Vec<Action>) {
        let until = now + self.settings.active_route_timeout;
        let Some(reverse) = self.table.valid(now, rrep.originator) else { return };
        reverse.lifetime = reverse.lifetime.max(until);
        let to = reverse.next;
        if let Some(forward) = self.table.valid(now, rrep.destination) {
            forward.precursors.insert(to);
            let next = forward.next;
            // §6.6.2, §6.7: users of the route use its next hop as well; the same holds for the
            // reverse route.
            if let Some(route) = self.table.valid(now, next) {
                route.precursors.insert(to);
            }
            if let Some(reverse) = self.table.valid(now, rrep.originator) {
                reverse.precursors.insert(next);
            }
        }
        self.extend_active_route(now, until.max(now + rrep.lifetime));
        out.push(Action::Unicast { to, message: Message::Rrep(rrep).into() });
    }

    /// A RREP was received (§6.7).
    pub(super) fn on_rrep(&mut self, now: Time, from: Node, rrep: Rrep, out: &mut Vec<Action>) {
        self.update_neighbour_route(now, from, out);
        if rrep.destination == self.me {
            return; // No route leads to oneself.
        }
        let hops = rrep.hops.saturating_add(1);
        let update = RouteUpdate {
            destination: rrep.destination,
            sequence: rrep.destination_sequence,
            hops,
            via: from,
            until: now + rrep.lifetime,
        };
        let current = self.table.update(now, update);
        self.complete_discovery(now, rrep.destination, out);
        if current && rrep.originator == self.me {
            self.extend_active_route(now, now + rrep.lifetime);
        } else if current {
            self.send_rrep(now, Rrep { hops, ..rrep }, out);
        }
    }

    /// A RREQ or a RREP makes a direct route to the neighbour that sent it (§6.2).
    fn update_neighbour_route(&mut self, now: Time, neighbour: Node, out: &mut Vec<Action>) {
        let until = now + self.settings.active_route_timeout;
        self.table.update_neighbour_route(now, neighbour, until);
        self.complete_discovery(now, neighbour, out);
    }
}
