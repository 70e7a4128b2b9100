//! Tests that the ranges in the schema are those that are checked.

use scenario::Plan;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fs;
use toml::{Table, Value};

/// Values of every type that hardly any key accepts.
const WRONG: &str = r#"wrong = [-1, 0, 1000000, -1.0, 0.0, 1e12, "0 s", "1000000 s", "0 B", "0 packets",
    "1000000 packets", [0], [0.0, 0.0], ["2 s", "1 s"], [[-1.0, -1.0]]]"#;

/// A key of a table in a scenario, with the range that the schema declares.
struct Declared {
    /// The table's definition and the key.
    name: String,
    /// The steps to the key, from the whole file: keys, and numbers of list entries.
    place: Vec<String>,
    range: String,
}

#[test]
fn a_value_outside_of_its_range_is_refused_with_the_range() {
    let text = fs::read_to_string("tests/everything.toml").unwrap();
    let file = Value::Table(toml::from_str(&text).unwrap());
    let schema: Json = serde_json::from_str(&scenario::json_schema()).unwrap();
    let wrong = toml::from_str::<Table>(WRONG).unwrap()["wrong"].as_array().unwrap().clone();
    let mut all = Vec::new();
    collect(&schema, ("Scenario", &schema), (&file, &[]), &mut all);
    let mut refused: BTreeMap<&str, bool> = BTreeMap::new();
    for Declared { name, place, range } in &all {
        let mut answers = wrong.iter().map(|value| answer(&file, place, value));
        *refused.entry(name).or_default() |= answers.any(|said| said.contains(range));
    }
    assert!(refused.len() > 60, "{refused:?}");
    let unchecked: Vec<_> = refused.iter().filter(|(_, refused)| !**refused).collect();
    assert!(unchecked.is_empty(), "{unchecked:?}");
}

/// All keys with a range of the tables in `value`, which the definition `name` describes.
fn collect(
    root: &Json,
    (name, schema): (&str, &Json),
    (value, place): (&Value, &[String]),
    all: &mut Vec<Declared>,
) {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return collect(root, (name, &root["$defs"][name]), (value, place), all);
    }
    let step = |key: &str| [place, &[key.to_owned()]].concat();
    for option in ["anyOf", "oneOf"].iter().filter_map(|key| schema[key].as_array()).flatten() {
        collect(root, (name, option), (value, place), all);
    }
    for (index, entry) in value.as_array().into_iter().flatten().enumerate() {
        collect(root, (name, &schema["items"]), (entry, &step(&index.to_string())), all);
    }
    let (Some(keys), Some(table)) = (schema["properties"].as_object(), value.as_table()) else {
        return;
    };
    for (key, property) in keys {
        if let Some(range) = property["range"].as_str() {
            let (name, range) = (format!("{name}.{key}"), range.to_owned());
            all.push(Declared { name, place: step(key), range });
        }
        if let Some(inner) = table.get(key) {
            collect(root, (name, property), (inner, &step(key)), all);
        }
    }
}

/// The result of `file` with `value` in a place.
fn answer(file: &Value, place: &[String], value: &Value) -> String {
    let mut changed = file.clone();
    let (key, way) = place.split_last().expect("a key");
    let table = way.iter().fold(&mut changed, |inner, step| match step.parse::<usize>() {
        Ok(index) => &mut inner[index],
        Err(_) => &mut inner[step.as_str()],
    });
    table.as_table_mut().expect("a table").insert(key.clone(), value.clone());
    let text = toml::to_string(&changed).expect("a scenario");
    Plan::read(&text, "wrong.toml", &[]).map_or_else(|error| error.to_string(), |_| String::new())
}
