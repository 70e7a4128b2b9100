//! Counters of a controller: `struct ab_counters` in `bpf/include/intf.h`.

use zerocopy::FromBytes;

/// Counts over all sockets since the controller was loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes)]
#[repr(C)]
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
    /// Windows and thresholds corrected after a missed callback.
    pub repairs: u64,
    /// Callbacks ignored on purpose.
    pub skipped: u64,
    /// ACKs of connections with too many paths to couple.
    pub crowded: u64,
    /// Steps that did not fit the buffer of records.
    pub unrecorded: u64,
}
layout!(ab_counters, Counters);

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
