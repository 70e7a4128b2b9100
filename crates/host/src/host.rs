//! A host: connections, listeners, and which packet belongs to which.

use crate::connection::{Address, Chance, Connection, Failure, MPTCP_ERROR, Read};
use crate::settings::{MTU, SUBFLOWS, Settings};
use crate::stamps::Stamps;
use control::AnyController;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::net::Ipv4Addr;
use std::sync::Arc;
use transport::PathReport;
use units::{InvalidParameter, Time, ensure};
use wire::mptcp::{Hash, Mptcp, token};
use wire::packet::{Ecn, Endpoint, Received, TcpSegment, TooBig};
use wire::tcp::TcpOption;

/// Names a connection; it is not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(u64);

/// Both ends of a subflow: this host's, and the peer's.
type Ends = (Endpoint, Endpoint);

/// Why a connection could not be begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unready {
    /// The addresses are in use by a connection, or by one that has just ended.
    InUse,
    /// There are as many connections as the settings permit.
    Full,
    /// There is no such connection, it has no free slot, or the peer takes no more subflows.
    NotNow,
}

impl fmt::Display for Unready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unready::InUse => "the address and port are in use",
            Unready::Full => "no more connections: raise `connections`",
            Unready::NotNow => "the connection takes no further subflow now",
        })
    }
}

impl std::error::Error for Unready {}

/// A subflow of the past: late packets are answered, and its addresses are not used again (RFC 9293
/// §3.6.1).
#[derive(Debug)]
struct Past {
    until: Time,
    seq: u32,
    ack: u32,
}

/// Most subflows of the past that are remembered; the oldest is forgotten first.
const PAST: usize = 65_536;

/// A host on the wire.
pub struct Host {
    settings: Arc<Settings>,
    random: Box<dyn FnMut() -> u64 + Send>,
    connections: BTreeMap<Id, Connection>,
    next: u64,
    ends: BTreeMap<Ends, (Id, usize)>,
    /// The keys of a connection in `ends`.
    held: BTreeMap<Id, Vec<Ends>>,
    tokens: BTreeMap<u32, Id>,
    listening: BTreeSet<u16>,
    /// Connections that peers have begun and that are not established.
    half_open: BTreeSet<Id>,
    accepted: VecDeque<Id>,
    /// Connections that may have a packet to send.
    busy: VecDeque<Id>,
    /// The same as a set.
    queued: BTreeSet<Id>,
    deadlines: BTreeMap<Id, Time>,
    agenda: BTreeSet<(Time, Id)>,
    past: BTreeMap<Ends, Past>,
    past_order: VecDeque<Ends>,
    /// Resets for packets that belong to nothing.
    resets: VecDeque<Vec<u8>>,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("connections", &self.connections.len()).finish()
    }
}

/// Resets that wait to be sent; beyond that, packets that belong to nothing are ignored.
const RESETS: usize = 64;

impl Host {
    /// A host with random numbers from `random`, which nobody else may be able to guess.
    ///
    /// # Errors
    /// The setting that is out of range.
    pub fn new(
        settings: Settings,
        random: impl FnMut() -> u64 + Send + 'static,
    ) -> Result<Self, InvalidParameter> {
        SUBFLOWS.check("subflows", &settings.subflows)?;
        MTU.check("mtu", &settings.mtu)?;
        let right = "a slot of the connection: below `subflows`";
        ensure(settings.base < settings.subflows, "base", settings.base, right)?;
        settings.options.check()?;
        let known =
            AnyController::new(&settings.controller, settings.options.control(0), 2).is_some();
        let right = "a controller of the laboratory: the kernel's and QUIC's own run only there";
        ensure(known, "controller", &settings.controller, right)?;
        let right = "a controller of ACKs: receivers of TCP send no reports as TFRC's do";
        ensure(!settings.controller.needs().reports, "controller", &settings.controller, right)?;
        Ok(Host {
            settings: Arc::new(settings),
            random: Box::new(random),
            connections: BTreeMap::new(),
            next: 0,
            ends: BTreeMap::new(),
            held: BTreeMap::new(),
            tokens: BTreeMap::new(),
            listening: BTreeSet::new(),
            half_open: BTreeSet::new(),
            accepted: VecDeque::new(),
            busy: VecDeque::new(),
            queued: BTreeSet::new(),
            deadlines: BTreeMap::new(),
            agenda: BTreeSet::new(),
            past: BTreeMap::new(),
            past_order: VecDeque::new(),
            resets: VecDeque::new(),
        })
    }

