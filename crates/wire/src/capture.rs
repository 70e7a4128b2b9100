//! Reads captures, of this laboratory or of any other place: pcapng and pcap.
//!
//! [`read`] takes a file apart into packets (`file.rs`), packets into segments (`dissect.rs`), and
//! counts them by subflow and connection (`subflow.rs`, `connection.rs`), so that what was captured
//! on a real machine is judged by the measures that simulations are judged by.

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

/// What a capture says.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// Packets of any kind.
    pub packets: u64,
    /// Packets that are not TCP, or whose headers are not whole.
    pub others: u64,
    /// TCP segments whose options are malformed.
    pub malformed: u64,
    /// Time of the first packet.
    pub first: Time,
    /// Time of the last packet.
    pub last: Time,
    /// Length of the bins over time.
    pub bin: Span,
    /// TCP connections, each a subflow or alone.
    pub subflows: Vec<Subflow>,
    /// Connections, of one subflow or of several.
    pub connections: Vec<Connection>,
    /// Names that the file has for addresses.
    pub names: BTreeMap<IpAddr, String>,
    /// Where reading ended before the end of the file, and why.
    pub broken: Option<Broken>,
}

/// The part of a capture that is counted, in time since its first packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part {
    /// Where it begins.
    pub from: Span,
    /// Where it ends, if not with the capture.
    pub to: Option<Span>,
}

/// Most bins that bytes over time are counted in, of each subflow and of all.
const MOST_BINS: (u64, u64) = (10_000, 10_000_000);

/// Reads a capture; bytes over time are counted in bins of `bin`, or longer ones where there would
/// be very many.
///
/// Packets, payload, round trips and what is acknowledged are counted in `part`; bins, openings and
/// joins are of the whole capture.
///
/// # Errors
/// If `input` is no capture or cannot be read. A capture that breaks off is what it was up to
/// there, with [`Capture::broken`].
pub fn read(input: impl Read + Send, bin: Span, part: Part) -> Result<Capture, Error> {
    let mut capture = Capture { first: Time::NEVER, ..Capture::default() };
    let (mut subflows, mut connections) = (Subflows::default(), Connections::default());
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
