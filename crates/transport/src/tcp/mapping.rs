//! Mappings from a path's bytes to the connection's bytes (the DSS mappings of RFC 8684 §3.3.1).

use std::collections::VecDeque;
use wire::Range;

/// A run of path bytes that are consecutive in the data sequence space too.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Run {
    seq: u64,
    dsn: u64,
    len: u64,
}

impl Run {
    fn end(&self) -> u64 {
        self.seq + self.len
    }
}

/// The mappings of one path's outstanding bytes. Most segments continue the newest run, and most
/// ACKs end no run, so that these cases read no list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mapping {
    /// The newest run; empty at first, and when all its bytes have been forgotten.
    newest: Run,
    /// The runs before it, oldest first.
    older: VecDeque<Run>,
    /// The end of the oldest run, if it is not the newest one, and zero otherwise.
    oldest_end: u64,
    /// All data of the path below was outstanding when the path last failed, and was then offered
    /// to other paths.
    pub(crate) offered: u64,
}

impl Mapping {
    /// Maps `seq..seq + len` to `dsn..dsn + len`; `seq` follows the last mapped byte.
    #[inline(always)] // runs for every segment of several paths
    pub(crate) fn push(&mut self, seq: u64, dsn: u64, len: u64) {
        let Run { dsn: newest, len: before, .. } = self.newest;
        match newest + before == dsn && self.newest.end() == seq {
            true => self.newest.len += len,
            false => self.begin_run(Run { seq, dsn, len }),
        }
    }

    #[inline(never)] // every few segments
    fn begin_run(&mut self, run: Run) {
        if self.newest.len > 0 {
            self.older.push_back(self.newest);
            self.look_at_oldest();
        }
        self.newest = run;
    }

    fn look_at_oldest(&mut self) {
        self.oldest_end = self.older.front().map_or(0, Run::end);
    }

    /// Forgets all runs that end at or below `seq`.
    #[inline(always)] // runs for every ACK of several paths
    pub(crate) fn remove_below(&mut self, seq: u64) {
        if self.oldest_end <= seq {
            self.remove_runs(seq);
        }
    }

    #[inline(never)] // every few ACKs
    fn remove_runs(&mut self, seq: u64) {
        while self.older.front().is_some_and(|run| run.end() <= seq) {
            self.older.pop_front();
        }
        self.look_at_oldest();
        if self.newest.end() <= seq {
            self.newest = Run::default();
        }
    }

    /// All runs, oldest first.
    fn runs(&self) -> impl Iterator<Item = &Run> {
        self.older.iter().chain(Some(&self.newest).filter(|run| run.len > 0))
    }

    /// The data sequence number of `seq`, and the number of consecutive bytes from there on.
    pub(crate) fn find(&self, seq: u64) -> Option<(u64, u64)> {
        let index = self.older.partition_point(|run| run.end() <= seq);
        let run = self.older.get(index).unwrap_or(&self.newest);
        let inside = run.seq <= seq && seq < run.end();
        let offset = seq.wrapping_sub(run.seq);
        inside.then(|| (run.dsn + offset, run.len - offset))
    }

    /// Whether the byte `dsn` of the connection is mapped.
    pub(crate) fn holds(&self, dsn: u64) -> bool {
        self.runs().any(|run| (run.dsn..run.dsn + run.len).contains(&dsn))
    }

    /// The data ranges of the path bytes in `range`.
    pub(crate) fn data_ranges(&self, range: Range) -> impl Iterator<Item = Range> + '_ {
        let mut seq = range.start;
        std::iter::from_fn(move || {
            let (dsn, run) = self.find(seq).filter(|_| seq < range.end)?;
            let len = run.min(range.end - seq);
            seq += len;
            Some(Range { start: dsn, end: dsn + len })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compared with a plain list of bytes: no byte that may be outstanding is mapped wrongly,
        /// and none of a run that has ended is mapped.
        #[test]
        fn every_byte_that_is_outstanding_is_mapped_to_its_own(
            segments in prop::collection::vec((1u64..9, 0u64..3, 0u64..20), 1..60),
        ) {
            let (mut mapping, mut model) = (Mapping::default(), Vec::new());
            let (mut seq, mut dsn, mut una) = (0, 0, 0);
            for (len, gap, acked) in segments {
                dsn += gap;
                mapping.push(seq, dsn, len);
                model.extend(dsn..dsn + len);
                (seq, dsn) = (seq + len, dsn + len);
                una = u64::min(una + acked, seq);
                mapping.remove_below(una);
                for (byte, its) in (0..seq).zip(&model).skip(una as usize) {
                    prop_assert_eq!(mapping.find(byte).map(|(dsn, _)| dsn), Some(*its));
                    prop_assert!(mapping.holds(*its));
                }
                prop_assert_eq!(mapping.find(seq), None);
                prop_assert!(mapping.runs().all(|run| run.end() > una));
            }
        }
    }

    #[test]
    fn consecutive_bytes_share_a_run_and_every_byte_is_found() {
        let mut mapping = Mapping::default();
        mapping.push(0, 0, 10);
        mapping.push(10, 10, 10);
        mapping.push(20, 50, 10);
        assert_eq!(mapping.runs().count(), 2);
        assert_eq!(mapping.find(15), Some((15, 5)));
        assert_eq!(mapping.find(25), Some((55, 5)));
        assert_eq!(mapping.find(30), None);
        mapping.remove_below(20);
        assert_eq!(mapping.find(15), None);
        let ranges: Vec<_> = mapping.data_ranges(Range { start: 22, end: 40 }).collect();
        assert_eq!(ranges, [Range { start: 52, end: 60 }]);
    }
}
