//! Where a carrier's packets leave and arrive: a UDP socket that sends and receives many datagrams
//! in one call, UDP_SEGMENT and UDP_GRO of Linux (udp(7)), or a raw socket.

use crate::raw::Packets;
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{
    self, ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, sockopt,
};
use std::cell::Cell;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, UdpSocket as StdSocket};
use std::os::fd::AsRawFd;
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// Bytes of the largest packet of IP: what a call sends or receives at most.
pub(crate) const PACKET: usize = 1 << 16;
/// Most datagrams of one call: UDP_MAX_SEGMENTS of kernels before 6.9.
const SEGMENTS: usize = 64;

/// A socket before it belongs to a runtime.
pub(crate) enum Bound {
    Datagrams(StdSocket),
    /// Raw: it sends and receives whole packets of IP.
    Packets(socket2::Socket),
}

/// A socket of a runtime.
pub(crate) enum Port {
    Datagrams(Datagrams),
    Packets(Packets),
}

impl Port {
    pub(crate) fn new(socket: Bound) -> io::Result<Self> {
        match socket {
            Bound::Datagrams(socket) => Datagrams::new(socket).map(Port::Datagrams),
            Bound::Packets(socket) => Packets::new(socket).map(Port::Packets),
        }
    }

    /// Most datagrams that a call sends.
    pub(crate) fn most(&self) -> usize {
        match self {
            Port::Datagrams(own) => own.most(),
            Port::Packets(_) => 1,
        }
    }

    /// Waits until something has arrived.
    pub(crate) async fn readable(&self) -> io::Result<()> {
        match self {
            Port::Datagrams(own) => own.readable().await,
            Port::Packets(own) => own.readable().await,
        }
    }

    /// Waits for room.
    pub(crate) async fn writable(&self) -> io::Result<()> {
        match self {
            Port::Datagrams(own) => own.writable().await,
            Port::Packets(own) => own.writable().await,
        }
    }

    /// Sends `bytes` as datagrams of `segment` bytes each; the last may be shorter.
    pub(crate) fn try_send(&self, to: SocketAddr, bytes: &[u8], segment: usize) -> io::Result<()> {
        match self {
            Port::Datagrams(own) => own.try_send(to, bytes, segment),
            Port::Packets(own) => own.try_send(to, bytes),
        }
    }

    /// Receives one packet: calls `take` with each of its datagrams and their sender. `buffer` has
    /// [`PACKET`] bytes.
    pub(crate) fn try_receive(
        &self,
        buffer: &mut [u8],
        take: impl FnMut(SocketAddr, &[u8]),
    ) -> io::Result<()> {
        match self {
            Port::Datagrams(own) => own.try_receive(buffer, take),
            Port::Packets(own) => own.try_receive(buffer, take),
        }
    }
}

/// A UDP socket of a runtime.
pub(crate) struct Datagrams {
    socket: UdpSocket,
    /// Most datagrams of one call.
    most: Cell<usize>,
}

impl Datagrams {
    fn new(socket: StdSocket) -> io::Result<Self> {
        // What a kernel does not know costs speed, not correctness.
        let _ = socket::setsockopt(&socket, sockopt::UdpGroSegment, &true);
        Ok(Datagrams { socket: UdpSocket::from_std(socket)?, most: Cell::new(SEGMENTS) })
    }

    fn most(&self) -> usize {
        self.most.get()
    }

    async fn readable(&self) -> io::Result<()> {
        self.socket.readable().await
    }

    async fn writable(&self) -> io::Result<()> {
        self.socket.writable().await
    }

    fn try_send(&self, to: SocketAddr, bytes: &[u8], segment: usize) -> io::Result<()> {
        if bytes.len() <= segment {
            return self.socket.try_send_to(bytes, to).map(drop);
        }
        let size = segment as u16; // a datagram of IP is shorter than that
        let (parts, control) = ([IoSlice::new(bytes)], [ControlMessage::UdpGsoSegments(&size)]);
        let (own, to) = (self.socket.as_raw_fd(), SockaddrStorage::from(to));
        let sent = self.socket.try_io(Interest::WRITABLE, || {
            Ok(socket::sendmsg(own, &parts, &control, MsgFlags::empty(), Some(&to))?)
        });
        let refused = [Errno::EIO, Errno::EINVAL, Errno::EMSGSIZE];
        if sent
            .as_ref()
            .is_err_and(|e| refused.iter().any(|no| e.raw_os_error() == Some(*no as i32)))
        {
            self.most.set(1); // the device cannot segment, or a datagram exceeds the path's MTU
        }
        sent.map(drop)
    }

    fn try_receive(
        &self,
        buffer: &mut [u8],
        mut take: impl FnMut(SocketAddr, &[u8]),
    ) -> io::Result<()> {
        let own = self.socket.as_raw_fd();
        let mut space = cmsg_space!(i32);
        let (len, size, from) = self.socket.try_io(Interest::READABLE, || {
            let mut parts = [IoSliceMut::new(buffer)];
            let flags = MsgFlags::empty();
            let got = socket::recvmsg::<SockaddrStorage>(own, &mut parts, Some(&mut space), flags)?;
            let size = got.cmsgs()?.find_map(|it| match it {
                ControlMessageOwned::UdpGroSegments(size) => usize::try_from(size).ok(),
                _ => None,
            });
            Ok((got.bytes, size, got.address))
        })?;
        if let Some(from) = from.and_then(sender) {
            buffer[..len].chunks(size.unwrap_or(len).max(1)).for_each(|it| take(from, it));
        }
        Ok(())
    }
}

fn sender(address: SockaddrStorage) -> Option<SocketAddr> {
    let v4 = address.as_sockaddr_in().map(|own| SocketAddr::V4((*own).into()));
    v4.or_else(|| address.as_sockaddr_in6().map(|own| SocketAddr::V6((*own).into())))
}
