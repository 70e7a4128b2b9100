//! AODV, ad hoc on-demand distance vector routing: a route is looked for when a packet needs one.
//!
//! Source: Perkins, Belding-Royer and Das, RFC 3561 (its words and constants). The names of the
//! messages are the RFC's: RREQ, RREP, RERR, HELLO.
//!
//! **Left out**: local repair (§6.12), waiting after a reboot (§6.13), the flag A and RREP-ACK (the
//! MAC acknowledges what is sent to one neighbour, §6.8), flags J, R (multicast) and N (local
//! repair), subnets (§7), extensions (§9), several interfaces (§6.14). Packets that wait are the
//! caller's, and so is the delay of broadcasts.
//!
//! **Loops.** Sequence numbers alone do not keep routes free of loops: it depends on how one reads
//! the RFC (Bhargavan, Obradovic and Gunter, JACM 2002; van Glabbeek, Höfner, Tan and Portmann,
//! MSWiM 2013). Call *quality* of a node's route the pair of its number and its hop count, better
//! if the number is newer or, with equal numbers, the hop count smaller; the quality of an invalid
//! route has the number before the last increment, and any hop count. Along valid next hops the
//! quality gets better and better, so that no node comes twice, as long as the quality of an entry
//! never gets worse. Hence:
//!
//! * The sequence number of an entry is never forgotten. After `DELETE_PERIOD` an invalid entry
//!   loses its hop count and its precursors only (§6.11 lets an entry live longer). With the
//!   number, a node would take a route back from a neighbour whose route leads over itself.
//! * A route that expires has its number incremented, as one that breaks has (§6.1: "expires or
//!   breaks").
//! * A RERR ends a route only if its number is newer than the route's; §6.11 copies any. An older
//!   one is late.
//! * An invalid route's number is not incremented again when packets come for it (§6.11: "if it
//!   exists and is valid").
//! * The direct route to a neighbour that was heard, "without a valid sequence number", keeps the
//!   number that was known, as one that news must not be older than. §6.7 (i) takes any.
//! * Nobody has a route to itself.
//!
//! **Other readings.**
//!
//! * A node is "part of an active route" (§6.9) while it or another node may have a valid route
//!   over it by a RREQ, a RREP or data. If it fell silent earlier, its neighbours would take its
//!   links for lost. HELLOs themselves do not count: they would never end.
//! * §6.7 forwards a RREP only if it changes the table. One that says what the table says already
//!   is forwarded as well: it is the answer to another originator.
//! * The RERR for a packet without a route (§6.11 (ii)) goes to the neighbour that the packet came
//!   from as well, which is no precursor if it uses a reverse route.
//! * What comes from the blacklist's neighbours but RREQs is heard (§6.8). Only a RREP that the MAC
//!   has given up brings a neighbour there: packets fail by collisions as well, on links that go
//!   both ways.
//! * A gratuitous RREP has the number of the table, which is the RREQ's or newer (§6.6.3: the
//!   RREQ's).
//! * A reverse route that is fresher already lives longer by a RREQ (§6.5), and not by an invalid
//!   route's lifetime.
//! * RREQs over the limit wait, RERRs over the limit are not sent.

mod discovery;
mod limits;
mod links;
mod message;
mod routes;
mod settings;
mod table;
#[cfg(test)]
mod tests;

pub use message::{Hello, Message, Rerr, Rrep, Rreq};
pub use settings::AodvSettings;

use super::{Action, Hop, Node, Protocol, Transit};
use discovery::Discovery;
use limits::{RateLimit, Seen};
use links::Neighbour;
use std::collections::BTreeMap;
use table::Table;
use units::Time;

impl From<Message> for super::Message {
    fn from(message: Message) -> Self {
        super::Message::Aodv(message)
    }
}

