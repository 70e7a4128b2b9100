//! OLSR, the Optimized Link State Routing Protocol (RFC 3626).
//!
//! A node broadcasts HELLOs, by which neighbours learn of each other and of their neighbours in
//! turn. Each chooses some of its neighbours as multipoint relays (MPRs), so that these reach all
//! nodes two hops away. Who is chosen tells all the network by whom, in TC messages, which only
//! relays forward. From neighbours, their neighbours and what TCs say follow shortest ways to all
//! nodes, before anybody asks for one.
//!
//! What comes in goes through [`neighbours`] (links, 2-hop neighbours, relays, selectors) and
//! [`topology`] (TCs, routing table); [`mpr`] is the choice of relays, [`message`] has the packets.
//! Hold times are looked at when something happens, and the table is computed when somebody asks
//! for a route after a change.
//!
//! What the RFC has and this has not:
//!
//! * several interfaces of a node: no MID messages (§5), no UNSPEC_LINK, no list of interfaces in
//!   the duplicate set;
//! * networks behind a node: no HNA messages (§12);
//! * link hysteresis (§14), redundant topology information (§15: TC_REDUNDANCY is 0) and redundant
//!   relays (§16: MPR_COVERAGE is 1);
//! * fragments: a message is as long as it has to be (§6.2 and §9.3 let it be partial);
//! * the additional HELLO when the MPR set has changed (§8.5: MAY);
//! * waiting to send several messages together (§3.5): those due at once go in one packet, and
//!   whoever carries packets adds the jitter;
//! * messages of unknown types, which the RFC has forwarded (§3.4), and Htime, which nobody reads
//!   (its bytes are there).
//!
//! Where the RFC leaves it open: the first HELLO and the first TC come at a time of the interval
//! that differs from node to node; a lost MPR selector is told at once, by an early TC (§9.3).
//! Where this differs: the ANSN of an empty TC is remembered ([`topology`]), a link that the MAC
//! found broken comes back by a HELLO only, and who has no symmetric link is no MPR selector
//! ([`neighbours`]).

mod message;
mod mpr;
mod neighbours;
#[cfg(test)]
mod tests;
mod topology;

use super::{Action, Hop, Message, Node, Protocol, Transit};
pub(super) use message::Packet;
use message::{Body, Envelope, Hello, Tc, sayable};
use neighbours::{Changed, Neighbours};
use std::collections::BTreeMap;
use topology::{Table, Topology};
use units::{Span, Time};

/// Never carries others' packets (§18.8).
const WILL_NEVER: u8 = 0;
/// §18.8.
const WILL_DEFAULT: u8 = 3;
/// Is a relay of all neighbours (§18.8).
const WILL_ALWAYS: u8 = 7;
/// A HELLO is for neighbours (§6.2).
const HELLO_TTL: u8 = 1;
/// A TC is for all (§9.3).
const TC_TTL: u8 = 255;

