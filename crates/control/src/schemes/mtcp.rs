//! mTCP: a TCP on each path, except paths found to share their bottleneck with a better one.
//!
//! Source: Zhang, Lai, Krishnamurthy, Peterson and Wang, USENIX 2004, in the version of Tse 2006
//! §2.1. Subflows that share a drop-tail queue lose at the same times: of two paths, take the one
//! with fewer fast retransmits, and count those with a fast retransmit of the other path within a
//! round trip. If they are more than half, the path that carried less is suppressed, and tried
//! again later. The detector is `losses` of the crate `sharing`, and hears of fast retransmits
//! alone. Values that the sources leave open: a comparison every 15 s, of the data carried since
//! the last one; and a minute until a path is tried again.

use crate::kind::{Described, Kind};
use crate::laws::Reno;
use crate::scheme::Scheme;
use crate::{Acked, Cause, CongestionController, Needs, Settings, Shell, Time, Window};
use alloc::boxed::Box;
use sharing::{Detector, Losses};

/// Seconds between two comparisons, and until a suppressed path is tried again.
const LOOK: f64 = 15.0;
const RETRY: f64 = 60.0;

#[derive(Clone, Debug, Default)]
struct Path {
    member: bool,
    /// It has timed out again, and no ACK arrived since.
    failed: bool,
    /// Segments acknowledged since the last comparison.
    acked: f64,
    /// Whether its last congestion event was a fast retransmit.
    fast: bool,
    /// When it is tried again, if it is suppressed.
    suppressed_until: Option<f64>,
    /// It is suppressed, and may still repair outstanding data.
    drains: bool,
}

/// mTCP over all paths of a connection.
#[derive(Clone, Debug)]
pub(crate) struct MtcpControl {
    tcp: Shell<Reno>,
    paths: Box<[Path]>,
    retransmits: Losses,
    now: Time,
    looks_at: f64,
    floor: f64,
}

impl MtcpControl {
    pub(crate) fn new(settings: Settings, paths: usize) -> Self {
        let path = Path { member: true, ..Path::default() };
        let paths: Box<[Path]> = alloc::vec![path; paths].into();
        let (tcp, floor) = (Shell::new(Reno, settings, paths.len()), settings.min_window);
        let retransmits = Losses::new(paths.len());
        MtcpControl { tcp, paths, retransmits, now: Time::ZERO, looks_at: LOOK, floor }
    }

    fn active(&self, me: usize) -> bool {
        let path = &self.paths[me];
        path.member && !path.failed && path.suppressed_until.is_none()
    }

    /// Of each pair of paths that share, suppresses the one that carried less.
    fn look(&mut self) {
        for a in 0..self.paths.len() {
            for b in a + 1..self.paths.len() {
                if self.active(a) && self.active(b) && self.retransmits.share(a, b) {
                    let worse = if self.paths[a].acked < self.paths[b].acked { a } else { b };
                    self.paths[worse].suppressed_until = Some(self.now.seconds() + RETRY);
                    self.paths[worse].drains = true;
                }
            }
        }
        self.paths.iter_mut().for_each(|path| path.acked = 0.0);
    }

    /// Lets suppressed paths send again, and forgets their fast retransmits from before.
    fn release(&mut self) {
        for (me, path) in self.paths.iter_mut().enumerate() {
            if path.suppressed_until.take().is_some() {
                self.retransmits.forget(me);
            }
        }
    }

    /// Restarts the paths whose suppression has expired, with the initial window.
    fn retry(&mut self) {
        for me in 0..self.paths.len() {
            let path = &mut self.paths[me];
            if path.suppressed_until.is_some_and(|until| until <= self.now.seconds()) {
                let Path { member, failed, .. } = *path;
                *path = Path { member, failed, ..Path::default() };
                self.retransmits.forget(me);
                self.tcp.set_member(me, path.member);
            }
        }
    }
}

