//! The packets sent by a TFRC sender on its paths, and the next turn of each path.

use super::times::Times;
use super::turns::interval;
use std::cell::LazyCell;
use std::collections::VecDeque;
use units::{Span, Time};
use wire::Range;

/// A packet is lost when this many later ones of its path have arrived (NDUPACK, RFC 5348 §5.1).
const LATER: u64 = 3;
/// Before the first report: how long to wait for it (RFC 5348 §4.2).
const FIRST_SILENCE: Span = Span::millis(2_000);
/// Weight of the past in the smoothed round-trip time, in tenths (`q`, RFC 5348 §4.3).
const MEMORY: u64 = 9;

/// The sending side of one path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendingPath {
    /// Number of the next packet.
    next: u64,
    /// One more than the highest number known to have arrived.
    heard: u64,
    /// `R`; zero before the first sample.
    pub(crate) rtt: Span,
    /// `R_sample`, the newest one.
    pub(crate) sample: Span,
    /// Whether no packet was sent since the timer was set.
    pub(crate) idle: bool,
    /// Whether the timer has fired and no report has arrived since.
    quiet: bool,
    /// When the rate, instead of the application, last limited sending; see also
    /// [`SentPackets::all_limited`].
    limited: Time,
    /// Stamp of the newest reported packet.
    covered: Time,
    /// Packets sent again since the start.
    pub(crate) retransmits: u64,
    /// Nofeedback timers that have fired.
    pub(crate) timeouts: u64,
    /// Loss events reported by the receiver.
    pub(crate) loss_events: u64,
    /// Whether it belongs to the connection now.
    pub(crate) member: bool,
}

/// Data not known to have arrived.
#[derive(Clone, Copy, Debug)]
struct Sent {
    data: Range,
    path: u32,
    number: u64,
    at: Time,
    /// Whether it was sent more than once.
    again: bool,
    /// Found lost: it waits to be sent again.
    lost: bool,
}

/// Packets of all paths, and the timers of each path.
#[derive(Debug)]
pub(crate) struct SentPackets {
    pub(crate) paths: Box<[SendingPath]>,
    /// When the nofeedback timer of each path fires.
    silence: Times,
    /// In the order of the data.
    sent: VecDeque<Sent>,
    /// First bytes of lost ranges, in the order in which they were found lost.
    lost: VecDeque<u64>,
    /// How many paths are quiet.
    quiet: usize,
    /// When the rates, instead of the application, last limited sending on all paths at once.
    all_limited: Time,
    /// Next turn of a path, if there is data to send.
    pub(crate) wake: Time,
}

impl SentPackets {
    pub(crate) fn new(paths: usize) -> Self {
        let path = SendingPath {
            next: 0,
            heard: 0,
            rtt: Span::ZERO,
            sample: Span::ZERO,
            idle: true,
            quiet: false,
            limited: Time::ZERO,
            covered: Time::ZERO,
            retransmits: 0,
            timeouts: 0,
            loss_events: 0,
            member: true,
        };
        SentPackets {
            paths: vec![path; paths].into(),
            silence: Times::new(paths, Time::NEVER),
            sent: VecDeque::new(),
            lost: VecDeque::new(),
            quiet: 0,
            all_limited: Time::ZERO,
            wake: Time::NEVER,
        }
    }

    fn set_quiet(&mut self, me: usize, quiet: bool) {
        let before = std::mem::replace(&mut self.paths[me].quiet, quiet);
        self.quiet = self.quiet + usize::from(quiet) - usize::from(before);
    }

    /// When the next timer fires, or the next turn comes.
    pub(crate) fn next_deadline(&self) -> Time {
        self.wake.min(self.silence.first())
    }

    /// Whether a nofeedback timer has fired.
    pub(crate) fn any_silent(&self, now: Time) -> bool {
        self.silence.first() <= now
    }

    /// Whether the nofeedback timer of `me` has fired.
    pub(crate) fn is_silent(&self, now: Time, me: usize) -> bool {
        self.silence.all()[me] <= now
    }

