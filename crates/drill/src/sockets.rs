//! Sockets as the calls know them, over connections of a host.

use host::{Failure, Id};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::os::fd::{AsRawFd, IntoRawFd};
use wire::packet::Endpoint;

/// A call fails with this number of `errno`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

/// What a socket is.
#[derive(Debug)]
pub(crate) enum Role {
    /// Neither connected nor listening; perhaps bound.
    Fresh(Option<Endpoint>),
    /// Connections that were accepted by the host, and the peer of each.
    Listening { port: u16, waiting: VecDeque<(Id, Endpoint)> },
    /// One connection.
    Connected(Link),
}

/// The connection of a socket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) id: Id,
    /// The peer's end was read.
    pub(crate) ended: bool,
    /// The application reads no more than what is there.
    pub(crate) deaf: bool,
    /// The application writes no more.
    pub(crate) shut: bool,
    /// The failure was told to the application.
    pub(crate) told: bool,
}

impl Link {
    pub(crate) fn new(id: Id) -> Self {
        Link { id, ended: false, deaf: false, shut: false, told: false }
    }
}

/// One socket.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) role: Role,
    pub(crate) blocks: bool,
    /// Closing drops the connection (SO_LINGER with zero).
    pub(crate) drops: bool,
    /// A descriptor of this process, so that nothing else gets its number: packetdrill itself
    /// closes those that a script has left open.
    held: File,
}

/// All sockets, by descriptor.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    open: BTreeMap<i32, Socket>,
}

impl Sockets {
    /// A new socket; its descriptor.
    pub(crate) fn add(&mut self, role: Role, blocks: bool) -> Result<i32, Errno> {
        let held = File::open("/dev/null").map_err(|_| Errno(libc::EMFILE))?;
        let descriptor = held.as_raw_fd();
        self.open.insert(descriptor, Socket { role, blocks, drops: false, held });
        Ok(descriptor)
    }

    pub(crate) fn get(&mut self, descriptor: i32) -> Result<&mut Socket, Errno> {
        self.open.get_mut(&descriptor).ok_or(Errno(libc::EBADF))
    }

    /// The connection of a socket.
    pub(crate) fn link(&mut self, descriptor: i32) -> Result<&mut Link, Errno> {
        match &mut self.get(descriptor)?.role {
            Role::Connected(link) => Ok(link),
            _ => Err(Errno(libc::ENOTCONN)),
        }
    }

    /// Forgets a socket and closes its descriptor.
    pub(crate) fn remove(&mut self, descriptor: i32) -> Result<Socket, Errno> {
        let socket = self.open.remove(&descriptor).ok_or(Errno(libc::EBADF))?;
        debug_assert_eq!(socket.held.as_raw_fd(), descriptor);
        Ok(socket)
    }

    /// Puts a connection that a peer has opened into the queue of the socket that listens.
    pub(crate) fn queue(&mut self, id: Id, local: Endpoint, remote: Endpoint) {
        for socket in self.open.values_mut() {
            if let Role::Listening { port, waiting } = &mut socket.role
                && *port == local.port
            {
                waiting.push_back((id, remote));
            }
        }
    }

    /// Connections of sockets; not those that wait to be accepted.
    pub(crate) fn connections(&self) -> Vec<Id> {
        let of = |socket: &Socket| match &socket.role {
            Role::Connected(link) => Some(link.id),
            _ => None,
        };
        self.open.values().filter_map(of).collect()
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        // packetdrill has closed these descriptors itself.
        for socket in std::mem::take(&mut self.open).into_values() {
            let _ = socket.held.into_raw_fd();
        }
    }
}

/// The number of a failure.
pub(crate) fn errno(failure: Failure) -> Errno {
    Errno(match failure {
        Failure::Refused => libc::ECONNREFUSED,
        Failure::Reset => libc::ECONNRESET,
        Failure::TimedOut => libc::ETIMEDOUT,
        Failure::Broken => libc::EPROTO,
    })
}
