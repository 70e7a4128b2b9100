//! The emulator's view of a packet, and its form inside the links.

use crate::report::Reason;

/// A packet inside the network: 16 plain bytes; its contents are in the slab.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Packet {
    /// Length of the IP packet.
    pub(crate) bytes: u16,
    /// The second byte of its header: six bits of DSCP (RFC 2474 §3), two of ECN (RFC 3168 §5).
    pub(crate) traffic: u8,
    /// Whether a queue has marked it.
    pub(crate) marked: bool,
    /// The slot of its contents.
    pub(crate) slot: u32,
    /// Its route.
    pub(crate) route: u32,
    /// Its position on its route, an index into the hops.
    pub(crate) hop: u32,
}

impl network::Packet for Packet {
    fn bytes(&self) -> u32 {
        u32::from(self.bytes)
    }

    fn path(&self) -> u32 {
        self.route / 2 // both directions of a path
    }

    fn ecn_capable(&self) -> bool {
        self.traffic & CE != 0
    }

    fn mark(&mut self) {
        self.marked = true;
    }

    fn lower_effort(&self) -> bool {
        self.traffic >> 2 == LE
    }
}

/// The DSCP of packets of lower effort (RFC 8622 §4).
const LE: u8 = 1;

/// The value of the ECN field for congestion experienced (CE).
const CE: u8 = 3;

/// Writes CE into an IPv4 header accepted by [`parse`], and corrects its checksum (RFC 1624 eq. 3).
pub(crate) fn mark(bytes: &mut [u8]) {
    let before = u16::from_be_bytes([bytes[0], bytes[1]]);
    bytes[1] |= CE;
    let after = u16::from_be_bytes([bytes[0], bytes[1]]);
    let checksum = u16::from_be_bytes([bytes[10], bytes[11]]);
    let mut sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    bytes[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

/// The fields that the emulator needs of the headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Length of the IP packet by its header, in bytes.
    pub(crate) total: u32,
    /// Source port.
    pub(crate) source: u16,
    /// Destination port.
    pub(crate) destination: u16,
    /// DSCP and ECN, the second byte.
    pub(crate) traffic: u8,
}

const TCP: u8 = 6;
const UDP: u8 = 17;
/// "More fragments", and the 13 bits of the fragment's offset.
const FRAGMENT: u16 = 0x3fff;

/// Parses the headers of an IPv4 packet with TCP or UDP inside (RFC 791, 9293, 768). Ports are the
/// first four bytes of both.
pub(crate) fn parse(bytes: &[u8]) -> Result<Header, Reason> {
    let word = |at: usize| match bytes.get(at..at + 2) {
        Some(&[high, low]) => Ok(u16::from_be_bytes([high, low])),
        _ => Err(Reason::Foreign),
    };
    let first = *bytes.first().ok_or(Reason::Foreign)?;
    let header = 4 * usize::from(first & 0xf);
    let protocol = *bytes.get(9).ok_or(Reason::Foreign)?;
    let known = matches!(protocol, TCP | UDP);
    if first >> 4 != 4 || header < 20 || !known {
        return Err(Reason::Foreign);
    }
    if word(6)? & FRAGMENT != 0 {
        return Err(Reason::Fragment); // only the first fragment has ports
    }
    let (source, destination) = (word(header)?, word(header + 2)?);
    let traffic = word(0)? as u8;
    Ok(Header { total: u32::from(word(2)?), source, destination, traffic })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An IPv4 packet of `bytes` with `options` words of options; without checksums, which are not
    /// read.
    pub(crate) fn built(
        protocol: u8,
        options: u8,
        source: u16,
        destination: u16,
        bytes: u16,
    ) -> Vec<u8> {
        let mut packet = vec![0; usize::from(bytes)];
        packet[0] = 0x40 | (5 + options);
        packet[2..4].copy_from_slice(&bytes.to_be_bytes());
        packet[6] = 0x40; // "don't fragment"
        packet[9] = protocol;
        let ports = 20 + 4 * usize::from(options);
        packet[ports..ports + 2].copy_from_slice(&source.to_be_bytes());
        packet[ports + 2..ports + 4].copy_from_slice(&destination.to_be_bytes());
        packet
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn the_start_of_a_packet_alone_never_makes_the_parser_panic(
            options in 0u8..=10, cut in 0usize..80, protocol in any::<u8>(),
        ) {
            let _ = parse(&built(protocol, options, 1, 2, 80)[..cut]);
        }

        #[test]
        fn the_ports_of_tcp_and_udp_are_found_behind_any_options(
            tcp in any::<bool>(), options in 0u8..=10, source in any::<u16>(),
            destination in any::<u16>(), bytes in 80u16..2000,
        ) {
            let protocol = if tcp { TCP } else { UDP };
            let packet = built(protocol, options, source, destination, bytes);
            let expected = Header { total: u32::from(bytes), source, destination, traffic: 0 };
            prop_assert_eq!(parse(&packet), Ok(expected));
        }
    }

    /// The checksum of an IPv4 header: the ones' complement of the sum of its words.
    pub(crate) fn checksum(header: &[u8]) -> u16 {
        let words = header.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
        let sum: u32 = words.sum();
        !((sum & 0xffff) + (sum >> 16)) as u16
    }

    proptest! {
        #[test]
        fn a_marked_packet_has_ce_and_a_right_checksum(
            tos in any::<u8>(), bytes in 40u16..1500, ttl in any::<u8>(),
        ) {
            let mut packet = built(TCP, 0, 1, 2, bytes);
            (packet[1], packet[8]) = (tos, ttl);
            let right = checksum(&packet[..20]);
            packet[10..12].copy_from_slice(&right.to_be_bytes());
            prop_assert_eq!(parse(&packet).unwrap().traffic, tos);
            mark(&mut packet);
            prop_assert_eq!((packet[1], checksum(&packet[..20])), (tos | 3, 0));
        }
    }

    #[test]
    fn fragments_and_other_protocols_are_told_apart_from_packets_of_a_user() {
        let mut packet = built(TCP, 0, 1, 2, 60);
        packet[6] = 0x20;
        assert_eq!(parse(&packet), Err(Reason::Fragment));
        (packet[6], packet[7]) = (0, 1);
        assert_eq!(parse(&packet), Err(Reason::Fragment));
        assert_eq!(parse(&built(1, 0, 1, 2, 60)), Err(Reason::Foreign));
        let mut router_solicitation = [0; 48];
        router_solicitation[0] = 0x60;
        assert_eq!(parse(&router_solicitation), Err(Reason::Foreign));
    }
}
