//! The responding role over Multipath TCP, for many hosts with one connection each.

use super::{Line, PART, Watch, ends, host};
use crate::Error;
use crate::carrier::{Carrier, News, Snapshot};
use courier::{Closed, Gate, PathStatus, PublicKey, Route, SecretKey, Settings, Streams, Transmit};
use host::{Host, Id};
use socket2::Socket;
use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use transport::PathReport;
use units::{Span, Time};
use wire::packet::Endpoint;

/// Connections that have shown no key; each may hold a receive buffer.
const STRANGERS: usize = 32;
/// Of these, how many may be from one address.
pub(super) const OF_ONE_ADDRESS: usize = 4;
/// Time between looks at the subflows.
const LOOK: Span = Span::millis(1_000);

/// A connection of a host.
struct Guest {
    line: Line,
    /// The number of the connection, once it is established.
    number: Option<u64>,
    /// By subflow: this end, and the peer's.
    watches: BTreeMap<(Endpoint, Endpoint), Watch>,
}

/// The responding role.
pub(crate) struct Listening {
    host: Host,
    gate: Gate,
    /// Where it listens, in the order of the sockets.
    addresses: Vec<SocketAddrV4>,
    /// They keep the ports for this process.
    _reserved: Vec<Socket>,
    guests: BTreeMap<Id, Guest>,
    part: Vec<u8>,
    /// Established connections by number.
    numbers: BTreeMap<u64, Id>,
    /// The connection of each subflow.
    subflows: BTreeMap<(Endpoint, Endpoint), Id>,
    count: u64,
    look: Time,
    now: Time,
    news: VecDeque<News>,
}

impl Listening {
    /// For the hosts with the keys `allowed`, at `addresses`.
    pub(crate) fn new(
        secret: SecretKey,
        allowed: &[PublicKey],
        settings: Settings,
        addresses: Vec<SocketAddrV4>,
        reserved: Vec<Socket>,
    ) -> Result<Self, Error> {
        let backlog = host::Settings::new(settings.controller.clone()).backlog;
        let mut host = host(&settings, allowed.len() + STRANGERS + backlog)?;
        addresses.iter().for_each(|address| host.listen(address.port()));
        Ok(Listening {
            host,
            gate: Gate::new(secret, allowed.iter().copied(), settings, Time::ZERO),
            addresses,
            _reserved: reserved,
            guests: BTreeMap::new(),
            part: vec![0; PART],
            numbers: BTreeMap::new(),
            subflows: BTreeMap::new(),
            count: 0,
            look: Time::ZERO,
            now: Time::ZERO,
            news: VecDeque::new(),
        })
    }

    /// Connections that hosts have opened, with a key or without.
    #[cfg(test)]
    pub(super) fn guests(&self) -> usize {
        self.guests.len()
    }

    /// Whether neither this nor its TCP has any connection.
    #[cfg(test)]
    pub(super) fn holds_nothing(&self) -> bool {
        self.guests.is_empty() && self.subflows.is_empty() && self.host.is_empty()
    }

    fn address_of(&self, id: Id) -> Option<Ipv4Addr> {
        self.host.subflows(id).first().map(|(_, _, remote, _)| remote.address)
    }

    /// Takes connections that hosts have opened, as long as few of them have shown no key.
    fn accept(&mut self) {
        while let Some(id) = self.host.accept() {
            let address = self.address_of(id);
            let strangers = self.guests.iter().filter(|(_, guest)| guest.number.is_none());
            let (mut all, mut same) = (0, 0);
            for (other, _) in strangers {
                all += 1;
                same += usize::from(self.address_of(*other) == address);
            }
            if all >= STRANGERS || same >= OF_ONE_ADDRESS {
                self.host.forget(self.now, id);
                continue;
            }
            let channel = self.gate.receive(self.now, &mut crate::key::random);
            let line = Line { id, channel };
            self.guests.insert(id, Guest { line, number: None, watches: BTreeMap::new() });
            self.look = self.now;
        }
    }

    /// Moves bytes of all connections, and looks at which of them stand or have ended.
    fn exchange(&mut self) {
        let ids: Vec<Id> = self.guests.keys().copied().collect();
        for id in ids {
            let Some(guest) = self.guests.get_mut(&id) else { continue };
            let from = (&mut self.host, &mut self.part[..]);
            guest.line.exchange(self.now, from, Some(&mut self.gate));
            if let Some(why) = guest.line.channel.closed() {
                self.end(id, why);
            } else if guest.number.is_none()
                && let Some(peer) = guest.line.channel.peer()
            {
                self.establish(id, peer);
            }
        }
    }

