//! The receive history of a path: packets that have arrived, and loss intervals.
//!
//! Source: RFC 5348 §5.1 to §5.3 (symbols `T_loss`, `S_loss`, NDUPACK). Packets are numbered from 0
//! in 64 bits, and entries are not indexed by number modulo a size. So an old arrival is never
//! taken for a new one. The history in the simulator of Tse 2006 (§3.2.3) forgot losses that way.

use crate::ranges::RangeSet;
use std::collections::VecDeque;
use units::{Span, Time};
use wire::Range;

/// A packet is lost when this many later ones have arrived (NDUPACK).
const LATER: u32 = 3;
/// Closed loss intervals in a report.
const INTERVALS: usize = 8;
/// Most events that one gap begins: only the last events are reported, and a gap may be long.
const EVENTS_OF_A_GAP: u64 = 64;

/// A packet: its number and when it arrived.
type Arrival = (u64, Time);

/// Missing packets between two arrivals.
#[derive(Clone, Copy, Debug)]
struct Gap {
    missing: Range,
    before: Arrival,
    after: Arrival,
    /// Packets above it that have arrived.
    later: u32,
}

/// Losses within one round trip.
#[derive(Clone, Copy, Debug)]
struct Event {
    /// Its first packet (`S_loss`).
    first: u64,
    /// Interpolated arrival time of that packet (`T_loss`).
    at: Time,
    /// Packets lost in it; a packet that arrives late is removed.
    lost: u64,
}

/// The arrivals of one path.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// The first packet that arrived; earlier ones are not known.
    first: u64,
    /// The highest packet that arrived.
    highest: Option<Arrival>,
    /// Gaps too young to be lost, oldest first.
    gaps: VecDeque<Gap>,
    /// Packets lost in the stored events.
    lost: RangeSet,
    /// The last events, oldest first: one more than the reported closed intervals.
    events: VecDeque<Event>,
    /// Events so far.
    count: u64,
}

impl History {
    /// One more than the highest packet that arrived.
    pub(crate) fn next(&self) -> u64 {
        self.highest.map_or(0, |(number, _)| number.saturating_add(1))
    }

    /// Loss events so far.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Packet `number` arrived from a sender whose round trip takes `rtt`. Returns whether a loss
    /// event began.
    pub(crate) fn on_packet(&mut self, now: Time, number: u64, rtt: Span) -> bool {
        let Some((highest, at)) = self.highest else {
            (self.first, self.highest) = (number, Some((number, now)));
            return false;
        };
        if number.wrapping_sub(highest) == 1 && self.gaps.is_empty() {
            self.highest = Some((number, now));
            return false; // mostly
        }
        self.on_unusual(now, number, rtt, (highest, at))
    }

    /// Packet `number` arrived where packets are missing, or out of order; `highest` is the highest
    /// one before it.
    #[inline(never)] // keeps the code of usual packets short
    fn on_unusual(&mut self, now: Time, number: u64, rtt: Span, highest: Arrival) -> bool {
        let (highest, at) = highest;
        if number <= highest {
            if !self.on_late(number) {
                return false; // a duplicate
            }
        } else {
            let missing = Range { start: highest + 1, end: number };
            self.highest = Some((number, now));
            if !missing.is_empty() {
                let (before, after) = ((highest, at), (number, now));
                self.gaps.push_back(Gap { missing, before, after, later: 0 });
            }
        }
        self.gaps.iter_mut().filter(|gap| gap.missing.end <= number).for_each(|gap| gap.later += 1);
        let before = self.count;
        while let Some(gap) = self.gaps.front().copied().filter(|gap| gap.later >= LATER) {
            self.gaps.pop_front();
            self.on_loss(&gap, rtt);
        }
        self.count > before
    }

    /// Removes packet `number`, which arrived out of order, from the missing or the lost packets.
    /// Returns whether it was among them; otherwise it is a duplicate.
    fn on_late(&mut self, number: u64) -> bool {
        if self.lost.containing(number).is_some() {
            self.lost.remove(Range { start: number, end: number + 1 });
            self.take_back(number);
            return true;
        }
        let holds = |gap: &Gap| gap.missing.start <= number && number < gap.missing.end;
        let Some(index) = self.gaps.iter().position(holds) else {
            return false;
        };
        let gap = self.gaps[index];
        self.gaps.remove(index);
        let halves = [(number + 1, gap.missing.end), (gap.missing.start, number)];
        for (start, end) in halves.into_iter().filter(|(start, end)| start < end) {
            self.gaps.insert(index, Gap { missing: Range { start, end }, ..gap });
        }
        true
    }

    /// Removes a packet that has arrived from its loss event, and removes an event without losses.
    fn take_back(&mut self, number: u64) {
        let after = self.events.partition_point(|event| event.first <= number);
        let Some(index) = after.checked_sub(1) else {
            return;
        };
        self.events[index].lost -= 1;
        if self.events[index].lost == 0 {
            self.events.remove(index);
            self.count -= 1;
        }
    }

