//! One connection: both directions of its data, over one subflow of TCP or several of MPTCP.
//!
//! The sending direction is [`transport::tcp::Sender`], the receiving one
//! [`transport::tcp::Receiver`]: the endpoints of every simulation. Here are the bytes, and all
//! that a simulation need not have: handshakes (`opening.rs`), checks of what arrives
//! (`arriving.rs`), packets (`sending.rs`), data that a subflow has acknowledged and the connection
//! has not (`repeating.rs`), MPTCP's signals (`signals.rs`) and the end (`closing.rs`).

mod arriving;
mod closing;
mod opening;
mod repeating;
mod sending;
mod signals;

use crate::inbox::Inbox;
use crate::outbox::Outbox;
use crate::retry::Retry;
use crate::sequence::DataSequence;
use crate::settings::Settings;
use crate::stamps::Stamps;
use crate::subflow::Subflow;
use closing::Closing;
use control::AnyController;
pub(crate) use opening::Chance;
use repeating::Repeating;
pub use signals::Address;
pub(crate) use signals::MPTCP_ERROR;
use signals::Signals;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use transport::tcp::{Receiver, ReceiverSettings, Sender};
use transport::{PathReport, ReceivingEndpoint, SendingEndpoint, Written};
use units::{Span, Time};
use wire::mptcp::{Hash, Keys, initial_data_sequence};
use wire::packet::TooBig;

/// The end that opened the connection, or the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Initiator,
    Responder,
}

/// Why a connection ended before both directions were closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The peer does not accept the connection.
    Refused,
    /// The peer has reset it.
    Reset,
    /// The peer has not answered in time.
    TimedOut,
    /// Data or signals of the peer are not as they must be.
    Broken,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Failure::Refused => "connection refused",
            Failure::Reset => "connection reset by the peer",
            Failure::TimedOut => "connection timed out",
            Failure::Broken => "the peer breaks the protocol",
        })
    }
}

impl std::error::Error for Failure {}

/// The state of MPTCP on a connection that uses it.
#[derive(Debug)]
pub(crate) struct Session {
    /// Key of this host.
    pub(crate) local_key: u64,
    /// Key of the peer; zero before it is known.
    pub(crate) remote_key: u64,
    /// Numbers of the data that this host sends.
    out: DataSequence,
    /// Numbers of the peer's data.
    back: DataSequence,
    /// Whether data has checksums.
    checksums: bool,
    /// Whether a signal of the peer has shown that options pass in both directions (RFC 8684 §3.1).
    confirmed: bool,
    /// Whether the number of the peer's newest data has 64 bits: so must its acknowledgement
    /// (§3.3.2).
    wide: bool,
}

impl Session {
    fn new(local_key: u64, checksums: bool) -> Self {
        let out = DataSequence::after(initial_data_sequence(Hash::Sha256, local_key));
        Session {
            local_key,
            remote_key: 0,
            out,
            back: out,
            checksums,
            confirmed: false,
            wide: false,
        }
    }

    fn set_remote_key(&mut self, key: u64) {
        self.remote_key = key;
        self.back = DataSequence::after(initial_data_sequence(Hash::Sha256, key));
    }

    /// The keys where this host is the one that proves or announces something.
    pub(crate) fn keys(&self) -> Keys {
        Keys { initiator: self.local_key, responder: self.remote_key, hash: Hash::Sha256 }
    }

    /// The keys where the peer is.
    fn keys_of_peer(&self) -> Keys {
        Keys { initiator: self.remote_key, responder: self.local_key, hash: Hash::Sha256 }
    }
}

/// What a read gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// So many bytes, at least one.
    Bytes(usize),
    /// Nothing has arrived yet.
    Nothing,
    /// The peer has closed its direction, and all of its data was read.
    End,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    settings: Arc<Settings>,
    role: Role,
    /// Absent on a connection of plain TCP, and after a fallback to it.
    session: Option<Session>,
    stamps: Stamps,
    subflows: Box<[Option<Subflow>]>,
    /// Absent before the connection is established.
    sender: Option<Sender<AnyController>>,
    receiver: Receiver,
    outbox: Outbox,
    inbox: Inbox,
    /// Bytes that the sender may know of.
    written: Written,
    /// Packets that are ready to leave.
    packets: VecDeque<Vec<u8>>,
    /// Right edge of the receive window that the peer knows.
    announced: u64,
    signals: Signals,
    closing: Closing,
    /// The peer's window is closed and nothing is in flight: when to ask for its size.
    persist: Retry,
    repeating: Repeating,
    /// When the peer last acknowledged something new, or the first of that was sent.
    progress: Time,
    /// When the last packet of the peer arrived, and keep-alive probes since.
    heard: Time,
    probes: u32,
    failure: Option<Failure>,
    /// Closed subflows whose addresses this host has to remember (TIME-WAIT).
    pub(super) retired: Vec<Subflow>,
    /// A subflow was opened or closed, or all is over: the host has to look at the addresses.
    changed: bool,
}

