//! Running means and percentiles of samples.

use std::collections::BTreeMap;

/// A mean of samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mean {
    sum: f64,
    samples: u32,
}

impl Mean {
    /// Takes a sample.
    pub fn add(&mut self, value: f64) {
        self.sum += value;
        self.samples += 1;
    }

    /// The number of samples.
    pub fn count(self) -> u64 {
        u64::from(self.samples)
    }

    /// The mean; `NaN` if nothing was sampled.
    pub fn get(self) -> f64 {
        self.sum / f64::from(self.samples)
    }
}

/// Counts in buckets of equal ratio, 64 to an octave: a percentile is within 1.1 % of the truth.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: BTreeMap<u64, u64>,
    total: u64,
}

/// Mantissa bits that are dropped: 52 − log2(64).
const SHIFT: u32 = 46;

impl Histogram {
    /// Counts `value`, which is not negative.
    pub fn add(&mut self, value: f64) {
        *self.counts.entry(value.max(0.0).to_bits() >> SHIFT).or_default() += 1;
        self.total += 1;
    }

    /// The quantile `q` of the counted values; `NaN` if nothing was counted.
    pub fn quantile(&self, q: f64) -> f64 {
        let rank = q * self.total as f64;
        let mut below = 0;
        for (bucket, count) in &self.counts {
            below += count;
            if below as f64 >= rank {
                let low = f64::from_bits(bucket << SHIFT);
                let high = f64::from_bits((bucket + 1) << SHIFT);
                return if *bucket == 0 { 0.0 } else { 0.5 * (low + high) };
            }
        }
        f64::NAN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_bucket_of_the_truth() {
        let mut histogram = Histogram::default();
        (1..=1000).for_each(|i| histogram.add(f64::from(i) / 1000.0));
        for q in [0.1, 0.5, 0.95, 0.99] {
            assert!((histogram.quantile(q) / q - 1.0).abs() < 0.012, "{q}");
        }
        assert!(Histogram::default().quantile(0.5).is_nan());
    }
}
