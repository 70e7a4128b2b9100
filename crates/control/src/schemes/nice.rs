//! TCP Nice: Vegas for the background, which halves its window when queues grow and whose window
//! may be less than a segment.
//!
//! Source: Venkataramani, Kokku and Dahlin, "TCP Nice: a mechanism for background transfers", OSDI
//! 2002, §2.3 (`minRTT`, `maxRTT`, `threshold`, `fraction`, `numCong`; values of §4) and its
//! smallest window; Vegas as in Brakmo and Peterson, JSAC 1995.
//!
//! Rules that they leave open: `maxRTT` is the round trip of a full queue, so the first slow start
//! continues until a loss and only serves to find the extremes. With the end of Vegas' slow start,
//! the flow would mistake its own packet for a queue and use 0.23 of an empty link of 5 Mb/s.
//! `numCong` counts segments, so that an ACK for two counts twice. Vegas adds its segment in a
//! round also to a fraction of one, and a round is then the 1/w round trips between two packets.
//! Its slow start doubles in every round, as Linux' does. Receivers with delayed ACKs answer a
//! single packet late: the prototype therefore sent two at a time; this does not.

use super::background::Background;
use super::each::{Each, Single};
use crate::kind::{Described, Kind};
use crate::scheme::Scheme;
use crate::slow_start::{ACK_LIMIT, ACK_LIMIT_AFTER_TIMEOUT};
use crate::{Acked, Cause, Needs, Phase, SegmentRate, Settings, Span, Window};

/// Part of the range of round trips beyond which a packet counts as late.
const THRESHOLD: f64 = 0.1;
/// Part of a window that must be late in a round.
const FRACTION: f64 = 0.5;
/// Smallest window, in segments.
const FLOOR: f64 = 1.0 / 48.0;
/// Queued packets below which Vegas grows, above which it shrinks, and above which its slow start
/// ends.
const ALPHA: f64 = 1.0;
const BETA: f64 = 3.0;
const GAMMA: f64 = 1.0;

/// TCP Nice on one path.
#[derive(Clone, Debug)]
pub(crate) struct NiceControl {
    settings: Settings,
    /// May be less than one segment.
    window: Window,
    before: Window,
    min_rtt: f64,
    max_rtt: f64,
    round: Round,
    /// The round ends when this byte is acknowledged.
    round_end: u64,
    /// Whether the first slow start is over, in which both extremes of the round trip are found.
    started: bool,
    /// Whether the last ACK was late.
    slow: bool,
    /// When the last ACK arrived, and the smoothed round trip then.
    now: f64,
    srtt: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// `numCong`: segments that were late.
    late: f64,
    /// Sum and number of the round-trip samples.
    sum: f64,
    samples: f64,
}

impl NiceControl {
    pub(crate) fn new(settings: Settings) -> Self {
        let window = Window { cwnd: settings.initial_window, ssthresh: settings.initial_ssthresh };
        NiceControl {
            settings,
            window,
            before: window,
            min_rtt: f64::INFINITY,
            max_rtt: 0.0,
            round: Round::default(),
            round_end: 0,
            started: false,
            slow: false,
            now: 0.0,
            srtt: 0.0,
        }
    }

    /// `curRTT > (1 − threshold) minRTT + threshold maxRTT`, counted for the round.
    fn sample(&mut self, rtt: f64, segments: f64) {
        self.min_rtt = self.min_rtt.min(rtt);
        self.max_rtt = self.max_rtt.max(rtt);
        self.slow = rtt > (1.0 - THRESHOLD) * self.min_rtt + THRESHOLD * self.max_rtt;
        self.round.late += if self.slow { segments } else { 0.0 };
        self.round.sum += rtt;
        self.round.samples += 1.0;
    }

    /// A round is over; `limited` says that the window was used.
    fn end_of_round(&mut self, segments: f64, limited: bool) {
        let Round { late, sum, samples } = core::mem::take(&mut self.round);
        let Window { cwnd: w, ssthresh } = self.window;
        if !self.started {
            self.slow_start(segments, limited);
        } else if late > FRACTION * w {
            self.halve();
            self.before = self.window; // a delay cannot be spurious as a loss can
        } else if samples > 0.0 {
            let rtt = sum / samples;
            let queued = w * (rtt - self.min_rtt) / rtt;
            if w < ssthresh && queued > GAMMA {
                let cwnd = w.min(w * self.min_rtt / rtt + 1.0);
                self.window = Window { cwnd, ssthresh: cwnd };
            } else if w < ssthresh {
                self.slow_start(segments, limited);
            } else if queued > BETA {
                self.window.cwnd = w - 1.0; // more than three packets are queued
            } else if queued < ALPHA && limited {
                self.window.cwnd = w + 1.0;
            }
        }
    }

