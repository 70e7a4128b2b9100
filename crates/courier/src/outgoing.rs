//! The sending side of the ordered byte sequence: the endpoint of `transport`, with the payload
//! that it sends.
//!
//! The endpoint decides which bytes leave on which path, and when. A segment's payload is kept
//! for its path until that path has acknowledged it, because combinations cover it until then;
//! the connection may have got the same bytes by another path long before.

use crate::frame::{Frame, OVERHEAD, TAG_LEN};
use crate::sending::{Segment, Sender};
use crate::settings::{SMALL, Settings};
use crate::violation::Violation;
use std::collections::VecDeque;
use transport::coded::Answer;
use transport::{PathReport, SendingEndpoint, Written};
use units::Time;
use wire::{Ack, CodedAck, Data, Range, TfrcReport};

/// Bytes that may wait for the endpoint to send them. Less would leave windows unused between two
/// calls of the driver; more would delay what is written later.
const BACKLOG: usize = 128 << 10;

/// A path whose numbers count segments ends before they do.
const LAST_NUMBER: u32 = u32::MAX - (1 << 20);

/// Payload of one path that the path has not acknowledged, by segment.
#[derive(Debug, Default)]
struct Kept {
    /// First number: of a segment on a coded path, otherwise of a byte of the path.
    first: u64,
    segments: VecDeque<Vec<u8>>,
    bytes: usize,
}

/// The sending side of a connection.
#[derive(Debug)]
pub(crate) struct Outgoing {
    sender: Sender,
    /// What the endpoint may send.
    written: Written,
    /// How far that is.
    revealed: u64,
    /// Bytes that the connection has not acknowledged, from `acked` on.
    buffer: VecDeque<u8>,
    acked: u64,
    /// One past the last byte that was sent.
    sent: u64,
    /// Ends of short segments that are not acknowledged.
    small: VecDeque<u64>,
    kept: Box<[Kept]>,
    members: Box<[bool]>,
    /// First number of each path since it joined.
    starts: Box<[u64]>,
    coded: Box<[bool]>,
    segment: u64,
    /// Most bytes that may be unacknowledged, and most that a path may keep.
    most: usize,
}

impl Outgoing {
    /// A sender over `paths` paths, of which `first` is a member, towards a peer with a buffer of
    /// `buffer` bytes. `None` for a controller that does not run here.
    pub(crate) fn new(
        settings: &Settings,
        (paths, first): (usize, usize),
        buffer: u32,
        now: Time,
    ) -> Option<Self> {
        let written = Written::default();
        let mut sender = Sender::new(settings, (paths, buffer), written.clone(), now)?;
        (0..paths).filter(|path| *path != first).for_each(|path| sender.leave(path));
        Some(Outgoing {
            sender,
            written,
            revealed: 0,
            buffer: VecDeque::new(),
            acked: 0,
            sent: 0,
            small: VecDeque::new(),
            kept: (0..paths).map(|_| Kept::default()).collect(),
            members: (0..paths).map(|path| path == first).collect(),
            starts: vec![0; paths].into(),
            coded: (0..paths).map(|path| settings.coding_of(path).is_some()).collect(),
            segment: u64::from(settings.segment()),
            most: buffer as usize + BACKLOG,
        })
    }

    /// Bytes that may be appended now.
    pub(crate) fn room(&self) -> usize {
        let unsent = (self.acked + self.buffer.len() as u64).saturating_sub(self.sent) as usize;
        let room = BACKLOG.saturating_sub(unsent);
        room.min(self.most.saturating_sub(self.buffer.len()))
    }

    /// Where bytes are appended; call [`Outgoing::reveal`] afterwards.
    pub(crate) fn buffer(&mut self) -> &mut VecDeque<u8> {
        &mut self.buffer
    }

    /// Lets the endpoint send whole segments, and the rest if few short ones are in flight.
    pub(crate) fn reveal(&mut self) {
        let end = self.acked + self.buffer.len() as u64;
        let whole = self.revealed + (end - self.revealed) / self.segment * self.segment;
        let mut to = whole;
        if whole < end && self.small.len() < SMALL {
            self.small.push_back(end);
            to = end;
        }
        if to > self.revealed {
            self.revealed = to;
            self.written.set(to);
            self.sender.on_written();
        }
    }

    /// Whether data waits to be sent.
    pub(crate) fn has_unsent(&self) -> bool {
        self.acked + self.buffer.len() as u64 > self.sent
    }

