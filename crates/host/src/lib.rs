//! TCP and Multipath TCP (RFC 8684) between real hosts: the endpoints of the simulations, in
//! packets.
//!
//! A [`Host`] has the addresses that its driver gives it packets for. It has no I/O, no clock and
//! no randomness of its own: packets go in and come out as bytes, time is an argument, and random
//! numbers come from a function that the driver passes.
//!
//! ```text
//!   driver: TUN ─ bytes ─► Host::on_packet ─► Connection ─► transport::tcp::{Sender, Receiver}
//!               ◄─ bytes ─ Host::poll       ◄─ packets  ◄─ segments, acknowledgements
//! ```
//!
//! IPv4 alone is spoken. What is defended against is in `docs/explanation/wire.md`.

mod connection;
mod host;
mod inbox;
mod mappings;
mod outbox;
mod retry;
mod sequence;
mod settings;
mod stamps;
mod subflow;

pub use connection::{Address, Failure, Read};
pub use host::{Host, Id, Unready};
pub use settings::{MTU, SUBFLOWS, Settings};
