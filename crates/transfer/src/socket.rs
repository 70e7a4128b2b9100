//! A UDP socket whose packets have a local address even before a path has chosen one.
//!
//! noq opens further paths with a local address, which it gives to the kernel with each packet
//! (IP_PKTINFO), so one socket on the wildcard address serves all paths, and the kernel's rules
//! route by source address. Only the first path of a client has no local address until the first
//! answer comes: this socket gives it one.

use crate::Error;
use noq::udp::{RecvMeta, Transmit};
use noq::{AsyncUdpSocket, Runtime, TokioRuntime, UdpSender};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

/// Wanted size of the socket's buffers in bytes. The kernel gives less where its limit is lower.
const BUFFER_BYTES: usize = 4 << 20;

/// Binds a UDP socket. IPv6 sockets take IPv6 alone, so that local addresses keep their family.
pub(crate) fn bind(field: &'static str, address: SocketAddr) -> Result<UdpSocket, Error> {
    let bound = || -> io::Result<UdpSocket> {
        let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        if address.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        // What the kernel refuses costs speed, not correctness.
        let _ = socket.set_recv_buffer_size(BUFFER_BYTES);
        let _ = socket.set_send_buffer_size(BUFFER_BYTES);
        socket.bind(&address.into())?;
        socket.set_nonblocking(true)?;
        Ok(socket.into())
    };
    bound().map_err(|e| Error::wrong(field, format!("{address} cannot be bound: {e}")))
}

/// The local address for packets that have none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Source(Arc<Mutex<Option<IpAddr>>>);

impl Source {
    /// Sets it; `None` leaves the choice to the kernel.
    pub(crate) fn set(&self, address: Option<IpAddr>) {
        *self.0.lock().expect("no holder panics") = address;
    }

    fn get(&self) -> Option<IpAddr> {
        *self.0.lock().expect("no holder panics")
    }
}

/// Wraps `socket` for noq. Called inside a tokio runtime.
pub(crate) fn sourced(socket: UdpSocket, source: Source) -> io::Result<Box<dyn AsyncUdpSocket>> {
    let inner = TokioRuntime.wrap_udp_socket(socket)?;
    Ok(Box::new(Sourced { inner, source }))
}

#[derive(Debug)]
struct Sourced {
    inner: Box<dyn AsyncUdpSocket>,
    source: Source,
}

impl AsyncUdpSocket for Sourced {
    fn create_sender(&self) -> Pin<Box<dyn UdpSender>> {
        Box::pin(Sender { inner: self.inner.create_sender(), source: self.source.clone() })
    }

    fn poll_recv(
        &mut self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        self.inner.poll_recv(cx, bufs, meta)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    fn max_receive_segments(&self) -> NonZeroUsize {
        self.inner.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.inner.may_fragment()
    }
}

#[derive(Debug)]
struct Sender {
    inner: Pin<Box<dyn UdpSender>>,
    source: Source,
}

impl UdpSender for Sender {
    fn poll_send(
        mut self: Pin<&mut Self>,
        transmit: &Transmit<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let given = Transmit {
            destination: transmit.destination,
            ecn: transmit.ecn,
            contents: transmit.contents,
            segment_size: transmit.segment_size,
            src_ip: transmit.src_ip.or_else(|| self.source.get()),
        };
        self.inner.as_mut().poll_send(&given, cx)
    }

    fn max_transmit_segments(&self) -> NonZeroUsize {
        self.inner.max_transmit_segments()
    }
}
