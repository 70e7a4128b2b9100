//! The receiving endpoint of a connection: reassembly, acknowledgements, one shared buffer.

use crate::autotune::Autotune;
use crate::coded::{Heard, Listener};
use crate::ranges::RangeSet;
use crate::tfrc::Hearing;
use std::collections::VecDeque;
use std::sync::Arc;
use units::{Span, Time};
use wire::{Ack, Data, Flags, MAX_SACKS, Range, Report, Sacks};

/// What all receivers of a class have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReceiverSettings {
    /// Whether ACKs report what arrived out of order.
    pub sack: bool,
    /// Whether ACKs report what arrived again (RFC 2883).
    pub dsack: bool,
    /// How long a single segment may wait for a second one (RFC 5681 §4.2); `None`: never.
    pub delayed_ack: Option<Span>,
    /// The buffer that all paths share, in bytes; with `autotune` the most that it grows to.
    pub buffer: u64,
    /// Whether ACKs say how long segments were on their way.
    pub transit: bool,
    /// Whether the buffer follows what arrives (dynamic right-sizing).
    pub autotune: bool,
    /// Whether it reports once in a round trip instead of acknowledging every segment (TFRC).
    pub tfrc: bool,
    /// Whether datagrams are sent back (RFC 862).
    pub echo: bool,
}

/// Missing ranges that a report has room for.
const MISSING: usize = 64;

/// The receiving side of one path.
#[derive(Debug, Default)]
struct Path {
    /// Next byte expected (RCV.NXT).
    next: u64,
    out_of_order: RangeSet,
    /// A byte of each range that arrived last, newest first (for the order of SACK blocks).
    recent: [u64; MAX_SACKS],
    /// Time stamp that the next ACK echoes: of the oldest segment not acknowledged yet.
    echo: Time,
    /// How long that segment was on its way, if ACKs say so.
    transit: Span,
    /// When the delayed ACK is due; never if none is.
    due: Time,
    /// ECN: a mark is echoed until the sender says that it has reduced its window.
    echoed: Flags,
    /// What arrived again with the newest segment.
    duplicate: Option<Range>,
    /// TFRC: what arrived, for reports.
    hearing: Option<Box<Hearing>>,
    /// Network coding: what arrived, and what is decoded of it.
    listener: Option<Box<Listener>>,
    /// Payload taken in, each byte once, beyond what `next` says; wraps.
    taken: u64,
    /// Datagrams that go back at once.
    echoes: Option<Box<Echoes>>,
}

/// Datagrams of UDP echo that have come and not gone yet.
#[derive(Debug, Default)]
struct Echoes(VecDeque<Ack>);

/// The receiving endpoint of one connection. The application reads what is in order at once.
#[derive(Debug)]
pub struct Receiver {
    /// Shared by the connections of a class.
    settings: Arc<ReceiverSettings>,
    paths: Box<[Path]>,
    /// Next byte of the connection expected.
    data_next: u64,
    data_out_of_order: RangeSet,
    /// The buffer that is announced now, in bytes.
    buffer: u64,
    autotune: Option<Box<Autotune>>,
}

impl Receiver {
    /// A receiver over `paths` paths.
    pub fn new(settings: impl Into<Arc<ReceiverSettings>>, paths: usize) -> Self {
        let settings: Arc<ReceiverSettings> = settings.into();
        let autotune = settings.autotune.then(|| Box::new(Autotune::new(settings.buffer)));
        Receiver {
            buffer: autotune.as_ref().map_or(settings.buffer, |tune| tune.buffer()),
            autotune,
            paths: (0..paths).map(|_| Path::new(settings.tfrc)).collect(),
            settings,
            data_next: 0,
            data_out_of_order: RangeSet::default(),
        }
    }

