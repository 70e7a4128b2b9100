//! A time for each path, and the earliest of them.

use units::Time;

/// Times of the paths of a connection, in a tournament: each node is the earlier of the two below
/// it, so that each event finds the earliest at once.
#[derive(Debug)]
pub(crate) struct Times {
    /// Node 1 is the earliest of all; below node `i` are `2 i` and `2 i + 1`. The last half are the
    /// leaves, of the paths and then of none.
    nodes: Box<[Time]>,
    paths: usize,
}

impl Times {
    /// The same time for each path.
    pub(crate) fn new(paths: usize, time: Time) -> Self {
        let leaves = paths.next_power_of_two();
        let mut times = Times { nodes: vec![Time::NEVER; 2 * leaves].into(), paths };
        times.set_all(std::iter::repeat(time));
        times
    }

    fn leaves(&self) -> usize {
        self.nodes.len() / 2
    }

    /// The earliest time; never without paths.
    pub(crate) fn first(&self) -> Time {
        self.nodes[1]
    }

    /// The times by path.
    pub(crate) fn all(&self) -> &[Time] {
        &self.nodes[self.leaves()..][..self.paths]
    }

    pub(crate) fn set(&mut self, me: usize, time: Time) {
        let mut node = self.leaves() + me;
        let mut first = time;
        self.nodes[node] = first;
        while node > 1 {
            first = first.min(self.nodes[node ^ 1]);
            node /= 2;
            self.nodes[node] = first;
        }
    }

    /// Sets the times of all paths.
    pub(crate) fn set_all(&mut self, times: impl Iterator<Item = Time>) {
        let (above, leaves) = self.nodes.split_at_mut(self.nodes.len() / 2);
        leaves[..self.paths].iter_mut().zip(times).for_each(|(own, time)| *own = time);
        for node in (1..above.len()).rev() {
            let below = 2 * node;
            self.nodes[node] = self.nodes[below].min(self.nodes[below + 1]);
        }
    }

    /// The lowest path whose time is not after `time`.
    pub(crate) fn lowest_by(&self, time: Time) -> Option<usize> {
        if self.first() > time || time == Time::NEVER {
            return None; // mostly
        }
        let mut node = 1;
        while node < self.leaves() {
            node *= 2;
            node += usize::from(self.nodes[node] > time);
        }
        Some(node - self.leaves())
    }

    /// The first time after another one, or of all, and its path. Of equal times, that of the
    /// lower path is first. Times that never come are left out.
    pub(crate) fn after(&self, other: Option<(Time, usize)>) -> Option<(Time, usize)> {
        let Some(other) = other else {
            return self.lowest_by(self.first()).map(|me| (self.first(), me));
        };
        let mut first = (Time::NEVER, 0);
        for (me, &time) in self.all().iter().enumerate() {
            if time < first.0 && (time, me) > other {
                first = (time, me);
            }
        }
        Some(first).filter(|(time, _)| *time < Time::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A time of few, so that some are equal.
    fn few() -> impl Strategy<Value = Time> {
        prop_oneof![Just(Time::NEVER), (0..5_u64).prop_map(Time)]
    }

    proptest! {
        #[test]
        fn the_first_time_is_the_earliest_of_all(
            paths in 1..10_usize,
            steps in prop::collection::vec((0..10_usize, few()), 0..40),
        ) {
            let mut times = Times::new(paths, Time::NEVER);
            for (me, time) in steps {
                match me < paths {
                    true => times.set(me, time),
                    false => times.set_all((1..).map(|part| Time(time.0 / part))),
                }
                prop_assert_eq!(Some(times.first()), times.all().iter().copied().min());
                for by in (0..5).map(Time) {
                    let lowest = times.all().iter().position(|time| *time <= by);
                    prop_assert_eq!(times.lowest_by(by), lowest);
                }
            }
        }

        #[test]
        fn one_time_after_the_other_is_all_in_their_order(all in prop::collection::vec(few(), 0..6)) {
            let mut times = Times::new(all.len(), Time::ZERO);
            times.set_all(all.iter().copied());
            let in_turn: Vec<_> =
                std::iter::successors(times.after(None), |last| times.after(Some(*last))).collect();
            let mut expected: Vec<_> = (0..).zip(all).map(|(me, time)| (time, me)).collect();
            expected.retain(|(time, _)| *time < Time::NEVER);
            expected.sort();
            prop_assert_eq!(in_turn, expected);
        }
    }
}
