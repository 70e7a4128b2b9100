//! What the worlds that carry packets share: the links of a plan, the routes through them, their
//! randomness, and what is measured on them. So a link of the simulator and one of the emulator are
//! built alike, draw alike and are reported alike.

mod histogram;
mod hop;
mod measure;
mod media;
mod nodes;
mod routing;
mod settings;
mod shared_media;
mod stations;
mod stream;
mod wiring;

pub use histogram::{Histogram, Mean};
pub use hop::{Hop, Step};
pub use measure::{LinkMeter, LinkResult, LinkSeries};
pub use routing::{HopSeries, NodeSeries, RouteResult, WayResult};
pub use settings::{change, link_settings};
pub use shared_media::SharedMedia;
pub use stations::{StationResult, StationSeries};
pub use stream::{Stream, StreamOf};
pub use wiring::{Copies, Wiring};
