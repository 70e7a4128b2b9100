//! AODV, ad hoc on-demand distance vector routing: route discovery when a packet needs a route.
//!
//! Source: Perkins, Belding-Royer and Das, RFC 3561 (its terms and constants). The names of the
//! messages are the RFC's: RREQ, RREP, RERR, HELLO.
//!
//! **Left out**: local repair (§6.12), waiting after a reboot (§6.13), the flag A and RREP-ACK (the
//! MAC acknowledges unicasts, §6.8), flags J, R (multicast) and N (local repair), subnets (§7),
//! extensions (§9), several interfaces (§6.14). The caller buffers packets and delays broadcasts.
//!
//! **Loops.** Sequence numbers alone do not keep routes free of loops: it depends on the reading of
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
//! * The direct route to a neighbour, "without a valid sequence number", keeps the number that was
//!   known before: an update must not be older. §6.7 (i) takes any.
//! * No node has a route to itself.
//!
//! **Other readings.**
//!
//! * A node is "part of an active route" (§6.9) while it or another node may have a valid route
//!   over it by a RREQ, a RREP or data. If it stopped sending HELLOs earlier, its neighbours would
//!   take its links for lost. HELLOs themselves do not count: they would never end.
//! * §6.7 forwards a RREP only if it changes the table. A RREP that agrees with the table is
//!   forwarded as well: it is the answer to another originator.
//! * The RERR for a packet without a route (§6.11 (ii)) goes to the previous hop as well, which is
//!   no precursor if it uses a reverse route.
//! * Only RREQs from neighbours in the blacklist are ignored (§6.8). A neighbour enters it when the
//!   MAC gives up a RREP, and not for other packets: they fail by collisions as well, on
//!   bidirectional links.
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

use super::{Action, NextHop, Node, PacketHeader, RoutingProtocol};
use discovery::Discovery;
use limits::{RateLimit, SeenRreqs};
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
    /// ID of the last RREQ that it originated.
    rreq_id: u32,
    table: Table,
    seen: SeenRreqs,
    discoveries: BTreeMap<Node, Discovery>,
    neighbours: BTreeMap<Node, Neighbour>,
    rreqs: RateLimit,
    rerrs: RateLimit,
    /// Until when this node is a part of an active route.
    active_until: Time,
    last_broadcast: Option<Time>,
    /// When to check whether a HELLO is due; never while there is no active route.
    hello_due: Time,
    /// When the first silent neighbour may be lost.
    loss_due: Time,
    /// When [`RoutingProtocol::on_timer`] is due.
    timer: Time,
}

impl Aodv {
    /// The router of node `me`, with an empty table.
    pub fn new(me: Node, settings: AodvSettings) -> Self {
        Aodv {
            me,
            settings,
            sequence: 0,
            rreq_id: 0,
            table: Table::new(settings.delete_period()),
            seen: SeenRreqs::default(),
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

impl RoutingProtocol for Aodv {
    fn next_hop(&mut self, now: Time, packet: PacketHeader, out: &mut Vec<Action>) -> NextHop {
        if let Some(previous) = packet.previous {
            self.refresh_neighbour(now, previous);
        }
        let until = now + self.settings.active_route_timeout;
        if let Some(next) = self.table.forward(now, packet, until) {
            self.extend_active_route(now, until);
            return NextHop::To(next);
        }
        if packet.previous.is_none() {
            self.start_discovery(now, packet.destination, out);
            return NextHop::Buffer;
        }
        // §6.11 case (ii).
        self.table.postpone_deletion(now, packet.destination);
        self.send_rerr(now, &[packet.destination], packet.previous, out);
        NextHop::Unreachable
    }

    fn on_message(
        &mut self,
        now: Time,
        from: Node,
        message: &super::Message,
        out: &mut Vec<Action>,
    ) {
        let super::Message::Aodv(message) = message else { return };
        self.refresh_neighbour(now, from);
        match message {
            Message::Rreq(rreq) => self.on_rreq(now, from, *rreq, out),
            Message::Rrep(rrep) => self.on_rrep(now, from, *rrep, out),
            Message::Rerr(rerr) => self.on_rerr(now, from, rerr, out),
            Message::Hello(hello) => self.on_hello(now, from, *hello, out),
        }
    }

    fn on_delivered(&mut self, now: Time, packet: PacketHeader) {
        if let Some(previous) = packet.previous {
            self.refresh_neighbour(now, previous);
        }
        let until = now + self.settings.active_route_timeout;
        self.table.refresh_reverse(now, packet, until);
        self.extend_active_route(now, until);
    }

    fn on_message_lost(&mut self, now: Time, neighbour: Node, message: &super::Message) {
        if matches!(message, super::Message::Aodv(Message::Rrep(_))) {
            self.blacklist(now, neighbour);
        }
    }

    fn on_link_break(&mut self, now: Time, neighbour: Node, out: &mut Vec<Action>) {
        self.on_neighbour_lost(now, neighbour, out);
    }

    fn on_timer(&mut self, now: Time, out: &mut Vec<Action>) {
        if self.loss_due <= now {
            self.check_silent_neighbours(now, out);
        }
        if self.hello_due <= now {
            self.send_hello(now, out);
        }
        self.retry_discoveries(now, out);
        self.rearm();
    }

    fn next_timer(&self) -> Time {
        self.timer
    }

    fn route_to(&self, now: Time, destination: Node) -> Option<Node> {
        self.table.route_to(now, destination)
    }
}
