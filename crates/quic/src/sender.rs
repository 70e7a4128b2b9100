//! The end that sends data: the client of the connection.

use crate::clock::instant;
use crate::host::{Host, Side};
use crate::notes::Notes;
use crate::pattern;
use crate::settings::Settings;
use noq_proto::congestion::ControllerMetrics;
use noq_proto::{
    ClosePathError, Connection, Dir, Event, FinishError, PathEvent, PathId, PathStats, PathStatus,
    StreamEvent, StreamId, VarInt, WriteError,
};
use std::fmt::{Debug, Formatter};
use std::sync::Arc;
use transport::{Note, PathReport, SendingEndpoint, Source, Transmit};
use units::{Span, Time};
use wire::{QuicAnswer, QuicDatagram};

/// The sending end.
pub struct Sender {
    settings: Arc<Settings>,
    seed: u64,
    host: Host,
    start: Time,
    paths: Vec<Path>,
    stream: Stream,
    /// Whether the handshake is complete and other paths may be opened.
    connected: bool,
    completed: Option<Time>,
    /// What becomes of packets, if somebody wants to know.
    notes: Option<Box<Notes>>,
}

impl Debug for Sender {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let Sender { start, paths, stream, completed, .. } = self;
        let mut all = formatter.debug_struct("Sender");
        all.field("start", start).field("paths", paths).field("stream", stream);
        all.field("completed", completed).finish_non_exhaustive()
    }
}

/// What the sender knows of a path.
#[derive(Debug, Default)]
struct Path {
    /// Whether the path shall belong to the connection.
    wanted: bool,
    /// Its number in the connection, while it is open.
    id: Option<PathId>,
    /// Whether the peer has answered on it.
    established: bool,
    /// Counters of the connection's paths that it had before.
    past: Counters,
    /// Counters of the path that it has now.
    now: Counters,
}

/// Counters of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    lost: u64,
    events: u64,
    spurious: u64,
}

impl Counters {
    fn of(stats: &PathStats) -> Self {
        Counters {
            lost: stats.lost_packets,
            events: stats.congestion_events,
            spurious: stats.spurious_congestion_events,
        }
    }

    fn plus(self, other: Self) -> Self {
        Counters {
            lost: self.lost + other.lost,
            events: self.events + other.events,
            spurious: self.spurious + other.spurious,
        }
    }
}

/// The stream with the data of the application.
#[derive(Debug, Default)]
struct Stream {
    id: Option<StreamId>,
    /// Bytes that the stack has taken.
    written: u64,
    /// Whether the stack took less than there was: flow control stops the stream.
    blocked: bool,
    /// Whether the end of the stream is written.
    finished: bool,
}

impl Sender {
    /// A connection of as many paths as the settings have, which starts at `start`.
    pub fn new(settings: Arc<Settings>, start: Time, seed: u64) -> Self {
        let path = || Path { wanted: true, ..Path::default() };
        Sender {
            host: Host::new(Side::Client, &settings, seed),
            seed,
            start,
            paths: settings.backup.iter().map(|_| path()).collect(),
            stream: Stream::default(),
            connected: false,
            completed: None,
            notes: None,
            settings,
        }
    }

    /// The first step: the handshake, on the first path that the connection has.
    fn connect(&mut self, now: Time) {
        let Some(first) = self.paths.iter().position(|path| path.wanted) else {
            return; // none has joined yet
        };
        self.paths[first].id = Some(PathId::ZERO);
        let factory = self.settings.control.factory(self.settings.mtu());
        let factory = match &self.notes {
            Some(notes) => notes.around(factory),
            None => factory,
        };
        self.host.connect(now, first, &self.settings, factory, self.seed);
    }

    /// Handles what the connection tells the application.
    fn hear(&mut self, now: Time) {
        while let Some(event) = self.host.event() {
            match event {
                Event::Connected => self.connected = true,
                Event::Path(PathEvent::Established { id, .. }) => {
                    if let Some(path) = self.path_mut(id) {
                        path.established = true;
                    }
                }
                Event::Path(PathEvent::Abandoned { id, .. }) => self.forget(id),
                Event::Stream(StreamEvent::Writable { .. }) => self.stream.blocked = false,
                Event::Stream(StreamEvent::Finished { .. }) => {
                    self.completed.get_or_insert(now);
                }
                _ => {}
            }
        }
    }

    fn path_mut(&mut self, id: PathId) -> Option<&mut Path> {
        self.paths.iter_mut().find(|path| path.id == Some(id))
    }

    /// The connection has given up one of its paths; if it is still wanted, another is opened.
    fn forget(&mut self, id: PathId) {
        if let Some(path) = self.path_mut(id) {
            path.past = path.past.plus(path.now);
            (path.id, path.established, path.now) = (None, false, Counters::default());
        }
    }

    /// Opens paths that are wanted and closes those that are not.
    fn settle_paths(&mut self, now: Time) {
        for index in 0..self.paths.len() {
            match (self.paths[index].wanted, self.paths[index].id) {
                (true, None) if self.connected => self.open(now, index),
                (false, Some(id)) => self.close(now, id),
                _ => {}
            }
        }
    }

    fn open(&mut self, now: Time, index: usize) {
        let ends = self.host.four_tuple(index);
        let status = match self.settings.backup[index] {
            true => PathStatus::Backup,
            false => PathStatus::Available,
        };
        let Some(connection) = self.host.connection_mut() else {
            return;
        };
        // Without an identifier of the peer for it, the path is opened at a later step.
        self.paths[index].id = connection.open_path(ends, status, instant(now)).ok();
    }

