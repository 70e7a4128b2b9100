//! What a controller is told.

use control::{Acked, Cause, Delivered, Window};

/// What can happen to a path, as the controller is told.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The path joined, with the initial window.
    Join,
    /// The path left.
    Leave,
    /// Data was acknowledged.
    Ack(Acked),
    /// An acknowledgement has ended, with this sample of the delivery rate.
    Delivered(Delivered),
    /// A congestion event began.
    Congestion(Cause),
    /// A packet that was sent after the congestion event was acknowledged.
    Recovered,
    /// The last congestion event was spurious.
    Undo,
    /// The path goes on with this window: the size of its packets or its network path changed.
    Restart(Window),
}
