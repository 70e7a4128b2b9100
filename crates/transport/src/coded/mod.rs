//! Coded paths: random linear network coding between a path's TCP and the network (Sundararajan et
//! al., "Network coding meets TCP", Proc. IEEE 99, 2011; per subflow in Xue et al., TVT 2017).
//!
//! ```text
//!   Path (TCP) ─ segments ─► Coder ─ combinations ─► network ─► Listener ─ segments ─► reassembly
//!              ◄─ bytes seen ─     ◄─── numbers of segments seen ───
//! ```
//!
//! TCP on such a path sends segments and hears of bytes that were *seen*: a lost combination is one
//! degree of freedom less, which the next redundant one makes good. Coefficients and elimination
//! are real; instead of payload a simulation combines what identifies a segment, its data sequence
//! number and its length, and gets nothing else from it than the numbers that decoding gives back.

mod coder;
mod listener;
mod receiver;
mod sender;

use coding::{Acknowledgement, Combination, Header};
use wire::CodedAck;

use coder::Coder;
pub use listener::Heard;
use listener::Listener;
pub use receiver::Receiver;
pub use sender::{Answer, Sender, Sent};

/// How a path codes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coding {
    /// R: combinations sent for each segment, 1 or more.
    pub redundancy: f64,
    /// W: segments that a combination covers at most, 1 to 255.
    pub window: u8,
}

/// Bytes of the coding header: which segments, with which coefficients, and how long the payload
/// is.
pub(crate) const CODING_HEADER_BYTES: u32 = Header::LEN as u32;

/// A combination as a packet carries it: the coding header, then the combined payload of the
/// segments with `symbols`.
pub fn packet(segment: &wire::Combination, symbols: &[Vec<u8>]) -> Vec<u8> {
    let wire::Combination { first, count, key, .. } = *segment;
    let combination = Combination { base: first, count, key };
    let payload: Vec<u8> = combination.combine(symbols.iter());
    let mut packet = Vec::with_capacity(payload.len() + Header::LEN);
    Header { combination, len: payload.len() as u16 }.encode(&mut packet);
    packet.extend(payload);
    packet
}

/// What a packet carries of the acknowledgement of a coded path.
pub fn answer(ack: &CodedAck) -> Vec<u8> {
    let CodedAck { first_unseen, received, covered, .. } = *ack;
    let mut packet = Vec::with_capacity(Acknowledgement::LEN);
    Acknowledgement { first_unseen, rank: received, highest: covered }.encode(&mut packet);
    packet
}

/// What is combined of a segment: where its bytes belong in the connection, and how many there are.
type Tag = [u8; 12];

fn tag(dsn: u64, len: u32) -> Tag {
    let mut tag = Tag::default();
    tag[..8].copy_from_slice(&dsn.to_be_bytes());
    tag[8..].copy_from_slice(&len.to_be_bytes());
    tag
}

fn untag(tag: Tag) -> (u64, u32) {
    let number = |bytes: &[u8]| bytes.iter().fold(0, |high, byte| high << 8 | u64::from(*byte));
    (number(&tag[..8]), number(&tag[8..]) as u32)
}
