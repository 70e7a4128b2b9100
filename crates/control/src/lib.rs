//! Congestion control as two formulas.
//!
//! A [`Law`] says how a window grows for each acknowledged segment and where it goes on after a
//! congestion event, given what every path of the connection last published. A [`Shell`] turns a
//! law into a [`CongestionController`]: slow start, floors and the window's fraction live there,
//! once. Theory evaluates the same law through [`drift`]. A [`ControllerSpec`] is a controller as
//! scenarios name it, an [`AnyController`] one at work.
//!
//! Windows are in segments with their fraction kept. Times, spans and rates that a transport
//! reports are [`Time`], [`Span`] and [`SegmentRate`]; a law computes with reals, and its
//! [`PathView`] has the round trip in seconds and the rate in segments per second. Symbols follow
//! the papers: `w_r` is `paths[me].cwnd`, `rtt_r` is `paths[me].srtt`, `x_r = w_r / rtt_r`.
#![no_std]

extern crate alloc;

mod any;
mod controller;
mod kind;
mod law;
pub mod laws;
mod outside;
mod rate;
mod scheme;
mod schemes;
mod shell;
mod slow_start;
mod spec;
pub mod tfrc;
mod when_shared;
mod written;

pub use any::AnyController;
pub use controller::{
    Acked, Cause, CongestionController, Decoding, Delivered, Needs, Phase, See, Verdicts, Window,
};
pub use formula::TextLaw;
pub use kind::{Choice, Described, Kind, Listed};
pub use law::{Law, PathView, SINGLE_PATH_SSTHRESH, Terms, drift, usable};
pub use laws::{AnyLaw, LawVisitor};
pub use outside::{Outside, OutsideControl};
pub use rate::SegmentRate;
pub use schemes::AnyScheme;
pub use sharing::AnyDetector;
pub use shell::{Settings, Shell};
pub use slow_start::{AnySlowStart, HyStart, SlowStart, Standard, Step};
pub use spec::{ControllerKind, ControllerSpec, NOQ_NAMES, UnknownController, law_file};
pub use units::{Span, Time};
pub use written::{Notes, Written};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
