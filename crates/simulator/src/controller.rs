//! Which congestion control a class has: a readable law, or `kernel:NAME`, the kernel's own.

use control::{Acked, AnyLaw, Cause, Coupled, Ensemble, Settings, Window};
use ports::{Port, Ported};

/// Before the name of a law that is to run as the kernel runs it.
const KERNEL: &str = "kernel:";

/// Whether `name` is a controller.
///
/// # Errors
/// What is wrong with it, with the nearest names.
pub fn known_controller(name: &str) -> Result<(), String> {
    match name.strip_prefix(KERNEL) {
        Some(law) => law.parse::<Port>().map(|_| ()).map_err(|unknown| unknown.to_string()),
        None => name.parse::<AnyLaw>().map(|_| ()).map_err(|unknown| unknown.to_string()),
    }
}

/// The control of one connection; dispatch is a match, without boxing.
#[derive(Clone, Debug)]
pub(crate) enum Controller {
    /// A readable law in its shell.
    Readable(Coupled),
    /// A law in C in the kernel's shell; boxed, so that the common case stays small.
    Kernel(Box<Ported>),
}

impl Controller {
    /// The controller called `name`, which is known, over `paths` paths.
    pub(crate) fn new(name: &str, settings: Settings, paths: usize) -> Self {
        const KNOWN: &str = "the controller was validated";
        match name.strip_prefix(KERNEL) {
            Some(law) => Controller::Kernel(Box::new(Ported::new(
                law.parse().expect(KNOWN),
                settings,
                paths,
            ))),
            None => {
                let law: AnyLaw = name.parse().expect(KNOWN);
                Controller::Readable(Coupled::new(law, settings, paths))
            }
        }
    }
}

impl Ensemble for Controller {
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        match self {
            Controller::Readable(control) => control.on_ack(path, ack),
            Controller::Kernel(control) => control.on_ack(path, ack),
        }
    }

    fn on_congestion(&mut self, path: usize, cause: Cause) {
        match self {
            Controller::Readable(control) => control.on_congestion(path, cause),
            Controller::Kernel(control) => control.on_congestion(path, cause),
        }
    }

    fn on_recovered(&mut self, path: usize) {
        match self {
            Controller::Readable(control) => control.on_recovered(path),
            Controller::Kernel(control) => control.on_recovered(path),
        }
    }

    fn set_member(&mut self, path: usize, member: bool) {
        match self {
            Controller::Readable(control) => control.set_member(path, member),
            Controller::Kernel(control) => control.set_member(path, member),
        }
    }

    fn window(&self, path: usize) -> Window {
        match self {
            Controller::Readable(control) => control.window(path),
            Controller::Kernel(control) => control.window(path),
        }
    }
}
