//! Running means and percentiles of samples.

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
    /// Octaves with counted values, in ascending order.
    octaves: Vec<Octave>,
    /// The one of the newest value: the next one mostly is in the same.
    newest: usize,
    total: u64,
}

/// The counts of the values that share an exponent.
#[derive(Clone, Debug)]
struct Octave {
    exponent: u64,
    counts: Box<[u64; BUCKETS]>,
}

/// Buckets of an octave.
const BUCKETS: usize = 64;

/// Mantissa bits that are dropped: 52 − log2(64).
const SHIFT: u32 = 46;

impl Histogram {
    /// Counts `value`, which is not negative.
    #[inline(always)] // runs for every sample of every queue
    pub fn add(&mut self, value: f64) {
        let bucket = value.max(0.0).to_bits() >> SHIFT;
        let (exponent, within) = (bucket / BUCKETS as u64, bucket as usize % BUCKETS);
        if self.octaves.get(self.newest).is_none_or(|octave| octave.exponent != exponent) {
            self.newest = self.place(exponent);
        }
        self.octaves[self.newest].counts[within] += 1;
        self.total += 1;
    }

    /// The place of the octave of `exponent`, which is added if there is none.
    #[inline(never)] // keeps the code of values in the same octave short
    fn place(&mut self, exponent: u64) -> usize {
        // Mostly there are all octaves between it and the newest value's.
        let from = self.octaves.get(self.newest).map_or(exponent, |octave| octave.exponent);
        let near = self.newest.wrapping_add(exponent.wrapping_sub(from) as usize);
        if self.octaves.get(near).is_some_and(|octave| octave.exponent == exponent) {
            return near;
        }
        self.octaves.binary_search_by_key(&exponent, |octave| octave.exponent).unwrap_or_else(
            |at| {
                self.octaves.insert(at, Octave { exponent, counts: Box::new([0; BUCKETS]) });
                at
            },
        )
    }

    /// Each bucket with counted values, in ascending order, and their count.
    fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let own = |Octave { exponent, counts }: &Octave| {
            let first = exponent * BUCKETS as u64;
            let counts: Vec<_> = (first..).zip(**counts).filter(|(_, count)| *count > 0).collect();
            counts
        };
        self.octaves.iter().flat_map(own)
    }

    /// The quantile `q` of the counted values; `NaN` if nothing was counted.
    pub fn quantile(&self, q: f64) -> f64 {
        let rank = q * self.total as f64;
        let mut below = 0;
        for (bucket, count) in self.buckets() {
            below += count;
            if below as f64 >= rank {
                let low = f64::from_bits(bucket << SHIFT);
                let high = f64::from_bits((bucket + 1) << SHIFT);
                return if bucket == 0 { 0.0 } else { 0.5 * (low + high) };
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

    #[test]
    fn values_of_any_size_and_order_are_counted_in_their_buckets() {
        let mut histogram = Histogram::default();
        for value in [4.0, 0.0, 1e-9, 4.0, 1e9, 0.0, 4.01, f64::MIN_POSITIVE] {
            histogram.add(value);
        }
        let counts: Vec<u64> = histogram.buckets().map(|(_, count)| count).collect();
        assert_eq!(counts, [2, 1, 1, 3, 1]);
        assert!(histogram.buckets().is_sorted());
        assert_eq!((histogram.quantile(0.1), histogram.total), (0.0, 8));
        assert!((histogram.quantile(0.75) / 4.0 - 1.0).abs() < 0.012);
    }
}
