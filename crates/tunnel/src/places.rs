//! Where packets of our own TCP leave: the local ends of paths.

use crate::mptcp::{Ground, Held};
use crate::port::Bound;
use crate::socket::{Local, connecting};
use crate::{Error, raw};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use wire::packet::Endpoint;

/// An address of IPv4: Multipath TCP of ours speaks no other.
pub(crate) fn ipv4(field: &'static str, address: SocketAddr) -> Result<SocketAddrV4, Error> {
    match address {
        SocketAddr::V4(address) => Ok(address),
        SocketAddr::V6(_) => {
            let why = format!("{address} is of IPv6; --over mptcp has IPv4 alone, --over udp both");
            Err(Error::wrong(field, why))
        }
    }
}

/// The two ends of paths over packets of their own.
pub(crate) struct Places(Vec<(Local, SocketAddrV4)>);

impl Places {
    pub(crate) fn new(paths: Vec<(Local, SocketAddr)>) -> Result<Self, Error> {
        let one = |(local, remote): (Local, SocketAddr)| Ok((local, ipv4("path", remote)?));
        paths.into_iter().map(one).collect::<Result<_, _>>().map(Places)
    }

    /// A socket for each path.
    pub(crate) fn sockets(&self) -> Result<Vec<Bound>, Error> {
        let own = self.0.iter().map(|(local, to)| raw::from(*to, local).map(Bound::Packets));
        own.collect()
    }

    /// The far end of each path.
    pub(crate) fn remotes(&self) -> impl Iterator<Item = SocketAddrV4> + '_ {
        self.0.iter().map(|(_, remote)| *remote)
    }
}

impl Ground for Places {
    fn address(&self, path: usize) -> Option<Ipv4Addr> {
        let (local, remote) = self.0.get(path)?;
        if let Local::Address(address) = local {
            return match address {
                IpAddr::V4(address) => Some(*address),
                IpAddr::V6(_) => None,
            };
        }
        // The kernel chooses it as for any packet to there; nothing is sent.
        let asking = connecting(local, SocketAddr::V4(*remote)).ok()?;
        asking.connect(remote).ok()?;
        match asking.local_addr().ok()?.ip() {
            IpAddr::V4(address) => Some(address),
            IpAddr::V6(_) => None,
        }
    }

    fn hold(&mut self, address: Ipv4Addr) -> Option<Held> {
        let (bound, socket) = raw::reserve(SocketAddrV4::new(address, 0)).ok()?;
        let end = Endpoint { address: *bound.ip(), port: bound.port() };
        Some(Held { end, _socket: Some(socket) })
    }
}
