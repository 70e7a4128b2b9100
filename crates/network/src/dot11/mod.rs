//! IEEE 802.11: a medium that stations share by the distributed coordination function.
//!
//! A packet goes `offer` → queueing discipline of the host (`host.rs`) → driver's ring, link by
//! link (`link.rs`) → backoff (`station.rs`) → on the air and its acknowledgement (`medium.rs`) →
//! [`crate::Outcome`]. What it costs is in `phy.rs`, which mode it is sent in in `rates.rs`,
//! whether it is received in `radio.rs`. The medium has one event pending, the next instant at
//! which something happens.

mod channel;
mod phy;
mod rates;
mod station;
mod station_link;
#[cfg(test)]
mod tests;

pub(crate) use channel::LEAST_SUCCESS;
pub use channel::{Channel, ChannelSettings};
pub use phy::{AfterCollision, Mode, Phy, PhyKind};
pub use rates::ModeChoice;
