//! What RREQs and RREPs do (RFC 3561 §6.5 to §6.7).

use super::Aodv;
use super::message::{Message, Rrep, Rreq};
use super::table::{News, State, newer, newest};
use crate::routing::{Action, Node};
use units::{Span, Time};

impl Aodv {
    /// §6.5.
    pub(super) fn on_rreq(&mut self, now: Time, from: Node, rreq: Rreq, out: &mut Vec<Action>) {
        if self.ignored(now, from) {
            return; // §6.8
        }
        self.meet(now, from, out);
        let until = now + self.settings.path_discovery_time();
        let name = (rreq.originator, rreq.id);
        if rreq.originator == self.me || !self.seen.first(now, name, until) {
            return;
        }
        let hops = rreq.hops.saturating_add(1);
        self.learn_reverse(now, from, Rreq { hops, ..rreq }, out);
        if rreq.destination == self.me {
            return self.answer_for_myself(now, &rreq, out);
        }
        if self.answer_for_another(now, &rreq, out) || rreq.ttl <= 1 {
            return;
        }
        let mine = self.table.get(now, rreq.destination).and_then(|route| route.sequence);
        let destination_sequence = newest(rreq.destination_sequence, mine);
        let rreq = Rreq { ttl: rreq.ttl - 1, hops, destination_sequence, ..rreq };
        self.broadcast(now, Message::Rreq(rreq), out);
    }

    /// §6.5: the reverse route; the RREQ's hops are counted to here. It lives `MinimalLifetime` at
    /// least.
    fn learn_reverse(&mut self, now: Time, from: Node, rreq: Rreq, out: &mut Vec<Action>) {
        let hop = self.settings.node_traversal_time;
        let net = self.settings.net_traversal_time();
        let minimal = now + (Span(2 * net.0) - Span(2 * u64::from(rreq.hops) * hop.0));
        let existing = self.table.valid(now, rreq.originator).map_or(minimal, |r| r.lifetime);
        let news = News {
            destination: rreq.originator,
            sequence: rreq.originator_sequence,
            hops: rreq.hops,
            via: from,
            until: existing.max(minimal),
        };
        if !self.table.learn(now, news) {
            self.table.refresh(now, rreq.originator, minimal);
        }
        self.used(now, minimal);
        self.fulfil(now, rreq.originator, out);
    }

    /// §6.6.1: the destination answers.
    fn answer_for_myself(&mut self, now: Time, rreq: &Rreq, out: &mut Vec<Action>) {
        // §6.1: the larger one, which is what §6.6.1 says as well unless the RREQ's is larger by
        // more than 1.
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

    /// §6.6.2: an intermediate node answers if its route is fresh enough. Whether it does.
    fn answer_for_another(&mut self, now: Time, rreq: &Rreq, out: &mut Vec<Action>) -> bool {
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

    /// What the table has of a destination, for `originator` (§6.6.2), if its sequence number is
    /// valid.
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
            // §6.6.2, §6.7: who uses the route uses its next hop, and the other way about the
            // reverse route.
            if let Some(route) = self.table.valid(now, next) {
                route.precursors.insert(to);
            }
            if let Some(reverse) = self.table.valid(now, rrep.originator) {
                reverse.precursors.insert(next);
            }
        }
        self.used(now, until.max(now + rrep.lifetime));
        out.push(Action::Unicast { to, message: Message::Rrep(rrep).into() });
    }

    /// §6.7.
    pub(super) fn on_rrep(&mut self, now: Time, from: Node, rrep: Rrep, out: &mut Vec<Action>) {
        self.meet(now, from, out);
        if rrep.destination == self.me {
            return; // No route leads to oneself.
        }
        let hops = rrep.hops.saturating_add(1);
        let news = News {
            destination: rrep.destination,
            sequence: rrep.destination_sequence,
            hops,
            via: from,
            until: now + rrep.lifetime,
        };
        let current = self.table.learn(now, news);
        self.fulfil(now, rrep.destination, out);
        if current && rrep.originator == self.me {
            self.used(now, now + rrep.lifetime);
        } else if current {
            self.send_rrep(now, Rrep { hops, ..rrep }, out);
        }
    }

    /// A neighbour sent a RREQ or a RREP: there is a direct route to it (§6.2).
    fn meet(&mut self, now: Time, neighbour: Node, out: &mut Vec<Action>) {
        let until = now + self.settings.active_route_timeout;
        self.table.meet(now, neighbour, until);
        self.fulfil(now, neighbour, out);
    }
}
