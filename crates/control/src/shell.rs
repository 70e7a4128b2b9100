//! The shell around a law: what all window-based controllers share.
//!
//! ```text
//!             cwnd < ssthresh                    cwnd ≥ ssthresh
//!            ┌─ slow start ─┐  reaches ssthresh  ┌─ avoidance ─┐
//!   start ──►│ +1 per segment├──────────────────►│  law.growth │
//!            └──────▲───────┘                    └───┬─────────┘
//!          timeout: │ cwnd = 1                       │ congestion: ssthresh = law.backoff
//!                   └──────── ssthresh kept ◄────────┘ recovery ends at cwnd = ssthresh
//! ```

use crate::{
    Acked, AnyLaw, Cause, CongestionController, Law, Note, PathView, Phase, Window, usable,
};
use alloc::boxed::Box;
use alloc::sync::Arc;

/// What a shell may be told; the defaults are the decisions that the project took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Smallest window in segments, at least 1.
    pub min_window: f64,
    /// Smallest slow-start threshold of coupled paths in segments, at least 1; a path that is
    /// controlled by itself has 2.
    pub min_ssthresh: f64,
    /// Window at the start, in segments.
    pub initial_window: f64,
    /// Slow-start threshold at the start, in segments; infinite unless told.
    pub initial_ssthresh: f64,
    /// At the end of slow start, whether segments left over in that ACK grow the window by the
    /// law (as Linux does) or are dropped.
    pub carry_over: bool,
    /// The path on which schemes with a base flow begin as a TCP.
    pub base: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            min_window: 1.0,
            min_ssthresh: 1.0,
            initial_window: 10.0,
            initial_ssthresh: f64::INFINITY,
            carry_over: true,
            base: 0,
        }
    }
}

/// Segments that one ACK may count for (RFC 3465 §2.2: L = 2), and after a timeout (§2.3: L = 1).
pub(crate) const ACK_LIMIT: f64 = 2.0;
pub(crate) const ACK_LIMIT_AFTER_TIMEOUT: f64 = 1.0;

/// `w += 1` for each segment in slow start, `1/w` beyond; no more than in slow start where windows are
/// fractions. For schemes without a law.
pub(crate) fn grow_as_tcp(window: &mut Window, segments: f64) {
    let quickly = segments.min((window.ssthresh - window.cwnd).max(0.0));
    window.cwnd += quickly;
    window.cwnd += (segments - quickly) / window.cwnd.max(1.0);
}

/// Floor of ssthresh for a path that is congestion-controlled by itself (RFC 5681 eq. 4).
pub(crate) const SINGLE_PATH_SSTHRESH: f64 = 2.0;

/// An ensemble that applies one law to every path.
#[derive(Clone, Debug)]
pub struct Shell {
    law: AnyLaw,
    /// Shared by the connections of a class.
    settings: Arc<Settings>,
    windows: Box<[Kept]>,
    views: Box<[PathView]>,
}

/// The window of a path, and what it was before the last congestion event, should that have been none.
#[derive(Clone, Copy, Debug)]
struct Kept {
    now: Window,
    before: Window,
    note: Note,
}

impl Shell {
    /// `paths` paths under `law`, all members, none with a round-trip sample yet.
    pub fn new(law: AnyLaw, settings: impl Into<Arc<Settings>>, paths: usize) -> Self {
        let settings = settings.into();
        let window = Window { cwnd: settings.initial_window, ssthresh: settings.initial_ssthresh };
        let view = PathView { cwnd: window.cwnd, ..PathView::default() };
        Shell {
            law,
            settings,
            windows: alloc::vec![Kept { now: window, before: window, note: view.note }; paths]
                .into(),
            views: alloc::vec![view; paths].into(),
        }
    }

    /// From now on `law` says how windows move; they stay as they are.
    pub(crate) fn govern(&mut self, law: AnyLaw) {
        self.law = law;
    }

    /// From now on the law remembers this of `path`; for schemes that know more of it than a law is told.
    pub(crate) fn annotate(&mut self, path: usize, note: Note) {
        self.views[path].note = note;
    }

    /// What the paths published last, for observation.
    pub fn views(&self) -> &[PathView] {
        &self.views
    }

