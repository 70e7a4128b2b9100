//! The controllers that can be loaded.

use ports::Port;
use std::borrow::Cow;
use std::sync::LazyLock;

/// A controller that can be loaded.
#[derive(Clone, Debug)]
pub struct Program {
    /// The port of the same law; `None` for a law that a user wrote in C.
    pub port: Option<Port>,
    /// Its name in the kernel, at most 15 characters.
    pub kernel_name: Cow<'static, str>,
    pub(crate) object: Cow<'static, [u8]>,
}

impl Program {
    /// The name of its law; without a port, its own name.
    pub fn law(&self) -> &str {
        self.port.as_ref().map_or(&self.kernel_name, Port::name)
    }

    /// A controller compiled from the C of a law, with its name in the kernel, and its port if the
    /// C was generated from a text.
    pub fn compiled(port: Option<Port>, kernel_name: String, object: Vec<u8>) -> Self {
        Program { port, kernel_name: kernel_name.into(), object: object.into() }
    }
}

/// The source files with which the C of a law is compiled: the name and the content of each.
pub static SOURCE_FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// Prefix of the kernel names of users' laws, in text or in C.
pub const WRITTEN: &str = "law_";

macro_rules! programs {
    ($($law:literal: $kernel_name:literal $file:literal),* $(,)?) => {
        /// The controllers; `reno` is the kernel's own Reno in our shell, for comparison.
        pub static PROGRAMS: LazyLock<Vec<Program>> = LazyLock::new(|| vec![$(Program {
            port: Some(Port::of($law)),
            kernel_name: Cow::Borrowed($kernel_name),
            object: Cow::Borrowed(include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".o"))),
        }),*]);
    };
}
// One row for each glue file of a law in `bpf`.
include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// Digest of the sources from which the controllers were compiled.
pub const SOURCES: &str = env!("AB_SOURCES");

pub(crate) const STATUS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/status.o"));
pub(crate) const ASSIGN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/assign.o"));

/// The controller with this name, of the law or in the kernel.
pub fn program(name: &str) -> Option<&'static Program> {
    PROGRAMS.iter().find(|program| program.law() == name || program.kernel_name == name)
}
