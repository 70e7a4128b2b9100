//! Congestion controllers in a scenario.

use crate::name::Name;
use control::{ControllerSpec, UnknownController};
use schemars::JsonSchema;
use serde::Deserialize;

/// The name of a congestion controller, parsed, and where it stands in the file.
#[derive(Clone, Debug)]
pub struct Controller {
    /// The controller, or why there is none of that name.
    pub spec: Result<ControllerSpec, UnknownController>,
    /// The bytes of the file that hold the name.
    pub span: core::ops::Range<usize>,
}

impl<'de> Deserialize<'de> for Controller {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Name { text, span } = Name::deserialize(deserializer)?;
        Ok(Controller { spec: text.parse(), span })
    }
}

impl JsonSchema for Controller {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Name::schema_name()
    }
    fn inline_schema() -> bool {
        Name::inline_schema()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Name::json_schema(generator)
    }
}
