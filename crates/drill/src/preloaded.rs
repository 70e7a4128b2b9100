//! Hashes for packetdrill on kernels without AF_ALG.
//!
//! packetdrill computes the tokens and codes of MPTCP with sockets of AF_ALG, which some kernels
//! do not have (`CONFIG_CRYPTO_USER_API_HASH`). Where this library is preloaded too (`LD_PRELOAD`),
//! its calls of sockets stand before those of libc: they are system calls as there, but a socket of
//! AF_ALG that the kernel refuses is answered here.
#![expect(unsafe_code, reason = "calls that a program in C makes in place of libc's")]

use crate::hashes::Hashing;
use libc::{c_char, c_int, c_void, size_t, sockaddr, socklen_t, ssize_t};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs::File;
use std::os::fd::IntoRawFd;
use std::slice;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// By descriptor.
static HASHING: Mutex<BTreeMap<c_int, Hashing>> = Mutex::new(BTreeMap::new());

/// Offset of the algorithm's name in `struct sockaddr_alg`: after family, type, feature and mask.
const NAME: usize = 2 + 14 + 4 + 4;

fn hashing() -> MutexGuard<'static, BTreeMap<c_int, Hashing>> {
    HASHING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A socket that only this library knows, with a descriptor of this process.
fn known(hashing: &mut BTreeMap<c_int, Hashing>, it: Hashing) -> c_int {
    let Ok(held) = File::open("/dev/null") else { return -1 };
    let descriptor = held.into_raw_fd();
    hashing.insert(descriptor, it);
    descriptor
}

#[unsafe(no_mangle)]
unsafe extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    let made = unsafe { libc::syscall(libc::SYS_socket, domain, kind, protocol) } as c_int;
    let mut hashing = hashing();
    if made < 0 && domain == libc::AF_ALG {
        return known(&mut hashing, Hashing::default());
    }
    hashing.remove(&made); // of a socket that was closed
    made
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bind(socket: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    if let Some(it) = hashing().get_mut(&socket) {
        let name = unsafe { CStr::from_ptr(address.cast::<c_char>().add(NAME)) };
        it.name = name.to_string_lossy().into_owned();
        return 0;
    }
    unsafe { libc::syscall(libc::SYS_bind, socket, address, length) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn setsockopt(
    socket: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    if let Some(it) = hashing().get_mut(&socket) {
        it.key = unsafe { slice::from_raw_parts(value.cast::<u8>(), length as usize) }.to_vec();
        return 0;
    }
    unsafe { libc::syscall(libc::SYS_setsockopt, socket, level, name, value, length) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn accept(
    socket: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> c_int {
    let mut hashing = hashing();
    if let Some(it) = hashing.get(&socket).cloned() {
        return known(&mut hashing, it);
    }
    drop(hashing);
    unsafe { libc::syscall(libc::SYS_accept, socket, address, length) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn send(
    socket: c_int,
    bytes: *const c_void,
    count: size_t,
    flags: c_int,
) -> ssize_t {
    if let Some(it) = hashing().get_mut(&socket) {
        it.data.extend(unsafe { slice::from_raw_parts(bytes.cast::<u8>(), count) });
        return count as ssize_t;
    }
    let nowhere = std::ptr::null::<sockaddr>();
    unsafe { libc::syscall(libc::SYS_sendto, socket, bytes, count, flags, nowhere, 0) as ssize_t }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recv(socket: c_int, out: *mut c_void, count: size_t, flags: c_int) -> ssize_t {
    if let Some(it) = hashing().get(&socket) {
        let Some(sum) = it.sum() else { return -1 };
        let length = sum.len().min(count);
        unsafe { std::ptr::copy_nonoverlapping(sum.as_ptr(), out.cast(), length) };
        return length as ssize_t;
    }
    let nowhere = std::ptr::null_mut::<c_void>();
    unsafe {
        libc::syscall(libc::SYS_recvfrom, socket, out, count, flags, nowhere, nowhere) as ssize_t
    }
}
