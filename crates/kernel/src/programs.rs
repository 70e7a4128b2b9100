//! Which controllers there are.

use ports::Port;
use std::sync::LazyLock;

/// A controller that can be loaded.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The same law, built natively.
    pub port: Port,
    /// The name by which the kernel knows it, at most 15 characters.
    pub kernel_name: &'static str,
    pub(crate) object: &'static [u8],
}

macro_rules! programs {
    ($($law:literal: $kernel_name:literal $file:literal),* $(,)?) => {
        /// The controllers; `reno` is the kernel's own Reno in our shell, to be compared with the
        /// others.
        pub static PROGRAMS: LazyLock<Vec<Program>> = LazyLock::new(|| vec![$(Program {
            port: Port::of($law.parse().expect("a glue file in bpf has the name of its law")),
            kernel_name: $kernel_name,
            object: include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".o")),
        }),*]);
    };
}
// One row for each glue file of a law in `bpf`.
include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// Digest of the sources that the controllers were compiled from.
pub const SOURCES: &str = env!("AB_SOURCES");

pub(crate) const STATUS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/status.o"));

/// The controller that has this name, of the law or in the kernel.
pub fn program(name: &str) -> Option<&'static Program> {
    PROGRAMS.iter().find(|program| program.port.name() == name || program.kernel_name == name)
}