    /// Whether the law sees siblings; one usable path alone is exactly Reno.
    #[inline(always)] // on the way of every ACK
    fn consults_law(&self, me: usize) -> bool {
        self.views.len() > 1 && self.views[me].usable && usable(&self.views).nth(1).is_some()
    }

    #[inline(always)] // on the way of every ACK
    fn growth(&self, me: usize) -> f64 {
        match self.consults_law(me) {
            true => self.law.growth(me, &self.views),
            false => 1.0 / self.windows[me].now.cwnd,
        }
    }

    /// The new ssthresh of `me`, floored as its way of being controlled demands.
    fn backoff(&self, me: usize) -> f64 {
        let after = match self.consults_law(me) && self.law.coupled() {
            true => self.law.backoff(me, &self.views).max(self.settings.min_ssthresh),
            false => (self.windows[me].now.cwnd / 2.0).max(SINGLE_PATH_SSTHRESH),
        };
        after.max(self.settings.min_window)
    }

    /// Slow start, then avoidance for what is left of the acknowledged segments.
    #[inline(always)] // on the way of every ACK
    fn grow(&mut self, me: usize, mut segments: f64) {
        let Window { cwnd, ssthresh } = self.windows[me].now;
        if cwnd < ssthresh {
            let room = ssthresh - cwnd;
            if segments <= room {
                return self.set(me, cwnd + segments);
            }
            self.set(me, ssthresh);
            segments -= room;
            if !self.settings.carry_over {
                return;
            }
        }
        let grown = self.windows[me].now.cwnd + segments * self.growth(me);
        self.set(
            me,
            if grown < self.settings.min_window { self.settings.min_window } else { grown },
        );
    }

    /// Sets a window and publishes it.
    fn set(&mut self, me: usize, cwnd: f64) {
        self.windows[me].now.cwnd = cwnd;
        self.views[me].cwnd = cwnd;
    }
}

impl CongestionController for Shell {
    #[inline(always)] // on the way of every ACK
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        let view = &mut self.views[path];
        view.srtt = ack.srtt;
        view.usable = ack.srtt > 0.0;
        self.law.note_acked(&mut view.note, ack.segments);
        let limit = match ack.phase {
            Phase::Open => ACK_LIMIT,
            Phase::Loss => ACK_LIMIT_AFTER_TIMEOUT,
            Phase::Recovery => return,
        };
        if ack.cwnd_limited {
            self.grow(path, ack.segments.min(limit));
        }
    }

    fn on_congestion(&mut self, path: usize, cause: Cause) {
        if cause != Cause::TimeoutAgain {
            let Kept { now, before, note } = &mut self.windows[path];
            (*before, *note) = (*now, self.views[path].note);
            self.law.note_lost(&mut self.views[path].note);
            // RFC 5681 §3.1: a retransmission that is lost again does not lower ssthresh again.
            self.windows[path].now.ssthresh = self.backoff(path);
        }
        let cwnd = match cause {
            // With a loss, what recovery ends with.
            Cause::FastRetransmit | Cause::Mark => self.windows[path].now.ssthresh,
            Cause::Timeout | Cause::TimeoutAgain => self.settings.min_window,
        };
        self.set(path, cwnd);
    }

    fn on_recovered(&mut self, path: usize) {
        self.set(path, self.windows[path].now.ssthresh);
    }

    fn undo(&mut self, path: usize) {
        let Kept { now, before, note } = &mut self.windows[path];
        self.views[path].note = *note;
        now.ssthresh = now.ssthresh.max(before.ssthresh);
        let cwnd = now.cwnd.max(before.cwnd);
        self.set(path, cwnd);
    }

    fn restart(&mut self, path: usize, window: Window) {
        self.windows[path].now.ssthresh = window.ssthresh;
        self.set(path, window.cwnd.max(self.settings.min_window));
    }

    fn set_member(&mut self, path: usize, member: bool) {
        let Settings { initial_window: cwnd, initial_ssthresh: ssthresh, .. } = *self.settings;
        let window = Window { cwnd, ssthresh };
        self.windows[path] = Kept { now: window, before: window, note: Note::default() };
        // A joining path counts from its first round-trip sample on.
        self.views[path] =
            PathView { cwnd: if member { cwnd } else { 0.0 }, ..PathView::default() };
    }

    fn window(&self, path: usize) -> Window {
        self.windows[path].now
    }
}
