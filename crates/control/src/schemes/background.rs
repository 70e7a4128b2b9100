//! The trait of background flows in Multi-Priority TCP.

use super::each::Single;
use crate::{Acked, Settings};

/// A background flow: control of one path, and the questions that Multi-Priority TCP asks.
pub(crate) trait Background: Single {
    /// A flow that begins with the window of `settings`.
    fn probing(settings: Settings) -> Self;
    /// Follows delays and time while another flow controls the path.
    fn listen(&mut self, ack: &Acked);
    /// Whether it has backed off to one packet at a time.
    fn at_floor(&self) -> bool;
    /// Whether the last ACK was slow: its delay kept the window from growing.
    fn slow(&self) -> bool;
    /// Whether its next probe is due at `now`, in seconds, if probes were not lent.
    fn due(&self, _now: f64) -> bool {
        true
    }
}
