//! Listeners, and the one that answers requests for the metrics.

use crate::Error;
use crate::engine::Engine;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A listener for the metrics, on loopback alone.
pub(crate) fn bind(address: SocketAddr) -> Result<StdListener, Error> {
    if !address.ip().is_loopback() {
        let why = format!("{address} is not of this host alone; give 127.0.0.1:PORT or [::1]:PORT");
        return Err(Error::wrong("metrics", why));
    }
    bind_tcp("metrics", address)
}

/// A listener on `address` for a runtime.
pub(crate) fn bind_tcp(field: &'static str, address: SocketAddr) -> Result<StdListener, Error> {
    let bound = StdListener::bind(address).and_then(|own| own.set_nonblocking(true).map(|()| own));
    bound.map_err(|e| Error::wrong(field, format!("{address} cannot be bound: {e}")))
}

/// Answers requests for the metrics one after the other, for ever.
pub(crate) async fn serve(engine: Engine, listener: TcpListener) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Whoever asks slowly does not get an answer.
                let within = Duration::from_secs(2);
                let _ = tokio::time::timeout(within, answer(&engine, stream)).await;
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn answer(engine: &Engine, mut stream: TcpStream) -> std::io::Result<()> {
    let (mut head, mut part) = (Vec::<u8>::new(), [0; 1024]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < 8192 {
        match stream.read(&mut part).await? {
            0 => return Ok(()),
            count => head.extend(&part[..count]),
        }
    }
    let text = engine.status().text();
    let kind = "text/plain; version=0.0.4";
    let len = text.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(text.as_bytes()).await?;
    stream.shutdown().await
}