    /// Whether data is not acknowledged.
    pub(crate) fn is_busy(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Whether `path` is a member of the connection.
    #[cfg(test)]
    pub(crate) fn is_member(&self, path: usize) -> bool {
        self.members[path]
    }

    /// `path` works: it joins.
    pub(crate) fn join(&mut self, path: usize) {
        if !self.members[path] {
            self.starts[path] = self.sender.join(path);
            self.kept[path] = Kept { first: self.starts[path], ..Kept::default() };
            self.members[path] = true;
        }
    }

    /// `path` does not work: it leaves, unless it is the last one. Then its data is not lost but
    /// waits for its return.
    pub(crate) fn leave(&mut self, path: usize) {
        let last = self.members.iter().filter(|member| **member).count() == 1;
        if self.members[path] && !last {
            self.sender.leave(path);
            self.kept[path] = Kept::default();
            self.members[path] = false;
        }
    }

    /// The counters of a path.
    pub(crate) fn report(&self, path: usize) -> PathReport {
        self.sender.report(path)
    }

    /// When to call [`Outgoing::on_deadline`].
    pub(crate) fn next_deadline(&self) -> Time {
        self.sender.next_deadline()
    }

    pub(crate) fn on_deadline(&mut self, now: Time) {
        if self.sender.next_deadline() <= now {
            self.sender.on_deadline(now);
        }
    }

    /// An acknowledgement of a coded path.
    pub(crate) fn on_coded_ack(&mut self, now: Time, path: usize, ack: &CodedAck) {
        if !self.coded[path] || !self.members[path] || ack.data_ack > self.sent {
            return;
        }
        let Sender::Windows(sender) = &mut self.sender else { return };
        sender.on_answer(now, path, &Answer::Coded(*ack));
        self.kept[path].forget_coded(u64::from(ack.first_unseen));
        self.on_data_ack(ack.data_ack);
    }

    /// An acknowledgement of a path that is not coded.
    pub(crate) fn on_ack(&mut self, now: Time, path: usize, ack: &Ack) {
        if self.coded[path] || !self.members[path] || ack.data_ack > self.sent {
            return;
        }
        let Sender::Windows(sender) = &mut self.sender else { return };
        sender.on_answer(now, path, &Answer::Plain(*ack));
        self.kept[path].forget_plain(ack.ack);
        self.on_data_ack(ack.data_ack);
    }

    /// A report of a path under TFRC.
    pub(crate) fn on_report(&mut self, now: Time, path: usize, report: &TfrcReport) {
        let Sender::Rates(sender) = &mut self.sender else { return };
        if self.members[path] && report.data_ack <= self.sent {
            sender.on_answer(now, path, report);
            self.on_data_ack(report.data_ack);
        }
    }

    fn on_data_ack(&mut self, data_ack: u64) {
        if data_ack > self.acked {
            self.buffer.drain(..(data_ack - self.acked) as usize); // at most `sent`
            self.acked = data_ack;
            while self.small.front().is_some_and(|end| *end <= data_ack) {
                self.small.pop_front();
            }
        }
        self.reveal();
    }

    /// The next frame and its path. An error if the peer has acknowledged what the endpoint has to
    /// send again, or if a path has used up its numbers.
    pub(crate) fn poll(&mut self, now: Time) -> Result<Option<(usize, Vec<u8>)>, Violation> {
        let Some((path, segment)) = self.sender.poll(now) else { return Ok(None) };
        let mut bytes = Vec::with_capacity(self.segment as usize + OVERHEAD);
        match segment {
            Segment::Combined(what) => {
                let symbol = self.symbol(path, &what)?;
                let (start, stamp) = (self.starts[path] as u32, what.stamp);
                let wire::Combination { first, count, key, .. } = what;
                let what = coding::Combination { base: first, count, key };
                Frame::Combination { start, stamp, what, symbol: &symbol }.encode(&mut bytes);
            }
            Segment::Plain(data) => {
                let payload = self.payload(path, &data)?;
                let start = self.starts[path];
                Frame::Data { start, data, payload: &payload }.encode(&mut bytes);
            }
            Segment::Timed(data) => {
                let (start, end) = (self.starts[path] as u32, data.dsn + u64::from(data.len));
                let payload = self.copy(Range { start: data.dsn, end })?;
                if data.number > u64::from(LAST_NUMBER) {
                    return Err(Violation::Exhausted);
                }
                Frame::Timed { start, data, payload: &payload }.encode(&mut bytes);
            }
        }
        if self.kept[path].bytes > self.most {
            return Err(Violation::Unacknowledged);
        }
        Ok(Some((path, bytes)))
    }

    /// The combined symbol of a combination: positions and lengths, then payload.
    fn symbol(&mut self, path: usize, what: &wire::Combination) -> Result<Vec<u8>, Violation> {
        let (first, end) = (u64::from(what.first), u64::from(what.first) + u64::from(what.count));
        if what.first > LAST_NUMBER {
            return Err(Violation::Exhausted);
        }
        let known = self.kept[path].first + self.kept[path].segments.len() as u64;
        if end > known {
            let Sender::Windows(sender) = &self.sender else { return Err(Violation::Symbol) };
            let new = sender.combined(path, what);
            for range in new.iter().skip((known.max(first) - first) as usize) {
                let payload = self.copy(*range)?;
                self.kept[path].push(payload);
            }
        }
        let kept = &self.kept[path];
        let from = first.checked_sub(kept.first).ok_or(Violation::Unacknowledged)? as usize;
        let covered = kept.segments.range(from..from + usize::from(what.count));
        let combination =
            coding::Combination { base: what.first, count: what.count, key: what.key };
        let payload: Vec<u8> = combination.combine(covered);
        let mut symbol = Vec::with_capacity(TAG_LEN + payload.len());
        symbol.extend(what.dsn.to_be_bytes());
        symbol.extend(what.lengths.to_be_bytes());
        symbol.extend(payload);
        Ok(symbol)
    }

    /// The payload of a segment of a path that is not coded.
    fn payload(&mut self, path: usize, data: &Data) -> Result<Vec<u8>, Violation> {
        let kept = &self.kept[path];
        if data.seq == kept.first + kept.bytes as u64 {
            let end = data.dsn + u64::from(data.len);
            let payload = self.copy(Range { start: data.dsn, end })?;
            self.kept[path].push(payload.clone());
            return Ok(payload);
        }
        kept.read(data.seq, data.len as usize).ok_or(Violation::Unacknowledged)
    }

    /// Bytes of the connection that leave on a path for the first time.
    fn copy(&mut self, range: Range) -> Result<Vec<u8>, Violation> {
        let from = range.start.checked_sub(self.acked).ok_or(Violation::Unacknowledged)? as usize;
        let to = from + range.len() as usize;
        if to > self.buffer.len() {
            return Err(Violation::Unacknowledged);
        }
        self.sent = self.sent.max(range.end);
        let mut copy = Vec::with_capacity(range.len() as usize);
        let (front, back) = self.buffer.as_slices();
        let split = front.len();
        if from < split {
            copy.extend(&front[from..to.min(split)]);
        }
        if to > split {
            copy.extend(&back[from.max(split) - split..to - split]);
        }
        Ok(copy)
    }
}

impl Kept {
    fn push(&mut self, payload: Vec<u8>) {
        self.bytes += payload.len();
        self.segments.push_back(payload);
    }

