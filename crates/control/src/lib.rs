//! Congestion control as two formulas.
//!
//! A [`Law`] says how a window grows for each acknowledged segment and where it goes on after a
//! congestion event, given what every path of the connection last published. [`Shell`] is the
//! shell that turns a law into an [`CongestionController`]: slow start, floors and the window's fraction live
//! there, once. Theory evaluates the same law through [`drift`].
//!
//! Windows are in segments with their fraction kept, times in seconds. Symbols follow the papers:
//! `w_r` is `paths[me].cwnd`, `rtt_r` is `paths[me].srtt`, `x_r = w_r / rtt_r`.
#![no_std]

extern crate alloc;

mod controller;
mod law;
pub mod laws;
pub mod schemes;
mod shell;
mod spec;
pub mod tfrc;

pub use controller::{
    Acked, Cause, CongestionController, Decoding, Delivered, Phase, Verdicts, Window,
};
pub use law::{Law, Note, PathView, drift, usable};
pub use laws::{AnyLaw, Described, UnknownLaw, described};
pub use schemes::{AnyScheme, Scheme};
pub use shell::{Settings, Shell};
pub use spec::{ControllerKind, ControllerSpec, Needs, UnknownController};
