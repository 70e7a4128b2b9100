//! Any shipped controller at work on one connection.

use crate::controller::forward;
use crate::laws::AnyShell;
use crate::schemes::AnyControl;
use crate::slow_start::{AnySlowStart, Standard};
use crate::{ControllerKind, ControllerSpec, Needs, Settings};
use alloc::boxed::Box;

/// The controller of one connection; dispatch is a match, without a table of functions.
#[derive(Clone, Debug)]
pub enum AnyController {
    /// A law with the standard slow start, as most connections have it.
    Law(AnyShell<Standard>),
    /// Anything else; boxed and apart, so that the common case stays small and is told by one
    /// comparison.
    Other(Box<Other>),
}

/// A controller that is not a law with the standard slow start.
#[derive(Clone, Debug)]
pub struct Other {
    needs: Needs,
    control: OtherControl,
}

#[derive(Clone, Debug)]
enum OtherControl {
    Law(AnyShell<AnySlowStart>),
    Scheme(AnyControl),
}

impl AnyController {
    /// The controller that `spec` names over `paths` paths, all members, none with a round-trip
    /// sample yet; `None` for a law in the kernel's shell, which is in `ports`.
    pub fn new(spec: &ControllerSpec, settings: Settings, paths: usize) -> Option<Self> {
        let control = match *spec.kind() {
            ControllerKind::Law(law, AnySlowStart::Standard(slow_start)) => {
                return Some(AnyController::Law(AnyShell::new(law, slow_start, settings, paths)));
            }
            ControllerKind::Law(law, other) => {
                OtherControl::Law(AnyShell::new(law, other, settings, paths))
            }
            ControllerKind::Scheme(scheme) => {
                OtherControl::Scheme(AnyControl::new(scheme, settings, paths))
            }
            ControllerKind::Kernel(_) => return None,
        };
        Some(AnyController::Other(Box::new(Other { needs: spec.needs(), control })))
    }
}

forward! {
    #[inline(always)] // on the way of every ACK
    impl CongestionController for AnyController {
        AnyController::Law,
        AnyController::Other.control,
    }
    {
        fn needs(&self) -> Needs {
            match self {
                AnyController::Law(_) => Needs::NONE,
                AnyController::Other(other) => other.needs,
            }
        }
    }
}

forward! {
    #[inline(never)] // it would crowd the way of a law's ACK
    impl CongestionController for OtherControl { OtherControl::Law, OtherControl::Scheme, }
}
