//! What a controller counts: `struct ab_counters` in `bpf/guard.h`.

use crate::words::Words;

/// Counts over all sockets since the controller was loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// ACKs.
    pub acks: u64,
    /// ACKs at which the law moved the window.
    pub coupled: u64,
    /// Congestion events.
    pub losses: u64,
    /// ACKs that passed without a callback.
    pub missed: u64,
    /// Congestion states that changed without a callback.
    pub mismatches: u64,
    /// Windows and thresholds set right after a missed callback.
    pub repairs: u64,
    /// Callbacks ignored on purpose.
    pub skipped: u64,
    /// ACKs of connections with too many paths to couple.
    pub crowded: u64,
    /// Steps that were not recorded for want of room.
    pub unrecorded: u64,
}

impl std::iter::Sum for Counters {
    fn sum<I: Iterator<Item = Counters>>(all: I) -> Self {
        all.fold(Counters::default(), |a, b| Counters {
            acks: a.acks + b.acks,
            coupled: a.coupled + b.coupled,
            losses: a.losses + b.losses,
            missed: a.missed + b.missed,
            mismatches: a.mismatches + b.mismatches,
            repairs: a.repairs + b.repairs,
            skipped: a.skipped + b.skipped,
            crowded: a.crowded + b.crowded,
            unrecorded: a.unrecorded + b.unrecorded,
        })
    }
}

impl Counters {
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let mut words = Words(bytes);
        Counters {
            acks: words.u64(),
            coupled: words.u64(),
            losses: words.u64(),
            missed: words.u64(),
            mismatches: words.u64(),
            repairs: words.u64(),
            skipped: words.u64(),
            crowded: words.u64(),
            unrecorded: words.u64(),
        }
    }

    /// Names and values, in order.
    pub fn named(&self) -> [(&'static str, u64); 9] {
        [
            ("acks", self.acks),
            ("coupled", self.coupled),
            ("losses", self.losses),
            ("missed", self.missed),
            ("mismatches", self.mismatches),
            ("repairs", self.repairs),
            ("skipped", self.skipped),
            ("crowded", self.crowded),
            ("unrecorded", self.unrecorded),
        ]
    }
}
