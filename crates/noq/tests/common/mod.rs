//! Two noq endpoints in virtual time, with a link for each address of the client.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test uses its part, and a panic is a failure"
)]

use bytes::{Bytes, BytesMut};
use noq_proto::congestion::ControllerFactory;
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig,
    Event, FourTuple, PathId, PathStatus, ServerConfig, StreamId, Transmit, TransportConfig,
    VarInt,
};
use rcgen::{CertifiedKey, KeyPair};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

pub(crate) const MTU: u64 = 1200;

static KEY: LazyLock<CertifiedKey<KeyPair>> =
    LazyLock::new(|| rcgen::generate_simple_self_signed(["localhost".into()]).unwrap());

const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 9, 0, 1)), 4433);

pub(crate) const CLIENT: usize = 0;
pub(crate) const SERVES: usize = 1;

/// The first instant of virtual time.
pub(crate) fn start() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "an instant has no zero; only spans count")]
    Instant::now()
}

/// A link between an address of the client and the server, the same both ways.
pub(crate) struct Link {
    /// Bytes per second; zero: nothing passes.
    pub(crate) rate: f64,
    pub(crate) delay: Duration,
    /// Bytes that may wait.
    pub(crate) queue: f64,
    /// Fraction of packets lost at random.
    pub(crate) loss: f64,
    /// Whether packets are marked instead of dropped when half of the queue is full.
    pub(crate) marks: bool,
    /// The client's address as the server sees it.
    pub(crate) outside: SocketAddr,
    /// When each direction is idle again.
    pub(crate) free: [Instant; 2],
    pub(crate) flying: [VecDeque<(Instant, Packet)>; 2],
}

pub(crate) struct Packet {
    data: BytesMut,
    ecn: Option<noq_proto::EcnCodepoint>,
    /// The client's outer address, from or to which it goes.
    outside: SocketAddr,
}

/// One end: it sends a stream of zeros, and reads what comes.
pub(crate) struct End {
    endpoint: Endpoint,
    handle: Option<ConnectionHandle>,
    pub(crate) connection: Option<Connection>,
    config: Option<Arc<ServerConfig>>,
    sends: Option<StreamId>,
    reads: Vec<StreamId>,
    pub(crate) to_send: u64,
    pub(crate) received: u64,
    pub(crate) connected: bool,
    pub(crate) lost: bool,
}

pub(crate) struct Pair {
    pub(crate) now: Instant,
    pub(crate) links: Vec<Link>,
    pub(crate) ends: [End; 2],
    random: u64,
    buffer: Vec<u8>,
}

fn inside(link: usize) -> IpAddr {
    Ipv4Addr::new(10, 0, link as u8, 1).into()
}

fn transport(factory: Arc<dyn ControllerFactory + Send + Sync>, paths: u32) -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .congestion_controller_factory(factory)
        .max_concurrent_multipath_paths(paths)
        .mtu_discovery_config(None)
        .max_idle_timeout(Some(Duration::from_secs(60).try_into().unwrap()));
    config
}

