//! Packets and messages between neighbours (RFC 3626 §3.3), and their lengths.

use crate::routing::Node;
use std::sync::Arc;
use units::{NANOS, Span};

/// The packet header: length and number (§3.3).
const PACKET_HEADER_BYTES: u32 = 4;
/// The message header: type, Vtime, size, originator, TTL, hop count, number (§3.3).
const MESSAGE_HEADER_BYTES: u32 = 12;
/// Htime and willingness with the reserved field before them (§6.1).
const HELLO_BYTES: u32 = 4;
/// Link code and size before the neighbours of a group (§6.1).
const GROUP_BYTES: u32 = 4;
/// ANSN with the reserved field after it (§9.1).
const TC_BYTES: u32 = 4;
/// An IPv4 address.
const ADDRESS_BYTES: u32 = 4;

/// An OLSR packet: messages that a node broadcasts together (§3.3).
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// Packet sequence number. Only link hysteresis reads it (§14).
    pub(super) number: u16,
    pub(super) messages: Vec<OlsrMessage>,
}

impl Packet {
    /// Its length without UDP and IP headers.
    pub fn bytes(&self) -> u32 {
        PACKET_HEADER_BYTES + self.messages.iter().map(OlsrMessage::bytes).sum::<u32>()
    }
}

/// A message with its header (§3.3.2).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OlsrMessage {
    pub(super) originator: Node,
    /// Message sequence number; identifies the message together with the originator.
    pub(super) number: u16,
    /// How long its content is valid: Vtime.
    pub(super) validity: Span,
    /// Time to live: remaining hops.
    pub(super) ttl: u8,
    /// Hop count.
    pub(super) hops: u8,
    pub(super) body: MessageBody,
}

impl OlsrMessage {
    fn bytes(&self) -> u32 {
        MESSAGE_HEADER_BYTES
            + match &self.body {
                MessageBody::Hello(hello) => hello.bytes(),
                MessageBody::Tc(tc) => tc.bytes(),
            }
    }
}

/// The content of a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum MessageBody {
    Hello(Hello),
    Tc(Tc),
}

/// A node's links, for its neighbours (§6.1).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hello {
    /// Willingness of the node to forward packets, 0 to 7.
    pub(super) willingness: u8,
    /// Neighbours by link code, each in one group.
    pub(super) groups: Vec<(LinkCode, Vec<Node>)>,
    /// The symmetric neighbours and relays among them, in order; all receivers share the list.
    symmetric: Arc<[Node]>,
}

impl Hello {
    /// A HELLO with each neighbour in one group.
    pub(super) fn new(willingness: u8, groups: Vec<(LinkCode, Vec<Node>)>) -> Self {
        let symmetric = groups.iter().filter(|((_, kind), _)| *kind != NeighbourType::Not);
        let mut symmetric: Vec<Node> = symmetric.flat_map(|(_, nodes)| nodes).copied().collect();
        symmetric.sort_unstable();
        Hello { willingness, groups, symmetric: symmetric.into() }
    }

    /// Neighbours that it names as symmetric or as relays, in order of their numbers.
    pub(super) fn symmetric(&self) -> &Arc<[Node]> {
        &self.symmetric
    }

    /// Whether it names `node` as a neighbour that is not symmetric.
    pub(super) fn names_as_asymmetric(&self, node: Node) -> bool {
        self.code_of(node).is_some_and(|(_, kind)| kind == NeighbourType::Not)
    }

    /// The link code of its originator's link with `node`.
    pub(super) fn code_of(&self, node: Node) -> Option<LinkCode> {
        let group = self.groups.iter().find(|(_, nodes)| nodes.contains(&node));
        group.map(|(code, _)| *code)
    }

    fn bytes(&self) -> u32 {
        let group = |nodes: &[Node]| GROUP_BYTES + ADDRESS_BYTES * nodes.len() as u32;
        HELLO_BYTES + self.groups.iter().map(|(_, nodes)| group(nodes)).sum::<u32>()
    }
}

/// Link type (§6.1.1, numbers of §18.5). UNSPEC_LINK is left out: it is for neighbours on another
/// interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LinkType {
    /// The neighbour is heard.
    Asymmetric = 1,
    /// Both hear each other.
    Symmetric = 2,
    /// The link is lost.
    Lost = 3,
}

/// Neighbour type (§6.1.1, numbers of §18.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NeighbourType {
    /// Not symmetric.
    Not = 0,
    /// Symmetric.
    Symmetric = 1,
    /// Symmetric and chosen as multipoint relay.
    Mpr = 2,
}