    /// Accepts connections to `port`, on every address that packets arrive for.
    pub fn listen(&mut self, port: u16) {
        self.listening.insert(port);
    }

    /// The next connection that a peer has opened.
    pub fn accept(&mut self) -> Option<Id> {
        self.accepted.pop_front()
    }

    fn chance(&mut self) -> Chance {
        let drawn = (self.random)();
        Chance { iss: drawn as u32, nonce: (drawn >> 32) as u32 }
    }

    /// A key whose token no other connection has (RFC 8684 §3.1).
    fn key(&mut self) -> Option<u64> {
        if !self.settings.multipath {
            return None;
        }
        loop {
            let key = (self.random)();
            if !self.tokens.contains_key(&token(Hash::Sha256, key)) {
                return Some(key);
            }
        }
    }

    /// Opens a connection from `local` to `remote`.
    ///
    /// # Errors
    /// Why it cannot be begun.
    pub fn connect(&mut self, now: Time, local: Endpoint, remote: Endpoint) -> Result<Id, Unready> {
        self.check_free((local, remote))?;
        if self.connections.len() >= self.settings.connections {
            return Err(Unready::Full);
        }
        let (key, chance) = (self.key(), self.chance());
        let stamps = Stamps::new((self.random)() as u32);
        let settings = self.settings.clone();
        let connection = Connection::open(settings, now, (local, remote), key, stamps, chance);
        Ok(self.add(connection))
    }

    fn check_free(&self, ends: Ends) -> Result<(), Unready> {
        let used = self.ends.contains_key(&ends) || self.past.contains_key(&ends);
        if used { Err(Unready::InUse) } else { Ok(()) }
    }

    fn add(&mut self, connection: Connection) -> Id {
        let id = Id(self.next);
        self.next += 1;
        if let Some(key) = connection.local_key() {
            self.tokens.insert(token(Hash::Sha256, key), id);
        }
        self.connections.insert(id, connection);
        self.touch(id);
        id
    }

    /// Asks for a further subflow of `id` from `local` to `remote`, whose addresses have these
    /// identifiers. Only the end that opened the connection may ask.
    ///
    /// # Errors
    /// Why it cannot be begun.
    pub fn join(
        &mut self,
        now: Time,
        id: Id,
        (local, remote): (Endpoint, Endpoint),
        ids: [u8; 2],
        backup: bool,
    ) -> Result<usize, Unready> {
        self.check_free((local, remote))?;
        let chance = self.chance();
        let connection = self.connections.get_mut(&id).ok_or(Unready::NotNow)?;
        let path = connection.join(now, (local, remote), ids, backup, chance);
        self.touch(id);
        path.ok_or(Unready::NotNow)
    }

    /// Calls `work` with a connection, and looks at what has changed.
    fn with<T>(&mut self, id: Id, work: impl FnOnce(&mut Connection) -> T) -> Option<T> {
        let done = work(self.connections.get_mut(&id)?);
        self.touch(id);
        Some(done)
    }

    /// Tells the peer of an address of this host.
    pub fn announce(&mut self, now: Time, id: Id, name: u8, address: Ipv4Addr, port: Option<u16>) {
        self.with(id, |it| it.announce(now, name, address, port));
    }

    /// Withdraws an address of this host, and closes the subflows from it.
    pub fn withdraw(&mut self, now: Time, id: Id, name: u8) {
        self.with(id, |it| it.withdraw(now, name));
    }

    /// The next address of which the peer has told.
    pub fn poll_address(&mut self, id: Id) -> Option<Address> {
        self.connections.get_mut(&id)?.poll_address()
    }

