//! The scenario file and its meaning.
//!
//! A scenario is data in TOML ([`schema`]). [`Plan::read`] parses it, applies overrides, fills in
//! defaults and checks everything that can be checked before a run. An [`Error`] names the field,
//! shows the line and says what would be right. These rules exist only here.

mod application;
mod area;
mod change;
mod coding;
mod controller;
mod defaults;
mod error;
mod fair;
mod files;
mod flow;
mod link;
mod locate;
mod loss;
mod media;
mod movements;
mod moves;
mod name;
mod node;
mod opportunities;
mod overrides;
mod path;
mod protocol;
mod queue;
mod quic;
mod radio;
mod read;
mod reorder;
mod report;
mod scenario;
pub mod schema;
mod shape;
mod size;
mod station;
mod topology;
mod trace;

pub use area::PlanArea;
pub use error::Error;
pub use files::{quoted, with_files};
pub use flow::Class;
pub use link::{Attachment, PlanLink};
pub use media::{MediumExample, described_media, medium_examples};
pub use movements::{Malformed, Move, Moves, format as format_movements, parse as parse_movements};
pub use node::{PlanMoves, PlanNode};
pub use opportunities::PlanOpportunities;
pub use overrides::{Override, changes, with_controller, with_overrides};
pub use path::PlanPath;
pub use scenario::Plan;
pub use size::MOST_BYTES;
pub use station::PlanStation;
pub use topology::PlanMedium;

/// The JSON Schema of a scenario file.
pub fn json_schema() -> String {
    let mut schema = schemars::schema_for!(schema::Scenario);
    defaults::as_text(&mut schema);
    serde_json::to_string_pretty(&schema).unwrap_or_default()
}

/// The JSON Schema of [`Plan::to_json`].
pub fn plan_schema() -> String {
    let settings = schemars::generate::SchemaSettings::default().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<Plan>();
    serde_json::to_string_pretty(&schema).unwrap_or_default()
}
