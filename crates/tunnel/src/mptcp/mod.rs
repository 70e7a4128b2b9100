//! The carrier over Multipath TCP: a [`host::Host`] with connections of its own, and on each a
//! [`Channel`], which makes streams of its bytes.
//!
//! ```text
//!   Streams ◄─► Channel ◄─ bytes ─► Host ◄─ packets ─► raw sockets
//! ```

mod connecting;
mod listening;
#[cfg(test)]
mod tests;

use crate::Error;
use courier::{Channel, Closed, Gate};
use host::{Host, Id, Read};
use std::net::Ipv4Addr;
use transport::{Idle, Options};
use units::{Bytes, Span, Time};
use wire::packet::Endpoint;

pub(crate) use connecting::{Connecting, Ground, Held, Way};
pub(crate) use listening::Listening;

/// Bytes that a connection has taken and no path has sent, about: what is urgent waits behind them.
const AHEAD: u64 = 64 << 10;

/// A path with data in flight that hears nothing for this long does not work.
const SILENT: Span = Span::millis(4_000);

/// Largest timeout of a segment: a path that returns is noticed within this time.
const RTO_MAX: Span = Span::millis(4_000);

/// Headers of IPv4 and UDP: with them a full datagram of `courier` is a full packet here.
const HEADERS: usize = 28;

/// Bytes that are read from a connection in one call.
const PART: usize = 64 << 10;

/// Slots for subflows: those of all paths, and some whose end has not arrived.
const SUBFLOWS: usize = 2 * courier::MAX_PATHS;

/// A host for at most `connections` connections.
pub(crate) fn host(settings: &courier::Settings, connections: usize) -> Result<Host, Error> {
    let own = host::Settings::new(settings.controller.clone());
    let buffer = settings.buffer as usize;
    let own = host::Settings {
        options: Options {
            rto_max: RTO_MAX,
            idle: Idle::Decay,
            receive_buffer: Bytes(u64::from(settings.buffer)),
            ..own.options
        },
        subflows: SUBFLOWS,
        mtu: (settings.datagram + HEADERS) as u16, // checked by the settings
        send_buffer: buffer,
        connections,
        user_timeout: settings.timeout,
        ..own
    };
    let made = Host::new(own, || {
        let mut bytes = [0; 8];
        crate::key::random(&mut bytes);
        u64::from_ne_bytes(bytes)
    });
    made.map_err(|wrong| {
        let field = if wrong.key == "controller" { "controller" } else { "over" };
        Error::wrong(field, format!("{} = {}: {}", wrong.key, wrong.value, wrong.right))
    })
}

/// Checks what the settings of the carrier do not.
///
/// # Errors
/// The controller does not run over Multipath TCP.
pub(crate) fn check(settings: &courier::Settings) -> Result<(), Error> {
    host(settings, 1).map(drop)
}

/// A connection of the host, and the channel over it.
#[derive(Debug)]
struct Line {
    id: Id,
    channel: Channel,
}

impl Line {
    /// Moves bytes in both directions, as far as there are any and room for them.
    fn exchange(
        &mut self,
        now: Time,
        (host, part): (&mut Host, &mut [u8]),
        mut gate: Option<&mut Gate>,
    ) {
        while self.channel.closed().is_none() {
            match host.read(now, self.id, part) {
                Ok(Read::Bytes(count)) => match gate.as_mut() {
                    None => self.channel.on_bytes(now, &part[..count], &mut crate::key::random),
                    Some(gate) => {
                        let random = &mut crate::key::random;
                        gate.on_bytes(now, &mut self.channel, &part[..count], random);
                    }
                },
                Ok(Read::Nothing) => break,
                // Neither is a word of the peer: somebody else may have sent it.
                Ok(Read::End) | Err(_) => self.cut(),
            }
        }
        self.channel.on_deadline(now);
        while host.unsent(self.id) < AHEAD {
            let Some(bytes) = self.channel.poll(now, host.room(self.id)) else { break };
            if host.write(now, self.id, &bytes) < bytes.len() {
                self.cut();
            }
        }
    }

    fn cut(&mut self) {
        let refused = !self.channel.is_established();
        self.channel.end(if refused { Closed::Stranger } else { Closed::Cut });
    }
}

/// What is seen of a path in its packets.
#[derive(Clone, Copy, Debug, Default)]
struct Watch {
    /// When data was sent to which nothing has been heard since.
    asked: Option<Time>,
    sent: u64,
    received: u64,
}

impl Watch {
    fn on_sent(&mut self, now: Time, packet: &[u8]) {
        self.sent += packet.len() as u64;
        if has_data(packet) {
            self.asked.get_or_insert(now);
        }
    }

    fn on_received(&mut self, packet: &[u8]) {
        self.received += packet.len() as u64;
        self.asked = None;
    }

    fn works(&self, now: Time) -> bool {
        self.asked.is_none_or(|asked| now.since(asked) < SILENT)
    }
}

/// Source and destination of a packet of TCP over IPv4; `None` for other packets.
fn ends(packet: &[u8]) -> Option<(Endpoint, Endpoint)> {
    let header = usize::from(packet.first()? & 0xf) * 4;
    let address = |at: usize| Some(Ipv4Addr::from(*packet.get(at..)?.first_chunk::<4>()?));
    let port =
        |at: usize| Some(u16::from_be_bytes(*packet.get(header + at..)?.first_chunk::<2>()?));
    let end = |at: usize, of: usize| Some(Endpoint { address: address(at)?, port: port(of)? });
    Some((end(12, 0)?, end(16, 2)?))
}

/// Whether a packet of TCP has data: the peer will acknowledge it.
fn has_data(packet: &[u8]) -> bool {
    let header = usize::from(packet.first().copied().unwrap_or(0) & 0xf) * 4;
    let tcp = packet.get(header + 12).map_or(0, |it| usize::from(it >> 4) * 4);
    packet.len() > header + tcp
}
