//! Which congestion control a class has: a readable law, a scheme that is no law, or `kernel:NAME`, the
//! kernel's own.

use control::tfrc::Feedback;
use control::{
    Acked, AnyLaw, AnyScheme, Cause, CongestionController, Decoding, Delivered, Scheme, Settings,
    Shell, Verdicts, Window,
};
use ports::{Port, Ported};
use scenario::Known;

/// Before the name of a law that is to run as the kernel runs it.
const KERNEL: &str = "kernel:";

/// What a scenario has to know of the controller called `name`.
///
/// # Errors
/// What is wrong with the name, with the nearest ones.
pub fn known_controller(name: &str) -> Result<Known, String> {
    match name.strip_prefix(KERNEL) {
        Some(law) => law.parse::<Port>().map(|_| ()).map_err(|unknown| unknown.to_string())?,
        None if name.parse::<Scheme>().is_ok() => {}
        None => name.parse::<AnyLaw>().map(|_| ()).map_err(|unknown| unknown.to_string())?,
    }
    Ok(Known { by_feedback: by_feedback(name) })
}

/// Whether the controller called `name` paces what it sends, and is told what is delivered.
pub(crate) fn paced(name: &str) -> bool {
    name.parse().is_ok_and(Scheme::paced)
}

/// Whether the controller called `name` works with delivery rates alone.
pub(crate) fn rate_based(name: &str) -> bool {
    name.parse().is_ok_and(Scheme::rate_based)
}

/// Whether receivers report to the controller called `name` instead of acknowledging.
pub(crate) fn by_feedback(name: &str) -> bool {
    name.parse().is_ok_and(Scheme::by_feedback)
}

/// The control of one connection; dispatch is a match, without a table of functions.
#[derive(Clone, Debug)]
pub(crate) enum Controller {
    /// A readable law in its shell.
    Readable(Shell),
    /// Anything else; boxed and apart, so that the common case stays small and is told by one comparison.
    Other(Box<Other>),
}

/// What is no readable law.
#[derive(Clone, Debug)]
pub(crate) enum Other {
    /// A law in C in the kernel's shell.
    Kernel(Ported),
    /// What is no law.
    Scheme(AnyScheme),
}

/// Passes a call on to whichever it is; `by` says how an [`Other`] is looked at.
macro_rules! pass {
    ($self:ident.$call:ident($($argument:expr),*), $by:ident) => {
        match $self {
            Controller::Readable(control) => control.$call($($argument),*),
            Controller::Other(other) => match other.$by() {
                Other::Kernel(control) => control.$call($($argument),*),
                Other::Scheme(control) => control.$call($($argument),*),
            },
        }
    };
}

impl Controller {
    /// The controller called `name`, which is known, over `paths` paths.
    pub(crate) fn new(name: &str, settings: Settings, paths: usize) -> Self {
        const KNOWN: &str = "the controller was validated";
        match name.strip_prefix(KERNEL) {
            Some(law) => {
                let ported = Ported::new(law.parse().expect(KNOWN), settings, paths);
                Controller::Other(Box::new(Other::Kernel(ported)))
            }
            None => match name.parse::<Scheme>() {
                Ok(scheme) => {
                    let scheme = AnyScheme::new(scheme, settings, paths);
                    Controller::Other(Box::new(Other::Scheme(scheme)))
                }
                Err(_) => {
                    let law: AnyLaw = name.parse().expect(KNOWN);
                    Controller::Readable(Shell::new(law, settings, paths))
                }
            },
        }
    }
}

impl Other {
    #[inline(never)] // it would crowd the way of a law's ACK
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        match self {
            Other::Kernel(control) => control.on_ack(path, ack),
            Other::Scheme(control) => control.on_ack(path, ack),
        }
    }
}

impl CongestionController for Controller {
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        pass!(self.on_ack(path, ack), as_mut);
    }

    #[inline(always)] // on the way of every ACK
    fn on_ack_of(&mut self, path: usize, ack: impl Fn() -> Acked) {
        match self {
            Controller::Readable(control) => control.on_ack(path, &ack()),
            Controller::Other(other) => other.on_ack(path, &ack()),
        }
    }

    fn on_congestion(&mut self, path: usize, cause: Cause) {
        pass!(self.on_congestion(path, cause), as_mut);
    }

    fn on_recovered(&mut self, path: usize) {
        pass!(self.on_recovered(path), as_mut);
    }

    fn set_member(&mut self, path: usize, member: bool) {
        pass!(self.set_member(path, member), as_mut);
    }

    fn undo(&mut self, path: usize) {
        pass!(self.undo(path), as_mut);
    }

    fn restart(&mut self, path: usize, window: Window) {
        pass!(self.restart(path, window), as_mut);
    }

    #[inline] // on the way of every ACK
    fn window(&self, path: usize) -> Window {
        pass!(self.window(path), as_ref)
    }

    fn on_delivered(&mut self, path: usize, delivered: &Delivered) {
        pass!(self.on_delivered(path, delivered), as_mut);
    }

    fn pacing(&self, path: usize) -> Option<f64> {
        pass!(self.pacing(path), as_ref)
    }

    fn on_delay(&mut self, path: usize, delay: f64) {
        pass!(self.on_delay(path, delay), as_mut);
    }

    fn reads_delay(&self) -> bool {
        pass!(self.reads_delay(), as_ref)
    }

    fn on_stalled(&mut self) {
        pass!(self.on_stalled(), as_mut);
    }

    fn on_decoding(&mut self, path: usize, decoding: &Decoding) -> bool {
        pass!(self.on_decoding(path, decoding), as_mut)
    }

    fn verdicts(&self, path: usize) -> Verdicts {
        pass!(self.verdicts(path), as_ref)
    }

    fn on_feedback(&mut self, path: usize, feedback: &Feedback<'_>) {
        pass!(self.on_feedback(path, feedback), as_mut);
    }

    fn on_silence(&mut self, path: usize, now: f64, idle: bool) {
        pass!(self.on_silence(path, now, idle), as_mut);
    }

    fn moves_siblings(&self) -> bool {
        pass!(self.moves_siblings(), as_ref)
    }
}
