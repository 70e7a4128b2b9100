//! TCP in packets of its own beside the kernel's TCP: raw sockets (raw(7)), and ports that the
//! kernel leaves alone.
//!
//! The kernel answers packets for a port that nobody listens on with a reset. A listener of its
//! own TCP that wants a time to live of 255 keeps it silent (IP_MINTTL of ip(7); RFC 5082): packets
//! with a smaller one are dropped before any answer, as all are that began with 64 or have passed a
//! router. It reserves the port, and goes with its process. So no rule of netfilter, no device and
//! no address is made, and nothing is left if the process is killed. A filter on the listener would
//! do the same, but there Linux 6.18 wants CAP_NET_ADMIN.

use crate::Error;
use crate::socket::Local;
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, SockaddrIn, recv, sendto, setsockopt};
use nix::{libc, setsockopt_impl, sockopt_impl};
use socket2::{Domain, Protocol, SockFilter, Socket, Type};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::AsRawFd;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Wanted size of the receive buffer in bytes, as for datagrams.
const RECEIVE_BYTES: usize = 4 << 20;
const SEND_BYTES: usize = 512 << 10;

// Instructions of a filter: classic BPF over the packet from its IP header on.
const LOAD_WORD: u16 = 0x20;
const LOAD_HALF_AT_X: u16 = 0x48;
const LOAD_BYTE_AT_X: u16 = 0x50;
const X_IS_HEADER_LENGTH: u16 = 0xb1;
const JUMP_IF_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;

const SOURCE: u32 = 12;
const PROTOCOL: u32 = 9;
const ALL: u32 = u32::MAX;

/// The largest time to live.
const NEIGHBOURS: u8 = 255;

sockopt_impl!(
    /// Smallest time to live of packets that a socket receives.
    MinTtl,
    SetOnly,
    libc::IPPROTO_IP,
    libc::IP_MINTTL,
    u8
);

/// Takes what is equal to `value`, and jumps over `others` instructions else.
fn equal(value: u32, others: u8) -> SockFilter {
    SockFilter::new(JUMP_IF_EQUAL, 0, others, value)
}

fn load(code: u16, at: u32) -> SockFilter {
    SockFilter::new(code, 0, 0, at)
}

fn answer(bytes: u32) -> SockFilter {
    SockFilter::new(RETURN, 0, 0, bytes)
}

/// A raw socket of `protocol` that receives what `filter` takes.
fn raw(protocol: Protocol, filter: &[SockFilter]) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::RAW, Some(protocol))?;
    socket.attach_filter(filter)?;
    // What the kernel refuses costs speed, not correctness.
    let _ = socket.set_recv_buffer_size(RECEIVE_BYTES);
    let _ = socket.set_send_buffer_size(SEND_BYTES);
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn refused(field: &'static str, error: &io::Error) -> Error {
    let why = match error.raw_os_error() {
        Some(code) if code == Errno::EPERM as i32 => {
            "TCP in packets of its own needs CAP_NET_RAW; run it as root or with that capability, \
             or give --over udp"
                .to_owned()
        }
        _ => format!("no raw socket: {error}"),
    };
    Error::wrong(field, why)
}

/// A socket for packets of TCP from `remote`; packets leave by the route of `local`.
pub(crate) fn from(remote: SocketAddrV4, local: &Local) -> Result<Socket, Error> {
    let filter = [
        load(LOAD_WORD, SOURCE),
        equal(u32::from(*remote.ip()), 4),
        load(X_IS_HEADER_LENGTH, 0),
        load(LOAD_HALF_AT_X, 0),
        equal(u32::from(remote.port()), 1),
        answer(ALL),
        answer(0),
    ];
    let socket = raw(Protocol::TCP, &filter).and_then(|socket| {
        socket.set_header_included_v4(true)?;
        Ok(socket)
    });
    let socket = socket.map_err(|error| refused("over", &error))?;
    let bound = match local {
        Local::Any => Ok(()),
        Local::Interface(name) => socket.bind_device(Some(name.as_bytes())),
        // It may be missing now: the path works when it comes.
        Local::Address(address) => socket
            .set_freebind_v4(true)
            .and_then(|()| socket.bind(&SocketAddr::new(*address, 0).into())),
    };
    let wrong = |error| Error::wrong("path", format!("{local} cannot be bound: {error}"));
    bound.map(|()| socket).map_err(wrong)
}

