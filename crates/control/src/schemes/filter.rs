//! The maximum over the last rounds, from the three best samples.
//!
//! Source: Nichols' windowed filter as in Linux' lib/win_minmax.c (idea): the best sample, the best
//! one after it, and the best one after that. A later sample takes over when an earlier one
//! expires.

/// A windowed maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct MaxFilter {
    /// Round and value, best first.
    best: [(u64, f64); 3],
}

impl MaxFilter {
    /// The maximum; zero before the first sample.
    pub(crate) fn max(&self) -> f64 {
        self.best[0].1
    }

    /// Adds `value` of `round`; samples older than `rounds` are forgotten.
    pub(crate) fn update(&mut self, round: u64, value: f64, rounds: u64) {
        let new = (round, value);
        if value >= self.best[0].1 || round - self.best[2].0 > rounds {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].1 {
            (self.best[1], self.best[2]) = (new, new);
        } else if value >= self.best[2].1 {
            self.best[2] = new;
        }
        while round - self.best[0].0 > rounds {
            self.best = [self.best[1], self.best[2], new];
        }
        // A quarter of the window without a second best, or a half without a third: take the
        // newest.
        let age = round - self.best[0].0;
        if self.best[1].0 == self.best[0].0 && 4 * age > rounds {
            (self.best[1], self.best[2]) = (new, new);
        } else if self.best[2].0 == self.best[1].0 && 2 * age > rounds {
            self.best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maximum_is_kept_for_the_window_and_then_replaced_by_a_younger_one() {
        let mut filter = MaxFilter::default();
        filter.update(0, 100.0, 10);
        for round in 1..=10 {
            filter.update(round, 50.0 - round as f64, 10);
            assert_eq!(filter.max(), 100.0, "round {round}");
        }
        filter.update(11, 30.0, 10);
        assert!((30.0..50.0).contains(&filter.max()), "{}", filter.max());
    }
}