/// Settings of [`Olsr`]; the defaults are the RFC's (§18).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OlsrSettings {
    /// Time between two HELLOs of a node: HELLO_INTERVAL, 2 s. Above zero.
    pub hello_interval: Span,
    /// Time between two TCs of a node that is a relay: TC_INTERVAL, 5 s. Above zero.
    pub tc_interval: Span,
    /// How long what a HELLO says holds: NEIGHB_HOLD_TIME, 6 s. Messages can say 62.5 ms to 3,968
    /// s, in steps of at most a sixteenth (§18.3); what is between two steps is rounded up.
    pub neighbour_hold: Span,
    /// How long what a TC says holds: TOP_HOLD_TIME, 15 s. Rounded up likewise.
    pub topology_hold: Span,
    /// How long a node remembers that it has had a message: DUP_HOLD_TIME, 30 s.
    pub duplicate_hold: Span,
    /// For how long a link that the MAC found broken is not used, whatever HELLOs say:
    /// L_LOST_LINK_time is that much later (§13), 6 s. With zero the next HELLO over the link can
    /// bring it back.
    pub lost_hold: Span,
    /// How willing the node is to carry others' packets: 0 (never) to 7 (always), 3 by default.
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
    /// The table is not that of what is known now.
    table_stale: bool,
    relays_stale: bool,
    /// Nothing that is known is over before.
    expiry: Time,
    next_hello: Time,
    next_tc: Time,
    /// What the last TC said, and its ANSN.
    advertised: Vec<Node>,
    ansn: u16,
    /// Until then empty TCs are sent, for others still believe what the last one said.
    believed_until: Time,
    message_number: u16,
    packet_number: u16,
    /// Messages that are due, and whether a TC is.
    due: Vec<Envelope>,
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
            relays_stale: false,
            expiry: Time::NEVER,
            next_hello: Time::ZERO + phase(node, settings.hello_interval),
            next_tc: Time::ZERO + phase(node, settings.tc_interval),
            advertised: Vec::new(),
            ansn: 0,
            believed_until: Time::ZERO,
            message_number: 0,
            packet_number: 0,
            due: Vec::new(),
            tc_due: false,
        }
    }

    /// Forgets what holds no longer, if anything does not.
    fn sweep(&mut self, now: Time) {
        if now < self.expiry {
            return;
        }
        let changed = self.neighbours.sweep(now);
        self.apply(changed);
        self.table_stale |= self.topology.sweep(now);
        self.expiry = self.neighbours.earliest(now).min(self.topology.earliest());
    }

    /// Something new is known that holds until then.
    fn learn(&mut self, changed: Changed, until: Time) {
        self.apply(changed);
        self.expiry = self.expiry.min(until);
    }

    fn apply(&mut self, changed: Changed) {
        self.table_stale |= changed.routes;
        self.relays_stale |= changed.relays;
        // §9.3: a change of the MPR selector set by a failure is told sooner than the interval.
        self.tc_due |= changed.selector_lost;
    }

    /// §3.4: a message came from a neighbour.
    fn on_envelope(&mut self, now: Time, from: Node, envelope: &Envelope) {
        if envelope.ttl == 0 || envelope.originator == self.node {
            return; // 2.
        }
        let until = now + envelope.validity;
        match &envelope.body {
            // A HELLO is neither forwarded nor in the duplicate set (§7.1.1).
            Body::Hello(_) => {
                let hold = self.settings.neighbour_hold;
                let changed = self.neighbours.on_hello(self.node, now, envelope, hold);
                self.learn(changed, until);
            }
            Body::Tc(tc) => {
                let name = (envelope.originator, envelope.number);
                let had = self.duplicates.get(&name).is_some_and(|until| *until > now);
                // Neither believed (§9.5, 1.) nor forwarded (§3.4.1, 1.) but from a symmetric
                // neighbour.
                if had || !self.neighbours.is_symmetric(now, from) {
                    return;
                }
                let routes = self.topology.on_tc(now, envelope.originator, tc, until);
                self.learn(Changed { routes, ..Changed::default() }, until);
                self.forward(now, from, envelope);
            }
        }
    }

    /// The default forwarding algorithm (§3.4.1) for a message that was not considered before.
    fn forward(&mut self, now: Time, from: Node, envelope: &Envelope) {
        let name = (envelope.originator, envelope.number);
        self.duplicates.insert(name, now + self.settings.duplicate_hold); // 6.
        if self.neighbours.is_selector(from) && envelope.ttl > 1 {
            let (ttl, hops) = (envelope.ttl - 1, envelope.hops.saturating_add(1));
            self.due.push(Envelope { ttl, hops, ..envelope.clone() }); // 4., 7., 8.
        }
    }

    /// §6.2.
    fn hello(&mut self, now: Time) {
        if std::mem::take(&mut self.relays_stale) {
            self.neighbours.choose_relays(now);
        }
        let groups = self.neighbours.groups(now);
        let hello = Hello { willingness: self.settings.willingness, groups };
        self.originate(Body::Hello(hello), self.settings.neighbour_hold, HELLO_TTL);
    }

    /// §9.3.
    fn tc(&mut self, now: Time) {
        let selectors = self.neighbours.selectors();
        if selectors != self.advertised {
            self.ansn = self.ansn.wrapping_add(1); // §9.2
            self.advertised = selectors;
        }
        if !self.advertised.is_empty() {
            self.believed_until = now + sayable(self.settings.topology_hold);
        } else if now >= self.believed_until {
            return;
        }
        let tc = Tc { ansn: self.ansn, advertised: self.advertised.clone() };
        self.originate(Body::Tc(tc), self.settings.topology_hold, TC_TTL);
    }

    fn originate(&mut self, body: Body, hold: Span, ttl: u8) {
        let (originator, number) = (self.node, self.message_number);
        self.message_number = number.wrapping_add(1);
        self.due.push(Envelope { originator, number, validity: sayable(hold), ttl, hops: 0, body });
    }

    /// What is due goes in one packet (§3.3).
    fn flush(&mut self, now: Time, out: &mut Vec<Action>) {
        if std::mem::take(&mut self.tc_due) {
            self.tc(now);
        }
        if self.due.is_empty() {
            return;
        }
        let number = self.packet_number;
        self.packet_number = number.wrapping_add(1);
        let messages = std::mem::take(&mut self.due);
        out.push(Action::Broadcast(Message::Olsr(Packet { number, messages })));
    }

    fn table_at(&self, now: Time) -> Table {
        Table::new(self.node, now, &self.neighbours, &self.topology)
    }
}

