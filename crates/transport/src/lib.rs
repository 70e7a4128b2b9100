//! TCP and MPTCP endpoints without I/O, clock or randomness.
//!
//! A plain TCP connection is a connection with one path. A [`Sender`] is driven by calls:
//!
//! * [`Sender::on_ack`], [`Sender::on_deadline`], [`Sender::on_sent`], [`Sender::join`] and
//!   [`Sender::leave`] tell it what happened;
//! * after any of them call [`Sender::poll_transmit`] until it returns `None`, and then
//!   [`Sender::next_deadline`], which may have changed.
//!
//! TFRC is a mode of the same endpoints: its receiver reports when a deadline has come, and its sender
//! is told by [`Sender::on_report`] instead of [`Sender::on_ack`].
//!
//! On a coded path ([`Sender::set_coding`]) what TCP sends leaves as combinations of segments.
//!
//! A [`Receiver`] answers [`Receiver::on_data`] with the ACK to send now, if any, and has a deadline
//! of its own while an ACK is delayed.

mod autotune;
mod coded;
mod mapping;
mod modern;
mod options;
mod path;
mod prr;
mod ranges;
mod receiver;
mod rtt;
pub mod scheduler;
mod scoreboard;
mod sender;
mod settings;
mod source;
mod tfrc;

pub use autotune::AUTOTUNED_FROM;
pub use coded::{Coding, Heard, coded_answer, coded_packet};
pub use modern::ModernSettings;
pub use options::{OptionTable, Options};
pub use path::PathReport;
pub use receiver::{Receiver, ReceiverSettings};
pub use rtt::{RtoFloor, RtoSettings};
pub use scheduler::{Scheduler, WrongParameter};
pub use sender::{Sender, Transmit};
pub use settings::{Idle, SenderSettings};
pub use source::{Source, Turns};
