//! Settings of connections that both sides share.

use crate::controllers::PATHS;
use anabranch_noq::Factory;
use noq::{IdleTimeout, TransportConfig, VarInt};
use std::path::Path;
use std::time::Duration;

/// Name of the protocol in the handshake; its number is raised by a change of the messages.
pub(crate) const PROTOCOL: &[u8] = b"anabranch-transfer/1";

/// A path without an answer for that long is given up while there is another one.
pub(crate) const PATH_IDLE: Duration = Duration::from_secs(3);

/// A connection without an answer on any path for that long has ended.
const IDLE: VarInt = VarInt::from_u32(30_000);

/// Bytes that may be under way: 1 Gb/s over 250 ms, and what the other paths carry while one that
/// failed holds up the stream for [`PATH_IDLE`].
const WINDOW_BYTES: u32 = 32 << 20;

/// Bytes of a file that have a stream of their own. noq 1.4 keeps each packet that waits for an
/// earlier one, and ends the connection at 2048 of them in one stream ("too many gaps in stream
/// buffer"): a file in one stream would fail with a path that holds up 3 MB.
pub(crate) const BLOCK: u32 = 512 << 10;

/// Blocks that a client takes at a time.
pub(crate) const MOST_BLOCKS: u32 = WINDOW_BYTES / BLOCK;

/// Which end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Serve,
    Fetch,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Self::Serve => "serve",
            Self::Fetch => "fetch",
        }
    }

    /// Blocks that it takes at a time.
    fn blocks(self) -> u32 {
        match self {
            Self::Serve => 0,
            Self::Fetch => MOST_BLOCKS,
        }
    }
}

/// The settings with a controller and, with a folder, a qlog in it.
pub(crate) fn settings(controller: Factory, qlog: Option<&Path>, side: Side) -> TransportConfig {
    let mut made = TransportConfig::default();
    made.congestion_controller_factory(controller)
        .max_concurrent_multipath_paths(u32::from(PATHS))
        .default_path_max_idle_timeout(Some(PATH_IDLE))
        .max_idle_timeout(Some(IdleTimeout::from(IDLE)))
        .max_concurrent_uni_streams(VarInt::from_u32(side.blocks()))
        .max_concurrent_bidi_streams(VarInt::from_u32(16))
        .stream_receive_window(VarInt::from_u32(2 * BLOCK))
        .receive_window(VarInt::from_u32(WINDOW_BYTES))
        .send_window(u64::from(WINDOW_BYTES));
    if let Some(folder) = qlog {
        made.qlog_from_path(folder, side.name());
    }
    made
}
