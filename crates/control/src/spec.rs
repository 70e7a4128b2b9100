//! Which congestion control a flow has: the one place where its name is parsed.

use crate::{AnyLaw, Scheme, UnknownLaw};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// Before the name of a law that is to run as the kernel runs it.
const KERNEL: &str = "kernel:";

/// A controller as a scenario names it, parsed; `Display` gives the name back as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerSpec {
    text: Arc<str>,
    kind: ControllerKind,
}

/// What a [`ControllerSpec`] names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ControllerKind {
    /// A law in the readable shell.
    Law(AnyLaw),
    /// The port of the law of this name to the kernel, in the kernel's shell.
    Kernel(&'static str),
    /// A controller that is not a law.
    Scheme(Scheme),
}

/// What a controller needs from the endpoints of its connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Samples of the delivery rate on every ACK; it answers with a pacing rate.
    pub rates: bool,
    /// It controls by rate alone: loss recovery must not reduce what it sends.
    pub rate_based: bool,
    /// The receiver reports on the flow (TFRC) instead of acknowledging every segment.
    pub reports: bool,
}

impl ControllerSpec {
    /// What it names.
    pub fn kind(&self) -> &ControllerKind {
        &self.kind
    }

    /// What it needs from the endpoints.
    pub fn needs(&self) -> Needs {
        match self.kind {
            ControllerKind::Law(_) | ControllerKind::Kernel(_) => Needs::default(),
            ControllerKind::Scheme(scheme) => scheme.needs(),
        }
    }
}

impl FromStr for ControllerSpec {
    type Err = UnknownController;

    /// Reads `name`, `name:option` or `kernel:name`.
    fn from_str(text: &str) -> Result<Self, UnknownController> {
        let kind = match (text.strip_prefix(KERNEL), text.parse()) {
            (Some(law), _) => ControllerKind::Kernel(ported(law)?),
            (None, Ok(scheme)) => ControllerKind::Scheme(scheme),
            (None, Err(_)) => ControllerKind::Law(text.parse()?),
        };
        Ok(ControllerSpec { text: text.into(), kind })
    }
}

impl fmt::Display for ControllerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The registered name of the law that the kernel runs as `name`.
fn ported(name: &str) -> Result<&'static str, UnknownController> {
    let ports = || crate::described().into_iter().filter(|law| law.ported).map(|law| law.names[0]);
    ports().find(|law| *law == name).ok_or_else(|| {
        let all: Vec<String> = ports().map(|law| alloc::format!("{KERNEL}{law}")).collect();
        UnknownController(alloc::format!(
            "there is no controller `{KERNEL}{name}`; there are {}",
            all.join(", ")
        ))
    })
}

/// Why a text names no controller, with the nearest names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownController(String);

impl From<UnknownLaw> for UnknownController {
    fn from(unknown: UnknownLaw) -> Self {
        UnknownController(unknown.to_string())
    }
}

impl fmt::Display for UnknownController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for UnknownController {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_prints_as_it_was_written() {
        for text in ["lia", "rtt-compensator", "phi:0.50", "kernel:olia", "cubic:hystart"] {
            assert_eq!(text.parse::<ControllerSpec>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn the_kernel_has_ports_of_some_laws_alone() {
        for text in ["kernel:phi", "kernel:cubic", "kernel:lia:uncapped", "kernel:"] {
            let error = text.parse::<ControllerSpec>().unwrap_err().to_string();
            assert!(error.contains(text) && error.contains("kernel:lia"), "{error}");
        }
    }
}
