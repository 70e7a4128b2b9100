//! The receiving endpoint of a connection: reassembly, acknowledgements, one shared buffer.

use super::autotune::Autotune;
use super::linux_ack::LinuxAck;
use crate::endpoint::{ReceivingEndpoint, Transmit};
use crate::options::{DelayedAck, Options};
use crate::ranges::RangeSet;
use crate::reassembly::Reassembly;
use std::hint::select_unpredictable;
use std::sync::Arc;
use units::{Span, Time};
use wire::{Ack, Data, Flags, MAX_SACKS, Range, Sacks};

/// Settings shared by all receivers of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiverSettings {
    /// Options of the user.
    pub options: Options,
    /// Whether ACKs report the one-way delay of segments.
    pub transit: bool,
}

/// How usual segments are acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acks {
    /// Each at once.
    AtOnce,
    /// Some later, or with the one-way delay of their segment.
    Delayed,
    /// With more than that, or in a window that a segment may move.
    InFull,
}

impl Acks {
    pub(super) fn with(settings: &ReceiverSettings) -> Self {
        let Options { delayed_ack, dsack, autotune, .. } = settings.options;
        match delayed_ack {
            _ if autotune => Acks::InFull,
            DelayedAck::After(Span::ZERO) if !settings.transit => Acks::AtOnce,
            _ if dsack => Acks::InFull,
            _ => Acks::Delayed,
        }
    }
}

/// The receiving side of one path.
#[derive(Debug)]
pub(super) struct Path {
    /// Next byte expected (RCV.NXT).
    pub(super) next: u64,
    /// The first byte of a usual segment. While nothing is missing, it is `next`. Otherwise it is
    /// the end of the newest data, up to which the last range of `out_of_order` has grown. It is
    /// the last number if such a segment changes more than these: with SACK blocks, and while no
    /// time stamp is known.
    pub(super) expected: u64,
    pub(super) out_of_order: RangeSet,
    /// Absent while ACKs report nothing more.
    reported: Option<Box<Reported>>,
    /// Time stamp that the next ACK echoes: the one of the oldest segment not acknowledged yet.
    pub(super) echo: Time,
    /// When the delayed ACK is due; never without one.
    pub(super) due: Time,
    /// ECN: a mark is echoed until the sender reports that it has reduced its window.
    pub(super) echoed: Flags,
    /// Payload bytes received, each counted once, minus the value of `next`; wraps.
    taken: u64,
}

/// What ACKs report besides the ranges that have arrived.
#[derive(Debug, Default)]
struct Reported {
    /// One byte of each recently received range, newest first (for the order of SACK blocks).
    recent: [u64; MAX_SACKS],
    /// The part of the newest segment that had arrived before.
    duplicate: Option<Range>,
    /// The one-way delay of the segment whose time stamp is echoed, if ACKs report it.
    transit: Span,
}

/// The receiving endpoint of one connection. The application reads data at once when it is in
/// order.
#[derive(Debug)]
pub struct Receiver {
    /// Shared by the connections of a class.
    pub(super) settings: Arc<ReceiverSettings>,
    pub(super) paths: Box<[Path]>,
    /// The connection's data; with a single path, its order is that of the path.
    pub(crate) data: Reassembly,
    pub(super) adaptive: Option<Box<Adaptive>>,
    pub(super) acks: Acks,
}

/// Parts that few receivers have.
#[derive(Debug)]
pub(super) struct Adaptive {
    /// The buffer, with `autotune`.
    autotune: Option<Autotune>,
    /// One for each path, with `delayed_ack = "linux"`; empty otherwise.
    linux: Box<[LinuxAck]>,
}

impl Adaptive {
    /// `None` if the options need neither.
    fn new(options: &Options, paths: usize) -> Option<Box<Self>> {
        let Options { autotune, receive_buffer, delayed_ack, .. } = *options;
        let linux = if delayed_ack == DelayedAck::AsLinux { paths } else { 0 };
        (autotune || linux > 0).then(|| {
            Box::new(Adaptive {
                autotune: autotune.then(|| Autotune::new(receive_buffer.0)),
                linux: vec![LinuxAck::default(); linux].into(),
            })
        })
    }
}

