//! What a congestion-avoidance law is, and its drift.

/// What a law remembers about one path; each law names its own slots. Kept by the shell, published
/// to the sibling paths.
pub type Note = [f64; 2];

/// What one path of a connection last published.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathView {
    /// Congestion window in segments; in recovery the window that recovery will end with.
    pub cwnd: f64,
    /// Smoothed round-trip time in seconds; zero before the first sample.
    pub srtt: f64,
    /// The law's own memory of this path.
    pub note: Note,
    /// Whether the path counts: established, allowed to send, with a round-trip sample.
    pub usable: bool,
}

impl PathView {
    /// The path's rate `x = w / rtt` in segments per second.
    pub fn rate(&self) -> f64 {
        self.cwnd / self.srtt
    }
}

/// The congestion-avoidance rule of one algorithm: pure mathematics over what the paths published.
///
/// `me` indexes `paths` and is usable whenever the shell calls.
pub trait Law {
    /// Segments that the window of `me` gains for one acknowledged segment; may be negative.
    fn growth(&self, me: usize, paths: &[PathView]) -> f64;

    /// The window of `me`, in segments, after one congestion event. The shell applies the floor.
    fn backoff(&self, me: usize, paths: &[PathView]) -> f64 {
        paths[me].cwnd / 2.0
    }

    /// Whether paths influence each other. Uncoupled paths keep single-path TCP's ssthresh floor.
    fn coupled(&self) -> bool {
        true
    }

    /// Bring the note up to date: `segments` more were acknowledged.
    fn note_acked(&self, _note: &mut Note, _segments: f64) {}

    /// Bring the note up to date: a congestion event began.
    fn note_lost(&self, _note: &mut Note) {}

    /// The note in the steady state at loss probability `loss`, for theory.
    fn steady_note(&self, _loss: f64) -> Note {
        [0.0; 2]
    }
}

/// The usable paths: those that every sum and maximum of a law runs over.
pub fn usable(paths: &[PathView]) -> impl Iterator<Item = &PathView> + Clone {
    paths.iter().filter(|path| path.usable)
}

/// Expected change of `me`'s window, in segments, for each segment sent on it, when a fraction
/// `loss` of segments starts a congestion event: `growth − loss · (w − backoff)`.
///
/// This is the small-loss convention of the papers (`1 − p ≈ 1`), and no floor applies, so its
/// roots are the fixed points that the papers compute.
pub fn drift<L: Law + ?Sized>(law: &L, me: usize, paths: &[PathView], loss: f64) -> f64 {
    law.growth(me, paths) - loss * (paths[me].cwnd - law.backoff(me, paths))
}
