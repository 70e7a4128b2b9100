//! The scenario file and what it means.
//!
//! A scenario is data in TOML ([`schema`]). [`Plan::read`] parses it, applies overrides, fills in
//! defaults and checks everything that can be checked before a run; what is wrong is an [`Error`]
//! that names the field, shows the line and says what would be right. There is no second copy of
//! these rules.

mod air;
mod cell;
mod coding;
mod defaults;
mod error;
mod ground;
mod locate;
mod movements;
mod opportunities;
mod overrides;
mod plan;
pub mod schema;
mod sharing;
mod trace;
mod validate;

pub use air::{PlanWifi, rates};
pub use cell::{PlanBus, PlanCell, PlanCellUser};
pub use error::Error;
pub use ground::{PlanArea, PlanMoves, PlanNode};
pub use movements::{Malformed, Move, Moves, format as format_movements, parse as parse_movements};
pub use opportunities::PlanOpportunities;
pub use overrides::{Override, with_controller};
pub use plan::{Chain, Class, Plan, PlanLink, PlanLoss, PlanPath};
pub use sharing::{Air, PlanKind, PlanMedium, PlanStation};
pub use trace::with_traces;

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