    /// The connection begins, and replaces the one before of the same host.
    fn establish(&mut self, id: Id, peer: PublicKey) {
        let same = |(_, guest): &(&Id, &Guest)| guest.line.channel.peer() == Some(peer);
        let before = self.guests.iter().filter(same).map(|(other, _)| *other);
        let before: Vec<Id> = before.filter(|other| *other != id).collect();
        before.into_iter().for_each(|other| self.end(other, Closed::Replaced));
        self.count += 1;
        if let Some(guest) = self.guests.get_mut(&id) {
            guest.number = Some(self.count);
            self.numbers.insert(self.count, id);
            self.news.push_back(News::Connected(self.count, peer.to_string()));
        }
    }

    fn end(&mut self, id: Id, why: Closed) {
        self.host.forget(self.now, id);
        let Some(guest) = self.guests.remove(&id) else { return };
        self.subflows.retain(|_, own| *own != id);
        if let Some(number) = guest.number {
            self.numbers.remove(&number);
            self.news.push_back(News::Ended(number, why.to_string()));
        }
    }

    /// Looks at which subflows there are.
    fn look(&mut self) {
        self.look = self.now + LOOK;
        self.subflows.clear();
        for (id, guest) in &mut self.guests {
            let before = std::mem::take(&mut guest.watches);
            for (_, local, remote, _) in self.host.subflows(*id) {
                let ends = (local, remote);
                self.subflows.insert(ends, *id);
                guest.watches.insert(ends, before.get(&ends).copied().unwrap_or_default());
            }
        }
    }

    /// What is watched of the subflow with these ends.
    fn watch(&mut self, ends: (Endpoint, Endpoint)) -> Option<&mut Watch> {
        let id = self.subflows.get(&ends)?;
        self.guests.get_mut(id)?.watches.get_mut(&ends)
    }

    /// The socket from which packets of `end` leave.
    fn socket(&self, end: Endpoint) -> Option<usize> {
        let fits = |any: bool| {
            self.addresses.iter().position(|own| {
                let address = if any { Ipv4Addr::UNSPECIFIED } else { end.address };
                *own.ip() == address && own.port() == end.port
            })
        };
        fits(false).or_else(|| fits(true))
    }

    /// The paths of a connection by slot; an empty slot has a path that does not work.
    fn statuses(&self, id: Id, guest: &Guest) -> Vec<PathStatus> {
        let mut all = Vec::new();
        for (slot, local, remote, report) in self.host.subflows(id) {
            let watch = guest.watches.get(&(local, remote)).copied().unwrap_or_default();
            let absent = PathStatus {
                route: None,
                works: false,
                report: PathReport::default(),
                sent: 0,
                received: 0,
            };
            all.resize(slot + 1, absent);
            let socket = self.socket(local).unwrap_or(0);
            let remote = SocketAddr::from((remote.address, remote.port));
            all[slot] = PathStatus {
                route: Some(Route { local: socket, remote }),
                works: watch.works(self.now),
                report,
                sent: watch.sent,
                received: watch.received,
            };
        }
        all
    }
}

impl Carrier for Listening {
    fn on_datagram(&mut self, now: Time, _route: Route, bytes: &[u8]) {
        self.now = now;
        if let Some((from, to)) = ends(bytes)
            && let Some(watch) = self.watch((to, from))
        {
            watch.on_received(bytes);
        }
        self.host.on_packet(now, bytes);
    }

    fn next_deadline(&self) -> Time {
        let lines = self.guests.values().map(|guest| guest.line.channel.next_deadline()).min();
        let look = if self.guests.is_empty() { Time::NEVER } else { self.look };
        self.host.next_deadline().min(lines.unwrap_or(Time::NEVER)).min(look)
    }

    fn on_deadline(&mut self, now: Time) {
        self.now = now;
        self.host.on_deadline(now);
        self.accept();
        self.exchange();
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
            let Some(local) = self.socket(from) else { continue };
            if let Some(watch) = self.watch((from, to)) {
                watch.on_sent(now, &bytes);
            }
            let remote = SocketAddr::from((to.address, to.port));
            return Some(Transmit { route: Route { local, remote }, bytes });
        }
    }

    fn news(&mut self, _now: Time) -> Option<News> {
        self.news.pop_front()
    }

    fn each(&mut self, what: &mut dyn FnMut(u64, &mut dyn Streams)) {
        for guest in self.guests.values_mut() {
            if let Some(number) = guest.number {
                what(number, &mut guest.line.channel);
            }
        }
    }

    fn streams(&mut self, number: u64) -> Option<&mut dyn Streams> {
        let guest = self.guests.get_mut(self.numbers.get(&number)?)?;
        Some(&mut guest.line.channel)
    }

    fn snapshots(&mut self) -> Vec<Snapshot> {
        let established = self.guests.iter().filter_map(|(id, guest)| {
            Some(Snapshot {
                number: guest.number?,
                peer: guest.line.channel.peer()?.to_string(),
                streams: guest.line.channel.streams(),
                paths: self.statuses(*id, guest),
            })
        });
        established.collect()
    }

    fn close(&mut self) {
        let ids: Vec<Id> = self.guests.keys().copied().collect();
        ids.into_iter().for_each(|id| self.end(id, Closed::Here));
    }
}
