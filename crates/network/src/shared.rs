//! Shared media: one channel, bus or cell for several stations.
//!
//! A medium has stations and *links*, from one station to another. A packet is offered to a link,
//! waits in the queue of the link's first station, and becomes one or two [`Outcome`]s. A medium
//! has one event pending, at [`SharedMedium::next_wake`].

use crate::routing::Node;
use crate::{DropTail, Packet, Position, Queue, Rng};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::any::Any;
use std::sync::Arc;
use units::{Rate, Span, Time};

/// A shared medium of any kind, as simulations use it. Stations and links have the numbers of the
/// constructor.
pub trait SharedMedium<P: Packet>: Send {
    /// A packet arrives at the first station of `link`. Returns whether its queue accepts it: if
    /// not, there is no outcome.
    fn offer(&mut self, now: Time, link: u32, packet: P, rng: &mut dyn Rng) -> bool;

    /// Runs the events that are due at `now`. A call before [`SharedMedium::next_wake`] is
    /// harmless.
    fn wake(&mut self, now: Time, rng: &mut dyn Rng);

    /// When [`SharedMedium::wake`] must be called next, never before the last call; it may move
    /// with each call.
    fn next_wake(&self) -> Time;

    /// The outcomes that nobody has taken yet, in the order in which they happened.
    fn outcomes(&mut self) -> &mut Vec<Outcome<P>>;

    /// The counters of a station's interface since the start.
    fn counters(&self, station: usize) -> Counters;

    /// Packets in the queue of a station, including packets that it is sending.
    fn backlog(&self, station: usize) -> u32;

    /// Moves the stations to these positions. Kinds without propagation ignore it.
    fn set_positions(&mut self, _now: Time, _positions: &[Position]) {}

    /// Whether the current positions allow packets of `link` to arrive; `None` if positions do not
    /// matter.
    fn connected(&self, _link: u32) -> Option<bool> {
        None
    }

    /// What it may share with media of the same kind and with the same stations.
    fn common(&self) -> Option<Common> {
        None
    }

    /// Shares what such a medium has in common with it.
    fn share(&mut self, _common: &Common) {}

    /// The additional interface of a medium with multi-hop links.
    fn multi_hop(&self) -> Option<&dyn MultiHop> {
        None
    }
}

/// What media of one kind and with the same stations compute once for all of them.
pub type Common = Arc<dyn Any + Send + Sync>;

/// The parameters of a kind of medium.
pub trait Kind: Sized {
    /// The medium with these stations and links.
    ///
    /// # Panics
    /// If the parameters, the stations or the links are such as the scenario's checks refuse.
    fn build<P: Packet>(
        &self,
        stations: &[Station],
        links: &[Ends],
        rng: &mut dyn Rng,
    ) -> Box<dyn SharedMedium<P>>;

    /// Parameters for three stations, for tests of the kind: each of the others has a link from the
    /// first station, and one to it.
    fn examples() -> Vec<Self>;
}

/// A medium whose packets are routed from station to station.
pub trait MultiHop {
    /// The routing counters of `link`.
    fn routing_counters(&self, link: u32) -> RoutingCounters;

    /// All routes of packets so far, in order of links.
    fn routes(&self) -> Vec<Route>;

    /// Traffic from each station to each other one since the start; a broadcast has no receiver.
    fn hop_counters(&self) -> Vec<(Node, Option<Node>, HopCounters)>;

    /// How often a station changed or lost its access point.
    fn handovers(&self, station: usize) -> u64;
}

/// The ends of a link. Where packets are routed, either end may be several stations; elsewhere the
/// first ones count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ends {
    /// Stations at which it begins.
    pub from: Vec<usize>,
    /// Stations at which it ends.
    pub to: Vec<usize>,
}

impl Ends {
    /// The first station at which it begins, and at which it ends.
    pub fn first(&self) -> (usize, usize) {
        (self.from[0], self.to[0])
    }
}

/// A station of a medium. Only 802.11 uses the fields after `queue`. A queue with early detection
/// has no idle time here, and a burst of noise loses one packet.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Station {
    /// The queue discipline of its host, in a cell for each direction; null if it has no limit.
    #[schemars(with = "Option<Queue>")]
    pub queue: Queue,
    /// Packets that the driver takes from the queue, including packets in transmission.
    #[serde(rename = "ring_packets")]
    pub ring: u32,
    /// Rate at which it sends, if not that of the medium.
    #[serde(rename = "rate_bps")]
    pub rate: Option<Rate>,
    /// Position in metres.
    #[serde(rename = "place_m", serialize_with = "pair")]
    #[schemars(with = "(f64, f64)")]
    pub position: Position,
    /// Probability that all attempts of a packet fail for a reason other than congestion.
    pub residual_loss: f64,
    /// Mean time between bursts of noise.
    #[serde(rename = "noise_s")]
    pub noise: Option<Span>,
}

/// A position in the format of a plan.
fn pair<S: Serializer>(position: &Position, serializer: S) -> Result<S::Ok, S::Error> {
    (position.x, position.y).serialize(serializer)
}

impl Default for Station {
    fn default() -> Self {
        Station {
            queue: Queue::DropTail(DropTail::of(1000)),
            ring: 64,
            rate: None,
            position: Position::default(),
            residual_loss: 0.0,
            noise: None,
        }
    }
}

/// The fate of a packet. A packet that arrives gives `Left` and `Arrived`. A lost packet gives
/// `Left` with `lost`, or if it is lost on a later hop, `Left` and `Lost`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome<P> {
    /// A packet arrived at the end of its link; a broadcast gives one outcome for each receiver.
    Arrived {
        /// Number of the link.
        link: u32,
        /// The station that received it.
        at: u32,
        /// The packet.
        packet: P,
    },
    /// A packet has left the queue of its first station, which has room for another one.
    Left {
        /// Number of the link.
        link: u32,
        /// The packet.
        packet: P,
        /// Whether it will never arrive: dropped by the queue, or given up.
        lost: bool,
    },
    /// A packet was lost on a later hop.
    Lost {
        /// Number of the link.
        link: u32,
        /// The packet.
        packet: P,
    },
}

/// Counters of a station's interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that came to the queue.
    pub offered: u64,
    /// Packets for which it had no room.
    pub queue_drops: u64,
    /// Transmissions.
    pub attempts: u64,
    /// Transmissions that were not acknowledged.
    pub unanswered: u64,
    /// Packets given up after the last attempt.
    pub failures: u64,
    /// Packets that were acknowledged, or broadcast.
    pub acknowledged: u64,
    /// Time spent sending data.
    pub airtime: Span,
}

/// Routing counters of one link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoutingCounters {
    /// Packets that arrived over another route than the one before.
    pub changes: u64,
    /// Packets for which there was no route.
    pub unreachable: u64,
}

/// Packets and routing messages that one station sent to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopCounters {
    /// Packets.
    pub packets: u64,
    /// Bytes of those packets.
    pub bytes: u64,
    /// Routing messages, without retransmissions.
    pub messages: u64,
    /// Bytes of those messages, without retransmissions.
    pub message_bytes: u64,
}

/// A route of packets of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// Number of the link.
    pub link: u32,
    /// The stations, from first to last.
    pub nodes: Vec<Node>,
    /// Packets that took it.
    pub packets: u64,
    /// When the first one arrived.
    pub first: Time,
    /// When the last one arrived.
    pub last: Time,
}
