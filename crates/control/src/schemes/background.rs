//! What Multi-Priority TCP asks of a flow in the background.

use super::each::Single;
use crate::{Acked, Settings};

/// What a background flow is asked for, besides its control of a path.
pub(crate) trait Background: Single {
    /// A flow that begins with the window of `settings`.
    fn probing(settings: Settings) -> Self;
    /// Follows time while somebody else controls the path.
    fn listen(&mut self, ack: &Acked);
    /// Whether it has backed off to one packet at a time.
    fn at_floor(&self) -> bool;
    /// Whether the last ACK was slow: the window did not grow for its delay.
    fn slow(&self) -> bool;
    /// Whether at `now`, in seconds, it would send its next probe if that were not lent.
    fn due(&self, _now: f64) -> bool {
        true
    }
}
