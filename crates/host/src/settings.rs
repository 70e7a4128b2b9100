//! Settings of a host.

use control::ControllerSpec;
use transport::{DelayedAck, Options};
use units::{Span, ValidRange};

/// Settings of all connections of a host.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The congestion controller of what the host sends.
    pub controller: ControllerSpec,
    /// Transport options; handshakes are always made, and a segment is never longer than the path
    /// allows.
    pub options: Options,
    /// Whether connections ask for Multipath TCP, and grant it.
    pub multipath: bool,
    /// Most subflows of a connection.
    pub subflows: usize,
    /// The slot whose subflow begins as a TCP under controllers with a base flow; the subflow that
    /// opens a connection has slot 0, those that join the next ones.
    pub base: usize,
    /// Whether this host asks for checksums of data (RFC 8684 §3.3).
    pub checksums: bool,
    /// Largest IP packet in bytes that the host sends.
    pub mtu: u16,
    /// Bytes that an application may write ahead of the peer's acknowledgement.
    pub send_buffer: usize,
    /// Most connections that are not established yet and were begun by peers.
    pub backlog: usize,
    /// Most connections.
    pub connections: usize,
    /// A connection ends if its peer has acknowledged nothing new for this long, though it should
    /// (RFC 9293 §3.8.3).
    pub user_timeout: Span,
    /// A connection that is idle for this long asks whether the peer is there (RFC 9293 §3.8.4).
    pub keep_alive: Option<Span>,
    /// How long the end that closed first remembers a subflow (RFC 9293 §3.6.1: twice the lifetime
    /// of a segment).
    pub time_wait: Span,
}

/// Slots for subflows.
pub const SUBFLOWS: ValidRange<usize> =
    ValidRange { holds: |subflows| (1..=64).contains(subflows), right: "1 to 64 subflows" };

/// RFC 9293 §3.7.1: an IPv4 host takes packets of 576 bytes.
pub const MTU: ValidRange<u16> = ValidRange {
    holds: |mtu| (576..=9216).contains(mtu),
    right: "576 to 9216 bytes, as every IPv4 host takes 576",
};

impl Settings {
    /// Settings with a controller, and defaults for all else.
    pub fn new(controller: ControllerSpec) -> Self {
        let delayed_ack = DelayedAck::After(Span::millis(40)); // RFC 1122 §4.2.3.2
        Settings {
            controller,
            options: Options {
                delayed_ack,
                rack: true,
                tlp: true,
                dsack: true,
                ..Options::default()
            },
            multipath: true,
            subflows: 8,
            base: 0,
            checksums: false,
            mtu: 1500,
            send_buffer: 4 << 20,
            backlog: 1024,
            connections: 65_536,
            user_timeout: Span::millis(180_000),
            keep_alive: None,
            time_wait: Span::millis(60_000),
        }
    }

    /// Slots for subflows: two at least, as the endpoints keep the connection's data apart from a
    /// path's only then.
    pub(crate) fn slots(&self) -> usize {
        self.subflows.max(2)
    }
}
