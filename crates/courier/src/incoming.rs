//! The receiving side of the ordered byte sequence: the endpoint of `transport`, decoders with
//! real payload, and reassembly.

use crate::Settings;
use crate::frame::TAG_LEN;
use crate::ordered::Ordered;
use crate::violation::Violation;
use coding::{Combination, Decoder};
use transport::ReceivingEndpoint;
use transport::coded::{Answer, Receiver, Sent};
use transport::tcp::{self, ReceiverSettings};
use transport::{Transmit, tfrc};
use units::{Span, Time};
use wire::{Ack, CodedAck, Data, Range, TfrcData, TfrcReport};

/// The clocks of two hosts have nothing in common: the first datagram counts as this old, so that
/// faster ones are not of negative age.
const FIRST_TRANSIT: Span = Span::millis(10_000);

/// What a path carries; the first datagram decides.
#[derive(Debug)]
enum Lane {
    Unused,
    Coded(Decoder<Vec<u8>>),
    /// The next byte that the path expects.
    Plain(u64),
    Timed,
}

/// The receiving side of a connection.
#[derive(Debug)]
pub(crate) struct Incoming {
    receiver: Receiver,
    /// For paths under TFRC.
    reporter: tfrc::Receiver,
    lanes: Box<[Lane]>,
    /// First number of each path, as the peer last said.
    starts: Box<[u64]>,
    ordered: Ordered,
    /// Added to the time here, so that it is comparable with the peer's stamps.
    shift: Option<Span>,
    pending: usize,
    buffer: u64,
    segment: usize,
}

impl Incoming {
    pub(crate) fn new(settings: &Settings, paths: usize) -> Self {
        let options = settings.options(settings.buffer);
        let receiving = ReceiverSettings { options, transit: true };
        let tcp = tcp::Receiver::new(receiving, paths);
        let pending = settings.most_pending();
        Incoming {
            receiver: Receiver::new(tcp, vec![false; paths]),
            reporter: tfrc::Receiver::new(u64::from(settings.buffer), paths),
            lanes: (0..paths).map(|_| Lane::Unused).collect(),
            starts: vec![0; paths].into(),
            ordered: Ordered::new(u64::from(settings.buffer), paths * pending),
            shift: None,
            pending,
            buffer: u64::from(settings.buffer),
            segment: settings.datagram,
        }
    }

    /// The time here on the peer's clock, up to a constant.
    fn local(&mut self, now: Time, stamp: Time) -> Time {
        let shift = *self.shift.get_or_insert_with(|| (stamp + FIRST_TRANSIT).since(now));
        now + shift
    }

    /// A combination arrived. `None` if it is not of this path.
    pub(crate) fn on_combination(
        &mut self,
        now: Time,
        path: usize,
        (start, stamp): (u32, Time),
        (what, symbol): (Combination, &[u8]),
    ) -> Result<Option<CodedAck>, Violation> {
        let local = self.local(now, stamp);
        if let Lane::Unused = self.lanes[path] {
            self.lanes[path] = Lane::Coded(Decoder::new(self.pending));
        }
        let Lane::Coded(decoder) = &mut self.lanes[path] else {
            return Ok(None);
        };
        if u64::from(start) > self.starts[path] {
            self.starts[path] = u64::from(start);
            decoder.start_at(start);
        }
        if symbol.len() > self.segment + TAG_LEN {
            return Ok(None);
        }
        let mut decoded = Vec::new();
        decoder.on_packet(what, symbol.to_vec(), |_, symbol| decoded.push(symbol));
        let (first_unseen, received, covered) =
            (decoder.first_unseen(), decoder.rank(), decoder.highest());
        let mut ranges = Vec::with_capacity(decoded.len());
        for symbol in decoded {
            ranges.push(self.on_symbol(symbol)?);
        }
        let transit = local.since(stamp);
        let answer = self.receiver.on_decoded(path, (stamp, transit), ranges);
        Ok(Some(CodedAck { first_unseen, received, covered, ..answer }))
    }

    /// A segment was decoded: position and length, then payload and the zeros of longer segments.
    fn on_symbol(&mut self, mut symbol: Vec<u8>) -> Result<Range, Violation> {
        let tag = symbol.first_chunk::<TAG_LEN>().ok_or(Violation::Symbol)?;
        let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let (start, len) = (number(&tag[..8]), number(&tag[8..]) as usize);
        if len > symbol.len() - TAG_LEN || start >= 1 << 62 {
            return Err(Violation::Symbol);
        }
        symbol.truncate(TAG_LEN + len);
        symbol.drain(..TAG_LEN);
        self.insert(start, symbol)?;
        Ok(Range { start, end: start + len as u64 })
    }

    fn insert(&mut self, start: u64, payload: Vec<u8>) -> Result<(), Violation> {
        match self.ordered.insert(start, payload) {
            true => Ok(()),
            false => Err(Violation::Pieces),
        }
    }

    /// A segment that is not coded arrived. `None` if it is not of this path.
    pub(crate) fn on_data(
        &mut self,
        now: Time,
        path: usize,
        start: u64,
        (data, payload): (&Data, &[u8]),
    ) -> Result<Option<Ack>, Violation> {
        let local = self.local(now, data.stamp);
        if let Lane::Unused = self.lanes[path] {
            self.lanes[path] = Lane::Plain(0);
        }
        let Lane::Plain(expected) = &mut self.lanes[path] else {
            return Ok(None);
        };
        if start > self.starts[path] {
            self.starts[path] = start;
            self.receiver.join(path, start);
            *expected = start;
        }
        // With one path its order is the connection's. No honest sender exceeds the buffer.
        let another = self.starts.len() == 1 && data.seq != data.dsn;
        if another || data.seq > *expected + self.buffer {
            return Ok(None);
        }
        let Some(Answer::Plain(ack)) = self.receiver.on_data(local, path, &Sent::Plain(*data))
        else {
            return Ok(None);
        };
        if let Lane::Plain(expected) = &mut self.lanes[path] {
            *expected = ack.ack;
        }
        self.insert(data.dsn, payload.to_vec())?;
        Ok(Some(ack))
    }

    /// A timed segment arrived: it is answered by a later report.
    pub(crate) fn on_timed(
        &mut self,
        now: Time,
        path: usize,
        start: u32,
        (data, payload): (&TfrcData, &[u8]),
    ) -> Result<(), Violation> {
        if let Lane::Unused = self.lanes[path] {
            self.lanes[path] = Lane::Timed;
        }
        if !matches!(self.lanes[path], Lane::Timed) {
            return Ok(());
        }
        if u64::from(start) > self.starts[path] {
            self.starts[path] = u64::from(start);
            self.reporter.join(path, u64::from(start));
        }
        // No honest sender exceeds the buffer.
        if data.dsn > self.reporter.delivered() + self.buffer {
            return Ok(());
        }
        self.reporter.on_data(now, path, data);
        self.insert(data.dsn, payload.to_vec())
    }

    /// When to call [`Incoming::report`].
    pub(crate) fn next_deadline(&self) -> Time {
        self.reporter.next_deadline()
    }

    /// The next report that is due, and its path; call until `None`.
    pub(crate) fn report(&mut self, now: Time) -> Option<(usize, TfrcReport)> {
        let Transmit { path, segment } = self.reporter.on_deadline(now)?;
        Some((path, segment))
    }

    /// The next bytes in order.
    pub(crate) fn take(&mut self) -> Option<Vec<u8>> {
        self.ordered.take()
    }
}
