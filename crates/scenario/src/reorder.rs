//! Reordering (`network::Reorder`) among the keys of a link of a plan.

use network::Reorder;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use units::Span;

/// Reordering as it is written, among the keys of its link.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ReorderKeys {
    /// Probability that a packet is held back.
    reorder: f64,
    /// How long such a packet is held back.
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
