//! What a driver on the wire asks of a sender and tells it: the application runs, handshakes are
//! the driver's, and a peer's numbers are to be checked before they are used.

use super::Sender;
use control::CongestionController;
use units::Span;
use wire::Range;

impl<E: CongestionController> Sender<E> {
    /// The application of a [`crate::Source::Live`] has written more.
    pub fn on_written(&mut self) {
        self.unblock();
    }

    /// The handshake of `path`, which the driver made, took `rtt`: the first round-trip sample.
    pub fn on_established(&mut self, path: usize, rtt: Span) {
        self.paths[path].rtt.sample(rtt);
        self.unblock();
    }

    /// The connection's data that was sent and that the peer has not acknowledged.
    pub fn outstanding(&self) -> Range {
        Range { start: self.data_una, end: self.unsent.nxt }
    }

    /// The bytes of `path` that were sent and that the peer has not acknowledged.
    pub fn outstanding_on(&self, path: usize) -> Range {
        let board = &self.paths[path].board;
        Range { start: board.una, end: board.nxt }
    }

    /// Right edge of the peer's receive window, as a data sequence number.
    pub fn window_edge(&self) -> u64 {
        self.unsent.edge
    }
}
