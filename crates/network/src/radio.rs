//! Radio propagation: the strength of a received signal, and the probability that a frame is
//! received.
//!
//! Path loss is log-distance. Errors follow a logistic curve of the signal-to-noise ratio: steep
//! enough for a definite range, and smooth enough for rate control to adapt to.

use crate::Position;
use schemars::JsonSchema;
use serde::Serialize;
use std::cell::Cell;

/// Propagation and noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Radio {
    /// Transmitted power with antenna gains, in dBm.
    pub power_dbm: f64,
    /// Path loss at one metre in dB: 46.7 at 5 GHz, 40.0 at 2.4 GHz.
    pub loss_at_1m_db: f64,
    /// γ: the path-loss exponent.
    pub exponent: f64,
    /// Noise in the channel in dBm, including the receiver's noise figure.
    pub noise_dbm: f64,
    /// Least power at which the medium counts as busy, in dBm.
    pub sense_dbm: f64,
}

impl Default for Radio {
    /// 16 dBm at 5 GHz with γ = 3 in 20 MHz, noise figure 7 dB.
    fn default() -> Self {
        Radio {
            power_dbm: 16.0,
            loss_at_1m_db: 46.7,
            exponent: 3.0,
            noise_dbm: -94.0,
            sense_dbm: -88.0,
        }
    }
}

/// Slope of the error curve: dB over which the odds of an error change by a factor of e.
const SLOPE_DB: f64 = 0.5;
/// Slopes above the threshold beyond which less than one frame in 10¹³ is lost: none.
const CERTAIN: f64 = 30.0;
/// Length in bytes of the frame to which thresholds refer.
const REFERENCE_BYTES: f64 = 1536.0;

/// Power ratio of a number of dB.
pub(crate) fn ratio(db: f64) -> f64 {
    libm::exp10(db / 10.0)
}

/// dB of a power ratio.
pub(crate) fn decibel(ratio: f64) -> f64 {
    10.0 * libm::log10(ratio)
}

/// A least power ratio, given in dB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threshold {
    db: f64,
    /// The same as a ratio.
    ratio: f64,
}

impl Threshold {
    pub(crate) fn new(db: f64) -> Self {
        Threshold { db, ratio: ratio(db) }
    }

    /// Whether `ratio` reaches the threshold in dB. A logarithm is taken only where rounding could
    /// decide.
    pub(crate) fn is_met_by(self, ratio: f64) -> bool {
        match (ratio - self.ratio).abs() > CLOSE * self.ratio {
            true => ratio > self.ratio,
            false => decibel(ratio) >= self.db,
        }
    }

    /// Whether `ratio` clearly exceeds the threshold.
    pub(crate) fn is_exceeded_by(self, ratio: f64) -> bool {
        ratio > self.ratio * (1.0 + CLOSE)
    }
}

/// The last probability of a series of frames: mostly of frames of one length at one position.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastReception {
    /// Signal-to-noise ratio, threshold in dB, bytes.
    asked: Cell<(f64, f64, u32)>,
    probability: Cell<f64>,
}

impl LastReception {
    /// [`received`] at a signal-to-noise ratio that is not in dB.
    pub(crate) fn received(&self, ratio: f64, threshold_db: f64, bytes: u32) -> f64 {
        let computed = || received(decibel(ratio), threshold_db, bytes);
        let asked = (ratio, threshold_db, bytes);
        if self.asked.get() != asked {
            self.asked.set(asked);
            self.probability.set(computed());
        }
        debug_assert_eq!(self.probability.get(), computed(), "computed anew");
        self.probability.get()
    }
}

/// The signal-to-noise ratio from which on every frame of a mode with this threshold is received.
pub(crate) fn certain(threshold_db: f64) -> Threshold {
    Threshold::new(threshold_db + CERTAIN * SLOPE_DB)
}

/// Relative distance from the threshold beyond which rounding cannot decide.
const CLOSE: f64 = 1e-9;

impl Radio {
    /// Received power in dBm.
    pub fn received_dbm(&self, from: Position, to: Position) -> f64 {
        let distance = from.distance(to).max(1.0);
        self.power_dbm - self.loss_at_1m_db - 10.0 * self.exponent * libm::log10(distance)
    }

