//! Congestion controllers by name.

use crate::Error;
use anabranch_noq::{Group, Settings};
use noq::congestion::{Bbr3Config, ControllerFactory, CubicConfig, NewRenoConfig};
use std::sync::Arc;

/// Most paths of a connection at a time, those that are just given up among them.
pub(crate) const PATHS: u16 = 16;

/// The controllers of noq itself: each path has its own, and no path knows another.
pub const OF_NOQ: [&str; 3] = ["noq:newreno", "noq:cubic", "noq:bbr3"];

/// What makes the controllers of the paths of one connection.
pub(crate) type Factory = Arc<dyn ControllerFactory + Send + Sync + 'static>;

/// A new factory for one connection: one of noq's own, or a group of ours.
pub(crate) fn factory(name: &str) -> Result<Factory, Error> {
    Ok(match name {
        "noq:newreno" => Arc::new(NewRenoConfig::default()),
        "noq:cubic" => Arc::new(CubicConfig::default()),
        "noq:bbr3" => Arc::new(Bbr3Config::default()),
        _ if name.starts_with("noq:") => {
            let why = format!("there is no {name:?}; noq has {}", OF_NOQ.join(", "));
            return Err(Error::wrong("controller", why));
        }
        _ => group(name)?,
    })
}

fn group(name: &str) -> Result<Factory, Error> {
    let wrong = |why: String| Error::wrong("controller", why);
    let spec =
        name.parse().map_err(|e| wrong(format!("{e}; noq's own are {}", OF_NOQ.join(", "))))?;
    let group = Group::with_paths(&spec, Settings::default(), usize::from(PATHS));
    Ok(group.map_err(|e| wrong(e.to_string()))?)
}

/// Whether there is a controller of that name: one of [`OF_NOQ`], or a controller of this program
/// that needs no more than a QUIC stack tells.
///
/// # Errors
/// [`Error::Wrong`] with what there is.
pub fn check(name: &str) -> Result<(), Error> {
    factory(name).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_that_is_not_there_is_refused_with_those_that_are() {
        for name in ["noq:vegas", "liar", ""] {
            let error = check(name).expect_err("there is none").to_string();
            assert!(error.starts_with("controller: "), "{error}");
            assert!(error.contains("noq:newreno"), "{error}");
        }
    }
}
