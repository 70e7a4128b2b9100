//! A host: an endpoint of the stack with one connection, and the datagrams that it sends.

use crate::clock::{instant, time};
use crate::control::Factory;
use crate::settings::Settings;
use crate::tls;
use bytes::BytesMut;
use noq_proto::congestion::NewRenoConfig;
use noq_proto::{
    Connection, ConnectionHandle, ConnectionId, ConnectionIdGenerator, DatagramEvent, EcnCodepoint,
    Endpoint, EndpointConfig, Event, FourTuple, InvalidCid, Transmit, TransportConfig, VarInt,
};
use ring::hmac;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;
use units::Time;
use wire::{Flags, QuicDatagram};

/// The port of the server, and that of the client.
const PORT: u16 = 443;

/// Bytes of a connection ID.
pub(crate) const ID_BYTES: usize = 8;

/// After so much silence one of several paths is given up, and its data sent on another one. The
/// stack has no value of its own; this is iroh's.
const PATH_IDLE: Duration = Duration::from_secs(15);

/// The two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client = 1,
    Server = 2,
}

/// The address of a side on `path`: 10.H.L.1 or 10.H.L.2, where H and L are the bytes of the path's
/// number.
fn address(side: Side, path: usize) -> IpAddr {
    let [high, low] = (path as u16).to_be_bytes();
    Ipv4Addr::new(10, high, low, side as u8).into()
}

/// The path to which an address belongs.
fn path_of(address: IpAddr) -> usize {
    match address {
        IpAddr::V4(address) => {
            let [_, high, low, _] = address.octets();
            usize::from(u16::from_be_bytes([high, low]))
        }
        IpAddr::V6(_) => unreachable!("hosts have addresses of version 4"),
    }
}

/// A host.
pub(crate) struct Host {
    side: Side,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Datagrams that the endpoint answers itself.
    replies: VecDeque<(usize, QuicDatagram)>,
    /// Whether the host sets and reads the bits of ECN.
    ecn: bool,
    /// Bytes of a full datagram.
    mtu: usize,
    /// An empty buffer, for replies of the endpoint.
    scratch: Vec<u8>,
}

impl Host {
    /// A host with randomness from `seed`; a server accepts the first connection.
    pub(crate) fn new(side: Side, settings: &Settings, seed: u64) -> Self {
        let server = (side == Side::Server).then(|| {
            // A server sends no data: what its windows are does not matter.
            let own = NewRenoConfig::default();
            Arc::new(tls::server_config(Arc::new(transport(settings, Arc::new(own)))))
        });
        let own = seed ^ side as u64;
        Host {
            side,
            // Paths have one MTU: it is not searched for.
            endpoint: Endpoint::new(Arc::new(endpoint(settings, own)), server, false),
            connection: None,
            replies: VecDeque::new(),
            ecn: settings.options.ecn,
            mtu: usize::from(settings.mtu()),
            scratch: Vec::new(),
        }
    }

    /// The client connects over `path`, with controllers of `factory`.
    pub(crate) fn connect(
        &mut self,
        now: Time,
        path: usize,
        settings: &Settings,
        factory: Factory,
        seed: u64,
    ) {
        let id = ConnectionId::new(&Numbers(seed).bytes::<20>());
        let mut config = tls::client_config();
        config.transport_config(Arc::new(transport(settings, factory)));
        config.initial_dst_cid_provider(Arc::new(move || id));
        let remote = SocketAddr::new(address(Side::Server, path), PORT);
        let connected = self.endpoint.connect(instant(now), config, remote, tls::SERVER);
        self.connection = Some(connected.expect("the address and the name are right"));
    }

    /// The connection, once there is one.
    pub(crate) fn connection(&self) -> Option<&Connection> {
        self.connection.as_ref().map(|(_, connection)| connection)
    }

    pub(crate) fn connection_mut(&mut self) -> Option<&mut Connection> {
        self.connection.as_mut().map(|(_, connection)| connection)
    }

    /// The addresses of `path` as this host sees them.
    pub(crate) fn four_tuple(&self, path: usize) -> FourTuple {
        let (own, other) = match self.side {
            Side::Client => (Side::Client, Side::Server),
            Side::Server => (Side::Server, Side::Client),
        };
        FourTuple::new(SocketAddr::new(address(other, path), PORT), Some(address(own, path)))
    }

    /// A datagram arrived on `path`.
    pub(crate) fn receive(&mut self, now: Time, path: usize, datagram: &QuicDatagram) {
        let ecn = codepoint(datagram.flags).filter(|_| self.ecn);
        let bytes = BytesMut::from(&datagram.bytes[..]);
        let (at, ends) = (instant(now), self.four_tuple(path));
        self.scratch.clear();
        let Some(event) = self.endpoint.handle(at, ends, ecn, bytes, &mut self.scratch) else {
            return;
        };
        match event {
            DatagramEvent::ConnectionEvent(handle, event) => {
                if let Some((own, connection)) = &mut self.connection
                    && *own == handle
                {
                    connection.handle_event(event);
                }
            }
            DatagramEvent::NewConnection(incoming) if self.connection.is_none() => {
                match self.endpoint.accept(incoming, at, &mut self.scratch, None) {
                    Ok(accepted) => self.connection = Some(accepted),
                    Err(error) => {
                        if let Some(transmit) = error.response {
                            self.reply(&transmit);
                        }
                    }
                }
            }
            DatagramEvent::NewConnection(incoming) => self.endpoint.ignore(incoming),
            DatagramEvent::Response(transmit) => self.reply(&transmit),
        }
        self.settle();
    }

