//! Congestion control of one connection: any shipped controller, or a law in C in the kernel's
//! shell.

use control::{AnyController, ControllerKind, ControllerSpec, Needs, Settings, forward};
use ports::{Port, Ported};

/// The control of one connection; dispatch is a match, without a table of functions.
#[derive(Clone, Debug)]
pub enum Controller {
    /// A controller of `control`.
    Readable(AnyController),
    /// A law in C; boxed, so that the common case stays small.
    Kernel(Box<Ported>),
}

impl Controller {
    /// The controller named by `spec` over `paths` paths.
    pub fn new(spec: &ControllerSpec, settings: Settings, paths: usize) -> Self {
        let port = match spec.kind() {
            ControllerKind::Kernel(law) => Some(Port::of(law.described().names[0])),
            ControllerKind::KernelScheme(own) => Some(Port::of(own.described().names[0])),
            ControllerKind::KernelWritten(law) => {
                Some(Port::written(law).expect("what the kernel cannot run is refused when read"))
            }
            _ => None,
        };
        if let Some(port) = port {
            return Controller::Kernel(Box::new(Ported::new(port, settings, paths)));
        }
        let control = AnyController::new(spec, settings, paths);
        Controller::Readable(control.expect("what is not the kernel's is readable"))
    }
}

forward! {
    #[inline(always)] // runs for every ACK
    impl CongestionController for Controller { Controller::Readable, Controller::Kernel, }
    {
        fn needs(&self) -> Needs {
            match self {
                Controller::Readable(control) => control.needs(),
                Controller::Kernel(_) => Needs::NONE,
            }
        }
    }
}
