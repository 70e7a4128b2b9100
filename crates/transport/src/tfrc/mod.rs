//! TFRC endpoints (RFC 5348): a sender paced at a rate, and a receiver that reports arrivals and
//! losses once in a round trip.
//!
//! The connection's data is sent over its paths in packets that are numbered on each path;
//! reassembly and repair are above the paths (Tse 2006, §3.2.2). Every report, on any path, lists
//! the data that the connection misses. That data is sent again, on another path if one has its
//! turn within a round trip.

mod arrivals;
mod history;
mod receiver;
mod sender;
mod sent;
mod times;
mod turns;

pub use receiver::Receiver;
pub use sender::{Sender, Settings};
