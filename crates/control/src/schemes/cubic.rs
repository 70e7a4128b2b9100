//! CUBIC: a window that is a cubic function of the time since the last reduction.
//!
//! Source: RFC 9438 (symbols `C`, `beta_cubic`, `W_max`, `K`, `W_est`, `cwnd_epoch`, `cwnd_prior`).
//! Growth depends on time, not on what was acknowledged; theory has its response function instead
//! of a drift ([`InTheMean`]).

use super::each::{Each, Single};
use crate::kind::{Choice, Described, Kind};
use crate::scheme::Scheme;
use crate::slow_start::{AnySlowStart, HyStart, SlowStart, Step};
use crate::{Acked, Cause, Law, LawVisitor, PathView, Phase, Settings, Window};

/// `C` in segments/s³.
const C: f64 = 0.4;
const BETA_CUBIC: f64 = 0.7;
/// `alpha_cubic`: growth that gives a window falling to `beta_cubic` the mean of Reno's (§4.3).
const ALPHA_CUBIC: f64 = 3.0 * (1.0 - BETA_CUBIC) / (1.0 + BETA_CUBIC);
/// Floor of ssthresh (§4.6).
const MIN_SSTHRESH: f64 = 2.0;

/// CUBIC on one path.
#[derive(Clone, Debug)]
pub(crate) struct CubicControl {
    settings: Settings,
    slow_start: AnySlowStart,
    state: State,
    /// The state before the last congestion event.
    before: State,
    /// When the last ACK arrived.
    last: f64,
}

#[derive(Clone, Copy, Debug)]
struct State {
    window: Window,
    w_max: f64,
    /// When the present stage of congestion avoidance began; `None` in slow start and recovery.
    epoch: Option<f64>,
    k: f64,
    w_est: f64,
    cwnd_prior: f64,
    /// How fast it grows beside CUBIC: see [`CubicControl::grow_as`].
    part: f64,
}

impl CubicControl {
    pub(crate) fn new(settings: Settings, slow_start: AnySlowStart) -> Self {
        let window = Window { cwnd: settings.initial_window, ssthresh: settings.initial_ssthresh };
        let (w_max, w_est, cwnd_prior) = (0.0, 0.0, 0.0);
        let state = State { window, w_max, epoch: None, k: 0.0, w_est, cwnd_prior, part: 1.0 };
        CubicControl { settings, slow_start, state, before: state, last: 0.0 }
    }

    /// Grows as a CUBIC that has √`part` times the rate at equal loss and round trip, from now on:
    /// with `C part²`, and `α_cubic part` in the Reno-friendly region. The window goes on along the
    /// new curve from where it is on the old one.
    pub(super) fn grow_as(&mut self, part: f64, now: f64) {
        let State { epoch, k, part: before, .. } = &mut self.state;
        if let Some(epoch) = epoch.filter(|_| part != *before) {
            // C (t − K)³ stays what it is.
            let t = now - epoch;
            *k = t - (t - *k) * libm::cbrt(*before * *before / (part * part));
        }
        *before = part;
    }

    /// `C`, in segments/s³.
    fn c(&self) -> f64 {
        C * self.state.part * self.state.part
    }

    /// Slow start; returns the segments that are left over at its end.
    fn slow_start(&mut self, ack: &Acked) -> f64 {
        let Step { limit, growth } = self.slow_start.on_ack(ack);
        let segments = self.settings.counted(ack).min(limit);
        let Window { cwnd, ssthresh } = &mut self.state.window;
        let Some(growth) = growth else {
            *ssthresh = *cwnd;
            return segments;
        };
        let room = *ssthresh - *cwnd;
        if growth * segments <= room {
            *cwnd += growth * segments;
            return 0.0;
        }
        *cwnd = *ssthresh;
        segments - room / growth
    }

    /// §4.2 to §4.5, for an ACK of this many segments.
    fn avoid(&mut self, segments: f64, ack: &Acked) {
        let start = match self.state.epoch {
            Some(start) => start,
            None => self.begin(ack.now.seconds()),
        };
        let t = ack.now.seconds() - start;
        let State { window: Window { cwnd, .. }, w_est, cwnd_prior, part, .. } = &mut self.state;
        let alpha = if *w_est >= *cwnd_prior { 1.0 } else { ALPHA_CUBIC };
        *w_est += *part * alpha * segments / *cwnd;
        let (w, w_est) = (*cwnd, *w_est);
        let grown = if self.w_cubic(t) < w_est {
            w.max(w_est) // Reno-friendly
        } else {
            let target = self.w_cubic(t + ack.srtt.seconds()).clamp(w, 1.5 * w);
            w + segments * (target - w) / w
        };
        self.state.window.cwnd = grown;
    }

