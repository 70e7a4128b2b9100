//! Traffic between endpoints: segments as values ([`Segment`]), their headers as bytes ([`packet`],
//! [`tcp`], [`mptcp`]), and capture files ([`pcapng`], [`capture`]).

pub mod capture;
pub mod mptcp;
pub mod packet;
pub mod pcapng;
mod segment;
pub mod tcp;

pub use segment::{
    Ack, CodedAck, Combination, Data, Datagram, Echo, Flags, HEADER_BYTES, MAX_SACKS, QuicAnswer,
    QuicDatagram, Range, Sacks, Segment, TfrcData, TfrcReport, sack_option_bytes,
};
