//! An established connection: sessions, paths, the byte sequence in each direction, and streams.

use crate::frame::{self, Frame, LONGEST};
use crate::incoming::Incoming;
use crate::limit::Limit;
use crate::mux::{Mux, Role};
use crate::noise::{Session, TAG_BYTES};
use crate::outgoing::Outgoing;
use crate::path::{Path, Probe};
use crate::route::{Route, Transmit};
use crate::streams::{Gone, Read, Refused, StreamId, Streams};
use crate::violation::Violation;
use crate::{Entropy, Settings, datagram};
use std::collections::VecDeque;
use std::fmt;
use transport::PathReport;
use units::{Span, Time};

/// Acknowledgements of one path that wait for the driver. Older ones are dropped: newer ones say
/// more.
const ANSWERS: usize = 256;
/// Probes, answers and the like that wait for the driver.
const ROUTED: usize = 64;
/// An older session is kept for datagrams that are late.
const OLDER: Span = Span::millis(30_000);
/// Keys that were not renewed in this time are not used any more.
const EXPIRY: Span = Span::millis(300_000);

/// Reasons on the wire.
const CLOSED: u8 = 0;
const VIOLATION: u8 = 1;

/// Why a connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// This end has closed it.
    Here,
    /// The peer has closed it.
    Peer,
    /// Nothing arrived on any path for the time of the settings.
    Timeout,
    /// The peer began a new connection.
    Replaced,
    /// What carried its bytes has ended: it was reset or closed on the way or at the peer.
    Cut,
    /// No handshake was made: the peer does not know this end's key, or has another one.
    Stranger,
    /// The peer broke the rule.
    Violation(&'static str),
}

impl fmt::Display for Closed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Closed::Here => out.write_str("it was closed here"),
            Closed::Peer => out.write_str("the peer closed it"),
            Closed::Timeout => out.write_str("the peer was silent on all paths"),
            Closed::Replaced => out.write_str("the peer began a new connection"),
            Closed::Cut => out.write_str("what carried it was reset or closed"),
            Closed::Stranger => out.write_str("no handshake: one of the keys is not the right one"),
            Closed::Violation(what) => write!(out, "the peer broke the protocol: {what}"),
        }
    }
}

/// A path as its connection sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathStatus {
    /// Where its datagrams go; none before the first answer.
    pub route: Option<Route>,
    /// Whether it answers.
    pub works: bool,
    /// The state of the sending endpoint.
    pub report: PathReport,
    /// Bytes of datagrams that left.
    pub sent: u64,
    /// Bytes of datagrams that arrived and were the peer's.
    pub received: u64,
}

/// Beginning of a connection.
pub(crate) struct Start {
    pub(crate) role: Role,
    pub(crate) session: Session,
    pub(crate) paths: Vec<Path>,
    /// The path of the handshake.
    pub(crate) first: usize,
    /// The peer's buffer in bytes.
    pub(crate) buffer: u32,
}

/// An established connection.
#[derive(Debug)]
pub struct Connection {
    settings: Settings,
    current: Session,
    older: Option<Session>,
    /// The responder's next session, until the initiator uses it.
    newer: Option<Session>,
    paths: Vec<Path>,
    outgoing: Outgoing,
    incoming: Incoming,
    mux: Mux,
    /// Encoded acknowledgements of each path.
    answers: Vec<VecDeque<Vec<u8>>>,
    /// Encoded frames for a route of a path.
    routed: VecDeque<(usize, Route, Vec<u8>)>,
    traffic: Vec<[u64; 2]>,
    heard: Time,
    limit: Option<Limit>,
    closed: Option<Closed>,
}

impl Connection {
    /// `None` if the controller does not run here.
    pub(crate) fn new(settings: &Settings, start: Start, now: Time) -> Option<Self> {
        let Start { role, session, paths, first, buffer } = start;
        let count = paths.len();
        let outgoing = Outgoing::new(settings, (count, first), buffer.min(settings.buffer), now)?;
        Some(Connection {
            current: session,
            older: None,
            newer: None,
            outgoing,
            incoming: Incoming::new(settings, count),
            mux: Mux::new(role, settings.streams, settings.pool),
            answers: vec![VecDeque::new(); count],
            routed: VecDeque::new(),
            traffic: vec![[0; 2]; count],
            heard: now,
            limit: settings.rate.map(Limit::new),
            closed: None,
            paths,
            settings: settings.clone(),
        })
    }

