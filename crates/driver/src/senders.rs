//! The senders of a class: its users' connections, what they write, and when paths come and go.

use host::{Host, Id, Settings};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use scenario::{Class, PlanPath};
use std::net::Ipv4Addr;
use transport::PathReport;
use units::{InvalidParameter, Span, Time};
use wire::packet::Endpoint;

/// Interval at which applications write, and paths join.
pub(crate) const TICK: Span = Span::millis(5);

/// Port of user 0 on each of its addresses.
const FIRST_PORT: u16 = 20_000;

/// Bytes that MPTCP's options take of a segment, at most.
const OPTIONS: u64 = 40;

/// What users write; nobody reads its content.
static CHUNK: [u8; 65_536] = [0; 65_536];

/// The ends of a class.
#[derive(Clone, Debug)]
pub struct Endpoints {
    /// Index of the class in the plan.
    pub class: usize,
    /// The address from which packets of each path are sent.
    pub addresses: Vec<Ipv4Addr>,
    /// The address of the servers; user `u` has the port `first_port + u` there.
    pub server: Ipv4Addr,
    /// The port of user 0's server.
    pub first_port: u16,
    /// When each user starts.
    pub starts: Vec<Span>,
    /// Bytes that a user writes ahead of acknowledgement, at most.
    pub send_buffer: usize,
}

/// The state of a user.
#[derive(Clone, Debug)]
pub struct UserState {
    /// Index of the class in the plan.
    pub class: usize,
    /// Its number in its class.
    pub user: usize,
    /// Each open path: its index, its sender's state, and whether it has room but no data.
    pub paths: Vec<(usize, PathReport, bool)>,
    /// When the whole transfer was acknowledged, if it was.
    pub completed: Option<Time>,
    /// What went wrong; empty if nothing did.
    pub trouble: String,
}

/// Whether a path was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    Awaited,
    There,
    Gone,
}

#[derive(Debug)]
struct User {
    start: Time,
    id: Option<Id>,
    paths: Vec<Presence>,
    /// Bytes written.
    written: u64,
    /// Whether the peer has acknowledged the first of them.
    confirmed: bool,
    completed: Option<Time>,
    left: bool,
    trouble: String,
}

impl User {
    /// Its connection, while there is something to do.
    fn active(&self) -> Option<Id> {
        let over = self.left || self.completed.is_some() || !self.trouble.is_empty();
        self.id.filter(|_| !over)
    }
}

/// The senders of a class.
pub(crate) struct Senders {
    pub(crate) host: Host,
    class: Class,
    ends: Endpoints,
    users: Vec<User>,
    next_tick: Time,
}

impl Senders {
    /// Senders of `class`, none of which has started. `seed` gives keys and first numbers, which
    /// nobody here tries to guess.
    ///
    /// # Errors
    /// The controller or the packet that a host cannot have.
    pub(crate) fn new(class: &Class, ends: Endpoints, seed: u64) -> Result<Self, InvalidParameter> {
        let count = class.paths.len();
        let settings = Settings {
            options: class.transport.clone(),
            multipath: count > 1,
            subflows: count,
            base: class.base,
            mtu: u16::try_from(class.transport.packet.0).unwrap_or(u16::MAX),
            send_buffer: ends.send_buffer,
            ..Settings::new(class.controller.clone())
        };
        let state = (u128::from(seed) << 64) | (ends.class as u128);
        let mut random = Pcg64Mcg::new(state);
        let host = Host::new(settings, move || random.next_u64())?;
        let user = |start: &Span| User {
            start: Time::ZERO + *start,
            id: None,
            paths: vec![Presence::Awaited; count],
            written: 0,
            confirmed: false,
            completed: None,
            left: false,
            trouble: String::new(),
        };
        let users = ends.starts.iter().map(user).collect();
        Ok(Senders { host, class: class.clone(), ends, users, next_tick: Time::ZERO })
    }

    /// The path of a source address.
    pub(crate) fn path_of(&self, address: Ipv4Addr) -> Option<usize> {
        self.ends.addresses.iter().position(|own| *own == address)
    }

    /// When to call [`Senders::tick`].
    pub(crate) fn next_tick(&self) -> Time {
        let waiting = self.users.iter().filter(|user| user.id.is_none() && !user.left);
        waiting.map(|user| user.start).fold(self.next_tick, Time::min)
    }

    /// Starts users, has paths come and go, and lets applications write.
    pub(crate) fn tick(&mut self, now: Time) {
        self.next_tick = now + TICK;
        for user in 0..self.users.len() {
            self.begin(now, user);
            if let Some(id) = self.users[user].active() {
                self.look(user, id);
                self.change_paths(now, user, id);
                self.write(now, user, id);
            }
        }
    }

