//! Standard slow start of TCP: one segment for each one acknowledged, until ssthresh or a loss.
//!
//! Source: RFC 5681 §3.1, with the limits of RFC 3465 on the segments that one ACK counts for.

use super::{SlowStart, Step, ack_limit};
use crate::Acked;
use crate::kind::{Described, Kind};

/// `w += 1` for each acknowledged segment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Standard;

impl SlowStart for Standard {
    #[inline(always)] // runs for every ACK
    fn on_ack(&mut self, ack: &Acked) -> Step {
        Step { limit: ack_limit(ack.phase), growth: Some(1.0) }
    }
}

impl Kind for Standard {
    const DESCRIBED: Described = Described {
        names: &["standard"],
        summary: "TCP's own slow start, until ssthresh or a loss.",
        formula: "growth 1; an ACK counts for at most 2 segments, after a timeout for 1",
        source: "RFC 5681 §3.1; RFC 3465 §2.2 and §2.3",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(Standard);
}
