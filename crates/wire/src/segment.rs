//! Segments as values: what the simulator carries from one endpoint of a path to the other.
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

    /// Whether there is no byte in it.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

/// Single bits: those of explicit congestion notification (RFC 3168), two of the IP header and two of
/// TCP's, those of a handshake, and those that say what kind of packet it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// No bit is set.
    pub const NONE: Flags = Flags(0);
    /// The sender understands marks (ECT).
    pub const CAPABLE: Flags = Flags(1);
    /// A queue has marked the packet (CE).
    pub const MARKED: Flags = Flags(2);
    /// The receiver has seen a mark (ECE).
    pub const ECHO: Flags = Flags(4);
    /// The sender has reduced its window (CWR).
    pub const REDUCED: Flags = Flags(8);
    /// A connection or a path is asked for, or this is granted (SYN; no payload).
    pub const SYN: Flags = Flags(16);
    /// A join is confirmed by its initiator, or this is acknowledged: the third and the fourth packet of a
    /// join (RFC 8684 §3.2; no payload).
    pub const CONFIRM: Flags = Flags(32);

    /// It is a datagram: it is not acknowledged, but may be sent back.
    pub const DATAGRAM: Flags = Flags(64);
    /// TFRC: data whose receiver reports once in a round trip, or such a report.
    pub const RATED: Flags = Flags(128);
    /// A combination of segments, or an acknowledgement of such (network coding).
    pub const CODED: Flags = Flags(256);

    /// Whether all bits of `other` are set.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// With the bits of `other`.
    pub fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// A data segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// First payload byte in the path's sequence space; in TFRC, the number of the packet on the path; of a
    /// combination, which segments it combines, and how.
    pub seq: u64,
    /// The same byte in the connection's data sequence space; of a combination, that of its segments' bytes.
    pub dsn: u64,
    /// Payload bytes, at least 1 but in a handshake.
    pub len: u32,
    /// TFRC: the sender's round-trip time in microseconds, zero before it has one and in other transports. Of a
    /// combination, that of its segments' lengths.
    pub rtt_us: u32,
    /// When the sender sent it (timestamp option, RFC 7323).
    pub stamp: Time,
    /// Whether it can be marked, is marked, says that the window was reduced, or opens a path.
    pub flags: Flags,
}

/// An acknowledgement of one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Next byte that the path's receiver expects; on a coded path, the number of the first segment that it has
    /// not seen.
    pub ack: u64,
    /// Next byte that the connection's receiver expects.
    pub data_ack: u64,
    /// Right edge of the connection's receive window, as a data sequence number.
    pub window_edge: u64,
    /// Time stamp of the segment that caused this ACK (RFC 7323 §4.3).
    pub echo: Time,
    /// How long that segment was on its way, if the sender wants to know: the receiver's stamp less the
    /// sender's, up to an offset of their clocks; zero otherwise.
    pub transit: Span,
    /// What arrived above `ack`; the first block may be one that arrived again (RFC 2883). On a coded path there is
    /// one block: from the degrees of freedom received to the number of segments that any combination covered.
    pub sacks: Sacks,
    /// Whether it echoes a mark, or answers a handshake.
    pub flags: Flags,
}

/// What a receiver of TFRC reports beside an acknowledgement (RFC 5348 §3.2.2). Its loss intervals are
/// reported as they are (RFC 4342 §8.6), and so is what the connection misses (Tse 2006, §3.2.2).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// How long before the report the packet arrived whose stamp the acknowledgement echoes (`t_delay`).
    pub delay: Span,
    /// Segments per second that arrived on the path in the last round trip (`X_recv`).
    pub received: f64,
    /// Loss events on the path so far.
    pub events: u64,
    /// Loss intervals of the path in packets, the open one first.
    pub intervals: Vec<u64>,
    /// The first bytes of the connection that are missing below others that have arrived.
    pub missing: Vec<Range>,
}

impl Report {
    /// Bytes that it adds to a packet: four each for delay, rate and loss events, eight for a pair of numbers.
    pub fn bytes(&self) -> u32 {
        12 + 4 * self.intervals.len() as u32 + 8 * self.missing.len() as u32
    }
}

/// How many SACK blocks fit beside a timestamp option (RFC 2018 §3).
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

    /// Whether there is none.
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
