//! The table of functions that packetdrill calls: the layout of its `struct packetdrill_interface`.
//!
//! `fcntl` and `ioctl` are variadic there. Rust defines no variadic functions; on the ABIs of
//! Linux' 64-bit machines an integer argument is passed alike in both cases.

use libc::{
    c_int, c_long, c_longlong, c_uint, c_ulong, c_void, epoll_event, iovec, loff_t, msghdr, nfds_t,
    pollfd, size_t, sockaddr, socklen_t, ssize_t, timeval,
};

/// The stack that is tested.
pub(crate) type User = *mut c_void;

macro_rules! interface {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// Functions in packetdrill's order.
        #[repr(C)]
        pub(crate) struct Interface {
            pub(crate) userdata: User,
            $(pub(crate) $name: unsafe extern "C" fn(User $(, $argument)*) $(-> $result)?,)*
        }
    };
}

interface! {
    free();
    socket(c_int, c_int, c_int) -> c_int;
    bind(c_int, *const sockaddr, socklen_t) -> c_int;
    listen(c_int, c_int) -> c_int;
    accept(c_int, *mut sockaddr, *mut socklen_t) -> c_int;
    connect(c_int, *const sockaddr, socklen_t) -> c_int;
    read(c_int, *mut c_void, size_t) -> ssize_t;
    readv(c_int, *const iovec, c_int) -> ssize_t;
    recv(c_int, *mut c_void, size_t, c_int) -> ssize_t;
    recvfrom(c_int, *mut c_void, size_t, c_int, *mut sockaddr, *mut socklen_t) -> ssize_t;
    recvmsg(c_int, *mut msghdr, c_int) -> ssize_t;
    write(c_int, *const c_void, size_t) -> ssize_t;
    writev(c_int, *const iovec, c_int) -> ssize_t;
    send(c_int, *const c_void, size_t, c_int) -> ssize_t;
    sendto(c_int, *const c_void, size_t, c_int, *const sockaddr, socklen_t) -> ssize_t;
    sendmsg(c_int, *const msghdr, c_int) -> ssize_t;
    fcntl(c_int, c_int, c_long) -> c_int;
    ioctl(c_int, c_ulong, *mut c_int) -> c_int;
    close(c_int) -> c_int;
    shutdown(c_int, c_int) -> c_int;
    getsockopt(c_int, c_int, c_int, *mut c_void, *mut socklen_t) -> c_int;
    setsockopt(c_int, c_int, c_int, *const c_void, socklen_t) -> c_int;
    poll(*mut pollfd, nfds_t, c_int) -> c_int;
    netdev_send(*const c_void, size_t) -> c_int;
    netdev_receive(*mut c_void, *mut size_t, *mut c_longlong) -> c_int;
    usleep(c_uint) -> c_int;
    gettimeofday(*mut timeval, *mut c_void) -> c_int;
    epoll_create(c_int) -> c_int;
    epoll_ctl(c_int, c_int, c_int, *mut epoll_event) -> c_int;
    epoll_wait(c_int, *mut epoll_event, c_int, c_int) -> c_int;
    pipe(*mut c_int) -> c_int;
    splice(c_int, *mut loff_t, c_int, *mut loff_t, size_t, c_uint) -> ssize_t;
}
