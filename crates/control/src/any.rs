//! [`AnyController`]: any shipped controller, built for one connection.

use crate::controller::forward;
use crate::laws::AnyShell;
use crate::schemes::AnyControl;
use crate::slow_start::{AnySlowStart, Standard};
use crate::when_shared::WhenShared;
use crate::{ControllerKind, ControllerSpec, Needs, OutsideControl, Settings};
use alloc::boxed::Box;

/// The controller of one connection. Dispatch is a `match`, not a virtual call.
#[derive(Clone, Debug)]
pub enum AnyController {
    /// A law with the standard slow start: the common case.
    Law(AnyShell<Standard>),
    /// Any other controller. It is boxed to keep the common case small, and one comparison finds
    /// it.
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
    WhenShared(WhenShared),
    Scheme(AnyControl),
    Outside(OutsideControl),
}

impl AnyController {
    /// Builds the controller that `spec` names for a connection with `paths` paths. All are
    /// members, and none has a round-trip sample yet. `None` for a law in the kernel's shell, see
    /// `ports`, and for a controller that only the running kernel has.
    pub fn new(spec: &ControllerSpec, settings: Settings, paths: usize) -> Option<Self> {
        let control = match spec.kind() {
            ControllerKind::Law(law, AnySlowStart::Standard(slow_start)) => {
                return Some(AnyController::Law(AnyShell::new(*law, *slow_start, settings, paths)));
            }
            ControllerKind::Written(law, AnySlowStart::Standard(slow_start)) => {
                let shell = AnyShell::written(law.clone(), *slow_start, settings, paths);
                return Some(AnyController::Law(shell));
            }
            ControllerKind::Law(law, other) => {
                OtherControl::Law(AnyShell::new(*law, *other, settings, paths))
            }
            ControllerKind::Written(law, other) => {
                OtherControl::Law(AnyShell::written(law.clone(), *other, settings, paths))
            }
            ControllerKind::WhenShared(law, detector) => {
                OtherControl::WhenShared(WhenShared::new(law, *detector, settings, paths)?)
            }
            ControllerKind::Scheme(scheme) => {
                OtherControl::Scheme(AnyControl::new(*scheme, settings, paths))
            }
            ControllerKind::Outside(outside) => {
                OtherControl::Outside(OutsideControl::new(outside.clone(), settings, paths))
            }
            ControllerKind::Kernel(_)
            | ControllerKind::KernelScheme(_)
            | ControllerKind::KernelWritten(_)
            | ControllerKind::Linux(_)
            | ControllerKind::Noq(_) => return None,
        };
        Some(AnyController::Other(Box::new(Other { needs: spec.needs(), control })))
    }
}

forward! {
    #[inline(always)] // runs for every ACK
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
    #[inline(never)] // keeps the code of a law's ACK short
    impl CongestionController for OtherControl {
        OtherControl::Law,
        OtherControl::WhenShared,
        OtherControl::Scheme,
        OtherControl::Outside,
    }
}
