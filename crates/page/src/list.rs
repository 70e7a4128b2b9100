//! The kinds that a page offers, from their registries; parameters are those of the schema.

use control::{AnyLaw, AnyScheme, Listed};
use serde_json::{Map, Value, json};

/// Controllers, queues and schedulers.
pub(crate) fn list() -> Value {
    let schema: Value = serde_json::from_str(&scenario::json_schema()).unwrap_or_default();
    let laws = AnyLaw::listed().into_iter().map(|kind| controller(&kind, true));
    let others = AnyScheme::listed().into_iter().map(|kind| controller(&kind, false));
    let controllers: Vec<Value> = laws.chain(others).collect();
    json!({
        "controllers": controllers,
        "queues": kinds(&schema["$defs"], "Queue"),
        "schedulers": kinds(&schema["$defs"], "Scheduler"),
    })
}

/// A controller: its options are what follows its name and a colon, its `texts` are the names with
/// which it can be asked for.
fn controller(kind: &Listed, law: bool) -> Value {
    let described = kind.described;
    let options = kind.options.iter();
    let options = options.map(|(name, meaning)| json!({ "name": name, "meaning": meaning }));
    json!({
        "name": described.names[0],
        "about": described.summary,
        "formula": described.formula,
        "source": described.source,
        "law": law,
        "options": options.collect::<Vec<_>>(),
        "texts": kind.texts().collect::<Vec<_>>(),
    })
}

/// The kinds of a choice in the schema. One that can be written with and without parameters is in
/// the list once, with its parameters.
fn kinds(definitions: &Value, choice: &str) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    for one in definitions[choice]["oneOf"].as_array().into_iter().flatten() {
        let about = one["description"].clone();
        let kind = match (one["const"].as_str(), one["properties"].as_object()) {
            (Some(name), _) => json!({ "name": name, "about": about, "parameters": [] }),
            (None, Some(properties)) => {
                let Some((name, inner)) = properties.iter().next() else { continue };
                let parameters = parameters(definitions, inner);
                json!({ "name": name, "about": about, "parameters": parameters })
            }
            (None, None) => continue,
        };
        found.retain(|other| other["name"] != kind["name"]);
        found.push(kind);
    }
    found
}

/// The parameters of a kind: name, meaning, whether it must be given, and default and range if it
/// has them.
fn parameters(definitions: &Value, of: &Value) -> Vec<Value> {
    let own = resolved(definitions, of);
    let required = own["required"].as_array().cloned().unwrap_or_default();
    let all = own["properties"].as_object().into_iter().flatten();
    let parameter = |(name, given): (&String, &Value)| {
        let mut row = Map::new();
        row.insert("name".into(), name.as_str().into());
        let words = given["description"].as_str().unwrap_or_default();
        row.insert("meaning".into(), words.split_whitespace().collect::<Vec<_>>().join(" ").into());
        row.insert("required".into(), required.iter().any(|own| own == name).into());
        for key in ["default", "range"] {
            if let Some(value) = given.get(key) {
                row.insert(key.into(), value.clone());
            }
        }
        Value::Object(row)
    };
    all.map(parameter).collect()
}

/// The definition that a `$ref` names; other schemas are themselves.
fn resolved<'a>(definitions: &'a Value, of: &'a Value) -> &'a Value {
    let name = of["$ref"].as_str().and_then(|text| text.rsplit('/').next());
    name.map_or(of, |name| &definitions[name])
}
