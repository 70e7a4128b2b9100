//! OLSR, the Optimized Link State Routing Protocol (RFC 3626).
//!
//! A node broadcasts HELLOs, by which neighbours learn of each other and of 2-hop neighbours. Each
//! node selects some of its neighbours as multipoint relays (MPRs) that reach all nodes two hops
//! away. An MPR advertises its selectors to the whole network in TC messages, which only MPRs
//! forward. Neighbours, 2-hop neighbours and TCs give shortest routes to all nodes in advance.
//!
//! Received messages update [`neighbours`] (links, 2-hop neighbours, MPRs, selectors) and
//! [`topology`] (TCs, routing table); [`mpr`] selects MPRs, [`message`] defines the packets. Hold
//! times are checked at each call, and the table is computed when a route is needed after a change.
//!
//! Left out:
//!
//! * several interfaces of a node: no MID messages (§5), no UNSPEC_LINK, no list of interfaces in
//!   the duplicate set;
//! * networks behind a node: no HNA messages (§12);
//! * link hysteresis (§14), redundant topology information (§15: TC_REDUNDANCY is 0) and redundant
//!   relays (§16: MPR_COVERAGE is 1);
//! * partial messages (§6.2, §9.3);
//! * the additional HELLO when the MPR set has changed (§8.5: MAY);
//! * delaying messages to send several together (§3.5): messages due at the same time share a
//!   packet, and the network adds the jitter;
//! * messages of unknown types, which the RFC has forwarded (§3.4), and Htime, which no node reads
//!   (its bytes are counted).
//!
//! Choices that the RFC leaves open: the first HELLO and the first TC come at a part of the
//! interval that differs from node to node; the loss of an MPR selector causes an early TC (§9.3).
//!
//! Deviations: the ANSN of an empty TC is remembered ([`topology`]); a link that the MAC found
//! broken becomes symmetric again by a HELLO only, and a node without a symmetric link is no MPR
//! selector ([`neighbours`]).

mod message;
mod mpr;
mod neighbours;
#[cfg(test)]
mod tests;
mod topology;
mod two_hop;

use super::{Action, Message, NextHop, Node, PacketHeader, RoutingProtocol};
pub(super) use message::Packet;
use message::{Hello, MessageBody, OlsrMessage, Tc, round_up_to_vtime};
use neighbours::{Changed, Neighbours};
use std::collections::BTreeMap;
use topology::{Table, Topology};
use units::{Span, Time};

/// WILL_NEVER: does not forward packets (§18.8).
const WILL_NEVER: u8 = 0;
/// WILL_DEFAULT (§18.8).
const WILL_DEFAULT: u8 = 3;
/// WILL_ALWAYS: an MPR of all neighbours (§18.8).
const WILL_ALWAYS: u8 = 7;
/// A HELLO goes to neighbours only (§6.2).
const HELLO_TTL: u8 = 1;
/// A TC goes to the whole network (§9.3).
const TC_TTL: u8 = 255;

/// Settings of [`Olsr`]; the defaults are the RFC's (§18).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OlsrSettings {
    /// Time between two HELLOs of a node: HELLO_INTERVAL, 2 s. Above zero.
    pub hello_interval: Span,
    /// Time between two TCs of an MPR: TC_INTERVAL, 5 s. Above zero.
    pub tc_interval: Span,
    /// Validity of a HELLO: NEIGHB_HOLD_TIME, 6 s. Messages carry 62.5 ms to 3,968 s, in steps of
    /// at most a sixteenth (§18.3); a time between two steps is rounded up.
    pub neighbour_hold: Span,
    /// Validity of a TC: TOP_HOLD_TIME, 15 s. Rounded up likewise.
    pub topology_hold: Span,
    /// How long duplicates of a message are recognised: DUP_HOLD_TIME, 30 s.
    pub duplicate_hold: Span,
    /// How long a link that the MAC found broken is not used, whatever HELLOs say: L_LOST_LINK_time
    /// is set that far ahead (§13), 6 s. With zero the next HELLO over the link can make it
    /// symmetric again.
    pub lost_hold: Span,
    /// Willingness of the node to forward packets: 0 (never) to 7 (always), 3 by default.
    pub willingness: u8,
}

impl Default for OlsrSettings {
    fn default() -> Self {
        OlsrSettings {
            hello_interval: Span::millis(2_000),
            tc_interval: Span::millis(5_000),
            neighbour_hold: Span::millis(6_000),
            topology_hold: Span::millis(15_000),
            duplicate_hold: Span::millis(30_000),
            lost_hold: Span::millis(6_000),
            willingness: WILL_DEFAULT,
        }
    }
}

