//! The channel of a user: its signal, the fading of the signal, and the bits that a resource block
//! carries.

use super::TTI;
use crate::Rng;
use core::f64::consts::TAU;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{InvalidParameter, Span, ValidRange};

/// Signal-to-noise ratio in dB from which each channel quality indicator is reported, and its bits
/// per symbol.
///
/// Source: efficiencies are those of 3GPP TS 36.213 Table 7.2.3-1, CQI 1 to 15. The standard has no
/// thresholds: these are fits to link-level simulations at a block error rate of 10 %, as they are
/// commonly used.
const QUALITIES: [(f64, f64); 15] = [
    (-6.7, 0.1523),
    (-4.7, 0.2344),
    (-2.3, 0.3770),
    (0.2, 0.6016),
    (2.4, 0.8770),
    (4.3, 1.1758),
    (5.9, 1.4766),
    (8.1, 1.9141),
    (10.3, 2.4063),
    (11.7, 2.7305),
    (14.1, 3.3223),
    (16.3, 3.9023),
    (18.7, 4.5234),
    (21.0, 5.1152),
    (22.7, 5.5547),
];

/// Symbols of a resource block in one TTI: 12 subcarriers, 14 symbols of each (3GPP TS 36.211
/// §6.2.3).
const SYMBOLS: f64 = 12.0 * 14.0;

// Autoregressive of first order: shadowing (Gudmundson, Electronics Letters 1991); the fading of
// single paths is faster and not Gaussian.
/// Fading: the signal in dB is a Gaussian process around its mean, with an autocorrelation of 1/e
/// after `coherence`.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Fading {
    /// Standard deviation in dB.
    #[schemars(extend("range" = DEVIATION.right))]
    pub deviation_db: f64,
    /// Coherence time: after it the autocorrelation of the signal is 1/e.
    #[serde(rename(serialize = "coherence_s"))]
    #[schemars(extend("range" = COHERENCE.right))]
    pub coherence: Span,
}

const DEVIATION: ValidRange<f64> =
    ValidRange { holds: |deviation| (0.0..=30.0).contains(deviation), right: "dB, from 0 to 30" };

const COHERENCE: ValidRange<Span> =
    ValidRange { holds: |coherence| *coherence >= Span::millis(1), right: "it is at least 1 ms" };

impl Fading {
    /// Checks the ranges of the parameters.
    ///
    /// # Errors
    /// The parameter that is out of range.
    pub fn check(&self) -> Result<(), InvalidParameter> {
        DEVIATION.check("deviation_db", &self.deviation_db)?;
        COHERENCE.check("coherence", &self.coherence)
    }
}

impl Fading {
    /// The factors ρⁿ and √(1 − ρ²ⁿ) of x ← ρⁿ x + √(1 − ρ²ⁿ) N, for n TTIs. Before the first use,
    /// x has its stationary distribution: 0 and 1.
    fn step(&self, passed: u64) -> (f64, f64) {
        let spans = passed as f64 * TTI.0 as f64 / self.coherence.0 as f64;
        let kept = libm::exp(-spans);
        (kept, libm::sqrt(1.0 - kept * kept))
    }
}

/// Bits per symbol at a signal-to-noise ratio in dB; zero below the first threshold.
fn efficiency(snr_db: f64) -> f64 {
    let reported = QUALITIES.iter().rev().find(|(threshold, _)| snr_db >= *threshold);
    reported.map_or(0.0, |(_, efficiency)| *efficiency)
}

/// A Gaussian number with mean 0 and deviation 1 (Box and Muller 1958; one of their two).
fn gaussian(rng: &mut dyn Rng) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - rng.uniform()));
    radius * libm::cos(TAU * rng.uniform())
}

/// The channel of one user, for all blocks and both directions.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    /// Mean signal-to-noise ratio in dB.
    pub(super) mean_db: f64,
    fading: Option<Fading>,
    /// Its distance from the mean, in standard deviations.
    off: f64,
    /// The TTI of that value; `None` before the first use.
    at: Option<u64>,
    /// The last number of TTIs between two values, with [`Fading::step`] for it: mostly one.
    last: (u64, (f64, f64)),
}

impl Channel {
    pub(super) fn new(mean_db: f64, fading: Option<Fading>) -> Self {
        let last = (0, fading.map_or((1.0, 0.0), |fading| fading.step(0)));
        Channel { mean_db, fading, off: 0.0, at: None, last }
    }

    /// The signal-to-noise ratio in dB during a TTI; `tti` must not decrease between calls. TTIs in
    /// between need no draws: the process is Markov, so its value after n TTIs takes one draw.
    fn snr_db(&mut self, tti: u64, rng: &mut dyn Rng) -> f64 {
        let Some(fading) = self.fading else {
            return self.mean_db;
        };
        let passed = self.at.map(|at| tti.saturating_sub(at));
        if passed != Some(0) {
            let (kept, drawn) = passed.map_or((0.0, 1.0), |passed| self.step(fading, passed));
            self.off = kept * self.off + drawn * gaussian(rng);
            self.at = Some(tti);
        }
        self.mean_db + fading.deviation_db * self.off
    }