    /// A gap is lost: its packets belong to the last event, or begin new ones a round trip apart.
    fn on_loss(&mut self, gap: &Gap, rtt: Span) {
        let ((from, since), (to, until)) = (gap.before, gap.after);
        let each = until.since(since).0 / (to - from); // ns between two packets
        let Range { start, end } = gap.missing;
        let at = |number: u64| Time(since.0 + each * (number - from)); // T_loss
        let per_event = match (rtt.0, each) {
            (0, _) | (_, 0) => u64::MAX, // one event, whatever its length
            _ => rtt.0.div_ceil(each).max((end - start).div_ceil(EVENTS_OF_A_GAP)),
        };
        self.lost.insert(gap.missing);
        let mut number = start;
        if let Some(last) = self.events.back_mut() {
            let own = match last.at + rtt > at(start) {
                true if each > 0 => (last.at + rtt).since(at(start)).0.div_ceil(each),
                true => u64::MAX,
                false => 0,
            };
            number = start.saturating_add(own).min(end);
            last.lost += number - start;
        }
        while number < end {
            let next = number.saturating_add(per_event).min(end);
            self.events.push_back(Event { first: number, at: at(number), lost: next - number });
            self.count += 1;
            number = next;
        }
        self.forget();
    }

    /// Drops entries that no report needs any more.
    fn forget(&mut self) {
        while self.events.len() > INTERVALS + 1 {
            self.events.pop_front();
        }
        let oldest = self.events.front().map_or(0, |event| event.first);
        self.lost.remove_below(oldest);
    }

    /// Writes the loss intervals in packets, the open one first. With few events, the last interval
    /// is the packets received before the first of them.
    pub(crate) fn write_intervals(&self, intervals: &mut Vec<u64>) {
        intervals.clear();
        let mut end = self.next();
        let starts = self.events.iter().rev().map(|event| event.first);
        let oldest = (self.count <= INTERVALS as u64).then_some(self.first);
        for start in starts.chain(oldest).take(INTERVALS + 1) {
            intervals.push(end - start);
            end = start;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::tfrc::{LossRate, loss_event_rate};

    /// The packets of a stream at 1 ms each, with a round trip of 20 ms, without those in `lost`.
    fn history(numbers: std::ops::Range<u64>, lost: &[u64]) -> History {
        let mut history = History::default();
        for number in numbers.filter(|number| !lost.contains(number)) {
            history.on_packet(Time(number * 1_000_000), number, Span::millis(20));
        }
        history
    }

    fn intervals(history: &History) -> Vec<u64> {
        let mut intervals = vec![7; 3]; // of an earlier report
        history.write_intervals(&mut intervals);
        intervals
    }

    #[test]
    fn a_packet_is_lost_when_three_later_ones_have_arrived() {
        assert_eq!(history(0..13, &[10]).count(), 0);
        assert_eq!(history(0..14, &[10]).count(), 1);
        assert_eq!(intervals(&history(0..14, &[10])), [4, 10]);
    }

    #[test]
    fn losses_within_a_round_trip_are_one_event() {
        assert_eq!(history(0..60, &[10, 15, 29]).count(), 1);
        let two = history(0..60, &[10, 15, 30]);
        assert_eq!((two.count(), intervals(&two)), (2, vec![30, 20, 10]));
    }

    #[test]
    fn a_long_gap_is_an_event_in_each_round_trip() {
        let lost: Vec<u64> = (10..70).collect();
        assert_eq!(intervals(&history(0..100, &lost)), [50, 20, 20, 10]);
    }

    #[test]
    fn a_packet_that_arrives_late_was_not_lost() {
        let mut history = history(0..60, &[10, 40]);
        assert_eq!(history.count(), 2);
        history.on_packet(Time(60_000_000), 10, Span::millis(20));
        assert_eq!((history.count(), intervals(&history)), (1, vec![20, 40]));
        history.on_packet(Time(60_000_000), 10, Span::millis(20));
        history.on_packet(Time(60_000_000), 40, Span::millis(20));
        assert_eq!((history.count(), intervals(&history)), (0, vec![60]));
    }

    #[test]
    fn order_does_not_matter_within_three_packets() {
        let mut history = History::default();
        for number in [0, 2, 1, 5, 3, 4, 8, 6, 7] {
            history.on_packet(Time(number * 1_000_000), number, Span::millis(20));
        }
        assert_eq!((history.count(), intervals(&history)), (0, vec![9]));
        assert!(history.gaps.is_empty());
    }

    #[test]
    fn the_loss_estimate_is_that_of_its_beginning_after_five_hundred_thousand_packets() {
        let mut history = History::default();
        let mut rate = LossRate::new(false);
        rate.set_first(100.0);
        let mut estimates = Vec::new();
        for number in (0..600_000).filter(|number| number % 100 != 99) {
            history.on_packet(Time(number * 1_000_000), number, Span::millis(20));
            if number % 100_000 == 99_998 {
                estimates.push(rate.update(history.count(), &intervals(&history)));
            }
        }
        assert_eq!(estimates.len(), 6);
        assert!(estimates.iter().all(|p| (p - 0.01).abs() < 1e-6), "{estimates:?}");
        assert!(history.gaps.len() <= 1 && history.lost.ranges().len() <= INTERVALS + 1);
    }

    #[test]
    fn numbers_far_apart_do_no_harm() {
        let mut history = history(0..20, &[]);
        for number in [1 << 60, u64::MAX - 9, u64::MAX - 7, u64::MAX - 6, u64::MAX - 5] {
            history.on_packet(Time(1 << 40), number, Span(1));
        }
        assert!(loss_event_rate(&[0.0]) == 0.0 && history.count() > 0);
        assert!(intervals(&history).len() <= INTERVALS + 1);
    }
}
