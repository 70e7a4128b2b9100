//! The end that is found: it serves the hosts whose keys it knows, each with one connection.
//!
//! A host without a known key costs it a cookie or, from an address that has answered with one, the
//! reading of a first message; it holds nothing for it. A known key has at most one connection
//! and one handshake under way. A handshake takes effect when the initiator uses its keys: a
//! message that is sent again by somebody else leads nowhere.

use crate::ask::{Ask, Grant, Purpose};
use crate::connection::{Closed, Connection, Start};
use crate::cookie::Baker;
use crate::datagram::{self, Datagram};
use crate::mux::Role;
use crate::noise::{self, Ids, Session};
use crate::path::Path;
use crate::route::{Route, Transmit};
use crate::{Entropy, PublicKey, SecretKey, Settings, draw};
use std::collections::VecDeque;
use units::{Span, Time};

/// First messages that are read in a second: they cost three Diffie-Hellman each.
const HANDSHAKES: u32 = 200;
/// Datagrams that wait for the driver, without those of connections.
const WAITING: usize = 1024;
/// Most keys: the lower bits of a session's number are the key's.
const MOST_PEERS: usize = 1 << 16;

/// A handshake that the initiator has not used yet.
#[derive(Debug)]
struct Pending {
    /// The initiator's message and the answer to it: a copy of the message gets the same answer.
    message: Vec<u8>,
    answer: Vec<u8>,
    /// None if it went to a connection whose keys it renews.
    session: Option<Session>,
    ask: Ask,
    route: Route,
}

/// What the responder holds for a known key.
#[derive(Debug)]
struct Peer {
    key: PublicKey,
    pending: Option<Pending>,
    connection: Option<(u64, Connection)>,
}

/// News about connections, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A connection was established with this host.
    Connected(u64, PublicKey),
    /// It has ended.
    Ended(u64, Closed),
}

/// The responding end for many hosts.
#[derive(Debug)]
pub struct Responder {
    secret: SecretKey,
    settings: Settings,
    baker: Baker,
    peers: Vec<Peer>,
    out: VecDeque<Transmit>,
    events: VecDeque<Event>,
    /// Connections so far.
    count: u64,
    /// First messages that may still be read in the second from `second` on.
    budget: u32,
    second: Time,
}

impl Responder {
    /// A responder for the hosts with the keys `allowed`, at most 65,536.
    pub fn new(
        secret: SecretKey,
        allowed: impl IntoIterator<Item = PublicKey>,
        settings: Settings,
        now: Time,
        entropy: &mut dyn Entropy,
    ) -> Self {
        let mut keys: Vec<_> = allowed.into_iter().take(MOST_PEERS).collect();
        keys.sort_unstable();
        keys.dedup();
        let peer = |key| Peer { key, pending: None, connection: None };
        Responder {
            secret,
            settings,
            baker: Baker::new(now, entropy),
            peers: keys.into_iter().map(peer).collect(),
            out: VecDeque::new(),
            events: VecDeque::new(),
            count: 0,
            budget: HANDSHAKES,
            second: now,
        }
    }

    /// The connection with that number, while it exists.
    pub fn connection(&mut self, number: u64) -> Option<&mut Connection> {
        let peer = self.peers.get_mut((number % MOST_PEERS as u64) as usize)?;
        let (own, connection) = peer.connection.as_mut()?;
        (*own == number).then_some(connection)
    }