    fn close(&mut self, now: Time, id: PathId) {
        let Some(connection) = self.host.connection_mut() else {
            return;
        };
        match connection.close_path(instant(now), id, VarInt::from_u32(0)) {
            // The last path stays until there is another one.
            Err(ClosePathError::LastOpenPath | ClosePathError::MultipathNotNegotiated) => {}
            Ok(()) | Err(ClosePathError::ClosedPath) => self.forget(id),
        }
    }

    /// Gives the stack what the application has written by `now`.
    fn write(&mut self, now: Time) {
        if !self.connected || self.stream.blocked || self.stream.finished {
            return;
        }
        let Settings { source, .. } = &*self.settings;
        let due = source.written(now.since(self.start), self.settings.segment());
        let Some(connection) = self.host.connection_mut() else {
            return;
        };
        let stream = &mut self.stream;
        let id = match stream.id {
            Some(id) => id,
            None => match connection.streams().open(Dir::Uni) {
                Some(id) => *stream.id.insert(id),
                None => return,
            },
        };
        while stream.written < due {
            let mut block = [pattern::from(stream.written, due - stream.written)];
            match connection.send_stream(id).write_chunks(&mut &mut block[..]) {
                Ok(bytes) => stream.written += bytes as u64,
                Err(WriteError::Blocked) => {
                    stream.blocked = true;
                    return;
                }
                Err(WriteError::Stopped(_) | WriteError::ClosedStream) => {
                    stream.finished = true;
                    return;
                }
            }
        }
        if matches!(source, Source::Transfer(_)) {
            let ended = connection.send_stream(id).finish();
            debug_assert!(!matches!(ended, Err(FinishError::ClosedStream)), "it was open");
            stream.finished = true;
        }
    }

    /// Keeps the counters of the open paths.
    fn count(&mut self) {
        let Some(connection) = self.host.connection_mut() else {
            return;
        };
        for path in &mut self.paths {
            if let Some(stats) = path.id.and_then(|id| connection.path_stats(id)) {
                path.now = Counters::of(&stats);
            }
        }
    }
}

impl SendingEndpoint for Sender {
    type Sent = QuicDatagram;
    type Answer = QuicAnswer;

    fn on_answer(&mut self, now: Time, path: usize, QuicAnswer(datagram): &QuicAnswer) {
        self.host.receive(now, path, datagram);
        self.hear(now);
        self.count();
    }

    fn on_deadline(&mut self, now: Time) {
        self.host.on_deadline(now);
        self.hear(now);
        self.count();
    }

    fn on_sent(&mut self, _path: usize, _bytes: u32) {}

    fn join(&mut self, path: usize) -> u64 {
        self.paths[path].wanted = true;
        0 // QUIC numbers the packets of each of its paths from 0
    }

    fn leave(&mut self, path: usize) {
        self.paths[path].wanted = false;
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Transmit<QuicDatagram>> {
        if now < self.start {
            return None;
        }
        if self.host.connection().is_none() {
            self.connect(now);
        }
        self.settle_paths(now);
        self.write(now);
        let (path, segment) = self.host.poll(now)?;
        if let Some(notes) = &mut self.notes {
            notes.on_datagram(path, &segment.bytes);
        }
        Some(Transmit { path, segment })
    }

    fn next_deadline(&self) -> Time {
        let Stream { written, blocked, .. } = self.stream;
        let next = self.settings.source.next_write(self.start, written);
        let write = next.filter(|_| self.connected && !blocked);
        let timer = self.host.deadline();
        match self.host.connection() {
            None => self.start,
            Some(_) => write.map_or(timer, |write| write.min(timer)),
        }
    }

    fn start(&self) -> Time {
        self.start
    }

    fn completed(&self) -> Option<Time> {
        self.completed
    }

    fn paths(&self) -> usize {
        self.paths.len()
    }

    fn report(&self, path: usize) -> PathReport {
        let Path { wanted, id, past, now, .. } = self.paths[path];
        let counters = past.plus(now);
        let mtu = f64::from(self.settings.mtu());
        let (metrics, rtt) = match (self.host.connection(), id) {
            (Some(connection), Some(id)) => state(connection, id),
            _ => (None, Span::ZERO),
        };
        let initial = self.settings.options.initial_window;
        let ssthresh = metrics.as_ref().and_then(|metrics| metrics.ssthresh);
        PathReport {
            cwnd: metrics.as_ref().map_or(initial, |it| it.congestion_window as f64 / mtu),
            ssthresh: ssthresh
                .filter(|bytes| *bytes != u64::MAX)
                .map_or(f64::INFINITY, |bytes| bytes as f64 / mtu),
            srtt: rtt,
            latest_rtt: rtt,
            member: wanted,
            retransmits: counters.lost,
            recoveries: counters.events,
            undone: counters.spurious,
            ..PathReport::default()
        }
    }

    fn keep_notes(&mut self) {
        self.notes = Some(Box::default());
    }

    fn notes(&mut self) -> Vec<Note> {
        self.notes.as_mut().map_or_else(Vec::new, |notes| notes.take())
    }
}

/// Congestion control and round trip of a path.
fn state(connection: &Connection, id: PathId) -> (Option<ControllerMetrics>, Span) {
    let control = connection.congestion_state(id);
    let rtt = connection.rtt(id).map_or(0, |rtt| rtt.as_nanos() as u64);
    (control.map(|control| control.metrics()), Span(rtt))
}
