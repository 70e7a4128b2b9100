//! Carries the bytes of a TCP connection over a stream, in both directions.

use crate::engine::{Engine, Name};
use courier::{Gone, Read, StreamId};
use std::cell::Cell;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

const BUFFER: usize = 16 << 10;

/// Ends a stream when its task ends, however that is.
pub(crate) struct Owned {
    engine: Engine,
    pub(crate) name: Name,
    /// Both directions have ended: what is still to be sent is sent.
    over: Cell<bool>,
}

impl Owned {
    pub(crate) fn new(engine: &Engine, name: Name) -> Self {
        engine.count(|counters| counters.streams += 1);
        Owned { engine: engine.clone(), name, over: Cell::new(false) }
    }

    /// Reads what has arrived; waits for it. `None` at the end.
    pub(crate) async fn read(&self, into: &mut [u8]) -> Result<Option<usize>, Gone> {
        let (number, stream) = self.name;
        let waker = self.engine.waker(self.name);
        loop {
            let read = self.engine.with(number, |streams| streams.read(stream, into));
            match read.ok_or(Gone)?? {
                Read::Bytes(count) => return Ok(Some(count)),
                Read::End => return Ok(None),
                Read::Wait => waker.notified().await,
            }
        }
    }

    /// Writes all of `bytes`.
    pub(crate) async fn write(&self, mut bytes: &[u8]) -> Result<(), Gone> {
        let (number, stream) = self.name;
        let waker = self.engine.waker(self.name);
        while !bytes.is_empty() {
            let written = self.engine.with(number, |streams| streams.write(stream, bytes));
            match written.ok_or(Gone)?? {
                0 => waker.notified().await,
                count => bytes = &bytes[count..],
            }
        }
        Ok(())
    }

    fn each(&self, what: impl FnOnce(&mut dyn courier::Streams, StreamId)) {
        let (number, stream) = self.name;
        self.engine.with(number, |streams| what(streams, stream));
    }

    /// Nothing more is written.
    pub(crate) fn finish(&self) {
        self.each(|streams, stream| streams.finish(stream));
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if !self.over.get() {
            self.each(|streams, stream| streams.reset(stream));
        }
        self.engine.forget(self.name);
    }
}

/// Carries until both directions have ended, or one has failed.
pub(crate) async fn pump(stream: &Owned, tcp: TcpStream) {
    let _ = tcp.set_nodelay(true);
    let (from, to) = tcp.into_split();
    // An error of one direction drops the other: the TCP connection is closed, the stream reset.
    let ended = tokio::try_join!(up(stream, from), down(stream, to));
    stream.over.set(ended.is_ok());
}

async fn up(stream: &Owned, mut from: OwnedReadHalf) -> Result<(), ()> {
    let mut bytes = vec![0; BUFFER];
    loop {
        match from.read(&mut bytes).await.map_err(drop)? {
            0 => {
                stream.finish();
                return Ok(());
            }
            count => {
                stream.write(&bytes[..count]).await.map_err(drop)?;
                stream.engine.count(|counters| counters.up_bytes += count as u64);
            }
        }
    }
}

async fn down(stream: &Owned, mut to: OwnedWriteHalf) -> Result<(), ()> {
    let mut bytes = vec![0; BUFFER];
    while let Some(count) = stream.read(&mut bytes).await.map_err(drop)? {
        to.write_all(&bytes[..count]).await.map_err(drop)?;
        stream.engine.count(|counters| counters.down_bytes += count as u64);
    }
    to.shutdown().await.map_err(drop)
}
