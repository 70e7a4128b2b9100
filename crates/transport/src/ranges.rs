//! A set of bytes as sorted, disjoint, non-adjacent ranges.

use wire::Range;

/// Ranges at the end that are looked through one after another before a search.
const NEAR: usize = 4;

/// Sorted ranges. Two words, because nearly every set of a large run is empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeSet {
    bytes: u64,
    /// Absent until the first insertion.
    list: Option<Box<List>>,
}

#[derive(Clone, Debug, Default)]
struct List {
    ranges: Vec<Range>,
}

impl RangeSet {
    /// Bytes in the set.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    pub(crate) fn ranges(&self) -> &[Range] {
        self.list.as_deref().map_or(&[], |list| &list.ranges)
    }

    /// Where the first range starts; the last number if the set is empty.
    pub(crate) fn start(&self) -> u64 {
        self.ranges().first().map_or(u64::MAX, |first| first.start)
    }

    /// Where the last range ends; the last number if the set is empty.
    pub(crate) fn end(&self) -> u64 {
        self.ranges().last().map_or(u64::MAX, |last| last.end)
    }

    /// Moves the end of the last range up to `end`, if there is a range.
    pub(crate) fn extend_to(&mut self, end: u64) {
        if let Some(last) = self.list.as_deref_mut().and_then(|list| list.ranges.last_mut()) {
            self.bytes += end - last.end;
            last.end = end;
        }
    }

    pub(crate) fn clear(&mut self) {
        if let Some(list) = &mut self.list {
            list.ranges.clear();
        }
        self.bytes = 0;
    }

    /// Adds a range and returns how many of its bytes are new.
    #[inline(always)] // runs for every segment behind a hole
    pub(crate) fn insert(&mut self, range: Range) -> u64 {
        if range.is_empty() {
            return 0;
        }
        let ranges = &mut self.list.get_or_insert_default().ranges;
        // Mostly it is the newest data.
        match ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            Some(last) if last.end > range.start => return self.insert_within(range),
            _ => ranges.push(range),
        }
        self.bytes += range.len();
        range.len()
    }

    /// Adds a range that is not beyond all others: mostly it is in one of the last ranges, follows
    /// one, or lies between two.
    #[inline(never)] // keeps the code for the newest data short
    fn insert_within(&mut self, range: Range) -> u64 {
        let Some(List { ranges }) = self.list.as_deref_mut() else {
            return 0;
        };
        let mut after = ranges.len();
        for own in ranges.iter().rev().take(NEAR) {
            if own.start <= range.start {
                break;
            }
            after -= 1;
        }
        let (before, next) = ranges.split_at_mut(after);
        let free = next.first().is_none_or(|next| range.end < next.start);
        let added = match before.last_mut() {
            Some(own) if own.start <= range.start && range.end <= own.end => return 0,
            Some(own) if own.start <= range.start && range.start <= own.end && free => {
                let added = range.end - own.end;
                own.end = range.end;
                added
            }
            Some(own) if own.end < range.start && free => {
                ranges.insert(after, range);
                range.len()
            }
            _ => return self.merge(range),
        };
        self.bytes += added;
        added
    }

    /// Adds a range in any place.
    #[inline(never)] // keeps the code for the last ranges short
    fn merge(&mut self, range: Range) -> u64 {
        let Some(List { ranges }) = self.list.as_deref_mut() else {
            return 0;
        };
        // The ranges that touch it are first..last; they merge with it.
        let first = ranges.partition_point(|r| r.end < range.start);
        let touching = ranges[first..].iter().take_while(|r| r.start <= range.end);
        let (count, before) = touching.fold((0, 0), |(count, sum), r| (count + 1, sum + r.len()));
        let added = match count {
            0 => {
                ranges.insert(first, range);
                range.len()
            }
            _ => {
                let end = range.end.max(ranges[first + count - 1].end);
                let own = &mut ranges[first];
                *own = Range { start: own.start.min(range.start), end };
                let merged = own.len();
                if count > 1 {
                    ranges.drain(first + 1..first + count);
                }
                merged - before
            }
        };
        self.bytes += added;
        added
    }

    /// Forgets everything below `edge` and returns the number of bytes forgotten.
    pub(crate) fn remove_below(&mut self, edge: u64) -> u64 {
        let Some(List { ranges }) = self.list.as_deref_mut() else {
            return 0;
        };
        if ranges.first().is_none_or(|first| edge <= first.start) {
            return 0;
        }
        let mut removed = 0;
        let whole = ranges.partition_point(|r| r.end <= edge);
        removed += ranges.drain(..whole).map(Range::len).sum::<u64>();
        if let Some(first) = ranges.first_mut().filter(|r| r.start < edge) {
            removed += edge - first.start;
            first.start = edge;
        }
        self.bytes -= removed;
        removed
    }

    /// Removes a range.
    pub(crate) fn remove(&mut self, range: Range) {
        let Some(List { ranges }) = self.list.as_deref_mut() else {
            return;
        };
        let first = ranges.partition_point(|r| r.end <= range.start);
        let last = ranges.partition_point(|r| r.start < range.end);
        if range.is_empty() || first >= last {
            return;
        }
        let before: u64 = ranges[first..last].iter().map(|r| r.len()).sum();
        let left = Range { start: ranges[first].start, end: range.start };
        let right = Range { start: range.end, end: ranges[last - 1].end };
        let rest = [left, right].into_iter().filter(|r| !r.is_empty());
        let after: u64 = rest.clone().map(Range::len).sum();
        ranges.splice(first..last, rest);
        self.bytes -= before - after;
    }

    /// Bytes in the set below `edge`.
    pub(crate) fn bytes_below(&self, edge: u64) -> u64 {
        self.ranges().iter().take_while(|r| r.start < edge).map(|r| r.end.min(edge) - r.start).sum()
    }

    /// The range that contains the byte `at`.
    pub(crate) fn containing(&self, at: u64) -> Option<Range> {
        let ranges = self.ranges();
        let near = ranges.iter().rev().take(NEAR).find(|r| r.start <= at);
        let found = match near {
            None if ranges.len() <= NEAR => None,
            None => ranges.get(ranges.partition_point(|r| r.end <= at)).filter(|r| r.start <= at),
            Some(own) => Some(own).filter(|r| at < r.end),
        };
        found.copied()
    }

    /// The first bytes from `from` on, below `limit`, that are *not* in the set.
    pub(crate) fn first_gap(&self, from: u64, limit: u64) -> Option<Range> {
        let index = self.ranges().partition_point(|r| r.end <= from);
        let (start, end) = match self.ranges().get(index) {
            Some(r) if r.start <= from => {
                (r.end, self.ranges().get(index + 1).map_or(limit, |next| next.start.min(limit)))
            }
            Some(r) => (from, r.start.min(limit)),
            None => (from, limit),
        };
        (start < end).then_some(Range { start, end })
    }

    /// The gaps of the set from `from` on, below its last byte.
    pub(crate) fn gaps(&self, from: u64) -> impl Iterator<Item = Range> + '_ {
        let ends = std::iter::once(from).chain(self.ranges().iter().map(|range| range.end));
        let gaps = ends.zip(self.ranges()).map(|(start, next)| Range { start, end: next.start });
        gaps.filter(|gap| !gap.is_empty())
    }

    /// Removes the ranges that begin at or below `edge`, and those that touch them. Returns where
    /// the last one of them ends, at least `edge`.
    pub(crate) fn take_front_at(&mut self, edge: u64) -> u64 {
        let Some(List { ranges }) = self.list.as_deref_mut() else {
            return edge;
        };
        let mut end = edge;
        let (mut taken, mut bytes) = (0, 0);
        for own in ranges.iter() {
            if own.start > end {
                break;
            }
            end = end.max(own.end);
            (taken, bytes) = (taken + 1, bytes + own.len());
        }
        if taken > 0 {
            ranges.drain(..taken);
            self.bytes -= bytes;
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range() -> impl Strategy<Value = Range> {
        (0u64..60, 0u64..12).prop_map(|(start, len)| Range { start, end: start + len })
    }

    #[test]
    fn a_front_that_reaches_a_second_range_takes_it_too() {
        let mut set = RangeSet::default();
        for (start, end) in [(4, 5), (10, 13), (20, 21)] {
            set.insert(Range { start, end });
        }
        assert_eq!(set.take_front_at(10), 13);
        assert_eq!(set.ranges(), [Range { start: 20, end: 21 }]);
    }

    proptest! {
        #[test]
        fn the_set_agrees_with_a_plain_list_of_bytes(
            inserted in prop::collection::vec(range(), 0..12), edge in 0u64..80, from in 0u64..80, limit in 0u64..80,
        ) {
            let (mut set, mut model) = (RangeSet::default(), [false; 80]);
            for range in inserted {
                let new = (range.start..range.end).filter(|i| !model[*i as usize]).count() as u64;
                prop_assert_eq!(set.insert(range), new);
                (range.start..range.end).for_each(|i| model[i as usize] = true);
            }
            prop_assert_eq!(set.bytes(), model.iter().filter(|x| **x).count() as u64);
            prop_assert!(set.ranges().windows(2).all(|w| w[0].end < w[1].start));
            let below = model[..edge as usize].iter().filter(|x| **x).count() as u64;
            prop_assert_eq!(set.bytes_below(edge), below);
            let gap = (from..limit).find(|i| !model[*i as usize]);
            prop_assert_eq!(set.first_gap(from, limit).map(|g| g.start), gap);
            if let Some(gap) = set.first_gap(from, limit) {
                prop_assert!((gap.start..gap.end).all(|i| !model[i as usize]));
                prop_assert!(gap.end == limit || model[gap.end as usize]);
            }
            let mut without = set.clone();
            without.remove(Range { start: from, end: limit });
            let left = |i: u64| model[i as usize] && !(from..limit).contains(&i);
            prop_assert_eq!(without.bytes(), (0..80).filter(|i| left(*i)).count() as u64);
            prop_assert!((0..80).all(|i| without.containing(i).is_some() == left(i)));
            prop_assert_eq!(set.remove_below(edge), below);
            prop_assert_eq!(set.bytes_below(edge), 0);
        }
    }
}
