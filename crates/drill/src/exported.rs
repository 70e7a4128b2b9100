//! The functions of the interface: pointers of C become slices, and failures `errno`.
//!
//! # Safety
//! packetdrill calls them with the `userdata` that it got, until it calls `free`, and with pointers
//! as the calls of the same names take them.
#![expect(unsafe_code, reason = "a library that a program in C loads")]

use crate::calls;
use crate::interface::{Interface, User};
use crate::shared::Shared;
use crate::sockets::Errno;
use crate::stack::Stack;
use libc::{
    c_char, c_int, c_long, c_longlong, c_uint, c_ulong, c_void, epoll_event, iovec, loff_t, msghdr,
    nfds_t, pollfd, size_t, sockaddr, sockaddr_in, socklen_t, ssize_t, timeval,
};
use std::net::Ipv4Addr;
use std::slice;
use units::Span;
use wire::packet::Endpoint;

/// Fills the table of functions.
///
/// # Safety
/// `interface` is a table that may be written.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn packetdrill_interface_init(
    _flags: *const c_char,
    interface: *mut Interface,
) {
    // packetdrill sets it for the scripts' shell commands.
    let local = std::env::var("OPT_LOCAL_IP").ok().and_then(|text| text.parse().ok());
    let stack = Stack::new(local.unwrap_or(Ipv4Addr::LOCALHOST));
    let userdata = Box::into_raw(Box::new(Shared::new(stack))).cast();
    let table = Interface {
        userdata,
        free,
        socket,
        bind,
        listen,
        accept,
        connect,
        read,
        readv,
        recv,
        recvfrom,
        recvmsg,
        write,
        writev,
        send,
        sendto,
        sendmsg,
        fcntl,
        ioctl,
        close,
        shutdown,
        getsockopt,
        setsockopt,
        poll,
        netdev_send,
        netdev_receive,
        usleep,
        gettimeofday,
        epoll_create,
        epoll_ctl,
        epoll_wait,
        pipe,
        splice,
    };
    unsafe { interface.write(table) }
}

unsafe fn shared<'a>(user: User) -> &'a Shared {
    unsafe { &*user.cast::<Shared>() }
}

/// -1 with `errno`, or the number.
fn answer<T: TryInto<ssize_t>>(done: Result<T, Errno>) -> ssize_t {
    match done.map(TryInto::try_into) {
        Ok(Ok(number)) => number,
        Ok(Err(_)) => fail(Errno(libc::EOVERFLOW)),
        Err(errno) => fail(errno),
    }
}

fn fail(Errno(number): Errno) -> ssize_t {
    unsafe { *libc::__errno_location() = number }
    -1
}

fn answer_int(done: Result<i32, Errno>) -> c_int {
    answer(done) as c_int
}

unsafe fn endpoint(address: *const sockaddr, length: socklen_t) -> Result<Endpoint, Errno> {
    let given = unsafe { address.as_ref() }.ok_or(Errno(libc::EFAULT))?;
    if (length as usize) < size_of::<sockaddr_in>() {
        return Err(Errno(libc::EINVAL));
    }
    if c_int::from(given.sa_family) != libc::AF_INET {
        return Err(Errno(libc::EAFNOSUPPORT));
    }
    let inet = unsafe { address.cast::<sockaddr_in>().read_unaligned() };
    let address = Ipv4Addr::from(u32::from_be(inet.sin_addr.s_addr));
    Ok(Endpoint { address, port: u16::from_be(inet.sin_port) })
}

unsafe extern "C" fn free(user: User) {
    drop(unsafe { Box::from_raw(user.cast::<Shared>()) });
}

unsafe extern "C" fn socket(user: User, domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    let shared = unsafe { shared(user) };
    answer_int(shared.at_once(|stack| calls::socket(stack, domain, kind, protocol)))
}

unsafe extern "C" fn bind(
    user: User,
    socket: c_int,
    address: *const sockaddr,
    length: socklen_t,
) -> c_int {
    let to = unsafe { endpoint(address, length) };
    let shared = unsafe { shared(user) };
    answer_int(to.and_then(|to| shared.at_once(|stack| calls::bind(stack, socket, to))))
}

unsafe extern "C" fn listen(user: User, socket: c_int, _backlog: c_int) -> c_int {
    let shared = unsafe { shared(user) };
    answer_int(shared.at_once(|stack| calls::listen(stack, socket)))
}