    /// Whether lost data waits to be sent again.
    pub(crate) fn any_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Bytes sent on a path that are neither known to have arrived nor found lost.
    pub(crate) fn outstanding(&self, me: usize) -> u64 {
        let own = self.sent.iter().filter(|sent| sent.path as usize == me && !sent.lost);
        own.map(|sent| sent.data.len()).sum()
    }

    /// A report of `me` arrived: its packet was sent at `echo`, and the receiver held it for
    /// `delay`. Returns whether the application limited all of the time that it covers.
    pub(crate) fn on_report(
        &mut self,
        now: Time,
        me: usize,
        heard: u64,
        echo: Time,
        delay: Span,
    ) -> bool {
        let path = &mut self.paths[me];
        let sample = Span(now.since(echo).0.saturating_sub(delay.0).max(1));
        path.sample = sample;
        path.rtt = match path.rtt {
            Span::ZERO => sample,
            rtt => Span((MEMORY * rtt.0 + (10 - MEMORY) * sample.0) / 10),
        };
        path.heard = path.heard.max(heard.min(path.next));
        let limited = path.limited.max(self.all_limited) <= path.covered;
        path.covered = path.covered.max(echo);
        self.set_quiet(me, false);
        limited
    }

    /// Restarts the nofeedback timer of `me`: four round trips, or two packets at `rate` per
    /// second.
    pub(crate) fn restart_silence(&mut self, now: Time, me: usize, rate: f64) {
        let path = &mut self.paths[me];
        let wait = match path.rtt {
            Span::ZERO => FIRST_SILENCE,
            rtt => Span(4 * rtt.0).max(interval(rate / 2.0)),
        };
        path.idle = true;
        self.silence.set(me, now + wait);
    }

    /// All data below `una` has arrived.
    pub(crate) fn on_arrived(&mut self, una: u64) {
        let arrived = self.sent.iter().position(|sent| sent.data.end > una);
        self.sent.drain(..arrived.unwrap_or(self.sent.len()));
        if self.any_lost() {
            self.lost.retain(|start| *start >= una);
        }
    }

    /// The transfer is over: clears all timers.
    pub(crate) fn finish(&mut self) {
        self.silence.set_all(std::iter::repeat(Time::NEVER));
        self.wake = Time::NEVER;
    }

    /// The receiver reports `missing` data. A packet with such data is lost if the receiver has
    /// received a packet of the same path that was sent more than `LATER` packets later. A
    /// retransmission is lost 1.5 round trips of the slowest path after it was sent (Tse 2006,
    /// §3.2.2).
    pub(crate) fn on_missing(&mut self, now: Time, missing: &[Range]) {
        if missing.is_empty() {
            return; // mostly
        }
        let SentPackets { paths, sent, lost, .. } = self;
        let members = paths.iter().filter(|path| path.member);
        let hold = LazyCell::new(|| {
            let slowest = members.map(|path| path.rtt.0).max();
            Span(slowest.unwrap_or(0) / 2 * 3)
        });
        for range in missing {
            let first = match sent.front() {
                Some(oldest) if oldest.data.end > range.start => 0, // mostly: the oldest is missing
                _ => sent.partition_point(|sent| sent.data.end <= range.start),
            };
            let of_range = sent.iter_mut().skip(first);
            for sent in of_range.take_while(|sent| sent.data.start < range.end) {
                let gone = match sent.again {
                    true => now >= sent.at + *hold,
                    false => paths[sent.path as usize].heard > sent.number + LATER,
                };
                if gone && !sent.lost {
                    sent.lost = true;
                    lost.push_back(sent.data.start);
                }
            }
        }
    }

    /// Declares the packets of `me` sent before `before` lost.
    fn lose_all(&mut self, me: usize, before: Time) {
        let own = self.sent.iter_mut().filter(|sent| sent.path as usize == me && !sent.lost);
        for sent in own.filter(|sent| sent.at <= before) {
            sent.lost = true;
            self.lost.push_back(sent.data.start);
        }
    }

