//! The shell around a law: what all window-based controllers share.
//!
//! ```text
//!             cwnd < ssthresh                    cwnd ≥ ssthresh
//!            ┌─ slow start ─┐  reaches ssthresh  ┌─ avoidance ─┐
//!   start ──►│  slow_start  ├───────────────────►│  law.growth │
//!            └──────▲───────┘                    └───┬─────────┘
//!          timeout: │ cwnd = 1                       │ congestion: ssthresh = law.backoff
//!                   └──────── ssthresh kept ◄────────┘ recovery ends at cwnd = ssthresh
//! ```

use crate::slow_start::{SlowStart, Standard, Step, ack_limit};
use crate::{
    Acked, Cause, CongestionController, Law, PathView, Phase, SINGLE_PATH_SSTHRESH, See, Span,
    Terms, Window, usable,
};
use alloc::boxed::Box;
use alloc::sync::Arc;

/// Settings of a shell; the defaults are the project's decisions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Smallest window in segments, at least 1.
    pub min_window: f64,
    /// Smallest ssthresh of coupled paths in segments, at least 1; `None` is the law's own
    /// ([`Law::min_ssthresh`]). An uncoupled path has 2.
    pub min_ssthresh: Option<f64>,
    /// Window at the start, in segments.
    pub initial_window: f64,
    /// Slow-start threshold at the start, in segments; infinite by default.
    pub initial_ssthresh: f64,
    /// At the end of slow start, whether segments left over in that ACK grow the window by the
    /// law (as Linux does) or are dropped.
    pub carry_over: bool,
    /// Whether an ACK grows a window as if it acknowledged one segment at most, instead of by the
    /// segments acknowledged (RFC 3465).
    pub growth_per_ack: bool,
    /// The path on which schemes with a base flow begin as a TCP.
    pub base: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            min_window: 1.0,
            min_ssthresh: None,
            initial_window: 10.0,
            initial_ssthresh: f64::INFINITY,
            carry_over: true,
            growth_per_ack: false,
            base: 0,
        }
    }
}

impl Settings {
    /// Segments by which an ACK may grow a window, before limits of RFC 3465.
    #[inline(always)] // runs for every ACK
    pub(crate) fn counted(&self, ack: &Acked) -> f64 {
        if self.growth_per_ack { ack.segments.min(1.0) } else { ack.segments }
    }
}

/// `w += 1` for each segment in slow start, `1/w` beyond; no more than in slow start where windows
/// are fractions. For schemes without a law.
pub(crate) fn grow_as_tcp(window: &mut Window, segments: f64) {
    let quickly = segments.min((window.ssthresh - window.cwnd).max(0.0));
    window.cwnd += quickly;
    window.cwnd += (segments - quickly) / window.cwnd.max(1.0);
}

/// One law on every path of a connection, with the slow start `S` below ssthresh.
#[derive(Clone, Debug)]
pub struct Shell<L: Law, S = Standard> {
    law: L,
    /// The slow start with which a path joins.
    slow_start: S,
    /// Shared by the connections of a class.
    settings: Arc<Settings>,
    windows: Box<[Kept<L::Note, S>]>,
    views: Box<[PathView<L::Note>]>,
}

/// The window of a path, its slow start, and the window and note from before the last congestion
/// event, for undo.
#[derive(Clone, Copy, Debug)]
struct Kept<N, S> {
    now: Window,
    before: Window,
    note: N,
    slow_start: S,
    /// The [`Law::terms`] of the path's last published state, if the law has terms.
    terms: Terms,
}

impl<L: Law> Shell<L> {
    /// `paths` paths under `law` with the standard slow start. All are members, and no path has a
    /// round-trip sample yet.
    pub fn new(law: L, settings: impl Into<Arc<Settings>>, paths: usize) -> Self {
        Shell::with_slow_start(law, Standard, settings, paths)
    }
}

impl<L: Law, S: SlowStart> Shell<L, S> {
    /// The same with another slow start.
    pub fn with_slow_start(
        law: L,
        slow_start: S,
        settings: impl Into<Arc<Settings>>,
        paths: usize,
    ) -> Self {
        let settings = settings.into();
        let window = Window { cwnd: settings.initial_window, ssthresh: settings.initial_ssthresh };
        let (note, terms) = (law.new_note(), [0.0; 2]);
        let view = PathView { cwnd: window.cwnd, note, ..PathView::default() };
        let kept = Kept { now: window, before: window, note, slow_start, terms };
        Shell {
            law,
            slow_start,
            settings,
            windows: alloc::vec![kept; paths].into(),
            views: alloc::vec![view; paths].into(),
        }
    }