    fn slow_start(&mut self, segments: f64, limited: bool) {
        let Window { cwnd, ssthresh } = self.window;
        if limited && cwnd < ssthresh {
            self.window.cwnd = (cwnd + segments).min(ssthresh);
        }
    }

    fn halve(&mut self) {
        self.started = true;
        let half = (self.window.cwnd / 2.0).max(FLOOR);
        self.window = Window { cwnd: half, ssthresh: half };
    }
}

impl Background for NiceControl {
    fn probing(settings: Settings) -> Self {
        NiceControl::new(settings)
    }

    fn listen(&mut self, ack: &Acked) {
        (self.now, self.srtt) = (ack.now.seconds(), ack.srtt.seconds());
        self.started = true;
    }

    fn at_floor(&self) -> bool {
        self.window.cwnd < self.settings.min_window + 1.0
    }

    fn slow(&self) -> bool {
        self.slow
    }

    fn due(&self, now: f64) -> bool {
        let w = self.window.cwnd;
        w >= self.settings.min_window || now >= self.now + self.srtt * (1.0 / w - 1.0)
    }
}

impl Single for NiceControl {
    fn on_ack(&mut self, ack: &Acked) {
        (self.now, self.srtt) = (ack.now.seconds(), ack.srtt.seconds());
        self.slow = false;
        if ack.rtt > Span::ZERO {
            self.sample(ack.rtt.seconds(), ack.segments);
        }
        let limit = match ack.phase {
            Phase::Open => ACK_LIMIT,
            Phase::Loss => ACK_LIMIT_AFTER_TIMEOUT,
            Phase::Recovery => return,
        };
        let segments = self.settings.counted(ack).min(limit);
        if ack.una >= self.round_end {
            self.round_end = ack.nxt;
            self.end_of_round(segments, ack.cwnd_limited);
        } else {
            self.slow_start(segments, ack.cwnd_limited);
        }
    }

    fn on_congestion(&mut self, cause: Cause) {
        if cause != Cause::TimeoutAgain {
            self.before = self.window;
            self.halve();
        }
        if matches!(cause, Cause::Timeout | Cause::TimeoutAgain) {
            self.window.cwnd = self.window.cwnd.min(self.settings.min_window);
        }
    }

    fn on_recovered(&mut self) {
        self.window.cwnd = self.window.ssthresh;
    }

    fn undo(&mut self) {
        let cwnd = self.window.cwnd.max(self.before.cwnd);
        self.window = Window { cwnd, ssthresh: self.before.ssthresh };
    }

    /// `window()` shows a window below `min_window` as `min_window`. If the new window is not above
    /// that, it may be such a shown value: the smaller window stays.
    fn restart(&mut self, window: Window) {
        let cwnd = match window.cwnd <= self.settings.min_window {
            true => window.cwnd.min(self.window.cwnd).max(FLOOR),
            false => window.cwnd,
        };
        self.window = Window { cwnd, ssthresh: window.ssthresh };
        self.before = self.window; // a later `undo` must not restore an older window
    }

    fn window(&self) -> Window {
        let Window { cwnd, ssthresh } = self.window;
        let least = self.settings.min_window;
        Window { cwnd: cwnd.max(least), ssthresh: ssthresh.max(least) }
    }

    /// A window below one segment is a packet every 1/w round trips.
    fn pacing(&self) -> Option<SegmentRate> {
        let w = self.window.cwnd;
        (w < self.settings.min_window && self.srtt > 0.0).then(|| SegmentRate(w / self.srtt))
    }
}

/// The kind `nice`, without options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nice;

impl Kind for Nice {
    const DESCRIBED: Described = Described {
        names: &["nice"],
        aliases: &["tcp-nice"],
        summary: "TCP Nice on each path independently: a background transport that may send less than a packet in a round trip.",
        formula: "Vegas (1, 3); more than w/2 packets later than 0.9 minRTT + 0.1 maxRTT in a round: w/2, at least 1/48",
        source: "Venkataramani, Kokku and Dahlin, OSDI 2002",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(Nice);
}

impl Scheme for Nice {
    type Control = Each<NiceControl>;

    fn needs(self) -> Needs {
        Needs { rates: true, ..Needs::NONE }
    }