    /// Signal-to-noise ratio in dB between two positions.
    pub fn snr_db(&self, from: Position, to: Position) -> f64 {
        self.received_dbm(from, to) - self.noise_dbm
    }

    /// Distance in metres at which a signal is received with `dbm`.
    pub fn reach_m(&self, dbm: f64) -> f64 {
        libm::exp10((self.power_dbm - self.loss_at_1m_db - dbm) / (10.0 * self.exponent)).max(1.0)
    }
}

/// Probability that a frame of `bytes` is received at a signal-to-noise ratio of `snr_db` in a mode
/// with this threshold.
pub(crate) fn received(snr_db: f64, threshold_db: f64, bytes: u32) -> f64 {
    let above = (snr_db - threshold_db) / SLOPE_DB;
    if above > CERTAIN {
        return 1.0;
    }
    // ln of the logistic function, for each byte.
    let log_success = -libm::log1p(libm::exp(-above));
    libm::exp(log_success * f64::from(bytes) / REFERENCE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn power_falls_with_the_exponent_and_reach_is_its_inverse() {
        let radio = Radio::default();
        let at = |x| radio.received_dbm(Position::default(), Position { x, y: 0.0 });
        assert!((at(10.0) - (16.0 - 46.7 - 30.0)).abs() < 1e-9);
        assert!((at(20.0) - at(10.0) + 30.0 * libm::log10(2.0)).abs() < 1e-9);
        assert!((radio.reach_m(at(37.0)) - 37.0).abs() < 1e-9);
    }

    #[test]
    fn a_threshold_is_met_by_what_is_as_large_in_decibels() {
        for db in [-3.0, 0.0, 4.7, 22.1] {
            let threshold = Threshold::new(db);
            for step in -2_000..2_000 {
                let ratio = threshold.ratio * (1.0 + f64::from(step) * 1e-12);
                assert_eq!(threshold.is_met_by(ratio), decibel(ratio) >= db);
            }
            assert!(threshold.is_met_by(2.0 * threshold.ratio));
            assert!(!threshold.is_met_by(0.5 * threshold.ratio));
        }
    }

    proptest! {
        #[test]
        fn a_probability_that_is_kept_is_that_of_the_frame(
            frames in prop::collection::vec((0usize..3, 0usize..2, 0usize..3), 1..60),
        ) {
            let last = LastReception::default();
            for (ratio, threshold, bytes) in frames {
                let (ratio, bytes) = ([3.0, 40.0, 41.0][ratio], [0, 14, 1536][bytes]);
                let threshold_db = [6.0, 16.0][threshold];
                let anew = received(decibel(ratio), threshold_db, bytes);
                prop_assert_eq!(last.received(ratio, threshold_db, bytes), anew);
            }
        }
    }

    #[test]
    fn every_frame_is_received_with_a_signal_that_is_certain() {
        for threshold_db in [1.0, 6.0, 9.0, 16.0, 27.0] {
            let certain = certain(threshold_db);
            for step in -2_000..2_000 {
                let ratio = certain.ratio * (1.0 + f64::from(step) * 1e-12);
                let exceeded = certain.is_exceeded_by(ratio);
                assert!(!exceeded || received(decibel(ratio), threshold_db, 65_535) == 1.0);
            }
            assert!(certain.is_exceeded_by(1.000_001 * certain.ratio));
        }
    }

    #[test]
    fn errors_grow_with_length_and_fall_with_the_signal() {
        assert!((received(16.0, 16.0, 1536) - 0.5).abs() < 1e-12);
        assert!((received(16.0, 16.0, 768) - libm::sqrt(0.5)).abs() < 1e-12);
        let curve: Vec<f64> = (0..60).map(|db| received(f64::from(db) / 2.0, 16.0, 1536)).collect();
        assert!(curve.windows(2).all(|pair| pair[0] <= pair[1]));
        assert!(curve[0] < 1e-12 && curve[59] > 0.999_999);
    }
}
