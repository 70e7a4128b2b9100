//! What the tests of the driver share.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;

/// Both ends of a pair of sockets that do not block: in place of a path of the emulator.
pub(crate) fn pair() -> (OwnedFd, OwnedFd) {
    let (one, other) = UnixDatagram::pair().expect("a pair of sockets");
    for end in [&one, &other] {
        end.set_nonblocking(true).expect("a socket that does not block");
    }
    (one.into(), other.into())
}
