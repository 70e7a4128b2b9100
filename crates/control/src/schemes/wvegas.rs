//! Weighted Vegas: delay-based control that equalises congestion over paths.
//!
//! Source: Cao, Xu and Fu, ICNP 2012, and draft-xu-mptcp-congestion-control, as it was in Linux
//! (symbols `alpha_r`, `weight_r`, `total_alpha`, `gamma`, `diff`, `base_rtt`, `q_min`). It has no
//! drift: it acts once in a round trip and on delay.
//!
//! Linux' module also drains a queue that has doubled since it was smallest. A backlog that starts
//! near zero doubles long before it is `alpha_r`, so a path that drains never rests there;
//! `wvegas:nodrain` does.

use crate::kind::{Choice, Described, Kind};
use crate::scheme::Scheme;
use crate::slow_start::{ACK_LIMIT, ACK_LIMIT_AFTER_TIMEOUT};
use crate::{Acked, Cause, CongestionController, Phase, Settings, Window};
use alloc::boxed::Box;

/// Packets that all paths together keep in queues.
const TOTAL_ALPHA: f64 = 10.0;
/// Smallest and first share of a path.
const MIN_ALPHA: f64 = 2.0;
/// Queued packets at which slow start ends.
const GAMMA: f64 = 1.0;
/// Round-trip samples below which a round is Reno's.
const MIN_SAMPLES: u32 = 3;
/// Smallest window, in segments.
const FLOOR: f64 = 2.0;

/// Weighted Vegas over all paths of a connection.
#[derive(Clone, Debug)]
pub(crate) struct WvegasControl {
    settings: Settings,
    drains: bool,
    paths: Box<[Path]>,
}

#[derive(Clone, Copy, Debug)]
struct Path {
    window: Window,
    before: Window,
    /// Smallest round trip ever seen.
    base_rtt: f64,
    /// Sum and number of the samples of this round.
    sum: f64,
    samples: u32,
    /// The round ends when this byte is acknowledged.
    round_end: u64,
    /// In segments per second, of the last round in which the path had enough queued; zero before.
    rate: f64,
    alpha: f64,
    /// Smallest queueing delay since the queue was last drained; zero before the first.
    q_min: f64,
}

impl Path {
    fn new(settings: &Settings) -> Self {
        let window = Window { cwnd: settings.initial_window, ssthresh: settings.initial_ssthresh };
        Path {
            window,
            before: window,
            base_rtt: f64::INFINITY,
            sum: 0.0,
            samples: 0,
            round_end: 0,
            rate: 0.0,
            alpha: MIN_ALPHA,
            q_min: 0.0,
        }
    }

    fn in_slow_start(&self) -> bool {
        self.window.cwnd <= self.window.ssthresh
    }

    fn slow_start(&mut self, segments: f64) {
        self.window.cwnd = (self.window.cwnd + segments).min(self.window.ssthresh + 1.0);
    }

    /// `diff > alpha_r`: one packet less, and slow start ends.
    fn lower(&mut self, cwnd: f64) {
        self.window.cwnd = cwnd;
        self.window.ssthresh = self.window.ssthresh.min(cwnd - 1.0).max(FLOOR);
    }

    /// If the queue has at least doubled since it was smallest, empties it.
    fn drain(&mut self, rtt: f64) {
        let q = rtt - self.base_rtt;
        if self.q_min == 0.0 || q < self.q_min {
            self.q_min = q;
        }
        if q > 0.0 && q >= 2.0 * self.q_min {
            self.window.cwnd *= self.base_rtt / (2.0 * rtt);
            self.q_min = 0.0;
        }
    }
}

impl WvegasControl {
    pub(crate) fn new(settings: Settings, drains: bool, paths: usize) -> Self {
        WvegasControl { paths: alloc::vec![Path::new(&settings); paths].into(), drains, settings }
    }

