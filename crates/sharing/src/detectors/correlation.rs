//! Correlation of delays: packets that wait in the same queue at the same time wait equally long.
//!
//! Ours. Rubenstein, Kurose and Towsley (SIGMETRICS 2000) compare the correlation between paths
//! with that within a path, and Katabi, Bazzi and Yang (INFOCOM 2001) cluster by it; their probes
//! are regular, and their paths meet the queue at the same time. Here the probes are a connection's
//! own packets:
//!
//! * A delay belongs to the time when its packet was sent, so that differences of round trips do
//!   not matter. What is left is the difference of the ways to the bottleneck: every lag is tried,
//!   up to half of the longer round trip.
//! * Delays are means over bins of [`BIN`], doubled until half of the bins of both paths have one.
//! * A moving mean over [`SLOW`] is taken away: the sawteeth of windows on two bottlenecks of equal
//!   size look alike for a while, and the noise on top of them does not.
//! * Of the [`MEMORY`] that is remembered come the correlation `r` and the number `n` of samples
//!   that are worth as much as so many independent ones: `n (1 − ρ_a ρ_b) / (1 + ρ_a ρ_b)`, with
//!   the correlations `ρ` of each series with itself a bin later (Bartlett 1946, for series that
//!   forget geometrically).
//! * The confidence is the probability that the true correlation is above [`SHARED`]:
//!   `Φ((artanh r − artanh θ) √(n − 3))`.

use super::{Described, Detector, Sample, UNKNOWN};
use crate::statistics::{correlation, fisher, normal, persistence};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use units::{NANOS, Span, Time};

/// Width of a bin, in nanoseconds.
const BIN: u64 = 10_000_000;
/// What is remembered, in bins.
const MEMORY: usize = 1024;
/// Length of the moving mean that is taken away, in bins of the width that is used.
const SLOW: usize = 32;
/// Most doublings of a bin: enough of them must remain.
const DOUBLINGS: u32 = 4;
/// Longest lag, in bins.
const LONGEST_LAG: usize = 40;
/// `θ`: noise of queues that paths cross besides the shared one takes correlation away; paths that
/// share nothing rarely come that far within what is remembered.
const SHARED: f64 = 0.45;
/// Fewest bins, and fewest independent samples, for a conclusion.
const FEWEST_BINS: f64 = 24.0;
const FEWEST: f64 = 5.0;
/// Shortest time for a conclusion, in bins: slow starts that begin together are alike.
const SHORTEST: u64 = 400;

/// The delays of a path over time.
#[derive(Clone, Debug)]
struct Path {
    /// Sum and number of the delays in each bin, in seconds; bin `b` is at `b % MEMORY`.
    bins: Box<[(f64, u32)]>,
    /// First bin with a delay, and the newest one.
    first: Option<u64>,
    newest: u64,
    rtt: f64,
}

impl Path {
    fn new() -> Self {
        let bins = vec![(0.0, 0); MEMORY].into();
        Path { bins, first: None, newest: 0, rtt: 0.0 }
    }

    fn add(&mut self, sample: &Sample) {
        let bin = sample.sent.0 / BIN;
        self.rtt = sample.rtt.seconds();
        if self.first.is_none() {
            (self.first, self.newest) = (Some(bin), bin);
        }
        if bin > self.newest {
            let cleared = (bin - self.newest).min(MEMORY as u64);
            for passed in bin + 1 - cleared..=bin {
                self.bins[passed as usize % MEMORY] = (0.0, 0);
            }
            self.newest = bin;
        } else if self.newest - bin >= MEMORY as u64 {
            return; // too old
        }
        let (sum, count) = &mut self.bins[bin as usize % MEMORY];
        (*sum, *count) = (*sum + sample.delay.seconds(), *count + 1);
    }

    /// The mean delays in the bins that end with `last`, each of `wide` bins; NaN where there is
    /// none.
    fn series(&self, last: u64, wide: usize) -> Vec<f64> {
        let bins = MEMORY / wide;
        let mut series = Vec::with_capacity(bins);
        for number in 0..bins {
            let (mut sum, mut count) = (0.0, 0);
            for part in 0..wide {
                let back = (MEMORY - 1 - (number * wide + part)) as u64;
                let Some(bin) = last.checked_sub(back) else { continue };
                if bin <= self.newest && self.newest - bin < MEMORY as u64 {
                    let (own, many) = self.bins[bin as usize % MEMORY];
                    (sum, count) = (sum + own, count + many);
                }
            }
            series.push(if count > 0 { sum / f64::from(count) } else { f64::NAN });
        }
        series
    }
}

