//! mTCP: a TCP on each path, except paths found to share their bottleneck with a better one.
//!
//! Source: Zhang, Lai, Krishnamurthy, Peterson and Wang, USENIX 2004, in the version of Tse 2006
//! §2.1. Subflows that share a drop-tail queue lose at the same times: of two paths, take the one
//! with fewer fast retransmits, and count those with a fast retransmit of the other path within a
//! round trip. If they are more than half, the path that carried less is suppressed, and tried
//! again later. Values that the sources leave open: at least ten fast retransmits of each; a
//! comparison every 15 s, of the data carried since the last one; and a minute until a path is
//! tried again.

use crate::kind::{Described, Kind};
use crate::laws::Reno;
use crate::scheme::Scheme;
use crate::{Acked, Cause, CongestionController, Needs, Settings, Shell, Window};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Seconds between two comparisons, and until a suppressed path is tried again.
const LOOK: f64 = 15.0;
const RETRY: f64 = 60.0;
/// Fast retransmits needed for a conclusion; also the number kept.
const LEAST: usize = 10;
const KEPT: usize = 256;
/// Fraction of them that must coincide.
const SHARED: f64 = 0.5;

#[derive(Clone, Debug, Default)]
struct Path {
    member: bool,
    srtt: f64,
    /// It has timed out again, and no ACK arrived since.
    failed: bool,
    /// Segments acknowledged since the last comparison.
    acked: f64,
    /// Times of its fast retransmits in seconds, oldest first.
    retransmits: Vec<f64>,
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
    now: f64,
    looks_at: f64,
    floor: f64,
}

/// Fraction of the events of the flow with fewer events that have one of the other within
/// `interval`; each event counts for one.
fn coincide(a: &[f64], b: &[f64], interval: f64) -> f64 {
    let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let (mut found, mut next) = (0, 0);
    for at in few {
        while next < many.len() && many[next] < at - interval {
            next += 1;
        }
        if next < many.len() && many[next] <= at + interval {
            found += 1;
            next += 1;
        }
    }
    f64::from(found) / few.len().max(1) as f64
}

impl MtcpControl {
    pub(crate) fn new(settings: Settings, paths: usize) -> Self {
        let path = Path { member: true, ..Path::default() };
        let paths: Box<[Path]> = alloc::vec![path; paths].into();
        let (tcp, floor) = (Shell::new(Reno, settings, paths.len()), settings.min_window);
        MtcpControl { tcp, paths, now: 0.0, looks_at: LOOK, floor }
    }

    /// Whether two paths are found to share a bottleneck.
    fn share(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.paths[a], &self.paths[b]);
        let (Some(first), Some(second)) = (a.retransmits.first(), b.retransmits.first()) else {
            return false;
        };
        // The same number of events reaches less far back on a path with more of them: only the
        // time covered by both counts.
        let since = first.max(*second);
        let [of_a, of_b] = [a, b].map(|path| {
            let early = path.retransmits.partition_point(|at| *at < since);
            &path.retransmits[early..]
        });
        let enough = of_a.len().min(of_b.len()) >= LEAST;
        enough && coincide(of_a, of_b, a.srtt.max(b.srtt)) > SHARED
    }

    fn active(&self, me: usize) -> bool {
        let path = &self.paths[me];
        path.member && !path.failed && path.suppressed_until.is_none()
    }

    /// Of each pair of paths that share, suppresses the one that carried less.
    fn look(&mut self) {
        for a in 0..self.paths.len() {
            for b in a + 1..self.paths.len() {
                if self.active(a) && self.active(b) && self.share(a, b) {
                    let worse = if self.paths[a].acked < self.paths[b].acked { a } else { b };
                    self.paths[worse].suppressed_until = Some(self.now + RETRY);
                    self.paths[worse].drains = true;
                }
            }
        }
        self.paths.iter_mut().for_each(|path| path.acked = 0.0);
    }

    /// Lets suppressed paths send again, and forgets their fast retransmits from before.
    fn release(&mut self) {
        for path in &mut self.paths {
            if path.suppressed_until.take().is_some() {
                path.retransmits.clear();
            }
        }
    }

    /// Restarts the paths whose suppression has expired, with the initial window.
    fn retry(&mut self) {
        for me in 0..self.paths.len() {
            let path = &mut self.paths[me];
            if path.suppressed_until.is_some_and(|until| until <= self.now) {
                let Path { member, srtt, failed, .. } = *path;
                *path = Path { member, srtt, failed, ..Path::default() };
                self.tcp.set_member(me, path.member);
            }
        }
    }
}

impl CongestionController for MtcpControl {
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        self.now = ack.now.seconds();
        self.paths[path].srtt = ack.srtt.seconds();
        self.paths[path].failed = false;
        self.paths[path].acked += ack.segments;
        self.paths[path].drains &= ack.una < ack.nxt;
        self.tcp.on_ack(path, ack);
        self.retry();
        if self.now >= self.looks_at {
            self.looks_at = self.now + LOOK;
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
            let events = &mut self.paths[path].retransmits;
            if events.len() == KEPT {
                events.remove(0);
            }
            events.push(self.now);
        }
        self.tcp.on_congestion(path, cause);
    }

    fn on_recovered(&mut self, path: usize) {
        self.tcp.on_recovered(path);
    }

    fn set_member(&mut self, path: usize, member: bool) {
        self.paths[path] = Path { member, ..Path::default() };
        self.tcp.set_member(path, member);
        if !member {
            self.release(); // a path suppressed for this one may be needed now
        }
    }

    fn undo(&mut self, path: usize) {
        if core::mem::take(&mut self.paths[path].fast) {
            self.paths[path].retransmits.pop();
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
    use crate::Time;

    /// Two paths of 100 ms that retransmit at these times, and one comparison.
    fn looked(a: &[f64], b: &[f64]) -> MtcpControl {
        let mut mtcp = MtcpControl::new(Settings::default(), 2);
        for (path, events) in [(0, a), (1, b)] {
            mtcp.paths[path].srtt = 0.1;
            for at in events {
                mtcp.now = *at;
                mtcp.on_congestion(path, Cause::FastRetransmit);
                mtcp.on_recovered(path);
            }
        }
        mtcp.paths[0].acked = 100.0;
        mtcp.now = 100.0;
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
        let few = &every(4.0, 0.0)[..LEAST - 1];
        assert!(looked(few, few).active(1));
    }

    #[test]
    fn a_path_that_was_suppressed_is_tried_again_after_a_minute_and_at_once_if_another_leaves() {
        let mut mtcp = looked(&every(4.0, 0.0), &every(4.0, 0.05));
        let mut later = mtcp.clone();
        (later.now, later.looks_at) = (161.0, f64::INFINITY);
        later.retry();
        assert_eq!(later.window(1).cwnd, 10.0);
        mtcp.set_member(0, false);
        assert!(mtcp.active(1));
    }

    #[test]
    fn each_event_counts_for_one_partner() {
        assert_eq!(coincide(&[1.0, 1.05, 1.1], &[1.0, 9.0, 9.5], 0.2), 1.0 / 3.0);
        assert_eq!(coincide(&[], &[1.0], 0.2), 0.0);
    }
}
