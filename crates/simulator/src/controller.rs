//! Congestion control of one connection: a readable law, a scheme that is no law, or a law in C in the
//! kernel's shell.

use control::tfrc::Feedback;
use control::{
    Acked, AnyScheme, Cause, CongestionController, ControllerKind, ControllerSpec, Decoding,
    Delivered, Settings, Shell, Verdicts, Window,
};
use ports::Ported;

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
    /// The controller that `spec` names over `paths` paths.
    pub(crate) fn new(spec: &ControllerSpec, settings: Settings, paths: usize) -> Self {
        match *spec.kind() {
            ControllerKind::Law(law) => Controller::Readable(Shell::new(law, settings, paths)),
            ControllerKind::Kernel(law) => {
                let port = law.parse().expect("laws that are ported have a port");
                Controller::Other(Box::new(Other::Kernel(Ported::new(port, settings, paths))))
            }
            ControllerKind::Scheme(scheme) => {
                let scheme = AnyScheme::new(scheme, settings, paths);
                Controller::Other(Box::new(Other::Scheme(scheme)))
            }
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
