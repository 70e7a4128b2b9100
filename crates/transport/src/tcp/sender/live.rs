//! What a driver on the wire asks of a sender and tells it: the application runs, handshakes are
//! the driver's, and a peer's numbers are to be checked before they are used.

use super::{NOBODY, Sender};
use control::{CongestionController, Phase};
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

    /// Offers the oldest data to all paths once more, a segment of it, unless a path has it
    /// outstanding: the peer's connection may lack data that a path has acknowledged.
    pub fn repeat_data(&mut self) {
        let Range { start, end } = self.outstanding();
        let missing = Range { start, end: end.min(start + u64::from(self.settings.segment())) };
        let waiting = self.reinject.iter().flat_map(|it| &it.waiting);
        let mut offered = waiting.map(|(range, _)| *range);
        let sent = self.paths.iter().any(|path| path.has_outstanding(start));
        if !missing.is_empty() && !sent && offered.all(|range| range.start != start) {
            self.unblock();
            self.reinject.get_or_insert_default().waiting.push_front((missing, NOBODY));
        }
    }

    /// Whether `path` sends again what was outstanding at a timeout.
    pub fn repairs_timeout(&self, path: usize) -> bool {
        self.paths[path].recovery.phase == Phase::Loss
    }

    /// Right edge of the peer's receive window, as a data sequence number.
    pub fn window_edge(&self) -> u64 {
        self.unsent.edge
    }
}