    /// A segment arrived on `path`. Returns the ACK to send now, if it is not delayed.
    pub fn on_data(&mut self, now: Time, path: usize, data: &Data) -> Option<Ack> {
        if data.flags != Flags::NONE {
            if data.len == 0 {
                return Some(self.answer(path, data));
            }
            if data.flags.has(Flags::RATED) {
                self.on_rated(now, path, data);
                return None;
            }
            if data.flags.has(Flags::CODED) {
                return self.on_coded(now, path, data);
            }
            if data.flags.has(Flags::DATAGRAM) {
                self.on_datagram(now, path, data);
                return None;
            }
            self.paths[path].on_ecn(data.flags);
        }
        let multipath = self.paths.len() > 1;
        if multipath {
            self.deliver(data);
        }
        let delayed_ack = self.settings.delayed_ack;
        let side = &mut self.paths[path];
        let end = data.seq + u64::from(data.len);
        let in_order = data.seq <= side.next && end > side.next;
        let filled_hole = in_order && !side.out_of_order.is_empty();
        if self.settings.dsack {
            side.duplicate = side.arrived_again(Range { start: data.seq, end });
        }
        if in_order {
            side.next = side.out_of_order.take_front_at(end);
        } else if end > side.next.max(data.seq) {
            side.hold(Range { start: data.seq, end });
        } else {
            side.echo_again(data.stamp);
        }
        if !multipath {
            self.data_next = side.next; // the path's order is the connection's
        }
        if let Some(tune) = &mut self.autotune {
            tune.on_data(now, self.data_next, u64::from(data.len));
            self.buffer = tune.buffer();
        }
        let side = &mut self.paths[path];
        // RFC 7323 §4.3: echo the segment that moved the left edge, or the first of those delayed.
        if side.due == Time::NEVER && (in_order || side.echo == Time::ZERO) {
            side.echo = data.stamp;
            if self.settings.transit {
                side.transit = now.since(data.stamp);
            }
        }
        match delayed_ack {
            // RFC 5681 §4.2: every second segment; at once out of order or when a hole is filled.
            Some(wait) if in_order && !filled_hole && side.due == Time::NEVER => {
                side.due = now + wait;
                None
            }
            _ => Some(self.ack(path)),
        }
    }

    /// A datagram arrived.
    #[cold]
    fn on_datagram(&mut self, now: Time, path: usize, data: &Data) {
        self.data_next += u64::from(data.len);
        self.paths[path].taken += u64::from(data.len);
        if self.settings.echo {
            self.paths[path].echo(now, data);
        }
    }

    /// A packet of a handshake is answered in kind.
    #[cold]
    fn answer(&mut self, path: usize, data: &Data) -> Ack {
        self.paths[path].echo = data.stamp;
        Ack { flags: data.flags, ..self.ack(path) }
    }

    /// A packet of TFRC arrived.
    #[cold]
    fn on_rated(&mut self, now: Time, path: usize, data: &Data) {
        let side = &mut self.paths[path];
        if let Some(hearing) = &mut side.hearing {
            side.due = side.due.min(hearing.on_data(now, data));
            side.taken += u64::from(data.len);
            self.deliver(data);
        }
    }

    /// `path` is coded from now on; nothing has arrived on it yet.
    pub fn set_coding(&mut self, path: usize) {
        self.paths[path].listener = Some(Box::default());
    }

    /// A combination arrived: each is acknowledged, with all that is decoded delivered.
    #[cold]
    fn on_coded(&mut self, now: Time, path: usize, data: &Data) -> Option<Ack> {
        let mut listener = self.paths[path].listener.take()?;
        listener.on_data(now, data);
        for range in &listener.decoded {
            let len = u32::try_from(range.len()).unwrap_or(0);
            self.paths[path].taken += u64::from(len);
            self.deliver(&Data { dsn: range.start, len, ..Data::default() });
        }
        let (first_unseen, known) = listener.seen();
        let side = &mut self.paths[path];
        side.listener = Some(listener);
        (side.echo, side.transit) = (data.stamp, now.since(data.stamp));
        let (sacks, flags) = (Sacks::new([known]), Flags::CODED);
        Some(Ack { ack: first_unseen, sacks, flags, ..self.ack(path) })
    }

    /// What was heard on `path`, if it is coded.
    pub fn heard(&self, path: usize) -> Option<Heard> {
        Some(self.paths[path].listener.as_ref()?.heard())
    }

    /// Payload bytes that `path` took in, each once: in its order or, coded, decoded; in TFRC and UDP all that arrived.
    pub fn taken(&self, path: usize) -> u64 {
        self.paths[path].taken.wrapping_add(self.paths[path].next)
    }

    /// Bytes that wait in the buffer for others that come before them.
    pub fn held(&self) -> u64 {
        match &*self.paths {
            // Its order is the connection's, unless it is coded.
            [only] => only.out_of_order.bytes() + self.data_out_of_order.bytes(),
            _ => self.data_out_of_order.bytes(),
        }
    }