    /// Makes a subflow a backup, or an equal of the others.
    pub fn set_backup(&mut self, now: Time, id: Id, path: usize, backup: bool) {
        self.with(id, |it| it.set_backup(now, path, backup));
    }

    /// Writes as many bytes as there is room for, and returns how many.
    pub fn write(&mut self, now: Time, id: Id, bytes: &[u8]) -> usize {
        self.with(id, |it| it.write(now, bytes)).unwrap_or(0)
    }

    /// Bytes that may be written now.
    pub fn room(&self, id: Id) -> usize {
        self.connections.get(&id).map_or(0, Connection::room)
    }

    /// Bytes written that the peer has not acknowledged.
    pub fn unacknowledged(&self, id: Id) -> u64 {
        self.connections.get(&id).map_or(0, Connection::unacknowledged)
    }

    /// Bytes written that no subflow has sent.
    pub fn unsent(&self, id: Id) -> u64 {
        self.connections.get(&id).map_or(0, Connection::unsent)
    }

    /// Reads what has arrived in order.
    ///
    /// # Errors
    /// Why the connection has failed.
    pub fn read(&mut self, now: Time, id: Id, out: &mut [u8]) -> Result<Read, Failure> {
        self.with(id, |it| it.read(now, out)).unwrap_or(Err(Failure::Reset))
    }

    /// Bytes that wait to be read.
    pub fn readable(&self, id: Id) -> u64 {
        self.connections.get(&id).map_or(0, Connection::readable)
    }

    /// Ends this host's direction of a connection.
    pub fn close(&mut self, now: Time, id: Id) {
        self.with(id, |it| it.close(now));
    }

    /// Drops a connection.
    pub fn abort(&mut self, now: Time, id: Id) {
        self.with(id, |it| it.abort(now));
    }

    /// Whether data may be written and read.
    pub fn is_established(&self, id: Id) -> bool {
        self.connections.get(&id).is_some_and(Connection::is_established)
    }

    /// Whether the connection uses MPTCP.
    pub fn is_multipath(&self, id: Id) -> bool {
        self.connections.get(&id).is_some_and(Connection::is_multipath)
    }

    /// Whether the connection is forgotten: it has ended or failed, and [`Host::read`] has said so;
    /// or [`Host::forget`] was called.
    pub fn is_over(&self, id: Id) -> bool {
        !self.connections.contains_key(&id)
    }

    /// Why the connection has failed, if it has.
    pub fn failure(&self, id: Id) -> Option<Failure> {
        self.connections.get(&id)?.failure()
    }

    /// Forgets a connection that has failed or ended; another one is dropped.
    pub fn forget(&mut self, now: Time, id: Id) {
        if self.connections.get(&id).is_some_and(|it| !it.is_over()) {
            self.abort(now, id);
            while let Some(packet) = self.connections.get_mut(&id).and_then(|it| it.poll(now)) {
                self.resets.push_back(packet);
            }
        }
        self.remove(id);
    }

    /// The addresses of the subflows of a connection, by slot, and the state of each sender.
    pub fn subflows(&self, id: Id) -> Vec<(usize, Endpoint, Endpoint, PathReport)> {
        let Some(connection) = self.connections.get(&id) else { return Vec::new() };
        let with_report = connection.subflows().filter(|(_, it)| it.is_open());
        with_report
            .map(|(path, it)| {
                (path, it.local, it.remote, connection.report(path).unwrap_or_default())
            })
            .collect()
    }

    /// Bytes that a subflow has received, each counted once.
    pub fn taken(&self, id: Id, path: usize) -> u64 {
        self.connections.get(&id).map_or(0, |it| it.taken(path))
    }

    /// An IP packet arrived. Packets that are not TCP over IPv4, or not intact, change nothing.
    pub fn on_packet(&mut self, now: Time, packet: &[u8]) {
        let Some(received) = Received::read(packet) else {
            if let Some(report) = TooBig::read(packet) {
                self.on_too_big(&report);
            }
            return;
        };
        let segment = &received.segment;
        let ends = (segment.to, segment.from);
        if let Some(&(id, path)) = self.ends.get(&ends) {
            self.with(id, |it| it.on_segment(now, path, &received));
            return;
        }
        if let Some(past) = self.past.get(&ends) {
            let answer = past_answer(past, segment);
            if answer.is_some() || !segment.syn {
                self.resets.extend(answer);
                return;
            }
            self.past.remove(&ends); // a new connection with the old addresses (RFC 9293 §3.10.7.4)
        }
        match segment.syn && segment.ack.is_none() && !segment.reset {
            true => self.on_request(now, segment),
            false => self.refuse(&received),
        }
    }