/// With `delayed_ack = "linux"`: the state of a path.
pub(super) fn linux(adaptive: &mut Option<Box<Adaptive>>, path: usize) -> Option<&mut LinuxAck> {
    adaptive.as_mut()?.linux.get_mut(path)
}

impl Receiver {
    /// A receiver over `paths` paths.
    pub fn new(settings: impl Into<Arc<ReceiverSettings>>, paths: usize) -> Self {
        let settings: Arc<ReceiverSettings> = settings.into();
        let adaptive = Adaptive::new(&settings.options, paths);
        Receiver {
            data: Reassembly::new(settings.options.first_buffer()),
            acks: Acks::with(&settings),
            adaptive,
            paths: (0..paths).map(|_| Path::new()).collect(),
            settings,
        }
    }

    /// The state that data of `path` reads, to be prefetched.
    #[inline(always)] // called for many connections in turn
    pub fn path(&self, path: usize) -> Option<&impl Sized> {
        self.paths.get(path)
    }

    /// Adds the bytes of `range` to the data of a connection with several paths.
    #[inline(always)] // runs for every segment
    pub fn deliver(&mut self, range: Range) {
        self.data.insert(range);
    }

    /// The ACK of `path` as of now, for a packet that leaves anyway: a delayed one is not due any
    /// more.
    pub fn ack_now(&mut self, path: usize) -> Ack {
        self.ack(path)
    }

    /// Whether it answers every segment at once: its ACKs depend on the segments alone, and not on
    /// when they arrive.
    pub fn answers_at_once(&self) -> bool {
        self.acks == Acks::AtOnce
    }

    /// Right edge of the receive window, if the application reads data at once.
    pub fn edge(&self) -> u64 {
        self.data.edge()
    }

    /// Next byte that `path` expects.
    pub fn next_on(&self, path: usize) -> u64 {
        self.paths[path].next
    }

    /// Number of separate ranges that wait for earlier bytes, of `path` and of the connection.
    pub fn fragments(&self, path: usize) -> usize {
        self.paths[path].out_of_order.ranges().len() + self.data.fragments()
    }

    /// Answers a packet of a handshake.
    #[cold]
    fn answer(&mut self, now: Time, path: usize, data: &Data) -> Ack {
        if let Some(linux) = linux(&mut self.adaptive, path) {
            match data.flags.has(Flags::SYN) {
                true => linux.on_syn(now),
                false => linux.on_established(now),
            }
        }
        self.paths[path].echo = data.stamp;
        Ack { flags: data.flags, ..self.ack(path) }
    }

    /// On a coded path: an ACK that echoes `stamp`; `transit` is the one-way delay of its segment.
    pub(crate) fn answer_coded(&mut self, path: usize, stamp: Time, transit: Span) -> Ack {
        let side = &mut self.paths[path];
        side.echo = stamp;
        side.report_transit(transit);
        self.ack(path)
    }

    /// The path's part of the arrival of `data`. Where data arrives whose place in the connection
    /// is known later, it is followed by [`Receiver::deliver`].
    #[inline(always)] // runs for every segment
    pub fn on_segment(&mut self, now: Time, path: usize, data: &Data) -> Option<Ack> {
        let multipath = self.paths.len() > 1;
        let blocks = self.settings.options.sack || self.settings.options.dsack;
        let side = &mut self.paths[path];
        side.settle();
        if data.flags != Flags::NONE {
            side.on_ecn(data.flags);
        }
        let end = data.seq + u64::from(data.len);
        let in_order = data.seq <= side.next && end > side.next;
        let filled_hole = in_order && !side.out_of_order.is_empty();
        if self.settings.options.dsack {
            side.look_for_copy(Range { start: data.seq, end });
        }
        if in_order {
            side.next = side.out_of_order.take_front_at(end);
        } else if end > side.next.max(data.seq) {
            side.hold(Range { start: data.seq, end }, blocks);
        } else {
            side.echo_again(data.stamp);
        }
        if !multipath {
            self.data.next = side.next; // the path's order is the connection's
        }
        if let Some(Adaptive { autotune: Some(tune), .. }) = self.adaptive.as_deref_mut() {
            tune.on_data(now, self.data.next, u64::from(data.len));
            self.data.buffer = tune.buffer();
        }
        let side = &mut self.paths[path];
        // RFC 7323 §4.3: echo the segment that moved the left edge, or the first of the delayed
        // ones.
        if side.due == Time::NEVER && (in_order || side.echo == Time::ZERO) {
            side.echo = data.stamp;
            if self.settings.transit {
                side.report_transit(now.since(data.stamp));
            }
        }
        side.expect(blocks);
        match self.settings.options.delayed_ack {
            DelayedAck::After(Span::ZERO) => Some(self.plain_ack(path)),
            _ => self.ack_or_wait(now, path, data, (in_order, filled_hole)),
        }
    }

