#![doc = include_str!("../README.md")]

mod group;
mod own;
mod path;

pub use adapter::{
    Acked, Cause, ControllerSpec, Delivered, Event, MOST_PATHS, Mismatch, Refused, Settings, Span,
    Step, Time, View, Wanted, Window, replay,
};
pub use group::{DEFAULT_PATHS, Group, PathReport};
pub use own::{Factory, factory};
pub use path::Path;
