//! Ends what runs from another thread.

use tokio::sync::watch;

/// A flag that is raised once; clones are the same flag.
#[derive(Debug, Clone)]
pub struct Stop(watch::Sender<bool>);

impl Default for Stop {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Stop {
    /// Raises it. What runs ends cleanly: peers are told, partial files are kept.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Whether it was raised.
    pub fn stopped(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns when it is raised.
    pub async fn raised(&self) {
        // An error means that no sender is left, but `self` is one.
        let _ = self.0.subscribe().wait_for(|raised| *raised).await;
    }
}