/// The OLSR router of one node.
#[derive(Clone, Debug)]
pub struct Olsr {
    node: Node,
    settings: OlsrSettings,
    neighbours: Neighbours,
    topology: Topology,
    /// The duplicate set (§3.4): D_time by D_addr and D_seq_num. With one interface a tuple means
    /// that the message has been considered for forwarding.
    duplicates: BTreeMap<(Node, u16), Time>,
    table: Table,
    /// Whether the routing table has to be computed again.
    table_stale: bool,
    mprs_stale: bool,
    /// When the first tuple expires.
    expiry: Time,
    next_hello: Time,
    next_tc: Time,
    /// The neighbours that the last TC advertised, and its ANSN.
    advertised: Vec<Node>,
    ansn: u16,
    /// Until when empty TCs are sent, because other nodes still hold the last TC.
    empty_tcs_until: Time,
    message_number: u16,
    packet_number: u16,
    /// Messages for the next packet, and whether it gets a TC.
    pending: Vec<OlsrMessage>,
    tc_due: bool,
}

impl Olsr {
    /// A router that starts at time zero.
    pub fn new(node: Node, settings: OlsrSettings) -> Self {
        Olsr {
            node,
            settings,
            neighbours: Neighbours::default(),
            topology: Topology::default(),
            duplicates: BTreeMap::new(),
            table: Table::default(),
            table_stale: false,
            mprs_stale: false,
            expiry: Time::NEVER,
            next_hello: Time::ZERO + first_offset(node, settings.hello_interval),
            next_tc: Time::ZERO + first_offset(node, settings.tc_interval),
            advertised: Vec::new(),
            ansn: 0,
            empty_tcs_until: Time::ZERO,
            message_number: 0,
            packet_number: 0,
            pending: Vec::new(),
            tc_due: false,
        }
    }

    /// Removes expired tuples, if there are any.
    fn expire(&mut self, now: Time) {
        if now < self.expiry {
            return;
        }
        let changed = self.neighbours.expire(now);
        self.apply(changed);
        self.table_stale |= self.topology.expire(now);
        self.expiry = self.neighbours.earliest(now).min(self.topology.earliest());
    }

    /// Notes a change by a message that is valid until then.
    fn note_change(&mut self, changed: Changed, until: Time) {
        self.apply(changed);
        self.expiry = self.expiry.min(until);
    }

    fn apply(&mut self, changed: Changed) {
        self.table_stale |= changed.routes;
        self.mprs_stale |= changed.relays;
        // §9.3: a change of the MPR selector set by a link failure causes an early TC.
        self.tc_due |= changed.selector_lost;
    }

    /// Processes a message of a packet from a neighbour (§3.4).
    fn process(&mut self, now: Time, from: Node, message: &OlsrMessage) {
        if message.ttl == 0 || message.originator == self.node {
            return; // 2.
        }
        let until = now + message.validity;
        match &message.body {
            // A HELLO is neither forwarded nor in the duplicate set (§7.1.1).
            MessageBody::Hello(_) => {
                let hold = self.settings.neighbour_hold;
                let changed = self.neighbours.on_hello(self.node, now, message, hold);
                self.note_change(changed, until);
            }
            MessageBody::Tc(tc) => {
                let name = (message.originator, message.number);
                let had = self.duplicates.get(&name).is_some_and(|until| *until > now);
                // Unless it came from a symmetric neighbour, it is neither processed (§9.5, 1.) nor
                // forwarded (§3.4.1, 1.).
                if had || !self.neighbours.is_symmetric(now, from) {
                    return;
                }
                let routes = self.topology.on_tc(now, message.originator, tc, until);
                self.note_change(Changed { routes, ..Changed::default() }, until);
                self.forward(now, from, message);
            }
        }
    }

    /// The default forwarding algorithm (§3.4.1) for a message that was not considered before.
    fn forward(&mut self, now: Time, from: Node, message: &OlsrMessage) {
        let name = (message.originator, message.number);
        self.duplicates.insert(name, now + self.settings.duplicate_hold); // 6.
        if self.neighbours.is_selector(from) && message.ttl > 1 {
            let (ttl, hops) = (message.ttl - 1, message.hops.saturating_add(1));
            self.pending.push(OlsrMessage { ttl, hops, ..message.clone() }); // 4., 7., 8.
        }
    }

