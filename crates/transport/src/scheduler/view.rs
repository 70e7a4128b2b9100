//! A scheduler's view of a connection, and its answer.

use units::{Span, Time};
use wire::Range;

/// The next data to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The connection's next new data, on this path.
    New(usize),
    /// This range of the connection's data, on this path.
    Range(usize, Range),
}

/// The state of one path for a scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PathState {
    /// Smoothed round-trip time; zero before the first sample.
    pub(crate) srtt: Span,
    /// Mean deviation of the round-trip time (RFC 6298: RTTVAR).
    pub(crate) rttvar: Span,
    /// Congestion window in bytes.
    pub(crate) cwnd: u64,
    /// Slow-start threshold in bytes; the largest number before the first congestion event.
    pub(crate) ssthresh: u64,
    /// Bytes sent and not acknowledged.
    pub(crate) outstanding: u64,
    /// Pacing rate of control for the path, in bytes/s, if it paces.
    pub(crate) pacing: Option<f64>,
    /// It belongs to the connection, and its handshake is complete.
    pub(crate) established: bool,
    /// It is used only while no other path works (RFC 8684 §3.3.8).
    pub(crate) backup: bool,
    /// Retransmission timeouts since its last ACK of new data.
    pub(crate) timeouts: u32,
}

/// The state of a connection for its scheduler.
pub(crate) trait View {
    /// The time of this choice.
    fn now(&self) -> Time;

    /// Number of paths.
    fn paths(&self) -> usize;

    /// Whether `path` could send a segment of new data now and is to be used: its window, its host
    /// and its pace leave room, it has not failed, and it is not a backup beside a working path.
    fn may_send(&self, path: usize) -> bool;

    /// The first path at or after `from` that [`View::may_send`].
    fn next_able(&self, from: usize) -> Option<usize> {
        (from..self.paths()).find(|path| self.may_send(*path))
    }

    /// As [`View::may_send`], without the check for room.
    fn is_used(&self, path: usize) -> bool;

    /// The smoothed round-trip time of `path`; zero before the first sample.
    fn srtt(&self, path: usize) -> Span;

    /// The whole state of `path`.
    fn path(&self, path: usize) -> PathState;

    /// The path that sent last.
    fn last(&self) -> usize;

    /// Payload bytes of a full segment.
    fn segment(&self) -> u64;

    /// Oldest byte that the peer's connection has not acknowledged.
    fn data_una(&self) -> u64;

    /// Next byte to send for the first time.
    fn data_nxt(&self) -> u64;

    /// End of the data written by the application.
    fn written(&self) -> u64;

    /// Right edge of the receive window.
    fn edge(&self) -> u64;

    /// Takes the connection's next new data, at most `most` bytes, for a path that sends it now or
    /// later. A shorter range consists of whole segments, except at the end of the written data.
    fn take(&mut self, most: u64) -> Option<Range>;
}
