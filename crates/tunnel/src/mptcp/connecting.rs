//! The initiating role over Multipath TCP: one connection after the other, with a subflow for each
//! path that has an address.

use super::{Line, PART, Watch, ends, host};
use crate::Error;
use crate::carrier::{Carrier, News, Snapshot};
use courier::{Channel, PathStatus, PublicKey, Route, SecretKey, Settings, Streams, Transmit};
use host::{Host, Id};
use socket2::Socket;
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use transport::PathReport;
use units::{Span, Time};
use wire::packet::Endpoint;

/// First time to wait before another connection is tried, and the longest.
const WAIT: [Span; 2] = [Span::millis(500), Span::millis(4_000)];
/// Time between looks at the addresses of paths.
const LOOK: Span = Span::millis(1_000);
/// Time for a path to join before it is asked again.
const JOIN: Span = Span::millis(5_000);

/// A local end that nobody else has while this value lives.
pub(crate) struct Held {
    pub(crate) end: Endpoint,
    pub(crate) _socket: Option<Socket>,
}

/// Where the local ends of paths come from.
pub(crate) trait Ground: Send {
    /// The address from which packets of `path` leave now; `None` while it has none.
    fn address(&self, path: usize) -> Option<Ipv4Addr>;
    /// A free port of that address.
    fn hold(&mut self, address: Ipv4Addr) -> Option<Held>;
}

/// The far end of a path, and whether the path is used only while no other works.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) remote: SocketAddrV4,
    pub(crate) spare: bool,
}

/// A path.
struct Lane {
    remote: Endpoint,
    spare: bool,
    held: Option<Held>,
    /// The identifier of its address on the connection.
    name: u8,
    /// When it may be asked to join again.
    again: Time,
    watch: Watch,
}

impl Lane {
    fn has(&self, local: Endpoint) -> bool {
        self.held.as_ref().is_some_and(|held| held.end == local)
    }
}

/// The initiating role.
pub(crate) struct Connecting {
    host: Host,
    ground: Box<dyn Ground>,
    secret: SecretKey,
    peer: PublicKey,
    settings: Settings,
    lanes: Vec<Lane>,
    line: Option<Line>,
    part: Vec<u8>,
    /// The path of the connection's first subflow.
    on: usize,
    /// When a connection is tried, and when the addresses are looked at.
    again: Time,
    wait: Span,
    look: Time,
    now: Time,
    number: u64,
    established: bool,
    news: VecDeque<News>,
}

impl Connecting {
    /// Connections to `peer` over `ways`, in the order of their paths. They begin with the first
    /// [`Carrier::on_deadline`].
    pub(crate) fn new(
        secret: SecretKey,
        peer: PublicKey,
        settings: Settings,
        ways: &[Way],
        ground: Box<dyn Ground>,
    ) -> Result<Self, Error> {
        let lane = |way: &Way| Lane {
            remote: Endpoint { address: *way.remote.ip(), port: way.remote.port() },
            spare: way.spare,
            held: None,
            name: 0,
            again: Time::ZERO,
            watch: Watch::default(),
        };
        Ok(Connecting {
            host: host(&settings, 16)?,
            lanes: ways.iter().map(lane).collect(),
            on: ways.iter().position(|way| !way.spare).unwrap_or(0),
            line: None,
            part: vec![0; PART],
            again: Time::ZERO,
            wait: WAIT[0],
            look: Time::ZERO,
            now: Time::ZERO,
            number: 0,
            established: false,
            news: VecDeque::new(),
            ground,
            secret,
            peer,
            settings,
        })
    }

    /// Opens a connection on the path whose turn it is; without an address the next one's is next.
    fn begin(&mut self) {
        let now = self.now;
        self.again = now + self.wait;
        for lane in &mut self.lanes {
            (lane.held, lane.watch.asked, lane.again) = (None, None, now);
        }
        let held = self.ground.address(self.on).and_then(|it| self.ground.hold(it));
        let Some(held) = held else { return self.turn() };
        let lane = &mut self.lanes[self.on];
        let Ok(id) = self.host.connect(now, held.end, lane.remote) else { return self.turn() };
        (lane.held, lane.name) = (Some(held), 0);
        let channel = Channel::initiate(self.secret.clone(), self.peer, &self.settings, now);
        self.line = Some(Line { id, channel });
    }

    fn turn(&mut self) {
        self.on = (self.on + 1) % self.lanes.len().max(1);
    }

    /// Moves bytes, and looks at whether the connection stands or has ended.
    fn exchange(&mut self) {
        let Some(line) = &mut self.line else { return };
        line.exchange(self.now, (&mut self.host, &mut self.part), None);
        if let Some(why) = line.channel.closed() {
            self.host.forget(self.now, line.id);
            self.line = None;
            if std::mem::take(&mut self.established) {
                self.news.push_back(News::Ended(self.number, why.to_string()));
            } else {
                self.turn();
                self.wait = Span((2 * self.wait.0).min(WAIT[1].0));
            }
            self.again = self.now + self.wait;
        } else if !self.established && line.channel.is_established() {
            let id = line.id;
            (self.established, self.number) = (true, self.number + 1);
            (self.wait, self.look) = (WAIT[0], self.now);
            self.news.push_back(News::Connected(self.number, self.peer.to_string()));
            if self.lanes[self.on].spare {
                self.host.set_backup(self.now, id, 0, true);
            }
        }
    }