/// A link code: link type and neighbour type of a group of neighbours (§6.1.1).
pub(super) type LinkCode = (LinkType, NeighbourType);

/// The neighbours that an MPR advertises to the whole network (§9.1).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tc {
    /// Advertised neighbour sequence number: a greater one is newer (§19).
    pub(super) ansn: u16,
    /// In order of their numbers.
    pub(super) advertised: Vec<Node>,
}

impl Tc {
    fn bytes(&self) -> u32 {
        TC_BYTES + ADDRESS_BYTES * self.advertised.len() as u32
    }
}

/// Whether sequence number `a` is greater than `b` (§19); they wrap around after 65,535.
pub(super) fn newer(a: u16, b: u16) -> bool {
    /// Half of the RFC's MAXVALUE, which is one more than the greatest number.
    const HALF: u16 = 1 << 15;
    (a > b && a - b <= HALF) || (b > a && b - a > HALF)
}

/// The shortest time, not shorter than `span`, that the eight bits of Vtime can represent:
/// C (1 + a/16) 2ᵇ with C = 1/16 s and a and b below 16 (§18.3), at most 3,968 s. The hold times of
/// the RFC are such times.
pub(super) fn round_up_to_vtime(span: Span) -> Span {
    const C: u64 = NANOS / 16;
    let exponent = (0..16).find(|b| span.0 < (C << b) * 2).unwrap_or(15);
    let step = (C << exponent) / 16;
    Span((span.0.div_ceil(step)).clamp(16, 31 + u64::from(exponent < 15)) * step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::Message;

    fn packet(bodies: Vec<MessageBody>) -> Packet {
        let message = |body| OlsrMessage {
            originator: 1,
            number: 2,
            validity: Span::millis(6_000),
            ttl: 1,
            hops: 0,
            body,
        };
        Packet { number: 0, messages: bodies.into_iter().map(message).collect() }
    }

    #[test]
    fn messages_are_as_long_as_the_rfc_draws_them() {
        let hello = |groups| MessageBody::Hello(Hello::new(3, groups));
        let heard = (LinkType::Asymmetric, NeighbourType::Not);
        let relay = (LinkType::Symmetric, NeighbourType::Mpr);
        assert_eq!(packet(vec![hello(vec![])]).bytes(), 4 + 12 + 4);
        let two = hello(vec![(heard, vec![1]), (relay, vec![2, 3])]);
        assert_eq!(packet(vec![two.clone()]).bytes(), 4 + 12 + 4 + (4 + 4) + (4 + 8));
        let tc = MessageBody::Tc(Tc { ansn: 7, advertised: vec![4, 5, 6] });
        assert_eq!(packet(vec![tc.clone()]).bytes(), 4 + 12 + 4 + 12);
        let both = packet(vec![two, tc]);
        assert_eq!(both.bytes(), 4 + (12 + 4 + 8 + 12) + (12 + 4 + 12));
        assert_eq!(Message::Olsr(both).bytes(), 28 + 4 + 36 + 28);
    }

    #[test]
    fn a_sequence_number_is_newer_across_the_wrap_around() {
        assert!(newer(1, 0) && !newer(0, 1) && !newer(5, 5));
        assert!(newer(0, 65_535) && !newer(65_535, 0));
        assert!(newer(100, 65_000) && !newer(65_000, 100));
        // Half of the circle apart the greater number is the newer one, so that two are never both
        // newer.
        assert!(newer(32_768, 0) && !newer(0, 32_768));
        assert!(newer(40_000, 7_232) && !newer(7_232, 40_000));
    }

    #[test]
    fn vtime_says_the_hold_times_exactly_and_rounds_others_up() {
        for seconds in [2, 5, 6, 15, 30] {
            assert_eq!(
                round_up_to_vtime(Span::millis(1_000 * seconds)),
                Span::millis(1_000 * seconds)
            );
        }
        assert_eq!(round_up_to_vtime(Span::ZERO), Span(NANOS / 16));
        assert_eq!(round_up_to_vtime(Span(NANOS + 1)), Span(NANOS + NANOS / 16));
        assert_eq!(round_up_to_vtime(Span(2 * NANOS - 1)), Span(2 * NANOS));
        assert_eq!(round_up_to_vtime(Span(1 << 62)), Span(3_968 * NANOS));
    }
}