impl Protocol for Olsr {
    fn next_hop(&mut self, now: Time, packet: Transit, out: &mut Vec<Action>) -> Hop {
        self.sweep(now);
        if std::mem::take(&mut self.table_stale) {
            self.table = self.table_at(now);
        }
        self.flush(now, out);
        self.table.next(packet.destination).map_or(Hop::Unreachable, Hop::To)
    }

    fn on_message(&mut self, now: Time, from: Node, message: &Message, out: &mut Vec<Action>) {
        if let Message::Olsr(packet) = message {
            self.sweep(now);
            for envelope in &packet.messages {
                self.on_envelope(now, from, envelope);
            }
            self.flush(now, out);
        }
    }

    fn on_broken(&mut self, now: Time, neighbour: Node, out: &mut Vec<Action>) {
        self.sweep(now);
        let OlsrSettings { lost_hold, neighbour_hold, .. } = self.settings;
        let changed = self.neighbours.on_broken(now, neighbour, lost_hold, neighbour_hold);
        self.learn(changed, self.neighbours.earliest(now));
        self.flush(now, out);
    }

    fn on_timer(&mut self, now: Time, out: &mut Vec<Action>) {
        self.sweep(now);
        if now >= self.next_hello {
            self.next_hello = following(self.next_hello, self.settings.hello_interval, now);
            self.duplicates.retain(|_, until| *until > now);
            self.hello(now);
        }
        if now >= self.next_tc {
            self.next_tc = following(self.next_tc, self.settings.tc_interval, now);
            self.tc_due = true;
        }
        self.flush(now, out);
    }

    fn next_timer(&self) -> Time {
        self.next_hello.min(self.next_tc).min(self.expiry)
    }

    fn known(&self, now: Time, destination: Node) -> Option<Node> {
        if self.table_stale || now >= self.expiry {
            return self.table_at(now).next(destination);
        }
        self.table.next(destination)
    }
}

/// How much of an interval a node lets pass before its first message: another part for each node,
/// and parts far apart for nodes with numbers close together (multiples of the golden ratio, modulo
/// 1).
fn phase(node: Node, interval: Span) -> Span {
    let part = node.wrapping_mul(40_503); // 2¹⁶ / 1.618, odd: no two nodes have the same part.
    Span((interval.0 >> 16) * u64::from(part))
}

/// When what was due at `due` is due again.
fn following(due: Time, interval: Span, now: Time) -> Time {
    let next = due + interval;
    if next > now { next } else { now + interval }
}
