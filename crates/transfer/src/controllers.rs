//! Congestion controllers by name.

use crate::Error;
use anabranch_noq::{ControllerSpec, Factory, Settings};

/// Most paths of a connection at a time, those that are just given up among them.
pub(crate) const PATHS: u16 = 16;

/// Bytes of the packets that a path begins with (RFC 9000 §14).
const PACKET: u16 = 1200;

/// A new factory for one connection: a group of ours, or one of noq's own.
///
/// # Errors
/// [`Error::Wrong`] with what there is.
pub(crate) fn factory(name: &str) -> Result<Factory, Error> {
    let wrong = |why: String| Error::wrong("controller", why);
    let spec: ControllerSpec = name.parse().map_err(|unknown| wrong(format!("{unknown}")))?;
    let made = anabranch_noq::factory(&spec, Settings::default(), usize::from(PATHS), PACKET);
    made.map_err(|refused| wrong(refused.to_string()))
}

/// Whether there is a controller of that name that needs no more than a QUIC stack tells.
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
        for (name, offered) in [("noq:vegas", "noq:newreno"), ("liar", "lia"), ("lp", "olia")] {
            let error = check(name).expect_err("there is none").to_string();
            assert!(error.starts_with("controller: "), "{error}");
            assert!(error.contains(offered), "{error}");
        }
    }
}