/// The AODV router of one node.
#[derive(Debug)]
pub struct Aodv {
    me: Node,
    settings: AodvSettings,
    /// Its own sequence number (§6.1).
    sequence: u32,
    /// Of the last RREQ that it originated.
    rreq_id: u32,
    table: Table,
    seen: Seen,
    discoveries: BTreeMap<Node, Discovery>,
    neighbours: BTreeMap<Node, Neighbour>,
    rreqs: RateLimit,
    rerrs: RateLimit,
    /// Until when it is a part of an active route.
    active_until: Time,
    last_broadcast: Option<Time>,
    /// When to see whether a HELLO is due; never while there is no active route.
    hello_due: Time,
    /// No neighbour's silence is too long before this.
    loss_due: Time,
    /// Nothing is due before this.
    timer: Time,
}

impl Aodv {
    /// The router of node `me`, which knows nobody.
    pub fn new(me: Node, settings: AodvSettings) -> Self {
        Aodv {
            me,
            settings,
            sequence: 0,
            rreq_id: 0,
            table: Table::new(settings.delete_period()),
            seen: Seen::default(),
            discoveries: BTreeMap::new(),
            neighbours: BTreeMap::new(),
            rreqs: RateLimit::new(settings.rreq_ratelimit),
            rerrs: RateLimit::new(settings.rerr_ratelimit),
            active_until: Time::ZERO,
            last_broadcast: None,
            hello_due: Time::NEVER,
            loss_due: Time::NEVER,
            timer: Time::NEVER,
        }
    }

    fn broadcast(&mut self, now: Time, message: Message, out: &mut Vec<Action>) {
        self.last_broadcast = Some(now);
        out.push(Action::Broadcast(message.into()));
    }

    fn rearm(&mut self) {
        let discoveries = self.discoveries.values().map(|discovery| discovery.due);
        let others = self.hello_due.min(self.loss_due);
        self.timer = discoveries.fold(others, Time::min);
    }
}

impl Protocol for Aodv {
    fn next_hop(&mut self, now: Time, packet: Transit, out: &mut Vec<Action>) -> Hop {
        if let Some(previous) = packet.previous {
            self.heard(now, previous);
        }
        let until = now + self.settings.active_route_timeout;
        if let Some(next) = self.table.carry(now, packet, until) {
            self.used(now, until);
            return Hop::To(next);
        }
        if packet.previous.is_none() {
            self.discover(now, packet.destination, out);
            return Hop::Wait;
        }
        // §6.11 case (ii).
        self.table.keep(now, packet.destination);
        self.send_rerr(now, &[packet.destination], packet.previous, out);
        Hop::Unreachable
    }

    fn on_message(
        &mut self,
        now: Time,
        from: Node,
        message: &super::Message,
        out: &mut Vec<Action>,
    ) {
        let super::Message::Aodv(message) = message else { return };
        self.heard(now, from);
        match message {
            Message::Rreq(rreq) => self.on_rreq(now, from, *rreq, out),
            Message::Rrep(rrep) => self.on_rrep(now, from, *rrep, out),
            Message::Rerr(rerr) => self.on_rerr(now, from, rerr, out),
            Message::Hello(hello) => self.on_hello(now, from, *hello, out),
        }
    }

    fn on_arrival(&mut self, now: Time, packet: Transit) {
        if let Some(previous) = packet.previous {
            self.heard(now, previous);
        }
        let until = now + self.settings.active_route_timeout;
        self.table.refresh_back(now, packet, until);
        self.used(now, until);
    }

    fn on_unheard(&mut self, now: Time, neighbour: Node, message: &super::Message) {
        if matches!(message, super::Message::Aodv(Message::Rrep(_))) {
            self.suspect(now, neighbour);
        }
    }

    fn on_broken(&mut self, now: Time, neighbour: Node, out: &mut Vec<Action>) {
        self.lose(now, neighbour, out);
    }

    fn on_timer(&mut self, now: Time, out: &mut Vec<Action>) {
        if self.loss_due <= now {
            self.miss(now, out);
        }
        if self.hello_due <= now {
            self.greet(now, out);
        }
        self.pursue(now, out);
        self.rearm();
    }

    fn next_timer(&self) -> Time {
        self.timer
    }

    fn known(&self, now: Time, destination: Node) -> Option<Node> {
        self.table.known(now, destination)
    }
}