    /// A round of `me` is over, with mean round trip `rtt`.
    fn round(&mut self, me: usize, rtt: f64, segments: f64) {
        let path = &mut self.paths[me];
        let w = path.window.cwnd;
        let diff = w * (rtt - path.base_rtt) / rtt;
        if path.in_slow_start() {
            match diff > GAMMA {
                true => path.lower(w.min(w * path.base_rtt / rtt + 1.0)),
                false => path.slow_start(segments),
            }
        } else {
            if diff >= path.alpha {
                path.rate = w / rtt;
                let total: f64 = self.paths.iter().map(|path| path.rate).sum();
                let weight = self.paths[me].rate / total;
                self.paths[me].alpha = (weight * TOTAL_ALPHA).max(MIN_ALPHA);
            }
            let path = &mut self.paths[me];
            if diff > path.alpha {
                path.lower(w - 1.0);
            } else if diff < path.alpha {
                path.window.cwnd = w + 1.0;
            }
            if self.drains {
                path.drain(rtt);
            }
        }
        let Window { cwnd, ssthresh } = &mut self.paths[me].window;
        *cwnd = cwnd.max(FLOOR).max(self.settings.min_window);
        *ssthresh = ssthresh.max(0.75 * *cwnd); // so that slow start brings a drained path back
    }
}

impl CongestionController for WvegasControl {
    fn on_ack(&mut self, me: usize, ack: &Acked) {
        let path = &mut self.paths[me];
        path.base_rtt = path.base_rtt.min(ack.rtt.seconds());
        path.sum += ack.rtt.seconds();
        path.samples += 1;
        let limit = match ack.phase {
            Phase::Open => ACK_LIMIT,
            Phase::Loss => ACK_LIMIT_AFTER_TIMEOUT,
            Phase::Recovery => return,
        };
        let segments = self.settings.counted(ack).min(limit);
        if ack.una >= path.round_end {
            let (rtt, samples) = (path.sum / f64::from(path.samples), path.samples);
            (path.sum, path.samples, path.round_end) = (0.0, 0, ack.nxt);
            if samples >= MIN_SAMPLES && ack.cwnd_limited {
                self.round(me, rtt, segments);
            } else if ack.cwnd_limited && !path.in_slow_start() {
                path.window.cwnd += segments / path.window.cwnd; // Reno's
            }
        } else if ack.cwnd_limited && path.in_slow_start() {
            path.slow_start(segments);
        }
    }

    fn on_congestion(&mut self, me: usize, cause: Cause) {
        let path = &mut self.paths[me];
        if cause != Cause::TimeoutAgain {
            path.before = path.window;
            path.window.ssthresh =
                (path.window.cwnd / 2.0).max(FLOOR).max(self.settings.min_window);
        }
        path.window.cwnd = match cause {
            Cause::FastRetransmit | Cause::Mark => path.window.ssthresh,
            Cause::Timeout | Cause::TimeoutAgain => {
                path.rate = 0.0;
                self.settings.min_window
            }
        };
    }

    fn on_recovered(&mut self, me: usize) {
        self.paths[me].window.cwnd = self.paths[me].window.ssthresh;
    }

    fn set_member(&mut self, me: usize, _member: bool) {
        self.paths[me] = Path::new(&self.settings);
    }

    fn undo(&mut self, me: usize) {
        let Path { window, before, .. } = &mut self.paths[me];
        window.cwnd = window.cwnd.max(before.cwnd);
        window.ssthresh = window.ssthresh.max(before.ssthresh);
    }

    /// The smallest round trip is kept: a new measurement would find the queue full.
    fn restart(&mut self, me: usize, window: Window) {
        self.paths[me].window = window;
    }

    fn window(&self, me: usize) -> Window {
        self.paths[me].window
    }
}

/// The treatment of a queue that has doubled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wvegas {
    /// Drained, as in Linux' module.
    Drained,
    /// Kept.
    Kept,
}

