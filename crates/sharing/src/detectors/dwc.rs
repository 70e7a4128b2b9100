//! Losses and increased delays beside a loss, as DWC has it.
//!
//! Source: Hassayoun, Iyengar and Ros, ICNP 2011, with the details that `dwc` of the controllers
//! reconstructs: a loss event on one path asks; another path answers with a loss event within a
//! round trip, the longest of the connection, or with a smoothed delay above the middle of its
//! extremes. A pair with an answer shares; after three questions running without one it does not.
//! The controller asks besides whether the delay rises, by rounds that samples do not have, and
//! moves paths between groups instead of judging pairs.

use super::{Described, Detector, Sample, UNKNOWN};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use units::Time;

/// Position between its extremes above which a smoothed delay is a sign.
const THRESHOLD: f64 = 0.5;
/// Questions in a row without a sign, after which a pair does not share.
const PATIENCE: u32 = 3;
/// Weight of a sample in the smoothed delay (RFC 6298 has it for round trips).
const WEIGHT: f64 = 0.125;

#[derive(Clone, Copy, Debug)]
struct Path {
    /// Zero before the first sample, as the round trip.
    smoothed: f64,
    base: f64,
    most: f64,
    rtt: f64,
    lost_at: f64,
}

impl Path {
    const NEW: Path = Path {
        smoothed: 0.0,
        base: f64::INFINITY,
        most: 0.0,
        rtt: 0.0,
        lost_at: f64::NEG_INFINITY,
    };

    fn increased(&self) -> bool {
        self.smoothed > self.base + THRESHOLD * (self.most - self.base)
    }
}

/// A loss event on path `of`, after which the other paths are looked at.
#[derive(Clone, Debug)]
struct Question {
    of: usize,
    opened: f64,
    interval: f64,
    /// For each path, whether its delay was increased then.
    increased: Box<[bool]>,
}

/// DWC's rule over all paths.
#[derive(Clone, Debug)]
pub struct Dwc {
    paths: Box<[Path]>,
    /// At most one of each path.
    questions: Vec<Question>,
    /// For each pair `a·paths + b`: whether it shares, and questions in a row without a sign.
    pairs: Box<[(f64, u32)]>,
}

impl Dwc {
    fn answer(&mut self, question: &Question) {
        let (of, paths) = (question.of, self.paths.len());
        for other in (0..paths).filter(|&other| other != of) {
            let Path { rtt, lost_at, .. } = self.paths[other];
            if rtt == 0.0 {
                continue;
            }
            let sign = question.increased[other] || lost_at >= question.opened - question.interval;
            let place = of.min(other) * paths + of.max(other);
            let (shares, misses) = &mut self.pairs[place];
            if sign {
                (*shares, *misses) = (1.0, 0);
            } else {
                *misses += 1;
                if *misses >= PATIENCE {
                    *shares = 0.0;
                }
            }
        }
    }
}

impl Detector for Dwc {
    const DESCRIBED: Described = Described {
        names: &["dwc"],
        summary: "Beside a loss event of one path, the other has one or an increased delay.",
        formula: "within a round trip of a loss: a loss, or delay > base + 0.5 (max − base); no longer after three without",
        source: "Hassayoun, Iyengar and Ros, ICNP 2011; details reconstructed",
    };

    fn new(paths: usize) -> Self {
        Dwc {
            paths: vec![Path::NEW; paths].into(),
            questions: Vec::new(),
            pairs: vec![(UNKNOWN, 0); paths * paths].into(),
        }
    }

    fn on_delay(&mut self, path: usize, sample: &Sample) {
        let delay = sample.delay.seconds();
        let path = &mut self.paths[path];
        path.rtt = sample.rtt.seconds();
        path.smoothed +=
            if path.smoothed == 0.0 { delay } else { WEIGHT * (delay - path.smoothed) };
        path.base = path.base.min(path.smoothed);
        path.most = path.most.max(path.smoothed);
    }

    fn on_loss(&mut self, path: usize, at: Time) {
        let opened = at.seconds();
        self.paths[path].lost_at = opened;
        if self.questions.iter().all(|question| question.of != path) {
            let interval = self.paths.iter().map(|path| path.rtt).fold(0.0, f64::max);
            let increased = self.paths.iter().map(Path::increased).collect();
            self.questions.push(Question { of: path, opened, interval, increased });
        }
    }

    fn forget(&mut self, path: usize) {
        let paths = self.paths.len();
        self.paths[path] = Path::NEW;
        self.questions.retain(|question| question.of != path);
        for other in 0..paths {
            self.pairs[path.min(other) * paths + path.max(other)] = (UNKNOWN, 0);
        }
    }

    fn conclude(&mut self, now: Time) {
        let over = |question: &Question| now.seconds() > question.opened + question.interval;
        while let Some(place) = self.questions.iter().position(over) {
            let question = self.questions.remove(place);
            self.answer(&question);
        }
    }

    fn confidence(&self, a: usize, b: usize) -> f64 {
        self.pairs[a.min(b) * self.paths.len() + a.max(b)].0
    }
}
