//! Movement of nodes.

use crate::movements;
use crate::report::{WrongKey, not_read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Span, ValidRange};

/// How nodes move.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Moves {
    /// The node does not move.
    #[default]
    Still,
    /// Random waypoint: the node moves from one random position to the next.
    Waypoint(Waypoint),
    /// A platoon on a straight road, led by the first node of the group.
    Highway(Highway),
    /// Given movements, in the format of ns-2.
    Trace(Movements),
}

/// Random waypoint: a node moves straight to a uniformly random position at a uniformly random
/// speed, pauses there, and moves on.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    /// Least and greatest speed in m/s, above 0: with 0, nodes would come to a halt in the long
    /// run.
    #[serde(rename(serialize = "speed_mps"))]
    #[schemars(extend("range" = SPEED))]
    pub speed: (f64, f64),
    /// Shortest and longest pause.
    #[serde(default = "no_pause", rename(serialize = "pause_s"))]
    #[schemars(extend("range" = PAUSE))]
    pub pause: (Span, Span),
    /// Whether initial positions and speeds have their long-run distribution (Navidi and Camp
    /// 2004). Otherwise every node begins a new leg at a uniformly random position, and the mean
    /// speed falls for a while.
    #[serde(default = "yes")]
    pub stationary: bool,
}

const SPEED: &str = "least and greatest in m/s, at most 1000, the least above 0: with 0, nodes come \
                     to a halt in the long run";

const PAUSE: &str = "the shortest, then the longest";

fn yes() -> bool {
    true
}

fn no_pause() -> (Span, Span) {
    (Span::ZERO, Span::ZERO)
}

/// A platoon on a straight road to the east, from one side of the area to the other. A car that
/// leaves the area at the end of the road enters it again at the start.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Highway {
    /// Least and greatest speed in m/s; the leader draws its speeds uniformly between them.
    #[serde(rename(serialize = "speed_mps"))]
    #[schemars(extend("range" = LEADER_SPEED))]
    pub speed: (f64, f64),
    /// Metres between cars at the start.
    #[serde(default = "gap", rename(serialize = "gap_m"))]
    #[schemars(extend("range" = GAP))]
    pub gap: f64,
    /// How long the leader keeps a speed.
    #[serde(default = "hold", rename(serialize = "hold_s"))]
    #[schemars(extend("range" = HOLD.right))]
    pub hold: Span,
    /// Time after which a car takes the speed of the car ahead.
    #[serde(default = "reaction", rename(serialize = "reaction_s"))]
    #[schemars(extend("range" = GAP))]
    pub reaction: Span,
    /// Initial position of the leader, in metres to the east.
    #[serde(default, rename(serialize = "start_m"))]
    #[schemars(extend("range" = INSIDE))]
    pub start: f64,
    /// Position of the lane, in metres to the north; by default the middle of the area.
    #[serde(default, rename(serialize = "lane_m"))]
    #[schemars(extend("range" = INSIDE))]
    pub lane: Option<f64>,
}

const LEADER_SPEED: &str = "least and greatest in m/s, above 0 and at most 1000";

const GAP: &str =
    "`gap` is above `reaction` × (greatest − least speed), and at most the width of the area";

const HOLD: ValidRange<Span> =
    ValidRange { holds: |hold| *hold >= Span::millis(100), right: "it is at least 100 ms" };

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
    /// A file with the movements; its path is relative to the scenario file.
    #[serde(default)]
    pub file: Option<String>,
    /// The movements themselves.
    #[serde(default)]
    pub text: Option<String>,
}

/// Largest speed of a node, in m/s.
const FASTEST: f64 = 1_000.0;

/// Help for a coordinate outside the area.
pub(crate) const INSIDE: &str = "it lies inside the area";

/// Where nodes may be: metres to the east and to the north, from (0, 0).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground {
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Ground {
    pub(crate) fn contains(self, (x, y): (f64, f64)) -> bool {
        (0.0..=self.width).contains(&x) && (0.0..=self.height).contains(&y)
    }
}

