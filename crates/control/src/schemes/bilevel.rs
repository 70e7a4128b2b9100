//! Bilevel TCP: a window for each path sets its part of a master window.
//!
//! Source: Tse 2006, §2.3, eq. 2.2 (symbols `cwnd_M`, `cwnd_i`). Rules that §2.3 leaves open:
//! losses of several paths within one round trip of the master, the rate-weighted mean of theirs,
//! are one event to it; its slow start ends with the first loss on any path; `cwnd_M` is at least
//! one and `cwnd_i` at least 1/64. A timeout sets `cwnd_i` to one, and no path uses more than
//! `cwnd_i`, so that it restarts as TCP does. A path whose part is below one segment sends one at a
//! time, paced so that it has its part on average.

use crate::kind::{Described, Kind};
use crate::scheme::Scheme;
use crate::shell::grow_as_tcp;
use crate::slow_start::{ACK_LIMIT, ACK_LIMIT_AFTER_TIMEOUT};
use crate::{Acked, Cause, CongestionController, Needs, Phase, SegmentRate, Settings, Window};
use alloc::boxed::Box;

/// Smallest window of a path, in segments.
const FLOOR: f64 = 1.0 / 64.0;

#[derive(Clone, Copy, Debug)]
struct Path {
    window: Window,
    /// The window before its last reduction.
    before: Window,
    srtt: f64,
    member: bool,
}

#[derive(Clone, Copy, Debug)]
struct Master {
    window: Window,
    /// Before this time, in seconds, a loss belongs to the event already answered.
    next_event: f64,
}

/// Bilevel TCP over all paths of a connection.
#[derive(Clone, Debug)]
pub(crate) struct BilevelControl {
    settings: Settings,
    master: Master,
    paths: Box<[Path]>,
    /// The master before its last reduction, and the path that caused it.
    before: (Master, usize),
    now: f64,
}

fn halve(window: &mut Window, floor: f64) {
    let half = (window.cwnd / 2.0).max(floor);
    *window = Window { cwnd: half, ssthresh: half };
}

impl BilevelControl {
    pub(crate) fn new(settings: Settings, paths: usize) -> Self {
        let window = Window { cwnd: settings.initial_window, ssthresh: settings.initial_ssthresh };
        let master = Master { window, next_event: f64::NEG_INFINITY };
        let path = Path { window, before: window, srtt: 0.0, member: true };
        let paths = alloc::vec![path; paths].into();
        BilevelControl { settings, master, paths, before: (master, 0), now: 0.0 }
    }

    fn total(&self) -> f64 {
        self.paths.iter().filter(|path| path.member).map(|path| path.window.cwnd).sum()
    }

    /// Eq. 2.2: the part of the master window that `me` may use.
    fn part(&self, me: usize) -> f64 {
        let own = self.paths[me].window.cwnd;
        (self.master.window.cwnd * own / self.total().max(FLOOR)).min(own)
    }

    /// Mean round trip of the paths, weighted by their rates, in seconds.
    fn srtt(&self) -> f64 {
        let known = || self.paths.iter().filter(|path| path.member && path.srtt > 0.0);
        let rates: f64 = known().map(|path| path.window.cwnd / path.srtt).sum();
        let windows: f64 = known().map(|path| path.window.cwnd).sum();
        if rates > 0.0 { windows / rates } else { 0.0 }
    }
}

