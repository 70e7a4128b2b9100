//! The tables of a scenario file.
//!
//! Their doc comments are the reference for users: the schema, the reference page and the Python
//! dataclasses are generated from them.

pub use crate::application::{Pauses, Sizes};
pub use crate::area::Area;
pub use crate::change::LinkChange;
pub use crate::controller::Controller;
pub use crate::fair::{Definition, Fair};
pub use crate::flow::Flow;
pub use crate::link::Link;
pub use crate::loss::Loss;
pub use crate::media::*;
pub use crate::moves::{Highway, Movements, Moves, Waypoint};
pub use crate::name::Name;
pub use crate::node::Node;
pub use crate::opportunities::Opportunities;
pub use crate::path::{Channel, ChannelWord, Path};
pub use crate::protocol::Protocol;
pub use crate::radio::Radio;
pub use crate::scenario::{Choice, Scenario};
pub use crate::station::Station;
pub use crate::trace::Trace;
pub use network::{LossPlace, Queue, Reorder};
pub use transport::coded::Coding;