impl CongestionController for MtcpControl {
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        self.now = ack.now;
        self.retransmits.set_rtt(path, ack.srtt.seconds());
        self.paths[path].failed = false;
        self.paths[path].acked += ack.segments;
        self.paths[path].drains &= ack.una < ack.nxt;
        self.tcp.on_ack(path, ack);
        self.retry();
        if self.now.seconds() >= self.looks_at {
            self.looks_at = self.now.seconds() + LOOK;
            self.look();
        }
    }

    fn on_congestion(&mut self, path: usize, cause: Cause) {
        self.paths[path].fast = cause == Cause::FastRetransmit;
        if cause == Cause::TimeoutAgain && self.active(path) {
            self.paths[path].failed = true;
            self.release(); // another path may send now
        }
        if self.paths[path].fast {
            self.retransmits.on_loss(path, self.now);
        }
        self.tcp.on_congestion(path, cause);
    }

    fn on_recovered(&mut self, path: usize) {
        self.tcp.on_recovered(path);
    }

    fn set_member(&mut self, path: usize, member: bool) {
        self.paths[path] = Path { member, ..Path::default() };
        self.retransmits.forget(path);
        self.retransmits.set_rtt(path, 0.0);
        self.tcp.set_member(path, member);
        if !member {
            self.release(); // a path suppressed for this one may be needed now
        }
    }

    fn undo(&mut self, path: usize) {
        if core::mem::take(&mut self.paths[path].fast) {
            self.retransmits.on_spurious(path);
        }
        self.tcp.undo(path);
    }

    fn restart(&mut self, path: usize, window: Window) {
        self.tcp.restart(path, window);
    }

    fn window(&self, path: usize) -> Window {
        let window = self.tcp.window(path);
        match self.paths[path] {
            Path { suppressed_until: None, .. } => window,
            Path { drains: true, .. } => Window { cwnd: self.floor, ..window },
            _ => Window { cwnd: 0.0, ..window },
        }
    }

    fn on_stalled(&mut self) {
        self.release();
    }
}

/// The kind `mtcp`, without options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mtcp;

impl Kind for Mtcp {
    const DESCRIBED: Described = Described {
        names: &["mtcp"],
        summary: "A TCP on every path; of two paths that lose packets at the same times, only on the better one.",
        formula: "Reno; more than half of the fast retransmits within a round trip: one bottleneck",
        source: "Zhang et al., USENIX 2004; Tse 2006, §2.1",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(Mtcp);
}

impl Scheme for Mtcp {
    type Control = MtcpControl;

    fn needs(self) -> Needs {
        Needs { siblings: true, ..Needs::NONE }
    }

    fn control(self, settings: Settings, paths: usize) -> MtcpControl {
        MtcpControl::new(settings, paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Two paths of 100 ms that retransmit at these times, and one comparison.
    fn looked(a: &[f64], b: &[f64]) -> MtcpControl {
        let mut mtcp = MtcpControl::new(Settings::default(), 2);
        for (path, events) in [(0, a), (1, b)] {
            mtcp.retransmits.set_rtt(path, 0.1);
            for at in events {
                mtcp.now = Time((*at * 1e9) as u64);
                mtcp.on_congestion(path, Cause::FastRetransmit);
                mtcp.on_recovered(path);
            }
        }
        mtcp.paths[0].acked = 100.0;
        mtcp.now = Time(100_000_000_000);
        mtcp.look();
        mtcp
    }

    fn every(seconds: f64, shift: f64) -> Vec<f64> {
        (0..20).map(|number| f64::from(number) * seconds + shift).collect()
    }

    #[test]
    fn paths_that_lose_together_are_one_and_the_better_one_stays() {
        let mtcp = looked(&every(4.0, 0.0), &every(4.0, 0.05));
        assert!(mtcp.window(0).cwnd > 0.0);
        assert_eq!(mtcp.window(1).cwnd, 1.0, "it repairs what it has outstanding");
        let mut drained = mtcp;
        drained
            .on_ack(1, &Acked { una: 5, nxt: 5, now: Time(100_000_000_000), ..Acked::default() });
        assert_eq!(drained.window(1).cwnd, 0.0);
    }

    #[test]
    fn paths_that_lose_at_other_times_stay_both() {
        let mtcp = looked(&every(4.0, 0.0), &every(4.0, 2.0));
        assert!(mtcp.active(0) && mtcp.active(1));
    }

    #[test]
    fn a_few_losses_prove_nothing() {
        let few = &every(4.0, 0.0)[..9];
        assert!(looked(few, few).active(1));
    }

    #[test]
    fn a_path_that_was_suppressed_is_tried_again_after_a_minute_and_at_once_if_another_leaves() {
        let mut mtcp = looked(&every(4.0, 0.0), &every(4.0, 0.05));
        let mut later = mtcp.clone();
        (later.now, later.looks_at) = (Time(161_000_000_000), f64::INFINITY);
        later.retry();
        assert_eq!(later.window(1).cwnd, 10.0);
        mtcp.set_member(0, false);
        assert!(mtcp.active(1));
    }
}
