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
    /// Chooses among paths `0..srtts.len()`; `None` stands for a path that cannot send now.
    #[inline(always)] // on the way of every segment
    pub(crate) fn choose(
        self,
        srtts: impl Iterator<Item = Option<u64>>,
        last: usize,
    ) -> Option<usize> {
        let able = srtts.enumerate().filter_map(|(path, srtt)| Some((path, srtt?)));
        match self {
            Scheduler::MinRtt | Scheduler::Redundant => {
                able.min_by_key(|(path, srtt)| (*srtt, *path))
            }
            // Paths after the last one first, then from the beginning.
            Scheduler::RoundRobin => able.min_by_key(|(path, _)| (*path <= last, *path)),
        }
        .map(|(path, _)| path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_path_with_space_is_chosen_and_round_robin_takes_turns() {
        let srtts = [Some(30), Some(20), None, Some(10)];
        assert_eq!(Scheduler::MinRtt.choose(srtts.into_iter(), 0), Some(3));
        let turns: Vec<_> = [0, 1, 3]
            .iter()
            .map(|last| Scheduler::RoundRobin.choose(srtts.into_iter(), *last).unwrap())
            .collect();
        assert_eq!(turns, [1, 3, 0]);
        assert_eq!(Scheduler::MinRtt.choose([None, None].into_iter(), 0), None);
    }
}