    /// The report that goes with an acknowledgement of `path`, in TFRC.
    #[cold]
    pub fn report(&mut self, now: Time, path: usize) -> Option<Report> {
        let missing = self.data_out_of_order.gaps(self.data_next).take(MISSING).collect();
        Some(self.paths[path].hearing.as_mut()?.report(now, missing))
    }

    /// `path` joins the connection and will number its bytes, in TFRC its packets, coded its segments, from `seq` on.
    pub fn join(&mut self, path: usize, seq: u64) {
        let old = std::mem::take(&mut self.paths[path]);
        let taken = old.taken.wrapping_add(old.next);
        let mut new = Path { taken, ..Path::new(self.settings.tfrc) };
        match old.listener {
            Some(mut listener) => {
                listener.start_at(seq as u32);
                new.listener = Some(listener);
            }
            None => (new.next, new.taken) = (seq, taken.wrapping_sub(seq)),
        }
        self.paths[path] = new;
    }

    /// When to call [`Receiver::on_deadline`].
    pub fn next_deadline(&self) -> Time {
        self.paths.iter().map(|side| side.due).min().unwrap_or(Time::NEVER)
    }

    /// A delayed ACK that is due at `now`, with its path, or a datagram that goes back; call until `None`. In TFRC [`Receiver::report`]
    /// goes with it.
    pub fn on_deadline(&mut self, now: Time) -> Option<(usize, Ack)> {
        let path = self.paths.iter().position(|side| side.due <= now)?;
        if let Some(echo) = self.paths[path].next_echo() {
            return Some((path, echo));
        }
        let ack = self.ack(path);
        let Some(hearing) = &self.paths[path].hearing else {
            return Some((path, ack));
        };
        let (next, echo) = hearing.next();
        let (sacks, flags) = (Sacks::default(), Flags::RATED);
        Some((path, Ack { ack: next, echo, sacks, flags, ..ack }))
    }

    /// Bytes delivered in order to the application.
    pub fn delivered(&self) -> u64 {
        self.data_next
    }

    /// Puts the segment of one of several paths into the connection's order.
    #[inline(always)] // on the way of every segment
    fn deliver(&mut self, data: &Data) {
        let range = Range { start: data.dsn, end: data.dsn + u64::from(data.len) };
        if range.end <= self.data_next.max(range.start) {
            return; // nothing new, or nothing at all
        }
        if range.start <= self.data_next {
            self.data_next = self.data_out_of_order.take_front_at(range.end);
        } else if range.end <= self.data_next + self.buffer {
            self.data_out_of_order.insert(range);
        }
    }

    #[inline(always)] // on the way of every segment
    fn ack(&mut self, path: usize) -> Ack {
        let side = &mut self.paths[path];
        side.due = Time::NEVER;
        Ack {
            ack: side.next,
            data_ack: self.data_next,
            window_edge: self.data_next + self.buffer,
            echo: side.echo,
            transit: side.transit,
            sacks: if self.settings.sack { side.sacks() } else { Sacks::default() },
            flags: side.echoed,
        }
    }
}

impl Path {
    fn new(tfrc: bool) -> Self {
        Path { due: Time::NEVER, hearing: tfrc.then(Box::default), ..Path::default() }
    }

    /// RFC 3168 §6.1.3: marks are echoed until the sender says that it has reduced its window.
    fn on_ecn(&mut self, ecn: Flags) {
        if ecn.has(Flags::REDUCED) {
            self.echoed = Flags::NONE;
        }
        if ecn.has(Flags::MARKED) {
            self.echoed = Flags::ECHO;
        }
    }

    /// A datagram goes back as it came: the window that its answer announces is its length.
    #[cold]
    fn echo(&mut self, now: Time, data: &Data) {
        let answer = Ack {
            ack: data.seq,
            data_ack: data.dsn,
            window_edge: data.dsn + u64::from(data.len),
            echo: data.stamp,
            transit: Span::ZERO,
            sacks: Sacks::default(),
            flags: Flags::DATAGRAM,
        };
        self.echoes.get_or_insert_default().0.push_back(answer);
        self.due = now;
    }

    /// The next datagram that goes back.
    fn next_echo(&mut self) -> Option<Ack> {
        let Echoes(echoes) = self.echoes.as_deref_mut()?;
        let echo = echoes.pop_front();
        if echoes.is_empty() {
            self.due = Time::NEVER;
        }
        echo
    }

