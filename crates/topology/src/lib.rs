//! Parts shared by the simulator and the emulator: the links of a plan, the routes through them,
//! their random streams, and measurements. Both build, randomise and report links in the same way.

mod builder;
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

pub use builder::{Size, TopologyBuilder, UserLinks};
pub use histogram::{Histogram, Mean};
pub use hop::{Hop, HopTarget};
pub use measure::{LinkMeter, LinkResult, LinkSeries, MeasuredLink};
pub use routing::{HopSeries, NodeSeries, RouteResult, WayResult};
pub use settings::{link_change, link_settings};
pub use shared_media::SharedMedia;
pub use stations::{StationResult, StationSeries};
pub use stream::{LazyStream, Stream, Streams};
