//! The end that begins: it knows the responder's key and addresses, and renews the keys.
//!
//! ```text
//!   hello ─►   ◄─ cookie   initiate ─►   ◄─ accept   sealed ─►
//! ```
//!
//! A step without an answer begins anew, on the next path, with twice the time to wait.

use crate::ask::{Ask, Grant, Purpose};
use crate::connection::{Closed, Connection, Start};
use crate::datagram::{self, Datagram};
use crate::mux::Role;
use crate::noise::{self, Begun, Ids, Session};
use crate::path::Path;
use crate::route::{Route, Transmit};
use crate::{Entropy, MAX_PATHS, PublicKey, SecretKey, Settings, draw};
use units::{Span, Time};

/// First time to wait for the end of a handshake, and the longest.
const WAIT: [Span; 2] = [Span::millis(500), Span::millis(4_000)];
/// Age at which keys are renewed.
const RENEWAL: Span = Span::millis(120_000);

/// A handshake under way.
#[derive(Debug)]
enum Step {
    Idle,
    Hello { nonce: [u8; 8] },
    Initiated { begun: Option<Box<Begun>>, own: u32 },
}

/// The initiating end of one connection.
#[derive(Debug)]
pub struct Initiator {
    secret: SecretKey,
    peer: PublicKey,
    settings: Settings,
    /// Where each path goes; none while its local address is missing.
    routes: Vec<Option<Route>>,
    step: Step,
    /// The path of the handshake.
    on: usize,
    /// When the handshake begins anew.
    again: Time,
    wait: Span,
    out: Option<Transmit>,
    connection: Option<Connection>,
}

impl Initiator {
    /// A connection to `peer` over at most [`MAX_PATHS`] `routes`, in the order of its paths. It
    /// begins with the first [`Initiator::on_deadline`].
    pub fn new(secret: SecretKey, peer: PublicKey, settings: Settings, routes: &[Route]) -> Self {
        Initiator {
            secret,
            peer,
            settings,
            routes: routes.iter().take(MAX_PATHS).map(|route| Some(*route)).collect(),
            step: Step::Idle,
            on: 0,
            again: Time::ZERO,
            wait: WAIT[0],
            out: None,
            connection: None,
        }
    }

    /// The connection, once it is established.
    pub fn connection(&mut self) -> Option<&mut Connection> {
        self.connection.as_mut()
    }

    /// Forgets a connection that has ended and begins a new one. Returns why it has ended.
    pub fn renew(&mut self, now: Time) -> Option<Closed> {
        let why = self.connection.as_ref()?.closed()?;
        (self.connection, self.step, self.again, self.wait) = (None, Step::Idle, now, WAIT[0]);
        Some(why)
    }

    /// The local address of `path` has changed, or is missing.
    pub fn rebind(&mut self, path: usize, route: Option<Route>) {
        if let Some(own) = self.routes.get_mut(path) {
            *own = route;
            if let Some(connection) = &mut self.connection {
                connection.rebind(path, route);
            }
        }
    }

    /// A datagram arrived.
    pub fn on_datagram(
        &mut self,
        now: Time,
        route: Route,
        bytes: &[u8],
        entropy: &mut dyn Entropy,
    ) {
        match datagram::parse(bytes) {
            Some(Datagram::Cookie { nonce, cookie }) => {
                if matches!(self.step, Step::Hello { nonce: own } if own == nonce) {
                    self.initiate(route, &cookie, entropy);
                }
            }
            Some(Datagram::Accept { to, message }) => {
                self.on_accept(now, route, to, message);
            }
            Some(Datagram::Sealed { to, nonce, body }) => {
                if let Some(connection) = &mut self.connection {
                    connection.on_sealed(now, route, (to, nonce, body), entropy);
                }
            }
            Some(Datagram::Hello { .. } | Datagram::Initiate { .. }) | None => {}
        }
    }

    fn initiate(&mut self, route: Route, cookie: &[u8; 16], entropy: &mut dyn Entropy) {
        let purpose = match &self.connection {
            None => Purpose::New,
            Some(connection) => Purpose::Renewal { of: connection.peers_id() },
        };
        let (paths, first) = (self.routes.len() as u8, self.on as u8);
        let own = u32::from_be_bytes(draw(entropy));
        let buffer = self.settings.buffer;
        let ask = Ask { session: own, purpose, paths, first, buffer }.encode();
        if let Some((begun, message)) =
            noise::begin(&self.secret, &self.peer, cookie, &ask, entropy)
        {
            let bytes = Datagram::Initiate { cookie: *cookie, message: &message };
            self.out = Some(Transmit { route, bytes: bytes.encode() });
            self.step = Step::Initiated { begun: Some(Box::new(begun)), own };
        }
    }

    fn on_accept(&mut self, now: Time, route: Route, to: u32, message: &[u8]) {
        let Step::Initiated { begun, own } = &mut self.step else { return };
        if *own != to {
            return;
        }
        // A wrong message spoils the handshake: it begins anew when its time is over.
        let Some(begun) = begun.take() else { return };
        let Some((payload, transport)) = begun.finish(message) else { return };
        let Some(Grant { session: peers, buffer }) = Grant::decode(&payload) else { return };
        let session = Session::new(transport, Ids { own: to, peers }, now);
        match &mut self.connection {
            Some(connection) => connection.use_session(session),
            None => {
                let mut paths: Vec<Path> = self.routes.iter().map(|it| Path::new(*it)).collect();
                let first = self.on;
                paths[first].establish(now, route);
                let start = Start { role: Role::Initiator, session, paths, first, buffer };
                self.connection = Connection::new(&self.settings, start, now);
            }
        }
        (self.step, self.wait) = (Step::Idle, WAIT[0]);
    }

    /// When to call [`Initiator::on_deadline`], or to poll again.
    pub fn next_deadline(&self) -> Time {
        let handshake = match (&self.connection, &self.step) {
            (Some(connection), Step::Idle) => connection.keys_from() + RENEWAL,
            _ => self.again,
        };
        let connection = self.connection.as_ref();
        match connection.filter(|connection| connection.closed().is_some()) {
            Some(_) => Time::NEVER,
            None => handshake.min(connection.map_or(Time::NEVER, Connection::next_deadline)),
        }
    }

    /// The deadline has come.
    pub fn on_deadline(&mut self, now: Time, entropy: &mut dyn Entropy) {
        let due = match (&self.connection, &self.step) {
            (Some(it), _) if it.closed().is_some() => false,
            (Some(it), Step::Idle) => now.since(it.keys_from()) >= RENEWAL,
            _ => self.again <= now,
        };
        if due {
            self.begin(now, entropy);
        }
        if let Some(connection) = &mut self.connection {
            connection.on_deadline(now, entropy);
        }
    }

    /// Begins a handshake, on the path after the last one that has an address.
    fn begin(&mut self, now: Time, entropy: &mut dyn Entropy) {
        if !matches!(self.step, Step::Idle) {
            self.on = (self.on + 1) % self.routes.len().max(1);
            self.wait = Span((2 * self.wait.0).min(WAIT[1].0));
        }
        self.again = now + self.wait;
        let nonce = draw(entropy);
        self.step = Step::Hello { nonce };
        if let Some(Some(route)) = self.routes.get(self.on) {
            let bytes = Datagram::Hello { nonce }.encode();
            self.out = Some(Transmit { route: *route, bytes });
        }
    }

    /// The next datagram to send; call until `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        let connection = &mut self.connection;
        self.out.take().or_else(|| connection.as_mut()?.poll_transmit(now))
    }
}
