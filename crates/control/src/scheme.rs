//! What a controller that is not a law says of itself.

use crate::slow_start::AnySlowStart;
use crate::{CongestionController, Kind, Needs, Settings};

/// A controller that is not a law, with its option.
pub(crate) trait Scheme: Kind {
    /// The controller of one connection.
    type Control: CongestionController;

    /// What it needs to be told.
    fn needs(self) -> Needs {
        Needs::NONE
    }

    /// It over `paths` paths, all members, none with a round-trip sample yet.
    fn control(self, settings: Settings, paths: usize) -> Self::Control;

    /// The same with another slow start; `None` if it has one of its own.
    fn with_slow_start(self, _slow_start: AnySlowStart) -> Option<Self> {
        None
    }
}
