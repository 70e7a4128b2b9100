//! Ad-hoc routing: the next hop of a packet.
//!
//! A [`RoutingProtocol`] is the router of one node, driven by calls: packets to route, messages
//! received, links that the MAC found broken, its timer. It answers with [`Action`]s. It sees no
//! packet's content, reads no clock and draws no random number: the network delays broadcasts at
//! random, so that neighbours do not repeat one at once (RFC 5148).

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

/// A routing message between neighbours.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// A message of AODV.
    Aodv(aodv::Message),
    /// A message of OLSR.
    Olsr(olsr::Packet),
}

impl Message {
    /// Its length with UDP and IP headers, in bytes.
    pub fn bytes(&self) -> u32 {
        match self {
            Message::Aodv(message) => UDP_IP_BYTES + message.bytes(),
            Message::Olsr(packet) => UDP_IP_BYTES + packet.bytes(),
        }
    }
}

/// An action that a router requests of its node.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Send a message to all neighbours, not acknowledged.
    Broadcast(Message),
    /// Send a message to one neighbour, acknowledged by the MAC.
    Unicast {
        /// The neighbour.
        to: Node,
        /// The message.
        message: Message,
    },
    /// A route to `to` was found: route the packets again that are buffered for it.
    SendBuffered {
        /// The destination.
        to: Node,
    },
    /// No route to `to` was found: drop the packets that are buffered for it.
    DropBuffered {
        /// The destination.
        to: Node,
    },
}

/// Addresses of a data packet that a node forwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketHeader {
    /// The node that originated it.
    pub source: Node,
    /// Its destination.
    pub destination: Node,
    /// The neighbour that sent it to this node; `None` at its source.
    pub previous: Option<Node>,
}

/// The next hop of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHop {
    /// It goes to this neighbour.
    To(Node),
    /// It is buffered until [`Action::SendBuffered`] or [`Action::DropBuffered`] of its
    /// destination.
    Buffer,
    /// There is no route: it is dropped.
    Unreachable,
}

/// The router of one node.
pub trait RoutingProtocol {
    /// The next hop of a packet, this node's own or another's; never called for its own address.
    fn next_hop(&mut self, now: Time, packet: PacketHeader, out: &mut Vec<Action>) -> NextHop;

    /// A routing message was received from a neighbour.
    fn on_message(&mut self, now: Time, from: Node, message: &Message, out: &mut Vec<Action>);

    /// A packet has arrived at its destination, which is this node.
    fn on_delivered(&mut self, _now: Time, _packet: PacketHeader) {}

    /// The MAC has given up a routing message to `neighbour`; [`RoutingProtocol::on_link_break`]
    /// follows.
    fn on_message_lost(&mut self, _now: Time, _neighbour: Node, _message: &Message) {}

    /// The MAC has given up a packet or a message to `neighbour`.
    fn on_link_break(&mut self, now: Time, neighbour: Node, out: &mut Vec<Action>);

    /// Sends messages and expires entries that are due.
    fn on_timer(&mut self, now: Time, out: &mut Vec<Action>);

    /// When [`RoutingProtocol::on_timer`] must be called next.
    fn next_timer(&self) -> Time;

    /// The next hop to `destination` in the routing table; changes nothing.
    fn route_to(&self, now: Time, destination: Node) -> Option<Node>;
}