    /// Keeps a datagram of the endpoint's own, whose bytes are in the buffer.
    fn reply(&mut self, transmit: &Transmit) {
        let bytes = self.scratch[..transmit.size].to_vec();
        let datagram = QuicDatagram { bytes, flags: Flags::NONE };
        self.replies.push_back((path_of(transmit.destination.ip()), datagram));
    }

    /// The time of [`Host::deadline`] may have come.
    pub(crate) fn on_deadline(&mut self, now: Time) {
        let at = instant(now);
        if let Some((_, connection)) = &mut self.connection
            && connection.poll_timeout().is_some_and(|due| due <= at)
        {
            connection.handle_timeout(at);
            self.settle();
        }
    }

    /// The next timer of the connection.
    pub(crate) fn deadline(&self) -> Time {
        self.connection().and_then(Connection::poll_timeout).map_or(Time::NEVER, time)
    }

    /// Passes what the connection tells the endpoint, and the answers.
    fn settle(&mut self) {
        let Some((handle, connection)) = &mut self.connection else {
            return;
        };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
    }

    /// Sends a packet on every path, which its other end has to answer.
    pub(crate) fn ping(&mut self) {
        let Some(connection) = self.connection_mut() else {
            return;
        };
        for path in connection.paths() {
            // A path that was closed a moment ago needs none.
            connection.ping_path(path).ok();
        }
    }

    /// What the application is told next.
    pub(crate) fn event(&mut self) -> Option<Event> {
        self.connection_mut().and_then(Connection::poll)
    }

    /// The next datagram to send, and its path.
    pub(crate) fn poll(&mut self, now: Time) -> Option<(usize, QuicDatagram)> {
        if let Some(reply) = self.replies.pop_front() {
            return Some(reply);
        }
        let (_, connection) = self.connection.as_mut()?;
        let mut bytes = std::mem::take(&mut self.scratch);
        bytes.clear();
        bytes.reserve(self.mtu);
        let Some(transmit) = connection.poll_transmit(instant(now), NonZeroUsize::MIN, &mut bytes)
        else {
            self.scratch = bytes; // it was not used
            return None;
        };
        bytes.truncate(transmit.size);
        let ecn = transmit.ecn.filter(|_| self.ecn);
        let flags = if ecn.is_some() { Flags::CAPABLE } else { Flags::NONE };
        self.settle();
        Some((path_of(transmit.destination.ip()), QuicDatagram { bytes, flags }))
    }
}

/// The bits of ECN of a datagram.
fn codepoint(flags: Flags) -> Option<EcnCodepoint> {
    if flags.has(Flags::MARKED) {
        Some(EcnCodepoint::Ce)
    } else {
        flags.has(Flags::CAPABLE).then_some(EcnCodepoint::Ect0)
    }
}

/// The transport of both sides. What is not set here is as the stack has it.
fn transport(settings: &Settings, control: Factory) -> TransportConfig {
    let options = &settings.options;
    let mtu = settings.mtu();
    let window = VarInt::from_u64(options.receive_buffer.0).unwrap_or(VarInt::MAX);
    let mut config = TransportConfig::default();
    config
        // The path's MTU is known, so that nothing searches for it or takes losses for a smaller.
        .mtu_discovery_config(None)
        .initial_mtu(mtu)
        .min_mtu(mtu)
        // One datagram at a time, as links carry them.
        .enable_segmentation_offload(false)
        .stream_receive_window(window)
        .receive_window(window)
        // The receive window alone limits what is in flight, as with TCP.
        .send_window(options.receive_buffer.0.saturating_mul(2))
        // A run may have longer pauses and outages.
        .max_idle_timeout(None)
        .congestion_controller_factory(control);
    if settings.backup.len() > 1 {
        config
            .max_concurrent_multipath_paths(settings.backup.len() as u32)
            // The stack finds that data on a silent path is lost when it gives the path up.
            .default_path_max_idle_timeout(Some(PATH_IDLE));
    }
    config
}

/// An endpoint whose randomness comes from `seed`.
fn endpoint(settings: &Settings, seed: u64) -> EndpointConfig {
    let mut numbers = Numbers(seed);
    let key = hmac::Key::new(hmac::HMAC_SHA256, &numbers.bytes::<64>());
    let mut config = EndpointConfig::new(Arc::new(key));
    config.rng_seed(Some(numbers.bytes()));
    let first = numbers.next();
    config.cid_generator(Arc::new(move || Box::new(Ids(Numbers(first)))));
    config.max_udp_payload_size(settings.mtu()).expect("a packet is long enough");
    config
}

/// Connection IDs in a row that the seed begins.
struct Ids(Numbers);

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.0.bytes::<ID_BYTES>())
    }

    fn validate(&self, _id: ConnectionId) -> Result<(), InvalidCid> {
        Ok(())
    }

    fn cid_len(&self) -> usize {
        ID_BYTES
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014): keys and names, of which only inequality matters, and
/// the seed of the stack's own generator, ChaCha, which needs no more of a seed than that either.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        for part in bytes.chunks_mut(8) {
            let number = self.next().to_le_bytes();
            part.copy_from_slice(&number[..part.len()]);
        }
        bytes
    }
}
