//! Endpoints without I/O, clock or randomness, one module for each protocol:
//!
//! * [`tcp`] is TCP, and MPTCP over several paths;
//! * [`coded`] is TCP with network coding: on coded paths segments leave as combinations;
//! * [`tfrc`] sends packets at a rate that the receiver's reports allow;
//! * [`udp`] sends datagrams.
//!
//! Each has a `Sender` and a `Receiver` under one contract: [`SendingEndpoint`] and
//! [`ReceivingEndpoint`].

pub mod coded;
mod endpoint;
mod options;
mod ranges;
mod reassembly;
mod rtt;
pub mod scheduler;
mod settings;
mod source;
pub mod tcp;
pub mod tfrc;
pub mod udp;

pub use endpoint::{PathReport, ReceivingEndpoint, SendingEndpoint, Transmit};
pub use options::{DelayedAck, Idle, OptionTable, Options, RtoFloor};
pub use scheduler::Scheduler;
pub use settings::SenderSettings;
pub use source::{Source, WritePeriods, Written};
