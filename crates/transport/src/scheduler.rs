//! Which path carries the next data (RFC 8684 leaves it open).

/// A packet scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// The path with the smallest smoothed round-trip time of those with window space (Linux).
    MinRtt,
    /// Each path with window space in turn.
    RoundRobin,
    /// New data as `MinRtt`; every other path sends it too.
    Redundant,
}

impl Scheduler {
    /// Chooses among paths `0..paths`; `srtt` says how fast one is, in nanoseconds, or that it cannot send
    /// now. Of equal paths the first one is taken.
    #[inline(always)] // on the way of every segment
    pub(crate) fn choose(
        self,
        paths: usize,
        last: usize,
        srtt: impl Fn(usize) -> Option<u64>,
    ) -> Option<usize> {
        if self == Scheduler::RoundRobin {
            let (after, before) = (last + 1..paths, 0..paths.min(last + 1));
            return after.chain(before).find(|path| srtt(*path).is_some());
        }
        let (mut fastest, mut least) = (None, u64::MAX);
        for path in 0..paths {
            let Some(srtt) = srtt(path).filter(|srtt| *srtt < least) else {
                continue;
            };
            (fastest, least) = (Some(path), srtt);
        }
        fastest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_path_with_space_is_chosen_and_round_robin_takes_turns() {
        let srtts = [Some(30), Some(20), None, Some(10)];
        let choose = |scheduler: Scheduler, last| scheduler.choose(4, last, |path| srtts[path]);
        assert_eq!(choose(Scheduler::MinRtt, 0), Some(3));
        let turns: Vec<_> =
            [0, 1, 3].iter().map(|last| choose(Scheduler::RoundRobin, *last).unwrap()).collect();
        assert_eq!(turns, [1, 3, 0]);
        assert_eq!(Scheduler::MinRtt.choose(2, 0, |_| None), None);
        assert_eq!(Scheduler::RoundRobin.choose(2, 0, |_| None), None);
    }
}
