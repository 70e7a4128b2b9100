//! Coupled CUBIC: RFC 6356's goals with CUBIC as the TCP.
//!
//! Source: this project. The goals are RFC 6356 §2's, the TCP is RFC 9438's; Lee, Kim, Kwon and Han
//! (CSSE 45(1), 2023) have the same aim with another rule.
//!
//! With `x_r` the rates of the paths and `X_r` the rate of a CUBIC on path r, the paths together
//! are to have the rate of the best one, and each the more the better it is, as LIA's:
//! `Σ x = max X` and `x_r ∝ X_r²`. Both hold where `x_r = √part_r X_r` with
//! `part_r = (x_r/Σx) (max x/Σx)`. CUBIC's rate goes as `C^¼`, so path r grows with `C part_r²`,
//! and with `α_cubic part_r` in the Reno-friendly region, where the rate goes as `√α`.

use super::cubic::{CubicControl, InTheMean};
use super::each::Single;
use crate::kind::{Described, Kind};
use crate::scheme::Scheme;
use crate::slow_start::AnySlowStart;
use crate::{
    Acked, Cause, CongestionController, LawVisitor, PathView, See, Settings, Window, usable,
};
use alloc::boxed::Box;

/// See the module.
fn part(me: usize, paths: &[PathView]) -> f64 {
    if usable(paths).nth(1).is_none() {
        return 1.0;
    }
    let total: f64 = usable(paths).map(PathView::rate).sum();
    let most = usable(paths).map(PathView::rate).fold(0.0, f64::max);
    paths[me].rate() * most / (total * total)
}

/// A CUBIC on each path, coupled in how fast they grow.
#[derive(Clone, Debug)]
pub(crate) struct CoupledCubicControl {
    fresh: CubicControl,
    paths: Box<[CubicControl]>,
    views: Box<[PathView]>,
}

impl CoupledCubicControl {
    fn publish(&mut self, path: usize) {
        self.views[path].cwnd = self.paths[path].window().cwnd;
    }
}

impl CongestionController for CoupledCubicControl {
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        self.views[path].srtt = ack.srtt.seconds();
        self.views[path].usable = self.views[path].srtt > 0.0;
        if self.views[path].usable {
            let part = part(path, &self.views);
            self.paths[path].grow_as(part, ack.now.seconds());
        }
        self.paths[path].on_ack(ack);
        self.publish(path);
    }

    fn on_congestion(&mut self, path: usize, cause: Cause) {
        self.paths[path].on_congestion(cause);
        self.publish(path);
    }

    fn on_recovered(&mut self, path: usize) {
        self.paths[path].on_recovered();
        self.publish(path);
    }

    fn undo(&mut self, path: usize) {
        self.paths[path].undo();
        self.publish(path);
    }

    fn restart(&mut self, path: usize, window: Window) {
        self.paths[path].restart(window);
        self.publish(path);
    }

    fn set_member(&mut self, path: usize, _member: bool) {
        self.paths[path] = self.fresh.clone();
        self.views[path] = PathView::default();
    }

    fn window(&self, path: usize) -> Window {
        self.paths[path].window()
    }

    fn observe(&self, path: usize, see: See<'_>) {
        if self.views[path].usable {
            see("part", part(path, &self.views));
        }
    }
}

/// The slow start of its windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoupledCubic {
    slow_start: AnySlowStart,
}

impl Kind for CoupledCubic {
    const DESCRIBED: Described = Described {
        names: &["coupled-cubic"],
        summary: "CUBIC on each path, coupled: all together have the rate of a CUBIC on the best one.",
        formula: "CUBIC with C part², α part; part_r = x_r max x_s / (Σ x_s)²; decrease to 0.7 w",
        source: "this project, after RFC 6356 and RFC 9438",
        ported: true,
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(CoupledCubic { slow_start: AnySlowStart::STANDARD });
}

impl Scheme for CoupledCubic {
    type Control = CoupledCubicControl;

    fn control(self, settings: Settings, paths: usize) -> CoupledCubicControl {
        let fresh = CubicControl::new(settings, self.slow_start);
        CoupledCubicControl {
            paths: alloc::vec![fresh.clone(); paths].into(),
            views: alloc::vec![PathView::default(); paths].into(),
            fresh,
        }
    }