    pub(super) fn ack(&mut self, path: usize) -> Ack {
        if let Some(linux) = linux(&mut self.adaptive, path) {
            linux.on_ack_sent(self.paths[path].next);
        }
        self.plain_ack(path)
    }

    /// An ACK of a path without Linux' delayed ACKs.
    #[inline(always)] // runs for every segment
    fn plain_ack(&mut self, path: usize) -> Ack {
        let side = &mut self.paths[path];
        side.due = Time::NEVER;
        Ack {
            ack: side.next,
            data_ack: self.data.next,
            window_edge: self.data.edge(),
            echo: side.echo,
            transit: side.transit(),
            sacks: if self.settings.options.sack { side.sacks() } else { Sacks::default() },
            flags: side.echoed,
        }
    }
}

impl ReceivingEndpoint for Receiver {
    type Data = Data;
    type Answer = Ack;

    #[inline(always)] // runs for every segment
    fn on_data(&mut self, now: Time, path: usize, data: &Data) -> Option<Ack> {
        if data.len == 0 && data.flags != Flags::NONE {
            return Some(self.answer(now, path, data));
        }
        if self.paths.len() > 1 {
            self.deliver(Range { start: data.dsn, end: data.dsn + u64::from(data.len) });
        }
        self.on_segment(now, path, data)
    }

    fn on_deadline(&mut self, now: Time) -> Option<Transmit<Ack>> {
        let path = self.paths.iter().position(|side| side.due <= now)?;
        if let Some(linux) = linux(&mut self.adaptive, path) {
            linux.on_timer(&self.settings.options);
        }
        Some(Transmit { path, segment: self.ack(path) })
    }

    fn join(&mut self, path: usize, first: u64) {
        let taken = self.taken(path).wrapping_sub(first);
        self.paths[path] = Path { next: first, expected: first, taken, ..Path::new() };
        if let Some(linux) = linux(&mut self.adaptive, path) {
            *linux = LinuxAck::joined(first);
        }
    }

    #[inline(always)] // runs for every segment
    fn next_deadline(&self) -> Time {
        self.paths.iter().map(|side| side.due).min().unwrap_or(Time::NEVER)
    }

    fn delivered(&self) -> u64 {
        self.data.next
    }

    fn held(&self) -> u64 {
        match &*self.paths {
            // Its order is the connection's, unless it is coded.
            [only] => only.held() + self.data.held(),
            _ => self.data.held(),
        }
    }

    fn taken(&self, path: usize) -> u64 {
        self.paths[path].taken.wrapping_add(self.paths[path].next)
    }
}

impl Path {
    fn new() -> Self {
        Path {
            next: 0,
            expected: 0,
            out_of_order: RangeSet::default(),
            reported: None,
            echo: Time::ZERO,
            due: Time::NEVER,
            echoed: Flags::NONE,
            taken: 0,
        }
    }

    /// Receives a usual segment of `len` bytes, if its first byte is the expected one; returns
    /// whether it does. Whether earlier data is missing is hard to predict for a processor, which
    /// does not know of which path it was told last: both cases take the same instructions.
    #[inline(always)] // runs for every segment
    pub(super) fn receive_usual(&mut self, data: &Data) -> bool {
        if data.seq != self.expected || self.echoed != Flags::NONE {
            return false;
        }
        self.expected += u64::from(data.len);
        let whole = self.out_of_order.is_empty();
        self.next = select_unpredictable(whole, self.expected, self.next);
        self.echo = select_unpredictable(whole, data.stamp, self.echo);
        true
    }