    fn control(self, settings: Settings, paths: usize) -> Each<NiceControl> {
        Each::new(NiceControl::new(settings), paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow in congestion avoidance with `cwnd` segments, which has seen round trips of 100 to
    /// 150 ms.
    fn avoiding(cwnd: f64) -> NiceControl {
        let mut nice = NiceControl::new(Settings::default());
        nice.restart(Window { cwnd, ssthresh: 1.0 / 48.0 });
        (nice.min_rtt, nice.max_rtt, nice.srtt, nice.started) = (0.1, 0.15, 0.1, true);
        nice
    }

    /// The ACK of one segment after `rtt` seconds; the `last` one of its round, or not.
    fn hear(nice: &mut NiceControl, rtt: f64, last: bool) {
        nice.round_end = if last { 0 } else { u64::MAX };
        let ack = Acked {
            segments: 1.0,
            cwnd_limited: true,
            srtt: Span::millis(100),
            rtt: Span((rtt * 1e9) as u64),
            ..Acked::default()
        };
        nice.on_ack(&ack);
    }

    /// One round of ten ACKs, `late` of them late.
    fn round(nice: &mut NiceControl, late: u32) {
        for me in 1..=10 {
            hear(nice, if me <= late { 0.106 } else { 0.104 }, me == 10);
        }
    }

    #[test]
    fn more_than_half_of_a_window_late_halves_it_and_no_less() {
        let mut nice = avoiding(10.0);
        round(&mut nice, 5);
        assert_eq!(nice.window().cwnd, 11.0, "as Vegas: less than a packet is queued");
        let mut nice = avoiding(10.0);
        round(&mut nice, 6);
        assert_eq!(nice.window(), Window { cwnd: 5.0, ssthresh: 5.0 });
    }

    #[test]
    fn otherwise_it_is_vegas() {
        for (rtt, after) in [(0.102, 41.0), (0.1045, 40.0), (0.1099, 39.0)] {
            let mut nice = avoiding(40.0);
            nice.max_rtt = 0.2; // an ACK after more than 110 ms is late
            (1..=40).for_each(|me| hear(&mut nice, rtt, me == 40));
            assert_eq!(nice.window().cwnd, after, "{rtt}");
        }
    }

    #[test]
    fn late_answers_take_it_below_one_segment_and_to_one_packet_in_many_round_trips() {
        let mut nice = avoiding(1.0);
        for half in [0.5, 0.25] {
            hear(&mut nice, 0.12, true);
            assert_eq!((nice.window().cwnd, nice.pacing()), (1.0, Some(SegmentRate(half / 0.1))));
        }
        assert!(nice.slow() && !nice.due(0.29) && nice.due(0.31), "every fourth round trip");
        (0..10).for_each(|_| hear(&mut nice, 0.12, true));
        assert_eq!(nice.window.cwnd, FLOOR);
        hear(&mut nice, 0.1, true);
        assert_eq!((nice.window().cwnd, nice.pacing()), (1.0 + FLOOR, None));
    }

    #[test]
    fn the_first_slow_start_only_learns_what_round_trips_there_are() {
        let mut nice = NiceControl::new(Settings { initial_window: 2.0, ..Settings::default() });
        for rtt in [0.1, 0.12, 0.14, 0.16] {
            hear(&mut nice, rtt, true);
        }
        assert_eq!((nice.window().cwnd, nice.min_rtt, nice.max_rtt), (6.0, 0.1, 0.16));
    }

    #[test]
    fn a_later_slow_start_ends_when_more_than_one_packet_is_queued() {
        let mut nice = avoiding(20.0);
        nice.window.ssthresh = f64::INFINITY;
        (1..=20).for_each(|me| hear(&mut nice, 0.101, me == 20));
        assert_eq!(nice.window().cwnd, 40.0);
        (1..=40).for_each(|me| hear(&mut nice, 0.1045, me == 40));
        assert!(nice.window().cwnd < 80.0 && nice.window.cwnd == nice.window.ssthresh);
    }

    #[test]
    fn a_loss_halves_it_and_a_spurious_one_is_taken_back() {
        let mut nice = avoiding(16.0);
        nice.on_congestion(Cause::FastRetransmit);
        assert_eq!(nice.window(), Window { cwnd: 8.0, ssthresh: 8.0 });
        nice.undo();
        assert_eq!(nice.window().cwnd, 16.0);
        nice.on_congestion(Cause::Timeout);
        assert_eq!(nice.window(), Window { cwnd: 1.0, ssthresh: 8.0 });
        nice.on_congestion(Cause::Timeout);
        assert_eq!(nice.window.cwnd, 0.5);
    }

    #[test]
    fn to_go_on_with_a_segment_does_not_raise_a_fraction_of_one() {
        let mut nice = avoiding(0.25);
        nice.restart(nice.window());
        assert_eq!(nice.window.cwnd, 0.25);
        nice.restart(Window { cwnd: 4.0, ssthresh: 4.0 });
        assert_eq!(nice.window.cwnd, 4.0);
    }
}
