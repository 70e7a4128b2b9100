//! Users whose data a courier carries: coded paths, and controllers that go by TFRC's reports. Both
//! ends of each connection are here, and its datagrams leave as packets of UDP.

use crate::users::{
    CHUNK, Endpoints, FIRST_PORT, TICK, UserState, Users, allowed, leaves, starved,
};
use courier::{
    Connection, Initiator, Read, Responder, Route, SecretKey, Settings, StreamId, Streams,
};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use scenario::{Class, PlanPath};
use std::net::{Ipv4Addr, SocketAddr};
use units::{InvalidParameter, Span, Time, ensure};
use wire::packet::{Endpoint, datagram};

/// Bytes of the headers of IPv4 and UDP.
const HEADERS: usize = 28;

/// Largest buffer of a courier in bytes.
const BUFFER: u32 = 64 << 20;

/// How long a connection lives without a datagram: longer than any run, for a run that is cut off
/// tells what is wrong by its rates.
const SILENCE: Span = Span::millis(3_600_000);

struct User {
    number: u16,
    start: Time,
    begun: bool,
    initiator: Initiator,
    responder: Responder,
    /// The connection's number at the responder.
    accepted: Option<u64>,
    stream: Option<StreamId>,
    /// Whether each path is to be used now.
    present: Vec<bool>,
    written: u64,
    received: u64,
    finished: bool,
    completed: Option<Time>,
    left: bool,
    trouble: String,
    /// Identification of the next IP packet.
    id: u16,
}

/// The users of a class.
pub(crate) struct Couriers {
    class: Class,
    ends: Endpoints,
    users: Vec<User>,
    random: Pcg64Mcg,
    next_tick: Time,
    buffer: Vec<u8>,
}

impl Couriers {
    /// Users of `class`, none of which has started. `seed` gives keys, which nobody here tries to
    /// guess.
    ///
    /// # Errors
    /// What a courier of the class cannot have.
    pub(crate) fn new(class: &Class, ends: Endpoints, seed: u64) -> Result<Self, InvalidParameter> {
        let mut random = Pcg64Mcg::new((u128::from(seed) << 64) | (ends.class as u128));
        let sending = settings(class)?;
        // It sends nothing but permissions to send more.
        let answering = Settings { coding: None, controller: reno(), ..sending.clone() };
        let mut users = Vec::new();
        for (number, start) in ends.starts.iter().enumerate() {
            let entropy = &mut |bytes: &mut [u8]| random.fill_bytes(bytes);
            let (own, peer) = (SecretKey::new(entropy), SecretKey::new(entropy));
            let number = number as u16;
            let server = SocketAddr::from((ends.server, ends.first_port + number));
            let route = |local| Route { local, remote: server };
            let routes: Vec<_> = (0..class.paths.len()).map(route).collect();
            let (start, keys) = (Time::ZERO + *start, [own.public()]);
            let public = peer.public();
            users.push(User {
                number,
                start,
                begun: false,
                initiator: Initiator::new(own, public, sending.clone(), &routes),
                responder: Responder::new(peer, keys, answering.clone(), start, entropy),
                accepted: None,
                stream: None,
                present: vec![true; class.paths.len()],
                written: 0,
                received: 0,
                finished: false,
                completed: None,
                left: false,
                trouble: String::new(),
                id: 0,
            });
        }
        let buffer = vec![0; CHUNK.len()];
        Ok(Couriers { class: class.clone(), ends, users, random, next_tick: Time::ZERO, buffer })
    }

    fn server(&self, user: usize) -> Endpoint {
        Endpoint { address: self.ends.server, port: self.ends.first_port + user as u16 }
    }
}

fn reno() -> control::ControllerSpec {
    "reno".parse().expect("it is registered")
}

