//! Packets that arrived: a TCP segment, or the report of a router that a packet was too big.

use super::{Ecn, Endpoint, TcpSegment};
use crate::tcp;
use etherparse::{IpEcn, IpNumber, Ipv4HeaderSlice, Ipv4Slice, TcpSlice};
use std::net::Ipv4Addr;

/// A TCP segment with its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// The headers.
    pub segment: TcpSegment,
    /// The payload.
    pub payload: &'a [u8],
}

impl<'a> Received<'a> {
    /// The segment in the IPv4 packet `packet`; `None` for another protocol, a fragment, a wrong
    /// checksum, or headers that are malformed.
    pub fn read(packet: &'a [u8]) -> Option<Self> {
        let ip = Ipv4Slice::from_slice(packet).ok()?;
        let header = ip.header();
        let inside = ip.payload();
        let whole = !inside.fragmented && inside.ip_number == IpNumber::TCP;
        if !whole || header.header_checksum() != header.to_header().calc_header_checksum() {
            return None;
        }
        let tcp = TcpSlice::from_slice(inside.payload).ok()?;
        let sum = tcp.calc_checksum_ipv4(header.source(), header.destination()).ok()?;
        if sum != tcp.checksum() {
            return None;
        }
        let segment = TcpSegment {
            from: Endpoint { address: header.source_addr(), port: tcp.source_port() },
            to: Endpoint { address: header.destination_addr(), port: tcp.destination_port() },
            id: header.identification(),
            ecn: match header.ecn() {
                IpEcn::ZERO => Ecn::None,
                IpEcn::ONE | IpEcn::TWO => Ecn::Capable,
                IpEcn::THREE => Ecn::Marked,
            },
            seq: tcp.sequence_number(),
            ack: tcp.ack().then(|| tcp.acknowledgment_number()),
            syn: tcp.syn(),
            fin: tcp.fin(),
            reset: tcp.rst(),
            echo: tcp.ece(),
            reduced: tcp.cwr(),
            window: tcp.window_size(),
            options: tcp::read(tcp.options())?,
        };
        Some(Received { segment, payload: tcp.payload() })
    }

    /// Bytes that it takes in the sequence space of its sender: payload, SYN and FIN.
    pub fn sequence_bytes(&self) -> u32 {
        self.payload.len() as u32 + u32::from(self.segment.syn) + u32::from(self.segment.fin)
    }
}

/// "Fragmentation needed and DF set" (RFC 1191 §4), for a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooBig {
    /// Source of the packet that was too big.
    pub from: Endpoint,
    /// Its destination.
    pub to: Endpoint,
    /// Its sequence number.
    pub seq: u32,
    /// MTU of the next hop in bytes; zero from routers older than RFC 1191.
    pub mtu: u16,
}

impl TooBig {
    /// The report in the IPv4 packet `packet`, if it is one.
    pub fn read(packet: &[u8]) -> Option<Self> {
        const UNREACHABLE: u8 = 3;
        const TOO_BIG: u8 = 4;
        let ip = Ipv4Slice::from_slice(packet).ok()?;
        let inside = ip.payload();
        if inside.fragmented || inside.ip_number != IpNumber::ICMP {
            return None;
        }
        let (head, quoted) = inside.payload.split_first_chunk::<8>()?;
        if head[..2] != [UNREACHABLE, TOO_BIG] || !sums_up(inside.payload) {
            return None;
        }
        let original = Ipv4HeaderSlice::from_slice(quoted).ok()?;
        let ports = quoted.get(original.slice().len()..)?.first_chunk::<8>()?;
        let half = |at: usize| u16::from_be_bytes([ports[at], ports[at + 1]]);
        let end = |address: Ipv4Addr, port: u16| Endpoint { address, port };
        (original.protocol() == IpNumber::TCP).then(|| TooBig {
            from: end(original.source_addr(), half(0)),
            to: end(original.destination_addr(), half(2)),
            seq: u32::from_be_bytes([ports[4], ports[5], ports[6], ports[7]]),
            mtu: u16::from_be_bytes([head[6], head[7]]),
        })
    }
}