    /// Adds a HELLO to the next packet (§6.2).
    fn hello(&mut self, now: Time) {
        if std::mem::take(&mut self.mprs_stale) {
            self.neighbours.select_mprs(now);
        }
        let groups = self.neighbours.groups(now);
        let hello = Hello::new(self.settings.willingness, groups);
        self.originate(MessageBody::Hello(hello), self.settings.neighbour_hold, HELLO_TTL);
    }

    /// Adds a TC to the next packet, if there are selectors or were lately (§9.3).
    fn tc(&mut self, now: Time) {
        let selectors = self.neighbours.selectors();
        if selectors != self.advertised {
            self.ansn = self.ansn.wrapping_add(1); // §9.2
            self.advertised = selectors;
        }
        if !self.advertised.is_empty() {
            self.empty_tcs_until = now + round_up_to_vtime(self.settings.topology_hold);
        } else if now >= self.empty_tcs_until {
            return;
        }
        let tc = Tc { ansn: self.ansn, advertised: self.advertised.clone() };
        self.originate(MessageBody::Tc(tc), self.settings.topology_hold, TC_TTL);
    }

    fn originate(&mut self, body: MessageBody, hold: Span, ttl: u8) {
        let (originator, number) = (self.node, self.message_number);
        self.message_number = number.wrapping_add(1);
        self.pending.push(OlsrMessage {
            originator,
            number,
            validity: round_up_to_vtime(hold),
            ttl,
            hops: 0,
            body,
        });
    }

    /// Broadcasts the pending messages in one packet (§3.3).
    fn flush(&mut self, now: Time, out: &mut Vec<Action>) {
        if std::mem::take(&mut self.tc_due) {
            self.tc(now);
        }
        if self.pending.is_empty() {
            return;
        }
        let number = self.packet_number;
        self.packet_number = number.wrapping_add(1);
        let messages = std::mem::take(&mut self.pending);
        out.push(Action::Broadcast(Message::Olsr(Packet { number, messages })));
    }

    fn table_at(&self, now: Time) -> Table {
        Table::new(self.node, now, &self.neighbours, &self.topology)
    }
}

impl RoutingProtocol for Olsr {
    fn next_hop(&mut self, now: Time, packet: PacketHeader, out: &mut Vec<Action>) -> NextHop {
        self.expire(now);
        if std::mem::take(&mut self.table_stale) {
            self.table = self.table_at(now);
        }
        self.flush(now, out);
        self.table.next(packet.destination).map_or(NextHop::Unreachable, NextHop::To)
    }

    fn on_message(&mut self, now: Time, from: Node, message: &Message, out: &mut Vec<Action>) {
        if let Message::Olsr(packet) = message {
            self.expire(now);
            for message in &packet.messages {
                self.process(now, from, message);
            }
            self.flush(now, out);
        }
    }

    fn on_link_break(&mut self, now: Time, neighbour: Node, out: &mut Vec<Action>) {
        self.expire(now);
        let OlsrSettings { lost_hold, neighbour_hold, .. } = self.settings;
        let changed = self.neighbours.on_link_break(now, neighbour, lost_hold, neighbour_hold);
        self.note_change(changed, self.neighbours.earliest(now));
        self.flush(now, out);
    }

    fn on_timer(&mut self, now: Time, out: &mut Vec<Action>) {
        self.expire(now);
        if now >= self.next_hello {
            self.next_hello = next_due(self.next_hello, self.settings.hello_interval, now);
            self.duplicates.retain(|_, until| *until > now);
            self.hello(now);
        }
        if now >= self.next_tc {
            self.next_tc = next_due(self.next_tc, self.settings.tc_interval, now);
            self.tc_due = true;
        }
        self.flush(now, out);
    }

    fn next_timer(&self) -> Time {
        self.next_hello.min(self.next_tc).min(self.expiry)
    }

    fn route_to(&self, now: Time, destination: Node) -> Option<Node> {
        if self.table_stale || now >= self.expiry {
            return self.table_at(now).next(destination);
        }
        self.table.next(destination)
    }
}

/// Time of a node's first message within an interval: different for each node, and far apart for
/// nodes with numbers close together (multiples of the golden ratio, modulo 1).
fn first_offset(node: Node, interval: Span) -> Span {
    let part = node.wrapping_mul(40_503); // 2¹⁶ / 1.618; odd, so that parts differ.
    Span((interval.0 >> 16) * u64::from(part))
}

/// The next time of a periodic message that was due at `due`.
fn next_due(due: Time, interval: Span, now: Time) -> Time {
    let next = due + interval;
    if next > now { next } else { now + interval }
}