fn end(seed: u64, config: Option<Arc<ServerConfig>>) -> End {
    let mut own = EndpointConfig::default();
    let mut bytes = [7; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    own.rng_seed(Some(bytes));
    End {
        endpoint: Endpoint::new(Arc::new(own), config.clone(), false),
        handle: None,
        connection: None,
        config,
        sends: None,
        reads: Vec::new(),
        to_send: 0,
        received: 0,
        connected: false,
        lost: false,
    }
}

impl Link {
    pub(crate) fn new(rate: f64, delay_ms: u64) -> Self {
        Link {
            rate,
            delay: Duration::from_millis(delay_ms),
            queue: (rate * 0.05).max(20_000.0),
            loss: 0.0,
            marks: false,
            outside: SERVER,
            free: [start(); 2],
            flying: [VecDeque::new(), VecDeque::new()],
        }
    }
}

impl Pair {
    /// A client that connects over the first link; `factories` are the client's and the server's.
    pub(crate) fn new(
        mut links: Vec<Link>,
        factories: [Arc<dyn ControllerFactory + Send + Sync>; 2],
        paths: u32,
        seed: u64,
    ) -> Self {
        let now = start();
        for (number, link) in links.iter_mut().enumerate() {
            link.outside = SocketAddr::new(inside(number), 1000);
            link.free = [now; 2];
        }
        let [client, server] = factories.map(|factory| Arc::new(transport(factory, paths)));
        let key = KEY.signing_key.serialize_der().try_into().unwrap();
        let mut served = ServerConfig::with_single_cert(vec![KEY.cert.der().clone()], key).unwrap();
        served.transport_config(server);
        let mut roots = noq_proto::rustls::RootCertStore::empty();
        roots.add(KEY.cert.der().clone()).unwrap();
        let mut config = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
        config.transport_config(client);
        let mut ends = [end(seed, None), end(!seed, Some(Arc::new(served)))];
        let (handle, connection) =
            ends[CLIENT].endpoint.connect(now, config, SERVER, "localhost").unwrap();
        ends[CLIENT].handle = Some(handle);
        ends[CLIENT].connection = Some(connection);
        Pair { now, links, ends, random: seed | 1, buffer: Vec::new() }
    }

    pub(crate) fn connection(&mut self, end: usize) -> &mut Connection {
        self.ends[end].connection.as_mut().unwrap()
    }

    /// The client opens a path over `link`, if the server has given it a number for one.
    pub(crate) fn open(&mut self, link: usize) -> Option<PathId> {
        let (now, tuple) = (self.now, FourTuple::new(SERVER, Some(inside(link))));
        self.connection(CLIENT).open_path(tuple, PathStatus::Available, now).ok()
    }

    /// The client gives a path up.
    pub(crate) fn close(&mut self, path: PathId) -> bool {
        let now = self.now;
        self.connection(CLIENT).close_path(now, path, VarInt::from_u32(0)).is_ok()
    }

    /// A NAT on `link` gives the client another port, or another address.
    pub(crate) fn rebind(&mut self, link: usize, address: bool) {
        let outside = &mut self.links[link].outside;
        match (address, outside.ip()) {
            (true, IpAddr::V4(ip)) => {
                let [a, b, c, d] = ip.octets();
                outside.set_ip(Ipv4Addr::new(a, b.wrapping_add(1), c, d).into());
            }
            _ => outside.set_port(outside.port() + 1),
        }
    }

    /// Lets time pass until `until`, with `look` after each event.
    pub(crate) fn run(&mut self, until: Duration, mut look: impl FnMut(&mut Pair)) {
        let end = self.now + until;
        loop {
            self.exchange();
            look(self);
            let next = self.next().filter(|next| *next <= end);
            let Some(next) = next else {
                self.now = end;
                return;
            };
            self.now = self.now.max(next);
        }
    }

    fn next(&mut self) -> Option<Instant> {
        let flights = self.links.iter().flat_map(|link| &link.flying);
        let arrivals = flights.filter_map(|flying| flying.front().map(|(at, _)| *at)).min();
        let timers = self.ends.iter().filter_map(|end| end.connection.as_ref()?.poll_timeout());
        arrivals.into_iter().chain(timers).min()
    }

    fn exchange(&mut self) {
        for end in [CLIENT, SERVES] {
            self.receive(end);
            self.ends[end].talk(self.now);
            self.send(end);
        }
    }

    /// Hands what has arrived at `end` to it.
    fn receive(&mut self, end: usize) {
        for link in 0..self.links.len() {
            let flying = &mut self.links[link].flying[1 - end];
            while flying.front().is_some_and(|(at, _)| *at <= self.now) {
                let Some((_, packet)) = flying.pop_front() else { break };
                let tuple = match end {
                    CLIENT => FourTuple::new(SERVER, Some(inside(link))),
                    _ => FourTuple::new(packet.outside, Some(SERVER.ip())),
                };
                self.ends[end].take(self.now, tuple, packet, &mut self.buffer);
            }
        }
    }

    fn send(&mut self, end: usize) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let many = NonZeroUsize::new(10).unwrap();
        while let Some(own) = &mut self.ends[end].connection {
            buffer.clear();
            let Some(transmit) = own.poll_transmit(self.now, many, &mut buffer) else { break };
            self.carry(end, &transmit, &buffer[..transmit.size]);
        }
        self.buffer = buffer;
    }

    /// Puts what `end` transmits onto its link.
    fn carry(&mut self, end: usize, transmit: &Transmit, data: &[u8]) {
        let of = |ip| (0..self.links.len()).find(|link| inside(*link) == ip);
        let link = match end {
            CLIENT => transmit.src_ip.map_or(Some(0), of),
            _ => self.links.iter().position(|link| link.outside == transmit.destination),
        };
        let Some(link) = link else { return }; // to an address that a NAT has forgotten
        for datagram in data.chunks(transmit.segment_size.unwrap_or(data.len()).max(1)) {
            self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695041);
            let draw = (self.random >> 40) as f64 / (1 << 24) as f64;
            let own = &mut self.links[link];
            let waits = own.free[end].saturating_duration_since(self.now).as_secs_f64() * own.rate;
            let size = datagram.len() as f64;
            if own.rate <= 0.0 || waits + size > own.queue || draw < own.loss {
                continue;
            }
            let marked = own.marks && waits > own.queue / 2.0 && transmit.ecn.is_some();
            let ecn = if marked { Some(noq_proto::EcnCodepoint::Ce) } else { transmit.ecn };
            let out = own.free[end].max(self.now) + Duration::from_secs_f64(size / own.rate);
            own.free[end] = out;
            let packet = Packet { data: datagram.into(), ecn, outside: own.outside };
            own.flying[end].push_back((out + own.delay, packet));
        }
    }
}

impl End {
    fn take(&mut self, now: Instant, tuple: FourTuple, packet: Packet, buffer: &mut Vec<u8>) {
        buffer.clear();
        match self.endpoint.handle(now, tuple, packet.ecn, packet.data, buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some(connection) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                let accepted = self.endpoint.accept(incoming, now, buffer, self.config.clone());
                if let Ok((handle, connection)) = accepted {
                    (self.handle, self.connection) = (Some(handle), Some(connection));
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    /// Timers, events and streams.
    fn talk(&mut self, now: Instant) {
        let (Some(connection), Some(handle)) = (&mut self.connection, self.handle) else { return };
        if connection.poll_timeout().is_some_and(|at| at <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            self.connected |= matches!(event, Event::Connected);
            self.lost |= matches!(event, Event::ConnectionLost { .. });
        }
        if !self.connected || self.lost {
            return;
        }
        self.reads.extend(connection.streams().accept(Dir::Uni));
        for id in &self.reads {
            let mut stream = connection.recv_stream(*id);
            if let Ok(mut chunks) = stream.read(true) {
                while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                    self.received += chunk.bytes.len() as u64;
                }
                let _ = chunks.finalize();
            }
        }
        if self.sends.is_none() {
            self.sends = connection.streams().open(Dir::Uni);
        }
        let Some(id) = self.sends else { return };
        static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
        while self.to_send > 0 {
            let most = self.to_send.min(ZEROS.len() as u64) as usize;
            let mut chunk = [Bytes::from_static(&ZEROS[..most])];
            match connection.send_stream(id).write_chunks(&mut &mut chunk[..]) {
                Ok(sent) if sent > 0 => self.to_send -= sent as u64,
                _ => break,
            }
        }
    }
}
