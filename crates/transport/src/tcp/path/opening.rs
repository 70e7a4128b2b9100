//! The handshakes of a connection and of a join.
//!
//! ```text
//!   connection   SYN ──►  ◄── SYN/ACK                             then data   (RFC 9293 §3.5)
//!   join         SYN ──►  ◄── SYN/ACK   ACK ──►  ◄── ACK          then data   (RFC 8684 §3.2)
//! ```
//!
//! The ACK that ends a connection's handshake goes with its first data.

use super::Path;
use super::timer::TimerKind;
use crate::settings::SenderSettings;
use units::{Span, Time};
use wire::{Ack, Flags};

/// The state of a path's handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    /// Established.
    Done,
    /// No packet was sent yet.
    Closed,
    /// The request of a connection or of a join was sent.
    Asked {
        /// Whether it is a join.
        join: bool,
    },
    /// The join was granted, and the confirmation was sent.
    Confirming,
}

/// The handshake of one path.
#[derive(Debug)]
pub(super) struct Handshake {
    state: Opening,
    /// A packet of the handshake must be sent now.
    ask: bool,
}

impl Handshake {
    /// The state of a path that needs a handshake, or is established at once.
    pub(super) fn new(needed: bool) -> Self {
        Handshake { state: if needed { Opening::Closed } else { Opening::Done }, ask: false }
    }
}

impl Path {
    /// Whether data may flow.
    pub(crate) fn established(&self) -> bool {
        self.handshake.state == Opening::Done
    }

    /// Whether it belongs to the connection and has not sent a request yet.
    pub(crate) fn closed(&self) -> bool {
        self.standing.member && self.handshake.state == Opening::Closed
    }

    /// Whether it has sent a request and is not established yet.
    pub(crate) fn asks(&self) -> bool {
        matches!(self.handshake.state, Opening::Asked { .. } | Opening::Confirming)
    }

    /// Sends the request of a connection, or of a join.
    pub(crate) fn open(&mut self, join: bool) {
        self.handshake.state = Opening::Asked { join };
        self.timer.backoff = 0;
        self.timer.deadline = Time::ZERO;
        self.timer.kind = TimerKind::Opening;
        self.handshake.ask = true;
    }

    /// The next packet of the handshake, if one is due; it is sent again until it is answered.
    pub(crate) fn poll_opening(&mut self, now: Time, settings: &SenderSettings) -> Option<Flags> {
        if !std::mem::take(&mut self.handshake.ask) {
            return None;
        }
        let wait = settings.options.rto_initial.0.saturating_mul(1 << self.timer.backoff.min(20));
        self.timer.deadline = now + Span(wait).min(settings.options.rto_max);
        self.timer.kind = TimerKind::Opening;
        match self.handshake.state {
            Opening::Asked { .. } => Some(Flags::SYN),
            Opening::Confirming => Some(Flags::CONFIRM),
            Opening::Done | Opening::Closed => None,
        }
    }

    /// The timer of the handshake fired: the last packet is sent again.
    pub(super) fn ask_again(&mut self) {
        self.timer.backoff += 1;
        self.handshake.ask = true;
        self.timer.deadline = Time::NEVER;
    }

    /// An answer of the handshake arrived; returns whether it establishes the path.
    pub(crate) fn on_answer(&mut self, now: Time, ack: &Ack) -> bool {
        let next = match self.handshake.state {
            Opening::Asked { join: false } if ack.flags.has(Flags::SYN) => Opening::Done,
            Opening::Asked { join: true } if ack.flags.has(Flags::SYN) => Opening::Confirming,
            Opening::Confirming if ack.flags.has(Flags::CONFIRM) => Opening::Done,
            _ => return false, // duplicate answers change nothing
        };
        if self.timer.backoff == 0 {
            self.rtt.sample(now.since(ack.echo)); // Karn: no sample of a retransmission
        }
        self.handshake.state = next;
        self.timer.backoff = 0;
        self.timer.deadline = Time::NEVER;
        self.handshake.ask = next == Opening::Confirming;
        next == Opening::Done
    }
}
