//! The laws as run by the kernel, in the integer arithmetic of `bpf/include`.
//!
//! [`Port`] is such a law under the name of the readable one; [`Ported`] is the kernel's shell
//! around it, an [`control::CongestionController`] that the simulator selects as `kernel:NAME`. So
//! the deployed code is the simulated code.

// The macro `layout!`.
include!(env!("AB_LAYOUT"));

mod cubic;
mod header;
mod port;
mod ported;
mod readable;
mod step;
mod trace;

pub use port::{PORTS, Port};
pub use ported::Ported;
pub use step::{PATHS, Step, View, Views};
pub use trace::Judged;