    /// Replaces the law; the windows do not change.
    pub(crate) fn set_law(&mut self, law: L) {
        self.law = law;
        (0..self.views.len()).for_each(|path| self.keep_terms(path));
    }

    /// Gives `path`, with its window and its slow start, to another shell around the same law.
    pub(crate) fn hand_over(&mut self, path: usize, to: &mut Self) {
        to.windows[path] = self.windows[path];
        to.views[path] = self.views[path];
        to.keep_terms(path);
        self.set_member(path, false);
    }

    /// The published state of the paths, for observation.
    pub fn views(&self) -> &[PathView<L::Note>] {
        &self.views
    }

    #[inline(always)] // runs for every ACK
    fn parts(&mut self) -> Parts<'_, L, S> {
        let Shell { law, settings, windows, views, .. } = self;
        Parts { law, settings, windows, views }
    }

    /// The new ssthresh of `me`, with the floor of coupled or uncoupled control.
    fn backoff(&self, me: usize) -> f64 {
        let after = match consults_law(&self.views, me) && self.law.coupled() {
            true => {
                let floor = self.settings.min_ssthresh.unwrap_or_else(|| self.law.min_ssthresh());
                self.law.backoff(me, &self.views).max(floor)
            }
            false => (self.windows[me].now.cwnd / 2.0).max(SINGLE_PATH_SSTHRESH),
        };
        after.max(self.settings.min_window)
    }

    /// Sets a window and publishes it.
    fn set(&mut self, me: usize, cwnd: f64) {
        self.parts().set(me, cwnd);
    }

    /// Updates the cached terms after `me` published a change.
    fn keep_terms(&mut self, me: usize) {
        self.parts().keep_terms(me);
    }
}

/// Whether the law sees siblings of `me`; one usable path alone is exactly Reno.
#[inline(always)] // runs for every ACK
fn consults_law<N>(views: &[PathView<N>], me: usize) -> bool {
    match views {
        [first, second] => first.usable && second.usable,
        _ => views.len() > 1 && views[me].usable && usable(views).nth(1).is_some(),
    }
}

/// A shell whose lists were looked up: each access through the shell itself would read again where
/// they are.
struct Parts<'a, L: Law, S> {
    law: &'a L,
    settings: &'a Settings,
    windows: &'a mut [Kept<L::Note, S>],
    views: &'a mut [PathView<L::Note>],
}