    /// The nofeedback timer of `me` fired. Returns whether nothing was sent meanwhile.
    pub(crate) fn on_silence(&mut self, now: Time, me: usize) -> bool {
        self.set_quiet(me, true);
        let path = &mut self.paths[me];
        path.timeouts += 1;
        let (idle, young) = (path.idle, path.rtt.0);
        self.lose_all(me, Time(now.0.saturating_sub(young)));
        idle
    }

    /// `me` leaves; its outstanding data is lost.
    pub(crate) fn leave(&mut self, me: usize) {
        self.lose_all(me, Time::NEVER);
        self.paths[me].member = false;
        self.silence.set(me, Time::NEVER);
    }

    /// `me` joins, again or late, and continues its numbers. Returns the first of them.
    pub(crate) fn join(&mut self, me: usize) -> u64 {
        self.set_quiet(me, false);
        // `me` was not limited yet.
        let all = std::mem::take(&mut self.all_limited);
        self.paths.iter_mut().for_each(|path| path.limited = path.limited.max(all));
        let SendingPath { next, retransmits, timeouts, loss_events, .. } = self.paths[me];
        let fresh = SentPackets::new(1).paths[0];
        self.paths[me] =
            SendingPath { next, heard: next, retransmits, timeouts, loss_events, ..fresh };
        self.silence.set(me, Time::NEVER);
        next
    }

    /// The probe of a silent path while another path works: the oldest data that has not arrived.
    /// The other path is expected to deliver that data.
    pub(crate) fn to_probe(&self, me: usize) -> Option<Range> {
        if self.quiet == 0 { None } else { self.to_ask(me) }
    }

    #[inline(never)] // keeps the code of usual packets short
    fn to_ask(&self, me: usize) -> Option<Range> {
        let works = |path: &SendingPath| path.member && !path.quiet;
        let asks = self.paths[me].quiet && self.paths.iter().any(works);
        self.sent.front().filter(|_| asks).map(|sent| sent.data)
    }

    /// Counts a packet sent on `me` and returns its number.
    #[inline(always)] // runs for every packet
    pub(crate) fn count(&mut self, now: Time, me: usize) -> u64 {
        let path = &mut self.paths[me];
        path.next += 1;
        path.idle = false;
        let number = path.next - 1;
        if self.silence.all()[me] == Time::NEVER {
            self.silence.set(me, now + FIRST_SILENCE);
        }
        number
    }

    /// Nothing can be sent now. If there is `more` data, or a path has a probe to send, it waits
    /// for its turn: the rate holds it back.
    pub(crate) fn wait(&mut self, now: Time, more: bool, turns: &Times) {
        if more && turns.first() > now {
            // It is so for all paths: those that have left have no turn, and begin anew when they
            // join.
            (self.all_limited, self.wake) = (now, turns.first());
            return;
        }
        self.wake = Time::NEVER;
        if more || self.quiet > 0 {
            self.wait_for_some(now, more, turns);
        }
    }

    #[inline(never)] // keeps the code of usual packets short
    fn wait_for_some(&mut self, now: Time, more: bool, turns: &Times) {
        for (me, &turn) in turns.all().iter().enumerate() {
            let later = turn > now && turn < Time::NEVER;
            if later && (more || self.to_probe(me).is_some()) {
                self.paths[me].limited = now;
                self.wake = self.wake.min(turn);
            }
        }
    }

    /// The lost data that `me` sends again in its turn: data of other paths, or its own if no other
    /// path has its turn within a round trip. `turns` are the turns of all paths.
    pub(crate) fn take_lost(&mut self, now: Time, me: usize, turns: &[Time]) -> Option<Range> {
        if self.lost.is_empty() { None } else { self.take_any_lost(now, me, turns) }
    }

