//! Where datagrams come from and go to.

use std::net::SocketAddr;

/// Where a datagram comes from or goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    /// The driver's number of its local socket.
    pub local: usize,
    /// The peer's address.
    pub remote: SocketAddr,
}

/// A datagram to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Where.
    pub route: Route,
    /// Payload of UDP.
    pub bytes: Vec<u8>,
}