    /// [`Fading::step`], kept from the call before if it was for as many TTIs.
    fn step(&mut self, fading: Fading, passed: u64) -> (f64, f64) {
        if self.last.0 != passed {
            self.last = (passed, fading.step(passed));
        }
        debug_assert_eq!(self.last.1, fading.step(passed), "computed anew");
        self.last.1
    }

    /// Bits that a resource block carries in a TTI; a fraction `overhead` of its symbols carries no
    /// data.
    pub(super) fn bits(&mut self, tti: u64, overhead: f64, rng: &mut dyn Rng) -> f64 {
        block_bits(self.snr_db(tti, rng), overhead)
    }

    /// The same bits with the signal at its mean.
    pub(super) fn mean_bits(&self, overhead: f64) -> f64 {
        block_bits(self.mean_db, overhead)
    }
}

fn block_bits(snr_db: f64, overhead: f64) -> f64 {
    efficiency(snr_db) * SYMBOLS * (1.0 - overhead)
}

/// Whole bytes in this many blocks.
pub(super) fn block_bytes(blocks: u32, bits: f64) -> u64 {
    (f64::from(blocks) * bits / 8.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Always, Lcg};

    #[test]
    fn a_block_carries_what_the_table_has_for_its_signal() {
        assert_eq!([efficiency(-6.8), efficiency(-6.7)], [0.0, 0.1523]);
        assert_eq!([efficiency(5.89), efficiency(5.9), efficiency(8.0)], [1.1758, 1.4766, 1.4766]);
        assert_eq!([efficiency(22.7), efficiency(60.0)], [5.5547, 5.5547]);
        assert_eq!(efficiency(f64::NAN), 0.0);
        assert!(QUALITIES.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1));
        // 168 symbols, three quarters of them for data.
        let best = Channel::new(30.0, None).mean_bits(0.25);
        assert!((best - 699.89).abs() < 0.01, "{best}");
        assert_eq!(block_bytes(50, best), 4374);
    }

    /// Values of the signal in TTIs `step` apart.
    fn values(fading: Fading, step: u64, count: u64) -> Vec<f64> {
        let (mut channel, mut rng) = (Channel::new(3.0, Some(fading)), Lcg(11));
        (0..count).map(|at| channel.snr_db(at * step, &mut rng)).collect()
    }

    fn mean(of: impl Iterator<Item = f64>) -> f64 {
        let (sum, count) = of.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
        sum / count
    }

    #[test]
    fn fading_has_its_mean_deviation_and_autocorrelation_however_often_one_looks() {
        let fading = Fading { deviation_db: 4.0, coherence: Span::millis(20) };
        for step in [1, 5, 40] {
            let values = values(fading, step, 400_000);
            let mean_db = mean(values.iter().copied());
            let variance = mean(values.iter().map(|value| (value - mean_db) * (value - mean_db)));
            assert!((mean_db - 3.0).abs() < 0.1, "{step}: {mean_db}");
            assert!((libm::sqrt(variance) / 4.0 - 1.0).abs() < 0.01, "{step}: {variance}");
            for lag in [1, 4, 20] {
                let pairs = values.iter().zip(&values[lag..]);
                let together = mean(pairs.map(|(a, b)| (a - mean_db) * (b - mean_db)));
                let expected = libm::exp(-((lag as u64 * step) as f64) / 20.0);
                assert!((together / variance - expected).abs() < 0.02, "{step}, {lag}: {together}");
            }
        }
    }

    #[test]
    fn fading_is_gaussian() {
        let fading = Fading { deviation_db: 1.0, coherence: Span::ZERO };
        let values = values(fading, 1, 200_000);
        for (deviations, expected) in [(-2.0, 0.0228), (-1.0, 0.1587), (0.0, 0.5), (1.5, 0.9332)] {
            let below = values.iter().filter(|value| **value - 3.0 < deviations).count();
            let part = below as f64 / values.len() as f64;
            assert!((part - expected).abs() < 0.003, "{deviations}: {part}");
        }
    }

    #[test]
    fn a_channel_is_the_same_throughout_a_tti_and_draws_nothing_if_it_is_constant() {
        let fading = Some(Fading { deviation_db: 4.0, coherence: Span::millis(20) });
        let (mut channel, mut rng) = (Channel::new(3.0, fading), Lcg(11));
        let first = channel.snr_db(7, &mut rng);
        let drawn = rng.0;
        assert_eq!(channel.snr_db(7, &mut rng), first);
        Channel::new(3.0, None).snr_db(9, &mut rng);
        assert_eq!(rng.0, drawn);
        channel.mean_db = 13.0;
        assert_eq!(channel.snr_db(7, &mut rng), first + 10.0);
        assert!(gaussian(&mut Always).abs() == 0.0, "the logarithm has no argument of zero");
    }
}