impl Kind for Wvegas {
    const DESCRIBED: Described = Described {
        names: &["wvegas"],
        aliases: &["weighted-vegas"],
        summary: "Weighted Vegas; delay-based, equalises queueing over the paths.",
        formula: "once a round trip: ±1 towards alpha_r = 10 x_r / Σx queued packets; decrease to w/2",
        source: "Cao, Xu and Fu, ICNP 2012; Internet-Draft of Xu et al.",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(Wvegas::Drained);
    const CHOICES: &'static [Choice<Self>] =
        &[Choice::word("nodrain", Wvegas::Kept, "without draining queues that have doubled")];
}

impl Scheme for Wvegas {
    type Control = WvegasControl;

    fn control(self, settings: Settings, paths: usize) -> WvegasControl {
        WvegasControl::new(settings, self == Wvegas::Drained, paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;

    fn avoiding(windows: &[f64]) -> WvegasControl {
        let mut wvegas = WvegasControl::new(Settings::default(), true, windows.len());
        for (path, w) in wvegas.paths.iter_mut().zip(windows) {
            path.window = Window { cwnd: *w, ssthresh: 2.0 };
            (path.base_rtt, path.round_end) = (0.1, u64::MAX);
        }
        wvegas
    }

    /// One round of `me` in which every sample is the round trip with `queued` packets in the
    /// queue.
    fn round(wvegas: &mut WvegasControl, me: usize, queued: f64) {
        let w = wvegas.window(me).cwnd;
        let rtt = 0.1 / (1.0 - queued / w); // w (rtt − base) / rtt = queued
        let ack = Acked {
            segments: 1.0,
            cwnd_limited: true,
            rtt: Span((rtt * 1e9) as u64),
            una: 1,
            nxt: 1,
            ..Acked::default()
        };
        for last in [false, false, false, true] {
            wvegas.paths[me].round_end = if last { 0 } else { u64::MAX };
            wvegas.on_ack(me, &ack);
        }
    }

    #[test]
    fn the_worked_example_has_four_packets_queued() {
        let (w, base, rtt) = (20.0_f64, 0.1, 0.125);
        assert!((w * (rtt - base) / rtt - 4.0).abs() < 1e-9);
        let mut wvegas = avoiding(&[20.0]);
        round(&mut wvegas, 0, 4.0); // alpha 2 until now; alone it becomes 10, and the window grows
        assert_eq!((wvegas.paths[0].alpha, wvegas.window(0).cwnd), (10.0, 21.0));
    }

    #[test]
    fn equal_paths_share_the_backlog_and_each_holds_its_window_there() {
        let mut wvegas = avoiding(&[40.0, 40.0]);
        for _ in 0..4 {
            (0..2).for_each(|me| round(&mut wvegas, me, 10.0));
        }
        let total: f64 = wvegas.paths.iter().map(|path| path.alpha).sum();
        assert!((total - TOTAL_ALPHA).abs() < 0.5, "{total}");
        for (queued, by) in [(3.0, 1.0), (7.0, -1.0)] {
            let before = wvegas.window(0).cwnd;
            wvegas.paths[0].q_min = 1.0; // not to be drained
            round(&mut wvegas, 0, queued);
            assert!((wvegas.window(0).cwnd - before - by).abs() < 1e-9);
        }
    }

    #[test]
    fn slow_start_ends_when_more_than_one_packet_is_queued() {
        let mut wvegas = avoiding(&[20.0]);
        wvegas.paths[0].window.ssthresh = f64::INFINITY;
        round(&mut wvegas, 0, 0.5);
        assert!(wvegas.paths[0].in_slow_start());
        round(&mut wvegas, 0, 3.0);
        assert!(!wvegas.paths[0].in_slow_start());
    }

    #[test]
    fn a_queue_that_has_doubled_is_drained() {
        let mut wvegas = avoiding(&[40.0]);
        wvegas.paths[0].alpha = 10.0;
        round(&mut wvegas, 0, 4.0);
        let before = wvegas.window(0).cwnd;
        round(&mut wvegas, 0, 9.0);
        assert!(wvegas.window(0).cwnd < 0.6 * before, "{:?}", wvegas.window(0));
    }
}
