//! What travels between endpoints: segments as values ([`Data`], [`Ack`]), the same with their headers
//! as bytes ([`packet`], [`tcp`], [`mptcp`]), and the files that keep them ([`pcapng`], [`capture`]).

pub mod capture;
pub mod mptcp;
pub mod packet;
pub mod pcapng;
mod segment;
pub mod tcp;

pub use segment::{
    Ack, Data, Flags, HEADER_BYTES, MAX_SACKS, Range, Report, Sacks, sack_option_bytes,
};
