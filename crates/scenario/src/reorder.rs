//! Packets that come out of a link out of order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use units::{InvalidParameter, PROBABILITY, Span};

/// Packets that are held back at the end of a link.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// Probability for each packet.
    #[schemars(extend("range" = PROBABILITY.right))]
    pub probability: f64,
    /// For how long.
    pub delay: Span,
}

/// Reordering as it is written, among the keys of its link.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ReorderKeys {
    /// Probability that a packet is held back.
    reorder: f64,
    /// For how long.
    reorder_delay_s: Option<Span>,
}

impl ReorderKeys {
    pub(crate) fn write<S: Serializer>(
        reorder: &Option<Reorder>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let keys = ReorderKeys {
            reorder: reorder.as_ref().map_or(0.0, |reorder| reorder.probability),
            reorder_delay_s: reorder.as_ref().map(|reorder| reorder.delay),
        };
        keys.serialize(serializer)
    }
}

impl Reorder {
    pub(crate) fn check(&self) -> Result<(), InvalidParameter> {
        PROBABILITY.check("reorder.probability", &self.probability)
    }
}
