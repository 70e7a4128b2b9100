//! A law, or a scheme that couples paths as one does, only on paths that share a bottleneck:
//! `LAW+sbd`.
//!
//! The idea is that of Ferlin, Alay, Dreibholz, Hayes and Welzl (INFOCOM 2016): coupling protects
//! others at a bottleneck that paths share, and costs throughput where they share none. Each group
//! of paths has a shell of its own, and a path keeps its window, its slow start and the law's note
//! when it changes groups. So within a group the law is what it is without `sbd`, and groups are to
//! one another as connections of different users.
//!
//! All paths are one group until a detector is sure of something else, twice ([`sharing`]). What
//! that costs at worst: disjoint paths are coupled for the time that a detector needs, and paths
//! that begin to share are not; by default at most `MEMORY` and two looks, some 12 s, beyond which
//! an error of the detector is an error of the answer.

use crate::controller::forward;
use crate::laws::AnyShell;
use crate::schemes::AnyControl;
use crate::slow_start::AnySlowStart;
use crate::{
    Acked, AnyDetector, Cause, CongestionController, ControllerKind, See, Settings, Span, Time,
    Window,
};
use alloc::boxed::Box;
use sharing::{Detection, Sample};

/// The controller of one group.
#[derive(Clone, Debug)]
enum Group {
    Law(AnyShell<AnySlowStart>),
    Scheme(AnyControl),
}

impl Group {
    /// `None` if `law` is neither a law in the readable shell nor a scheme that has groups.
    fn new(law: &ControllerKind, settings: Settings, paths: usize) -> Option<Self> {
        Some(match law {
            ControllerKind::Law(law, slow) => {
                Group::Law(AnyShell::new(*law, *slow, settings, paths))
            }
            ControllerKind::Written(law, slow) => {
                Group::Law(AnyShell::written(law.clone(), *slow, settings, paths))
            }
            ControllerKind::Scheme(scheme) if scheme.groups() => {
                Group::Scheme(AnyControl::new(*scheme, settings, paths))
            }
            _ => return None,
        })
    }

    /// Gives `path` to another group.
    fn hand_over(&mut self, path: usize, to: &mut Self) {
        match (self, to) {
            (Group::Law(own), Group::Law(to)) => own.hand_over(path, to),
            (Group::Scheme(own), Group::Scheme(to)) => own.hand_over(path, to),
            _ => {} // all groups are clones of one
        }
    }
}

forward! {
    impl CongestionController for Group { Group::Law, Group::Scheme, }
}

/// One law on each group of paths of a connection.
#[derive(Clone, Debug)]
pub(crate) struct WhenShared {
    /// For each group the controller of its members; the group's number is its first path.
    shells: Box<[Group]>,
    /// The group of each path.
    groups: Box<[usize]>,
    detection: Detection,
    /// One-way delay of the data that the next ACK acknowledges.
    delay: Span,
    now: Time,
}

impl WhenShared {
    /// All paths in one group. `None` if `law` can have no groups.
    pub(crate) fn new(
        law: &ControllerKind,
        detector: AnyDetector,
        settings: Settings,
        paths: usize,
    ) -> Option<Self> {
        let shell = Group::new(law, settings, paths)?;
        let mut empty = shell.clone();
        (0..paths).for_each(|path| empty.set_member(path, false));
        let mut shells = alloc::vec![empty; paths];
        if let Some(first) = shells.first_mut() {
            *first = shell;
        }
        Some(WhenShared {
            shells: shells.into(),
            groups: alloc::vec![0; paths].into(),
            detection: Detection::new(detector, paths),
            delay: Span::ZERO,
            now: Time::ZERO,
        })
    }

    fn shell(&mut self, path: usize) -> &mut Group {
        &mut self.shells[self.groups[path]]
    }

    /// Moves paths to the shells of the groups that the detection has.
    fn regroup(&mut self) {
        for path in 0..self.groups.len() {
            let (from, to) = (self.groups[path], self.detection.group(path));
            if let Ok([from, to]) = self.shells.get_disjoint_mut([from, to]) {
                from.hand_over(path, to);
                self.groups[path] = self.detection.group(path);
            }
        }
    }
}

