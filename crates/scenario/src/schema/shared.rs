//! What stations share beside a medium of 802.11: a bus, and a cell.

use super::Radio;
use crate::name::Name;
use network::{Fading, Queue, Scheduler};
use schemars::JsonSchema;
use serde::Deserialize;
use units::{Rate, Span};

/// A shared Ethernet: one frame at a time on the whole bus (CSMA as ns-3 models it). Its stations
/// are the nodes at the ends of its links and those of `nodes`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bus {
    /// Name by which links refer to it, as their `medium`.
    pub name: Name,
    /// Rate at which frames are sent.
    pub rate: Rate,
    /// Propagation delay from anywhere to anywhere; the bus is busy as long.
    #[serde(default)]
    pub delay: Span,
    /// The queue of each station; by default drop-tail of 100 packets.
    #[serde(default)]
    pub queue: Option<Queue>,
    /// Nodes on it beside those that links name.
    #[serde(default)]
    pub nodes: Vec<Name>,
}

/// A cellular network of one base station: in each direction a scheduler hands out resource blocks
/// every millisecond, as LTE does, to users with a queue each. Its stations are the nodes at the
/// ends of its links.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Name by which links refer to it, as their `medium`.
    pub name: Name,
    /// The node that is the base station, at one end of all of its links.
    pub base: Name,
    /// Resource blocks of 180 kHz from the base station to users: 50 are 10 MHz.
    #[serde(default = "blocks")]
    pub blocks: u32,
    /// Resource blocks from users to the base station; by default as many.
    #[serde(default)]
    pub blocks_up: Option<u32>,
    /// Who gets them.
    #[serde(default)]
    pub scheduler: Scheduler,
    /// Over how long served rates are averaged (proportional fair).
    #[serde(default = "averaging")]
    pub averaging: Span,
    /// Part of the blocks that carries no data but control and reference signals.
    #[serde(default = "overhead")]
    pub overhead: f64,
    /// Mean signal-to-noise ratio of users, in dB; without it, `radio` says it from places.
    #[serde(default)]
    pub snr_db: Option<f64>,
    /// How users' signals come and go around their mean.
    #[serde(default)]
    pub fading: Option<Fading>,
    /// Propagation between the base station and users.
    #[serde(default)]
    pub radio: Option<Radio>,
    /// The queue of each user in each direction; by default drop-tail of 300 packets.
    #[serde(default)]
    pub queue: Option<Queue>,
    /// Users that differ from the others.
    #[serde(default)]
    pub user: Vec<CellUser>,
}

fn blocks() -> u32 {
    50
}

fn averaging() -> Span {
    Span::millis(1_000)
}

fn overhead() -> f64 {
    0.25
}

/// A user of a cell: what it has in place of what all have.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellUser {
    /// The node that it is.
    pub name: Name,
    /// Mean signal-to-noise ratio in dB.
    #[serde(default)]
    pub snr_db: Option<f64>,
    /// How its signal comes and goes.
    #[serde(default)]
    pub fading: Option<Fading>,
    /// Its queue in each direction.
    #[serde(default)]
    pub queue: Option<Queue>,
}
