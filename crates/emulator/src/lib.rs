//! The emulator: the links of a plan on the wall clock, moving IP packets between TUN devices.
//!
//! Links are those of the simulator, built by the same code from the same plan, with the same named
//! random streams. They run in virtual time: when a packet is read, its exit time is known, so a
//! late wake-up delays the write of that packet and nothing after it. The emulator reports its own
//! lateness: see [`Own`].
#![cfg(target_os = "linux")]

mod capture;
mod clock;
mod device;
mod emulator;
mod forward;
mod measure;
mod media;
mod packet;
mod report;
mod routes;
mod slab;
mod spinner;

pub use clock::{Clock, PreciseSleep, sleep, thread_cpu, thread_waited};
pub use device::{Device, SetupError, Side};
pub use emulator::{Emulator, Watch};
pub use forward::Settings;
pub use report::{
    Conservation, Drops, Lateness, LatenessMeter, Own, PathResult, Reason, Report, Series,
};
pub use spinner::Spinner;
