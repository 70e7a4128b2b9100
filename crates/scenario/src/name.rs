//! Names of links, flows, nodes and other tables.

use schemars::JsonSchema;
use serde::Deserialize;

/// A name, and where it stands in the file.
#[derive(Clone, Debug, Default)]
pub struct Name {
    /// The name.
    pub text: String,
    /// The bytes of the file that hold it.
    pub span: core::ops::Range<usize>,
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = toml::Spanned::<String>::deserialize(deserializer)?;
        Ok(Name { span: spanned.span(), text: spanned.into_inner() })
    }
}

impl JsonSchema for Name {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Name".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}
