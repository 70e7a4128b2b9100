//! Messages of AODV (RFC 3561 §5), as values.

use crate::routing::Node;
use units::Span;

/// A message of AODV.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Asks for a route to a destination.
    Rreq(Rreq),
    /// Answers with a route.
    Rrep(Rrep),
    /// Reports destinations that became unreachable.
    Rerr(Rerr),
    /// Announces its sender to neighbours: a RREP about itself (§6.9).
    Hello(Hello),
}

impl Message {
    /// Its length without UDP and IP headers.
    pub fn bytes(&self) -> u32 {
        match self {
            Message::Rreq(_) => 24,                                       // §5.1
            Message::Rrep(_) | Message::Hello(_) => 20,                   // §5.2
            Message::Rerr(rerr) => 4 + 8 * rerr.unreachable.len() as u32, // §5.3
        }
    }
}

/// Route Request (§5.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rreq {
    /// Remaining hops: the TTL of the IP header.
    pub ttl: u8,
    /// Hops from the originator to the sender of this copy.
    pub hops: u8,
    /// RREQ ID; identifies the RREQ together with the originator.
    pub id: u32,
    /// The destination of the route.
    pub destination: Node,
    /// Newest known sequence number of the destination; `None` is flag U.
    pub destination_sequence: Option<u32>,
    /// The node that needs the route.
    pub originator: Node,
    /// The originator's sequence number.
    pub originator_sequence: u32,
    /// Whether a gratuitous RREP goes to the destination (flag G).
    pub gratuitous: bool,
    /// Whether only the destination may answer (flag D).
    pub destination_only: bool,
}

/// Route Reply (§5.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rrep {
    /// Hops from the sender of this copy to the destination.
    pub hops: u8,
    /// The destination of the route.
    pub destination: Node,
    /// The destination's sequence number.
    pub destination_sequence: u32,
    /// The node that sent the RREQ.
    pub originator: Node,
    /// How long the route is valid.
    pub lifetime: Span,
}

/// Route Error (§5.3).
#[derive(Clone, Debug, PartialEq)]
pub struct Rerr {
    /// Destinations that cannot be reached over the sender any more, with their sequence numbers;
    /// at most 255.
    pub unreachable: Vec<(Node, u32)>,
}

/// A RREP that tells neighbours about its sender (§6.9).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hello {
    /// The sender's sequence number.
    pub sequence: u32,
    /// How long its neighbours may use the route to it.
    pub lifetime: Span,
}
