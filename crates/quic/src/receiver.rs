//! The end that receives data: the server of the connection.

use crate::host::{Host, Side};
use crate::pattern;
use crate::settings::Settings;
use noq_proto::{Dir, Event, StreamEvent, StreamId};
use std::collections::VecDeque;
use std::fmt::{Debug, Formatter};
use transport::{ReceivingEndpoint, Transmit};
use units::{Span, Time};
use wire::{QuicAnswer, QuicDatagram};

/// The receiving end. The application reads the stream at once and in order.
pub struct Receiver {
    host: Host,
    stream: Option<StreamId>,
    delivered: u64,
    /// For each path, bytes of the stream that arrived: see [`Receiver::credit`].
    taken: Vec<u64>,
    /// Bytes of the newest datagram that brought stream data in order, less that data.
    overhead: u64,
    /// Stream frames that have arrived.
    frames: u64,
    /// Datagrams to send now.
    ready: VecDeque<(usize, QuicDatagram)>,
    /// The time of the last event.
    now: Time,
    /// When the paths are pinged next; never, if there is one.
    ping: Time,
}

/// The server sends something on each of several paths at this interval, as iroh does. It
/// acknowledges the data of all on the first, so that the client would hear nothing on the others
/// and give them up.
const PING: Span = Span::millis(5_000);

impl Debug for Receiver {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let Receiver { delivered, taken, .. } = self;
        let mut all = formatter.debug_struct("Receiver");
        all.field("delivered", delivered).field("taken", taken).finish_non_exhaustive()
    }
}

impl Receiver {
    /// The receiver of a connection of as many paths as the settings have.
    pub fn new(settings: &Settings, seed: u64) -> Self {
        let full = u64::from(settings.mtu());
        Receiver {
            host: Host::new(Side::Server, settings, seed),
            stream: None,
            delivered: 0,
            taken: vec![0; settings.backup.len()],
            overhead: full - u64::from(settings.segment()),
            frames: 0,
            ready: VecDeque::new(),
            now: Time::ZERO,
            ping: Time::NEVER,
        }
    }

    /// Handles what the connection tells the application: it reads what is there.
    fn hear(&mut self) {
        while let Some(event) = self.host.event() {
            match event {
                Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                    let connection = self.host.connection_mut();
                    let stream = connection.and_then(|own| own.streams().accept(Dir::Uni));
                    self.stream = self.stream.or(stream);
                    self.read();
                }
                Event::Stream(StreamEvent::Readable { .. }) => self.read(),
                _ => {}
            }
        }
    }

    fn read(&mut self) {
        let (Some(id), Some(connection)) = (self.stream, self.host.connection_mut()) else {
            return;
        };
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else {
            return; // all of it was read
        };
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            debug_assert_eq!(chunk.offset, self.delivered, "data is in order");
            debug_assert!(pattern::holds(chunk.offset, &chunk.bytes), "as it was sent");
            self.delivered += chunk.bytes.len() as u64;
        }
        let _ = chunks.finalize(); // what there is to send is polled in any case
    }

    /// Credits `path` with the stream data of a datagram of `bytes`. The stack does not tell which
    /// data came with which datagram. Where a datagram delivered less than its size, all of it was
    /// its own data; one that filled a hole, or waits for one, is taken to have as much besides as
    /// the last that did.
    fn credit(&mut self, path: usize, bytes: u64, delivered: u64) {
        let Some(connection) = self.host.connection_mut() else {
            return;
        };
        let frames = connection.stats().frame_rx.stream;
        if std::mem::replace(&mut self.frames, frames) == frames {
            return;
        }
        if 0 < delivered && delivered < bytes {
            self.overhead = bytes - delivered;
        }
        self.taken[path] += bytes.saturating_sub(self.overhead);
    }

    /// Fetches the datagrams that are to be sent now.
    fn fetch(&mut self, now: Time) {
        self.now = now;
        while let Some(sent) = self.host.poll(now) {
            self.ready.push_back(sent);
        }
    }
}

impl ReceivingEndpoint for Receiver {
    type Data = QuicDatagram;
    type Answer = QuicAnswer;

    fn on_data(&mut self, now: Time, path: usize, data: &QuicDatagram) -> Option<QuicAnswer> {
        let before = self.delivered;
        self.host.receive(now, path, data);
        if self.taken.len() > 1 && self.ping == Time::NEVER {
            self.ping = now + PING;
        }
        self.hear();
        self.credit(path, data.bytes.len() as u64, self.delivered - before);
        self.fetch(now);
        None // several may be due, on other paths too: they go at the deadline, which is now
    }

    fn on_deadline(&mut self, now: Time) -> Option<Transmit<QuicAnswer>> {
        if self.ready.is_empty() {
            self.host.on_deadline(now);
            if self.ping <= now {
                self.host.ping();
                self.ping = now + PING;
            }
            self.hear();
            self.fetch(now);
        }
        let (path, datagram) = self.ready.pop_front()?;
        Some(Transmit { path, segment: QuicAnswer(datagram) })
    }

    fn join(&mut self, _path: usize, _first: u64) {}

    fn next_deadline(&self) -> Time {
        match self.ready.is_empty() {
            true => self.host.deadline().min(self.ping).max(self.now),
            false => self.now,
        }
    }

    fn delivered(&self) -> u64 {
        self.delivered
    }

    fn held(&self) -> u64 {
        self.taken.iter().sum::<u64>().saturating_sub(self.delivered)
    }

    fn taken(&self, path: usize) -> u64 {
        self.taken[path]
    }
}
