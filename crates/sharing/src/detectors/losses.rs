//! Losses at the same times: paths that share a drop-tail queue lose packets together.
//!
//! Source: Zhang, Lai, Krishnamurthy, Peterson and Wang, USENIX 2004, in the version of Tse 2006
//! §2.1. Of two paths, take the one with fewer loss events, and count those with one of the other
//! path within a round trip: more than half mean one bottleneck. The sources leave open how many
//! events are needed: ten of each.

use super::{Described, Detector, Sample, UNKNOWN};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use units::Time;

/// Loss events needed for a conclusion, and the number kept.
const LEAST: usize = 10;
const KEPT: usize = 256;
/// Fraction of them that must coincide.
const SHARED: f64 = 0.5;

#[derive(Clone, Debug, Default)]
struct Path {
    /// Longest smoothed round trip that is known, in seconds.
    rtt: f64,
    /// Times of its loss events in seconds, oldest first.
    events: Vec<f64>,
}

/// Loss events of all paths.
#[derive(Clone, Debug)]
pub struct Losses(Box<[Path]>);

/// Fraction of the events of the path with fewer events that have one of the other within
/// `interval`; each event counts for one.
fn coincide(a: &[f64], b: &[f64], interval: f64) -> f64 {
    let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let (mut found, mut next) = (0, 0);
    for at in few {
        while next < many.len() && many[next] < at - interval {
            next += 1;
        }
        if next < many.len() && many[next] <= at + interval {
            found += 1;
            next += 1;
        }
    }
    f64::from(found) / few.len().max(1) as f64
}

impl Losses {
    /// The fraction of loss events that two paths have together, if they have enough for a
    /// conclusion.
    pub fn together(&self, a: usize, b: usize) -> Option<f64> {
        let (a, b) = (&self.0[a], &self.0[b]);
        // The same number of events reaches less far back on a path with more of them: only the
        // time covered by both counts.
        let since = a.events.first()?.max(*b.events.first()?);
        let [of_a, of_b] = [a, b].map(|path| {
            let early = path.events.partition_point(|at| *at < since);
            &path.events[early..]
        });
        let enough = of_a.len().min(of_b.len()) >= LEAST;
        enough.then(|| coincide(of_a, of_b, a.rtt.max(b.rtt)))
    }

    /// Whether two paths are found to share a bottleneck.
    pub fn share(&self, a: usize, b: usize) -> bool {
        self.together(a, b).is_some_and(|fraction| fraction > SHARED)
    }

    /// Sets the smoothed round trip of `path`, in seconds.
    pub fn set_rtt(&mut self, path: usize, rtt: f64) {
        self.0[path].rtt = rtt;
    }
}

impl Detector for Losses {
    const DESCRIBED: Described = Described {
        names: &["losses"],
        summary: "More than half of the loss events of one path have one of the other within a round trip.",
        formula: "coinciding events / events of the path with fewer > 1/2, from ten events of each on",
        source: "Zhang et al., USENIX 2004; Tse 2006, §2.1",
    };

    fn new(paths: usize) -> Self {
        Losses(vec![Path::default(); paths].into())
    }

    fn on_delay(&mut self, path: usize, sample: &Sample) {
        self.set_rtt(path, sample.rtt.seconds());
    }

    fn on_loss(&mut self, path: usize, at: Time) {
        let events = &mut self.0[path].events;
        if events.len() == KEPT {
            events.remove(0);
        }
        events.push(at.seconds());
    }

    fn on_spurious(&mut self, path: usize) {
        self.0[path].events.pop();
    }

    fn forget(&mut self, path: usize) {
        self.0[path].events.clear();
    }

    fn conclude(&mut self, _now: Time) {}

    fn confidence(&self, a: usize, b: usize) -> f64 {
        match self.together(a, b) {
            None => UNKNOWN,
            Some(fraction) => f64::from(u8::from(fraction > SHARED)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_counts_for_one_partner() {
        assert_eq!(coincide(&[1.0, 1.05, 1.1], &[1.0, 9.0, 9.5], 0.2), 1.0 / 3.0);
        assert_eq!(coincide(&[], &[1.0], 0.2), 0.0);
    }

    /// Two paths of 100 ms with events every 4 s, those of the second this much later.
    fn shifted(shift: f64, events: u64) -> f64 {
        let mut losses = Losses::new(2);
        (0..2).for_each(|path| losses.set_rtt(path, 0.1));
        for (number, path) in (0..events).flat_map(|number| [(number, 0), (number, 1)]) {
            let at = number as f64 * 4.0 + if path == 1 { shift } else { 0.0 };
            losses.on_loss(path, Time((at * 1e9) as u64));
        }
        losses.confidence(1, 0)
    }

    #[test]
    fn losses_within_a_round_trip_are_a_sign_and_a_few_prove_nothing() {
        assert_eq!([shifted(0.05, 20), shifted(2.0, 20), shifted(0.05, 9)], [1.0, 0.0, UNKNOWN]);
    }
}
