//! Default values in the schema of the scenario file, in the format of the file.
//!
//! Quantities are parsed from text and serialised as numbers; serde's defaults in a schema are
//! serialised values.

use schemars::Schema;
use schemars::transform::transform_subschemas;
use serde_json::{Map, Value};
use units::{Bytes, Packets, Rate, Span};

/// Converts defaults of quantities to text with a unit.
pub(crate) fn as_text(schema: &mut Schema) {
    if let Some(object) = schema.as_object_mut() {
        for property in object.get_mut("properties").and_then(Value::as_object_mut).into_iter() {
            property.values_mut().filter_map(Value::as_object_mut).for_each(write_default);
        }
    }
    transform_subschemas(&mut (as_text as fn(&mut Schema)), schema);
}

fn write_default(property: &mut Map<String, Value>) {
    let Some(default) = property.get("default") else {
        return;
    };
    let text = match default {
        Value::Array(values) => {
            let kinds = property.get("prefixItems").and_then(Value::as_array);
            let kinds = kinds.into_iter().flatten().filter_map(Value::as_object);
            let texts: Option<Vec<Value>> =
                values.iter().zip(kinds).map(|(value, kind)| text(kind, value)).collect();
            texts.filter(|texts| texts.len() == values.len()).map(Value::Array)
        }
        value => text(property, value),
    };
    if let Some(text) = text {
        property.insert("default".into(), text);
    }
}

/// `value` as text, if `schema` refers to a quantity or to an optional one.
fn text(schema: &Map<String, Value>, value: &Value) -> Option<Value> {
    if let Some(options) = schema.get("anyOf").and_then(Value::as_array) {
        return options.iter().find_map(|option| text(option.as_object()?, value));
    }
    let kind = schema.get("$ref")?.as_str()?.rsplit('/').next()?;
    let text = match kind {
        "Span" => Span::from_seconds(value.as_f64()?).to_string(),
        "Rate" => Rate(value.as_u64()?).to_string(),
        "Bytes" => Bytes(value.as_u64()?).to_string(),
        "Packets" => Packets(value.as_f64()?).to_string(),
        _ => return name_alone(value),
    };
    Some(Value::String(text))
}

/// The name of a kind without parameters.
fn name_alone(value: &Value) -> Option<Value> {
    value.as_object().filter(|fields| fields.len() == 1)?.get("kind").cloned()
}
