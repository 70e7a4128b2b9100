//! What client and server say: four bytes of length, then JSON.
//!
//! A client opens a stream and asks. To `Get`, the server answers `Found`, sends the bytes of the
//! file from the wanted offset, and then `Digest`. The bytes go by blocks of 512 KiB, each in a
//! stream that the server opens, in the order of the file. To `Paths` it answers with the state of
//! its paths; or to any with `Refused`.

use crate::Error;
use noq::{RecvStream, SendStream};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Longest message in bytes: some thousand paths that were opened again and again.
const MOST_BYTES: usize = 1 << 20;

/// What a client asks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    /// A file from an offset; `prefix` is the SHA-256 of what the client has before it.
    Get { name: String, offset: u64, prefix: String },
    /// The state of the server's paths.
    Paths,
}

/// What a server answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// The file is there, with that many bytes; those from the offset follow in blocks.
    Found { size: u64, controller: String },
    /// SHA-256 of the whole file, as it was sent.
    Digest { sha256: String },
    /// The paths of the connection, in the order in which they were opened.
    Paths { paths: Vec<SendingPath> },
    /// Nothing follows.
    Refused { why: String },
}

/// A path as its sender sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SendingPath {
    /// noq's number of it in the connection; a path that was opened again has a new one.
    pub id: String,
    /// Address of the receiver.
    pub remote: String,
    /// Address of the sender; empty if the system does not tell.
    pub local: String,
    /// Bytes of UDP payload that were sent.
    pub sent_bytes: u64,
    /// Packets that were sent.
    pub sent_packets: u64,
    /// Packets that were declared lost.
    pub lost_packets: u64,
    /// Congestion events.
    pub congestion_events: u64,
    /// Congestion window in bytes.
    pub cwnd_bytes: u64,
    /// Smoothed round-trip time in seconds.
    pub srtt_s: f64,
    /// Whether it was open.
    pub open: bool,
}

/// Sends a message.
pub(crate) async fn write<T: Serialize>(stream: &mut SendStream, value: &T) -> Result<(), Error> {
    let text = serde_json::to_vec(value).map_err(|e| Error::failed("a message", e))?;
    let length = u32::try_from(text.len()).map_err(|e| Error::failed("a message", e))?;
    let failed = |e| Error::failed("the connection ended", e);
    stream.write_all(&length.to_be_bytes()).await.map_err(failed)?;
    stream.write_all(&text).await.map_err(failed)
}

/// Receives a message.
pub(crate) async fn read<T: DeserializeOwned>(stream: &mut RecvStream) -> Result<T, Error> {
    let failed = |e| Error::failed("the connection ended", e);
    let mut length = [0; 4];
    stream.read_exact(&mut length).await.map_err(failed)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > MOST_BYTES {
        return Err(Error::failed("the peer", "its message is too long"));
    }
    let mut text = vec![0; length];
    stream.read_exact(&mut text).await.map_err(failed)?;
    serde_json::from_slice(&text).map_err(|e| Error::failed("the peer's message", e))
}
