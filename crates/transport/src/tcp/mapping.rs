//! Mappings from a path's bytes to the connection's bytes (the DSS mappings of RFC 8684 §3.3.1).

use std::collections::VecDeque;
use wire::Range;

/// A run of path bytes that are consecutive in the data sequence space too.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    seq: u64,
    dsn: u64,
    len: u64,
}

/// The mappings of one path's outstanding bytes, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mapping {
    runs: VecDeque<Run>,
    /// All data of the path below was outstanding when the path last failed, and was then offered
    /// to other paths.
    pub(crate) offered: u64,
}

impl Mapping {
    /// Maps `seq..seq + len` to `dsn..dsn + len`; `seq` follows the last mapped byte.
    pub(crate) fn push(&mut self, seq: u64, dsn: u64, len: u64) {
        match self.runs.back_mut() {
            Some(run) if run.dsn + run.len == dsn && run.seq + run.len == seq => run.len += len,
            _ => self.runs.push_back(Run { seq, dsn, len }),
        }
    }

    /// Forgets everything below `seq`.
    pub(crate) fn remove_below(&mut self, seq: u64) {
        while self.runs.front().is_some_and(|run| run.seq + run.len <= seq) {
            self.runs.pop_front();
        }
    }

    /// The data sequence number of `seq`, and the number of consecutive bytes from there on.
    pub(crate) fn find(&self, seq: u64) -> Option<(u64, u64)> {
        let index = self.runs.partition_point(|run| run.seq + run.len <= seq);
        let run = self.runs.get(index).filter(|run| run.seq <= seq)?;
        let offset = seq - run.seq;
        Some((run.dsn + offset, run.len - offset))
    }

    /// Whether the byte `dsn` of the connection is mapped.
    pub(crate) fn holds(&self, dsn: u64) -> bool {
        self.runs.iter().any(|run| (run.dsn..run.dsn + run.len).contains(&dsn))
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

    #[test]
    fn consecutive_bytes_share_a_run_and_every_byte_is_found() {
        let mut mapping = Mapping::default();
        mapping.push(0, 0, 10);
        mapping.push(10, 10, 10);
        mapping.push(20, 50, 10);
        assert_eq!(mapping.runs.len(), 2);
        assert_eq!(mapping.find(15), Some((15, 5)));
        assert_eq!(mapping.find(25), Some((55, 5)));
        assert_eq!(mapping.find(30), None);
        mapping.remove_below(20);
        assert_eq!(mapping.find(15), None);
        let ranges: Vec<_> = mapping.data_ranges(Range { start: 22, end: 40 }).collect();
        assert_eq!(ranges, [Range { start: 52, end: 60 }]);
    }
}
