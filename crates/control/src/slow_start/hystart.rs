//! HyStart++: leaves slow start before the queue is full, by the round-trip times of whole rounds.
//!
//! Source: RFC 9406 §4 (symbols `currentRoundMinRTT`, `lastRoundMinRTT`, `cssBaselineMinRtt`). Only
//! the first slow start of a path is HyStart++'s: later ones have a finite ssthresh, and are
//! standard.

use super::{SlowStart, Standard, Step};
use crate::Acked;
use crate::kind::{Described, Kind};

/// `MIN_RTT_THRESH`, `MAX_RTT_THRESH` in seconds.
const RTT_THRESH: (f64, f64) = (0.004, 0.016);
const MIN_RTT_DIVISOR: f64 = 8.0;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
/// `L`: segments that one ACK may count for, without pacing.
const ACK_LIMIT: f64 = 8.0;

/// The first slow start of a path, or a later one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HyStart(Option<Rounds>);

/// The rounds of the present slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rounds {
    /// `windowEnd`: the round is over when it is acknowledged.
    window_end: u64,
    current_round_min_rtt: f64,
    last_round_min_rtt: f64,
    samples: u32,
    /// In conservative slow start: `cssBaselineMinRtt`, and rounds in it so far.
    css: Option<(f64, u32)>,
}

impl HyStart {
    /// A path that has not sent yet.
    pub const NEW: HyStart = HyStart(Some(Rounds {
        window_end: 0,
        current_round_min_rtt: f64::INFINITY,
        last_round_min_rtt: f64::INFINITY,
        samples: 0,
        css: None,
    }));
}

impl SlowStart for HyStart {
    fn on_ack(&mut self, ack: &Acked) -> Step {
        let Some(rounds) = &mut self.0 else {
            return Standard.on_ack(ack);
        };
        let growth = rounds.growth(ack.rtt.seconds(), ack.una, ack.nxt);
        if growth.is_none() {
            self.0 = None;
        }
        Step { limit: ACK_LIMIT, growth }
    }

    fn on_congestion(&mut self) {
        self.0 = None;
    }
}

impl Kind for HyStart {
    const DESCRIBED: Described = Described {
        names: &["hystart"],
        summary: "HyStart++: ends the first slow start when round-trip times grow, before the queue is full.",
        formula: "growth 1, and 1/4 for five rounds once a round's least RTT is RTT/8 (4 to 16 ms) above the last's",
        source: "RFC 9406 §4",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(HyStart::NEW);
}

impl Rounds {
    /// Growth of the window for each acknowledged segment; `None`: slow start is over.
    fn growth(&mut self, rtt: f64, una: u64, nxt: u64) -> Option<f64> {
        if una >= self.window_end {
            self.window_end = nxt;
            self.last_round_min_rtt = self.current_round_min_rtt;
            self.current_round_min_rtt = f64::INFINITY;
            self.samples = 0;
            if let Some((_, rounds)) = &mut self.css {
                *rounds += 1;
                if *rounds > CSS_ROUNDS {
                    return None;
                }
            }
        }
        self.current_round_min_rtt = self.current_round_min_rtt.min(rtt);
        self.samples += 1;
        if self.samples >= N_RTT_SAMPLE {
            self.judge();
        }
        Some(if self.css.is_some() { 1.0 / CSS_GROWTH_DIVISOR } else { 1.0 })
    }

    fn judge(&mut self) {
        let current = self.current_round_min_rtt;
        match self.css {
            None if self.last_round_min_rtt.is_finite() => {
                let (least, most) = RTT_THRESH;
                let thresh = (self.last_round_min_rtt / MIN_RTT_DIVISOR).min(most).max(least);
                if current >= self.last_round_min_rtt + thresh {
                    self.css = Some((current, 1));
                }
            }
            Some((baseline, _)) if current < baseline => self.css = None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of ten ACKs each with the round-trip times of `rtts_ms`; the growth in each round.
    fn rounds(rtts_ms: &[f64]) -> alloc::vec::Vec<Option<f64>> {
        let HyStart(Some(mut hystart)) = HyStart::NEW else { unreachable!() };
        let mut una = 0;
        let round = |rtt: &f64| {
            let end = una + 10;
            let mut growth = Some(0.0);
            while una < end {
                growth = growth.and_then(|_| hystart.growth(rtt / 1e3, una, end));
                una += 1;
            }
            growth
        };
        rtts_ms.iter().map(round).collect()
    }

    #[test]
    fn a_rise_of_an_eighth_slows_the_growth_and_five_rounds_later_slow_start_is_over() {
        // 100 ms / 8 = 12.5 ms, between 4 and 16 ms
        assert_eq!(rounds(&[100.0, 112.0])[1], Some(1.0));
        let growth = rounds(&[100.0, 113.0, 120.0, 121.0, 122.0, 123.0, 124.0]);
        assert_eq!(growth[1..6], [Some(0.25); 5]);
        assert_eq!(growth[6], None);
    }

    #[test]
    fn a_rise_that_passes_resumes_slow_start() {
        assert_eq!(rounds(&[100.0, 113.0, 112.0])[2], Some(1.0));
    }

    #[test]
    fn the_threshold_lies_between_4_and_16_ms() {
        assert_eq!(rounds(&[8.0, 11.9])[1], Some(1.0));
        assert_eq!(rounds(&[8.0, 12.1])[1], Some(0.25));
        assert_eq!(rounds(&[400.0, 415.9])[1], Some(1.0));
        assert_eq!(rounds(&[400.0, 416.1])[1], Some(0.25));
    }
}
