//! Many streams over one ordered sequence of bytes in each direction, whatever carries it.
//!
//! ```text
//!  kind 1 | stream 4 | length 2 | payload
//!  1 open: request   2 data   3 end   4 reset   5 credit: bytes, 4   6 blocked
//! ```
//!
//! A stream begins with a window of 64 KiB. Its reader grants what it has read, and doubles the
//! window when the writer is blocked by it though the reader keeps up; all windows together grow by
//! the pool of the settings at most.

use crate::settings::{STREAM_BACKLOG, STREAM_MOST, STREAM_WINDOW};
use crate::streams::{Gone, Read, Refused, StreamId};
use crate::violation::Violation;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const OPEN: u8 = 1;
const DATA: u8 = 2;
const END: u8 = 3;
const RESET: u8 = 4;
const CREDIT: u8 = 5;
const BLOCKED: u8 = 6;

const HEADER: usize = 7;
/// Most bytes of a frame: a stream takes turns with others after that.
const CHUNK: usize = 8 << 10;
/// Most bytes of a request.
const REQUEST: usize = 1024;
/// Room that is too small to begin a frame with.
const LEAST_ROOM: usize = HEADER + 64;

/// Which end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Initiator,
    Responder,
}

/// What a stream has still to send besides data.
#[derive(Debug, PartialEq, Eq)]
enum Sending {
    /// The request of a stream that this end opens.
    Request(Vec<u8>),
    Open,
    /// The end, after the backlog.
    Finishing,
    Finished,
}

/// One stream.
#[derive(Debug)]
struct Stream {
    sending: Sending,
    backlog: VecDeque<u8>,
    /// Bytes that the peer permits.
    credit: u64,
    /// The peer knows that this end waits for credit.
    told: bool,
    /// It stands in the queue of streams with something to send.
    queued: bool,
    arrived: VecDeque<u8>,
    /// Bytes that may be unread or under way.
    window: u32,
    /// Bytes that the peer may still send.
    room: u64,
    /// The peer has ended.
    ended: bool,
    /// The reader knows that.
    read: bool,
}

impl Stream {
    fn new(sending: Sending) -> Self {
        Stream {
            sending,
            backlog: VecDeque::new(),
            credit: u64::from(STREAM_WINDOW),
            told: false,
            queued: false,
            arrived: VecDeque::new(),
            window: STREAM_WINDOW,
            room: u64::from(STREAM_WINDOW),
            ended: false,
            read: false,
        }
    }

    fn has_something(&self) -> bool {
        match self.sending {
            Sending::Request(_) => true,
            Sending::Finishing if self.backlog.is_empty() => true,
            Sending::Open | Sending::Finishing => {
                !self.backlog.is_empty() && (self.credit > 0 || !self.told)
            }
            Sending::Finished => false,
        }
    }

    /// Bytes of the window that were read and not granted again.
    fn ungranted(&self) -> u64 {
        u64::from(self.window).saturating_sub(self.room + self.arrived.len() as u64)
    }

    fn is_over(&self) -> bool {
        self.read && self.sending == Sending::Finished
    }
}

/// The streams of one connection.
#[derive(Debug)]
pub(crate) struct Mux {
    streams: BTreeMap<u32, Stream>,
    most: usize,
    /// The next stream of this end, and the least that the peer may open next.
    next: u32,
    peers_next: u32,
    /// What is left of the pool.
    pool: u64,
    accepted: VecDeque<(StreamId, Vec<u8>)>,
    changed: BTreeSet<StreamId>,
    /// Grants and resets.
    urgent: VecDeque<Vec<u8>>,
    /// Streams with something to send, in turn.
    queue: VecDeque<u32>,
    /// The beginning of a frame whose end has not arrived.
    partial: Vec<u8>,
}

fn frame(kind: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + payload.len());
    bytes.push(kind);
    bytes.extend(stream.to_be_bytes());
    bytes.extend((payload.len() as u16).to_be_bytes());
    bytes.extend(payload);
    bytes
}

