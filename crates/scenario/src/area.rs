//! The area in which nodes move.

use crate::moves::{Ground, Moves};
use crate::report::{Located, WrongKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{InvalidParameter, Span, ValidRange};

/// The area in which nodes are placed: a rectangle with one corner at (0, 0).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// Extent to the east, in metres.
    #[schemars(extend("range" = SIDE.right))]
    pub width: f64,
    /// Extent to the north, in metres.
    #[schemars(extend("range" = SIDE.right))]
    pub height: f64,
    /// How nodes move that have neither `moves` nor a position of their own. By default they stand
    /// still at random positions.
    #[serde(default)]
    pub moves: Moves,
    /// Interval at which positions of moving nodes are updated.
    #[serde(default = "step")]
    #[schemars(extend("range" = STEP.right))]
    pub step: Span,
}

const SIDE: ValidRange<f64> =
    ValidRange { holds: |side| (1.0..=1e6).contains(side), right: "metres, from 1 to 1000000" };

const STEP: ValidRange<Span> = ValidRange {
    holds: |step| (Span::millis(1)..=Span::millis(10_000)).contains(step),
    right: "it lies from 1 ms to 10 s",
};

fn step() -> Span {
    Span::millis(100)
}

/// The area of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanArea {
    /// Extent to the east, in metres.
    #[serde(rename = "width_m")]
    pub width: f64,
    /// Extent to the north, in metres.
    #[serde(rename = "height_m")]
    pub height: f64,
    /// Interval at which positions of moving nodes are updated.
    #[serde(rename = "step_s")]
    pub step: Span,
}

impl Area {
    pub(crate) fn ground(&self) -> Ground {
        Ground { width: self.width, height: self.height }
    }

    /// Checks the area of a scenario with this many nodes.
    pub(crate) fn check(&self, nodes: usize) -> Result<(), Located> {
        self.check_own().map_err(|wrong| WrongKey::from(wrong).within("area"))?;
        self.moves.check(self.ground(), nodes).map_err(|wrong| wrong.within("area.moves"))
    }

    fn check_own(&self) -> Result<(), InvalidParameter> {
        SIDE.check("width", &self.width)?;
        SIDE.check("height", &self.height)?;
        STEP.check("step", &self.step)
    }

    pub(crate) fn expand(&self) -> PlanArea {
        PlanArea { width: self.width, height: self.height, step: self.step }
    }
}