impl CongestionController for BilevelControl {
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        self.now = ack.now.seconds();
        self.paths[path].srtt = ack.srtt.seconds();
        let limit = match ack.phase {
            Phase::Open => ACK_LIMIT,
            Phase::Loss => ACK_LIMIT_AFTER_TIMEOUT,
            Phase::Recovery => return,
        };
        if ack.cwnd_limited {
            let segments = self.settings.counted(ack).min(limit);
            grow_as_tcp(&mut self.paths[path].window, segments);
            grow_as_tcp(&mut self.master.window, segments);
        }
    }

    fn on_congestion(&mut self, path: usize, cause: Cause) {
        if cause != Cause::TimeoutAgain {
            self.paths[path].before = self.paths[path].window;
            if self.now >= self.master.next_event {
                self.before = (self.master, path);
                halve(&mut self.master.window, self.settings.min_window);
                self.master.next_event = self.now + self.srtt();
            }
            halve(&mut self.paths[path].window, FLOOR);
        }
        if matches!(cause, Cause::Timeout | Cause::TimeoutAgain) {
            let cwnd = &mut self.paths[path].window.cwnd;
            *cwnd = cwnd.min(self.settings.min_window);
        }
    }

    fn on_recovered(&mut self, _path: usize) {}

    fn set_member(&mut self, path: usize, member: bool) {
        let Settings { initial_window: cwnd, initial_ssthresh: ssthresh, .. } = self.settings;
        let window = Window { cwnd, ssthresh };
        self.paths[path] = Path { window, before: window, srtt: 0.0, member };
    }

    fn undo(&mut self, path: usize) {
        let (master, by) = self.before;
        if by == path && master.window.cwnd > self.master.window.cwnd {
            self.master = master;
        }
        let Path { window, before, .. } = &mut self.paths[path];
        if before.cwnd > window.cwnd {
            *window = *before;
        }
    }

    fn restart(&mut self, path: usize, window: Window) {
        // `window` is a new value of the path's part, as `window()` shows it: scale it to the
        // path's own window. A restart never enlarges that; only ACKs do.
        let own = self.paths[path].window.cwnd;
        let scale = own / self.part(path);
        let cwnd = (window.cwnd * scale).clamp(FLOOR, own);
        self.paths[path].window = Window { cwnd, ssthresh: window.ssthresh * scale };
    }

    fn window(&self, path: usize) -> Window {
        let cwnd = self.part(path).max(self.settings.min_window);
        Window { cwnd, ssthresh: cwnd } // in recovery, the window at its end
    }

    fn pacing(&self, path: usize) -> Option<SegmentRate> {
        let (part, srtt) = (self.part(path), self.paths[path].srtt);
        (part < self.settings.min_window && srtt > 0.0).then(|| SegmentRate(part / srtt))
    }
}

/// The kind `bilevel`, without options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bilevel;

impl Kind for Bilevel {
    const DESCRIBED: Described = Described {
        names: &["bilevel"],
        aliases: &["bilevel-tcp"],
        summary: "Bilevel TCP: the paths divide a master window in proportion to windows of their own.",
        formula: "path i: w_M w_i / Σw, at most w_i; an ACK adds 1/w_i and 1/w_M, a loss halves w_i and w_M",
        source: "Tse 2006, §2.3, eq. 2.2",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(Bilevel);
}

impl Scheme for Bilevel {
    type Control = BilevelControl;

    fn needs(self) -> Needs {
        Needs { rates: true, siblings: true, ..Needs::NONE }
    }

