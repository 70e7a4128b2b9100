//! Coded paths: random linear network coding between a path's TCP and the network (Sundararajan et
//! al., "Network coding meets TCP", Proc. IEEE 99, 2011; per subflow in Xue et al., TVT 2017).
//!
//! ```text
//!   Path (TCP) ─ segments ─► Coder ─ combinations ─► network ─► Listener ─ segments ─► reassembly
//!              ◄─ bytes seen ─     ◄─── numbers of segments seen ───
//! ```
//!
//! TCP on such a path sends segments and gets acknowledgements of bytes that were *seen*: a lost
//! combination is one degree of freedom less, which the next redundant combination restores.
//! Coefficients and elimination are real. Instead of payload a simulation combines the data
//! sequence number and the length of each segment, and decoding returns these numbers.

mod adaptation;
mod coder;
mod listener;
mod receiver;
mod sender;

use coding::{Acknowledgement, Combination, Header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{InvalidParameter, ValidRange, ensure};
use wire::CodedAck;

use coder::Coder;
pub use listener::Heard;
use listener::Listener;
pub use receiver::Receiver;
pub use sender::{Answer, Sender, Sent};

/// Network coding of a path (Sundararajan et al. 2011; Xue et al. 2017).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Coding {
    /// R: combinations sent for each segment. At least 1/(1 − p) makes up for a loss of p.
    #[schemars(extend("range" = REDUNDANCY.right))]
    pub redundancy: f64,
    /// W: number of segments that a combination covers; it covers the newest ones.
    #[serde(default = "six")]
    #[schemars(extend("range" = WINDOW.right))]
    pub window: u8,
    /// Largest redundancy, if it adapts: it begins with `redundancy` and then follows 1/(1 − p) +
    /// 0.03, where p is the estimated loss of the path. Without `up_to` it is constant.
    #[serde(default)]
    #[schemars(extend("range" = UP_TO.right))]
    pub up_to: Option<f64>,
}

fn six() -> u8 {
    6
}

/// A loss that needs more than 10 makes a path unusable.
const REDUNDANCY: ValidRange<f64> = ValidRange {
    holds: |redundancy| (1.0..=10.0).contains(redundancy),
    right: "at least 1 (each segment is sent once), at least 1/(1 − p) against a loss of p, at most \
            10",
};

const UP_TO: ValidRange<f64> = ValidRange {
    holds: |most| (1.03..=10.0).contains(most),
    right: "at least `redundancy` and 1.03, at most 10",
};

const WINDOW: ValidRange<u8> = ValidRange {
    holds: |window| *window > 0,
    right: "W is 1 to 255: a combination covers at least the segment for which it is sent",
};

impl Coding {
    /// Checks the parameters.
    ///
    /// # Errors
    /// The first parameter that is out of range.
    pub fn check(&self) -> Result<(), InvalidParameter> {
        REDUNDANCY.check("redundancy", &self.redundancy)?;
        WINDOW.check("window", &self.window)?;
        match self.up_to {
            None => Ok(()),
            Some(most) if most < self.redundancy => ensure(false, "up_to", most, UP_TO.right),
            Some(most) => UP_TO.check("up_to", &most),
        }
    }
}

/// Bytes of the coding header: segments, coefficients, and length of the payload.
pub(crate) const CODING_HEADER_BYTES: u32 = Header::LEN as u32;

/// A combination in the format of a packet: the coding header, then the combined payload of the
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

/// The acknowledgement of a coded path in the format of a packet.
pub fn answer(ack: &CodedAck) -> Vec<u8> {
    let CodedAck { first_unseen, received, covered, .. } = *ack;
    let mut packet = Vec::with_capacity(Acknowledgement::LEN);
    Acknowledgement { first_unseen, rank: received, highest: covered }.encode(&mut packet);
    packet
}

/// The combined data of a segment: its position in the connection, its length, and zeros, because
/// processors add sixteen bytes at once.
type Tag = [u8; 16];

fn tag(dsn: u64, len: u32) -> Tag {
    let mut tag = Tag::default();
    tag[..8].copy_from_slice(&dsn.to_be_bytes());
    tag[8..12].copy_from_slice(&len.to_be_bytes());
    tag
}

fn untag(tag: Tag) -> (u64, u32) {
    let number = |bytes: &[u8]| bytes.iter().fold(0, |high, byte| high << 8 | u64::from(*byte));
    (number(&tag[..8]), number(&tag[8..12]) as u32)
}
