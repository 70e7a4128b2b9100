//! Nodes in a scenario file: where they are and how they move.

use super::{Name, one, yes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Span;

/// The ground on which nodes are: a rectangle from (0, 0).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// Metres to the east.
    pub width: f64,
    /// Metres to the north.
    pub height: f64,
    /// How nodes move that do not say so themselves and have no place of their own. By default they
    /// stand still, each where it is put at random.
    #[serde(default)]
    pub moves: Moves,
    /// How often it is looked where moving nodes are.
    #[serde(default = "step")]
    pub step: Span,
}

fn step() -> Span {
    Span::millis(100)
}

/// A node, or a group of nodes: `count` of them are called NAME-1, NAME-2 and so on.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Name by which media and links refer to it.
    pub name: Name,
    /// How many there are.
    #[serde(default = "one")]
    pub count: u32,
    /// Where it is, in metres to the east; without `x` and `y`, or `places`, it moves, or is put at
    /// random.
    #[serde(default)]
    pub x: Option<f64>,
    /// Where it is, in metres to the north.
    #[serde(default)]
    pub y: Option<f64>,
    /// Where each of a group is: metres to the east and to the north.
    #[serde(default)]
    pub places: Option<Vec<(f64, f64)>>,
    /// How it moves; by default as the area says.
    #[serde(default)]
    pub moves: Option<Moves>,
}

/// How nodes move.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Moves {
    /// Not at all.
    #[default]
    Still,
    /// From one random place to the next (random waypoint).
    Waypoint(Waypoint),
    /// As a platoon on a straight road: the first of the group leads.
    Highway(Highway),
    /// As a file of movements says.
    Trace(Movements),
}

/// Random waypoint: a node goes straight to a place that is drawn uniformly, at a speed that is
/// drawn uniformly, pauses there, and goes on.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    /// Least and greatest speed in m/s; above 0, or nodes would come to a halt in the long run.
    #[serde(rename(serialize = "speed_mps"))]
    pub speed: (f64, f64),
    /// Shortest and longest pause.
    #[serde(default = "no_pause", rename(serialize = "pause_s"))]
    pub pause: (Span, Span),
    /// Whether places and speeds are from the start as they are in the long run (Navidi and Camp
    /// 2004). Otherwise all begin at uniform places with a new leg, and the mean speed falls for a
    /// while.
    #[serde(default = "yes")]
    pub stationary: bool,
}

fn no_pause() -> (Span, Span) {
    (Span::ZERO, Span::ZERO)
}

/// A platoon on a straight road to the east, from one side of the area to the other; who leaves it
/// enters it again.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Highway {
    /// Least and greatest speed in m/s, between which the leader draws a new one uniformly.
    #[serde(rename(serialize = "speed_mps"))]
    pub speed: (f64, f64),
    /// Metres between cars at the start.
    #[serde(default = "gap", rename(serialize = "gap_m"))]
    pub gap: f64,
    /// How long the leader keeps a speed.
    #[serde(default = "hold", rename(serialize = "hold_s"))]
    pub hold: Span,
    /// How long a car takes to do as the one ahead of it.
    #[serde(default = "reaction", rename(serialize = "reaction_s"))]
    pub reaction: Span,
    /// Where the leader is at the start, in metres to the east.
    #[serde(default, rename(serialize = "start_m"))]
    pub start: f64,
    /// The lane, in metres to the north; by default the middle of the area.
    #[serde(default, rename(serialize = "lane_m"))]
    pub lane: Option<f64>,
}

fn gap() -> f64 {
    40.0
}

fn hold() -> Span {
    Span::millis(10_000)
}

fn reaction() -> Span {
    Span::millis(1_000)
}

/// Movements as ns-2's `setdest`, BonnMotion and SUMO write them: `$node_(3) set X_ 150.0` and
/// `$ns_ at 2.0 "$node_(3) setdest 200.0 100.0 5.0"`. Nodes are numbered from 0 in the order of the
/// file.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Movements {
    /// A file with the movements, found from where the scenario file is.
    #[serde(default)]
    pub file: Option<String>,
    /// The movements themselves.
    #[serde(default)]
    pub text: Option<String>,
}
