//! Packets as bytes: IPv4 with TCP or UDP inside, with valid checksums.

mod received;

use crate::tcp::{self, TcpOption};
use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, UdpHeader};
pub use received::{Received, TooBig};
use std::net::Ipv4Addr;

/// An address and a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint {
    /// IPv4 address.
    pub address: Ipv4Addr,
    /// Port.
    pub port: u16,
}

/// The ECN field of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not capable.
    #[default]
    None,
    /// ECT(0).
    Capable,
    /// CE: marked by a queue.
    Marked,
}

impl Ecn {
    fn bits(self) -> IpEcn {
        match self {
            Ecn::None => IpEcn::ZERO,
            Ecn::Capable => IpEcn::TWO,
            Ecn::Marked => IpEcn::THREE,
        }
    }
}

/// The header of a TCP segment, and fields of its IP header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpSegment {
    /// Source.
    pub from: Endpoint,
    /// Destination.
    pub to: Endpoint,
    /// Identification of the IP packet.
    pub id: u16,
    /// ECN bits of the IP header.
    pub ecn: Ecn,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number; only the first SYN has none.
    pub ack: Option<u32>,
    /// SYN.
    pub syn: bool,
    /// FIN.
    pub fin: bool,
    /// RST.
    pub reset: bool,
    /// ECE (RFC 3168 §6.1).
    pub echo: bool,
    /// CWR.
    pub reduced: bool,
    /// Window field of the header, already shifted.
    pub window: u16,
    /// Options in their order; they take at most [`tcp::MAX_BYTES`].
    pub options: Vec<TcpOption>,
}

/// Most payload of an IP packet with a header full of options.
pub const MAX_PAYLOAD: u32 = 65_535 - 60 - 20;

impl TcpSegment {
    /// The IP packet with this payload, which the receiver is to pass on (PSH).
    ///
    /// # Panics
    /// If the options take more than [`tcp::MAX_BYTES`], or the payload more than [`MAX_PAYLOAD`].
    pub fn encode(&self, payload: &[u8]) -> Vec<u8> {
        self.encode_as(payload, !payload.is_empty())
    }

    /// The IP packet with this payload, after which more follows: without PSH.
    ///
    /// # Panics
    /// As [`TcpSegment::encode`].
    pub fn encode_followed(&self, payload: &[u8]) -> Vec<u8> {
        self.encode_as(payload, false)
    }

    fn encode_as(&self, payload: &[u8], push: bool) -> Vec<u8> {
        let mut header = TcpHeader::new(self.from.port, self.to.port, self.seq, self.window);
        header.acknowledgment_number = self.ack.unwrap_or(0);
        header.ack = self.ack.is_some();
        header.syn = self.syn;
        header.fin = self.fin;
        header.rst = self.reset;
        header.psh = push;
        header.ece = self.echo;
        header.cwr = self.reduced;
        header.set_options_raw(&tcp::write(&self.options)).expect("options fit into a header");
        let (from, to) = (self.from.address.octets(), self.to.address.octets());
        header.checksum =
            header.calc_checksum_ipv4_raw(from, to, payload).expect("a payload fits into a packet");
        let content = header.header_len() + payload.len();
        let mut out = ip(self.from, self.to, self.id, self.ecn, IpNumber::TCP, content);
        out.extend(header.to_bytes());
        out.extend(payload);
        out
    }
}

/// The IP packet of a datagram.
///
/// # Panics
/// If the payload is more than [`MAX_PAYLOAD`].
pub fn datagram(from: Endpoint, to: Endpoint, id: u16, payload: &[u8]) -> Vec<u8> {
    let (source, destination) = (from.address.octets(), to.address.octets());
    let header = UdpHeader::without_ipv4_checksum(from.port, to.port, payload.len())
        .expect("a payload fits into a packet");
    let checksum = header
        .calc_checksum_ipv4_raw(source, destination, payload)
        .expect("a payload fits into a packet");
    let header = UdpHeader { checksum, ..header };
    let mut out = ip(from, to, id, Ecn::None, IpNumber::UDP, 8 + payload.len());
    out.extend(header.to_bytes());
    out.extend(payload);
    out
}