    /// A stage of congestion avoidance begins (§4.2). Without a reduction before it, it begins at
    /// its plateau.
    fn begin(&mut self, now: f64) -> f64 {
        let c = self.c();
        let state = &mut self.state;
        let w = state.window.cwnd;
        state.epoch = Some(now);
        state.w_est = w;
        if w < state.w_max {
            state.k = libm::cbrt((state.w_max - w) / c);
        } else {
            (state.k, state.w_max) = (0.0, w);
        }
        now
    }

    /// Eq. 1.
    fn w_cubic(&self, t: f64) -> f64 {
        let from_plateau = t - self.state.k;
        self.c() * from_plateau * from_plateau * from_plateau + self.state.w_max
    }

    /// §4.6 and §4.7.
    fn reduce(&mut self) {
        self.before = self.state;
        let State { window: Window { cwnd, ssthresh }, w_max, epoch, cwnd_prior, .. } =
            &mut self.state;
        *cwnd_prior = *cwnd;
        *w_max = if *cwnd < *w_max { *cwnd * (1.0 + BETA_CUBIC) / 2.0 } else { *cwnd };
        *ssthresh = (*cwnd * BETA_CUBIC).max(MIN_SSTHRESH).max(self.settings.min_window);
        *epoch = None;
        self.slow_start.on_congestion();
    }
}

impl Single for CubicControl {
    fn on_ack(&mut self, ack: &Acked) {
        let since = ack.now.seconds() - self.last;
        self.last = ack.now.seconds();
        if ack.phase == Phase::Recovery {
            return;
        }
        if !ack.cwnd_limited {
            // §5.8: time in which the window was not the limit is not counted.
            self.state.epoch = self.state.epoch.map(|epoch| (epoch + since).min(ack.now.seconds()));
            return;
        }
        let Window { cwnd, ssthresh } = self.state.window;
        let left = if cwnd < ssthresh { self.slow_start(ack) } else { self.settings.counted(ack) };
        if left > 0.0 && self.state.window.cwnd >= self.state.window.ssthresh {
            self.avoid(left, ack);
        }
    }

    fn on_congestion(&mut self, cause: Cause) {
        if cause != Cause::TimeoutAgain {
            self.reduce();
        }
        self.state.window.cwnd = match cause {
            Cause::FastRetransmit | Cause::Mark => self.state.window.ssthresh,
            Cause::Timeout | Cause::TimeoutAgain => {
                self.state.w_max = 0.0; // §4.8: the next stage begins at its plateau
                self.settings.min_window
            }
        };
    }

    fn on_recovered(&mut self) {
        self.state.window.cwnd = self.state.window.ssthresh;
    }

    /// §4.9.
    fn undo(&mut self) {
        let cwnd = self.state.window.cwnd.max(self.before.window.cwnd);
        self.state = self.before;
        self.state.window.cwnd = cwnd;
    }

    fn restart(&mut self, window: Window) {
        self.state.window = window;
        self.state.epoch = None;
    }

    fn window(&self) -> Window {
        self.state.window
    }
}

/// The slow start of CUBIC's windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cubic {
    slow_start: AnySlowStart,
}

impl Kind for Cubic {
    const DESCRIBED: Described = Described {
        names: &["cubic"],
        summary: "CUBIC on each path independently: the window is a cubic function of the time since the last loss.",
        formula: "W(t) = C (t − K)³ + W_max; decrease to 0.7 w",
        source: "RFC 9438; HyStart++: RFC 9406",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(Cubic { slow_start: AnySlowStart::STANDARD });
    const CHOICES: &'static [Choice<Self>] = &[Choice::word(
        "hystart",
        Cubic { slow_start: AnySlowStart::HyStart(HyStart::NEW) },
        "HyStart++ in the first slow start",
    )];
}

impl Scheme for Cubic {
    type Control = Each<CubicControl>;

    fn control(self, settings: Settings, paths: usize) -> Each<CubicControl> {
        Each::new(CubicControl::new(settings, self.slow_start), paths)
    }

    fn with_slow_start(self, slow_start: AnySlowStart) -> Option<Self> {
        Some(Cubic { slow_start })
    }

    fn visit_mean<V: LawVisitor>(self, visitor: V) -> Option<V::Output> {
        Some(visitor.visit(InTheMean { part: |_, _| 1.0 }))
    }
}

