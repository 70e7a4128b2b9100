//! The sending side of coding: TCP segments in, combinations out; numbers of seen segments in,
//! acknowledged bytes out.

use super::adaptation::Adaptation;
use super::{CODING_HEADER_BYTES, Coding, Tag, tag, untag};
use coding::{Combination, Redundancy};
use std::collections::VecDeque;
use units::Time;
use wire::{CodedAck, Data, Range};

/// Segments of one path, numbered from 0, that the receiver has not seen.
#[derive(Clone, Debug)]
pub(crate) struct Coder {
    /// W.
    window: u32,
    redundancy: Redundancy,
    /// Adapts the redundancy to the loss; absent if it is fixed.
    adaptation: Option<Adaptation>,
    /// `ΔT`, the redundant cycle in packets: R/(R − 1), rounded up.
    pub(crate) cycle: u32,
    segments: VecDeque<Segment>,
    /// Number of the first of them.
    base: u32,
    /// Key of the coefficients, different for each combination.
    key: u32,
    /// Data that was seen and is not known to be in order: it may wait to be decoded.
    seen: VecDeque<Range>,
    /// The segments covered by owed combinations: first number, and one past the last.
    owed: VecDeque<(u32, u32)>,
    /// Degrees of freedom that the receiver had when the newest acknowledgement left.
    received: u32,
    /// Degrees of freedom missing then.
    lost: u32,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    seq: u64,
    len: u32,
    tag: Tag,
    /// When it was first sent.
    sent: Time,
    /// TCP sent it again: its age is not a round-trip sample (Karn).
    again: bool,
}

impl Segment {
    /// Its bytes in the connection.
    fn range(&self) -> Range {
        let (start, len) = untag(self.tag);
        Range { start, end: start + u64::from(len) }
    }
}

/// An acknowledgement of a coded path, translated for its TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// First byte of the path that is not seen.
    pub(crate) una: u64,
    /// When the newly seen segment was sent.
    pub(crate) echo: Time,
    /// Whether a degree of freedom arrived: if not, this is not a duplicate ACK.
    pub(crate) innovative: bool,
    /// Degrees of freedom that are missing.
    pub(crate) lost: u32,
    /// Increase of `lost` since the last acknowledgement.
    pub(crate) newly_lost: u32,
}

impl Coder {
    pub(crate) fn new(coding: Coding) -> Self {
        Coder {
            window: u32::from(coding.window),
            redundancy: Redundancy::new(coding.redundancy),
            adaptation: coding.up_to.map(Adaptation::new),
            cycle: cycle(coding.redundancy),
            segments: VecDeque::new(),
            base: 0,
            key: 0,
            seen: VecDeque::new(),
            owed: VecDeque::new(),
            received: 0,
            lost: 0,
        }
    }

    /// The path leaves the connection: forgets everything sent. The next segment has the next
    /// number.
    pub(crate) fn restart(&mut self) {
        self.base = self.next();
        (self.received, self.lost) = (self.base, 0);
        self.segments.clear();
        self.seen.clear();
        self.owed.clear();
        self.adaptation.iter_mut().for_each(|own| own.restart(self.base));
    }

    /// Recovery or a timeout has begun: missing segments count as lost to congestion.
    pub(crate) fn on_congestion(&mut self) {
        self.adaptation.iter_mut().for_each(Adaptation::on_congestion);
    }

    /// Takes the segments that were seen but not decoded yet: if the path fails, other paths send
    /// them.
    pub(crate) fn take_seen(&mut self) -> VecDeque<Range> {
        std::mem::take(&mut self.seen)
    }

    /// Number of the next new segment.
    pub(crate) fn next(&self) -> u32 {
        self.base.wrapping_add(self.segments.len() as u32)
    }

    /// TCP sends `data`: owes R combinations for it. They cover new data and the newest segments
    /// before it, or a retransmission and the segments after it.
    pub(crate) fn on_segment(&mut self, data: &Data) {
        let index = self
            .segments
            .partition_point(|segment| segment.seq + u64::from(segment.len) <= data.seq);
        let covered = if index == self.segments.len() {
            let Data { seq, len, dsn, stamp, .. } = *data;
            let tag = tag(dsn, len);
            self.segments.push_back(Segment { seq, len, tag, sent: stamp, again: false });
            (self.next().saturating_sub(self.window), self.next())
        } else {
            self.segments[index].again = true;
            self.from(index as u32)
        };
        for _ in 0..self.redundancy.on_segment() {
            self.owed.push_back(covered);
        }
    }