/// Takes a moving mean over `length` places away; gaps stay gaps.
fn without_slow(series: &[f64], length: usize) -> Vec<f64> {
    let (mut sums, mut counts) = (vec![0.0; series.len() + 1], vec![0.0; series.len() + 1]);
    for (place, value) in series.iter().enumerate() {
        let known = !value.is_nan();
        sums[place + 1] = sums[place] + if known { *value } else { 0.0 };
        counts[place + 1] = counts[place] + f64::from(u8::from(known));
    }
    let around = |place: usize| {
        let (from, to) =
            (place.saturating_sub(length / 2), (place + length / 2 + 1).min(series.len()));
        (sums[to] - sums[from]) / (counts[to] - counts[from])
    };
    series.iter().enumerate().map(|(place, value)| value - around(place)).collect()
}

/// Correlation of delays over all paths.
#[derive(Clone, Debug)]
pub struct Correlation {
    paths: Box<[Path]>,
    /// For each pair `a·paths + b` with `a < b`.
    found: Box<[f64]>,
}

impl Correlation {
    /// How sure it is that two paths share, from their delays until `last`.
    fn compare(&self, a: usize, b: usize, last: u64) -> f64 {
        let (a, b) = (&self.paths[a], &self.paths[b]);
        let (Some(first_a), Some(first_b)) = (a.first, b.first) else { return UNKNOWN };
        let seen = (last + 1).saturating_sub(first_a.max(first_b)).min(MEMORY as u64);
        if seen < SHORTEST {
            return UNKNOWN;
        }
        for doublings in 0..=DOUBLINGS {
            let wide = 1 << doublings;
            let series = [a, b].map(|path| path.series(last, wide));
            let bins = seen as usize / wide;
            let filled = |series: &Vec<f64>| {
                2 * series.iter().filter(|value| !value.is_nan()).count() >= bins
            };
            if series.iter().all(filled) {
                let [a_fast, b_fast] = series.map(|own| without_slow(&own, SLOW));
                let half = (a.rtt.max(b.rtt) / 2.0 * NANOS as f64) as usize / BIN as usize;
                return confidence(&a_fast, &b_fast, (half.min(LONGEST_LAG) + 1).div_ceil(wide));
            }
        }
        UNKNOWN
    }
}

/// The probability that two series are correlated by more than [`SHARED`], at the lag at which they
/// are most.
fn confidence(a: &[f64], b: &[f64], lags: usize) -> f64 {
    let mut best: Option<(f64, f64)> = None;
    for lag in 0..=lags.min(a.len().saturating_sub(1)) {
        let later = [correlation(a[lag..].iter().zip(b)), correlation(a.iter().zip(&b[lag..]))];
        for (found, n) in later.into_iter().flatten().filter(|(_, n)| *n >= FEWEST_BINS) {
            if best.is_none_or(|(most, _)| found > most) {
                best = Some((found, n));
            }
        }
    }
    let Some((found, n)) = best else { return UNKNOWN };
    let forget = persistence(a) * persistence(b);
    let n = n * (1.0 - forget) / (1.0 + forget);
    match n >= FEWEST {
        true => normal((fisher(found) - fisher(SHARED)) * libm::sqrt(n - 3.0)),
        false => UNKNOWN,
    }
}

impl Detector for Correlation {
    const DESCRIBED: Described = Described {
        names: &["correlation"],
        summary: "Delays of packets that were sent at the same time rise and fall together, at some lag.",
        formula: "Φ((artanh r − artanh 0.45) √(n − 3)), r the largest correlation of delays over lags, n samples",
        source: "ours; after Rubenstein et al., SIGMETRICS 2000, and Katabi et al., INFOCOM 2001",
    };

    fn new(paths: usize) -> Self {
        let found = vec![UNKNOWN; paths * paths].into();
        Correlation { paths: (0..paths).map(|_| Path::new()).collect(), found }
    }

    fn on_delay(&mut self, path: usize, sample: &Sample) {
        self.paths[path].add(sample);
    }

    fn on_loss(&mut self, _path: usize, _at: Time) {}

    fn forget(&mut self, path: usize) {
        self.paths[path] = Path::new();
    }

    fn conclude(&mut self, now: Time) {
        let paths = self.paths.len();
        for a in 0..paths {
            for b in a + 1..paths {
                // Packets that were sent later than a round trip ago may be under way.
                let under_way = self.paths[a].rtt.max(self.paths[b].rtt);
                let until = now.since(Time::ZERO + Span::from_seconds(under_way)).0 / BIN;
                self.found[a * paths + b] = self.compare(a, b, until);
            }
        }
    }

    fn confidence(&self, a: usize, b: usize) -> f64 {
        self.found[a.min(b) * self.paths.len() + a.max(b)]
    }
}