    fn pop(&mut self) -> u64 {
        let len = self.segments.pop_front().map_or(0, |segment| segment.len());
        self.bytes -= len;
        len as u64
    }

    /// The path has seen all segments below `seen`; a number that it cannot have seen is ignored,
    /// as the coder ignores it.
    fn forget_coded(&mut self, seen: u64) {
        if seen <= self.first + self.segments.len() as u64 {
            while self.first < seen {
                self.pop();
                self.first += 1;
            }
        }
    }

    /// The path has all bytes below `ack`.
    fn forget_plain(&mut self, ack: u64) {
        let end = self.first + self.bytes as u64;
        while let Some(len) = self.segments.front().map(|segment| segment.len() as u64)
            && self.first + len <= ack
            && ack <= end
        {
            self.first += self.pop();
        }
    }

    /// `len` bytes of the path from `seq` on.
    fn read(&self, seq: u64, len: usize) -> Option<Vec<u8>> {
        let mut skip = seq.checked_sub(self.first)? as usize;
        let mut read = Vec::with_capacity(len);
        for segment in &self.segments {
            if skip < segment.len() && read.len() < len {
                let part = &segment[skip..];
                read.extend(&part[..part.len().min(len - read.len())]);
            }
            skip = skip.saturating_sub(segment.len());
        }
        (read.len() == len).then_some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payload_of_a_path_is_kept_until_the_path_has_acknowledged_it() {
        let mut kept = Kept::default();
        kept.push(vec![1, 2, 3]);
        kept.push(vec![4, 5]);
        assert_eq!(kept.read(2, 2), Some(vec![3, 4]));
        kept.forget_plain(4);
        assert_eq!((kept.first, kept.bytes), (3, 2));
        assert_eq!((kept.read(2, 1), kept.read(3, 2)), (None, Some(vec![4, 5])));
        kept.forget_plain(99);
        assert_eq!(kept.bytes, 2, "it cannot have that");
    }

    #[test]
    fn short_segments_wait_when_many_are_in_flight() {
        let settings = Settings::new("reno".parse().unwrap());
        let mut outgoing = Outgoing::new(&settings, (1, 0), 1 << 20, Time::ZERO).unwrap();
        for _ in 0..2 * SMALL {
            outgoing.buffer().push_back(7);
            outgoing.reveal();
            while outgoing.poll(Time(1)).unwrap().is_some() {}
        }
        assert_eq!(outgoing.revealed, SMALL as u64);
    }

    #[test]
    fn a_controller_of_the_kernel_does_not_run_here() {
        for name in ["linux:cubic", "kernel:lia"] {
            let settings = Settings::new(name.parse().unwrap());
            assert!(Outgoing::new(&settings, (1, 0), 1 << 20, Time::ZERO).is_none(), "{name}");
        }
    }
}