    /// Brings the last range up to the end of the newest data.
    fn settle(&mut self) {
        if !self.out_of_order.is_empty() && self.expected != u64::MAX {
            self.out_of_order.extend_to(self.expected);
        }
    }

    /// Finds the first byte of a usual segment.
    fn expect(&mut self, blocks: bool) {
        self.expected = match self.out_of_order.is_empty() {
            true => self.next,
            false if blocks || self.echo == Time::ZERO => u64::MAX,
            false => self.out_of_order.end(),
        };
    }

    /// Bytes that wait for earlier bytes.
    fn held(&self) -> u64 {
        match self.out_of_order.is_empty() || self.expected == u64::MAX {
            true => self.out_of_order.bytes(),
            false => self.out_of_order.bytes() + (self.expected - self.out_of_order.end()),
        }
    }

    pub(super) fn report_transit(&mut self, transit: Span) {
        self.reported.get_or_insert_default().transit = transit;
    }

    /// The one-way delay that the next ACK reports, if any.
    pub(super) fn transit(&self) -> Span {
        self.reported.as_ref().map_or(Span::ZERO, |reported| reported.transit)
    }

    /// RFC 3168 §6.1.3: marks are echoed until the sender reports that it has reduced its window.
    fn on_ecn(&mut self, ecn: Flags) {
        if ecn.has(Flags::REDUCED) {
            self.echoed = Flags::NONE;
        }
        if ecn.has(Flags::MARKED) {
            self.echoed = Flags::ECHO;
        }
    }

    /// A segment arrived again. The ACK of the first arrival may be lost, and the age of that one
    /// is not a round trip: the new arrival is echoed (RFC 7323 §4.3).
    #[cold]
    fn echo_again(&mut self, stamp: Time) {
        if self.due == Time::NEVER {
            self.echo = self.echo.max(stamp);
        }
    }

    /// Keeps the part of the newest segment that had arrived before, for the next ACK.
    fn look_for_copy(&mut self, segment: Range) {
        let duplicate = self.arrived_again(segment);
        if duplicate.is_some() || self.reported.is_some() {
            self.reported.get_or_insert_default().duplicate = duplicate;
        }
    }

    /// The first bytes of `range` that had arrived before, if any.
    fn arrived_again(&self, range: Range) -> Option<Range> {
        let below = Range { start: range.start, end: range.end.min(self.next) };
        if !below.is_empty() {
            return Some(below);
        }
        let held = self.out_of_order.containing(range.start)?;
        let again = Range { start: range.start, end: range.end.min(held.end) };
        (!again.is_empty()).then_some(again)
    }

    /// Keeps a range that arrived above a hole, for the SACK `blocks` too if there are any.
    #[inline(always)] // it has one caller
    fn hold(&mut self, range: Range, blocks: bool) {
        self.out_of_order.insert(range);
        if !blocks {
            return;
        }
        let Reported { recent, .. } = &mut **self.reported.get_or_insert_default();
        let own = self.out_of_order.containing(range.start).unwrap_or(range);
        let again = recent.iter().position(|at| own.start <= *at && *at < own.end);
        let replaced = again.unwrap_or(MAX_SACKS - 1);
        recent.copy_within(0..replaced, 1);
        recent[0] = range.start;
    }