/// An IPv4 header for this many bytes, with room for them after it.
fn ip(from: Endpoint, to: Endpoint, id: u16, ecn: Ecn, inside: IpNumber, bytes: usize) -> Vec<u8> {
    let (source, destination) = (from.address.octets(), to.address.octets());
    let mut header = Ipv4Header {
        dscp: IpDscp::ZERO,
        ecn: ecn.bits(),
        identification: id,
        dont_fragment: true,
        time_to_live: 64,
        protocol: inside,
        source,
        destination,
        ..Ipv4Header::default()
    };
    header.set_payload_len(bytes).expect("a payload fits into a packet");
    header.header_checksum = header.calc_header_checksum();
    let mut out = Vec::with_capacity(header.header_len() + bytes);
    out.extend(header.to_bytes());
    out
}

/// Bytes `start..start + length` of the data of simulated applications: lines of 16 bytes, each of
/// which has its own offset in hexadecimal. So a copy has the bytes of its original, and a reader
/// can see the position of bytes.
pub fn ruler(start: u64, length: u32) -> Vec<u8> {
    let end = start + u64::from(length);
    let mut out = Vec::with_capacity(length as usize + 32);
    let mut line = start - start % 16;
    while line < end {
        out.extend(format!("{line:015x}\n").bytes());
        line += 16;
    }
    let skip = (start % 16) as usize;
    out.drain(..skip);
    out.truncate(length as usize);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ones_complement_sum(bytes: &[u8]) -> u16 {
        let words =
            bytes.chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(*w.get(1).unwrap_or(&0)));
        let sum = words.fold(0, |sum: u32, word| {
            let sum = sum + word;
            (sum & 0xffff) + (sum >> 16)
        });
        sum as u16
    }

    const FROM: Endpoint = Endpoint { address: Ipv4Addr::new(10, 0, 0, 1), port: 40_000 };
    const TO: Endpoint = Endpoint { address: Ipv4Addr::new(172, 16, 0, 1), port: 5201 };

    fn pseudo_header(packet: &[u8], protocol: u8) -> Vec<u8> {
        let length = (packet.len() - 20) as u16;
        [&packet[12..20], &[0, protocol], &length.to_be_bytes()[..], &packet[20..]].concat()
    }

    #[test]
    fn headers_and_contents_sum_up_to_all_ones() {
        let segment = TcpSegment {
            from: FROM,
            to: TO,
            id: 7,
            ecn: Ecn::Marked,
            seq: 1,
            ack: Some(2),
            syn: false,
            fin: false,
            reset: false,
            echo: true,
            reduced: false,
            window: 3,
            options: vec![TcpOption::Timestamps { value: 4, echo: 5 }],
        };
        for length in [0, 1, 1448] {
            let packet = segment.encode(&ruler(3, length));
            assert_eq!(packet.len(), 52 + length as usize);
            assert_eq!(ones_complement_sum(&packet[..20]), 0xffff);
            assert_eq!(ones_complement_sum(&pseudo_header(&packet, 6)), 0xffff);
            let packet = datagram(FROM, TO, 1, &ruler(0, length));
            assert_eq!(ones_complement_sum(&pseudo_header(&packet, 17)), 0xffff);
        }
    }

    #[test]
    fn a_copy_of_bytes_has_the_bytes_of_what_it_is_a_copy_of() {
        let whole = ruler(0, 100);
        assert_eq!(&whole[..32], b"000000000000000\n000000000000010\n");
        for (start, length) in [(0, 16), (5, 3), (17, 40), (31, 1), (99, 1), (50, 0)] {
            assert_eq!(ruler(start, length), whole[start as usize..][..length as usize]);
        }
    }
}