    /// A segment arrived that had come before. The ACK of that one may be lost, and its age is not a round trip: this
    /// one is echoed (RFC 7323 §4.3).
    #[cold]
    fn echo_again(&mut self, stamp: Time) {
        if self.due == Time::NEVER {
            self.echo = self.echo.max(stamp);
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

    /// Keeps a range that arrived above a hole.
    fn hold(&mut self, range: Range) {
        self.out_of_order.insert(range);
        let again = self.recent.iter().position(|at| {
            self.out_of_order.containing(*at) == self.out_of_order.containing(range.start)
        });
        let replaced = again.unwrap_or(MAX_SACKS - 1);
        self.recent.copy_within(0..replaced, 1);
        self.recent[0] = range.start;
    }

    /// RFC 2018 §4: the range of the newest segment first, then those reported most recently.
    fn sacks(&mut self) -> Sacks {
        if self.out_of_order.is_empty() {
            return match self.duplicate {
                None => Sacks::default(),
                Some(_) => Sacks::new(self.duplicate.take()),
            };
        }
        let newest = self.recent.iter().filter_map(|at| self.out_of_order.containing(*at));
        let mut blocks: [Range; MAX_SACKS] = [Range::default(); MAX_SACKS];
        let mut count = 0;
        for block in newest {
            if !blocks[..count].contains(&block) {
                blocks[count] = block;
                count += 1;
            }
        }
        match self.duplicate {
            None => Sacks::first(count, blocks),
            Some(_) => {
                let duplicate = self.duplicate.take();
                Sacks::new(duplicate.into_iter().chain(blocks[..count].iter().copied()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;

    fn receiver(delayed_ack: Option<Span>) -> Receiver {
        Receiver::new(
            ReceiverSettings {
                transit: false,
                sack: true,
                dsack: false,
                delayed_ack,
                buffer: 1 << 20,
                autotune: false,
                tfrc: false,
                echo: false,
            },
            1,
        )
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
        let mut receiver = receiver(None);
        let acks: Vec<_> = [0, 2, 4, 6, 8, 3]
            .iter()
            .map(|i| ranges(&receiver.on_data(Time(0), 0, &segment(*i)).unwrap()))
            .collect();
        assert_eq!(acks[4], [(8, 9), (6, 7), (4, 5)]);
        assert_eq!(acks[5], [(2, 5), (8, 9), (6, 7)]);
    }

    #[test]
    fn a_filled_hole_is_acknowledged_at_once_and_whole() {
        let mut receiver = receiver(Some(Span::millis(40)));
        assert_eq!(receiver.on_data(Time(0), 0, &segment(0)), None);
        assert!(receiver.on_data(Time(0), 0, &segment(2)).is_some());
        assert_eq!((receiver.held(), receiver.taken(0)), (1000, 1000));
        let ack = receiver.on_data(Time(0), 0, &segment(1)).unwrap();
        assert_eq!((ack.ack, ack.sacks.is_empty()), (3000, true));
    }

    #[test]
    fn a_delayed_ack_waits_for_a_second_segment_or_its_time() {
        let mut receiver = receiver(Some(Span::millis(40)));
        assert_eq!(receiver.on_data(Time(5), 0, &segment(0)), None);
        assert_eq!(receiver.next_deadline(), Time(5) + Span::millis(40));
        let ack = receiver.on_data(Time(6), 0, &segment(1)).unwrap();
        assert_eq!((ack.ack, ack.echo), (2000, Time(1)));
        assert_eq!(receiver.on_data(Time(7), 0, &segment(2)), None);
        let (path, ack) = receiver.on_deadline(receiver.next_deadline()).unwrap();
        assert_eq!((path, ack.ack, receiver.next_deadline()), (0, 3000, Time::NEVER));
    }

    #[test]
    fn a_segment_without_payload_is_answered_and_leaves_no_trace() {
        let mut receiver = receiver(None);
        let empty = Data { len: 0, ..segment(5) };
        let ack = receiver.on_data(Time(0), 0, &empty).unwrap();
        assert!(ack.ack == 0 && ack.sacks.is_empty());
        let ack = receiver.on_data(Time(0), 0, &segment(5)).unwrap();
        assert_eq!(ranges(&ack), [(5, 6)]);
    }

    #[test]
    fn data_of_two_paths_is_put_in_order_and_copies_are_delivered_once() {
        let mut receiver = Receiver::new(
            ReceiverSettings {
                transit: false,
                sack: true,
                dsack: false,
                delayed_ack: None,
                buffer: 1 << 20,
                autotune: false,
                tfrc: false,
                echo: false,
            },
            2,
        );
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
