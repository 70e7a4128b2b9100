//! Segments as values: the packets that the simulator carries between the endpoints of a path.
//!
//! Sequence numbers count bytes from 0 and are 64 bits wide, so they never wrap inside the
//! laboratory. `seq` numbers the bytes of one path (subflow), `dsn` those of the connection.

use units::{Span, Time};

/// IPv4 and TCP headers with the timestamp option: 20 + 20 + 12 bytes.
pub const HEADER_BYTES: u32 = 52;

/// Bytes that the SACK option adds to an ACK that carries `blocks` of them (RFC 2018 §3, padded).
pub fn sack_option_bytes(blocks: usize) -> u32 {
    if blocks == 0 { 0 } else { 4 + 8 * blocks as u32 }
}

/// A half-open range of bytes, `start..end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

impl Range {
    /// Number of bytes.
    pub fn len(self) -> u64 {
        self.end - self.start
    }

    /// Whether the range has no bytes.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

/// Single bits: the two ECN bits of the IP header, two of TCP's header (RFC 3168), and the bits of
/// a handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// No bit is set.
    pub const NONE: Flags = Flags(0);
    /// The sender is ECN-capable (ECT).
    pub const CAPABLE: Flags = Flags(1);
    /// Congestion experienced: marked by a queue (CE).
    pub const MARKED: Flags = Flags(2);
    /// The receiver has seen a mark (ECE).
    pub const ECHO: Flags = Flags(4);
    /// The sender has reduced its window (CWR).
    pub const REDUCED: Flags = Flags(8);
    /// A connection or a path is requested, or the request is granted (SYN; no payload).
    pub const SYN: Flags = Flags(16);
    /// The initiator confirms a join, or the confirmation is acknowledged: the third and the fourth
    /// packet of a join (RFC 8684 §3.2; no payload).
    pub const CONFIRM: Flags = Flags(32);

    /// Whether all bits of `other` are set.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union with the bits of `other`.
    pub fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// A segment from one end of a path to the other.
#[derive(Clone, Debug, PartialEq)]
pub enum Segment {
    /// Data of TCP and MPTCP, towards the receiver.
    Data(Data),
    /// Acknowledgement of TCP and MPTCP.
    Ack(Ack),
    /// Data of TFRC, towards the receiver.
    TfrcData(TfrcData),
    /// Report of a TFRC receiver.
    TfrcReport(TfrcReport),
    /// Datagram of UDP, towards the receiver.
    Datagram(Datagram),
    /// Echoed datagram (RFC 862).
    Echo(Echo),
    /// A combination of segments (network coding), towards the receiver.
    Combination(Combination),
    /// Acknowledgement of combinations.
    CodedAck(CodedAck),
    /// Datagram of QUIC, towards the receiver of data.
    QuicDatagram(QuicDatagram),
    /// Datagram of QUIC, towards the sender of data.
    QuicAnswer(QuicAnswer),
}

impl Segment {
    /// Bytes after the headers that all packets of its connection have.
    pub fn bytes(&self) -> u32 {
        match self {
            Segment::Data(data) => data.len,
            Segment::Ack(ack) => sack_option_bytes(ack.sacks.blocks().len()),
            Segment::TfrcData(data) => data.len,
            Segment::TfrcReport(report) => report.bytes(),
            Segment::Datagram(datagram) | Segment::Echo(Echo(datagram)) => datagram.len,
            Segment::Combination(combination) => combination.len,
            Segment::CodedAck(_) => sack_option_bytes(1), // its numbers take the same room
            Segment::QuicDatagram(datagram) | Segment::QuicAnswer(QuicAnswer(datagram)) => {
                datagram.bytes.len() as u32
            }
        }
    }
}

/// Conversions from and to the variant of the same name.
macro_rules! variants {
    ($($kind:ident),*) => {$(
        impl From<$kind> for Segment {
            fn from(segment: $kind) -> Self {
                Segment::$kind(segment)
            }
        }

        impl TryFrom<Segment> for $kind {
            /// The segment, if it is of another variant.
            type Error = Segment;

            fn try_from(segment: Segment) -> Result<Self, Segment> {
                match segment {
                    Segment::$kind(segment) => Ok(segment),
                    other => Err(other),
                }
            }
        }
    )*};
}

variants!(
    Data,
    Ack,
    TfrcData,
    TfrcReport,
    Datagram,
    Echo,
    Combination,
    CodedAck,
    QuicDatagram,
    QuicAnswer
);

/// A data segment of TCP, or a packet of its handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// First payload byte in the path's sequence space.
    pub seq: u64,
    /// The same byte in the connection's data sequence space.
    pub dsn: u64,
    /// Payload bytes, at least 1 except in a handshake.
    pub len: u32,
    /// When the sender sent it (timestamp option, RFC 7323).
    pub stamp: Time,
    /// ECN and handshake bits.
    pub flags: Flags,
}

/// An acknowledgement of one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Next byte that the path's receiver expects.
    pub ack: u64,
    /// Next byte that the connection's receiver expects.
    pub data_ack: u64,
    /// Right edge of the connection's receive window, as a data sequence number.
    pub window_edge: u64,
    /// Time stamp of the segment that caused this ACK (RFC 7323 §4.3).
    pub echo: Time,
    /// One-way delay of that segment, if the sender needs delays: the receiver's stamp less the
    /// sender's, up to an offset of their clocks; zero otherwise.
    pub transit: Span,
    /// Ranges that arrived above `ack`; the first block may be one that arrived again (RFC 2883).
    pub sacks: Sacks,
    /// Whether it echoes a mark, or answers a handshake.
    pub flags: Flags,
}