impl Mux {
    pub(crate) fn new(role: Role, most: usize, pool: u64) -> Self {
        let (next, peers_next) = match role {
            Role::Initiator => (1, 2),
            Role::Responder => (2, 1),
        };
        Mux {
            streams: BTreeMap::new(),
            most,
            next,
            peers_next,
            pool,
            accepted: VecDeque::new(),
            changed: BTreeSet::new(),
            urgent: VecDeque::new(),
            queue: VecDeque::new(),
            partial: Vec::new(),
        }
    }

    /// Streams that are open.
    pub(crate) fn len(&self) -> usize {
        self.streams.len()
    }

    /// Unread bytes and backlogs of all streams.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.streams.values().map(|stream| stream.arrived.len() + stream.backlog.len()).sum()
    }

    /// The connection has ended: so have the streams.
    pub(crate) fn end(&mut self) {
        self.changed.extend(self.streams.keys().map(|id| StreamId(*id)));
        self.streams.clear();
        self.accepted.clear();
        self.queue.clear();
        self.urgent.clear();
    }

    pub(crate) fn open(&mut self, request: &[u8]) -> Result<StreamId, Refused> {
        if request.len() > REQUEST {
            return Err(Refused::Request);
        }
        if self.streams.len() >= self.most || self.next > u32::MAX - 2 {
            return Err(Refused::TooMany);
        }
        let id = self.next;
        self.next += 2;
        self.streams.insert(id, Stream::new(Sending::Request(request.to_vec())));
        self.enqueue(id);
        Ok(StreamId(id))
    }

    pub(crate) fn accept(&mut self) -> Option<(StreamId, Vec<u8>)> {
        self.accepted.pop_front()
    }

    pub(crate) fn waiting(&self) -> usize {
        self.accepted.len()
    }

    pub(crate) fn changed(&mut self) -> Option<StreamId> {
        self.changed.pop_first()
    }

    pub(crate) fn write(&mut self, id: StreamId, bytes: &[u8]) -> Result<usize, Gone> {
        let stream = self.streams.get_mut(&id.0).ok_or(Gone)?;
        if matches!(stream.sending, Sending::Finishing | Sending::Finished) {
            return Err(Gone);
        }
        let room = STREAM_BACKLOG.saturating_sub(stream.backlog.len());
        let taken = room.min(bytes.len());
        stream.backlog.extend(&bytes[..taken]);
        self.enqueue(id.0);
        Ok(taken)
    }

    pub(crate) fn finish(&mut self, id: StreamId) {
        let Some(stream) = self.streams.get_mut(&id.0) else { return };
        if let Sending::Request(request) = &stream.sending {
            let opening = frame(OPEN, id.0, request);
            self.urgent.push_back(opening); // the end follows it
        }
        if stream.sending != Sending::Finished {
            stream.sending = Sending::Finishing;
        }
        self.enqueue(id.0);
    }

    pub(crate) fn read(&mut self, id: StreamId, bytes: &mut [u8]) -> Result<Read, Gone> {
        let stream = self.streams.get_mut(&id.0).ok_or(Gone)?;
        let taken = bytes.len().min(stream.arrived.len());
        let (front, back) = stream.arrived.as_slices();
        let split = front.len().min(taken);
        bytes[..split].copy_from_slice(&front[..split]);
        bytes[split..taken].copy_from_slice(&back[..taken - split]);
        stream.arrived.drain(..taken);
        if taken > 0 {
            if !stream.ended && stream.ungranted() >= u64::from(stream.window / 2) {
                let grant = stream.ungranted();
                stream.room += grant;
                let payload = (grant as u32).to_be_bytes(); // at most a window
                self.urgent.push_back(frame(CREDIT, id.0, &payload));
            }
            return Ok(Read::Bytes(taken));
        }
        let ended = stream.ended && !bytes.is_empty();
        stream.read |= ended;
        self.forget_if_over(id.0);
        Ok(if ended { Read::End } else { Read::Wait })
    }

    pub(crate) fn reset(&mut self, id: StreamId) {
        if self.remove(id.0) {
            self.urgent.push_back(frame(RESET, id.0, &[]));
        }
    }

    fn remove(&mut self, id: u32) -> bool {
        let stream = self.streams.remove(&id);
        self.pool += stream.as_ref().map_or(0, |it| u64::from(it.window - STREAM_WINDOW));
        stream.is_some()
    }

    /// Forgets a stream that has ended in both directions and was read.
    fn forget_if_over(&mut self, id: u32) {
        if self.streams.get(&id).is_some_and(Stream::is_over) {
            self.remove(id);
        }
    }

    fn enqueue(&mut self, id: u32) {
        if let Some(stream) = self.streams.get_mut(&id)
            && !stream.queued
            && stream.has_something()
        {
            stream.queued = true;
            self.queue.push_back(id);
        }
    }

    /// Whether there is something to send now.
    pub(crate) fn has_something(&self) -> bool {
        !self.urgent.is_empty() || self.streams.values().any(Stream::has_something)
    }

    /// Whether a stream has something to send, now or when the peer permits it.
    pub(crate) fn has_backlog(&self) -> bool {
        self.has_something() || self.streams.values().any(|stream| !stream.backlog.is_empty())
    }

    /// Appends frames to `to`, at most `room` bytes.
    pub(crate) fn fill(&mut self, mut room: usize, to: &mut VecDeque<u8>) {
        while let Some(next) = self.urgent.front()
            && next.len() <= room
        {
            room -= next.len();
            to.extend(next);
            self.urgent.pop_front();
        }
        while room >= LEAST_ROOM + REQUEST
            && self.urgent.is_empty()
            && let Some(id) = self.queue.pop_front()
        {
            room -= self.serve(id, room, to);
        }
    }

    /// One turn of stream `id`; returns the bytes that it appends.
    fn serve(&mut self, id: u32, room: usize, to: &mut VecDeque<u8>) -> usize {
        let Some(stream) = self.streams.get_mut(&id) else { return 0 };
        stream.queued = false;
        let before = to.len();
        if let Sending::Request(request) = &stream.sending {
            to.extend(frame(OPEN, id, request));
            stream.sending = Sending::Open;
        } else if !stream.backlog.is_empty() && stream.credit == 0 {
            if !std::mem::replace(&mut stream.told, true) {
                to.extend(frame(BLOCKED, id, &[]));
            }
        } else if !stream.backlog.is_empty() {
            let credit = usize::try_from(stream.credit).unwrap_or(usize::MAX);
            let len = stream.backlog.len().min(credit).min(CHUNK).min(room - HEADER);
            to.extend(frame(DATA, id, &[])[..HEADER - 2].iter());
            to.extend((len as u16).to_be_bytes());
            let (front, back) = stream.backlog.as_slices();
            let split = front.len().min(len);
            to.extend(&front[..split]);
            to.extend(&back[..len - split]);
            stream.backlog.drain(..len);
            stream.credit -= len as u64;
            if stream.sending == Sending::Open {
                self.changed.insert(StreamId(id)); // it has room again
            }
        } else if stream.sending == Sending::Finishing {
            to.extend(frame(END, id, &[]));
            stream.sending = Sending::Finished;
        }
        self.enqueue(id);
        self.forget_if_over(id);
        to.len() - before
    }

    /// Bytes of the sequence arrived, in order.
    pub(crate) fn on_bytes(&mut self, mut bytes: &[u8]) -> Result<(), Violation> {
        while !bytes.is_empty() {
            let missing = HEADER.saturating_sub(self.partial.len()).min(bytes.len());
            self.partial.extend(&bytes[..missing]);
            bytes = &bytes[missing..];
            let Some((&[kind, a, b, c, d, high, low], payload)) =
                self.partial.split_first_chunk::<HEADER>()
            else {
                return Ok(());
            };
            let id = u32::from_be_bytes([a, b, c, d]);
            let len = usize::from(u16::from_be_bytes([high, low]));
            if len > CHUNK {
                return Err(Violation::Stream);
            }
            let missing = (len - payload.len()).min(bytes.len());
            self.partial.extend(&bytes[..missing]);
            bytes = &bytes[missing..];
            if self.partial.len() == HEADER + len {
                let whole = std::mem::take(&mut self.partial);
                self.on_frame(kind, id, &whole[HEADER..])?;
                self.partial = whole;
                self.partial.clear();
            }
        }
        Ok(())
    }

    fn on_frame(&mut self, kind: u8, id: u32, payload: &[u8]) -> Result<(), Violation> {
        if kind == OPEN {
            return self.on_open(id, payload);
        }
        let own = id % 2 == self.next % 2;
        let unknown = if own { id >= self.next } else { id >= self.peers_next };
        if id == 0 || unknown {
            return Err(Violation::Stream);
        }
        let Some(stream) = self.streams.get_mut(&id) else {
            return Ok(()); // it was reset here, and the peer does not know yet
        };
        match (kind, payload) {
            (DATA, [_, ..]) => {
                let len = payload.len() as u64;
                if stream.ended || len > stream.room {
                    return Err(Violation::Stream);
                }
                stream.room -= len;
                stream.arrived.extend(payload);
            }
            (END, []) => stream.ended = true,
            (RESET, []) => _ = self.remove(id),
            (CREDIT, payload) => {
                let grant = payload.try_into().map_err(|_| Violation::Stream)?;
                let grant = u64::from(u32::from_be_bytes(grant));
                stream.credit = (stream.credit + grant).min(u64::from(STREAM_MOST));
                stream.told = false;
                self.enqueue(id);
            }
            (BLOCKED, []) => self.widen(id),
            _ => return Err(Violation::Stream),
        }
        self.changed.insert(StreamId(id));
        self.forget_if_over(id);
        Ok(())
    }

    fn on_open(&mut self, id: u32, request: &[u8]) -> Result<(), Violation> {
        let peers = id % 2 == self.peers_next % 2;
        if !peers || id < self.peers_next || id > u32::MAX - 2 || request.len() > REQUEST {
            return Err(Violation::Stream);
        }
        self.peers_next = id + 2;
        if self.streams.len() >= self.most {
            if self.urgent.len() > 4 * self.most + 1024 {
                return Err(Violation::Stream);
            }
            self.urgent.push_back(frame(RESET, id, &[]));
            return Ok(());
        }
        self.streams.insert(id, Stream::new(Sending::Open));
        self.accepted.push_back((StreamId(id), request.to_vec()));
        Ok(())
    }

    /// The writer of `id` is blocked: doubles the window, if its reader keeps up and the pool has
    /// so much.
    fn widen(&mut self, id: u32) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let more = stream.window;
        let keeps_up = stream.arrived.len() < (more / 2) as usize;
        if keeps_up && more < STREAM_MOST && u64::from(more) <= self.pool {
            self.pool -= u64::from(more);
            stream.window += more;
            stream.room += u64::from(more);
            self.urgent.push_back(frame(CREDIT, id, &more.to_be_bytes()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Mux, Mux) {
        let mux = |role| Mux::new(role, 4, 1 << 20);
        (mux(Role::Initiator), mux(Role::Responder))
    }

    fn carry(from: &mut Mux, to: &mut Mux) {
        let mut bytes = VecDeque::new();
        from.fill(1 << 20, &mut bytes);
        // In parts, so that frames are cut.
        for part in bytes.make_contiguous().chunks(700) {
            to.on_bytes(part).unwrap();
        }
    }

    fn read_all(mux: &mut Mux, id: StreamId) -> (Vec<u8>, Result<Read, Gone>) {
        let (mut all, mut part) = (vec![], [0; 5000]);
        loop {
            match mux.read(id, &mut part) {
                Ok(Read::Bytes(count)) => all.extend(&part[..count]),
                other => return (all, other),
            }
        }
    }

    #[test]
    fn a_stream_is_opened_with_a_request_written_and_ended_in_both_directions() {
        let (mut one, mut other) = pair();
        let id = one.open(b"host:80").unwrap();
        assert_eq!(one.write(id, b"hello"), Ok(5));
        one.finish(id);
        carry(&mut one, &mut other);
        assert_eq!(other.accept(), Some((id, b"host:80".to_vec())));
        assert_eq!(read_all(&mut other, id), (b"hello".to_vec(), Ok(Read::End)));
        assert_eq!(other.write(id, b"back"), Ok(4));
        other.finish(id);
        carry(&mut other, &mut one);
        assert_eq!(read_all(&mut one, id), (b"back".to_vec(), Ok(Read::End)));
        carry(&mut one, &mut other);
        assert_eq!((one.len(), other.len()), (0, 0));
        assert_eq!(one.read(id, &mut [0]), Err(Gone));
    }

    #[test]
    fn a_stream_that_is_not_read_stops_its_writer_and_no_other() {
        let (mut one, mut other) = pair();
        let (slow, fast) = (one.open(b"").unwrap(), one.open(b"").unwrap());
        let (mut written, mut read) = ([0, 0], 0);
        for _ in 0..200 {
            for (at, id) in [slow, fast].into_iter().enumerate() {
                written[at] += one.write(id, &[at as u8; 20_000]).unwrap();
            }
            carry(&mut one, &mut other);
            read += read_all(&mut other, fast).0.len();
            carry(&mut other, &mut one);
        }
        let most = STREAM_WINDOW as usize + STREAM_BACKLOG;
        assert!(written[0] <= most, "{written:?}");
        assert!(read > 3_000_000, "{read}");
        assert_eq!(other.streams[&slow.0].window, STREAM_WINDOW, "its reader does not keep up");
    }

    #[test]
    fn a_window_grows_while_its_reader_keeps_up_and_the_pool_gets_it_back() {
        let (mut one, mut other) = pair();
        let id = one.open(b"").unwrap();
        carry(&mut one, &mut other);
        // The peer has not read when more is sent: as over a long path.
        while one.write(id, &[1; 65_536]).unwrap() > 0 {
            carry(&mut one, &mut other);
            let _ = read_all(&mut other, id);
            carry(&mut one, &mut other);
            carry(&mut other, &mut one);
            if other.pool == 0 {
                break;
            }
            one.streams.get_mut(&id.0).unwrap().credit = 0; // and more was under way
            other.widen(id.0);
        }
        assert!(other.streams[&id.0].window > STREAM_WINDOW);
        other.reset(id);
        assert_eq!(other.pool, 1 << 20);
    }

    #[test]
    fn more_streams_than_allowed_are_reset() {
        let (mut one, mut other) = pair();
        one.most = 9;
        let ids: Vec<_> = (0..5).map(|_| one.open(b"").unwrap()).collect();
        carry(&mut one, &mut other);
        assert_eq!(other.len(), 4);
        carry(&mut other, &mut one);
        assert_eq!(one.write(ids[4], b"x"), Err(Gone));
        assert!(one.write(ids[3], b"x").is_ok());
    }

    #[test]
    fn a_peer_that_breaks_the_rules_is_found_out() {
        for wrong in [
            frame(DATA, 1, b"x"),
            frame(DATA, 0, b"x"),
            frame(OPEN, 2, b""),
            frame(OPEN, 1, &[0; REQUEST + 1]),
            frame(9, 1, b""),
            [frame(OPEN, 1, b""), frame(DATA, 1, b"")].concat(),
            [frame(OPEN, 3, b""), frame(OPEN, 1, b"")].concat(),
            [frame(OPEN, 1, b""), frame(END, 1, b""), frame(DATA, 1, b"x")].concat(),
            [frame(OPEN, 1, b""), frame(CREDIT, 1, b"xyz")].concat(),
            [frame(OPEN, 1, b""), frame(DATA, 1, &[0; CHUNK]).repeat(9)].concat(),
            vec![DATA, 0, 0, 0, 1, 0xff, 0xff],
        ] {
            let (_, mut other) = pair();
            assert!(other.on_bytes(&wrong).is_err(), "{:?}", &wrong[..7.min(wrong.len())]);
        }
    }
}
