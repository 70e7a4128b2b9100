//! Which congestion control a class has: a readable law, a scheme that is no law, or `kernel:NAME`, the
//! kernel's own.

use control::{
    Acked, AnyLaw, AnyScheme, Cause, Coupled, Delivered, Ensemble, Scheme, Settings, Window,
};
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
        None if name.parse::<Scheme>().is_ok() => Ok(()),
        None => name.parse::<AnyLaw>().map(|_| ()).map_err(|unknown| unknown.to_string()),
    }
}

/// Whether the controller called `name` must be told of delivery rates, and is paced.
pub(crate) fn rate_based(name: &str) -> bool {
    name.parse().is_ok_and(Scheme::rate_based)
}

/// The control of one connection; dispatch is a match, without boxing.
#[derive(Clone, Debug)]
pub(crate) enum Controller {
    /// A readable law in its shell.
    Readable(Coupled),
    /// A law in C in the kernel's shell; boxed, so that the common case stays small.
    Kernel(Box<Ported>),
    /// What is no law.
    Scheme(Box<AnyScheme>),
}

/// Passes a call on to whichever it is.
macro_rules! pass {
    ($self:ident.$call:ident($($argument:expr),*)) => {
        match $self {
            Controller::Readable(control) => control.$call($($argument),*),
            Controller::Kernel(control) => control.$call($($argument),*),
            Controller::Scheme(control) => control.$call($($argument),*),
        }
    };
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
            None => match name.parse::<Scheme>() {
                Ok(scheme) => Controller::Scheme(Box::new(AnyScheme::new(scheme, settings, paths))),
                Err(_) => {
                    let law: AnyLaw = name.parse().expect(KNOWN);
                    Controller::Readable(Coupled::new(law, settings, paths))
                }
            },
        }
    }
}

impl Ensemble for Controller {
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        pass!(self.on_ack(path, ack));
    }

    fn on_congestion(&mut self, path: usize, cause: Cause) {
        pass!(self.on_congestion(path, cause));
    }

    fn on_recovered(&mut self, path: usize) {
        pass!(self.on_recovered(path));
    }

    fn set_member(&mut self, path: usize, member: bool) {
        pass!(self.set_member(path, member));
    }

    fn undo(&mut self, path: usize) {
        pass!(self.undo(path));
    }

    fn restart(&mut self, path: usize, window: Window) {
        pass!(self.restart(path, window));
    }

    #[inline] // on the way of every ACK
    fn window(&self, path: usize) -> Window {
        pass!(self.window(path))
    }

    fn on_delivered(&mut self, path: usize, delivered: &Delivered) {
        pass!(self.on_delivered(path, delivered));
    }

    fn pacing(&self, path: usize) -> Option<f64> {
        pass!(self.pacing(path))
    }
}
