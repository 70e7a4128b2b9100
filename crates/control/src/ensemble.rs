//! The contract between a connection and its congestion control: events of the paths in, windows
//! of the paths out.

/// An acknowledgement of new data on one path.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Newly acknowledged data in segments (not necessarily whole).
    pub segments: f64,
    /// Smoothed round-trip time in seconds; zero while there is no sample.
    pub srtt: f64,
    /// Whether the window was what limited sending; otherwise it must not grow.
    pub cwnd_limited: bool,
    /// Which part of loss recovery the path is in.
    pub phase: Phase,
}

/// Where a path stands in loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No loss outstanding.
    Open,
    /// Fast recovery: proportional rate reduction governs sending, the window does not grow.
    Recovery,
    /// After a timeout: slow start from one segment.
    Loss,
}

/// What began a congestion event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Loss inferred from acknowledgements: fast recovery begins.
    FastRetransmit,
    /// The first retransmission timeout of a segment.
    Timeout,
    /// The same segment timed out again.
    TimeoutAgain,
}

/// The window of one path in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window; its whole part may be in flight.
    pub cwnd: f64,
    /// Slow-start threshold; infinite before the first congestion event.
    pub ssthresh: f64,
}

/// Congestion control of one connection over all of its paths.
///
/// Paths are indices from 0. A transport reports what happened on a path and then reads the
/// windows of that path, and of its siblings if the ensemble may have moved them.
pub trait Ensemble {
    /// New data was acknowledged on `path`.
    fn on_ack(&mut self, path: usize, ack: &Acked);

    /// A congestion event began on `path`.
    fn on_congestion(&mut self, path: usize, cause: Cause);

    /// Fast recovery ended on `path`.
    fn on_recovered(&mut self, path: usize);

    /// `path` joined (`true`) or left (`false`) the connection.
    fn set_member(&mut self, path: usize, member: bool);

    /// The window of `path` now.
    fn window(&self, path: usize) -> Window;
}