/// A courier's settings for what a class has.
fn settings(class: &Class) -> Result<Settings, InvalidParameter> {
    let codings: Vec<_> = class.paths.iter().map(|path| path.coding).collect();
    let numbers = |of: fn(&PlanPath) -> bool| {
        let paths = class.paths.iter().enumerate().filter(move |(_, path)| of(path));
        paths.map(|(number, _)| number).collect::<Vec<_>>()
    };
    let coding = codings.iter().find_map(|coding| *coding);
    let alike = codings.iter().flatten().all(|other| Some(*other) == coding);
    ensure(alike, "path", "codings that differ", "a courier codes its paths alike")?;
    let controller = &class.controller;
    let right = "controllers of a kernel and of another stack do not run here";
    ensure(Settings::runs(controller), "controller", controller, right)?;
    let settings = Settings {
        coding,
        uncoded: numbers(|path| path.coding.is_none()),
        backup: numbers(|path| path.backup),
        base: class.base,
        transport: class.transport.clone(),
        datagram: (class.transport.packet.0 as usize).saturating_sub(HEADERS),
        buffer: u32::try_from(class.transport.receive_buffer.0).unwrap_or(u32::MAX).min(BUFFER),
        timeout: SILENCE,
        ..Settings::new(controller.clone())
    };
    settings.check().map_err(|(key, value)| InvalidParameter {
        key: key.to_owned(),
        value,
        right: "a courier has other limits than a simulation",
    })?;
    Ok(settings)
}

impl User {
    fn active(&self) -> bool {
        self.begun && !self.left && self.completed.is_none() && self.trouble.is_empty()
    }

    fn connection(&mut self) -> Option<&mut Connection> {
        self.initiator.connection()
    }

    /// Lets the application write.
    fn write(&mut self, now: Time, class: &Class) {
        let limit = allowed(class, now.since(self.start));
        let (mut stream, mut written) = (self.stream, self.written);
        let Some(connection) = self.initiator.connection() else { return };
        if let Some(why) = connection.closed() {
            self.trouble = format!("its connection ended: {why}");
            return;
        }
        if stream.is_none() {
            stream = connection.open(&[]).ok();
        }
        let Some(id) = stream else { return };
        while written < limit {
            let most = (limit - written).min(CHUNK.len() as u64) as usize;
            match connection.write(id, &CHUNK[..most]) {
                Ok(bytes) if bytes > 0 => written += bytes as u64,
                _ => break,
            }
        }
        let whole = class.transfer.is_some_and(|transfer| written == transfer.0);
        if whole && !self.finished {
            connection.finish(id);
            self.finished = true;
        } else if whole && !connection.is_busy() {
            self.completed = Some(now);
        }
        (self.stream, self.written) = (stream, written);
    }

    /// Lets the application at the other end read.
    fn read(&mut self, buffer: &mut [u8]) {
        while let Some(event) = self.responder.poll_event() {
            if let courier::Event::Connected(number, _) = event {
                self.accepted = Some(number);
            }
        }
        let Some(number) = self.accepted else { return };
        let Some(connection) = self.responder.connection(number) else { return };
        while connection.accept().is_some() {}
        let Some(stream) = self.stream else { return };
        while let Ok(Read::Bytes(bytes)) = connection.read(stream, buffer) {
            self.received += bytes as u64;
        }
    }
}

impl Users for Couriers {
    fn next_tick(&self) -> Time {
        let waiting = self.users.iter().filter(|user| !user.begun && !user.left);
        waiting.map(|user| user.start).fold(self.next_tick, Time::min)
    }

    fn tick(&mut self, now: Time) {
        self.next_tick = now + TICK;
        for number in 0..self.users.len() {
            let (server, user) = (self.server(number), &mut self.users[number]);
            user.begun |= user.start <= now;
            if !user.active() {
                continue;
            }
            for (path, planned) in self.class.paths.iter().enumerate() {
                let there = Time::ZERO + planned.join <= now && !leaves(planned, now);
                if std::mem::replace(&mut user.present[path], there) != there {
                    let remote = SocketAddr::from((server.address, server.port));
                    user.initiator.rebind(path, there.then_some(Route { local: path, remote }));
                }
            }
            if user.present.iter().any(|there| *there) {
                user.write(now, &self.class);
            } else if self.class.paths.iter().all(|path| leaves(path, now)) {
                user.left = true;
                user.connection().into_iter().for_each(Connection::close);
            }
        }
    }

