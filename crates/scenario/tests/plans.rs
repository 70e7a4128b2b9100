//! The JSON of plans, which other programs and recorded results read: it must stay as recorded.

use scenario::Plan;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

const RECORDED: &str = "../../tests/golden/plans.txt";
const SHIPPED: &str = "../../python/anabranch/scenarios";

fn json(text: &str, name: &str) -> String {
    let plan = Plan::read(text, name, &[]);
    plan.unwrap_or_else(|error| panic!("{error}")).to_json().to_string()
}

/// FNV-1a.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// All scenario files below `folder`, in order.
fn scenarios(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    all.sort();
    let below = |path: PathBuf| if path.is_dir() { scenarios(&path) } else { vec![path] };
    let toml = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "toml");
    all.into_iter().flat_map(below).filter(toml).collect()
}

/// `RECORD=1 cargo test -p scenario --test plans` records intended differences.
fn compare(file: &str, found: &str) {
    if std::env::var_os("RECORD").is_some() {
        fs::write(file, found).expect("the file can be written");
    }
    let recorded = fs::read_to_string(file).expect("a recorded file");
    for (recorded, found) in recorded.lines().zip(found.lines()) {
        assert_eq!(recorded, found, "{file}: is it meant to differ?");
    }
    assert_eq!(recorded.lines().count(), found.lines().count());
}

#[test]
fn the_plans_of_shipped_scenarios_are_those_recorded() {
    let mut found = String::new();
    for path in scenarios(Path::new(SHIPPED)) {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(SHIPPED).unwrap().with_extension("").display().to_string();
        writeln!(found, "{name} {:016x}", hash(&json(&text, &name))).unwrap();
    }
    compare(RECORDED, &found);
}

#[test]
fn a_scenario_with_every_table_has_the_plan_that_stands_beside_it() {
    let text = fs::read_to_string("tests/everything.toml").unwrap();
    let lines = json(&text, "everything").replace("},", "},\n").replace("],", "],\n");
    compare("tests/everything.json", &lines);
}

#[test]
fn the_schema_of_plans_has_every_key_that_a_plan_has() {
    let schema: serde_json::Value = serde_json::from_str(&scenario::plan_schema()).unwrap();
    let plan = json(&fs::read_to_string("tests/everything.toml").unwrap(), "everything");
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    assert_eq!(unknown(&schema, &schema, &plan), Vec::<String>::new());
}

/// Keys of `value` that `schema` does not have.
fn unknown(
    root: &serde_json::Value,
    schema: &serde_json::Value,
    value: &serde_json::Value,
) -> Vec<String> {
    let all = alternatives(root, schema);
    match value {
        serde_json::Value::Array(values) => {
            let items: Vec<_> = all.iter().filter_map(|one| one.get("items")).collect();
            let of_item = |value| items.iter().flat_map(move |item| unknown(root, item, value));
            values.iter().flat_map(of_item).collect()
        }
        serde_json::Value::Object(entries) => {
            let of_key = |(key, value): (&String, &serde_json::Value)| {
                let inner: Vec<_> =
                    all.iter().filter_map(|one| one["properties"].get(key)).collect();
                if inner.is_empty() {
                    return vec![key.clone()];
                }
                let missing = inner.iter().map(|inner| unknown(root, inner, value));
                missing.min_by_key(Vec::len).unwrap_or_default()
            };
            entries.iter().flat_map(of_key).collect()
        }
        _ => Vec::new(),
    }
}

/// `schema`, with everything that it refers to and its alternatives.
fn alternatives<'a>(
    root: &'a serde_json::Value,
    schema: &'a serde_json::Value,
) -> Vec<&'a serde_json::Value> {
    let mut all = vec![schema];
    if let Some(name) = schema.get("$ref").and_then(|it| it.as_str()) {
        all.extend(alternatives(root, &root["$defs"][name.trim_start_matches("#/$defs/")]));
    }
    for key in ["oneOf", "anyOf"] {
        let options = schema.get(key).and_then(|it| it.as_array()).into_iter().flatten();
        all.extend(options.flat_map(|option| alternatives(root, option)));
    }
    all
}
