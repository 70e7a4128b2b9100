//! Compound TCP: Reno's window plus a delay window that grows while the queue is short.
//!
//! Source: Tan, Song, Zhang and Sridharan, INFOCOM 2006 (symbols `cwnd`, `dwnd`, `win`, `diff`, α,
//! β, k, γ, ζ). It has no drift: `dwnd` moves once in a round trip and on delay.
//!
//! ```text
//! win = cwnd + dwnd                cwnd: Reno's, + 1/win for each segment, half at a loss
//! once a round trip:               diff = win (1 − base/rtt), our packets in the queue (Vegas)
//!   diff < γ                       dwnd += max(α win^k − 1, 0)
//!   diff ≥ γ                       dwnd  = max(dwnd − ζ diff, 0)
//! loss                             dwnd  = max(win (1 − β) − cwnd/2, 0)
//! timeout                          dwnd  = 0
//! ```
//!
//! Versions differ in details. γ is 30 packets; later versions tune it between 5 and 30 by the
//! queue at losses. `dwnd` does not grow in windows below `LOW_WINDOW`: 38 packets, where HighSpeed
//! TCP (RFC 3649) begins too, are 41 in a port to Linux. (By the rule itself it would from 16 on.)
//! `rtt` is the mean of a round, as in wVegas here; other versions take its minimum. Slow start,
//! recovery and floors are Reno's, of `win`.

use super::each::{Each, Single};
use crate::kind::{Described, Kind};
use crate::scheme::Scheme;
use crate::slow_start::{ACK_LIMIT, ACK_LIMIT_AFTER_TIMEOUT};
use crate::{Acked, Cause, Phase, SINGLE_PATH_SSTHRESH, Settings, Span, Window};

const ALPHA: f64 = 0.125;
const BETA: f64 = 0.5;
const K: f64 = 0.75;
/// Packets of ours in the queue above which the path counts as queueing.
const GAMMA: f64 = 30.0;
const ZETA: f64 = 1.0;
const LOW_WINDOW: f64 = 38.0;

/// Compound TCP on one path.
#[derive(Clone, Debug)]
pub(crate) struct CompoundControl {
    settings: Settings,
    state: State,
    /// The state before the last congestion event.
    before: State,
    /// Smallest round trip ever seen, in seconds.
    base: f64,
    /// Sum and number of the samples of this round.
    sum: f64,
    samples: u32,
    /// The round ends when this byte is acknowledged.
    round_end: u64,
}

#[derive(Clone, Copy, Debug)]
struct State {
    cwnd: f64,
    dwnd: f64,
    /// The threshold of `win`.
    ssthresh: f64,
}

impl State {
    fn win(&self) -> f64 {
        self.cwnd + self.dwnd
    }

    /// Moves the delay window at the end of a round with mean round trip `rtt` in seconds; `base`
    /// is the smallest round trip.
    fn round(&mut self, base: f64, rtt: f64, may_grow: bool) {
        let win = self.win();
        let diff = win * (1.0 - base / rtt);
        if diff >= GAMMA {
            self.dwnd = (self.dwnd - ZETA * diff).max(0.0);
            // A window that gives way leaves slow start.
            self.ssthresh = self.ssthresh.min(self.win().max(SINGLE_PATH_SSTHRESH));
        } else if may_grow && win >= LOW_WINDOW {
            self.dwnd += (ALPHA * libm::pow(win, K) - 1.0).max(0.0);
        }
    }
}

impl CompoundControl {
    pub(crate) fn new(settings: Settings) -> Self {
        let Settings { initial_window: cwnd, initial_ssthresh: ssthresh, .. } = settings;
        let state = State { cwnd, dwnd: 0.0, ssthresh };
        let base = f64::INFINITY;
        CompoundControl { settings, state, before: state, base, sum: 0.0, samples: 0, round_end: 0 }
    }

    /// Reno's growth of `cwnd`, with `win` as the window.
    fn grow(&mut self, mut segments: f64) {
        let State { dwnd, ssthresh, .. } = self.state;
        let room = ssthresh - self.state.win();
        if room > 0.0 {
            if segments <= room {
                self.state.cwnd += segments;
                return;
            }
            self.state.cwnd = ssthresh - dwnd;
            segments -= room;
            if !self.settings.carry_over {
                return;
            }
        }
        self.state.cwnd += segments * (1.0 / self.state.win());
    }

    /// A round trip begins; returns the mean of the samples of the last one.
    fn turn(&mut self, next: u64) -> Option<f64> {
        let mean = (self.samples > 0).then(|| self.sum / f64::from(self.samples));
        (self.sum, self.samples, self.round_end) = (0.0, 0, next);
        mean
    }

