//! TCP-LP: a TCP for the background, which yields when a queue grows and not only when it
//! overflows.
//!
//! Source: Kuzmanovic and Knightly, "TCP-LP: low-priority service via end-point congestion
//! control", ToN 2006 (symbols `sd`, `d_min`, `d_max`, `δ`, `itt`); Tse 2006 §2.2. Delay is
//! compared once in a round trip, and after an indication only once the data in flight has been
//! acknowledged: its delays are those of the old window, and would give a second indication each
//! time. The delay is `sd`, smoothed with gain 1/8, also while the window is one segment. Tse's
//! §3.1 has the probe's own answer decide ("if the ACK arrives quickly enough"). Here it takes some
//! eight probes until a fallen delay shows in `sd`: a path with a turn every 15 round trips needs
//! about a hundred round trips. Linux' `tcp_lp` compares on every ACK and instead forgets both
//! extremes at each indication: `lp:reset`.

use super::background::Background;
use super::each::{Each, Single};
use crate::kind::{Choice, Described, Kind};
use crate::scheme::Scheme;
use crate::shell::grow_as_tcp;
use crate::slow_start::{ACK_LIMIT, ACK_LIMIT_AFTER_TIMEOUT};
use crate::{Acked, Cause, Needs, Phase, Settings, Span, Window};

/// Part of the range of delays beyond which a path counts as congested.
const DELTA: f64 = 0.15;
/// Gain of the smoothed delay.
const GAIN: f64 = 1.0 / 8.0;
/// `itt`: round trips without growth after an indication.
const INFERENCE: f64 = 3.0;

/// One-way delays of a path, in seconds, up to an offset.
#[derive(Clone, Copy, Debug)]
struct Delays {
    sd: f64,
    d_min: f64,
    /// The second largest sample: one outlier does not count.
    d_max: f64,
    largest: f64,
}

impl Delays {
    const NONE: Delays = Delays {
        sd: f64::NAN,
        d_min: f64::INFINITY,
        d_max: f64::NEG_INFINITY,
        largest: f64::NEG_INFINITY,
    };

    fn sample(&mut self, delay: f64) {
        self.sd = if self.sd.is_nan() { delay } else { self.sd + GAIN * (delay - self.sd) };
        self.d_min = self.d_min.min(delay);
        self.d_max = self.d_max.max(delay.min(self.largest));
        self.largest = self.largest.max(delay);
    }

    /// `sd ≥ d_min + δ (d_max − d_min)`, once the two differ.
    fn congested(&self) -> bool {
        self.d_max > self.d_min && self.sd >= self.d_min + DELTA * (self.d_max - self.d_min)
    }

    fn reset(&mut self) {
        self.d_min = self.sd;
        (self.d_max, self.largest) = (2.0 * self.sd, 2.0 * self.sd);
    }
}

/// TCP-LP on one path.
#[derive(Clone, Debug)]
pub(crate) struct LpControl {
    settings: Settings,
    /// The extremes are reset as in Linux.
    resets: bool,
    state: State,
    before: State,
    delays: Delays,
    /// Delay is compared again when this byte is acknowledged, unless it was sent before an
    /// indication.
    round_end: u64,
    settling: bool,
    /// Bytes acknowledged, and bytes sent.
    una: u64,
    nxt: u64,
    /// When the last ACK arrived, and the smoothed round trip then.
    now: f64,
    srtt: f64,
    /// Whether the first slow start is over, in which both extremes of the delay are found.
    started: bool,
    /// Whether the last ACK found the path congested, or within an inference: the window did not
    /// grow.
    slow: bool,
}

#[derive(Clone, Copy, Debug)]
struct State {
    window: Window,
    /// Until then the window does not grow, and another indication sets it to one segment.
    inference_until: f64,
}

impl LpControl {
    pub(crate) fn new(settings: Settings, resets: bool) -> Self {
        let window = Window { cwnd: settings.initial_window, ssthresh: settings.initial_ssthresh };
        let state = State { window, inference_until: f64::NEG_INFINITY };
        LpControl {
            settings,
            resets,
            state,
            before: state,
            delays: Delays::NONE,
            round_end: 0,
            settling: false,
            una: 0,
            nxt: 0,
            now: 0.0,
            srtt: 0.0,
            started: false,
            slow: false,
        }
    }

    fn inferring(&self) -> bool {
        self.now < self.state.inference_until
    }