    fn control(self, settings: Settings, paths: usize) -> BilevelControl {
        BilevelControl::new(settings, paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Span, Time};

    fn avoiding(windows: [f64; 2], master: f64) -> BilevelControl {
        let mut bilevel = BilevelControl::new(Settings::default(), 2);
        for (path, cwnd) in bilevel.paths.iter_mut().zip(windows) {
            let window = Window { cwnd, ssthresh: 1.0 };
            *path = Path { window, before: window, srtt: 0.1, member: true };
        }
        bilevel.master.window = Window { cwnd: master, ssthresh: 1.0 };
        bilevel
    }

    fn acked(seconds: f64) -> Acked {
        let (now, srtt) = (Time((seconds * 1e9) as u64), Span::millis(100));
        Acked { segments: 1.0, srtt, cwnd_limited: true, now, ..Acked::default() }
    }

    #[test]
    fn paths_divide_the_master_window_as_their_own_windows_say() {
        let bilevel = avoiding([30.0, 10.0], 20.0);
        assert_eq!((bilevel.window(0).cwnd, bilevel.window(1).cwnd), (15.0, 5.0));
        assert_eq!(bilevel.pacing(0), None);
    }

    #[test]
    fn an_ack_grows_path_and_master_each_by_its_own_window() {
        let mut bilevel = avoiding([8.0, 4.0], 10.0);
        bilevel.on_ack(1, &acked(1.0));
        assert_eq!(bilevel.paths[1].window.cwnd, 4.25);
        assert_eq!(bilevel.master.window.cwnd, 10.1);
        assert_eq!(bilevel.paths[0].window.cwnd, 8.0);
    }

    #[test]
    fn a_loss_halves_its_path_and_the_master_and_the_master_once_in_a_round_trip() {
        let mut bilevel = avoiding([8.0, 4.0], 10.0);
        bilevel.now = 1.0;
        bilevel.on_congestion(0, Cause::FastRetransmit);
        assert_eq!((bilevel.paths[0].window.cwnd, bilevel.master.window.cwnd), (4.0, 5.0));
        bilevel.now = 1.05;
        bilevel.on_congestion(1, Cause::FastRetransmit);
        assert_eq!((bilevel.paths[1].window.cwnd, bilevel.master.window.cwnd), (2.0, 5.0));
        bilevel.now = 1.11;
        bilevel.on_congestion(1, Cause::FastRetransmit);
        assert_eq!((bilevel.paths[1].window.cwnd, bilevel.master.window.cwnd), (1.0, 2.5));
    }

    #[test]
    fn a_part_below_one_segment_is_one_segment_at_a_time_and_its_part_on_average() {
        let bilevel = avoiding([39.0, 1.0], 20.0);
        assert_eq!(bilevel.window(1).cwnd, 1.0);
        assert_eq!(bilevel.pacing(1), Some(SegmentRate(0.5 / 0.1)));
    }

    #[test]
    fn windows_of_a_path_may_be_fractions_and_the_master_s_is_at_least_one() {
        let mut bilevel = avoiding([1.0, 1.0], 2.0);
        for round in 1..20 {
            bilevel.now = f64::from(round);
            bilevel.on_congestion(0, Cause::FastRetransmit);
        }
        assert_eq!((bilevel.paths[0].window.cwnd, bilevel.master.window.cwnd), (FLOOR, 1.0));
    }

    #[test]
    fn a_path_takes_back_its_own_reduction_and_no_other() {
        let mut bilevel = avoiding([8.0, 40.0], 20.0);
        bilevel.now = 1.0;
        bilevel.on_congestion(0, Cause::FastRetransmit);
        bilevel.now = 2.0;
        bilevel.on_congestion(1, Cause::FastRetransmit);
        bilevel.undo(0);
        assert_eq!((bilevel.paths[0].window.cwnd, bilevel.master.window.cwnd), (8.0, 5.0));
        bilevel.undo(1);
        assert_eq!((bilevel.paths[1].window.cwnd, bilevel.master.window.cwnd), (40.0, 10.0));
    }

    #[test]
    fn to_halve_what_a_path_uses_is_to_halve_its_window() {
        let mut bilevel = avoiding([30.0, 10.0], 20.0);
        bilevel.restart(0, Window { cwnd: 7.5, ssthresh: 7.5 });
        assert_eq!(bilevel.paths[0].window, Window { cwnd: 15.0, ssthresh: 15.0 });
    }

    #[test]
    fn to_go_on_with_more_than_its_part_gives_a_path_no_more() {
        let mut bilevel = avoiding([30.0, 10.0], 2.0);
        (0..1000).for_each(|_| bilevel.restart(0, Window { cwnd: 200.0, ssthresh: 200.0 }));
        assert_eq!(
            (bilevel.window(0).cwnd, bilevel.pacing(1)),
            (1.5, Some(SegmentRate(0.5 / 0.1)))
        );
    }

    #[test]
    fn a_spurious_event_is_taken_back_on_both_levels() {
        let mut bilevel = avoiding([8.0, 4.0], 10.0);
        bilevel.on_congestion(0, Cause::Timeout);
        assert_eq!((bilevel.paths[0].window.cwnd, bilevel.window(0).cwnd), (1.0, 1.0));
        bilevel.undo(0);
        assert_eq!((bilevel.paths[0].window.cwnd, bilevel.master.window.cwnd), (8.0, 10.0));
    }
}