    fn begin(&mut self, now: Time, number: usize) {
        let user = &mut self.users[number];
        if user.id.is_some() || user.left || user.start > now {
            return;
        }
        let (local, remote) = ends_of(&self.ends, number, 0);
        match self.host.connect(now, local, remote) {
            Ok(id) => user.id = Some(id),
            Err(error) => (user.left, user.trouble) = (true, error.to_string()),
        }
        user.paths[0] = Presence::There;
    }

    /// Whether the connection is what it should be.
    fn look(&mut self, number: usize, id: Id) {
        let user = &mut self.users[number];
        if let Some(failure) = self.host.failure(id) {
            user.trouble = failure.to_string();
        } else if self.host.is_over(id) {
            user.trouble = "its connection ended".to_owned();
        } else if self.class.paths.len() > 1
            && self.host.is_established(id)
            && !self.host.is_multipath(id)
        {
            user.trouble = "it fell back to plain TCP".to_owned();
        }
    }

    fn change_paths(&mut self, now: Time, number: usize, id: Id) {
        for path in 0..self.class.paths.len() {
            let planned = &self.class.paths[path];
            let (leaves, presence) = (leaves(planned, now), self.users[number].paths[path]);
            if presence == Presence::There && leaves {
                self.users[number].paths[path] = Presence::Gone;
                if self.class.paths.len() == 1 {
                    self.users[number].left = true;
                    self.host.abort(now, id);
                } else {
                    self.host.withdraw(now, id, path as u8);
                }
            } else if presence == Presence::Awaited && Time::ZERO + planned.join <= now && !leaves {
                let (ends, ids) = (ends_of(&self.ends, number, path), [path as u8, 0]);
                // A connection takes no join before its peer has acknowledged data.
                if self.host.join(now, id, ends, ids, planned.backup).is_ok() {
                    self.users[number].paths[path] = Presence::There;
                }
            }
        }
    }

    /// Writes as much as there is room for, and is to be written by now.
    ///
    /// Over several paths that is one packet until the peer has acknowledged it. The last packet of
    /// the handshake and the first data carry this host's key. Were both lost and later data
    /// arrived, Linux would fall back to plain TCP (RFC 8684 §3.7).
    fn write(&mut self, now: Time, number: usize, id: Id) {
        let user = &mut self.users[number];
        let mut limit = allowed(&self.class, now.since(user.start));
        user.confirmed |= user.written > 0 && self.host.unacknowledged(id) == 0;
        if self.class.paths.len() > 1 && !user.confirmed {
            limit =
                limit.min(u64::from(self.class.transport.segment()).saturating_sub(OPTIONS).max(1));
        }
        while user.written < limit {
            let room = self.host.room(id).min(CHUNK.len());
            let bytes = (limit - user.written).min(room as u64) as usize;
            if bytes == 0 || self.host.write(now, id, &CHUNK[..bytes]) == 0 {
                break;
            }
            user.written += bytes as u64;
        }
        let whole = self.class.transfer.is_some_and(|transfer| user.written == transfer.0);
        if whole && self.host.is_established(id) && self.host.unacknowledged(id) == 0 {
            user.completed = Some(now);
            self.host.close(now, id);
        }
    }

    /// The states of all users.
    pub(crate) fn states(&self) -> impl Iterator<Item = UserState> {
        self.users.iter().enumerate().map(|(number, user)| UserState {
            class: self.ends.class,
            user: number,
            paths: user.active().map(|id| self.paths(id)).unwrap_or_default(),
            completed: user.completed,
            trouble: user.trouble.clone(),
        })
    }

    fn paths(&self, id: Id) -> Vec<(usize, PathReport, bool)> {
        if !self.host.is_established(id) {
            return Vec::new();
        }
        let (segment, unsent) = (f64::from(self.class.transport.segment()), self.host.unsent(id));
        let state = |(_, local, _, report): (usize, Endpoint, Endpoint, PathReport)| {
            let room = report.pipe as f64 + segment <= report.cwnd * segment;
            let path = self.path_of(local.address)?;
            report.member.then_some((path, report, room && unsent == 0))
        };
        self.host.subflows(id).into_iter().filter_map(state).collect()
    }
}

/// Both ends of a path of a user.
fn ends_of(ends: &Endpoints, user: usize, path: usize) -> (Endpoint, Endpoint) {
    let local = Endpoint { address: ends.addresses[path], port: FIRST_PORT + user as u16 };
    (local, Endpoint { address: ends.server, port: ends.first_port + user as u16 })
}

fn leaves(path: &PlanPath, now: Time) -> bool {
    path.leave.is_some_and(|leave| Time::ZERO + leave <= now)
}

/// Bytes that a user of `class` may have written in all, `since` its start: whole segments, where
/// its application has a rate.
fn allowed(class: &Class, since: Span) -> u64 {
    let whole = class.transfer.map_or(u64::MAX, |transfer| transfer.0);
    let Some(rate) = class.app_rate else { return whole };
    let segment = u64::from(class.transport.segment());
    whole.min((rate.0 as f64 * since.seconds() / 8.0) as u64 / segment * segment)
}
