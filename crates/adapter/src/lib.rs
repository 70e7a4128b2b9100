//! What adapters of [`control`] to QUIC stacks share.
//!
//! A QUIC stack speaks bytes, packet numbers and instants, and has one object for each path. The
//! controllers of [`control`] speak segments and paths by number, one object for each connection.
//! [`Flight`] translates what the packets of one path tell. [`Slots`] gives each path a number,
//! and keeps it over migrations. [`Engine`] is the controller at work, with a log of its steps
//! that [`replay`]s. [`Refused`] says which controllers a stack cannot run, and why.
//!
//! Nothing here reads a clock, takes a lock or knows a stack: `anabranch-noq` and
//! `anabranch-quinn` are the fronts.
extern crate alloc;

mod engine;
mod event;
mod flight;
mod log;
mod rates;
mod refused;
mod replay;
mod slots;
pub mod time;

pub use control::{
    Acked, Cause, ControllerSpec, Delivered, NOQ_NAMES, Settings, Span, Time, Window,
};
pub use engine::Engine;
pub use event::Event;
pub use flight::{Congestion, FLOOR, Flight};
pub use log::{Step, View};
pub use rates::{AckEnd, Rates};
pub use refused::{MOST_PATHS, Offered, Refused, Wanted};
pub use replay::{Mismatch, replay};
pub use slots::{Holder, Report, Slots};
