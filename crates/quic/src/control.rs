//! Congestion control of connections: a controller of [`control`], by way of the adapter that other
//! programs use, or one of the stack's own.

use control::{ControllerSpec, Settings};
pub(crate) use noq::Factory;
use noq::{Refused, factory};

/// Congestion control, with a factory for each connection.
#[derive(Clone, Debug)]
pub struct Control {
    spec: ControllerSpec,
    settings: Settings,
    paths: usize,
}

impl Control {
    /// A controller over all paths of a connection, at most `paths`.
    ///
    /// # Errors
    /// If the stack does not tell the controller what it needs.
    pub fn new(spec: &ControllerSpec, settings: Settings, paths: usize) -> Result<Self, Refused> {
        factory(spec, settings, paths, 1)?;
        Ok(Control { spec: spec.clone(), settings, paths })
    }

    /// A factory for one connection with packets of `packet` bytes.
    pub(crate) fn factory(&self, packet: u16) -> Factory {
        factory(&self.spec, self.settings, self.paths, packet).expect("it was made before")
    }
}