/// RFC 1122 §4.2.3.6 leaves the number of probes open; Linux sends nine.
const KEEP_ALIVE_PROBES: u32 = 9;

/// The time between two of them (Linux).
const KEEP_ALIVE_INTERVAL: Span = Span::millis(75_000);

impl Connection {
    fn new(settings: Arc<Settings>, role: Role, session: Option<Session>, stamps: Stamps) -> Self {
        let slots = settings.slots();
        let options = settings.options.clone();
        let receiver = Receiver::new(ReceiverSettings { options, transit: false }, slots);
        Connection {
            role,
            session,
            stamps,
            subflows: (0..slots).map(|_| None).collect(),
            sender: None,
            receiver,
            outbox: Outbox::new(0, settings.send_buffer),
            inbox: Inbox::default(),
            written: Written::default(),
            packets: VecDeque::new(),
            announced: 0,
            signals: Signals::default(),
            closing: Closing::default(),
            persist: Retry::OFF,
            repeating: Repeating::default(),
            progress: Time::NEVER,
            heard: Time::ZERO,
            probes: 0,
            failure: None,
            retired: Vec::new(),
            changed: true,
            settings,
        }
    }

    /// Whether data may be written and read.
    pub(crate) fn is_established(&self) -> bool {
        self.sender.is_some()
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        self.failure
    }

    /// Whether it uses MPTCP.
    pub(crate) fn is_multipath(&self) -> bool {
        self.session.is_some()
    }

    /// Key of this host, on a connection with MPTCP.
    pub(crate) fn local_key(&self) -> Option<u64> {
        self.session.as_ref().map(|session| session.local_key)
    }

    /// The addresses of the subflows, by slot.
    pub(crate) fn subflows(&self) -> impl Iterator<Item = (usize, &Subflow)> {
        self.subflows.iter().enumerate().filter_map(|(at, it)| Some((at, it.as_ref()?)))
    }

    /// Whether the set of subflows has changed since the last call.
    pub(crate) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Takes as many bytes as there is room for; none once the direction is closed.
    pub(crate) fn write(&mut self, now: Time, bytes: &[u8]) -> usize {
        if self.closing.write_closed || self.failure.is_some() {
            return 0;
        }
        let taken = self.outbox.write(bytes);
        self.tell_sender(now);
        taken
    }

    /// The sender learns of what was written.
    fn tell_sender(&mut self, now: Time) {
        let Some(sender) = &mut self.sender else {
            return;
        };
        if sender.outstanding().is_empty() && self.written.get() < self.outbox.end() {
            self.progress = now;
        }
        self.written.set(self.outbox.end());
        sender.on_written();
    }

    /// Bytes that may be written now.
    pub(crate) fn room(&self) -> usize {
        if self.closing.write_closed || self.failure.is_some() { 0 } else { self.outbox.room() }
    }

    /// Bytes written that the peer's connection has not acknowledged.
    pub(crate) fn unacknowledged(&self) -> u64 {
        let una = self.sender.as_ref().map_or(0, |sender| sender.outstanding().start);
        self.outbox.end() - una
    }

    /// Bytes written that no subflow has sent.
    pub(crate) fn unsent(&self) -> u64 {
        let sent = self.sender.as_ref().map_or(0, |sender| sender.outstanding().end);
        self.outbox.end() - sent
    }

    /// Whether the application has read everything, and was told of the end or the failure.
    pub(crate) fn is_read(&self) -> bool {
        self.closing.told
    }

    /// Bytes of the peer that wait to be read.
    pub(crate) fn readable(&self) -> u64 {
        self.receiver.delivered() - self.inbox.start()
    }

    /// Reads what has arrived in order. A peer whose window was nearly closed learns that it opens.
    ///
    /// # Errors
    /// Why the connection has failed, once everything that had arrived is read.
    pub(crate) fn read(&mut self, now: Time, out: &mut [u8]) -> Result<Read, Failure> {
        match self.inbox.read(self.receiver.delivered(), out) {
            0 if self.closing.peer_closed && self.readable() == 0 => {
                self.closing.told = true;
                Ok(Read::End)
            }
            0 => {
                self.closing.told |= self.failure.is_some();
                self.failure.map_or(Ok(Read::Nothing), Err)
            }
            count => {
                self.tell_window(now);
                Ok(Read::Bytes(count))
            }
        }
    }

    /// Right edge of the receive window: what the application has not read takes its room.
    fn edge(&self) -> u64 {
        self.receiver.edge().min(self.inbox.start() + self.settings.options.receive_buffer.0)
    }

