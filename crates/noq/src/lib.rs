//! Coupled multipath congestion control for noq.
//!
//! A [`Group`] is the congestion control of one connection over all of its paths. It is the
//! factory of noq's controllers: noq asks it for one on each path, and all of them share what they
//! know.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod group;
mod path;

pub use adapter::{
    Acked, Cause, ControllerSpec, Event, MOST_PATHS, Mismatch, Refused, Settings, Span, Step, Time,
    View, Wanted, Window, replay,
};
pub use group::{DEFAULT_PATHS, Group, PathReport};
pub use path::Path;
