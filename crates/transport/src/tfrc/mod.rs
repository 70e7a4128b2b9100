//! TFRC's endpoints (RFC 5348): a sender that is paced at a rate, and a receiver that reports once
//! in a round trip what arrived and what was lost.
//!
//! The connection's data goes over its paths in packets that are numbered on each of them, and is
//! put in order and repaired above them (Tse 2006, §3.2.2): every report, on whichever path, says
//! what the connection misses, and that goes out again, on another path if one will have its turn
//! within a round trip.

mod arrivals;
mod history;
mod receiver;
mod sender;
mod sent;

pub use receiver::Receiver;
pub use sender::{Sender, Settings};
