//! The calls of sockets. A call that would block fails with EAGAIN: who may wait tries it again.

use crate::sockets::{Errno, Link, Role, errno};
use crate::stack::Stack;
use host::Read;
use libc::c_int;
use std::collections::VecDeque;
use wire::packet::Endpoint;

/// Linux' number of the protocol.
const IPPROTO_MPTCP: c_int = 262;

/// The call would block.
pub(crate) const BLOCKS: Errno = Errno(libc::EAGAIN);

pub(crate) fn socket(
    stack: &mut Stack,
    domain: c_int,
    kind: c_int,
    protocol: c_int,
) -> Result<i32, Errno> {
    if domain != libc::AF_INET {
        return Err(Errno(libc::EAFNOSUPPORT));
    }
    let (kind, flags) = (kind & 0xf, kind & !0xf);
    if kind != libc::SOCK_STREAM {
        return Err(Errno(libc::ESOCKTNOSUPPORT));
    }
    stack.prepare(match protocol {
        0 | libc::IPPROTO_TCP => false,
        IPPROTO_MPTCP => true,
        _ => return Err(Errno(libc::EPROTONOSUPPORT)),
    })?;
    stack.sockets.add(Role::Fresh(None), flags & libc::SOCK_NONBLOCK == 0)
}

pub(crate) fn bind(stack: &mut Stack, descriptor: i32, to: Endpoint) -> Result<i32, Errno> {
    match &mut stack.sockets.get(descriptor)?.role {
        Role::Fresh(bound) => *bound = Some(to),
        _ => return Err(Errno(libc::EINVAL)),
    }
    Ok(0)
}

pub(crate) fn listen(stack: &mut Stack, descriptor: i32) -> Result<i32, Errno> {
    let Role::Fresh(Some(Endpoint { port, .. })) = stack.sockets.get(descriptor)?.role else {
        return Err(Errno(libc::EINVAL));
    };
    stack.listen(port)?;
    stack.sockets.get(descriptor)?.role = Role::Listening { port, waiting: VecDeque::new() };
    Ok(0)
}

/// The descriptor of the next connection, and its peer.
pub(crate) fn accept(stack: &mut Stack, descriptor: i32) -> Result<(i32, Endpoint), Errno> {
    let Role::Listening { waiting, .. } = &mut stack.sockets.get(descriptor)?.role else {
        return Err(Errno(libc::EINVAL));
    };
    let (id, remote) = waiting.pop_front().ok_or(BLOCKS)?;
    let role = Role::Connected(Link::new(id));
    Ok((stack.sockets.add(role, true)?, remote))
}

/// Connects: EINPROGRESS until the connection is established.
pub(crate) fn connect(stack: &mut Stack, descriptor: i32, to: Endpoint) -> Result<i32, Errno> {
    let link = match stack.sockets.get(descriptor)?.role {
        Role::Connected(link) => link,
        Role::Fresh(bound) => {
            let link = stack.connect(bound, to)?;
            stack.sockets.get(descriptor)?.role = Role::Connected(link);
            return Err(Errno(libc::EINPROGRESS));
        }
        Role::Listening { .. } => return Err(Errno(libc::EISCONN)),
    };
    let (host, _) = stack.host()?;
    if let Some(failure) = host.failure(link.id) {
        stack.sockets.link(descriptor)?.told = true;
        return Err(errno(failure));
    }
    if host.is_established(link.id) { Ok(0) } else { Err(Errno(libc::EALREADY)) }
}

pub(crate) fn read(stack: &mut Stack, descriptor: i32, out: &mut [u8]) -> Result<usize, Errno> {
    let link = *stack.sockets.link(descriptor)?;
    if out.is_empty() || link.ended {
        return Ok(0);
    }
    let (host, now) = stack.host()?;
    match host.read(now, link.id, out) {
        Ok(Read::Bytes(count)) => Ok(count),
        Ok(Read::End) => {
            stack.sockets.link(descriptor)?.ended = true;
            Ok(0)
        }
        Ok(Read::Nothing) if link.deaf => Ok(0),
        Ok(Read::Nothing) => Err(BLOCKS),
        Err(failure) => {
            // The failure is told once; afterwards there is an end.
            let link = stack.sockets.link(descriptor)?;
            link.ended = true;
            if std::mem::replace(&mut link.told, true) { Ok(0) } else { Err(errno(failure)) }
        }
    }
}

pub(crate) fn write(stack: &mut Stack, descriptor: i32, bytes: &[u8]) -> Result<usize, Errno> {
    let link = *stack.sockets.link(descriptor)?;
    if link.shut || link.told {
        return Err(Errno(libc::EPIPE));
    }
    let (host, now) = stack.host()?;
    if let Some(failure) = host.failure(link.id) {
        stack.sockets.link(descriptor)?.told = true;
        return Err(errno(failure));
    }
    if host.is_over(link.id) {
        return Err(Errno(libc::EPIPE));
    }
    if !host.is_established(link.id) {
        return Err(BLOCKS);
    }
    match host.write(now, link.id, bytes) {
        0 if !bytes.is_empty() => Err(BLOCKS),
        count => Ok(count),
    }
}