    /// A window that begins with the segment at `index`.
    fn from(&self, index: u32) -> (u32, u32) {
        let first = self.base.saturating_add(index);
        (first, first.saturating_add(self.window).min(self.next()))
    }

    /// Owes a combination for each missing segment but one: TCP retransmits that one.
    pub(crate) fn repair(&mut self) {
        for _ in 1..self.lost.min(self.window) {
            self.owed.push_back(self.from(0));
        }
    }

    /// The next owed combination, as sent at `now`, without the segments seen in the meantime.
    pub(crate) fn poll(&mut self, now: Time) -> Option<wire::Combination> {
        loop {
            let (first, end) = self.owed.pop_front()?;
            let first = first.max(self.base);
            if first >= end {
                continue;
            }
            let (count, key) = ((end - first) as u8, self.key);
            self.key = self.key.wrapping_add(1) & 0x00ff_ffff;
            let covered = self.covered(first, count);
            let len = CODING_HEADER_BYTES + covered.clone().map(|it| it.len).max().unwrap_or(0);
            let combination = Combination { base: first, count, key };
            let (dsn, lengths) = untag(combination.combine(covered.map(|segment| &segment.tag)));
            return Some(wire::Combination { first, count, key, dsn, lengths, len, stamp: now });
        }
    }

    fn covered(&self, first: u32, count: u8) -> impl Iterator<Item = &Segment> + Clone {
        let from = (first.wrapping_sub(self.base) as usize).min(self.segments.len());
        let end = (from + usize::from(count)).min(self.segments.len());
        self.segments.range(from..end)
    }

    /// The data in a combination that has just been polled.
    pub(crate) fn ranges(&self, combination: &wire::Combination) -> Vec<Range> {
        self.covered(combination.first, combination.count).map(Segment::range).collect()
    }

    /// Takes an acknowledgement; `nxt` is the next byte of the path. A stale or impossible value in
    /// it changes nothing.
    pub(crate) fn on_ack(&mut self, ack: &CodedAck, nxt: u64) -> Answer {
        let CodedAck { first_unseen: seen, received, covered: highest, .. } = *ack;
        let plausible = received <= self.next() && highest <= self.next() && received <= highest;
        let newer = plausible && received >= self.received;
        let innovative = newer && received > self.received;
        let (mut lost, mut newly_lost) = (self.lost, 0);
        if newer {
            lost = highest - received;
            newly_lost = lost.saturating_sub(self.lost);
            (self.received, self.lost) = (received, lost);
            let own = self.adaptation.as_mut();
            if let Some(r) = own.and_then(|own| own.on_report(highest, newly_lost, lost)) {
                self.redundancy.set(r);
                self.cycle = cycle(r);
            }
        }
        let mut echo = ack.echo;
        if (self.base..=self.next()).contains(&seen) {
            let newly = (seen - self.base) as usize;
            if let Some(newest) = self.segments.range(..newly).next_back()
                && !newest.again
            {
                echo = newest.sent;
            }
            self.seen.extend(self.segments.drain(..newly).map(|segment| segment.range()));
            self.base = seen;
        }
        while self.seen.front().is_some_and(|range| range.end <= ack.data_ack) {
            self.seen.pop_front();
        }
        let una = self.segments.front().map_or(nxt, |segment| segment.seq);
        Answer { una, echo, innovative, lost, newly_lost }
    }
}

