//! A law that couples only paths that share a bottleneck: `LAW+sbd`.
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

use crate::laws::AnyShell;
use crate::slow_start::AnySlowStart;
use crate::{
    Acked, AnyDetector, Cause, CongestionController, ControllerKind, See, Settings, Span, Time,
    Window,
};
use alloc::boxed::Box;
use alloc::sync::Arc;
use sharing::{Detection, Sample};

/// One law on each group of paths of a connection.
#[derive(Clone, Debug)]
pub(crate) struct WhenShared {
    /// For each group the shell of its members; the group's number is its first path.
    shells: Box<[AnyShell<AnySlowStart>]>,
    /// The group of each path.
    groups: Box<[usize]>,
    detection: Detection,
    /// One-way delay of the data that the next ACK acknowledges.
    delay: Span,
    now: Time,
}

impl WhenShared {
    /// All paths in one group. `None` if `law` is not a law in the readable shell.
    pub(crate) fn new(
        law: &ControllerKind,
        detector: AnyDetector,
        settings: Settings,
        paths: usize,
    ) -> Option<Self> {
        let settings = Arc::new(settings);
        let shell = match law {
            ControllerKind::Law(law, slow) => AnyShell::new(*law, *slow, settings, paths),
            ControllerKind::Written(law, slow) => {
                AnyShell::written(law.clone(), *slow, settings, paths)
            }
            _ => return None,
        };
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

    fn shell(&mut self, path: usize) -> &mut AnyShell<AnySlowStart> {
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
        self.shells[self.groups[path]].observe(path, see);
    }
}
