//! The statistics and the grouping of RFC 8382.
//!
//! Source: Hayes, Ferlin, Welzl and Hiorth, RFC 8382, 2018, with the parameters that its §2.2
//! recommends. Delays are summed over base intervals of `T`; skewness, variability and frequency of
//! oscillation come from the last `M` or `N` of them (§3.2), and paths are grouped by them (§3.3).
//! Left out are the options of §4: the moving average of the mean and the noise of clocks.
//!
//! Of losses a detector hears of events, not of packets. `pkt_loss` is therefore too small where
//! several packets are lost at a time.

use super::{Described, Detector, Sample, UNKNOWN};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use units::{Span, Time};

/// `T`: length of a base interval.
const T: Span = Span(350_000_000);
/// `N` and `M`: base intervals of the long and of the short statistics.
const N: usize = 50;
const M: usize = 30;
/// `c_s`: skewness below which a path crosses a bottleneck; `c_h`: if it did before.
const C_S: f64 = 0.1;
const C_H: f64 = 0.3;
/// `p_v`: how far beyond the mean, in deviations, a crossing of it must go.
const P_V: f64 = 0.7;
/// `p_l`: loss above which a path crosses a bottleneck, and losses are compared.
const P_L: f64 = 0.05;
/// Largest differences within a group: of frequency, of skewness, and of variability and loss as a
/// part of the larger one.
const P_F: f64 = 0.1;
const P_S: f64 = 0.15;
const P_MAD: f64 = 0.1;
const P_D: f64 = 0.1;

/// Sums of a path over one base interval.
#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    /// Number of delays, and their sum in seconds.
    number: f64,
    sum: f64,
    /// Σ of the signs of `mean_delay − delay`.
    skew_base: f64,
    /// Σ |delay − E_T|, with the mean of the interval before.
    var_base: f64,
    losses: f64,
    /// Whether the mean of the interval crossed the mean delay.
    crossed: bool,
}

impl Interval {
    /// `E_T`; `None` without a delay.
    fn mean(&self) -> Option<f64> {
        (self.number > 0.0).then(|| self.sum / self.number)
    }
}

/// `skew_est`, `var_est`, `freq_est` and `pkt_loss` of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Statistics {
    skew: f64,
    var: f64,
    freq: f64,
    loss: f64,
}

#[derive(Clone, Debug, Default)]
struct Path {
    open: Interval,
    /// The last `N` intervals, newest first.
    closed: Vec<Interval>,
    /// Mean of the last `M` interval means, and the last interval's, in seconds.
    mean_delay: f64,
    last_mean: f64,
    /// On which side of the mean the last significant crossing ended.
    above: Option<bool>,
    statistics: Statistics,
    bottlenecked: bool,
}

impl Path {
    fn close(&mut self) {
        let mut ended = core::mem::take(&mut self.open);
        if let Some(mean) = ended.mean() {
            let margin = P_V * self.statistics.var;
            let side = match () {
                () if mean > self.mean_delay + margin => Some(true),
                () if mean < self.mean_delay - margin => Some(false),
                () => None,
            };
            if side.is_some() {
                ended.crossed = self.above.is_some() && side != self.above;
                self.above = side;
            }
            self.last_mean = mean;
        }
        self.closed.insert(0, ended);
        self.closed.truncate(N);
        self.estimate();
    }

    fn estimate(&mut self) {
        let short = &self.closed[..self.closed.len().min(M)];
        let means: Vec<f64> = short.iter().filter_map(Interval::mean).collect();
        if means.is_empty() {
            return;
        }
        self.mean_delay = means.iter().sum::<f64>() / means.len() as f64;
        let over = |part: fn(&Interval) -> f64, of: &[Interval]| of.iter().map(part).sum::<f64>();
        let number = over(|own| own.number, short);
        let packets = over(|own| own.number + own.losses, &self.closed);
        self.statistics = Statistics {
            skew: over(|own| own.skew_base, short) / number,
            var: over(|own| own.var_base, short) / number,
            freq: over(|own| f64::from(u8::from(own.crossed)), &self.closed) / N as f64,
            loss: over(|own| own.losses, &self.closed) / packets,
        };
        let Statistics { skew, loss, .. } = self.statistics;
        self.bottlenecked = skew < C_S || skew < C_H && self.bottlenecked || loss > P_L;
    }
}

