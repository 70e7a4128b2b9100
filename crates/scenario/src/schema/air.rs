//! Media in a scenario file.

use crate::name::Name;
use network::adhoc::Routing;
use network::dot11::AfterCollision;
use network::{Queue, RateControl, Standard};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Packets, Rate, Span};

/// A channel of IEEE 802.11 and its stations, which are the nodes at the ends of its links and
/// those of `nodes`: each has one queue.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Medium {
    /// Name by which links refer to it.
    pub name: Name,
    /// The amendment.
    pub standard: Standard,
    /// At which rate data is sent, or at most; by default the fastest.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// How stations choose the rate of a packet.
    #[serde(default)]
    pub control: RateControl,
    /// At which rate messages of routers to all neighbours are sent; by default at that of data if
    /// it is fixed, so that who hears them can be sent data, and otherwise at the slowest.
    #[serde(default)]
    pub broadcast: Option<Rate>,
    /// How often a packet is attempted before it is given up.
    #[serde(default = "attempts")]
    pub attempts: u32,
    /// How long a sender waits for an acknowledgement to begin; by default as long as the standard
    /// says.
    #[serde(default)]
    pub ack_timeout: Option<Span>,
    /// How long the other stations wait after transmissions that began together.
    #[serde(default)]
    pub after_collision: AfterCollision,
    /// Number of its channel: media on channels that overlap are refused, as they would disturb
    /// each other.
    #[serde(default)]
    pub channel: Option<u32>,
    /// A channel of 40 MHz instead of 20; only n.
    #[serde(default)]
    pub wide: bool,
    /// A guard interval of 400 ns instead of 800; only n.
    #[serde(default)]
    pub short_guard: bool,
    /// Spatial streams, 1 to 4; only n.
    #[serde(default = "one")]
    pub streams: u32,
    /// Propagation. Without it all stations sense each other, and only collisions are errors.
    #[serde(default)]
    pub radio: Option<Radio>,
    /// Stations that differ from the default.
    #[serde(default)]
    pub station: Vec<Station>,
    /// Nodes that are stations beside those that links name: those that only pass on packets of
    /// others.
    #[serde(default)]
    pub nodes: Vec<Name>,
    /// How packets find their way from station to station; without it a link is one hop.
    #[serde(default)]
    pub routing: Option<Routing>,
    /// The node or group whose nodes are access points: as an end of a link they are one, whichever
    /// a station reaches.
    #[serde(default)]
    pub access: Option<Name>,
    /// How many such channels there are, each with a station of every node: orthogonal, numbered
    /// from 1.
    #[serde(default = "one")]
    pub channels: u32,
}

fn attempts() -> u32 {
    7
}

/// Log-distance propagation, and what a receiver makes of it.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Radio {
    /// Transmitted power in dBm.
    #[serde(default = "power")]
    pub power_dbm: f64,
    /// Path loss at one metre in dB; by default that of the band.
    #[serde(default)]
    pub loss_at_1m_db: Option<f64>,
    /// The power of the distance with which it grows.
    #[serde(default = "exponent")]
    pub exponent: f64,
    /// Noise with the receiver's noise figure in dBm.
    #[serde(default = "noise")]
    pub noise_dbm: f64,
    /// Least power at which the medium counts as busy, in dBm.
    #[serde(default = "sense")]
    pub sense_dbm: f64,
}

fn power() -> f64 {
    16.0
}

fn exponent() -> f64 {
    3.0
}

fn noise() -> f64 {
    -94.0
}

fn sense() -> f64 {
    -88.0
}

/// A station: what it has beside what all have.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Station {
    /// The node that it is.
    pub name: Name,
    /// The queueing discipline of its host; by default drop-tail of 1000 packets.
    #[serde(default)]
    pub queue: Option<Queue>,
    /// Packets that the driver takes from it, with those that are being sent; by default 64, with
    /// `routing` 2, as what it has taken cannot be routed elsewhere.
    #[serde(default)]
    pub ring: Option<Packets>,
    /// Rate at which it sends data, if not that of the medium.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Where it is, in metres to the east; with `radio` that matters. A node of the scenario's
    /// `node` list is where that says.
    #[serde(default)]
    pub x: Option<f64>,
    /// Where it is, in metres to the north.
    #[serde(default)]
    pub y: Option<f64>,
    /// Probability that a packet is lost whatever the attempts, as of no congestion.
    #[serde(default)]
    pub residual_loss: f64,
    /// Mean time between bursts of noise of 20 ms, each of which takes the packet that is begun in
    /// it, whatever the attempts.
    #[serde(default)]
    pub noise: Option<Span>,
}

fn one() -> u32 {
    1
}