/// A socket for packets of TCP to `local`.
pub(crate) fn to(local: SocketAddrV4) -> Result<Socket, Error> {
    let filter = [
        load(X_IS_HEADER_LENGTH, 0),
        load(LOAD_HALF_AT_X, 2),
        equal(u32::from(local.port()), 1),
        answer(ALL),
        answer(0),
    ];
    let socket = raw(Protocol::TCP, &filter).and_then(|socket| {
        socket.set_header_included_v4(true)?;
        socket.bind(&SocketAddrV4::new(*local.ip(), 0).into())?;
        Ok(socket)
    });
    socket.map_err(|error| refused("over", &error))
}

/// A socket for reports of routers that a packet of TCP was too big (RFC 1191).
pub(crate) fn too_big() -> Result<Socket, Error> {
    let (unreachable, fragmentation, tcp) = (3, 4, 6);
    let filter = [
        load(X_IS_HEADER_LENGTH, 0),
        load(LOAD_BYTE_AT_X, 0),
        equal(unreachable, 5),
        load(LOAD_BYTE_AT_X, 1),
        equal(fragmentation, 3),
        load(LOAD_BYTE_AT_X, 8 + PROTOCOL),
        equal(tcp, 1),
        answer(ALL),
        answer(0),
    ];
    raw(Protocol::ICMPV4, &filter).map_err(|error| refused("over", &error))
}

/// Keeps the kernel from using `local`, or a free port of its address, and from answering there.
/// It lasts as long as the socket.
///
/// # Errors
/// The address is missing, or the port is in use.
pub(crate) fn reserve(local: SocketAddrV4) -> io::Result<(SocketAddrV4, Socket)> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    setsockopt(&socket, MinTtl, &NEIGHBOURS)?;
    socket.bind(&local.into())?;
    socket.listen(1)?;
    let bound = socket.local_addr()?.as_socket_ipv4();
    let bound = bound.ok_or_else(|| io::Error::from(io::ErrorKind::AddrNotAvailable))?;
    Ok((bound, socket))
}

/// A raw socket of a runtime.
pub(crate) struct Packets(AsyncFd<Socket>);

impl Packets {
    #[expect(
        deprecated,
        reason = "a socket has the same descriptor as long as it lives; the newer function is unsafe"
    )]
    pub(crate) fn new(socket: Socket) -> io::Result<Self> {
        AsyncFd::new(socket).map(Packets)
    }

    pub(crate) async fn readable(&self) -> io::Result<()> {
        self.0.readable().await.map(drop)
    }

    pub(crate) async fn writable(&self) -> io::Result<()> {
        self.0.writable().await.map(drop)
    }

    /// Sends a packet, which begins with its IP header.
    pub(crate) fn try_send(&self, to: SocketAddr, packet: &[u8]) -> io::Result<()> {
        let SocketAddr::V4(to) = to else { return Err(io::ErrorKind::Unsupported.into()) };
        let to = SockaddrIn::from(to);
        let send = |own: &Socket| {
            Ok(sendto(own.as_raw_fd(), packet, &to, MsgFlags::MSG_DONTWAIT).map(drop)?)
        };
        self.0.try_io(Interest::WRITABLE, send)
    }

    /// Receives a packet and calls `take` with its source and bytes.
    pub(crate) fn try_receive(
        &self,
        buffer: &mut [u8],
        mut take: impl FnMut(SocketAddr, &[u8]),
    ) -> io::Result<()> {
        let receive = |own: &Socket| Ok(recv(own.as_raw_fd(), buffer, MsgFlags::MSG_DONTWAIT)?);
        let len = self.0.try_io(Interest::READABLE, receive)?;
        let packet = &mut buffer[..len];
        complete(packet);
        if let Some(source) = packet.get(12..16).and_then(|it| <[u8; 4]>::try_from(it).ok()) {
            take(SocketAddr::from((Ipv4Addr::from(source), 0)), packet);
        }
        Ok(())
    }
}

