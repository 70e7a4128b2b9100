//! Settings of connections.

use crate::control::Control;
use transport::{Options, Source};

/// IPv4 and UDP headers.
pub const HEADER_BYTES: u32 = 20 + 8;

/// The smallest full packet: QUIC needs datagrams of 1200 bytes (RFC 9000 §14).
pub const MIN_PACKET: u64 = 1200 + HEADER_BYTES as u64;

/// The most bytes that a full datagram carries besides stream data: the short header with a
/// connection ID of 8 bytes and the longest packet number, the tag, and the header of the stream
/// frame.
const OVERHEAD: u32 = (1 + 8 + 4) + 16 + (1 + 1 + 8 + 2);

/// Bytes of a segment: what a full packet of `packet` bytes carries at least.
pub const fn segment(packet: u64) -> u32 {
    packet as u32 - HEADER_BYTES - OVERHEAD
}

/// Settings shared by the connections of a class.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Options of the user. QUIC takes `packet`, `receive_buffer`, `initial_window` and `ecn`; the
    /// others are those of TCP.
    pub options: Options,
    /// The source of the data.
    pub source: Source,
    /// Congestion control.
    pub control: Control,
    /// For each path whether it is a backup.
    pub backup: Vec<bool>,
}

impl Settings {
    /// Bytes of a full datagram.
    pub(crate) fn mtu(&self) -> u16 {
        (self.options.packet.0 - u64::from(HEADER_BYTES)) as u16
    }

    /// Bytes of one write of an application that writes at a rate.
    pub(crate) fn segment(&self) -> u32 {
        segment(self.options.packet.0)
    }
}