    /// A SYN for no subflow that exists.
    fn on_request(&mut self, now: Time, syn: &TcpSegment) {
        let join = syn.options.iter().find_map(|option| match option {
            TcpOption::Mptcp(Mptcp::JoinRequest { token, .. }) => Some(*token),
            _ => None,
        });
        if let Some(token) = join {
            let chance = self.chance();
            let id = self.tokens.get(&token).copied();
            let granted = id.is_some_and(|id| {
                self.with(id, |it| it.grant_join(now, syn, chance)).unwrap_or(false)
            });
            if !granted {
                // RFC 8684 §3.2: an unknown token is reset.
                let why = Mptcp::Reset { flags: 0, reason: MPTCP_ERROR };
                self.reset_syn(syn, vec![TcpOption::Mptcp(why)]);
            }
            return;
        }
        if !self.listening.contains(&syn.to.port) {
            return self.reset_syn(syn, Vec::new());
        }
        let full = self.half_open.len() >= self.settings.backlog
            || self.connections.len() >= self.settings.connections;
        if full {
            return; // the peer asks again
        }
        let (key, chance) = (self.key(), self.chance());
        let stamps = Stamps::new((self.random)() as u32);
        let connection = Connection::grant(self.settings.clone(), now, syn, key, stamps, chance);
        let id = self.add(connection);
        self.half_open.insert(id);
    }

    /// RFC 9293 §3.10.7.1: a packet that belongs to nothing is reset, unless it is a reset.
    fn refuse(&mut self, received: &Received<'_>) {
        let segment = &received.segment;
        if segment.reset {
            return;
        }
        match segment.ack {
            Some(ack) => self.reset(segment, ack, None, Vec::new()),
            None => {
                let end = segment.seq.wrapping_add(received.sequence_bytes());
                self.reset(segment, 0, Some(end), Vec::new());
            }
        }
    }

    fn reset_syn(&mut self, syn: &TcpSegment, options: Vec<TcpOption>) {
        self.reset(syn, 0, Some(syn.seq.wrapping_add(1)), options);
    }

    fn reset(&mut self, segment: &TcpSegment, seq: u32, ack: Option<u32>, options: Vec<TcpOption>) {
        if self.resets.len() < RESETS {
            let answer = TcpSegment { reset: true, options, ..bare(segment, seq, ack) };
            self.resets.push_back(answer.encode(&[]));
        }
    }

    /// A router reports a packet that was too big: believed only for a packet under way.
    fn on_too_big(&mut self, report: &TooBig) {
        if let Some(&(id, path)) = self.ends.get(&(report.from, report.to))
            && let Some(connection) = self.connections.get_mut(&id)
        {
            connection.on_too_big(path, report);
        }
    }

    /// The next packet to send; call until `None`, after every other call.
    pub fn poll(&mut self, now: Time) -> Option<Vec<u8>> {
        while let Some(id) = self.busy.front().copied() {
            if let Some(packet) = self.connections.get_mut(&id).and_then(|it| it.poll(now)) {
                self.busy.rotate_left(1); // the connections take turns
                return Some(packet);
            }
            self.settle(now, id);
            self.busy.pop_front();
            self.queued.remove(&id);
        }
        // A reset does not overtake the last packets of a subflow that has ended.
        self.resets.pop_front()
    }

    /// When to call [`Host::on_deadline`].
    pub fn next_deadline(&self) -> Time {
        let past = self.past_order.front().and_then(|ends| self.past.get(ends));
        let past = past.map_or(Time::NEVER, |past| past.until);
        self.agenda.first().map_or(Time::NEVER, |(at, _)| *at).min(past)
    }

