//! Reduced aggression whose TCP moves to the path where TCP's response function gives the highest
//! rate.
//!
//! Source: Tse 2006, §4.4, which proposes it without a rule; the rule here is that of
//! `switching.rs`. The rest is the law of `laws/hacker.rs`. Only the path with the unreduced growth
//! changes: every path keeps its window, and goes on from there at its new pace.
//!
//! There is no form that moves by trials. Trials keep a place that is 15 % better (`trial.rs`), and
//! a wrong place costs less than that where a reduced flow is on the path as well
//! (docs/explanation/fair-by-definition.md).

use super::switching::Switching;
use crate::kind::{Described, Kind};
use crate::laws::Hacker;
use crate::scheme::Scheme;
use crate::{Acked, Cause, CongestionController, Settings, Shell, Window};

/// Reduced aggression over all paths of a connection; [`Settings::base`] begins as its TCP.
#[derive(Clone, Debug)]
pub(crate) struct HackerSwitchingControl {
    flows: Shell<Hacker>,
    base: usize,
    switching: Switching,
}

impl HackerSwitchingControl {
    /// # Panics
    /// If the base is not one of the paths.
    pub(crate) fn new(settings: Settings, paths: usize) -> Self {
        let base = settings.base;
        assert!(base < paths, "path {base} is the base, of {paths} paths");
        let flows = Shell::new(Hacker::On(base), settings, paths);
        HackerSwitchingControl { flows, base, switching: Switching::new(paths) }
    }
}

impl CongestionController for HackerSwitchingControl {
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        self.flows.on_ack(path, ack);
        self.switching.on_ack(path, ack);
        if let Some(to) = self.switching.better(self.base, ack.now.seconds()) {
            self.base = to;
            self.flows.set_law(Hacker::On(to));
        }
    }

    fn on_congestion(&mut self, path: usize, cause: Cause) {
        self.switching.on_congestion(path, cause);
        self.flows.on_congestion(path, cause);
    }

    fn on_recovered(&mut self, path: usize) {
        self.flows.on_recovered(path);
    }

    fn set_member(&mut self, path: usize, member: bool) {
        self.switching.forget(path);
        self.flows.set_member(path, member);
    }

    fn undo(&mut self, path: usize) {
        self.flows.undo(path);
    }

    fn restart(&mut self, path: usize, window: Window) {
        self.flows.restart(path, window);
    }

    fn window(&self, path: usize) -> Window {
        self.flows.window(path)
    }
}

/// The kind `hacker-switching`, without options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HackerSwitching;

impl Kind for HackerSwitching {
    const DESCRIBED: Described = Described {
        names: &["hacker-switching"],
        summary: "Reduced aggression whose TCP moves to the path with the highest response-function rate.",
        formula: "growth 1/w_B on the base path, 1/(N w_r) on the others, backoff w_r/2",
        source: "Hacker, Noble and Athey, INFOCOM 2004; Tse 2006, §4.4",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(HackerSwitching);
}

impl Scheme for HackerSwitching {
    type Control = HackerSwitchingControl;

    fn control(self, settings: Settings, paths: usize) -> HackerSwitchingControl {
        HackerSwitchingControl::new(settings, paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Span, Time};

    fn acked(seconds: f64, segments: f64) -> Acked {
        let now_ns = (seconds * 1e9) as u64;
        Acked {
            segments,
            srtt: Span::millis(100),
            cwnd_limited: true,
            now: Time(now_ns),
            ..Acked::default()
        }
    }

    /// Two paths in congestion avoidance with 8 segments each and loss intervals of 20 and 400
    /// segments.
    fn measured(base: usize) -> HackerSwitchingControl {
        let mut ensemble = HackerSwitchingControl::new(Settings { base, ..Settings::default() }, 2);
        for (path, segments) in [(0, 20.0), (1, 400.0)] {
            for _ in 0..9 {
                ensemble.on_ack(path, &acked(1.0, segments));
                ensemble.on_congestion(path, Cause::FastRetransmit);
                ensemble.on_recovered(path);
            }
            ensemble.restart(path, Window { cwnd: 8.0, ssthresh: 1.0 });
        }
        ensemble
    }

    /// Growth of `path` for an ACK of one segment, in parts of `1/w`.
    fn growth(ensemble: &mut HackerSwitchingControl, path: usize, seconds: f64) -> f64 {
        let before = ensemble.window(path).cwnd;
        ensemble.on_ack(path, &acked(seconds, 1.0));
        (ensemble.window(path).cwnd - before) * before
    }

    #[test]
    fn the_tcp_moves_to_the_path_with_the_higher_rate_and_no_window_jumps() {
        let mut ensemble = measured(0);
        assert!((growth(&mut ensemble, 0, 1.1) - 1.0).abs() < 1e-9);
        assert!((growth(&mut ensemble, 1, 1.1) - 0.5).abs() < 1e-9);
        let before = [0, 1].map(|path| ensemble.window(path));
        ensemble.on_ack(0, &Acked { cwnd_limited: false, ..acked(3.0, 1.0) });
        assert_eq!((ensemble.base, [0, 1].map(|path| ensemble.window(path))), (1, before));
        assert!((growth(&mut ensemble, 0, 3.1) - 0.5).abs() < 1e-9);
        assert!((growth(&mut ensemble, 1, 3.1) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_tcp_on_the_better_path_stays() {
        let mut ensemble = measured(1);
        for second in 2..60 {
            ensemble.on_ack(0, &acked(f64::from(second), 1.0));
        }
        assert_eq!(ensemble.base, 1);
    }

    #[test]
    fn when_the_path_of_the_tcp_leaves_another_one_is_the_tcp() {
        let mut ensemble = measured(1);
        ensemble.set_member(1, false);
        assert!((growth(&mut ensemble, 0, 1.2) - 1.0).abs() < 1e-9);
        ensemble.on_ack(0, &acked(3.0, 1.0));
        assert_eq!(ensemble.base, 0);
    }
}
