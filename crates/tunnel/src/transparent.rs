//! Where a connection was going before a REDIRECT of netfilter led it here.

use socket2::SockRef;
use std::net::SocketAddr;
use tokio::net::TcpStream;

/// The original destination; `None` for a connection that nothing has redirected. To carry that one
/// would lead it here again.
pub(crate) fn original(tcp: &TcpStream) -> Option<SocketAddr> {
    let here = canonical(tcp.local_addr().ok()?);
    let socket = SockRef::from(tcp);
    let found = match here {
        SocketAddr::V4(_) => socket.original_dst_v4(),
        SocketAddr::V6(_) => socket.original_dst_v6(),
    };
    let original = found.ok()?.as_socket()?;
    let (ip, port) = (original.ip(), original.port());
    ((ip, port) != (here.ip(), here.port())).then(|| SocketAddr::new(ip, port))
}

/// Ends a connection that was not carried with a reset: for its application the target is gone.
pub(crate) fn reset(tcp: &TcpStream) {
    // Without it the application sees an end in place of a failure.
    let _ = SockRef::from(tcp).set_linger(Some(std::time::Duration::ZERO));
}

/// ::ffff:192.0.2.1 of a socket for both families is 192.0.2.1.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[test]
    fn a_connection_that_nothing_has_redirected_has_no_original_destination() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let to = listener.local_addr().unwrap();
            let (near, far) = tokio::join!(TcpStream::connect(to), listener.accept());
            assert_eq!(original(&far.unwrap().0), None);
            drop(near);
        });
    }
}
