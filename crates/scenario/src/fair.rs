//! Demands on the fairness of a flow.

use crate::report::WrongKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::ValidRange;

/// A requirement that an ensemble (all paths of one connection) is TCP-fair (Tse 2006, §1.3).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Fair {
    /// The definition that the ensemble must meet.
    #[serde(default)]
    pub definition: Definition,
    /// Tolerance of the definition: a fraction of a link in the lenient definition, and of the
    /// bound in the stringent one.
    #[serde(default = "default_margin")]
    #[schemars(extend("range" = MARGIN.right))]
    pub margin: f64,
}

const MARGIN: ValidRange<f64> = ValidRange {
    holds: |margin| (0.0..=1.0).contains(margin),
    right: "it is a fraction, from 0 to 1",
};

fn default_margin() -> f64 {
    0.05
}

/// A definition of multipath TCP-fairness.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Definition {
    /// The ensemble takes no more of any link than one TCP in its place would (Definition 1).
    Lenient,
    /// In addition, its paths together take no more than one TCP on the best path would, plus the
    /// capacity of the other paths that no other flow uses (Definition 2).
    #[default]
    Stringent,
}

impl Fair {
    /// Checks the demand of a flow of one user, or of several.
    pub(crate) fn check(&self, one_user: bool) -> Result<(), WrongKey> {
        MARGIN.check("fair.margin", &self.margin)?;
        match one_user {
            true => Ok(()),
            false => {
                let what = "`fair` is set, but the flow is not a single user";
                let right = "fairness is judged for one connection: set `count = 1`, and leave \
                             `arrivals` out";
                Err(WrongKey::new("fair", what, right))
            }
        }
    }
}
