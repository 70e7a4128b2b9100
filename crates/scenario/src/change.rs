//! Changes of a link during the run.
//!
//! The table is not `network::Change`: it has a time, which the script of a world keeps, and serde
//! loses the line of an error in a flattened table.

use crate::report::WrongKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{PROBABILITY, Rate, Span};

/// A change of a link at a given time. Properties that are left out do not change.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkChange {
    /// Time of the change.
    #[serde(rename(serialize = "at_s"))]
    pub at: Span,
    /// New rate.
    #[serde(default, rename(serialize = "rate_bps"))]
    pub rate: Option<Rate>,
    /// New propagation delay.
    #[serde(default, rename(serialize = "delay_s"))]
    pub delay: Option<Span>,
    /// New loss probability, independent for each packet.
    #[serde(default)]
    #[schemars(extend("range" = PROBABILITY.right))]
    pub loss: Option<f64>,
    /// Whether the link is up; a link that is down loses the packets offered to it.
    #[serde(default)]
    pub up: Option<bool>,
}

impl LinkChange {
    /// Checks the change `key` of a link; `has_rate` says whether the link has a rate.
    pub(crate) fn check(&self, key: &str, has_rate: bool) -> Result<(), WrongKey> {
        PROBABILITY.check(&format!("{key}.loss"), &self.loss)?;
        match self.rate.is_some() && !has_rate {
            true => {
                let what = "set, but the link has no rate";
                let right = "give the link a rate";
                Err(WrongKey::value(&format!("{key}.rate"), what, right))
            }
            false => Ok(()),
        }
    }
}
