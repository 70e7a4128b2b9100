//! The trait of schemes: controllers that are not a law.

use crate::slow_start::AnySlowStart;
use crate::{CongestionController, Kind, LawVisitor, Needs, Settings};

/// A controller that is not a law, with its option.
pub(crate) trait Scheme: Kind {
    /// The controller of one connection.
    type Control: CongestionController;

    /// The needs of its controller from the endpoints beyond ACKs and losses.
    fn needs(self) -> Needs {
        Needs::NONE
    }

    /// Builds the controller of a connection with `paths` paths. All are members, and none has a
    /// round-trip sample yet.
    fn control(self, settings: Settings, paths: usize) -> Self::Control;

    /// The same scheme with another slow start; `None` if the scheme has its own.
    fn with_slow_start(self, _slow_start: AnySlowStart) -> Option<Self> {
        None
    }

    /// Gives `path`, with its window, to another controller of the same scheme, whose group it
    /// joins; false for a scheme that has no groups, so that it takes no `+sbd`.
    fn hand_over(_from: &mut Self::Control, _path: usize, _to: &mut Self::Control) -> bool {
        false
    }

    /// Whether `hand_over` does it.
    const GROUPS: bool = false;

    /// Calls `visitor` with a law that has the scheme's mean window at each loss, for theory;
    /// `None` if loss and round trip do not determine it.
    fn visit_mean<V: LawVisitor>(self, _visitor: V) -> Option<V::Output> {
        None
    }
}
