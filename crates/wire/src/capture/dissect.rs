//! Dissects a packet into the fields of a segment that are counted.

use super::file::Packet;
use crate::tcp::{self, TcpOption};
use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TransportSlice};
use std::net::{IpAddr, SocketAddr};

/// A TCP segment, as far as its packet was captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// Source.
    pub from: SocketAddr,
    /// Destination.
    pub to: SocketAddr,
    /// Sequence number of its first byte, or of its SYN.
    pub seq: u32,
    /// Acknowledgement number, if there is one.
    pub ack: Option<u32>,
    /// SYN.
    pub syn: bool,
    /// Bytes of the IP packet.
    pub ip_bytes: u32,
    /// Bytes of payload.
    pub payload: u32,
    /// Options; `None` if they are malformed.
    pub options: Option<Vec<TcpOption>>,
}

/// Parses the headers; the first has the type `link`.
fn slice<'a>(link: i32, bytes: &'a [u8]) -> Option<LaxSlicedPacket<'a>> {
    const NULL: i32 = 0;
    const ETHERNET: i32 = 1;
    const RAW: [i32; 5] = [12, 14, 101, 228, 229]; // raw IP, IPv4, IPv6
    const LOOP: i32 = 108;
    const COOKED: i32 = 113;
    const COOKED_2: i32 = 276;
    let ether = |kind: usize, header: usize| {
        let kind = u16::from_be_bytes([*bytes.get(kind)?, *bytes.get(kind + 1)?]);
        Some(LaxSlicedPacket::from_ether_type(EtherType(kind), bytes.get(header..)?))
    };
    match link {
        ETHERNET => LaxSlicedPacket::from_ethernet(bytes).ok(),
        NULL | LOOP => LaxSlicedPacket::from_ip(bytes.get(4..)?).ok(),
        COOKED => ether(14, 16),
        COOKED_2 => ether(0, 20),
        _ if RAW.contains(&link) => LaxSlicedPacket::from_ip(bytes).ok(),
        _ => None,
    }
}

/// The segment in a packet, if it has one with complete headers.
pub(super) fn dissect(packet: &Packet<'_>) -> Option<Seen> {
    let sliced = slice(packet.link, packet.bytes)?;
    let (source, destination, headers, start, ip_bytes) = match sliced.net.as_ref()? {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let (from, to) = (header.source_addr().into(), header.destination_addr().into());
            let extensions = ip.extensions().auth.map_or(0, |auth| auth.slice().len());
            let (slice, total) = (header.slice(), u32::from(header.total_len()));
            (from, to, slice.len() + extensions, slice.as_ptr(), total)
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let from: IpAddr = header.source_addr().into();
            let extensions = ip.extensions().slice().len();
            let total = 40 + u32::from(header.payload_length());
            let to = header.destination_addr().into();
            (from, to, 40 + extensions, header.slice().as_ptr(), total)
        }
        LaxNetSlice::Arp(_) => return None,
    };
    let Some(TransportSlice::Tcp(tcp)) = &sliced.transport else {
        return None;
    };
    // A segment for offloading to the network card has no length: its length is that of the data
    // after the link's header.
    let link_header = start.addr().saturating_sub(packet.bytes.as_ptr().addr()) as u32;
    let ip_bytes = match ip_bytes <= headers as u32 {
        true => packet.length.saturating_sub(link_header),
        false => ip_bytes,
    };
    let header = tcp.header_slice().len();
    Some(Seen {
        from: SocketAddr::new(source, tcp.source_port()),
        to: SocketAddr::new(destination, tcp.destination_port()),
        seq: tcp.sequence_number(),
        ack: tcp.ack().then(|| tcp.acknowledgment_number()),
        syn: tcp.syn(),
        ip_bytes,
        payload: ip_bytes.saturating_sub((headers + header) as u32),
        options: tcp::read(tcp.options()),
    })
}
