//! UDP sockets on local addresses and interfaces.

use crate::Error;
use socket2::{Domain, Protocol, Socket, Type};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::{fmt, io};

/// Wanted size of the receive buffer in bytes: 100 Mb/s for 0.3 s while the process does not run.
const RECEIVE_BYTES: usize = 4 << 20;
/// Wanted size of the send buffer: more would be a queue of its own.
const SEND_BYTES: usize = 512 << 10;

/// The local end of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Local {
    /// Whatever the kernel chooses.
    Any,
    Address(IpAddr),
    /// All addresses of a network interface.
    Interface(String),
}

impl Local {
    /// Parses an address or the name of an interface; nothing is any.
    pub(crate) fn new(text: &str) -> Self {
        match text.parse() {
            Ok(address) => Local::Address(address),
            Err(_) if text.is_empty() => Local::Any,
            Err(_) => Local::Interface(text.to_owned()),
        }
    }
}

impl fmt::Display for Local {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Local::Any => out.write_str("any address"),
            Local::Address(address) => address.fmt(out),
            Local::Interface(name) => write!(out, "{name:?}"),
        }
    }
}

fn socket(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    // What the kernel refuses costs speed, not correctness.
    let _ = socket.set_recv_buffer_size(RECEIVE_BYTES);
    let _ = socket.set_send_buffer_size(SEND_BYTES);
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// A socket on `address`.
pub(crate) fn listening(field: &'static str, address: SocketAddr) -> Result<UdpSocket, Error> {
    let bound = socket(address).and_then(|own| own.bind(&address.into()).map(|()| own));
    let bound = bound.map_err(|e| Error::wrong(field, format!("{address} cannot be bound: {e}")));
    bound.map(UdpSocket::from)
}

/// A socket for a path from `local` to `remote`. The local address may be missing now: the path
/// works when it comes.
pub(crate) fn connecting(local: &Local, remote: SocketAddr) -> Result<UdpSocket, Error> {
    let wrong = |why: String| Error::wrong("path", why);
    let any: IpAddr = match remote {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let address = match local {
        Local::Address(address) => *address,
        Local::Any | Local::Interface(_) => any,
    };
    if address.is_ipv4() != remote.is_ipv4() {
        return Err(wrong(format!("{address} and {remote} are of different families")));
    }
    let address = SocketAddr::new(address, 0);
    let made = || -> io::Result<Socket> {
        let own = socket(address)?;
        if let Local::Interface(name) = local {
            own.bind_device(Some(name.as_bytes()))?;
        }
        match address {
            SocketAddr::V4(_) => own.set_freebind_v4(true)?,
            SocketAddr::V6(_) => own.set_freebind_v6(true)?,
        }
        own.bind(&address.into())?;
        Ok(own)
    };
    made().map(UdpSocket::from).map_err(|e| match local {
        Local::Interface(name) => wrong(format!("{name:?} is no address or interface: {e}")),
        _ => wrong(format!("{address} cannot be bound: {e}")),
    })
}
