//! What a law in C sees and says: `struct ab_views` in `bpf/include/views.h`, `struct ab_step` in
//! `bpf/shell.h`.

/// Most paths of a connection that is coupled.
pub const PATHS: usize = 8;

/// What a law sees of one path; a round-trip time of zero marks a place that no path has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct View {
    /// Window in segments.
    pub cwnd: u32,
    /// Smoothed round-trip time in µs.
    pub srtt: u32,
    /// Segments acknowledged since the last loss.
    pub since_loss: u32,
    /// And between the last two.
    pub between_losses: u32,
}

/// What a law sees of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Views {
    /// Usable paths.
    pub paths: u32,
    /// The path that asks, below [`PATHS`].
    pub me: u32,
    /// The paths.
    pub path: [View; PATHS],
}

/// A step of a window: what the law saw, what it said, what became of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// What the law saw.
    pub views: Views,
    /// Segments acknowledged.
    pub acked: u32,
    /// Window in whole segments, before and after.
    pub cwnd: [u32; 2],
    /// Fraction of the window in 2^-32 segments, before and after.
    pub credit: [i64; 2],
    /// Growth per acknowledged segment, in 2^-32 segments.
    pub growth: i64,
    /// Window after a congestion event in segments, not floored.
    pub backoff: i64,
}
