//! What happens on a path, before a version of qlog names it.

use serde_json::Value;
use std::io;
use units::Time;

/// A packet of a path.
pub(in super::super) struct Packet {
    /// `handshake` or `1RTT`.
    pub(super) kind: &'static str,
    /// Its number in its path, if that is known.
    pub(super) number: Option<u64>,
    /// Bytes with headers.
    pub(super) length: u32,
    /// Bytes without headers, if they are known.
    pub(super) payload: Option<u32>,
    /// Offset and length of its part of the connection's data.
    pub(super) stream: Option<(u64, u32)>,
}

/// An event of a path.
pub(in super::super) enum Happening<'a> {
    Sent(Packet),
    /// With the ranges of numbers that it newly acknowledges, both ends included.
    Received(Packet, &'a [[u64; 2]]),
    /// Numbers of packets that were acknowledged, if no packet that was received tells them.
    Acked(&'a [u64]),
    /// Declared lost; for TCP detected when the data is sent again.
    Lost {
        number: u64,
    },
    /// Changed metrics. Their names are the same in all versions.
    Metrics(&'a Value),
    /// A state of congestion control; `old` is empty for the first one.
    Phase {
        old: &'static str,
        new: &'static str,
    },
    /// The path is no longer part of the connection.
    Left,
}

/// A version and serialization of qlog.
pub(super) trait Form: Send {
    /// Logs an event of a path, by its number among all paths.
    fn tell(&mut self, now: Time, path: usize, what: &Happening<'_>);
    /// A path joins its connection, for the first time or again.
    fn joined(&mut self, path: usize);
    /// The log is complete.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// A path of a user as logs name it.
#[derive(Clone, Debug)]
pub(super) struct Named {
    /// Its connection: `CLASS.USER`.
    pub(super) group: String,
    /// Number of its connection among all.
    pub(super) flow: usize,
    /// Number of the path in its connection.
    pub(super) index: usize,
    pub(super) protocol: &'static str,
}

/// Who wrote a log, and where its events were seen.
pub(super) const DESCRIPTION: &str =
    concat!("anabranch ", env!("CARGO_PKG_VERSION"), ", at the hosts that send");

/// Milliseconds, the unit of all times in a qlog.
pub(super) fn ms(at: Time) -> f64 {
    at.0 as f64 / 1e6
}

/// An object without its closing brace.
pub(super) fn opened(object: &Value) -> String {
    let mut text = object.to_string();
    text.pop();
    text
}

/// The state of congestion control before and after a change.
pub(super) fn phases(old: &str, new: &str) -> Value {
    let mut update = serde_json::json!({ "new": new });
    if !old.is_empty() {
        update["old"] = old.into();
    }
    update
}

/// Type and number of a packet.
pub(super) fn header(packet: &Packet) -> Value {
    let mut header = serde_json::json!({ "packet_type": packet.kind });
    if let Some(number) = packet.number {
        header["packet_number"] = number.into();
    }
    header
}

/// Packets of application data that were acknowledged.
pub(super) fn acknowledged(numbers: &[u64]) -> Value {
    serde_json::json!({ "packet_number_space": "application_data", "packet_numbers": numbers })
}

/// Lengths of a packet.
pub(super) fn raw(packet: &Packet) -> Value {
    let mut raw = serde_json::json!({ "length": packet.length });
    if let Some(payload) = packet.payload {
        raw["payload_length"] = payload.into();
    }
    raw
}