impl CongestionController for WhenShared {
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        self.now = ack.now;
        if ack.rtt > Span::ZERO {
            let sent = Time(ack.now.0.saturating_sub(ack.rtt.0));
            self.detection.on_delay(path, &Sample { sent, delay: self.delay, rtt: ack.srtt });
        }
        if self.detection.look(ack.now) {
            self.regroup();
        }
        self.shell(path).on_ack(path, ack);
    }

    fn on_congestion(&mut self, path: usize, cause: Cause) {
        if cause != Cause::TimeoutAgain {
            self.detection.on_loss(path, self.now);
        }
        self.shell(path).on_congestion(path, cause);
    }

    fn on_recovered(&mut self, path: usize) {
        self.shell(path).on_recovered(path);
    }

    fn set_member(&mut self, path: usize, member: bool) {
        self.detection.set_member(path, member);
        self.regroup();
        self.shell(path).set_member(path, member);
    }

    fn undo(&mut self, path: usize) {
        self.detection.on_spurious(path);
        self.shell(path).undo(path);
    }

    fn restart(&mut self, path: usize, window: Window) {
        self.shell(path).restart(path, window);
    }

    fn window(&self, path: usize) -> Window {
        self.shells[self.groups[path]].window(path)
    }

    fn on_delay(&mut self, _path: usize, delay: Span) {
        self.delay = delay;
    }

    fn observe(&self, path: usize, see: See<'_>) {
        see("group", self.groups[path] as f64);
        for other in (0..self.groups.len()).filter(|&other| other != path) {
            see(&alloc::format!("shares_with_{other}"), self.detection.confidence(path, other));
        }
        self.shells[self.groups[path]].observe(path, see);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyController, ControllerSpec};

    fn built(text: &str) -> AnyController {
        let spec: ControllerSpec = text.parse().expect("it is registered");
        let settings = Settings { initial_ssthresh: 1.0, ..Settings::default() };
        AnyController::new(&spec, settings, 2).expect("it is readable")
    }

    /// An ACK of every path each 10 ms until `seconds`, with delays by path and time.
    fn acked(control: &mut AnyController, seconds: u64, delay: impl Fn(usize, u64) -> u64) {
        for tick in 0..seconds * 100 {
            for path in 0..2 {
                control.on_delay(path, Span::millis(delay(path, tick)));
                let (rtt, now) = (Span::millis(100), Time::ZERO + Span::millis(10 * tick + 200));
                let (segments, cwnd_limited) = (1.0, true);
                let ack = Acked { segments, srtt: rtt, rtt, now, cwnd_limited, ..Acked::default() };
                control.on_ack(path, &ack);
            }
        }
    }

    /// Numbers without a period, another row for each `row`.
    fn noise(row: u64, tick: u64) -> u64 {
        (tick + row * 7919).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23) % 37
    }

    fn windows(control: &AnyController) -> [f64; 2] {
        [0, 1].map(|path| control.window(path).cwnd)
    }

    #[test]
    fn paths_that_share_have_the_windows_of_the_law() {
        for law in ["lia", "olia", "balia", "semicoupled", "coupled-cubic"] {
            let [mut plain, mut sbd] =
                [law.into(), alloc::format!("{law}+sbd")].map(|text| built(&text));
            for control in [&mut plain, &mut sbd] {
                acked(control, 15, |_, tick| noise(0, tick));
            }
            assert_eq!(windows(&plain), windows(&sbd), "{law}");
        }
    }

    #[test]
    fn paths_that_share_nothing_grow_as_two_connections() {
        let [mut reno, mut lia, mut sbd] = ["reno", "lia", "lia+sbd"].map(built);
        let mut before = [[0.0; 2]; 3];
        for (control, before) in [&mut reno, &mut lia, &mut sbd].into_iter().zip(&mut before) {
            acked(control, 12, |path, tick| noise(path as u64 + 1, tick));
            let window = Window { cwnd: 20.0, ssthresh: 1.0 };
            (0..2).for_each(|path| control.restart(path, window));
            acked(control, 5, |path, tick| noise(path as u64 + 1, tick));
            *before = windows(control);
        }
        assert_eq!(before[0], before[2]);
        assert!(before[1][0] < before[0][0]);
    }

    #[test]
    fn a_scheme_on_paths_that_share_nothing_grows_as_two_connections() {
        let [mut alone, mut sbd] = ["cubic", "coupled-cubic+sbd"].map(built);
        for control in [&mut alone, &mut sbd] {
            acked(control, 12, |path, tick| noise(path as u64 + 1, tick));
            let window = Window { cwnd: 20.0, ssthresh: 1.0 };
            (0..2).for_each(|path| control.restart(path, window));
            acked(control, 5, |path, tick| noise(path as u64 + 1, tick));
        }
        assert_eq!(windows(&alone), windows(&sbd));
    }

    #[test]
    fn a_path_that_changes_its_group_keeps_its_window() {
        let mut sbd = built("olia+sbd");
        acked(&mut sbd, 3, |path, tick| noise(path as u64 + 1, tick));
        let mut before = windows(&sbd);
        for tick in 300..1_500 {
            for path in 0..2 {
                sbd.on_delay(path, Span::millis(noise(path as u64 + 1, tick)));
                let (rtt, now) = (Span::millis(100), Time::ZERO + Span::millis(10 * tick + 200));
                sbd.on_ack(path, &Acked { srtt: rtt, rtt, now, ..Acked::default() });
                assert_eq!(windows(&sbd), before);
            }
            before = windows(&sbd);
        }
        let mut groups = [f64::NAN; 2];
        for (path, group) in groups.iter_mut().enumerate() {
            sbd.observe(path, &mut |name, value| {
                if name == "group" {
                    *group = value;
                }
            });
        }
        assert_eq!(groups, [0.0, 1.0]);
    }
}
