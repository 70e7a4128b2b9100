//! Opportunities of a link in a scenario file.

use schemars::JsonSchema;
use serde::Deserialize;
use units::Span;

/// When a link may send, as links of cellular networks are recorded (the format of mahimahi). Each
/// number is an opportunity for up to 1500 B, in milliseconds, and none is below the one before it;
/// the last is the period after which they begin again.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Opportunities {
    /// A file with the numbers, one in a line, found from where the scenario file is.
    #[serde(default)]
    pub file: Option<String>,
    /// The numbers themselves, with spaces or line breaks between them.
    #[serde(default)]
    pub times: Option<String>,
    /// Where in them the run begins.
    #[serde(default)]
    pub start: Span,
}