/// CUBIC as a law that has its mean window at each loss: RFC 9438 §5.1, and Reno's where that is
/// larger. `part` is [`CubicControl::grow_as`]'s.
///
/// The RFC's mean is that of one sawtooth after the other, in which Reno has √(1.5/p). The laws'
/// drift gives Reno √(2/p); losses here have the same factor 4/3, so that CUBIC is to Reno as in
/// the RFC.
#[derive(Clone, Copy, Debug)]
pub(super) struct InTheMean {
    pub(super) part: fn(usize, &[PathView]) -> f64,
}

impl Law for InTheMean {
    type Note = ();

    fn growth(&self, me: usize, paths: &[PathView]) -> f64 {
        let (w, part) = (paths[me].cwnd, (self.part)(me, paths));
        let sawtooth = 4.0 / 3.0;
        let steepness = libm::cbrt(C * (3.0 + BETA_CUBIC) / (4.0 * (1.0 - BETA_CUBIC)));
        // The loss at which CUBIC has this window, and that at which Reno has it.
        let cubic =
            sawtooth * steepness * paths[me].srtt * libm::cbrt(part * part) / (w * libm::cbrt(w));
        let reno = sawtooth * 1.5 * part / (w * w);
        cubic.max(reno) * (w - self.backoff(me, paths))
    }

    fn backoff(&self, me: usize, paths: &[PathView]) -> f64 {
        BETA_CUBIC * paths[me].cwnd
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Span, Time};

    /// Runs `cubic` in congestion avoidance for `seconds` with a full window and round trips of
    /// `rtt`.
    fn run(cubic: &mut CubicControl, from: f64, seconds: f64, rtt: f64) {
        let mut now = from;
        while now < from + seconds {
            let segments = 1.0;
            now += rtt / cubic.window().cwnd;
            let ack = Acked {
                segments,
                srtt: Span::from_seconds(rtt),
                cwnd_limited: true,
                now: Time((now * 1e9) as u64),
                ..Acked::default()
            };
            cubic.on_ack(&ack);
        }
    }

    fn reduced_at(cwnd: f64) -> CubicControl {
        let settings =
            Settings { initial_window: cwnd, initial_ssthresh: cwnd, ..Settings::default() };
        let mut cubic = CubicControl::new(settings, AnySlowStart::STANDARD);
        cubic.on_congestion(Cause::FastRetransmit);
        cubic.on_recovered();
        cubic
    }

    #[test]
    fn the_window_returns_to_w_max_after_k_seconds() {
        // K = cbrt(1000 * 0.3 / 0.4) = 9.086 s
        let mut cubic = reduced_at(1000.0);
        assert_eq!(cubic.window().cwnd, 700.0);
        run(&mut cubic, 5.0, 9.086, 0.1);
        assert!((cubic.window().cwnd - 1000.0).abs() < 2.0, "{:?}", cubic.window());
        run(&mut cubic, 14.086, 5.0, 0.1);
        let later = 1000.0 + 0.4 * 125.0; // C · 5³ more
        assert!((cubic.window().cwnd - later).abs() < 5.0, "{:?}", cubic.window());
    }

    #[test]
    fn with_a_small_window_it_grows_as_a_window_that_is_as_fair_as_renos() {
        // After a reduction from 20 to 14: 9/17 a round until 20, which takes 11.3 rounds, then 1 a
        // round.
        let mut cubic = reduced_at(20.0);
        run(&mut cubic, 0.0, 0.2, 0.01);
        let expected = 20.0 + 20.0 - 6.0 / (9.0 / 17.0);
        assert!((cubic.window().cwnd - expected).abs() < 0.5, "{:?}", cubic.window());
    }

    #[test]
    fn a_second_reduction_before_the_plateau_releases_bandwidth() {
        let mut cubic = reduced_at(1000.0);
        cubic.on_congestion(Cause::FastRetransmit);
        assert_eq!(cubic.state.w_max, 700.0 * 0.85);
    }

    #[test]
    fn an_event_that_was_none_leaves_no_trace() {
        let mut cubic = reduced_at(100.0);
        run(&mut cubic, 0.0, 3.0, 0.05);
        let before = cubic.state;
        cubic.on_congestion(Cause::Timeout);
        cubic.undo();
        assert_eq!((cubic.window(), cubic.state.k), (before.window, before.k));
        assert_eq!(cubic.state.epoch, before.epoch);
    }

    #[test]
    fn the_growth_of_renos_fairness_is_nine_seventeenths() {
        assert!((ALPHA_CUBIC - 9.0 / 17.0).abs() < 1e-12);
    }
}
