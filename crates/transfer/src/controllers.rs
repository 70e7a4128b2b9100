//! Congestion controllers by name.

use crate::Error;
use noq::congestion::{Bbr3Config, ControllerFactory, CubicConfig, NewRenoConfig};
use std::sync::Arc;

/// The controllers of noq itself: each path has its own, and no path knows another.
pub const OF_NOQ: [&str; 3] = ["noq:newreno", "noq:cubic", "noq:bbr3"];

/// What makes the controllers of the paths of one connection.
pub(crate) type Factory = Arc<dyn ControllerFactory + Send + Sync + 'static>;

/// A new factory for one connection. Raises an error that names the controllers there are.
pub(crate) fn factory(name: &str) -> Result<Factory, Error> {
    Ok(match name {
        "noq:newreno" => Arc::new(NewRenoConfig::default()),
        "noq:cubic" => Arc::new(CubicConfig::default()),
        "noq:bbr3" => Arc::new(Bbr3Config::default()),
        _ => return Err(unknown(name)),
    })
}

/// Whether there is a controller of that name.
///
/// # Errors
/// [`Error::Wrong`] with the names that there are.
pub fn check(name: &str) -> Result<(), Error> {
    factory(name).map(drop)
}

fn unknown(name: &str) -> Error {
    let known = OF_NOQ.join(", ");
    Error::wrong("controller", format!("there is no {name:?}; there are {known}"))
}
