//! Congestion control of connections: the stack's own, or a controller of [`control`] by way of the
//! adapter that other programs use.

use control::{ControllerSpec, Settings};
use noq::{Group, Refused};
use noq_proto::congestion::{Bbr3Config, ControllerFactory, CubicConfig, NewRenoConfig};
use std::fmt::{self, Debug, Formatter};
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
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
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

    /// A controller of [`control`] over all paths of a connection, at most `paths`.
    ///
    /// # Errors
    /// If the stack does not tell the controller what it needs.
    pub fn coupled(
        spec: &ControllerSpec,
        settings: Settings,
        paths: usize,
    ) -> Result<Self, Refused> {
        Group::with_paths(spec, settings, paths)?;
        let own = spec.clone();
        let make = move |_: u64| -> Factory {
            Group::with_paths(&own, settings, paths).expect("it was made before")
        };
        Ok(Control { name: spec.to_string(), make: Arc::new(make) })
    }

    /// A factory for one connection.
    pub(crate) fn factory(&self, initial_window: u64) -> Factory {
        (self.make)(initial_window)
    }
}
