//! The area on which nodes are.

use crate::moves::{Ground, Moves};
use crate::report::{Located, WrongKey};
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

/// The ground of a plan, in metres.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanArea {
    /// To the east.
    #[serde(rename = "width_m")]
    pub width: f64,
    /// To the north.
    #[serde(rename = "height_m")]
    pub height: f64,
    /// How often it is looked where moving nodes are.
    #[serde(rename = "step_s")]
    pub step: Span,
}

impl Area {
    pub(crate) fn ground(&self) -> Ground {
        Ground { width: self.width, height: self.height }
    }

    /// Checks the area of a scenario that has so many nodes.
    pub(crate) fn check(&self, nodes: usize) -> Result<(), Located> {
        self.check_own().map_err(|wrong| wrong.within("area"))?;
        self.moves.check(self.ground(), nodes).map_err(|wrong| wrong.within("area.moves"))
    }

    fn check_own(&self) -> Result<(), WrongKey> {
        for (key, value) in [("width", self.width), ("height", self.height)] {
            if !(1.0..=1e6).contains(&value) {
                return Err(WrongKey::value(key, value, "metres, from 1 to 1000000"));
            }
        }
        match (Span::millis(1)..=Span::millis(10_000)).contains(&self.step) {
            true => Ok(()),
            false => Err(WrongKey::value("step", self.step, "it lies from 1 ms to 10 s")),
        }
    }

    pub(crate) fn expand(&self) -> PlanArea {
        PlanArea { width: self.width, height: self.height, step: self.step }
    }
}
