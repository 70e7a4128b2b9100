//! Stations of what is shared.

use crate::link::Links;
use network::Queue;
use schemars::JsonSchema;
use serde::Serialize;
use units::{Rate, Span};

/// A station of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanStation {
    /// The node that it is.
    pub name: String,
    /// Index of it among the plan's nodes, if it is one of them; otherwise it is where `place`
    /// says.
    pub node: Option<usize>,
    /// The queueing discipline of its host, in a cell of each direction; null if it has no limit.
    #[schemars(with = "Option<Queue>")]
    pub queue: Queue,
    /// Packets that the driver takes from it.
    #[serde(rename = "ring_packets")]
    pub ring: u32,
    /// Rate at which it sends, if not that of the medium.
    #[serde(rename = "rate_bps")]
    pub rate: Option<Rate>,
    /// Where it is, in metres.
    #[serde(rename = "place_m")]
    pub place: (f64, f64),
    /// Probability that a packet is lost whatever the attempts.
    pub residual_loss: f64,
    /// Mean time between bursts of noise.
    #[serde(rename = "noise_s")]
    pub noise: Option<Span>,
}

impl PlanStation {
    /// A station of which nothing is said but its queue.
    pub(crate) fn bare(links: Links<'_>, name: &str, queue: Queue) -> Self {
        PlanStation {
            name: name.into(),
            node: links.nodes.position(name),
            queue,
            ring: 1,
            rate: None,
            place: (0.0, 0.0),
            residual_loss: 0.0,
            noise: None,
        }
    }
}