/// The redundant cycle, in packets.
fn cycle(redundancy: f64) -> u32 {
    Redundancy::cycle(redundancy).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coder(redundancy: f64, window: u8) -> Coder {
        Coder::new(Coding { redundancy, window, up_to: None })
    }

    fn segment(number: u64) -> Data {
        Data {
            seq: 1000 * number,
            dsn: 7000 * number,
            len: 1000,
            stamp: Time(number),
            ..Data::default()
        }
    }

    fn ack(first_unseen: u32, received: u32, covered: u32) -> CodedAck {
        CodedAck { first_unseen, received, covered, echo: Time(99), ..CodedAck::default() }
    }

    fn drain(coder: &mut Coder) -> Vec<(u32, u8)> {
        let sent = std::iter::from_fn(|| coder.poll(Time(5)));
        sent.map(|what| (what.first, what.count)).collect()
    }

    #[test]
    fn every_fifth_packet_is_redundant_at_1_25_and_no_segment_is_in_more_than_five_of_window_four()
    {
        let mut coder = coder(1.25, 4);
        let mut takes_part = [0; 40];
        let mut sent = 0;
        for number in 0..40 {
            coder.on_segment(&segment(number));
            for (base, count) in drain(&mut coder) {
                sent += 1;
                (base..base + u32::from(count)).for_each(|at| takes_part[at as usize] += 1);
            }
        }
        assert_eq!((sent, coder.cycle), (50, 5));
        assert!(takes_part[..36].iter().all(|count| *count == 5), "{takes_part:?}");
        assert_eq!(super::tests::coder(1.05, 6).cycle, 21);
    }

    #[test]
    fn a_segment_that_is_sent_again_is_combined_with_what_follows_and_what_is_seen_is_left_out() {
        let mut coder = coder(1.0, 3);
        (0..6).for_each(|number| coder.on_segment(&segment(number)));
        assert_eq!(drain(&mut coder).last(), Some(&(3, 3)));
        coder.on_segment(&segment(1));
        assert_eq!(drain(&mut coder), [(1, 3)]);
        coder.on_segment(&segment(1));
        let answer = coder.on_ack(&ack(3, 3, 6), 6000);
        assert_eq!((answer.una, answer.lost, answer.newly_lost), (3000, 3, 3));
        assert_eq!(drain(&mut coder), [(3, 1)]);
        coder.repair();
        assert_eq!(drain(&mut coder), [(3, 3), (3, 3)]);
    }

    #[test]
    fn round_trips_are_those_of_the_newest_segment_seen_unless_it_was_sent_again() {
        let mut coder = coder(1.0, 3);
        (0..6).for_each(|number| coder.on_segment(&segment(number)));
        assert_eq!(coder.on_ack(&ack(2, 2, 2), 6000).echo, Time(1));
        coder.on_segment(&segment(2));
        assert_eq!(coder.on_ack(&ack(3, 3, 3), 6000).echo, Time(99));
    }

    #[test]
    fn old_and_impossible_acknowledgements_move_nothing() {
        let mut coder = coder(1.0, 3);
        (0..6).for_each(|number| coder.on_segment(&segment(number)));
        let answer = coder.on_ack(&ack(2, 3, 4), 6000);
        assert_eq!((answer.una, answer.innovative, answer.lost), (2000, true, 1));
        for wrong in [ack(1, 2, 2), ack(7, 9, 9), ack(u32::MAX, 5, 4), ack(0, 1 << 30, 0)] {
            let answer = coder.on_ack(&wrong, 6000);
            assert_eq!(
                (answer.una, answer.innovative, answer.newly_lost),
                (2000, false, 0),
                "{wrong:?}"
            );
        }
    }

    /// One of `every` segments is reported missing and then decoded; `rounds` times.
    fn lose(coder: &mut Coder, number: &mut u32, every: u32, rounds: u32) {
        for _ in 0..rounds {
            for _ in 0..every {
                coder.on_segment(&segment(u64::from(*number)));
                *number += 1;
            }
            let nxt = 1000 * u64::from(*number);
            coder.on_ack(&ack(*number - 1, *number - 1, *number), nxt);
            coder.on_ack(&ack(*number, *number, *number), nxt);
        }
        drain(coder);
    }

    #[test]
    fn redundancy_follows_the_loss_between_its_bounds_and_the_cycle_with_it() {
        let mut coder = Coder::new(Coding { redundancy: 1.05, window: 6, up_to: Some(1.2) });
        let mut number = 0;
        lose(&mut coder, &mut number, 20, 1);
        assert_eq!(coder.cycle, 21); // one loss gives no estimate yet
        lose(&mut coder, &mut number, 20, 8);
        assert_eq!(coder.cycle, cycle(1.0 / 0.95 + 0.03)); // 1.083
        lose(&mut coder, &mut number, 3, 10);
        assert_eq!(coder.cycle, cycle(1.2)); // a third would need 1.53
        lose(&mut coder, &mut number, 1000, 10);
        assert_eq!(coder.cycle, cycle(1.0 / 0.999 + 0.03));
    }

    #[test]
    fn what_ends_in_recovery_is_no_loss_of_the_air() {
        let mut coder = Coder::new(Coding { redundancy: 1.05, window: 6, up_to: Some(1.2) });
        let mut number = 0;
        lose(&mut coder, &mut number, 20, 8);
        let before = coder.cycle;
        (0..20).for_each(|more| coder.on_segment(&segment(u64::from(number + more))));
        coder.on_ack(&ack(number, number + 4, number + 20), 1000 * u64::from(number + 20));
        coder.on_congestion();
        number += 20;
        coder.on_ack(&ack(number, number, number), 1000 * u64::from(number));
        assert_eq!(coder.cycle, before);
    }
}