    /// The deadline of [`Host::next_deadline`] has come.
    pub fn on_deadline(&mut self, now: Time) {
        while let Some((_, id)) = self.agenda.first().copied().filter(|(at, _)| *at <= now) {
            self.agenda.pop_first();
            self.deadlines.remove(&id);
            self.with(id, |it| it.on_deadline(now));
        }
        while let Some(ends) = self.past_order.front() {
            if self.past.get(ends).is_some_and(|past| past.until > now) {
                break;
            }
            self.past.remove(ends);
            self.past_order.pop_front();
        }
    }

    /// `id` may have packets to send, or other subflows.
    fn touch(&mut self, id: Id) {
        if self.queued.insert(id) {
            self.busy.push_back(id);
        }
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if connection.is_established() && self.half_open.remove(&id) {
            self.accepted.push_back(id);
        }
        if !connection.take_changed() {
            return;
        }
        let paths = connection.subflows().map(|(path, it)| ((it.local, it.remote), path));
        let paths: Vec<_> = paths.collect();
        self.release(id);
        self.held.insert(id, paths.iter().map(|(ends, _)| *ends).collect());
        self.ends.extend(paths.into_iter().map(|(ends, path)| (ends, (id, path))));
    }

    /// No address belongs to `id` any more.
    fn release(&mut self, id: Id) {
        for ends in self.held.remove(&id).into_iter().flatten() {
            self.ends.remove(&ends);
        }
    }

    /// `id` has no packet to send now: sets its deadline, and forgets it if it is over.
    fn settle(&mut self, now: Time, id: Id) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        for subflow in connection.take_retired() {
            let ends = (subflow.local, subflow.remote);
            let (until, seq) = (now + self.settings.time_wait, subflow.last_sequence());
            let ack = subflow.back.wire(subflow.last_ack);
            self.past.insert(ends, Past { until, seq, ack });
            self.past_order.push_back(ends);
            if self.past_order.len() > PAST
                && let Some(oldest) = self.past_order.pop_front()
            {
                self.past.remove(&oldest);
            }
        }
        self.touch(id);
        let Some(connection) = self.connections.get(&id) else { return };
        let unseen = self.half_open.contains(&id);
        if connection.is_over() && (unseen || connection.is_read()) {
            return self.remove(id);
        }
        let at = connection.next_deadline();
        if let Some(before) = self.deadlines.insert(id, at) {
            self.agenda.remove(&(before, id));
        }
        if at < Time::NEVER {
            self.agenda.insert((at, id));
        }
    }

    fn remove(&mut self, id: Id) {
        let Some(connection) = self.connections.remove(&id) else { return };
        if let Some(key) = connection.local_key() {
            self.tokens.remove(&token(Hash::Sha256, key));
        }
        self.release(id);
        self.half_open.remove(&id);
        if let Some(at) = self.deadlines.remove(&id) {
            self.agenda.remove(&(at, id));
        }
    }

    /// Number of connections, in any state.
    pub fn len(&self) -> usize {
        self.connections.len()
    }

    /// Whether there is no connection.
    pub fn is_empty(&self) -> bool {
        self.connections.is_empty()
    }
}

/// RFC 9293 §3.10.7.4, TIME-WAIT: a late FIN is acknowledged; a SYN that is newer opens a new
/// connection, for which there is no answer here.
fn past_answer(past: &Past, segment: &TcpSegment) -> Option<Vec<u8>> {
    let newer = segment.syn && (segment.seq.wrapping_sub(past.ack) as i32) > 0;
    let silent = segment.reset || newer || !(segment.fin || segment.syn);
    (!silent).then(|| bare(segment, past.seq, Some(past.ack)).encode(&[]))
}

/// A segment without options that answers `segment`.
fn bare(segment: &TcpSegment, seq: u32, ack: Option<u32>) -> TcpSegment {
    TcpSegment {
        from: segment.to,
        to: segment.from,
        id: 0,
        ecn: Ecn::None,
        seq,
        ack,
        syn: false,
        fin: false,
        reset: false,
        echo: false,
        reduced: false,
        window: 0,
        options: Vec::new(),
    }
}
