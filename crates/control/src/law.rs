//! The trait of congestion-avoidance laws, and the drift of a law.

use crate::{Acked, See};

/// The state that one path of a connection last published; `N` is the law's memory of the path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathView<N = ()> {
    /// Congestion window in segments; in recovery the window that recovery will end with.
    pub cwnd: f64,
    /// Smoothed round-trip time in seconds; zero before the first sample.
    pub srtt: f64,
    /// The law's own memory of this path.
    pub note: N,
    /// Whether the path counts: established, allowed to send, with a round-trip sample.
    pub usable: bool,
}

impl<N> PathView<N> {
    /// The path's rate `x = w / rtt` in segments per second.
    pub fn rate(&self) -> f64 {
        self.cwnd / self.srtt
    }
}

/// See [`Law::terms`]; each law defines its two numbers.
pub type Terms = [f64; 2];

/// Floor of ssthresh in segments for an uncoupled path (RFC 5681 eq. 4).
pub const SINGLE_PATH_SSTHRESH: f64 = 2.0;

/// The congestion-avoidance rule of one algorithm: a pure function of the state that the paths
/// published.
///
/// `me` indexes `paths` and is usable whenever the shell calls.
pub trait Law: Clone + core::fmt::Debug {
    /// The law's memory of one path: kept by the shell, published to the sibling paths. `()` for a
    /// law without memory.
    type Note: Copy + Default + PartialEq + core::fmt::Debug;

    /// Segments that the window of `me` gains for one acknowledged segment; may be negative.
    fn growth(&self, me: usize, paths: &[PathView<Self::Note>]) -> f64;

    /// Whether [`Law::growth_of`] is cheaper than [`Law::growth`] over many paths.
    const TERMS: bool = false;

    /// A usable path's terms of the sums and maxima in [`Law::growth`]. The shell caches them until
    /// the path publishes a change.
    fn terms(&self, _path: &PathView<Self::Note>) -> Terms {
        [0.0; 2]
    }

    /// The same number as [`Law::growth`], bit by bit, from the terms of all paths; those of a path
    /// that is not usable are zero.
    fn growth_of(
        &self,
        me: usize,
        paths: &[PathView<Self::Note>],
        _terms: impl Iterator<Item = Terms>,
    ) -> f64 {
        self.growth(me, paths)
    }

    /// The window of `me`, in segments, after one congestion event. The shell applies the floor.
    fn backoff(&self, me: usize, paths: &[PathView<Self::Note>]) -> f64 {
        paths[me].cwnd / 2.0
    }

    /// Whether paths influence each other. Uncoupled paths keep single-path TCP's ssthresh floor.
    fn coupled(&self) -> bool {
        true
    }

    /// The note of a path that has just joined.
    fn new_note(&self) -> Self::Note {
        Self::Note::default()
    }

    /// Smallest ssthresh of a path in segments while the law sees several. A law that changes only
    /// the increase keeps the floor of RFC 5681 eq. 4.
    fn min_ssthresh(&self) -> f64 {
        SINGLE_PATH_SSTHRESH
    }

    /// Updates the note: new data was acknowledged.
    fn note_acked(&self, _note: &mut Self::Note, _ack: &Acked) {}

    /// Updates the note: a congestion event began.
    fn note_lost(&self, _note: &mut Self::Note) {}

    /// Updates the note: a retransmission timed out again, within the congestion event of the first
    /// timeout.
    fn note_lost_again(&self, _note: &mut Self::Note) {}

    /// Updates the note: the last congestion event was spurious; `before` is the note from before
    /// that event.
    fn note_undone(&self, note: &mut Self::Note, before: Self::Note) {
        *note = before;
    }

    /// Passes the law's quantities for `me`, beyond window and round trip, to `see`: names, as in
    /// [`CongestionController::observe`](crate::CongestionController::observe), and values.
    fn observe(&self, _me: usize, _paths: &[PathView<Self::Note>], _see: See<'_>) {}

    /// The note in the steady state at loss probability `loss` and a round trip of `rtt` seconds,
    /// for theory.
    fn steady_note(&self, _loss: f64, _rtt: f64) -> Self::Note {
        self.new_note()
    }
}

/// The usable paths: those that every sum and maximum of a law runs over.
pub fn usable<N>(paths: &[PathView<N>]) -> impl Iterator<Item = &PathView<N>> + Clone {
    paths.iter().filter(|path| path.usable)
}

/// Expected change of `me`'s window, in segments, for each segment sent on it, when a fraction
/// `loss` of segments starts a congestion event: `growth − loss · (w − backoff)`.
///
/// This is the small-loss convention of the papers (`1 − p ≈ 1`), and no floor applies, so its
/// roots are the fixed points that the papers compute.
pub fn drift<L: Law>(law: &L, me: usize, paths: &[PathView<L::Note>], loss: f64) -> f64 {
    law.growth(me, paths) - loss * (paths[me].cwnd - law.backoff(me, paths))
}