/// Bytes of a plain IP header.
const HEADER: usize = 20;
/// Where the checksum is in a TCP header, and that header's length.
const CHECKSUM: usize = 16;
const TCP_HEADER: usize = 20;

/// The sum of 16-bit words, folded.
fn sum(start: u32, bytes: &[u8]) -> u32 {
    let pairs = bytes
        .chunks(2)
        .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)])));
    let sum = pairs.fold(u64::from(start), |sum, word| sum + u64::from(word));
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    ((folded & 0xffff) + (folded >> 16)) as u32
}

/// Computes the checksum of a TCP packet that the kernel has left to a device: one of this machine,
/// or several from the network that it has checked and put together. Such a packet has the sum of
/// the pseudo-header alone in the field. Other packets stay as they are.
fn complete(packet: &mut [u8]) {
    let tcp = usize::from(packet.first().copied().unwrap_or(0) & 0xf) * 4;
    let is_tcp = packet.get(PROTOCOL as usize) == Some(&6);
    if !is_tcp || tcp < HEADER || packet.len() < tcp + TCP_HEADER {
        return;
    }
    let length = (packet.len() - tcp) as u32; // below 64 KiB
    let pseudo = sum(6 + length, &packet[12..20]);
    let field = tcp + CHECKSUM..tcp + CHECKSUM + 2;
    if packet[field.clone()] != (pseudo as u16).to_be_bytes() {
        return;
    }
    packet[field.clone()].fill(0);
    let whole = !(sum(pseudo, &packet[tcp..]) as u16);
    packet[field].copy_from_slice(&whole.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wire::packet::{Ecn, Endpoint, Received, TcpSegment};

    fn packet(from: u32, to: u32, seq: u32, payload: &[u8]) -> Vec<u8> {
        let end = |address: u32| Endpoint { address: Ipv4Addr::from(address), port: 7 };
        let segment = TcpSegment {
            from: end(from),
            to: end(to),
            id: 0,
            ecn: Ecn::None,
            seq,
            ack: Some(9),
            syn: false,
            fin: false,
            reset: false,
            echo: false,
            reduced: false,
            window: 1000,
            options: vec![],
        };
        segment.encode(payload)
    }

    proptest! {
        #[test]
        fn a_checksum_that_was_left_to_a_device_is_computed_and_others_stay(
            from: u32, to: u32, seq: u32, payload: Vec<u8>,
        ) {
            let right = packet(from, to, seq, &payload);
            let mut own = right.clone();
            complete(&mut own);
            prop_assert_eq!(&own, &right);
            let pseudo = sum(6 + (right.len() - HEADER) as u32, &right[12..20]) as u16;
            own[HEADER + CHECKSUM..][..2].copy_from_slice(&pseudo.to_be_bytes());
            complete(&mut own);
            prop_assert_eq!(&own, &right);
            prop_assert!(Received::read(&own).is_some());
        }

        #[test]
        fn any_bytes_are_taken(mut bytes: Vec<u8>) {
            complete(&mut bytes);
        }

        #[test]
        fn a_wrong_checksum_stays_wrong(payload in prop::collection::vec(any::<u8>(), 1..99), at: prop::sample::Index, change in 1u8..) {
            let mut own = packet(1, 2, 3, &payload);
            let at = HEADER + TCP_HEADER + at.index(payload.len());
            own[at] ^= change;
            complete(&mut own);
            prop_assert!(Received::read(&own).is_none());
        }
    }

    #[test]
    fn a_reserved_port_cannot_be_used_and_does_not_answer() {
        let (end, held) = reserve("127.0.0.1:0".parse().unwrap()).unwrap();
        assert!(std::net::TcpListener::bind(end).is_err());
        let within = std::time::Duration::from_millis(100);
        let asked = std::net::TcpStream::connect_timeout(&end.into(), within);
        assert_eq!(asked.unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(held);
        let asked = std::net::TcpStream::connect_timeout(&end.into(), within);
        assert_eq!(asked.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    }
}