    #[inline(never)] // keeps the code of usual packets short
    fn take_any_lost(&mut self, now: Time, me: usize, turns: &[Time]) -> Option<Range> {
        let soon = now + self.paths[me].rtt;
        let helps = |other: usize| {
            other != me
                && self.paths[other].member
                && !self.paths[other].quiet
                && turns[other] <= soon
        };
        let alone = !(0..self.paths.len()).any(helps);
        let index = self.lost.iter().position(|start| {
            let sent = &self.sent[self.sent.partition_point(|sent| sent.data.start < *start)];
            alone || sent.path as usize != me
        })?;
        let start = self.lost.remove(index)?;
        let sent = self.sent.partition_point(|sent| sent.data.start < start);
        Some(self.sent[sent].data)
    }

    /// `data` is sent on `me`: returns the number of its packet.
    pub(crate) fn on_sent(&mut self, now: Time, me: usize, data: Range) -> u64 {
        let number = self.count(now, me);
        if self.sent.back().is_none_or(|last| last.data.start < data.start) {
            let path = me as u32;
            let entry = Sent { data, path, number, at: now, again: false, lost: false };
            self.sent.push_back(entry); // mostly
        } else {
            self.send_again(now, me, number, data);
        }
        number
    }

    #[inline(never)] // keeps the code of usual packets short
    fn send_again(&mut self, now: Time, me: usize, number: u64, data: Range) {
        let index = self.sent.partition_point(|sent| sent.data.start < data.start);
        let path = me as u32;
        self.sent[index] = Sent { data, path, number, at: now, again: true, lost: false };
        self.paths[me].retransmits += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SEGMENT: u64 = 1000;
    const MS: u64 = 1_000_000;

    fn data(index: u64) -> Range {
        Range { start: index * SEGMENT, end: (index + 1) * SEGMENT }
    }

    /// Two paths with round trips of 100 ms; even segments were sent on the first.
    fn both(segments: u64) -> SentPackets {
        let mut sent = SentPackets::new(2);
        for index in 0..segments {
            sent.on_sent(Time(index * MS), (index % 2) as usize, data(index));
        }
        let at = Time(100 * MS);
        sent.on_report(at, 0, 1, Time::ZERO, Span::ZERO);
        sent.on_report(at, 1, 1, Time::ZERO, Span::ZERO);
        sent
    }

    /// When each of the paths, of which these belong to the connection, has its turn.
    fn turns(members: [bool; 2]) -> [Time; 2] {
        members.map(|member| if member { Time(21 * MS) } else { Time::NEVER })
    }

    proptest! {
        #[test]
        fn a_path_is_limited_if_its_turn_was_to_come_when_data_waited(
            steps in prop::collection::vec(
                (0..4_u8, 0..3_usize, any::<bool>(), [0..9_u64, 0..9, 0..9]), 0..60),
        ) {
            let mut sent = SentPackets::new(3);
            let (mut member, mut limited, mut quiet) = ([true; 3], [Time::ZERO; 3], [false; 3]);
            for (now, (kind, me, more, later)) in (1..).map(|at| Time(at * MS)).zip(steps) {
                match kind {
                    0 => {
                        let turn = |me: usize| match member[me] {
                            true => Time(now.0 + later[me] * MS - MS), // some have come
                            false => Time::NEVER,
                        };
                        let mut turns = Times::new(3, Time::NEVER);
                        turns.set_all((0..3).map(turn));
                        let more = more && (turns.first() > now || later[0] > 4);
                        let works = (0..3).any(|path| member[path] && !quiet[path]);
                        let waits = |me: &usize| more || quiet[*me] && works && !sent.sent.is_empty();
                        let own: Vec<_> = (0..3).filter(waits).collect();
                        sent.wait(now, more, &turns);
                        let mut wake = Time::NEVER;
                        for me in own {
                            if turn(me) > now && member[me] {
                                limited[me] = now;
                                wake = wake.min(turn(me));
                            }
                        }
                        prop_assert_eq!(sent.wake, wake);
                    }
                    1 if member[me] => {
                        sent.on_silence(now, me);
                        quiet[me] = true;
                    }
                    2 if member[me] => {
                        sent.leave(me);
                        member[me] = false;
                    }
                    2 => {
                        sent.join(me);
                        (member[me], limited[me], quiet[me]) = (true, Time::ZERO, false);
                    }
                    _ if member[me] => {
                        sent.on_sent(now, me, data(now.0 / MS));
                        let covered = sent.paths[me].covered;
                        let echo = Time(later[0] * MS);
                        let only_data = sent.on_report(now, me, 1, echo, Span::ZERO);
                        prop_assert_eq!(only_data, limited[me] <= covered);
                        quiet[me] = false;
                    }
                    _ => {}
                }
                prop_assert_eq!(sent.quiet, sent.paths.iter().filter(|path| path.quiet).count());
            }
        }
    }

    #[test]
    fn what_is_missing_is_lost_once_its_own_path_has_overtaken_it() {
        let mut sent = both(12);
        let now = Time(110 * MS);
        sent.on_report(now, 1, 6, Time(11 * MS), Span::ZERO);
        sent.on_missing(now, &[data(2)]); // sent on the first path, which has not reported since
        assert!(!sent.any_lost());
        sent.on_report(now, 0, 4, Time(8 * MS), Span::ZERO);
        sent.on_missing(now, &[data(2)]); // packet 1; 2 and 3 have arrived
        assert!(!sent.any_lost());
        sent.on_report(now, 0, 5, Time(8 * MS), Span::ZERO);
        sent.on_missing(now, &[data(2)]);
        assert!(sent.any_lost());
    }

    #[test]
    fn another_path_sends_it_again_and_reports_are_ignored_for_one_and_a_half_round_trips() {
        let mut sent = both(12);
        let now = Time(100 * MS);
        sent.on_report(now, 0, 6, Time::ZERO, Span::ZERO);
        sent.on_missing(now, &[data(2)]);
        let turns = turns([true, true]);
        assert_eq!(sent.take_lost(now, 0, &turns), None);
        assert_eq!(sent.take_lost(now, 1, &turns), Some(data(2)));
        sent.on_sent(now, 1, data(2));
        let rtt = 100.0; // ms, of both paths
        sent.on_missing(Time(100 * MS + (1.49 * rtt) as u64 * MS), &[data(2)]);
        assert!(!sent.any_lost());
        sent.on_missing(Time(100 * MS + (1.51 * rtt) as u64 * MS), &[data(2)]);
        assert!(sent.any_lost());
    }

    #[test]
    fn a_path_sends_its_own_again_when_the_others_are_silent() {
        let mut sent = both(12);
        let now = Time(200 * MS);
        assert!(!sent.on_silence(now, 1));
        sent.on_report(now, 0, 6, Time::ZERO, Span::ZERO);
        let turns = turns([true, true]);
        let again: Vec<_> = std::iter::from_fn(|| sent.take_lost(now, 0, &turns)).collect();
        assert_eq!(again, [1, 3, 5, 7, 9, 11].map(data));
        sent.on_missing(now, &[data(0)]);
        assert_eq!(sent.take_lost(now, 0, &turns), Some(data(0)));
    }

    #[test]
    fn a_silent_path_is_asked_with_what_another_delivers() {
        let mut sent = both(4);
        let now = Time(900 * MS);
        assert_eq!(sent.to_probe(1), None);
        sent.on_silence(now, 1);
        assert_eq!(sent.to_probe(1), Some(data(0)));
        assert_eq!(sent.outstanding(0), 2 * SEGMENT, "it is still the first path's");
        sent.on_silence(now, 0);
        assert_eq!(sent.to_probe(1), None, "no path works: each sends what there is");
    }

    #[test]
    fn what_has_arrived_is_neither_kept_nor_sent_again() {
        let mut sent = both(12);
        sent.leave(0);
        sent.on_arrived(6 * SEGMENT);
        let turns = turns([false, true]);
        let now = Time(100 * MS);
        let again: Vec<_> = std::iter::from_fn(|| sent.take_lost(now, 1, &turns)).collect();
        assert_eq!(again, [6, 8, 10].map(data));
        assert_eq!(sent.outstanding(1), 3 * SEGMENT);
    }
}