fn blocks(socket: c_int) -> impl Fn(&mut Stack) -> bool {
    move |stack| stack.sockets.get(socket).is_ok_and(|it| it.blocks)
}

unsafe extern "C" fn accept(
    user: User,
    socket: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> c_int {
    let shared = unsafe { shared(user) };
    let done = shared.wait(blocks(socket), None, |stack| calls::accept(stack, socket));
    let Ok((accepted, remote)) = done else { return answer_int(done.map(|_| 0)) };
    if !address.is_null() && !length.is_null() {
        let mut inet: sockaddr_in = unsafe { std::mem::zeroed() };
        inet.sin_family = libc::AF_INET as libc::sa_family_t;
        inet.sin_port = remote.port.to_be();
        inet.sin_addr.s_addr = u32::from(remote.address).to_be();
        unsafe {
            if *length as usize >= size_of::<sockaddr_in>() {
                address.cast::<sockaddr_in>().write_unaligned(inet);
            }
            *length = size_of::<sockaddr_in>() as socklen_t;
        }
    }
    accepted
}

unsafe extern "C" fn connect(
    user: User,
    socket: c_int,
    address: *const sockaddr,
    length: socklen_t,
) -> c_int {
    let shared = unsafe { shared(user) };
    let to = match unsafe { endpoint(address, length) } {
        Ok(to) => to,
        Err(errno) => return fail(errno) as c_int,
    };
    let begun = shared.at_once(|stack| {
        let begun = calls::connect(stack, socket, to);
        Ok((begun, blocks(socket)(stack)))
    });
    match begun {
        Ok((Err(Errno(libc::EINPROGRESS)), true)) => answer_int(shared.wait(
            |_| true,
            None,
            |stack| match calls::connect(stack, socket, to) {
                Err(Errno(libc::EALREADY)) => Err(calls::BLOCKS),
                other => other,
            },
        )),
        Ok((begun, _)) => answer_int(begun),
        Err(errno) => fail(errno) as c_int,
    }
}

unsafe fn read_into(user: User, socket: c_int, out: *mut c_void, count: size_t) -> ssize_t {
    if out.is_null() && count > 0 {
        return fail(Errno(libc::EFAULT));
    }
    let out = match count {
        0 => &mut [],
        _ => unsafe { slice::from_raw_parts_mut(out.cast::<u8>(), count) },
    };
    let shared = unsafe { shared(user) };
    answer(shared.wait(blocks(socket), None, |stack| calls::read(stack, socket, out)))
}

unsafe extern "C" fn read(user: User, socket: c_int, out: *mut c_void, count: size_t) -> ssize_t {
    unsafe { read_into(user, socket, out, count) }
}

unsafe extern "C" fn recv(
    user: User,
    socket: c_int,
    out: *mut c_void,
    count: size_t,
    flags: c_int,
) -> ssize_t {
    match flags {
        0 => unsafe { read_into(user, socket, out, count) },
        _ => fail(Errno(libc::EOPNOTSUPP)),
    }
}

unsafe extern "C" fn recvfrom(
    user: User,
    socket: c_int,
    out: *mut c_void,
    count: size_t,
    flags: c_int,
    _address: *mut sockaddr,
    _length: *mut socklen_t,
) -> ssize_t {
    unsafe { recv(user, socket, out, count, flags) }
}

unsafe fn parts<'a>(list: *const iovec, count: usize) -> &'a [iovec] {
    match list.is_null() {
        true => &[],
        false => unsafe { slice::from_raw_parts(list, count) },
    }
}

unsafe extern "C" fn readv(user: User, socket: c_int, list: *const iovec, count: c_int) -> ssize_t {
    let parts = unsafe { parts(list, count.max(0) as usize) };
    let mut bytes = vec![0; parts.iter().map(|part| part.iov_len).sum()];
    let shared = unsafe { shared(user) };
    let done = shared.wait(blocks(socket), None, |stack| calls::read(stack, socket, &mut bytes));
    let mut rest = &bytes[..done.unwrap_or(0)];
    for part in parts {
        let (here, later) = rest.split_at(part.iov_len.min(rest.len()));
        unsafe { std::ptr::copy_nonoverlapping(here.as_ptr(), part.iov_base.cast(), here.len()) };
        rest = later;
    }
    answer(done)
}

unsafe extern "C" fn recvmsg(
    user: User,
    socket: c_int,
    message: *mut msghdr,
    flags: c_int,
) -> ssize_t {
    if flags != 0 {
        return fail(Errno(libc::EOPNOTSUPP));
    }
    let message = unsafe { &mut *message };
    (message.msg_flags, message.msg_controllen) = (0, 0);
    unsafe { readv(user, socket, message.msg_iov, message.msg_iovlen as c_int) }
}

fn write_all(shared: &Shared, socket: c_int, bytes: &[u8]) -> ssize_t {
    let mut written = 0;
    let done = shared.wait(blocks(socket), None, |stack| {
        written += calls::write(stack, socket, &bytes[written..])?;
        let waits = written < bytes.len() && blocks(socket)(stack);
        if waits { Err(calls::BLOCKS) } else { Ok(written) }
    });
    answer(done)
}

unsafe extern "C" fn write(
    user: User,
    socket: c_int,
    bytes: *const c_void,
    count: size_t,
) -> ssize_t {
    unsafe { send(user, socket, bytes, count, 0) }
}

unsafe extern "C" fn send(
    user: User,
    socket: c_int,
    bytes: *const c_void,
    count: size_t,
    flags: c_int,
) -> ssize_t {
    if flags & !libc::MSG_NOSIGNAL != 0 {
        return fail(Errno(libc::EOPNOTSUPP));
    }
    if bytes.is_null() && count > 0 {
        return fail(Errno(libc::EFAULT));
    }
    let bytes = match count {
        0 => &[],
        _ => unsafe { slice::from_raw_parts(bytes.cast::<u8>(), count) },
    };
    write_all(unsafe { shared(user) }, socket, bytes)
}

unsafe extern "C" fn sendto(
    user: User,
    socket: c_int,
    bytes: *const c_void,
    count: size_t,
    flags: c_int,
    _address: *const sockaddr,
    _length: socklen_t,
) -> ssize_t {
    unsafe { send(user, socket, bytes, count, flags) }
}

unsafe extern "C" fn writev(
    user: User,
    socket: c_int,
    list: *const iovec,
    count: c_int,
) -> ssize_t {
    let parts = unsafe { parts(list, count.max(0) as usize) };
    let bytes: Vec<u8> = parts
        .iter()
        .filter(|part| part.iov_len > 0)
        .flat_map(|part| unsafe { slice::from_raw_parts(part.iov_base.cast::<u8>(), part.iov_len) })
        .copied()
        .collect();
    write_all(unsafe { shared(user) }, socket, &bytes)
}

unsafe extern "C" fn sendmsg(
    user: User,
    socket: c_int,
    message: *const msghdr,
    flags: c_int,
) -> ssize_t {
    let message = unsafe { &*message };
    if flags & !libc::MSG_NOSIGNAL != 0 || message.msg_controllen > 0 {
        return fail(Errno(libc::EOPNOTSUPP));
    }
    unsafe { writev(user, socket, message.msg_iov, message.msg_iovlen as c_int) }
}

unsafe extern "C" fn fcntl(user: User, socket: c_int, command: c_int, value: c_long) -> c_int {
    let shared = unsafe { shared(user) };
    answer_int(shared.at_once(|stack| calls::fcntl(stack, socket, command, value as c_int)))
}

unsafe extern "C" fn ioctl(user: User, socket: c_int, request: c_ulong, out: *mut c_int) -> c_int {
    let shared = unsafe { shared(user) };
    match shared.at_once(|stack| calls::ioctl(stack, socket, request)) {
        Ok(number) => {
            unsafe { out.write(number) };
            0
        }
        Err(errno) => fail(errno) as c_int,
    }
}

unsafe extern "C" fn close(user: User, socket: c_int) -> c_int {
    let shared = unsafe { shared(user) };
    answer_int(shared.at_once(|stack| calls::close(stack, socket)))
}

unsafe extern "C" fn shutdown(user: User, socket: c_int, how: c_int) -> c_int {
    let shared = unsafe { shared(user) };
    answer_int(shared.at_once(|stack| calls::shutdown(stack, socket, how)))
}

unsafe extern "C" fn getsockopt(
    user: User,
    socket: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    let shared = unsafe { shared(user) };
    match shared.at_once(|stack| calls::option(stack, socket, level, name)) {
        Ok(number) if unsafe { *length } as usize >= size_of::<c_int>() => {
            unsafe {
                value.cast::<c_int>().write_unaligned(number);
                *length = size_of::<c_int>() as socklen_t;
            }
            0
        }
        Ok(_) => fail(Errno(libc::EINVAL)) as c_int,
        Err(errno) => fail(errno) as c_int,
    }
}

unsafe extern "C" fn setsockopt(
    user: User,
    socket: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    let words = length as usize / size_of::<c_int>();
    let word = |at| unsafe { value.cast::<c_int>().add(at).read_unaligned() };
    let words: Vec<c_int> = (0..words.min(2)).map(word).collect();
    let shared = unsafe { shared(user) };
    answer_int(shared.at_once(|stack| calls::set_option(stack, socket, level, name, &words)))
}

unsafe extern "C" fn poll(user: User, list: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    let list = unsafe { slice::from_raw_parts_mut(list, count as usize) };
    let shared = unsafe { shared(user) };
    let longest = u64::try_from(timeout).ok().map(Span::millis);
    let done = shared.wait(
        |_| timeout != 0,
        longest,
        |stack| {
            let mut ready = 0;
            for entry in &mut *list {
                let asked = entry.events | libc::POLLERR | libc::POLLHUP | libc::POLLNVAL;
                entry.revents = calls::events(stack, entry.fd) & asked;
                ready += i32::from(entry.revents != 0);
            }
            if ready > 0 { Ok(ready) } else { Err(calls::BLOCKS) }
        },
    );
    match done {
        Err(calls::BLOCKS) => 0,
        other => answer_int(other),
    }
}

unsafe extern "C" fn netdev_send(user: User, packet: *const c_void, count: size_t) -> c_int {
    let packet = unsafe { slice::from_raw_parts(packet.cast::<u8>(), count) };
    let shared = unsafe { shared(user) };
    answer_int(shared.at_once(|stack| {
        stack.arrive(packet);
        Ok(0)
    }))
}

unsafe extern "C" fn netdev_receive(
    user: User,
    out: *mut c_void,
    count: *mut size_t,
    microseconds: *mut c_longlong,
) -> c_int {
    let shared = unsafe { shared(user) };
    // Without a packet the length is 0, which packetdrill reports.
    let (at, packet) = shared.next_packet().unwrap_or_else(|| (shared.clock(), Vec::new()));
    unsafe {
        let length = packet.len().min(*count);
        std::ptr::copy_nonoverlapping(packet.as_ptr(), out.cast(), length);
        *count = length;
        *microseconds = (at.0 / 1_000) as c_longlong;
    }
    0
}

unsafe extern "C" fn usleep(user: User, microseconds: c_uint) -> c_int {
    unsafe { shared(user) }.sleep(Span(u64::from(microseconds) * 1_000));
    0
}

unsafe extern "C" fn gettimeofday(user: User, out: *mut timeval, _zone: *mut c_void) -> c_int {
    let now = unsafe { shared(user) }.clock().0 / 1_000;
    let (seconds, rest) = (now / 1_000_000, now % 1_000_000);
    unsafe { out.write(timeval { tv_sec: seconds as i64, tv_usec: rest as i64 }) };
    0
}

fn absent() -> ssize_t {
    fail(Errno(libc::ENOSYS))
}

unsafe extern "C" fn epoll_create(_: User, _: c_int) -> c_int {
    absent() as c_int
}

unsafe extern "C" fn epoll_ctl(
    _: User,
    _: c_int,
    _: c_int,
    _: c_int,
    _: *mut epoll_event,
) -> c_int {
    absent() as c_int
}

unsafe extern "C" fn epoll_wait(
    _: User,
    _: c_int,
    _: *mut epoll_event,
    _: c_int,
    _: c_int,
) -> c_int {
    absent() as c_int
}

unsafe extern "C" fn pipe(_: User, _: *mut c_int) -> c_int {
    absent() as c_int
}

unsafe extern "C" fn splice(
    _: User,
    _: c_int,
    _: *mut loff_t,
    _: c_int,
    _: *mut loff_t,
    _: size_t,
    _: c_uint,
) -> ssize_t {
    absent()
}