/// Ends what this end sends, what it reads, or both.
pub(crate) fn shutdown(stack: &mut Stack, descriptor: i32, how: c_int) -> Result<i32, Errno> {
    let link = stack.sockets.link(descriptor)?;
    link.deaf |= how != libc::SHUT_WR; // as with Linux, data that arrives is still read
    link.shut |= how != libc::SHUT_RD;
    let Link { id, shut, .. } = *link;
    if !shut {
        return Ok(0);
    }
    let (host, now) = stack.host()?;
    host.close(now, id);
    Ok(0)
}

pub(crate) fn close(stack: &mut Stack, descriptor: i32) -> Result<i32, Errno> {
    let socket = stack.sockets.remove(descriptor)?;
    match socket.role {
        Role::Fresh(_) => {}
        Role::Listening { waiting, .. } => {
            for (id, _) in waiting {
                stack.orphan(id, true)?;
            }
        }
        Role::Connected(link) => stack.orphan(link.id, socket.drops)?,
    }
    Ok(0)
}

/// Events of a socket, as `poll` has them.
pub(crate) fn events(stack: &mut Stack, descriptor: i32) -> i16 {
    let link = match stack.sockets.get(descriptor).map(|socket| &socket.role) {
        Err(_) => return libc::POLLNVAL,
        Ok(Role::Fresh(_)) => return libc::POLLOUT | libc::POLLHUP,
        Ok(Role::Listening { waiting, .. }) => {
            return if waiting.is_empty() { 0 } else { libc::POLLIN };
        }
        Ok(Role::Connected(link)) => *link,
    };
    let Ok((host, now)) = stack.host() else { return libc::POLLNVAL };
    if host.failure(link.id).is_some() || link.told {
        return libc::POLLIN | libc::POLLOUT | libc::POLLERR | libc::POLLHUP;
    }
    let readable = host.readable(link.id) > 0;
    let ended = link.ended
        || link.deaf
        || !readable && matches!(host.read(now, link.id, &mut []), Ok(Read::End));
    let writable = host.is_established(link.id) && (link.shut || host.room(link.id) > 0);
    if let Ok(link) = stack.sockets.link(descriptor) {
        link.ended = ended && !link.deaf;
    }
    let mut found = 0;
    found |= if readable || ended { libc::POLLIN } else { 0 };
    found |= if ended { libc::POLLRDHUP } else { 0 };
    found |= if writable { libc::POLLOUT } else { 0 };
    found | if ended && link.shut { libc::POLLHUP } else { 0 }
}

pub(crate) fn fcntl(
    stack: &mut Stack,
    descriptor: i32,
    command: c_int,
    value: c_int,
) -> Result<i32, Errno> {
    let socket = stack.sockets.get(descriptor)?;
    match command {
        libc::F_GETFL => Ok(libc::O_RDWR | if socket.blocks { 0 } else { libc::O_NONBLOCK }),
        libc::F_SETFL => {
            socket.blocks = value & libc::O_NONBLOCK == 0;
            Ok(0)
        }
        _ => Err(Errno(libc::EINVAL)),
    }
}

/// Bytes that wait to be read, or to be acknowledged.
pub(crate) fn ioctl(stack: &mut Stack, descriptor: i32, request: u64) -> Result<i32, Errno> {
    let id = stack.sockets.link(descriptor)?.id;
    let (host, _) = stack.host()?;
    match request {
        libc::FIONREAD => Ok(host.readable(id) as i32),
        libc::TIOCOUTQ => Ok(host.unacknowledged(id) as i32),
        _ => Err(Errno(libc::ENOTTY)),
    }
}

/// The value of an option; the only ones are those that a host of ours has.
pub(crate) fn option(
    stack: &mut Stack,
    descriptor: i32,
    level: c_int,
    name: c_int,
) -> Result<i32, Errno> {
    stack.sockets.get(descriptor)?;
    if (level, name) != (libc::SOL_SOCKET, libc::SO_ERROR) {
        return Err(Errno(libc::ENOPROTOOPT));
    }
    let Ok(link) = stack.sockets.link(descriptor).copied() else { return Ok(0) };
    let failure = stack.host()?.0.failure(link.id).filter(|_| !link.told);
    stack.sockets.link(descriptor)?.told |= failure.is_some();
    Ok(failure.map_or(0, |failure| errno(failure).0))
}

/// Sets an option to `value`, which for SO_LINGER has two words.
pub(crate) fn set_option(
    stack: &mut Stack,
    descriptor: i32,
    level: c_int,
    name: c_int,
    value: &[c_int],
) -> Result<i32, Errno> {
    let socket = stack.sockets.get(descriptor)?;
    match (level, name, value) {
        // No port is kept from another socket, and no small segment waits (RFC 896).
        (libc::SOL_SOCKET, libc::SO_REUSEADDR, _) | (libc::IPPROTO_TCP, libc::TCP_NODELAY, [1]) => {
            Ok(0)
        }
        (libc::SOL_SOCKET, libc::SO_LINGER, [on, 0]) => {
            socket.drops = *on != 0;
            Ok(0)
        }
        _ => Err(Errno(libc::ENOPROTOOPT)),
    }
}
