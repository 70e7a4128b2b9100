//! Drop-tail: drops packets that do not fit.

use super::{Arrival, ArrivalKind, JudgeArrival, Kind, Verdict};
use crate::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use units::{Bytes, Described, InvalidParameter, Packets, Rate, WholePackets, ensure};

/// Drop-tail; with both limits, the limit that is reached first applies.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DropTail {
    /// Largest number of waiting packets.
    #[serde(rename(serialize = "limit_packets"), serialize_with = "whole")]
    #[schemars(with = "Option<WholePackets>")]
    pub packets: Option<Packets>,
    /// Largest number of waiting bytes.
    #[serde(rename(serialize = "limit_bytes"))]
    pub bytes: Option<Bytes>,
}

/// A limit of packets as a whole number.
fn whole<S: Serializer>(limit: &Option<Packets>, serializer: S) -> Result<S::Ok, S::Error> {
    limit.map(|limit| limit.0 as u64).serialize(serializer)
}

impl DropTail {
    /// A queue of this many packets, whatever their bytes.
    pub const fn of(packets: u64) -> Self {
        DropTail { packets: Some(Packets(packets as f64)), bytes: None }
    }
}

impl Kind for DropTail {
    const DESCRIBED: Described = Described {
        names: &["droptail"],
        summary: "Drops packets that do not fit.",
        source: "RFC 7567 §2",
    };

    fn check(&self) -> Result<(), InvalidParameter> {
        let limited = self.packets.is_some() || self.bytes.is_some();
        let right = "give `packets` or `bytes`, or write \"unlimited\"";
        ensure(limited, "", "without a limit", right)
    }

    fn short(limit: u64, _: bool) -> Self {
        DropTail { bytes: Some(Bytes(limit * 1000)), ..DropTail::of(limit) }
    }
}

impl ArrivalKind for DropTail {
    type State = Limits;

    fn start(&self, _: Option<Rate>) -> Limits {
        Limits {
            packets: self.packets.map_or(u64::MAX, |limit| limit.0 as u64),
            bytes: self.bytes.map_or(u64::MAX, |limit| limit.0),
        }
    }
}

/// Limits on the waiting packets; either may be missing.
#[derive(Debug)]
pub(crate) struct Limits {
    packets: u64,
    bytes: u64,
}

impl JudgeArrival for Limits {
    /// Zero with a limit of bytes: the bytes that wait are known only after the link has looked.
    fn unasked(&self) -> u32 {
        match self.bytes {
            u64::MAX => u32::try_from(self.packets).unwrap_or(u32::MAX),
            _ => 0,
        }
    }

    #[inline(always)] // runs for every hop into a queue
    fn judge(&mut self, arrival: Arrival, _: &mut impl Rng) -> Verdict {
        let Arrival { now, bytes, backlog, .. } = arrival;
        let waits = backlog.idle_since > now;
        let full = backlog.packets >= self.packets || backlog.bytes + u64::from(bytes) > self.bytes;
        if waits && full { Verdict::Drop } else { Verdict::Accept }
    }
}
