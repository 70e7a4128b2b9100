//! A transport over UDP of its own: many byte streams over several paths, with the endpoints and
//! controllers of the laboratory, network coding, and authenticated encryption. [`Channel`] has the
//! same streams over one sequence of bytes that something else carries, such as Multipath TCP.
//!
//! ```text
//!   Streams ── frames of streams ──► Mux ── one ordered byte sequence ──► Outgoing (Sender)
//!                                                                          │ segments
//!   datagrams ◄── Session (Noise) ◄── frames of a datagram ◄── Connection ◄┘
//!
//!   Streams ── frames of streams ──► Mux ── records (Noise) ──► Channel ── bytes ──►
//! ```
//!
//! The crate does no I/O and reads no clock and no random numbers: time and [`Entropy`] are
//! arguments. A driver passes datagrams in with their [`Route`], and sends what
//! `poll_transmit` gives.
//!
//! [`Streams`] is the boundary to applications: another carrier of byte streams can stand behind
//! it.
//!
//! **Memory.** A connection holds at most [`Settings::most_bytes`]; a peer that would exceed it is
//! disconnected. For hosts that have shown no key the responder holds nothing.

mod ask;
mod channel;
mod connection;
mod cookie;
mod datagram;
mod frame;
mod incoming;
mod initiator;
mod key;
mod limit;
mod mux;
mod noise;
mod ordered;
mod outgoing;
mod path;
mod records;
mod replay;
mod responder;
mod route;
mod sending;
mod settings;
mod streams;
#[cfg(test)]
mod tests;
mod violation;

pub use channel::{Channel, Gate};
pub use connection::{Closed, Connection, PathStatus};
pub use initiator::Initiator;
pub use key::{InvalidKey, PublicKey, SecretKey};
pub use responder::{Event, Responder};
pub use route::{Route, Transmit};
pub use settings::Settings;
pub use streams::{Gone, Read, Refused, StreamId, Streams};

/// Most paths of a connection: a path's number is in a byte of the nonce.
pub const MAX_PATHS: usize = 8;

/// The source of random bytes.
pub trait Entropy {
    /// Fills `bytes` with bytes that nobody else can guess.
    fn fill(&mut self, bytes: &mut [u8]);
}

impl<F: FnMut(&mut [u8])> Entropy for F {
    fn fill(&mut self, bytes: &mut [u8]) {
        self(bytes);
    }
}

/// `N` bytes from `entropy`.
pub(crate) fn draw<const N: usize>(entropy: &mut dyn Entropy) -> [u8; N] {
    let mut bytes = [0; N];
    entropy.fill(&mut bytes);
    bytes
}
