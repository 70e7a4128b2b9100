//! The driver's own error and cost.

use emulator::{Lateness, LatenessMeter};

/// What the driver tells of itself.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// How late deadlines of the endpoints were met.
    pub lateness: Lateness,
    /// How long arrived packets waited, at most.
    pub waiting: Lateness,
    /// Its time on a processor, as a fraction of the elapsed time.
    pub used: f64,
    /// Ready to run but waiting, as such a fraction; `NaN` if the kernel does not report it.
    pub waited: f64,
    /// Packets sent.
    pub sent: u64,
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets for which a socket had no room.
    pub unsent: u64,
}

/// Collects a report.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    pub(crate) lateness: LatenessMeter,
    pub(crate) waiting: LatenessMeter,
    pub(crate) sent: u64,
    pub(crate) arrived: u64,
    pub(crate) unsent: u64,
}
