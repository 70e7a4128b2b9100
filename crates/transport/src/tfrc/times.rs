//! A time for each path, and the earliest of them.

use units::Time;

/// Times of the paths of a connection. The earliest is kept: each event reads it, and few events
/// change it.
#[derive(Debug)]
pub(crate) struct Times {
    times: Box<[Time]>,
    first: Time,
}

impl Times {
    /// The same time for each path.
    pub(crate) fn new(paths: usize, time: Time) -> Self {
        Times {
            times: vec![time; paths].into(),
            first: if paths == 0 { Time::NEVER } else { time },
        }
    }

    /// The earliest time.
    pub(crate) fn first(&self) -> Time {
        self.first
    }

    /// The times by path.
    pub(crate) fn all(&self) -> &[Time] {
        &self.times
    }

    pub(crate) fn set(&mut self, me: usize, time: Time) {
        let before = std::mem::replace(&mut self.times[me], time);
        if time <= self.first {
            self.first = time;
        } else if before == self.first {
            self.find_first();
        }
    }

    pub(crate) fn set_all(&mut self, time: impl Fn(usize) -> Time) {
        self.times.iter_mut().enumerate().for_each(|(me, own)| *own = time(me));
        self.find_first();
    }

    fn find_first(&mut self) {
        self.first = self.times.iter().copied().fold(Time::NEVER, Time::min);
    }

    /// The first time after another one, or of all, and its path. Of equal times, that of the
    /// lower path is first. Times that never come are left out.
    pub(crate) fn after(&self, other: Option<(Time, usize)>) -> Option<(Time, usize)> {
        let mut first = (Time::NEVER, 0);
        for (me, &time) in self.times.iter().enumerate() {
            if time < first.0 && other.is_none_or(|other| (time, me) > other) {
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
            paths in 1..6_usize,
            steps in prop::collection::vec((0..6_usize, few()), 0..40),
        ) {
            let mut times = Times::new(paths, Time::NEVER);
            for (me, time) in steps {
                match me < paths {
                    true => times.set(me, time),
                    false => times.set_all(|me| Time(time.0 / (me as u64 + 1))),
                }
                prop_assert_eq!(Some(times.first()), times.all().iter().copied().min());
            }
        }

        #[test]
        fn one_time_after_the_other_is_all_in_their_order(all in prop::collection::vec(few(), 0..6)) {
            let mut times = Times::new(all.len(), Time::ZERO);
            times.set_all(|me| all[me]);
            let in_turn: Vec<_> =
                std::iter::successors(times.after(None), |last| times.after(Some(*last))).collect();
            let mut expected: Vec<_> = (0..).zip(all).map(|(me, time)| (time, me)).collect();
            expected.retain(|(time, _)| *time < Time::NEVER);
            expected.sort();
            prop_assert_eq!(in_turn, expected);
        }
    }
}
