//! The boundary to what carries the streams: datagrams in and out, and connections with streams.
//!
//! `courier` is one carrier, in two roles. Another one implements [`Carrier`] over its own kind of
//! route, and nothing above it changes.

use courier::{Event, Initiator, PathStatus, Responder, Route, Streams, Transmit};
use std::collections::VecDeque;
use units::Time;

/// News about connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// A connection with this number was established with that peer.
    Connected(u64, String),
    /// It has ended, and why.
    Ended(u64, String),
}

/// The state of a connection.
pub(crate) struct Snapshot {
    pub(crate) number: u64,
    pub(crate) peer: String,
    pub(crate) streams: usize,
    pub(crate) paths: Vec<PathStatus>,
}

/// What carries streams, without I/O.
pub(crate) trait Carrier {
    /// A datagram arrived.
    fn on_datagram(&mut self, now: Time, route: Route, bytes: &[u8]);
    /// When to call [`Carrier::on_deadline`].
    fn next_deadline(&self) -> Time;
    /// The deadline has come.
    fn on_deadline(&mut self, now: Time);
    /// The next datagram to send.
    fn poll_transmit(&mut self, now: Time) -> Option<Transmit>;
    /// The next news.
    fn news(&mut self, now: Time) -> Option<News>;
    /// Calls `what` with each connection's number and streams.
    fn each(&mut self, what: &mut dyn FnMut(u64, &mut dyn Streams));
    /// The streams of a connection, while it exists.
    fn streams(&mut self, number: u64) -> Option<&mut dyn Streams>;
    /// The states of all connections.
    fn snapshots(&mut self) -> Vec<Snapshot>;
    /// Ends all connections; what `poll_transmit` gives then tells the peers.
    fn close(&mut self);
}

/// The initiating role: one connection after the other.
pub(crate) struct Connecting {
    initiator: Initiator,
    peer: String,
    number: u64,
    established: bool,
    news: VecDeque<News>,
}

impl Connecting {
    pub(crate) fn new(initiator: Initiator, peer: String) -> Self {
        Connecting { initiator, peer, number: 0, established: false, news: VecDeque::new() }
    }
}

impl Carrier for Connecting {
    fn on_datagram(&mut self, now: Time, route: Route, bytes: &[u8]) {
        self.initiator.on_datagram(now, route, bytes, &mut crate::key::random);
    }

    fn next_deadline(&self) -> Time {
        self.initiator.next_deadline()
    }

    fn on_deadline(&mut self, now: Time) {
        self.initiator.on_deadline(now, &mut crate::key::random);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        self.initiator.poll_transmit(now)
    }

    fn news(&mut self, now: Time) -> Option<News> {
        if let Some(connection) = self.initiator.connection() {
            if !self.established {
                (self.established, self.number) = (true, self.number + 1);
                self.news.push_back(News::Connected(self.number, self.peer.clone()));
            }
            if let Some(why) = connection.closed() {
                self.established = false;
                self.news.push_back(News::Ended(self.number, why.to_string()));
                self.initiator.renew(now);
            }
        }
        self.news.pop_front()
    }

    fn each(&mut self, what: &mut dyn FnMut(u64, &mut dyn Streams)) {
        let number = self.number;
        if let Some(connection) = self.initiator.connection() {
            what(number, connection);
        }
    }

    fn streams(&mut self, number: u64) -> Option<&mut dyn Streams> {
        let current = self.established && self.number == number;
        self.initiator.connection().filter(|_| current).map(|it| it as &mut dyn Streams)
    }

    fn snapshots(&mut self) -> Vec<Snapshot> {
        let (number, peer) = (self.number, self.peer.clone());
        let connection = self.initiator.connection().map(|it| Snapshot {
            number,
            peer,
            streams: it.streams(),
            paths: it.paths().collect(),
        });
        connection.into_iter().collect()
    }

    fn close(&mut self) {
        if let Some(connection) = self.initiator.connection() {
            connection.close();
        }
    }
}

/// The responding role.
pub(crate) struct Listening(pub(crate) Responder);

impl Carrier for Listening {
    fn on_datagram(&mut self, now: Time, route: Route, bytes: &[u8]) {
        self.0.on_datagram(now, route, bytes, &mut crate::key::random);
    }

    fn next_deadline(&self) -> Time {
        self.0.next_deadline()
    }

    fn on_deadline(&mut self, now: Time) {
        self.0.on_deadline(now, &mut crate::key::random);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        self.0.poll_transmit(now)
    }

    fn news(&mut self, _now: Time) -> Option<News> {
        self.0.poll_event().map(|event| match event {
            Event::Connected(number, key) => News::Connected(number, key.to_string()),
            Event::Ended(number, why) => News::Ended(number, why.to_string()),
        })
    }

    fn each(&mut self, what: &mut dyn FnMut(u64, &mut dyn Streams)) {
        self.0.connections().for_each(|(number, _, connection)| what(number, connection));
    }

    fn streams(&mut self, number: u64) -> Option<&mut dyn Streams> {
        self.0.connection(number).map(|it| it as &mut dyn Streams)
    }

    fn snapshots(&mut self) -> Vec<Snapshot> {
        let all = self.0.connections().map(|(number, key, connection)| Snapshot {
            number,
            peer: key.to_string(),
            streams: connection.streams(),
            paths: connection.paths().collect(),
        });
        all.collect()
    }

    fn close(&mut self) {
        self.0.connections().for_each(|(_, _, connection)| connection.close());
    }
}
