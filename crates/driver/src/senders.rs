//! The senders of a class: its users' connections, what they write, and when paths come and go.

use crate::users::{
    CHUNK, Endpoints, FIRST_PORT, TICK, UserState, Users, allowed, leaves, starved,
};
use host::{Host, Id, Settings};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use scenario::Class;
use std::net::Ipv4Addr;
use transport::PathReport;
use units::{InvalidParameter, Span, Time};
use wire::packet::Endpoint;

/// Bytes that MPTCP's options take of a segment, at most.
const OPTIONS: u64 = 40;

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
    host: Host,
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
    fn path_of(&self, address: Ipv4Addr) -> Option<usize> {
        self.ends.addresses.iter().position(|own| *own == address)
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

    fn paths(&self, id: Id) -> Vec<(usize, PathReport, bool)> {
        if !self.host.is_established(id) {
            return Vec::new();
        }
        let (segment, unsent) = (self.class.transport.segment(), self.host.unsent(id) > 0);
        let state = |(_, local, _, report): (usize, Endpoint, Endpoint, PathReport)| {
            let path = self.path_of(local.address)?;
            report.member.then_some((path, report, starved(&report, segment, unsent)))
        };
        self.host.subflows(id).into_iter().filter_map(state).collect()
    }
}

impl Users for Senders {
    fn next_tick(&self) -> Time {
        let waiting = self.users.iter().filter(|user| user.id.is_none() && !user.left);
        waiting.map(|user| user.start).fold(self.next_tick, Time::min)
    }

    fn tick(&mut self, now: Time) {
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

    fn next_deadline(&self) -> Time {
        self.host.next_deadline()
    }

    fn on_deadline(&mut self, now: Time) {
        self.host.on_deadline(now);
    }

    fn on_packet(&mut self, now: Time, _socket: usize, packet: &[u8]) {
        self.host.on_packet(now, packet);
    }

    fn poll(&mut self, now: Time) -> Option<(usize, Vec<u8>)> {
        loop {
            let packet = self.host.poll(now)?;
            let source = packet.get(12..16).and_then(|it| <[u8; 4]>::try_from(it).ok());
            if let Some(path) = source.and_then(|it| self.path_of(Ipv4Addr::from(it))) {
                return Some((path, packet));
            }
        }
    }

    fn states(&mut self) -> Vec<UserState> {
        let state = |(number, user): (usize, &User)| UserState {
            class: self.ends.class,
            user: number,
            paths: user.active().map(|id| self.paths(id)).unwrap_or_default(),
            received: None,
            completed: user.completed,
            trouble: user.trouble.clone(),
        };
        self.users.iter().enumerate().map(state).collect()
    }
}

/// Both ends of a path of a user.
fn ends_of(ends: &Endpoints, user: usize, path: usize) -> (Endpoint, Endpoint) {
    let local = Endpoint { address: ends.addresses[path], port: FIRST_PORT + user as u16 };
    (local, Endpoint { address: ends.server, port: ends.first_port + user as u16 })
}