impl<L: Law, S: SlowStart> Parts<'_, L, S> {
    /// New data on `me` was acknowledged; returns the window after it.
    #[inline(always)] // runs for every ACK
    fn on_ack(&mut self, me: usize, ack: &Acked) -> Window {
        let view = &mut self.views[me];
        view.srtt = ack.srtt.seconds();
        view.usable = ack.srtt > Span::ZERO;
        self.law.note_acked(&mut view.note, ack);
        self.keep_terms(me);
        if ack.phase != Phase::Recovery && ack.cwnd_limited {
            self.grow(me, ack);
        }
        self.windows[me].now
    }

    #[inline(always)] // runs for every ACK
    fn growth(&self, me: usize) -> f64 {
        match consults_law(self.views, me) {
            true if L::TERMS => {
                let growth = match <&[_; 2]>::try_from(&*self.windows) {
                    Ok(two) => {
                        let terms = two.iter().map(|kept| kept.terms);
                        self.law.growth_of(me, self.views, terms)
                    }
                    // In groups of four, which a fold runs through without a branch for each.
                    Err(_) => {
                        let (fours, rest) = self.windows.as_chunks::<4>();
                        let terms = fours.iter().flatten().chain(rest).map(|kept| kept.terms);
                        self.law.growth_of(me, self.views, terms)
                    }
                };
                debug_assert!(
                    growth.to_bits() == self.law.growth(me, self.views).to_bits(),
                    "stale terms"
                );
                growth
            }
            true => self.law.growth(me, self.views),
            false => 1.0 / self.windows[me].now.cwnd,
        }
    }

    /// Slow start, then avoidance for what is left of the acknowledged segments.
    #[inline(always)] // runs for every ACK
    fn grow(&mut self, me: usize, ack: &Acked) {
        let Kept { now, slow_start, .. } = &mut self.windows[me];
        let Window { cwnd, ssthresh } = *now;
        let acked = self.settings.counted(ack);
        let mut segments;
        if cwnd < ssthresh {
            let Step { limit, growth } = slow_start.on_ack(ack);
            segments = acked.min(limit);
            match growth {
                Some(growth) => {
                    let room = ssthresh - cwnd;
                    if growth * segments <= room {
                        return self.set(me, cwnd + growth * segments);
                    }
                    self.set(me, ssthresh);
                    segments -= room / growth;
                }
                None => now.ssthresh = cwnd,
            }
            if !self.settings.carry_over {
                return;
            }
        } else {
            segments = acked.min(ack_limit(ack.phase));
        }
        let grown = self.windows[me].now.cwnd + segments * self.growth(me);
        let least = self.settings.min_window;
        self.set(me, if grown < least { least } else { grown });
    }

    /// Sets a window and publishes it.
    #[inline(always)] // runs for every ACK
    fn set(&mut self, me: usize, cwnd: f64) {
        self.windows[me].now.cwnd = cwnd;
        self.views[me].cwnd = cwnd;
        self.keep_terms(me);
    }

    /// Updates the cached terms after `me` published a change.
    #[inline(always)] // runs for every ACK
    fn keep_terms(&mut self, me: usize) {
        if L::TERMS && self.views.len() > 1 {
            let view = &self.views[me];
            self.windows[me].terms = if view.usable { self.law.terms(view) } else { [0.0; 2] };
        }
    }
}

impl<L: Law, S: SlowStart> CongestionController for Shell<L, S> {
    #[inline(always)] // runs for every ACK
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        self.parts().on_ack(path, ack);
    }

    #[inline(never)] // keeps the code of an ACK short
    fn grow(&mut self, path: usize, ack: impl Fn() -> Acked) -> Window {
        self.parts().on_ack(path, &ack())
    }

    fn reads(&self, path: usize) -> Option<[*const u8; 2]> {
        let (kept, view) = (self.windows.get(path)?, self.views.get(path)?);
        Some([core::ptr::from_ref(&kept.now).cast(), core::ptr::from_ref(view).cast()])
    }

    fn on_congestion(&mut self, path: usize, cause: Cause) {
        if cause == Cause::TimeoutAgain {
            self.law.note_lost_again(&mut self.views[path].note);
        } else {
            let Kept { now, before, note, slow_start, .. } = &mut self.windows[path];
            (*before, *note) = (*now, self.views[path].note);
            slow_start.on_congestion();
            self.law.note_lost(&mut self.views[path].note);
            // RFC 5681 §3.1: a retransmission that is lost again does not lower ssthresh again.
            self.windows[path].now.ssthresh = self.backoff(path);
        }
        let cwnd = match cause {
            // After a loss, the window at the end of recovery.
            Cause::FastRetransmit | Cause::Mark => self.windows[path].now.ssthresh,
            Cause::Timeout | Cause::TimeoutAgain => self.settings.min_window,
        };
        self.set(path, cwnd);
    }

    fn on_recovered(&mut self, path: usize) {
        self.set(path, self.windows[path].now.ssthresh);
    }

    fn undo(&mut self, path: usize) {
        let Kept { now, before, note, .. } = &mut self.windows[path];
        self.law.note_undone(&mut self.views[path].note, *note);
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
        let (note, slow_start) = (self.law.new_note(), self.slow_start);
        let terms = [0.0; 2]; // until its first round-trip sample
        self.windows[path] = Kept { now: window, before: window, note, slow_start, terms };
        // A joining path counts from its first round-trip sample on.
        self.views[path] =
            PathView { cwnd: if member { cwnd } else { 0.0 }, note, ..PathView::default() };
    }

    fn window(&self, path: usize) -> Window {
        self.windows[path].now
    }

    fn observe(&self, path: usize, see: See<'_>) {
        if consults_law(&self.views, path) {
            self.law.observe(path, &self.views, see);
        }
    }
}
