//! Mappings from a path's bytes to the connection's bytes (the DSS mappings of RFC 8684 §3.3.1).

use wire::Range;

/// The start of a run of path bytes that are consecutive in the data sequence space too. The run
/// ends where the next one begins.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    seq: u64,
    /// What must be added to a path's byte to find the connection's; wraps.
    shift: u64,
}

/// The mappings of one path's outstanding bytes. Runs whose bytes have all been acknowledged are
/// dropped only when room is needed: which ACK ends a run is hard to predict for a processor, and
/// so is which segment begins one. So both cases take the same instructions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mapping {
    /// The starts of the runs, oldest first, and then unused places.
    starts: Box<[Start]>,
    /// How many there are.
    runs: usize,
    /// That of the newest run.
    shift: u64,
    /// All data of the path below was outstanding when the path last failed, and was then offered
    /// to other paths.
    pub(crate) offered: u64,
}

impl Mapping {
    /// Maps the path's bytes from `seq` on, which follow the last mapped one, to `dsn` and the
    /// following. Bytes below `una` are acknowledged.
    #[inline(always)] // runs for every segment of several paths
    pub(crate) fn push(&mut self, una: u64, seq: u64, dsn: u64) {
        let shift = dsn.wrapping_sub(seq);
        if self.runs >= self.starts.len() {
            self.make_room(una);
        }
        // If it continues the newest run, this place stays unused.
        self.starts[self.runs] = Start { seq, shift };
        // Without outstanding bytes there is no run to continue.
        let begins = (shift != self.shift) | (una == seq);
        self.runs += usize::from(begins);
        self.shift = shift;
    }

    /// Drops the runs that end at or below `una`. At least half of the places are free afterwards,
    /// so that this happens seldom.
    #[cold]
    fn make_room(&mut self, una: u64) {
        let ended = match &self.starts[..self.runs] {
            [] => 0,
            [_, later @ ..] => later.partition_point(|start| start.seq <= una),
        };
        self.starts.copy_within(ended..self.runs, 0);
        self.runs -= ended;
        if 2 * self.runs >= self.starts.len() {
            let mut more = vec![Start::default(); (2 * self.starts.len()).max(4)];
            more[..self.runs].copy_from_slice(&self.starts[..self.runs]);
            self.starts = more.into();
        }
    }

    /// The data sequence number of an outstanding byte, and the number of consecutive bytes from
    /// there on that are or will be mapped.
    pub(crate) fn find(&self, seq: u64) -> Option<(u64, u64)> {
        let starts = &self.starts[..self.runs];
        let next = starts.partition_point(|start| start.seq <= seq);
        let end = starts.get(next).map_or(u64::MAX, |start| start.seq);
        let Start { shift, .. } = starts[next.checked_sub(1)?];
        Some((seq.wrapping_add(shift), end - seq))
    }

    /// Whether the byte `dsn` of the connection is mapped in a run with outstanding bytes, which
    /// are those in `sent`.
    pub(crate) fn holds(&self, dsn: u64, sent: Range) -> bool {
        let starts = &self.starts[..self.runs];
        let ends = starts.iter().skip(1).map(|next| next.seq).chain([sent.end]);
        starts.iter().zip(ends).any(|(Start { seq, shift }, end)| {
            end > sent.start && (*seq..end).contains(&dsn.wrapping_sub(*shift))
        })
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
            let mut begins = Vec::new(); // for each byte, where its run begins
            for (len, gap, acked) in segments {
                dsn += gap;
                let begin = match begins.last() {
                    Some(begin) if gap == 0 && una < seq => *begin,
                    _ => seq,
                };
                mapping.push(una, seq, dsn);
                model.extend(dsn..dsn + len);
                begins.extend((0..len).map(|_| begin));
                (seq, dsn) = (seq + len, dsn + len);
                una = u64::min(una + acked, seq);
                let sent = Range { start: una, end: seq };
                let oldest = begins.get(una as usize).copied().unwrap_or(seq);
                for (byte, its) in (0..seq).zip(&model) {
                    prop_assert_eq!(mapping.holds(*its, sent), byte >= oldest);
                    if byte >= una {
                        prop_assert_eq!(mapping.find(byte).map(|(dsn, _)| dsn), Some(*its));
                    }
                }
                prop_assert!(!mapping.holds(dsn, sent));
                let ranges = mapping.data_ranges(sent).flat_map(|range| range.start..range.end);
                prop_assert!(ranges.eq(model[una as usize..].iter().copied()));
            }
        }
    }

    #[test]
    fn consecutive_bytes_share_a_run_and_every_byte_is_found() {
        let mut mapping = Mapping::default();
        mapping.push(0, 0, 0);
        mapping.push(0, 10, 10);
        mapping.push(0, 20, 50);
        assert_eq!(mapping.runs, 2);
        assert_eq!(mapping.find(15), Some((15, 5)));
        assert_eq!(mapping.find(25).map(|(dsn, _)| dsn), Some(55));
        let sent = Range { start: 20, end: 30 };
        assert!(!mapping.holds(15, sent) && mapping.holds(51, sent) && !mapping.holds(60, sent));
        let ranges: Vec<_> = mapping.data_ranges(Range { start: 22, end: 30 }).collect();
        assert_eq!(ranges, [Range { start: 52, end: 60 }]);
    }

    #[test]
    fn runs_that_have_ended_make_room_for_others() {
        let mut mapping = Mapping::default();
        for segment in 0u64..1000 {
            mapping.push(segment.saturating_sub(5), segment, 2 * segment);
        }
        assert!(mapping.starts.len() <= 16, "{}", mapping.starts.len());
    }
}