    /// RFC 9293 §3.8.6.2.2: the window is announced again when it has grown by two segments or half
    /// of the buffer, if the peer could be waiting for that.
    fn tell_window(&mut self, now: Time) {
        let left = self.announced.saturating_sub(self.receiver.delivered());
        let buffer = self.settings.options.receive_buffer.0;
        let step = (2 * u64::from(self.settings.options.segment())).min(buffer / 2);
        if left < 2 * step && self.edge() >= self.announced + step {
            let open: Vec<usize> =
                self.subflows().filter(|(_, it)| it.is_open()).map(|(path, _)| path).collect();
            open.into_iter().for_each(|path| self.acknowledge(now, path));
        }
    }

    /// The state of the sending side of a subflow.
    pub(crate) fn report(&self, path: usize) -> Option<PathReport> {
        self.subflows.get(path)?.as_ref()?;
        Some(self.sender.as_ref()?.report(path))
    }

    /// Bytes that a subflow has received, each counted once.
    pub(crate) fn taken(&self, path: usize) -> u64 {
        self.receiver.taken(path)
    }

    /// The next packet to send at `now`.
    pub(crate) fn poll(&mut self, now: Time) -> Option<Vec<u8>> {
        if self.packets.is_empty() {
            self.send_data(now);
            self.advance(now);
        }
        self.packets.pop_front()
    }

    /// When to call [`Connection::on_deadline`].
    pub(crate) fn next_deadline(&self) -> Time {
        let endpoints = match &self.sender {
            Some(sender) => sender.next_deadline().min(self.receiver.next_deadline()),
            None => Time::NEVER,
        };
        let retries = self.subflows().map(|(_, it)| it.retry.at).min().unwrap_or(Time::NEVER);
        let own = [
            self.closing.retry.at,
            self.persist.at,
            self.repeating.retry.at,
            self.signals.retry.at,
            self.patience(),
        ];
        own.into_iter().fold(endpoints.min(retries), Time::min)
    }

    /// When the peer has been silent for too long, or is asked whether it is there.
    fn patience(&self) -> Time {
        let waits = !self.is_established()
            || self.closing.waits()
            || self.outbox.end() > self.sender.as_ref().map_or(0, |it| it.outstanding().start)
            || self.subflows().next().is_none();
        let limit = match self.progress {
            Time::NEVER => Time::NEVER,
            since if waits => since + self.settings.user_timeout,
            _ => Time::NEVER,
        };
        let Some(idle) = self.settings.keep_alive.filter(|_| self.is_established()) else {
            return limit;
        };
        limit.min(self.heard + idle + Span(KEEP_ALIVE_INTERVAL.0 * u64::from(self.probes)))
    }

    /// The deadline of [`Connection::next_deadline`] has come.
    pub(crate) fn on_deadline(&mut self, now: Time) {
        if self.patience() <= now {
            self.lose_patience(now);
        }
        if let Some(sender) = &mut self.sender
            && sender.next_deadline() <= now
        {
            sender.on_deadline(now);
        }
        while self.receiver.next_deadline() <= now {
            let Some(due) = self.receiver.on_deadline(now) else { break };
            self.send_ack(now, due.path, &due.segment);
        }
        self.repeat_handshakes(now);
        self.repeat_signals(now);
        self.look_at_window(now);
        self.look_at_data(now, self.oldest_data());
        self.advance(now);
    }

    fn lose_patience(&mut self, now: Time) {
        let kept_alive = self.settings.keep_alive.is_some_and(|idle| {
            self.probes < KEEP_ALIVE_PROBES
                && self.heard + idle + Span(KEEP_ALIVE_INTERVAL.0 * u64::from(self.probes)) <= now
        });
        let late =
            self.progress < Time::NEVER && now.since(self.progress) >= self.settings.user_timeout;
        if !kept_alive || late {
            return self.fail(now, Failure::TimedOut);
        }
        self.probes += 1;
        let open = self.subflows().find(|(_, it)| it.is_open()).map(|(path, _)| path);
        if let Some(path) = open {
            self.ask(now, path);
        }
    }

    /// The first open subflow that has not failed, or else the first open one.
    fn best(&self) -> Option<usize> {
        let open = || self.subflows().filter(|(_, it)| it.may_send()).map(|(path, _)| path);
        let timeouts = |path: &usize| self.report(*path).map_or(0, |it| u64::from(it.recovering));
        open().min_by_key(timeouts)
    }

    /// A router reports that a packet of `path` was too big: believed if it is under way (RFC 5927
    /// §7).
    pub(crate) fn on_too_big(&mut self, path: usize, report: &TooBig) {
        let (Some(sender), Some(subflow)) = (&self.sender, &mut self.subflows[path]) else {
            return;
        };
        let sent = sender.outstanding_on(path);
        let inside = subflow.out.inside(report.seq, sent.start);
        if inside.is_some_and(|byte| sent.start <= byte && byte < sent.end) {
            subflow.on_mtu(report.mtu);
        }
    }

    /// Subflows that were closed by this end first, since the last call.
    pub(crate) fn take_retired(&mut self) -> Vec<Subflow> {
        std::mem::take(&mut self.retired)
    }
}
