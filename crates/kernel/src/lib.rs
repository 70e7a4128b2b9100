//! The controllers in the kernel: loaded into it from BPF, selected by name like any other, and
//! observed.
//!
//! A [`Controller`] lasts as long as the value; [`Controller::pin`] makes it outlive the process.
//! The C of laws is made of their texts (`ports`), what is around it is in `bpf/shell.h`.
#![cfg(target_os = "linux")]

include!(env!("AB_LAYOUT"));

mod controller;
mod counters;
mod loaded;
mod operations;
mod pins;
mod programs;
mod settings;
mod subflow;

pub use controller::{Controller, Cost};
pub use counters::Counters;
pub use libbpf_rs::{Error, ErrorKind};
pub use loaded::{Loaded, loaded};
pub use pins::unload;
pub use programs::{PROGRAMS, Program, SOURCE_FILES, SOURCES, WRITTEN, program};
pub use settings::{Fault, Settings};
pub use subflow::{Subflow, subflows};