    fn next_deadline(&self) -> Time {
        let begun = self.users.iter().filter(|user| user.begun);
        let deadline =
            |user: &User| user.initiator.next_deadline().min(user.responder.next_deadline());
        begun.map(deadline).min().unwrap_or(Time::NEVER)
    }

    fn on_deadline(&mut self, now: Time) {
        let random = &mut self.random;
        let entropy = &mut |bytes: &mut [u8]| random.fill_bytes(bytes);
        for user in self.users.iter_mut().filter(|user| user.begun) {
            user.initiator.on_deadline(now, entropy);
            user.responder.on_deadline(now, entropy);
        }
    }

    fn on_packet(&mut self, now: Time, socket: usize, packet: &[u8]) {
        let paths = self.class.paths.len();
        let (Some(payload), Some(ports)) = (packet.get(HEADERS..), packet.get(20..24)) else {
            return;
        };
        let port = |at: usize| u16::from_be_bytes([ports[at], ports[at + 1]]);
        let random = &mut self.random;
        let entropy = &mut |bytes: &mut [u8]| random.fill_bytes(bytes);
        if socket < paths {
            let number = usize::from(port(2).wrapping_sub(FIRST_PORT));
            let Some(user) = self.users.get_mut(number) else { return };
            let remote = SocketAddr::from((self.ends.server, port(0)));
            user.initiator.on_datagram(now, Route { local: socket, remote }, payload, entropy);
        } else {
            let number = usize::from(port(2).wrapping_sub(self.ends.first_port));
            let Some(user) = self.users.get_mut(number) else { return };
            let local = socket - paths;
            let remote = SocketAddr::from((self.ends.addresses[local], port(0)));
            user.responder.on_datagram(now, Route { local, remote }, payload, entropy);
            user.read(&mut self.buffer);
        }
    }

    fn poll(&mut self, now: Time) -> Option<(usize, Vec<u8>)> {
        let paths = self.class.paths.len();
        for user in self.users.iter_mut().filter(|user| user.begun) {
            let first = self.ends.first_port + user.number;
            let server = Endpoint { address: self.ends.server, port: first };
            let client = |path: usize| Endpoint {
                address: self.ends.addresses.get(path).copied().unwrap_or(Ipv4Addr::UNSPECIFIED),
                port: FIRST_PORT + user.number,
            };
            let (socket, from, to, bytes) = match user.initiator.poll_transmit(now) {
                Some(sent) => (sent.route.local, client(sent.route.local), server, sent.bytes),
                None => match user.responder.poll_transmit(now) {
                    Some(sent) => {
                        let path = sent.route.local;
                        (paths + path, server, client(path), sent.bytes)
                    }
                    None => continue,
                },
            };
            user.id = user.id.wrapping_add(1);
            return Some((socket, datagram(from, to, user.id, &bytes)));
        }
        None
    }

    fn states(&mut self) -> Vec<UserState> {
        let (class, segment) = (self.ends.class, self.class.transport.segment());
        let state = |(number, user): (usize, &mut User)| {
            let mut paths = Vec::new();
            let active = user.active();
            if let Some(connection) = user.connection().filter(|_| active) {
                let unsent = connection.has_unsent();
                let of = |(path, status): (usize, courier::PathStatus)| {
                    let report = status.report;
                    report.member.then(|| (path, report, starved(&report, segment, unsent)))
                };
                paths = connection.paths().enumerate().filter_map(of).collect();
            }
            UserState {
                class,
                user: number,
                paths,
                received: Some(user.received),
                completed: user.completed,
                trouble: user.trouble.clone(),
            }
        };
        self.users.iter_mut().enumerate().map(state).collect()
    }
}
