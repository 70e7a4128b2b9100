//! Congestion control of connections.

use noq_proto::congestion::{Bbr3Config, ControllerFactory, CubicConfig, NewRenoConfig};
use std::fmt::{Debug, Formatter, Result};
use std::sync::Arc;

/// What makes the controllers of one connection.
pub(crate) type Factory = Arc<dyn ControllerFactory + Send + Sync>;

/// Names of the stack's own controllers, each for itself on every path.
pub const NAMES: [&str; 3] = ["newreno", "cubic", "bbr3"];

/// Congestion control: a factory for each connection, given the initial window in bytes.
#[derive(Clone)]
pub struct Control {
    name: String,
    make: Arc<dyn Fn(u64) -> Factory + Send + Sync>,
}

impl Debug for Control {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        formatter.debug_tuple("Control").field(&self.name).finish()
    }
}

impl Control {
    /// The stack's own controller called `name`, one of [`NAMES`].
    pub fn own(name: &str) -> Option<Self> {
        let make: Arc<dyn Fn(u64) -> Factory + Send + Sync> = match name {
            "newreno" => Arc::new(|window| {
                let mut config = NewRenoConfig::default();
                config.initial_window(window);
                Arc::new(config)
            }),
            "cubic" => Arc::new(|window| {
                let mut config = CubicConfig::default();
                config.initial_window(window);
                Arc::new(config)
            }),
            "bbr3" => Arc::new(|window| {
                let mut config = Bbr3Config::default();
                config.initial_window(window);
                Arc::new(config)
            }),
            _ => return None,
        };
        Some(Control { name: name.into(), make })
    }

    /// A factory for one connection.
    pub(crate) fn factory(&self, initial_window: u64) -> Factory {
        (self.make)(initial_window)
    }
}
