//! The choice of the base path by trial.
//!
//! This rule is ours, for networks in which the response function of `switching.rs` misleads. On a
//! path without competing traffic a background flow is as fast as a TCP: moving the base there
//! gains nothing, however high the path's rate. So a trial moves the base to a path on which the
//! background flow has backed off, measures the rate of all paths together, and moves the base back
//! unless that rate is higher by the factor `BETTER`. The ensemble is fair with any path as its
//! base. The constants were chosen on the scenarios of docs/explanation/fair-by-definition.md.

/// Round trips of the slowest path in an epoch: some sawteeth of a TCP.
const EPOCH: f64 = 100.0;
/// Factor by which the rate of all paths together must be higher.
const BETTER: f64 = 1.15;
/// Epochs before the first trial.
const FIRST_REST: u32 = 2;
/// Epochs after a successful trial, which has shown that the other place is worse.
const GOOD_REST: u32 = 8;
/// Most epochs between trials. Each failed trial multiplies the epochs by four.
const LONGEST_REST: u32 = 32;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// Epochs left until the next trial.
    Rest(u32),
    /// Measures the rate of all paths before the move.
    Before,
    /// The base has moved from this path; windows settle.
    Settle(usize),
    /// Measures the rate of all paths after the move.
    After(usize),
}

/// Trials of one connection.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    stage: Stage,
    /// When the epoch began and ends, in seconds.
    began: f64,
    ends: f64,
    /// Segments acknowledged in it, on all paths.
    acked: f64,
    /// Segments per second before the trial.
    before: f64,
    rest: u32,
}

impl Trial {
    pub(super) fn new() -> Self {
        let stage = Stage::Rest(FIRST_REST);
        Trial { stage, began: 0.0, ends: 0.0, acked: 0.0, before: 0.0, rest: FIRST_REST }
    }

    /// A path joined or left: the measurements are of another network.
    pub(super) fn reset(&mut self) {
        *self = Trial { began: self.began, ends: self.ends, ..Trial::new() };
    }

    /// Counts segments acknowledged on any path.
    pub(super) fn count(&mut self, segments: f64) {
        self.acked += segments;
    }

    /// The path to which the base moves now, `candidate` or back, if it moves; `slowest` is the
    /// round trip of the slowest path in seconds.
    pub(super) fn turn(
        &mut self,
        now: f64,
        slowest: f64,
        base: usize,
        candidate: Option<usize>,
    ) -> Option<usize> {
        if now < self.ends {
            return None;
        }
        let rate = self.acked / (now - self.began);
        (self.began, self.ends, self.acked) = (now, now + EPOCH * slowest, 0.0);
        let (next, to) = match self.stage {
            Stage::Rest(epochs) if epochs > 1 => (Stage::Rest(epochs - 1), None),
            Stage::Rest(_) => (Stage::Before, None),
            Stage::Before if candidate.is_none() => (Stage::Rest(1), None),
            Stage::Before => {
                self.before = rate;
                (Stage::Settle(base), candidate)
            }
            Stage::Settle(from) => (Stage::After(from), None),
            Stage::After(_) if rate > BETTER * self.before => {
                self.rest = GOOD_REST;
                (Stage::Rest(self.rest), None)
            }
            Stage::After(from) => {
                self.rest = (4 * self.rest).min(LONGEST_REST);
                (Stage::Rest(self.rest), Some(from))
            }
        };
        self.stage = next;
        to
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Moves of the base in `epochs` if all paths together have a rate of `rates[base]`.
    fn moves(rates: [f64; 2], epochs: u32) -> Vec<usize> {
        let (mut trial, mut base, mut seen) = (Trial::new(), 0, Vec::new());
        for tick in 0..epochs * 100 {
            let now = f64::from(tick) * 0.1; // round trips of 100 ms, and an ACK in each
            trial.count(rates[base]);
            if let Some(to) = trial.turn(now, 0.1, base, Some(1 - base)) {
                base = to;
                seen.push(to);
            }
        }
        seen
    }

    #[test]
    fn a_better_place_is_kept_and_what_is_worse_is_left_again() {
        let better = moves([10.0, 20.0], 60);
        assert_eq!(better[0], 1);
        assert!(better[1..].chunks(2).all(|pair| pair == [0, 1]), "{better:?}");
    }

    #[test]
    fn trials_that_fail_become_rare() {
        let tried = moves([10.0, 8.0], 120).len() / 2;
        assert!((3..=5).contains(&tried), "{tried}");
    }

    #[test]
    fn without_a_path_that_has_backed_off_nothing_is_tried() {
        let mut trial = Trial::new();
        let mut now = (0..10_000).map(|tick| f64::from(tick) * 0.1);
        assert!(now.all(|now| trial.turn(now, 0.1, 0, None).is_none()));
    }
}