    /// Why it has ended, if it has.
    pub fn closed(&self) -> Option<Closed> {
        self.closed
    }

    /// Streams that are open.
    pub fn streams(&self) -> usize {
        self.mux.len()
    }

    /// Whether something that was written, and that the peer permits, has not left yet.
    pub fn has_unsent(&self) -> bool {
        self.outgoing.has_unsent() || self.mux.has_something()
    }

    /// Whether the peer has not acknowledged all that was written.
    pub fn is_busy(&self) -> bool {
        self.outgoing.is_busy() || self.mux.has_backlog()
    }

    /// Its paths.
    pub fn paths(&self) -> impl Iterator<Item = PathStatus> + '_ {
        self.paths.iter().zip(&self.traffic).enumerate().map(|(number, (path, traffic))| {
            PathStatus {
                route: path.route,
                works: path.works,
                report: self.outgoing.report(number),
                sent: traffic[0],
                received: traffic[1],
            }
        })
    }

    /// Ends the connection: the peer is told, and all streams are gone.
    pub fn close(&mut self) {
        self.end(Closed::Here, Some(CLOSED));
    }

    pub(crate) fn end(&mut self, why: Closed, tell: Option<u8>) {
        if self.closed.is_some() {
            return;
        }
        self.closed = Some(why);
        self.mux.end();
        self.routed.clear();
        self.answers.iter_mut().for_each(VecDeque::clear);
        for (number, path) in self.paths.iter().enumerate() {
            if let (Some(reason), Some(route)) = (tell, path.route) {
                let mut bytes = Vec::new();
                Frame::Close(reason).encode(&mut bytes);
                self.routed.push_back((number, route, bytes));
            }
        }
    }

    /// The numbers of its sessions at this end.
    pub(crate) fn holds(&self, id: u32) -> bool {
        let all = [Some(&self.current), self.older.as_ref(), self.newer.as_ref()];
        all.into_iter().flatten().any(|session| session.ids.own == id)
    }

    /// The peer's number of the current session.
    pub(crate) fn peers_id(&self) -> u32 {
        self.current.ids.peers
    }

    /// When the current keys are from.
    pub(crate) fn keys_from(&self) -> Time {
        self.current.born
    }

    /// A session to use when the peer does.
    pub(crate) fn offer_session(&mut self, session: Session) {
        self.newer = Some(session);
    }

    /// A session to use from now on.
    pub(crate) fn use_session(&mut self, session: Session) {
        self.older = Some(std::mem::replace(&mut self.current, session));
    }

    fn open(&mut self, to: u32, nonce: u64, body: &[u8]) -> Option<(usize, Vec<u8>)> {
        if self.current.ids.own == to {
            return self.current.open(nonce, body);
        }
        if let Some(newer) = self.newer.as_mut().filter(|session| session.ids.own == to) {
            let opened = newer.open(nonce, body)?;
            if let Some(newer) = self.newer.take() {
                self.use_session(newer);
            }
            return Some(opened);
        }
        self.older.as_mut().filter(|session| session.ids.own == to)?.open(nonce, body)
    }

    /// A sealed datagram arrived. Returns whether it is the peer's; otherwise nothing changes.
    pub(crate) fn on_sealed(
        &mut self,
        now: Time,
        route: Route,
        (to, nonce, body): (u32, u64, &[u8]),
        entropy: &mut dyn Entropy,
    ) -> bool {
        if self.closed.is_some() {
            return false;
        }
        let Some((path, frames)) = self.open(to, nonce, body) else { return false };
        self.on_opened(now, route, (path, &frames), entropy);
        true
    }

    /// The peer has sent these frames on `path`.
    pub(crate) fn on_opened(
        &mut self,
        now: Time,
        route: Route,
        (path, frames): (usize, &[u8]),
        entropy: &mut dyn Entropy,
    ) {
        if path >= self.paths.len() {
            return; // it was not agreed on
        }
        self.heard = now;
        self.traffic[path][1] += (datagram::SEALED_HEADER + frames.len() + TAG_BYTES) as u64;
        if let Some(probe) = self.paths[path].on_datagram(now, route, entropy) {
            self.send_probe(path, probe);
        }
        let outcome = frame::frames(frames).try_for_each(|frame| {
            self.on_frame(now, (path, route), frame.ok_or(Violation::Frame)?)
        });
        if let Err(violation) = outcome.and_then(|()| self.deliver()) {
            self.end(Closed::Violation(violation.says()), Some(VIOLATION));
        }
    }

    /// Gives the streams the bytes that are in order.
    fn deliver(&mut self) -> Result<(), Violation> {
        while let Some(bytes) = self.incoming.take() {
            self.mux.on_bytes(&bytes)?;
        }
        Ok(())
    }

    fn on_frame(
        &mut self,
        now: Time,
        (path, route): (usize, Route),
        frame: Frame<'_>,
    ) -> Result<(), Violation> {
        let answer = match frame {
            Frame::Combination { start, stamp, what, symbol } => {
                let incoming = &mut self.incoming;
                incoming
                    .on_combination(now, path, (start, stamp), (what, symbol))?
                    .map(Frame::CodedAck)
            }
            Frame::Data { start, data, payload } => {
                self.incoming.on_data(now, path, start, (&data, payload))?.map(Frame::Ack)
            }
            Frame::CodedAck(ack) => {
                self.outgoing.on_coded_ack(now, path, &ack);
                None
            }
            Frame::Ack(ack) => {
                self.outgoing.on_ack(now, path, &ack);
                None
            }
            Frame::Timed { start, data, payload } => {
                self.incoming.on_timed(now, path, start, (&data, payload))?;
                None
            }
            Frame::Report(report) => {
                self.outgoing.on_report(now, path, &report);
                None
            }
            Frame::Probe(token) => {
                self.send_routed(path, route, &Frame::Answer(token));
                None
            }
            Frame::Answer(token) => {
                if self.paths[path].on_answer(now, route, token) {
                    self.outgoing.join(path);
                }
                None
            }
            Frame::Close(_) => {
                self.end(Closed::Peer, None);
                None
            }
        };
        if let Some(answer) = answer {
            self.queue_answer(path, &answer);
        }
        Ok(())
    }

    fn queue_answer(&mut self, path: usize, answer: &Frame<'_>) {
        let queue = &mut self.answers[path];
        if queue.len() >= ANSWERS {
            queue.pop_front();
        }
        let mut bytes = Vec::with_capacity(LONGEST);
        answer.encode(&mut bytes);
        queue.push_back(bytes);
    }

    fn send_routed(&mut self, path: usize, route: Route, frame: &Frame<'_>) {
        if self.routed.len() < ROUTED {
            let mut bytes = Vec::new();
            frame.encode(&mut bytes);
            self.routed.push_back((path, route, bytes));
        }
    }

    fn send_probe(&mut self, path: usize, Probe { route, token }: Probe) {
        self.send_routed(path, route, &Frame::Probe(token));
    }

    /// The local address of `path` has changed: it is used again when the peer answers there.
    /// `None`: it has none for now.
    pub(crate) fn rebind(&mut self, path: usize, route: Option<Route>) {
        if let Some(own) = self.paths.get_mut(path) {
            own.rebind(route);
            self.outgoing.leave(path);
        }
    }

    /// When to call [`Connection::on_deadline`], or to poll again.
    pub(crate) fn next_deadline(&self) -> Time {
        if self.closed.is_some() {
            return Time::NEVER;
        }
        let busy = self.outgoing.is_busy();
        let probe = |path: &Path| path.next_probe(self.settings.keep_alive, busy);
        let probes = self.paths.iter().map(probe).min().unwrap_or(Time::NEVER);
        let held = self.limit.map_or(Time::NEVER, |limit| limit.next_deadline());
        let silent = self.heard + self.settings.timeout;
        let ends = self.outgoing.next_deadline().min(self.incoming.next_deadline());
        ends.min(probes).min(held).min(silent)
    }

    pub(crate) fn on_deadline(&mut self, now: Time, entropy: &mut dyn Entropy) {
        if self.closed.is_some() {
            return;
        }
        let expired = now.since(self.current.born) >= EXPIRY;
        if now.since(self.heard) >= self.settings.timeout || expired {
            return self.end(Closed::Timeout, Some(CLOSED));
        }
        if now.since(self.current.born) >= OLDER {
            self.older = None;
        }
        let (keep_alive, busy) = (self.settings.keep_alive, self.outgoing.is_busy());
        for number in 0..self.paths.len() {
            if self.paths[number].next_probe(keep_alive, busy) > now {
                continue;
            }
            if let Some(probe) = self.paths[number].probe(now, keep_alive, entropy) {
                self.send_probe(number, probe);
            }
            if !self.paths[number].works {
                self.outgoing.leave(number);
            }
        }
        self.outgoing.on_deadline(now);
    }

    /// The next datagram to send; call until `None`.
    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        if let Some((path, route, frames)) = self.routed.pop_front() {
            return Some(self.seal(path, route, &frames));
        }
        if self.closed.is_some() {
            return None;
        }
        while let Some((path, report)) = self.incoming.report(now) {
            self.queue_answer(path, &Frame::Report(report));
        }
        if let Some(transmit) = self.poll_answers() {
            return Some(transmit);
        }
        self.pump();
        if self.limit.as_mut().is_some_and(|limit| limit.holds(now)) {
            return None;
        }
        match self.outgoing.poll(now) {
            Ok(None) => None,
            Ok(Some((path, frame))) => {
                let route = self.paths[path].route?;
                let transmit = self.seal(path, route, &frame);
                if let Some(limit) = &mut self.limit {
                    limit.on_sent(now, transmit.bytes.len());
                }
                Some(transmit)
            }
            Err(violation) => {
                self.end(Closed::Violation(violation.says()), Some(VIOLATION));
                self.poll_transmit(now)
            }
        }
    }

    /// Moves what streams have written to the endpoint, as far as that has room.
    fn pump(&mut self) {
        let room = self.outgoing.room();
        self.mux.fill(room, self.outgoing.buffer());
        self.outgoing.reveal();
    }

    /// Acknowledgements of one path, as many as a datagram takes.
    fn poll_answers(&mut self) -> Option<Transmit> {
        let waits = |number: usize| !self.answers[number].is_empty();
        let routed = |number: usize| Some((number, self.paths[number].route?));
        let (number, route) = (0..self.paths.len()).filter(|at| waits(*at)).find_map(routed)?;
        let most = self.settings.datagram - datagram::SEALED_HEADER - TAG_BYTES;
        let mut frames = Vec::with_capacity(most);
        while let Some(next) = self.answers[number].front()
            && frames.len() + next.len() <= most
        {
            frames.extend(next);
            self.answers[number].pop_front();
        }
        Some(self.seal(number, route, &frames))
    }

    fn seal(&mut self, path: usize, route: Route, frames: &[u8]) -> Transmit {
        let bytes = self.current.seal(path, frames);
        self.traffic[path][0] += bytes.len() as u64;
        Transmit { route, bytes }
    }

    /// Whether `path` is a member of the connection at this end.
    #[cfg(test)]
    pub(crate) fn is_member(&self, path: usize) -> bool {
        self.outgoing.is_member(path)
    }

    /// Unread bytes and backlogs of all streams.
    #[cfg(test)]
    pub(crate) fn stream_bytes(&self) -> usize {
        self.mux.bytes()
    }
}

impl Streams for Connection {
    fn open(&mut self, request: &[u8]) -> Result<StreamId, Refused> {
        match self.closed {
            None => self.mux.open(request),
            Some(_) => Err(Refused::Closed),
        }
    }

    fn accept(&mut self) -> Option<(StreamId, Vec<u8>)> {
        self.mux.accept()
    }

    fn waiting(&self) -> usize {
        self.mux.waiting()
    }

    fn write(&mut self, stream: StreamId, bytes: &[u8]) -> Result<usize, Gone> {
        self.mux.write(stream, bytes)
    }

    fn finish(&mut self, stream: StreamId) {
        self.mux.finish(stream);
    }

    fn read(&mut self, stream: StreamId, bytes: &mut [u8]) -> Result<Read, Gone> {
        self.mux.read(stream, bytes)
    }

    fn reset(&mut self, stream: StreamId) {
        self.mux.reset(stream);
    }

    fn changed(&mut self) -> Option<StreamId> {
        self.mux.changed()
    }
}