    /// Early congestion indication, or a loss: halves the window; a second one sets it to one
    /// segment.
    fn indicate(&mut self) {
        let half = self.state.window.cwnd / 2.0;
        let cwnd = if self.inferring() { 0.0 } else { half };
        let cwnd = cwnd.max(self.settings.min_window);
        self.state.window = Window { cwnd, ssthresh: cwnd };
        self.state.inference_until = self.now + INFERENCE * self.srtt;
        self.started = true;
        (self.settling, self.round_end) = (self.nxt > self.una, self.nxt);
    }

    /// Whether a round trip is over whose data was all sent after the last indication.
    fn round_over(&mut self) -> bool {
        if self.una < self.round_end {
            return false;
        }
        self.round_end = self.nxt;
        !core::mem::take(&mut self.settling)
    }
}

impl Background for LpControl {
    fn probing(settings: Settings) -> Self {
        LpControl::new(settings, false)
    }

    fn listen(&mut self, ack: &Acked) {
        (self.now, self.srtt) = (ack.now.seconds(), ack.srtt.seconds());
        self.started = true;
    }

    fn at_floor(&self) -> bool {
        self.state.window.cwnd < self.settings.min_window + 1.0
    }

    fn slow(&self) -> bool {
        self.slow
    }
}

impl Single for LpControl {
    fn on_ack(&mut self, ack: &Acked) {
        (self.now, self.srtt) = (ack.now.seconds(), ack.srtt.seconds());
        (self.una, self.nxt) = (ack.una, ack.nxt);
        self.slow = false;
        let limit = match ack.phase {
            Phase::Open => ACK_LIMIT,
            Phase::Loss => ACK_LIMIT_AFTER_TIMEOUT,
            Phase::Recovery => return,
        };
        let round = self.round_over();
        if self.started && (round || self.resets) && self.delays.congested() {
            self.indicate();
            self.before = self.state; // a delay cannot be spurious as a loss can
            self.slow = true;
            if self.resets {
                self.delays.reset();
            }
        } else if self.inferring() {
            self.slow = true;
        } else if ack.cwnd_limited {
            grow_as_tcp(&mut self.state.window, self.settings.counted(ack).min(limit));
        }
    }

    fn on_delay(&mut self, delay: Span) {
        self.delays.sample(delay.seconds());
    }

    fn on_congestion(&mut self, cause: Cause) {
        if cause != Cause::TimeoutAgain {
            self.before = self.state;
            self.indicate();
        }
        if matches!(cause, Cause::Timeout | Cause::TimeoutAgain) {
            self.state.window.cwnd = self.settings.min_window;
        }
    }

    fn on_recovered(&mut self) {
        self.state.window.cwnd = self.state.window.ssthresh;
    }

    fn undo(&mut self) {
        let cwnd = self.state.window.cwnd.max(self.before.window.cwnd);
        self.state = self.before;
        self.state.window.cwnd = cwnd;
    }

    fn restart(&mut self, window: Window) {
        self.state.window = window;
        self.before = self.state; // an earlier reduction must not be undone now
    }

    fn window(&self) -> Window {
        self.state.window
    }
}

/// The extremes of the delay after an indication of congestion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lp {
    /// Kept.
    Kept,
    /// Forgotten, as in Linux.
    Reset,
}

impl Kind for Lp {
    const DESCRIBED: Described = Described {
        names: &["lp"],
        aliases: &["tcp-lp"],
        summary: "TCP-LP on each path independently: a background transport that yields when a queue grows.",
        formula: "Reno; one-way delay above d_min + 0.15 (d_max − d_min): w/2, within 3 round trips again: 1",
        source: "Kuzmanovic and Knightly, ToN 2006; Tse 2006, §2.2",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(Lp::Kept);
    const CHOICES: &'static [Choice<Self>] = &[Choice::word(
        "reset",
        Lp::Reset,
        "the delay extremes are reset at each congestion indication, as in Linux",
    )];
}

impl Scheme for Lp {
    type Control = Each<LpControl>;

    fn needs(self) -> Needs {
        Needs { delays: true, ..Needs::NONE }
    }