    /// RFC 2018 §4: the range of the newest segment first, then those reported most recently.
    #[inline(always)] // it has one caller
    fn sacks(&mut self) -> Sacks {
        let Some(Reported { recent, duplicate, .. }) = self.reported.as_deref_mut() else {
            return Sacks::default();
        };
        let duplicate = duplicate.take();
        if self.out_of_order.is_empty() {
            return match duplicate {
                None => Sacks::default(),
                Some(_) => Sacks::new(duplicate),
            };
        }
        let newest = recent.iter().filter_map(|at| self.out_of_order.containing(*at));
        let mut blocks: [Range; MAX_SACKS] = [Range::default(); MAX_SACKS];
        let mut count = 0;
        for block in newest {
            if !blocks[..count].contains(&block) {
                blocks[count] = block;
                count += 1;
            }
        }
        match duplicate {
            None => Sacks::first(count, blocks),
            Some(_) => Sacks::new(duplicate.into_iter().chain(blocks[..count].iter().copied())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;

    fn receiver(delayed_ack: DelayedAck) -> Receiver {
        let options = Options { delayed_ack, ..Options::default() };
        Receiver::new(ReceiverSettings { options, transit: false }, 1)
    }

    fn segment(index: u64) -> Data {
        let seq = index * u64::from(MSS);
        Data { seq, dsn: seq, len: MSS, stamp: Time(index + 1), ..Data::default() }
    }

    fn ranges(ack: &Ack) -> Vec<(u64, u64)> {
        ack.sacks.blocks().iter().map(|b| (b.start / 1000, b.end / 1000)).collect()
    }

    #[test]
    fn the_newest_range_stands_first_in_the_sack_blocks() {
        let mut receiver = receiver(DelayedAck::After(Span::ZERO));
        let acks: Vec<_> = [0, 2, 4, 6, 8, 3]
            .iter()
            .map(|i| ranges(&receiver.on_data(Time(0), 0, &segment(*i)).unwrap()))
            .collect();
        assert_eq!(acks[4], [(8, 9), (6, 7), (4, 5)]);
        assert_eq!(acks[5], [(2, 5), (8, 9), (6, 7)]);
    }

    #[test]
    fn a_filled_hole_is_acknowledged_at_once_and_whole() {
        let mut receiver = receiver(DelayedAck::After(Span::millis(40)));
        assert_eq!(receiver.on_data(Time(0), 0, &segment(0)), None);
        assert!(receiver.on_data(Time(0), 0, &segment(2)).is_some());
        assert_eq!((receiver.held(), receiver.taken(0)), (1000, 1000));
        let ack = receiver.on_data(Time(0), 0, &segment(1)).unwrap();
        assert_eq!((ack.ack, ack.sacks.is_empty()), (3000, true));
    }

    #[test]
    fn a_delayed_ack_waits_for_a_second_segment_or_its_time() {
        let mut receiver = receiver(DelayedAck::After(Span::millis(40)));
        assert_eq!(receiver.on_data(Time(5), 0, &segment(0)), None);
        assert_eq!(receiver.next_deadline(), Time(5) + Span::millis(40));
        let ack = receiver.on_data(Time(6), 0, &segment(1)).unwrap();
        assert_eq!((ack.ack, ack.echo), (2000, Time(1)));
        assert_eq!(receiver.on_data(Time(7), 0, &segment(2)), None);
        let Transmit { path, segment } = receiver.on_deadline(receiver.next_deadline()).unwrap();
        assert_eq!((path, segment.ack, receiver.next_deadline()), (0, 3000, Time::NEVER));
    }

    #[test]
    fn a_segment_without_payload_is_answered_and_leaves_no_trace() {
        let mut receiver = receiver(DelayedAck::After(Span::ZERO));
        let empty = Data { len: 0, ..segment(5) };
        let ack = receiver.on_data(Time(0), 0, &empty).unwrap();
        assert!(ack.ack == 0 && ack.sacks.is_empty());
        let ack = receiver.on_data(Time(0), 0, &segment(5)).unwrap();
        assert_eq!(ranges(&ack), [(5, 6)]);
    }

    #[test]
    fn data_of_two_paths_is_put_in_order_and_copies_are_delivered_once() {
        let options = Options::default();
        let mut receiver = Receiver::new(ReceiverSettings { options, transit: false }, 2);
        let on =
            |seq: u64, dsn: u64| Data { seq, dsn, len: MSS, stamp: Time(1), ..Data::default() };
        receiver.on_data(Time(0), 1, &on(0, 1000));
        assert_eq!(receiver.delivered(), 0);
        receiver.on_data(Time(0), 0, &on(0, 0));
        assert_eq!(receiver.delivered(), 2000);
        let ack = receiver.on_data(Time(0), 0, &on(1000, 1000)).unwrap();
        assert_eq!((ack.ack, ack.data_ack), (2000, 2000));
    }
}
