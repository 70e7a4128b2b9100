//! The boundary to applications: a connection with many byte streams.

use std::fmt;

/// A stream of a connection; both ends have the same number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StreamId(pub u32);

/// What a read gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// This many bytes, at least one.
    Bytes(usize),
    /// Nothing yet.
    Wait,
    /// The peer has written everything, and it was read.
    End,
}

/// Why a stream cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There are as many as the settings allow.
    TooMany,
    /// The request is too long.
    Request,
    /// The connection is not established, or has ended.
    Closed,
}

/// The stream was reset, or the connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Refused::TooMany => "too many streams are open",
            Refused::Request => "the request is too long",
            Refused::Closed => "there is no connection",
        })
    }
}

/// A connection with many byte streams in both directions, each reliable and in order. A stream
/// that its application does not read stops its writer, and no other stream.
///
/// Nothing blocks: after a call of the carrier's own, [`Streams::changed`] names the streams that
/// may be read or written again.
pub trait Streams {
    /// Opens a stream; the peer gets `request` with it.
    ///
    /// # Errors
    /// Why there is no stream.
    fn open(&mut self, request: &[u8]) -> Result<StreamId, Refused>;

    /// The next stream that the peer has opened, with its request.
    fn accept(&mut self) -> Option<(StreamId, Vec<u8>)>;

    /// Streams that the peer has opened and nobody has accepted.
    fn waiting(&self) -> usize;

    /// Writes the first of `bytes` and returns how many; 0 if the stream has no room.
    ///
    /// # Errors
    /// The stream is gone, or was finished.
    fn write(&mut self, stream: StreamId, bytes: &[u8]) -> Result<usize, Gone>;

    /// Nothing more will be written; reading goes on.
    fn finish(&mut self, stream: StreamId);

    /// Reads into `bytes`.
    ///
    /// # Errors
    /// The stream is gone.
    fn read(&mut self, stream: StreamId, bytes: &mut [u8]) -> Result<Read, Gone>;

    /// Ends a stream in both directions; data under way is lost.
    fn reset(&mut self, stream: StreamId);

    /// A stream that may have changed since it was last named here.
    fn changed(&mut self) -> Option<StreamId>;
}
