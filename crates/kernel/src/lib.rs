//! Controllers in the kernel: loaded from BPF, selected by name, and observed.
//!
//! A [`Controller`] is attached for the lifetime of the value; [`Controller::pin`] lets it outlive
//! the process. An [`Operator`] does so with the refusals of a command. The C of laws is generated
//! from their texts (`ports`); the C around a law is in `bpf/shell.h`.
#![cfg(target_os = "linux")]

include!(env!("AB_LAYOUT"));

mod assigned;
mod commands;
mod controller;
mod counters;
mod loaded;
mod namespaces;
mod observed;
mod operations;
mod operator;
mod pins;
mod programs;
mod replaced;
mod rights;
mod sampler;
mod senses;
mod settings;
mod subflow;

pub use assigned::{Assigned, Place, assigned};
pub use commands::{Reno, Unloaded, available};
pub use controller::{Controller, Cost};
pub use counters::Counters;
pub use libbpf_rs::{Error, ErrorKind};
pub use loaded::{Loaded, loaded};
pub use namespaces::{everywhere, read_setting};
pub use observed::{ConnectionStatus, ControllerStatus, Status, SubflowStatus};
pub use operator::{Operator, Refused};
pub use pins::unload;
pub use programs::{PROGRAMS, Program, SOURCE_FILES, SOURCES, WRITTEN, program};
pub use replaced::Replaced;
pub use rights::{LOCKDOWN, TO_LOAD, is_root, lacking, lockdown};
pub use sampler::{Sampled, Sampler};
pub use senses::Coupler;
pub use settings::{Fault, Settings};
pub use subflow::{Reader, Subflow, subflows};
