//! A detector at work: when it looks, and how sure it must be to change its mind.

use crate::detectors::{AtWork, Sample, UNKNOWN};
use crate::{AnyDetector, groups};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use units::{Span, Time};

/// Time between two looks.
pub const LOOK: Span = Span(1_000_000_000);

/// Confidence above which a look says that paths share; below one minus this they do not, and
/// between the two it says nothing.
const SURE: f64 = 0.8;

/// Weight of a look in what is believed. From a belief of 0 or 1, one look that is certain brings
/// it to the half at which groups merge, and the second one beyond: paths are found to share after
/// one look or two, and to share no longer after two.
const WEIGHT: f64 = 0.5;

/// Which of some paths share a bottleneck, as far as their packets show.
#[derive(Clone, Debug)]
pub struct Detection {
    detector: AtWork,
    /// For each pair `a·paths + b`, what is believed.
    beliefs: Box<[f64]>,
    /// For each path the first path of its group.
    groups: Vec<usize>,
    /// Whether a path takes part.
    members: Box<[bool]>,
    looks_at: Time,
}

impl Detection {
    /// Of `paths` paths of which nothing is known: they are one group.
    pub fn new(kind: AnyDetector, paths: usize) -> Self {
        Detection {
            detector: AtWork::new(kind, paths),
            beliefs: vec![UNKNOWN; paths * paths].into(),
            groups: vec![0; paths],
            members: vec![true; paths].into(),
            looks_at: Time::ZERO + LOOK,
        }
    }

    /// A packet of `path` arrived.
    pub fn on_delay(&mut self, path: usize, sample: &Sample) {
        self.detector.on_delay(path, sample);
    }

    /// A loss event on `path` was found `at` that time.
    pub fn on_loss(&mut self, path: usize, at: Time) {
        self.detector.on_loss(path, at);
    }

    /// The last loss event on `path` was spurious.
    pub fn on_spurious(&mut self, path: usize) {
        self.detector.on_spurious(path);
    }

    /// `path` joined or left: nothing is known of it, and one that left is in no group with others.
    pub fn set_member(&mut self, path: usize, member: bool) {
        self.detector.forget(path);
        self.members[path] = member;
        let paths = self.groups.len();
        for other in 0..paths {
            let found = if member && self.members[other] { UNKNOWN } else { 0.0 };
            self.beliefs[path * paths + other] = found;
            self.beliefs[other * paths + path] = found;
        }
        self.group_again();
    }

    /// Looks at what came until `now`, if the last look is a second ago. Returns whether the groups
    /// changed.
    pub fn look(&mut self, now: Time) -> bool {
        if now < self.looks_at {
            return false;
        }
        self.looks_at = now + LOOK;
        self.detector.conclude(now);
        let paths = self.groups.len();
        for a in 0..paths {
            for b in (a + 1..paths).filter(|&b| self.members[a] && self.members[b]) {
                let seen = self.detector.confidence(a, b);
                if (1.0 - SURE..=SURE).contains(&seen) {
                    continue;
                }
                let belief = self.beliefs[a * paths + b];
                let moved = belief + WEIGHT * (seen - belief);
                self.beliefs[a * paths + b] = moved;
                self.beliefs[b * paths + a] = moved;
            }
        }
        self.group_again()
    }

    fn group_again(&mut self) -> bool {
        let paths = self.groups.len();
        let found = groups(paths, |a, b| self.beliefs[a * paths + b]);
        let changed = found != self.groups;
        self.groups = found;
        changed
    }

    /// The first path of the group of `path`: two paths share a bottleneck if it is the same.
    pub fn group(&self, path: usize) -> usize {
        self.groups[path]
    }

    /// How sure it is that two paths share a bottleneck, from 0 to 1; a half if nothing is known.
    pub fn confidence(&self, a: usize, b: usize) -> f64 {
        if a == b { 1.0 } else { self.beliefs[a * self.groups.len() + b] }
    }
}