/// RFC 8382 over all paths.
#[derive(Clone, Debug)]
pub struct Rfc8382 {
    paths: Box<[Path]>,
    ends: Time,
    /// The group of each path; `None` for one that crosses no bottleneck.
    groups: Box<[Option<usize>]>,
}

/// Splits groups where neighbours differ by more than `apart` allows, in the order of `value`.
fn split(
    groups: Vec<Vec<usize>>,
    value: impl Fn(usize) -> f64,
    apart: impl Fn(f64, f64) -> bool,
) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    for mut group in groups {
        group.sort_by(|a, b| value(*b).total_cmp(&value(*a)));
        let mut before: Option<f64> = None;
        for path in group {
            let own = value(path);
            match (before, found.last_mut()) {
                (Some(larger), Some(last)) if !apart(larger, own) => last.push(path),
                _ => found.push(vec![path]),
            }
            before = Some(own);
        }
    }
    found
}

impl Rfc8382 {
    /// Grouping (§3.3).
    fn group(&mut self) {
        let of = |path: usize| self.paths[path].statistics;
        let transiting: Vec<usize> =
            (0..self.paths.len()).filter(|&path| self.paths[path].bottlenecked).collect();
        let all = vec![transiting];
        let all = split(all, |path| of(path).freq, |larger, own| larger - own >= P_F);
        let all = split(all, |path| of(path).var, |larger, own| larger - own >= P_MAD * larger);
        let all = split(all, |path| of(path).skew, |larger, own| larger - own >= P_S);
        let lossy = |larger: f64, own: f64| larger > P_L && larger - own >= P_D * larger;
        let all = split(all, |path| of(path).loss, lossy);
        self.groups.fill(None);
        for (number, group) in all.iter().enumerate() {
            group.iter().for_each(|path| self.groups[*path] = Some(number));
        }
    }

    fn known(&self, path: usize) -> bool {
        self.paths[path].closed.len() >= M
    }
}

impl Detector for Rfc8382 {
    const DESCRIBED: Described = Described {
        names: &["rfc8382"],
        summary: "Skewness, variability and frequency of oscillation of the delays, and losses, are alike.",
        formula: "skew_est < 0.1; differences: freq_est < 0.1, var_est < 10 %, skew_est < 0.15, pkt_loss < 10 % above 5 %",
        source: "Hayes et al., RFC 8382, 2018",
    };

    fn new(paths: usize) -> Self {
        Rfc8382 {
            paths: vec![Path::default(); paths].into(),
            ends: Time::ZERO + T,
            groups: vec![None; paths].into(),
        }
    }

    fn on_delay(&mut self, path: usize, sample: &Sample) {
        self.conclude(sample.sent + sample.rtt);
        let delay = sample.delay.seconds();
        let Path { open, closed, mean_delay, last_mean, .. } = &mut self.paths[path];
        open.number += 1.0;
        open.sum += delay;
        if !closed.is_empty() {
            open.skew_base +=
                f64::from(i8::from(delay < *mean_delay)) - f64::from(i8::from(delay > *mean_delay));
            open.var_base += (delay - *last_mean).abs();
        }
    }

    fn on_loss(&mut self, path: usize, _at: Time) {
        self.paths[path].open.losses += 1.0;
    }

    fn forget(&mut self, path: usize) {
        self.paths[path] = Path::default();
        self.groups[path] = None;
    }

    fn conclude(&mut self, now: Time) {
        let before = self.ends;
        while now >= self.ends {
            self.ends = self.ends + T;
            self.paths.iter_mut().for_each(Path::close);
        }
        if self.ends != before {
            self.group();
        }
    }

    fn confidence(&self, a: usize, b: usize) -> f64 {
        match self.known(a) && self.known(b) {
            false => UNKNOWN,
            true => {
                f64::from(u8::from(self.groups[a].is_some() && self.groups[a] == self.groups[b]))
            }
        }
    }
}
