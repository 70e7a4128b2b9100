//! What a flow may demand of its fairness.

use crate::report::WrongKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::ValidRange;

/// A demand that an ensemble, all paths of one connection, is TCP-fair (Tse 2006, §1.3).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Fair {
    /// Which definition it is to meet.
    #[serde(default)]
    pub definition: Definition,
    /// What it may take beyond that: as a part of a link in the lenient definition, and of the
    /// bound of the stringent one.
    #[serde(default = "default_margin")]
    #[schemars(extend("range" = MARGIN.right))]
    pub margin: f64,
}

const MARGIN: ValidRange<f64> =
    ValidRange { holds: |margin| (0.0..=1.0).contains(margin), right: "it is a part, from 0 to 1" };

fn default_margin() -> f64 {
    0.05
}

/// A definition of multipath TCP-fairness.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Definition {
    /// On no link more than one TCP in its place would take (Definition 1).
    Lenient,
    /// Besides, all together no more than a TCP on its best path and what nobody else uses
    /// (Definition 2).
    #[default]
    Stringent,
}

impl Fair {
    /// Checks the demand of a flow that is one user, or more.
    pub(crate) fn check(&self, one_user: bool) -> Result<(), WrongKey> {
        MARGIN.check("fair.margin", &self.margin)?;
        match one_user {
            true => Ok(()),
            false => {
                let what = "`fair` of a flow that is not one user";
                Err(WrongKey::new("fair", what, "it is defined for one ensemble: `count = 1`"))
            }
        }
    }
}
