//! Ad-hoc routing: to which neighbour a packet goes next.
//!
//! A [`Protocol`] is the router of one node, driven by calls: packets to route, messages heard,
//! links that the MAC found broken, its timer. It answers with [`Action`]s. It sees no packet's
//! content, reads no clock and draws no random number: whoever carries its messages delays
//! broadcasts at random, so that neighbours do not repeat one at once (RFC 5148).

pub mod aodv;
mod olsr;
#[cfg(test)]
pub(crate) mod testing;

pub use aodv::{Aodv, AodvSettings};
pub use olsr::{Olsr, OlsrSettings};

use units::Time;

/// A node of an ad-hoc network: the number of its station.
pub type Node = u16;

/// Bytes of the UDP and IP headers before a message.
pub(crate) const UDP_IP_BYTES: u32 = 28;

/// A message between neighbours.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Of AODV.
    Aodv(aodv::Message),
    /// Of OLSR.
    Olsr(olsr::Packet),
}

impl Message {
    /// Its length on the air with UDP and IP headers.
    pub fn bytes(&self) -> u32 {
        match self {
            Message::Aodv(message) => UDP_IP_BYTES + message.bytes(),
            Message::Olsr(packet) => UDP_IP_BYTES + packet.bytes(),
        }
    }
}

/// What a router wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A message to all neighbours, not acknowledged.
    Broadcast(Message),
    /// A message to one neighbour, acknowledged by the MAC.
    Unicast {
        /// The neighbour.
        to: Node,
        /// What it is told.
        message: Message,
    },
    /// There is a route now: packets that wait for one to `to` are routed again.
    Release {
        /// The destination.
        to: Node,
    },
    /// No route was found: packets that wait for one to `to` are dropped.
    Abandon {
        /// The destination.
        to: Node,
    },
}

/// A packet that a node has to send on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transit {
    /// Where it comes from.
    pub source: Node,
    /// Where it goes.
    pub destination: Node,
    /// The neighbour that it came from; none at its source.
    pub previous: Option<Node>,
}

/// Where a packet goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// To this neighbour.
    To(Node),
    /// Nowhere yet: it waits for [`Action::Release`] or [`Action::Abandon`] of its destination.
    Wait,
    /// Nowhere: it is dropped.
    Unreachable,
}

/// The router of one node.
pub trait Protocol {
    /// Where a packet goes next that this node has, its own or another's; never called for its own
    /// address.
    fn next_hop(&mut self, now: Time, packet: Transit, out: &mut Vec<Action>) -> Hop;

    /// A message came from a neighbour.
    fn on_message(&mut self, now: Time, from: Node, message: &Message, out: &mut Vec<Action>);

    /// A packet of a neighbour has arrived here, at its destination.
    fn on_arrival(&mut self, _now: Time, _packet: Transit) {}

    /// The MAC has given up a message to `neighbour`; [`Protocol::on_broken`] follows.
    fn on_unheard(&mut self, _now: Time, _neighbour: Node, _message: &Message) {}

    /// The MAC has given up a packet or a message to `neighbour`.
    fn on_broken(&mut self, now: Time, neighbour: Node, out: &mut Vec<Action>);

    /// Does what is due.
    fn on_timer(&mut self, now: Time, out: &mut Vec<Action>);

    /// When [`Protocol::on_timer`] is to be called next.
    fn next_timer(&self) -> Time;

    /// The neighbour over which it would send to `destination` now; changes nothing.
    fn known(&self, now: Time, destination: Node) -> Option<Node>;
}