/// Whether the one's complement sum over `bytes`, which hold their checksum, is all ones (RFC
/// 1071).
fn sums_up(bytes: &[u8]) -> bool {
    let words = bytes.chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(*w.get(1).unwrap_or(&0)));
    let sum = words.fold(0_u32, |sum, word| {
        let sum = sum + word;
        (sum & 0xffff) + (sum >> 16)
    });
    sum == 0xffff
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::ruler;
    use crate::tcp::TcpOption;
    use proptest::prelude::*;

    fn end() -> impl Strategy<Value = Endpoint> {
        (any::<u32>(), any::<u16>())
            .prop_map(|(address, port)| Endpoint { address: address.into(), port })
    }

    fn segment() -> impl Strategy<Value = TcpSegment> {
        let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
        let numbers = (any::<u16>(), any::<u32>(), any::<Option<u32>>(), any::<u16>());
        let ecn = prop_oneof![Just(Ecn::None), Just(Ecn::Capable), Just(Ecn::Marked)];
        (end(), end(), numbers, flags, ecn, any::<(u32, u32)>()).prop_map(
            |(from, to, (id, seq, ack, window), flags, ecn, (value, echo))| TcpSegment {
                from,
                to,
                id,
                ecn,
                seq,
                ack,
                syn: flags.0,
                fin: flags.1,
                reset: flags.2,
                echo: flags.3,
                reduced: flags.4,
                window,
                options: vec![TcpOption::Timestamps { value, echo }],
            },
        )
    }

    proptest! {
        #[test]
        fn a_segment_is_read_as_it_was_written(segment in segment(), length in 0..1500_u32) {
            let payload = ruler(0, length);
            let packet = segment.encode(&payload);
            prop_assert_eq!(
                Received::read(&packet),
                Some(Received { segment, payload: &payload })
            );
        }

        #[test]
        fn a_packet_with_one_byte_changed_is_not_taken_for_the_segment(
            segment in segment(), length in 0..200_u32, at in any::<prop::sample::Index>(), by in 1..=255_u8
        ) {
            let payload = ruler(0, length);
            let mut packet = segment.encode(&payload);
            let at = at.index(packet.len());
            packet[at] ^= by;
            prop_assert_eq!(Received::read(&packet), None, "byte {}", at);
        }

        #[test]
        fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            let _ = Received::read(&bytes);
            let _ = TooBig::read(&bytes);
        }
    }

    #[test]
    fn a_report_that_a_packet_was_too_big_names_the_packet_and_the_mtu() {
        let end = |last, port| Endpoint { address: Ipv4Addr::new(10, 0, 0, last), port };
        let original = TcpSegment {
            from: end(1, 4000),
            to: end(2, 80),
            id: 1,
            ecn: Ecn::None,
            seq: 77,
            ack: Some(1),
            syn: false,
            fin: false,
            reset: false,
            echo: false,
            reduced: false,
            window: 1,
            options: Vec::new(),
        };
        let quoted = original.encode(&ruler(0, 1400));
        let mut content = vec![3, 4, 0, 0, 0, 0];
        content.extend(1280_u16.to_be_bytes());
        content.extend(&quoted[..28]);
        let words = content.chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1]));
        let sum = words.sum::<u32>();
        let sum = !(((sum & 0xffff) + (sum >> 16)) as u16);
        content[2..4].copy_from_slice(&sum.to_be_bytes());
        let mut packet =
            super::super::ip(end(9, 0), end(1, 0), 5, Ecn::None, IpNumber::ICMP, content.len());
        packet.extend(&content);
        let (from, to) = (original.from, original.to);
        assert_eq!(TooBig::read(&packet), Some(TooBig { from, to, seq: 77, mtu: 1280 }));
        packet[30] ^= 1;
        assert_eq!(TooBig::read(&packet), None);
    }
}