    fn with_slow_start(self, slow_start: AnySlowStart) -> Option<Self> {
        Some(CoupledCubic { slow_start })
    }

    fn hand_over(
        from: &mut CoupledCubicControl,
        path: usize,
        to: &mut CoupledCubicControl,
    ) -> bool {
        to.paths[path] = from.paths[path].clone();
        to.views[path] = from.views[path];
        from.set_member(path, false);
        true
    }

    const GROUPS: bool = true;

    fn visit_mean<V: LawVisitor>(self, visitor: V) -> Option<V::Output> {
        Some(visitor.visit(InTheMean { part }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Law, Span, Time};

    fn path(cwnd: f64, srtt: f64) -> PathView {
        PathView { cwnd, srtt, usable: true, ..PathView::default() }
    }

    #[test]
    fn a_path_alone_is_cubic() {
        let settings =
            Settings { initial_window: 50.0, initial_ssthresh: 50.0, ..Settings::default() };
        let scheme = CoupledCubic::PLAIN.expect("it has no parameter");
        let mut coupled = scheme.control(settings, 1);
        let mut cubic = CubicControl::new(settings, AnySlowStart::STANDARD);
        for step in 1..4000_u64 {
            let ack = Acked {
                segments: 1.0,
                srtt: Span::millis(40),
                cwnd_limited: true,
                now: Time(step * 1_000_000),
                ..Acked::default()
            };
            coupled.on_ack(0, &ack);
            cubic.on_ack(&ack);
            if step % 1000 == 0 {
                coupled.on_congestion(0, Cause::FastRetransmit);
                coupled.on_recovered(0);
                cubic.on_congestion(Cause::FastRetransmit);
                cubic.on_recovered();
            }
            assert_eq!(coupled.window(0), cubic.window());
        }
    }

    #[test]
    fn equal_paths_together_have_the_rate_of_one_cubic() {
        // part = 1/4 at two equal paths: each has √¼ of the rate
        let paths = [path(30.0, 0.1), path(30.0, 0.1)];
        assert_eq!(part(0, &paths), 0.25);
        let (alone, coupled) = (InTheMean { part: |_, _| 1.0 }, InTheMean { part });
        for window in [5.0, 500.0] {
            let lost = |law: InTheMean, paths: &[PathView]| {
                law.growth(0, paths) / (paths[0].cwnd - law.backoff(0, paths))
            };
            let one = lost(alone, &[path(2.0 * window, 0.1)]);
            let each = lost(coupled, &[path(window, 0.1), path(window, 0.1)]);
            assert!((one / each - 1.0).abs() < 1e-12, "{one} {each} at {window}");
        }
    }

    #[test]
    fn a_change_of_part_does_not_move_the_window() {
        let settings =
            Settings { initial_window: 900.0, initial_ssthresh: 900.0, ..Settings::default() };
        let mut cubic = CubicControl::new(settings, AnySlowStart::STANDARD);
        cubic.on_congestion(Cause::FastRetransmit);
        cubic.on_recovered();
        let ack = |now: f64| Acked {
            segments: 1e-9,
            srtt: Span::millis(1),
            cwnd_limited: true,
            now: Time((now * 1e9) as u64),
            ..Acked::default()
        };
        cubic.on_ack(&ack(1.0));
        cubic.on_ack(&ack(3.0));
        let before = cubic.window().cwnd;
        cubic.grow_as(0.3, 3.0);
        cubic.on_ack(&ack(3.0));
        assert!((cubic.window().cwnd - before).abs() < 1e-6);
    }

    #[test]
    fn a_path_that_left_does_not_count() {
        let settings = Settings::default();
        let scheme = CoupledCubic::PLAIN.expect("it has no parameter");
        let mut coupled = scheme.control(settings, 2);
        let ack = Acked { srtt: Span::millis(10), ..Acked::default() };
        coupled.on_ack(0, &ack);
        coupled.on_ack(1, &ack);
        assert_eq!(part(0, &coupled.views), 0.25);
        coupled.set_member(1, false);
        assert_eq!(part(0, &coupled.views), 1.0);
    }
}
