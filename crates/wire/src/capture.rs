//! Reads captures of any origin: pcapng and pcap.
//!
//! [`read`] takes a file apart into packets (`file.rs`), packets into segments (`dissect.rs`), and
//! counts them by subflow and connection (`subflow.rs`, `connection.rs`), so that captures of real
//! machines and simulations have the same measures.

mod connection;
mod dissect;
mod file;
mod subflow;

pub use connection::Connection;
pub use file::{Broken, Error, Packet, packets};
pub use subflow::{Direction, Subflow};

use connection::Connections;
use std::collections::BTreeMap;
use std::io::Read;
use std::net::IpAddr;
use subflow::Subflows;
use units::{Span, Time};

/// The content of a capture.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// Packets of any kind.
    pub packets: u64,
    /// Packets that are not TCP, or whose headers are incomplete.
    pub others: u64,
    /// TCP segments whose options are malformed.
    pub malformed: u64,
    /// Time of the first packet.
    pub first: Time,
    /// Time of the last packet.
    pub last: Time,
    /// Length of the bins over time.
    pub bin: Span,
    /// TCP connections, each a single one or a subflow.
    pub subflows: Vec<Subflow>,
    /// Connections, of one subflow or of several.
    pub connections: Vec<Connection>,
    /// Names of addresses in the file.
    pub names: BTreeMap<IpAddr, String>,
    /// The place at which reading ended before the end of the file, and why.
    pub broken: Option<Broken>,
}

/// The counted part of a capture, in time since its first packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part {
    /// Where it begins.
    pub from: Span,
    /// Where it ends; `None` is the end of the capture.
    pub to: Option<Span>,
    /// Whether every delay and every retransmission is kept: 16 bytes for each.
    pub delays: bool,
}

/// Most bins of bytes over time, for each subflow and in total.
const MOST_BINS: (u64, u64) = (10_000, 10_000_000);

/// Reads a capture. Bytes over time are counted in bins of `bin`, or in longer bins if there would
/// be too many.
///
/// Packets, payload, round trips and acknowledged data are counted in `part`; bins, openings and
/// joins are of the whole capture.
///
/// # Errors
/// If `input` is not a capture or cannot be read. A capture that breaks off is returned up to
/// there, with [`Capture::broken`].
pub fn read(input: impl Read + Send, bin: Span, part: Part) -> Result<Capture, Error> {
    let mut capture = Capture { first: Time::NEVER, ..Capture::default() };
    let (mut subflows, mut connections) = (Subflows::new(part.delays), Connections::default());
    let mut names = BTreeMap::new();
    let visit = |packet: &Packet<'_>| {
        capture.packets += 1;
        capture.first = capture.first.min(packet.at);
        capture.last = capture.last.max(packet.at);
        let since = packet.at.since(capture.first);
        let ended = part.to.is_some_and(|to| since >= to);
        match dissect::dissect(packet) {
            Some(seen) => {
                capture.malformed += u64::from(seen.options.is_none());
                connections.mark(since >= part.from, ended);
                let number = subflows.add(packet.at, &seen, since >= part.from && !ended);
                connections.add(number, &seen, &subflows.all[number]);
            }
            None => capture.others += 1,
        }
    };
    let broken = packets(input, visit, |address, name| _ = names.insert(address, name))?;
    capture.names = names;
    if capture.packets == 0 {
        capture.first = Time::ZERO;
    }
    capture.broken = broken;
    capture.connections = connections.finish(&subflows.all);
    let most = (MOST_BINS.1 / subflows.all.len().max(1) as u64).clamp(1, MOST_BINS.0);
    capture.bin = bin.max(Span(capture.last.since(capture.first).0 / most + 1));
    capture.subflows = subflows.finish(capture.first, capture.bin);
    Ok(capture)
}