    /// All connections, with their numbers and peers.
    pub fn connections(&mut self) -> impl Iterator<Item = (u64, PublicKey, &mut Connection)> {
        self.peers.iter_mut().filter_map(|peer| {
            let (number, connection) = peer.connection.as_mut()?;
            Some((*number, peer.key, connection))
        })
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// A datagram arrived.
    pub fn on_datagram(
        &mut self,
        now: Time,
        route: Route,
        bytes: &[u8],
        entropy: &mut dyn Entropy,
    ) {
        self.baker.renew(now, entropy);
        match datagram::parse(bytes) {
            Some(Datagram::Hello { nonce }) => {
                let cookie = self.baker.cookie(&route);
                self.send(route, Datagram::Cookie { nonce, cookie }.encode());
            }
            Some(Datagram::Initiate { cookie, message }) => {
                if self.baker.accepts(&route, &cookie) {
                    self.on_initiate(now, route, (&cookie, message), entropy);
                }
            }
            Some(Datagram::Sealed { to, nonce, body }) => {
                self.on_sealed(now, route, (to, nonce, body), entropy);
            }
            Some(Datagram::Cookie { .. } | Datagram::Accept { .. }) | None => {}
        }
    }

    fn send(&mut self, route: Route, bytes: Vec<u8>) {
        if self.out.len() < WAITING {
            self.out.push_back(Transmit { route, bytes });
        }
    }

    /// Whether another first message may be read in this second.
    fn may_read(&mut self, now: Time) -> bool {
        if now.since(self.second) >= Span::millis(1000) {
            (self.second, self.budget) = (now, HANDSHAKES);
        }
        self.budget = self.budget.saturating_sub(1);
        self.budget > 0
    }

    fn on_initiate(
        &mut self,
        now: Time,
        route: Route,
        (cookie, message): (&[u8; 16], &[u8]),
        entropy: &mut dyn Entropy,
    ) {
        let again = |peer: &&Peer| peer.pending.as_ref().is_some_and(|it| it.message == message);
        if let Some(Pending { answer, .. }) =
            self.peers.iter().find(again).and_then(|peer| peer.pending.as_ref())
        {
            let answer = answer.clone();
            return self.send(route, answer);
        }
        if !self.may_read(now) {
            return;
        }
        let Some(asked) = noise::read(&self.secret, cookie, message, entropy) else { return };
        let Ok(place) = self.peers.binary_search_by_key(&asked.peer, |peer| peer.key) else {
            return;
        };
        let Some(ask) = Ask::decode(&asked.payload) else { return };
        let renewed = match (ask.purpose, &self.peers[place].connection) {
            (Purpose::New, _) => false,
            (Purpose::Renewal { of }, Some((_, connection))) if connection.holds(of) => true,
            (Purpose::Renewal { .. }, _) => return,
        };
        let random = u32::from(u16::from_be_bytes(draw(entropy)));
        let ids = Ids { own: random << 16 | place as u32, peers: ask.session };
        let taken = self.peers[place].connection.as_ref().is_some_and(|(_, it)| it.holds(ids.own));
        let grant = Grant { session: ids.own, buffer: self.settings.buffer }.encode();
        let Some((second, session)) = asked.answer(&grant, ids, now).filter(|_| !taken) else {
            return; // with a number that is taken, the initiator's next try has another
        };
        let answer = Datagram::Accept { to: ids.peers, message: &second }.encode();
        let peer = &mut self.peers[place];
        let session = match &mut peer.connection {
            Some((_, connection)) if renewed => {
                connection.offer_session(session);
                None
            }
            _ => Some(session),
        };
        let message = message.to_vec();
        peer.pending = Some(Pending { message, answer: answer.clone(), session, ask, route });
        self.send(route, answer);
    }

    fn on_sealed(
        &mut self,
        now: Time,
        route: Route,
        sealed: (u32, u64, &[u8]),
        entropy: &mut dyn Entropy,
    ) {
        let place = sealed.0 as usize % MOST_PEERS;
        let Some(peer) = self.peers.get_mut(place) else { return };
        if let Some((_, connection)) = &mut peer.connection
            && connection.holds(sealed.0)
        {
            connection.on_sealed(now, route, sealed, entropy);
            return self.look_at_end(place);
        }
        let Some(pending) = &mut peer.pending else { return };
        let fits = |session: &&mut Session| session.ids.own == sealed.0;
        let Some(session) = pending.session.as_mut().filter(fits) else { return };
        // Nobody has these keys but the initiator.
        if let Some((path, frames)) = session.open(sealed.1, sealed.2) {
            self.establish(now, place);
            if let Some((_, connection)) = &mut self.peers[place].connection {
                connection.on_opened(now, route, (path, &frames), entropy);
            }
            self.look_at_end(place);
        }
    }

    /// The initiator has used its keys: the connection begins, and replaces the one before.
    fn establish(&mut self, now: Time, place: usize) {
        let peer = &mut self.peers[place];
        let Some(Pending { session: Some(session), ask, route, .. }) = peer.pending.take() else {
            return;
        };
        let mut paths: Vec<_> = (0..ask.paths).map(|_| Path::new(None)).collect();
        let first = usize::from(ask.first);
        paths[first].establish(now, route);
        let (role, buffer) = (Role::Responder, ask.buffer);
        let start = Start { role, session, paths, first, buffer };
        if let Some((number, _)) = peer.connection.take() {
            self.events.push_back(Event::Ended(number, Closed::Replaced));
        }
        self.count += 1;
        let number = self.count * MOST_PEERS as u64 + place as u64;
        if let Some(connection) = Connection::new(&self.settings, start, now) {
            peer.connection = Some((number, connection));
            self.events.push_back(Event::Connected(number, peer.key));
        }
    }

    /// Forgets the connection of a peer when it has ended and has told the peer.
    fn look_at_end(&mut self, place: usize) {
        let peer = &mut self.peers[place];
        if let Some((number, connection)) = &mut peer.connection
            && let Some(why) = connection.closed()
        {
            while let Some(last) = connection.poll_transmit(Time::ZERO) {
                self.out.push_back(last);
            }
            self.events.push_back(Event::Ended(*number, why));
            peer.connection = None;
        }
    }

    /// When to call [`Responder::on_deadline`], or to poll again.
    pub fn next_deadline(&self) -> Time {
        let connections = self.peers.iter().filter_map(|peer| peer.connection.as_ref());
        let deadline = connections.map(|(_, connection)| connection.next_deadline()).min();
        deadline.unwrap_or(Time::NEVER)
    }

    /// The deadline has come.
    pub fn on_deadline(&mut self, now: Time, entropy: &mut dyn Entropy) {
        for place in 0..self.peers.len() {
            if let Some((_, connection)) = &mut self.peers[place].connection {
                connection.on_deadline(now, entropy);
                self.look_at_end(place);
            }
        }
    }

    /// The next datagram to send; call until `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        if let Some(transmit) = self.out.pop_front() {
            return Some(transmit);
        }
        for place in 0..self.peers.len() {
            if let Some((_, connection)) = &mut self.peers[place].connection {
                if let Some(transmit) = connection.poll_transmit(now) {
                    return Some(transmit);
                }
                self.look_at_end(place);
            }
        }
        self.out.pop_front()
    }
}