    fn reduce(&mut self) {
        self.before = self.state;
        let win = self.state.win();
        let half = (self.state.cwnd / 2.0).max(self.settings.min_window);
        let dwnd = (win * (1.0 - BETA) - half).max(0.0);
        let cwnd = half.max(SINGLE_PATH_SSTHRESH - dwnd);
        self.state = State { cwnd, dwnd, ssthresh: cwnd + dwnd };
    }
}

impl Single for CompoundControl {
    fn on_ack(&mut self, ack: &Acked) {
        if ack.rtt > Span::ZERO {
            self.base = self.base.min(ack.rtt.seconds());
            self.sum += ack.rtt.seconds();
            self.samples += 1;
        }
        let limit = match ack.phase {
            Phase::Open => ACK_LIMIT,
            Phase::Loss => ACK_LIMIT_AFTER_TIMEOUT,
            Phase::Recovery => {
                self.turn(ack.nxt); // a round that mixes two windows measures neither
                return;
            }
        };
        let avoids = self.state.win() >= self.state.ssthresh;
        if ack.cwnd_limited {
            self.grow(self.settings.counted(ack).min(limit));
        }
        if ack.una >= self.round_end {
            match self.turn(ack.nxt) {
                Some(rtt) if avoids => self.state.round(self.base, rtt, ack.cwnd_limited),
                _ => {}
            }
        }
    }

    fn on_congestion(&mut self, cause: Cause) {
        if cause != Cause::TimeoutAgain {
            self.reduce();
        }
        if matches!(cause, Cause::Timeout | Cause::TimeoutAgain) {
            (self.state.cwnd, self.state.dwnd) = (self.settings.min_window, 0.0);
        }
    }

    fn on_recovered(&mut self) {
        self.state.cwnd = self.state.ssthresh - self.state.dwnd;
    }

    fn undo(&mut self) {
        let ssthresh = self.state.ssthresh.max(self.before.ssthresh);
        if self.before.win() > self.state.win() {
            self.state = self.before;
        }
        self.state.ssthresh = ssthresh;
    }

    /// Restarts without a delay window: `dwnd` grew while the queue was short, and no sample says
    /// yet whether it still is.
    fn restart(&mut self, window: Window) {
        let cwnd = window.cwnd.max(self.settings.min_window);
        self.state = State { cwnd, dwnd: 0.0, ssthresh: window.ssthresh };
    }

    fn window(&self) -> Window {
        Window { cwnd: self.state.win(), ssthresh: self.state.ssthresh }
    }
}

/// The kind `compound`, without options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compound;

impl Kind for Compound {
    const DESCRIBED: Described = Described {
        names: &["compound"],
        aliases: &["ctcp", "compound-tcp"],
        summary: "Compound TCP on each path independently: a Reno window plus a window that grows while no queue builds up.",
        formula: "w = cwnd + dwnd; in a round trip: dwnd + w^¾/8 − 1, or from 30 queued packets on less these; decrease to w/2",
        source: "Tan, Song, Zhang and Sridharan, INFOCOM 2006",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(Compound);
}

impl Scheme for Compound {
    type Control = Each<CompoundControl>;

