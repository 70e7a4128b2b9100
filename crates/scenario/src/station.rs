//! Stations of shared media.

use crate::link::Links;
use crate::name::Name;
use crate::queue::check_host_queue;
use crate::report::WrongKey;
use network::{Position, Queue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{PROBABILITY, Packets, Rate, Span, ValidRange};

/// A station that differs from the default.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Station {
    /// Name of its node.
    pub name: Name,
    /// The queue discipline of its host; by default drop-tail of 1000 packets.
    #[serde(default)]
    pub queue: Option<Queue>,
    /// Packets that the driver takes from the queue, including packets in transmission; by default
    /// 64. With `routing` the default is 2, because a packet in the driver can no longer be
    /// rerouted.
    #[serde(default)]
    #[schemars(extend("range" = RING.right))]
    pub ring: Option<Packets>,
    /// Rate at which the station sends data; by default that of the medium.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Position in metres to the east; only with `radio`. The position of a node in the scenario's
    /// `node` list is set there.
    #[serde(default)]
    #[schemars(extend("range" = PLACE.right))]
    pub x: Option<f64>,
    /// Position in metres to the north.
    #[serde(default)]
    #[schemars(extend("range" = PLACE.right))]
    pub y: Option<f64>,
    /// Probability that all attempts of a packet fail for a reason other than congestion.
    #[serde(default)]
    #[schemars(extend("range" = PROBABILITY.right))]
    pub residual_loss: f64,
    /// Mean time between bursts of noise, each of 20 ms. All attempts of a packet fail if the first
    /// attempt begins in a burst.
    #[serde(default)]
    #[schemars(extend("range" = NOISE.right))]
    pub noise: Option<Span>,
}

const RING: ValidRange<Packets> =
    ValidRange { holds: |ring| (1.0..=1e6).contains(&ring.0), right: "it is at least 1 packet" };

const PLACE: ValidRange<f64> = ValidRange {
    holds: |metres| (-1e6..=1e6).contains(metres),
    right: "a place within 1000 km, in metres",
};

const NOISE: ValidRange<Span> = ValidRange {
    holds: |between| *between > Span::ZERO,
    right: "above zero: it is the mean time between two bursts",
};

/// A station of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanStation {
    /// Name of its node.
    pub name: String,
    /// Index among the plan's nodes, if the station is one of them; otherwise `place_m` is its
    /// position.
    pub node: Option<usize>,
    /// Its settings on the medium.
    #[serde(flatten)]
    pub settings: network::Station,
}

impl PlanStation {
    /// A station with only a queue.
    pub(crate) fn bare(links: Links<'_>, name: &str, queue: Queue) -> Self {
        PlanStation {
            name: name.into(),
            node: links.nodes.position(name),
            settings: network::Station { queue, ring: 1, ..network::Station::default() },
        }
    }
}

impl Station {
    /// Checks a station without its rate, which the medium checks; `listed` says that it is a node
    /// of the scenario's list.
    pub(crate) fn check(&self, listed: bool) -> Result<(), WrongKey> {
        RING.check("ring", &self.ring)?;
        self.queue.as_ref().map_or(Ok(()), check_host_queue)?;
        PROBABILITY.check("residual_loss", &self.residual_loss)?;
        NOISE.check("noise", &self.noise)?;
        for (key, value) in [("x", self.x), ("y", self.y)] {
            if let Some(value) = value.filter(|_| listed) {
                let right = "its place is that of the node of this name: write it there";
                return Err(WrongKey::value(key, value, right));
            }
            PLACE.check(key, &value)?;
        }
        Ok(())
    }

    /// Its position, unless it is a node of the scenario's list.
    pub(crate) fn position(&self) -> Position {
        Position { x: self.x.unwrap_or_default(), y: self.y.unwrap_or_default() }
    }
}