/// A data packet of TFRC (RFC 5348 §3.2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TfrcData {
    /// Number of the packet on its path.
    pub number: u64,
    /// First payload byte in the connection's data sequence space.
    pub dsn: u64,
    /// Payload bytes, at least 1.
    pub len: u32,
    /// The sender's round-trip time in microseconds; zero before its first sample.
    pub rtt_us: u32,
    /// When the sender sent it.
    pub stamp: Time,
}

/// A report of a TFRC receiver (RFC 5348 §3.2.2). It has the loss intervals themselves (RFC 4342
/// §8.6), and the ranges that the connection misses (Tse 2006, §3.2.2).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TfrcReport {
    /// Expected number of the next packet of the path.
    pub next: u64,
    /// Next byte that the connection's receiver expects.
    pub data_ack: u64,
    /// Right edge of the connection's receive window, as a data sequence number.
    pub window_edge: u64,
    /// Time stamp of the newest packet.
    pub echo: Time,
    /// How long before the report that packet arrived (`t_delay`).
    pub delay: Span,
    /// Packets per second that arrived on the path in the last round trip (`X_recv`).
    pub received: f64,
    /// Loss events on the path so far.
    pub events: u64,
    /// Loss intervals of the path in packets, the open one first.
    pub intervals: Vec<u64>,
    /// The first byte ranges of the connection that are missing below data that has arrived.
    pub missing: Vec<Range>,
}

impl TfrcReport {
    /// Its bytes in a packet: four each for delay, rate and loss events, eight for a pair of
    /// numbers.
    pub fn bytes(&self) -> u32 {
        12 + 4 * self.intervals.len() as u32 + 8 * self.missing.len() as u32
    }
}

/// A datagram of UDP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Datagram {
    /// Offset of its first byte in the data of the application.
    pub offset: u64,
    /// Payload bytes, at least 1.
    pub len: u32,
    /// When it was sent.
    pub stamp: Time,
}

/// A datagram that its receiver has echoed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Echo(pub Datagram);

/// A combination of segments of one path. Instead of their payload the simulator combines the
/// position of their bytes in the connection, and their lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Combination {
    /// Number of the first segment.
    pub first: u32,
    /// Number of consecutive segments.
    pub count: u8,
    /// The seed of the coefficients, 24 bits.
    pub key: u32,
    /// The combination of the segments' data sequence numbers.
    pub dsn: u64,
    /// The combination of the segments' lengths.
    pub lengths: u32,
    /// Bytes after the headers: the coding header, and the length of the longest segment.
    pub len: u32,
    /// When the sender sent it.
    pub stamp: Time,
}

/// An acknowledgement of a coded path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodedAck {
    /// Number of the first segment that the receiver has not seen.
    pub first_unseen: u32,
    /// Degrees of freedom received.
    pub received: u32,
    /// One past the highest segment in any combination.
    pub covered: u32,
    /// Next byte that the connection's receiver expects.
    pub data_ack: u64,
    /// Right edge of the connection's receive window, as a data sequence number.
    pub window_edge: u64,
    /// Time stamp of the combination that caused it.
    pub echo: Time,
    /// One-way delay of that combination.
    pub transit: Span,
}

/// A datagram of QUIC with its bytes, which are encrypted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuicDatagram {
    /// Payload of UDP.
    pub bytes: Vec<u8>,
    /// The two ECN bits of the IP header.
    pub flags: Flags,
}

/// A datagram of QUIC from the receiver of data: acknowledgements, and the server's part of the
/// handshake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuicAnswer(pub QuicDatagram);

/// Number of SACK blocks that fit besides a timestamp option (RFC 2018 §3).
pub const MAX_SACKS: usize = 3;

/// Up to [`MAX_SACKS`] SACK blocks, the one with the newest segment first (RFC 2018 §4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sacks {
    blocks: [Range; MAX_SACKS],
    count: usize,
}

impl Sacks {
    /// The first [`MAX_SACKS`] of `blocks`.
    pub fn new(blocks: impl IntoIterator<Item = Range>) -> Self {
        let mut sacks = Sacks::default();
        for block in blocks.into_iter().take(MAX_SACKS) {
            sacks.blocks[sacks.count] = block;
            sacks.count += 1;
        }
        sacks
    }

    /// The first `count` of `blocks`, at most all of them.
    pub fn first(count: usize, blocks: [Range; MAX_SACKS]) -> Self {
        Sacks { blocks, count: count.min(MAX_SACKS) }
    }

    /// The blocks.
    pub fn blocks(&self) -> &[Range] {
        &self.blocks[..self.count]
    }

    /// Whether there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ack_carries_no_more_sack_blocks_than_fit_beside_the_timestamp() {
        let sacks = Sacks::new((0..5).map(|i| Range { start: 10 * i, end: 10 * i + 5 }));
        assert_eq!(sacks.blocks().len(), MAX_SACKS);
        assert_eq!(HEADER_BYTES + sack_option_bytes(MAX_SACKS), 80);
    }
}
