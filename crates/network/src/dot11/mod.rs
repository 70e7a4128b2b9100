//! IEEE 802.11: a medium that stations share by the distributed coordination function.
//!
//! A packet goes `offer` → queueing discipline of the host (`host.rs`) → driver's ring, link by
//! link (`station_link.rs`) → backoff (`station.rs`) → on the air and its acknowledgement
//! (`channel.rs`; what other stations hear of it in `hearing.rs`) → [`crate::Outcome`]. Times on
//! the air are in `phy.rs`, the choice of a transmission mode in `rates.rs`, and reception in
//! `reception.rs` and `radio.rs`. Stations that sense the same share one state in `together.rs`, if
//! all stations hear each other; most of their frames take the short way of `alone.rs`. The medium
//! has one event pending: the next instant at which an exchange moves on or a station begins to
//! send.

mod alone;
mod channel;
mod gathering;
mod hearing;
mod pairs;
mod phy;
mod rates;
mod reception;
mod sensing;
mod station;
mod station_link;
#[cfg(test)]
mod tests;
mod together;

pub(crate) use channel::LEAST_SUCCESS;
pub use channel::{Channel, ChannelSettings};
pub(crate) use pairs::Geometry;
pub use phy::{AfterCollision, Mode, Phy, PhyKind};
pub use rates::ModeChoice;