    fn control(self, settings: Settings, paths: usize) -> Each<LpControl> {
        Each::new(LpControl::new(settings, self == Lp::Reset), paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;

    const RTT: f64 = 0.05;

    /// A flow of TCP-LP that has found delays from 10 to 30 ms and has `cwnd` segments.
    fn settled(cwnd: f64, resets: bool) -> (LpControl, u64) {
        let mut lp =
            LpControl::new(Settings { initial_window: cwnd, ..Settings::default() }, resets);
        let mut round = 0;
        for delay in [0.03, 0.03, 0.01, 0.01, 0.01] {
            round += 1;
            lp.on_delay(Span::from_seconds(delay));
            lp.on_ack(&Acked { cwnd_limited: false, ..ack(round) });
        }
        lp.delays.sd = 0.01;
        lp.started = true;
        lp.restart(Window { cwnd, ssthresh: cwnd });
        (lp, round)
    }

    /// The ACK that ends round trip number `round`.
    fn ack(round: u64) -> Acked {
        let (una, nxt) = (round * 1000, (round + 1) * 1000);
        let now_ns = (round as f64 * RTT * 1e9) as u64;
        let (segments, srtt, cwnd_limited) = (1.0, Span::from_seconds(RTT), true);
        Acked { segments, srtt, cwnd_limited, now: Time(now_ns), una, nxt, ..Acked::default() }
    }

    fn hear(lp: &mut LpControl, round: u64, delay: f64) {
        lp.on_delay(Span::from_seconds(delay));
        lp.on_ack(&ack(round));
    }

    #[test]
    fn the_second_indication_takes_any_window_to_one_where_tcp_halves_and_halves() {
        for cwnd in [8.0, 32.0, 128.0] {
            let (mut lp, mut round) = settled(cwnd, false);
            let mut rounds = 0;
            while lp.window().cwnd > 1.0 {
                round += 1;
                rounds += u64::from(lp.window().cwnd < cwnd); // count from the first indication
                hear(&mut lp, round, 0.03);
            }
            assert!(rounds <= 3, "{rounds} round trips from {cwnd}");
        }
    }

    #[test]
    fn a_delay_below_the_threshold_lets_it_grow_as_reno_does() {
        let (mut lp, round) = settled(10.0, false);
        hear(&mut lp, round + 1, 0.0129); // sd = 10.4 ms of at most 13
        assert_eq!(lp.window().cwnd, 10.1);
        assert!(!lp.slow());
    }

    #[test]
    fn three_round_trips_after_an_indication_it_grows_again() {
        let (mut lp, round) = settled(10.0, false);
        hear(&mut lp, round + 1, 0.05);
        assert_eq!(lp.window().cwnd, 5.0);
        lp.delays.sd = 0.01;
        for later in 2..4 {
            hear(&mut lp, round + later, 0.01);
            assert_eq!((lp.window().cwnd, lp.slow()), (5.0, true));
        }
        hear(&mut lp, round + 4, 0.01);
        assert_eq!((lp.window().cwnd, lp.slow()), (5.2, false));
    }

    #[test]
    fn delay_is_looked_at_once_in_a_round_trip() {
        let (mut lp, round) = settled(16.0, false);
        hear(&mut lp, round + 1, 0.05);
        let within = Acked { una: (round + 1) * 1000 + 1, ..ack(round + 1) };
        (0..5).for_each(|_| lp.on_ack(&within));
        assert_eq!(lp.window().cwnd, 8.0);
    }

    #[test]
    fn as_linux_does_it_an_indication_forgets_both_extremes() {
        let (mut lp, round) = settled(16.0, true);
        hear(&mut lp, round + 1, 0.05);
        assert_eq!(lp.window().cwnd, 8.0);
        let within = Acked { una: (round + 1) * 1000 + 1, ..ack(round + 1) };
        lp.delays.sd = 0.016;
        (0..5).for_each(|_| lp.on_ack(&within));
        assert_eq!(lp.window().cwnd, 8.0, "sd is now below its new threshold");
    }

    #[test]
    fn a_loss_is_an_indication_and_a_spurious_one_is_taken_back() {
        let (mut lp, _) = settled(16.0, false);
        lp.on_congestion(Cause::FastRetransmit);
        assert_eq!(lp.window(), Window { cwnd: 8.0, ssthresh: 8.0 });
        lp.on_congestion(Cause::FastRetransmit);
        assert_eq!(lp.window().cwnd, 1.0);
        lp.undo();
        assert_eq!(lp.window().cwnd, 8.0);
        lp.on_congestion(Cause::Timeout);
        assert_eq!(lp.window().cwnd, 1.0);
    }

    #[test]
    fn one_sample_that_is_far_off_does_not_widen_the_range() {
        let (mut lp, round) = settled(10.0, false);
        let before = lp.delays.d_max;
        hear(&mut lp, round + 1, 9.0);
        assert_eq!(lp.delays.d_max, before);
    }

    #[test]
    fn in_the_first_slow_start_delay_is_only_learned() {
        let mut lp = LpControl::new(Settings { initial_window: 2.0, ..Settings::default() }, false);
        for round in 1..5 {
            hear(&mut lp, round, 0.01 * round as f64);
        }
        assert_eq!(lp.window().cwnd, 6.0);
    }
}