    /// Has paths join that are not there, and leave where their address has changed.
    fn look(&mut self) {
        self.look = self.now + LOOK;
        let Some(Line { id, .. }) = self.line else { return };
        if !self.established || !self.host.is_multipath(id) {
            return;
        }
        let open = self.host.subflows(id);
        for path in 0..self.lanes.len() {
            let address = self.ground.address(path);
            let lane = &mut self.lanes[path];
            if let Some(held) = &lane.held {
                let moved = address.is_some_and(|address| address != held.end.address);
                let there = open.iter().any(|(_, local, ..)| *local == held.end);
                if !moved && (there || self.now < lane.again) {
                    continue;
                }
                // It was reset, has not answered, or has another address.
                self.host.withdraw(self.now, id, lane.name);
                lane.held = None;
                if moved {
                    lane.again = self.now;
                }
            }
            if self.now >= lane.again {
                self.join(id, path, address);
            }
        }
    }

    fn join(&mut self, id: Id, path: usize, address: Option<Ipv4Addr>) {
        let Some(held) = address.and_then(|address| self.ground.hold(address)) else { return };
        let lane = &mut self.lanes[path];
        lane.name = path as u8 + 1; // 0 is the first subflow's
        let asked =
            self.host.join(self.now, id, (held.end, lane.remote), [lane.name, 0], lane.spare);
        if asked.is_ok() {
            (lane.held, lane.again, lane.watch.asked) = (Some(held), self.now + JOIN, None);
        }
    }

    fn statuses(&self, id: Id) -> Vec<PathStatus> {
        let open = self.host.subflows(id);
        let status = |lane: &Lane| {
            let own = open.iter().find(|(_, local, ..)| lane.has(*local));
            let remote = SocketAddrV4::new(lane.remote.address, lane.remote.port);
            PathStatus {
                route: own.map(|_| Route { local: 0, remote: remote.into() }),
                works: own.is_some() && lane.watch.works(self.now),
                report: own.map_or_else(PathReport::default, |(.., report)| *report),
                sent: lane.watch.sent,
                received: lane.watch.received,
            }
        };
        self.lanes.iter().map(status).collect()
    }
}

impl Carrier for Connecting {
    fn on_datagram(&mut self, now: Time, route: Route, bytes: &[u8]) {
        self.now = now;
        if let Some(lane) = self.lanes.get_mut(route.local) {
            // Two paths may see the same packet where both go through any interface.
            let Some((from, to)) = ends(bytes) else { return };
            if !lane.has(to) || from != lane.remote {
                return;
            }
            lane.watch.on_received(bytes);
        }
        self.host.on_packet(now, bytes); // on another socket: what a router reports
    }

    fn next_deadline(&self) -> Time {
        let line = self.line.as_ref().map_or(self.again, |line| line.channel.next_deadline());
        let look = if self.established { self.look } else { Time::NEVER };
        self.host.next_deadline().min(line).min(look)
    }

    fn on_deadline(&mut self, now: Time) {
        self.now = now;
        self.host.on_deadline(now);
        self.exchange();
        if self.line.is_none() && self.again <= now {
            self.begin();
        }
        if self.look <= now {
            self.look();
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        self.now = now;
        loop {
            let bytes = self.host.poll(now).or_else(|| {
                self.exchange();
                self.host.poll(now)
            })?;
            let Some((from, to)) = ends(&bytes) else { continue };
            // A packet of a path that was given up stays here.
            let Some(local) = self.lanes.iter().position(|it| it.has(from)) else { continue };
            self.lanes[local].watch.on_sent(now, &bytes);
            let remote = SocketAddr::from((to.address, to.port));
            return Some(Transmit { route: Route { local, remote }, bytes });
        }
    }

    fn news(&mut self, _now: Time) -> Option<News> {
        self.news.pop_front()
    }

    fn each(&mut self, what: &mut dyn FnMut(u64, &mut dyn Streams)) {
        if let Some(line) = self.line.as_mut().filter(|_| self.established) {
            what(self.number, &mut line.channel);
        }
    }

    fn streams(&mut self, number: u64) -> Option<&mut dyn Streams> {
        let current = self.established && self.number == number;
        self.line.as_mut().filter(|_| current).map(|it| &mut it.channel as &mut dyn Streams)
    }

    fn snapshots(&mut self) -> Vec<Snapshot> {
        let line = self.line.as_ref().filter(|_| self.established);
        let snapshot = line.map(|line| Snapshot {
            number: self.number,
            peer: self.peer.to_string(),
            streams: line.channel.streams(),
            paths: self.statuses(line.id),
        });
        snapshot.into_iter().collect()
    }

    fn close(&mut self) {
        if let Some(line) = &self.line {
            self.host.forget(self.now, line.id);
        }
        self.line = None;
    }
}