    fn control(self, settings: Settings, paths: usize) -> Each<CompoundControl> {
        Each::new(CompoundControl::new(settings), paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn avoiding(cwnd: f64, dwnd: f64) -> CompoundControl {
        let mut compound = CompoundControl::new(Settings::default());
        compound.state = State { cwnd, dwnd, ssthresh: 2.0 };
        compound.base = 0.1;
        compound
    }

    fn acked(rtt: f64, una: u64, nxt: u64) -> Acked {
        let rtt = Span::from_seconds(rtt);
        Acked { segments: 1.0, srtt: rtt, rtt, cwnd_limited: true, una, nxt, ..Acked::default() }
    }

    /// A round trip in which the whole window is acknowledged.
    fn round(compound: &mut CompoundControl, rtt: f64) {
        let packets = compound.window().cwnd as u64;
        compound.round_end = packets;
        (1..=packets).for_each(|una| compound.on_ack(&acked(rtt, una, 2 * packets)));
    }

    #[test]
    fn an_empty_round_trip_adds_an_eighth_of_the_window_to_the_three_quarters() {
        // 256^0.75 = 64: dwnd 8 − 1, and cwnd 1 by its own acknowledgements.
        let mut compound = avoiding(200.0, 56.0);
        compound.state.round(0.1, 0.1, true);
        assert!((compound.state.dwnd - 63.0).abs() < 1e-12, "{:?}", compound.state);
        let mut compound = avoiding(200.0, 56.0);
        round(&mut compound, 0.1);
        // Growth of the window in the meantime makes a small difference.
        assert!((compound.window().cwnd - 264.0).abs() < 0.05, "{:?}", compound.state);
        assert!((compound.state.cwnd - 201.0).abs() < 0.01, "{:?}", compound.state);
    }

    #[test]
    fn thirty_packets_in_the_queue_are_one_too_many() {
        // win 100, base 0.1: diff is 100 (1 − 0.1/rtt), 30 at a round trip of 1/7 s.
        for (rtt, dwnd) in [(0.1428, 40.0 + ALPHA * libm::pow(100.0, K) - 1.0), (0.143, 9.93007)] {
            let mut state = avoiding(60.0, 40.0).state;
            state.round(0.1, rtt, true);
            assert!((state.dwnd - dwnd).abs() < 1e-4, "{rtt}: {state:?}");
        }
        let mut state = avoiding(60.0, 10.0).state;
        state.round(0.1, 0.2, true);
        assert_eq!((state.cwnd, state.dwnd), (60.0, 0.0));
    }

    #[test]
    fn a_loss_halves_cwnd_and_leaves_dwnd_what_is_missing_to_half_of_win() {
        let mut compound = avoiding(60.0, 40.0);
        compound.on_congestion(Cause::FastRetransmit);
        assert_eq!((compound.state.cwnd, compound.state.dwnd), (30.0, 20.0));
        compound.on_recovered();
        assert_eq!(compound.window(), Window { cwnd: 50.0, ssthresh: 50.0 });
        compound.undo();
        assert_eq!((compound.state.cwnd, compound.state.dwnd), (60.0, 40.0));
    }

    #[test]
    fn a_timeout_ends_dwnd_and_slow_start_follows_to_half_of_win() {
        let mut compound = avoiding(60.0, 40.0);
        compound.on_congestion(Cause::Timeout);
        assert_eq!(compound.window(), Window { cwnd: 1.0, ssthresh: 50.0 });
        (0..5).for_each(|_| round(&mut compound, 0.1));
        assert_eq!((compound.state.cwnd, compound.state.dwnd), (32.0, 0.0));
        round(&mut compound, 0.1);
        let State { cwnd, dwnd, .. } = compound.state;
        assert!((50.0..50.5).contains(&cwnd) && (1.3..1.4).contains(&dwnd), "{cwnd} {dwnd}");
    }

    #[test]
    fn in_a_small_window_or_while_a_queue_stands_it_is_reno() {
        for (cwnd, rtt) in [(20.0, 0.1), (200.0, 0.2)] {
            let (mut compound, mut reno) = (avoiding(cwnd, 0.0), cwnd);
            for _ in 0..17 {
                (0..compound.window().cwnd as u32).for_each(|_| reno += 1.0 / reno);
                round(&mut compound, rtt);
            }
            assert_eq!(compound.window().cwnd, reno);
        }
        let mut compound = avoiding(38.0, 0.0);
        round(&mut compound, 0.1);
        assert!(compound.state.dwnd > 0.9, "{:?}", compound.state);
    }

    #[test]
    fn half_a_bandwidth_delay_product_of_833_is_regained_in_27_round_trips_instead_of_417() {
        // dw/dn = α w^k from 416.5 to 833: n = (4/α)(833^¼ − 416.5^¼) = 27.3
        let mut compound = avoiding(416.5, 0.0);
        let rounds = (1..).find(|_| {
            round(&mut compound, 0.1);
            compound.window().cwnd >= 833.0
        });
        assert!(rounds.is_some_and(|rounds| (26..=29).contains(&rounds)), "{rounds:?}");
    }

    #[test]
    fn what_is_seen_in_recovery_or_when_the_window_was_not_the_limit_grows_nothing() {
        let mut compound = avoiding(60.0, 40.0);
        let idle = Acked { cwnd_limited: false, ..acked(0.1, 9, 9) };
        compound.on_ack(&idle);
        compound.on_ack(&Acked { phase: Phase::Recovery, ..acked(0.1, 9, 9) });
        assert_eq!((compound.state.cwnd, compound.state.dwnd), (60.0, 40.0));
        compound.on_ack(&Acked { cwnd_limited: false, ..acked(0.2, 9, 9) });
        assert_eq!(compound.state.dwnd, 0.0, "a queue is one all the same");
    }
}