impl Moves {
    /// Checks moves of some of the scenario's `nodes` on `ground`.
    pub(crate) fn check(&self, ground: Ground, nodes: usize) -> Result<(), WrongKey> {
        match self {
            Moves::Still => Ok(()),
            Moves::Waypoint(own) => own.check().map_err(|wrong| wrong.below("waypoint")),
            Moves::Highway(own) => own.check(ground).map_err(|wrong| wrong.below("highway")),
            Moves::Trace(own) => own.check(nodes),
        }
    }

    /// The moves of all nodes in a trace; `None` if the table has other moves, or the trace is
    /// wrong.
    pub(crate) fn traced(&self) -> Option<Vec<movements::Moves>> {
        match self {
            Moves::Trace(own) => movements::parse(own.text.as_deref()?).ok(),
            _ => None,
        }
    }

    /// Approximate number of legs of a node in this many seconds.
    pub(crate) fn legs(&self, ground: Ground, seconds: f64) -> f64 {
        match self {
            Moves::Waypoint(own) => {
                // A leg is at least a third of the longer side on average, and each is followed by
                // a pause.
                let way = ground.width.max(ground.height) / 3.0;
                let (least, most) = own.speed;
                let slowness = match most > least {
                    true => libm::log(most / least) / (most - least),
                    false => 1.0 / most,
                };
                let pause = (own.pause.0.seconds() + own.pause.1.seconds()) / 2.0;
                2.0 * seconds / (way * slowness + pause)
            }
            Moves::Highway(own) => {
                seconds / own.hold.seconds() + seconds * own.speed.1 / ground.width
            }
            Moves::Still | Moves::Trace(_) => 1.0,
        }
    }
}

fn speeds((least, most): (f64, f64)) -> bool {
    0.0 < least && least <= most && most <= FASTEST
}

impl Waypoint {
    fn check(&self) -> Result<(), WrongKey> {
        if !speeds(self.speed) {
            let what = format!("speed is [{}, {}]", self.speed.0, self.speed.1);
            return Err(WrongKey::new("speed", what, SPEED));
        }
        match self.pause.0 <= self.pause.1 {
            true => Ok(()),
            false => {
                let what = format!("pause is [{}, {}]", self.pause.0, self.pause.1);
                Err(WrongKey::new("pause", what, PAUSE))
            }
        }
    }
}

impl Highway {
    fn check(&self, ground: Ground) -> Result<(), WrongKey> {
        let (least, most) = self.speed;
        if !speeds(self.speed) {
            let what = format!("speed is [{least}, {most}]");
            return Err(WrongKey::new("speed", what, LEADER_SPEED));
        }
        let needed = self.reaction.seconds() * (most - least);
        if !(self.gap > needed && self.gap <= ground.width) {
            let right = format!("{GAP}: at {needed} m or less a car overtakes the one ahead");
            return Err(WrongKey::value("gap", self.gap, right));
        }
        HOLD.check("hold", &self.hold)?;
        let lane = self.lane.unwrap_or(0.0);
        for (key, value, most) in
            [("start", self.start, ground.width), ("lane", lane, ground.height)]
        {
            if !(0.0..=most).contains(&value) {
                let what = format!("{key} is {value}, outside the area");
                return Err(WrongKey::new(key, what, format!("{INSIDE}, from 0 to {most} m")));
            }
        }
        Ok(())
    }
}

impl Movements {
    fn check(&self, nodes: usize) -> Result<(), WrongKey> {
        let text = match (&self.file, &self.text) {
            (None, Some(text)) => text,
            (Some(file), None) => {
                let what = format!("file is \"{file}\"");
                return Err(WrongKey::new("trace.file", what, not_read("text")));
            }
            _ => {
                let what = "`trace` has both `file` and `text`, or neither";
                return Err(WrongKey::new("trace", what, "give one of them"));
            }
        };
        let all = movements::parse(text)
            .map_err(|bad| WrongKey::new("trace.text", bad.to_string(), movements::RIGHT))?;
        match all.iter().find(|moves| moves.node >= nodes) {
            Some(moves) => {
                let what = format!("the movements include node {}", moves.node);
                let right = format!("the scenario has {nodes} nodes, numbered from 0");
                Err(WrongKey::new("trace", what, right))
            }
            None => Ok(()),
        }
    }
}
