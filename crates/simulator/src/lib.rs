//! The simulator: builds a world of links and endpoints from a plan, runs it, and returns the
//! measurements. A run is a function of the plan, the seed and the version, and its digest proves
//! it.

mod agenda;
mod ahead;
mod answering;
mod build;
mod controller;
mod conveying;
mod ends;
mod event_source;
mod feeders;
mod feeding;
mod lines;
mod measure;
mod media;
mod memory;
mod packed;
mod reports;
mod result;
mod run;
mod trace;
mod traffic;
mod watch;
mod world;

pub use controller::Controller;
pub use memory::{EVENT_BYTES, Need, needed};
pub use result::{
    ClassResult, CodingResult, FlowResult, InternalSeries, Outcome, PathResult, PathSeries, Series,
};
pub use run::{Observe, Progress, check, record, replicate, run};
pub use trace::{Event, EventKind, Trace};
pub use watch::{QlogForm, Recording};
pub use world::Conservation;
