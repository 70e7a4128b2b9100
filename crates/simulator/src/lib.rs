//! The simulator: a plan becomes a world of links and endpoints, the world runs, and what was
//! measured comes out. A run is a function of the plan, the seed and the version, and its digest
//! proves it.

mod agenda;
mod build;
mod histogram;
mod measure;
mod parcel;
mod result;
mod run;
mod stream;
mod trace;
mod world;

pub use result::{
    ClassResult, FlowResult, LinkResult, LinkSeries, Outcome, PathResult, PathSeries, Series,
};
pub use run::{Observe, Progress, replicate, run};
pub use trace::{Event, EventKind, Trace};
pub use world::Conservation;

/// Whether a controller exists, for [`scenario::Plan::read`].
///
/// # Errors
/// What is wrong with the name, and the names nearest to it.
pub fn known_controller(name: &str) -> Result<(), String> {
    name.parse::<control::AnyLaw>().map(|_| ()).map_err(|unknown| unknown.to_string())
}
