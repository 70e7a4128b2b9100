//! Answers as a page reads them: the digests of shipped scenarios, the layout, errors, and that no
//! request makes it panic.

use page::{MOST_REQUEST, answer};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Two links and a user over both.
const SMALL: &str = r#"
name = "small"
duration = "2 s"
warmup = "500 ms"
[[link]]
name = "a"
rate = "1 Mb/s"
delay = "10 ms"
queue = { droptail = { packets = "4 packets" } }
[[link]]
name = "b"
rate = "2 Mb/s"
delay = "20 ms"
[[flow]]
name = "user"
controller = "lia"
[[flow.path]]
links = ["a"]
[[flow.path]]
links = ["b"]
"#;

/// An answer: its header and the numbers behind it.
fn parts(bytes: &[u8]) -> (Value, Vec<f64>) {
    let (length, rest) = bytes.split_first_chunk::<4>().expect("a length");
    let (header, data) = rest.split_at(u32::from_le_bytes(*length) as usize);
    assert_eq!((4 + header.len()) % 8, 0);
    let (numbers, none) = data.as_chunks::<8>();
    assert!(none.is_empty());
    let numbers = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    (serde_json::from_slice(header).expect("the header is JSON"), numbers)
}

/// The header of the answer to a request.
fn header(request: &Value) -> Value {
    parts(&answer(&request.to_string())).0
}

/// The error of a request.
fn error(request: &Value) -> String {
    header(request)["error"].as_str().unwrap_or_else(|| panic!("{request} is answered")).to_owned()
}

/// A request for [`SMALL`] with more fields.
fn small(kind: &str, more: Value) -> Value {
    with(json!({ "do": kind, "name": "small", "text": SMALL, "controller": null }), more)
}

/// A request with more fields.
fn with(mut request: Value, more: Value) -> Value {
    for (key, value) in more.as_object().expect("fields") {
        request[key] = value.clone();
    }
    request
}

#[test]
fn the_digests_of_shipped_scenarios_are_the_recorded_ones() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = |file: PathBuf| std::fs::read_to_string(file).unwrap();
    for line in text(root.join("tests/golden/digests.txt")).lines() {
        let (name, digest) = line.split_once(' ').unwrap();
        let text = text(root.join(format!("python/anabranch/scenarios/{name}.toml")));
        let request = json!({ "do": "run", "name": name, "text": text, "seed": 1 });
        assert_eq!(header(&request)["run"]["digest"], digest, "{name}");
    }
}

#[test]
fn a_table_lies_where_its_header_says() {
    let request = small("run", json!({ "seed": 7, "series": true, "events": 3 }));
    let (header, numbers) = parts(&answer(&request.to_string()));
    let run = &header["run"];
    assert_eq!((&run["seed"], &run["simulated_s"]), (&json!(7), &json!(2.0)));
    let counts = &run["conservation"];
    let [sent, delivered, dropped, in_flight] =
        ["sent", "delivered", "dropped", "in_flight"].map(|key| counts[key].as_u64().unwrap());
    assert_eq!(sent, delivered + dropped + in_flight);
    let mut end = 0;
    let tables = run["tables"].as_object().unwrap();
    for (place, table) in tables {
        let rows = table["rows"].as_u64().unwrap();
        for column in table["columns"].as_array().unwrap() {
            let (Some(offset), Some(length)) =
                (column["offset"].as_u64(), column["length"].as_u64())
            else {
                assert_eq!(column["values"].as_array().unwrap().len() as u64, rows, "{place}");
                continue;
            };
            assert_eq!(offset, end, "{place}: columns lie one behind the other");
            assert_eq!(length, rows * column["width"].as_u64().unwrap_or(1), "{place}");
            end += length;
        }
    }
    assert_eq!(end, numbers.len() as u64);
    let column = |place: &str, name: &str| {
        let columns = tables[place]["columns"].as_array().unwrap();
        let own = columns.iter().find(|own| own["name"] == name).unwrap();
        let [from, many] = ["offset", "length"].map(|key| own[key].as_u64().unwrap() as usize);
        (own["width"].as_u64(), numbers[from..from + many].to_vec())
    };
    assert_eq!(column("paths", "path"), (None, vec![0.0, 1.0]));
    assert_eq!(column("series.t_s", "t_s").1[..2], [0.0, 0.1]);
    assert_eq!(column("series.paths", "cwnd_segments").0, Some(2));
    assert_eq!(
        tables["links"]["columns"][0]["values"],
        json!(["a", "b", "user/0/back", "user/1/back"])
    );
    assert_eq!(tables["events_log"]["rows"], 3);
    assert!(run["events_log_until_s"].is_f64(), "the log is full");
}

#[test]
fn what_is_not_asked_for_is_not_there() {
    let run = header(&small("run", json!({})));
    let tables = run["run"]["tables"].as_object().unwrap();
    assert!(tables.contains_key("flows") && !tables.contains_key("events_log"));
    assert!(!tables.keys().any(|place| place.starts_with("series")));
}

#[test]
fn every_nan_in_an_answer_has_the_same_bytes() {
    let bytes = answer(&small("run", json!({})).to_string());
    let (header, numbers) = parts(&bytes);
    assert!(numbers.iter().any(|number| number.is_nan()), "no transfer ends: {header}");
    for number in numbers.iter().filter(|number| number.is_nan()) {
        assert_eq!(number.to_bits(), f64::NAN.to_bits());
    }
}

#[test]
fn the_plan_and_the_text_have_the_controller_and_the_overrides() {
    let changes = json!({ "controller": "olia", "overrides": ["link.a.rate=3 Mb/s"] });
    let plan = header(&small("plan", changes.clone()));
    assert_eq!(plan["plan"]["classes"][0]["controller"], "olia");
    assert_eq!(plan["plan"]["links"][0]["rate_bps"], 3e6);
    let text = header(&small("text", changes));
    let again = header(&json!({ "do": "plan", "text": text["text"] }));
    assert_eq!(again["plan"], plan["plan"]);
}

#[test]
fn kinds_are_listed_with_their_parameters() {
    let list = header(&json!({ "do": "list" }));
    let named = |kinds: &str, name: &str| {
        let all = list[kinds].as_array().unwrap();
        all.iter().find(|kind| kind["name"] == name).unwrap().clone()
    };
    assert!(named("controllers", "olia")["about"].as_str().is_some_and(|text| !text.is_empty()));
    assert_eq!(named("controllers", "reno")["law"], true);
    let red = named("queues", "red");
    let gentle = red["parameters"].as_array().unwrap().iter().find(|own| own["name"] == "gentle");
    assert_eq!(gentle.unwrap()["default"], true);
    assert_eq!(named("queues", "unlimited")["parameters"], json!([]));
    let linux = named("schedulers", "linux");
    assert_eq!(linux["parameters"][0]["name"], "windows_ahead", "it is there once");
    assert_eq!(list["schedulers"].as_array().unwrap().len(), transport::Scheduler::DESCRIBED.len());
    assert_eq!(list["queues"].as_array().unwrap().len(), 1 + network::Queue::KINDS.len());
}

#[test]
fn fairness_is_judged_by_the_one_definition_that_is_named() {
    let judged = |question: Value| header(&with(json!({ "do": "fairness" }), question));
    let is = |value: Value| json!({ "fairness": value });
    assert_eq!(judged(json!({ "p1": [100, 74, 100, 100] })), is(true.into()));
    assert_eq!(judged(json!({ "p1": [100, 99, 100, 100] })), is(false.into()));
    assert_eq!(judged(json!({ "p2": [1.2, 0.8, 1, 1] })), is(true.into()));
    assert_eq!(judged(json!({ "harm": [10, 2.5] })), is(0.75.into()));
    for (question, words) in [
        (json!({}), "has one of `p1`, `p2` and `harm`"),
        (json!({ "harm": [1, 1], "p2": [1, 1, 1, 1] }), "has one of `p1`, `p2` and `harm`"),
        (json!({ "harm": [0, 1] }), "`harm` is [0.0,1.0]; it must be [alone, beside]"),
        (json!({ "p1": [1, 1] }), "`p1` is [1,1]; it must be [others before"),
    ] {
        let found = judged(question);
        assert!(found["error"].as_str().is_some_and(|text| text.contains(words)), "{found}");
    }
}

#[test]
fn a_wrong_request_is_answered_with_the_field_the_value_and_what_would_be_right() {
    for (request, words) in [
        (json!([]), "the request is []; it must be an object"),
        (json!({}), "`do` is missing; it must be plan, text, run, list or fairness"),
        (json!({ "do": "sing" }), "`do` is \"sing\"; it must be plan"),
        (json!({ "do": "plan" }), "`text` is missing; it must be the text of a scenario"),
        (json!({ "do": "list", "text": "" }), "`text` is no field of this request"),
        (small("run", json!({ "seed": -1 })), "`seed` is -1; it must be a whole number from 0"),
        (small("run", json!({ "seed": 1u64 << 53 })), "`seed` is 9007199254740992; it must"),
        (small("run", json!({ "events": 1.5 })), "`events` is 1.5; it must be a whole number"),
        (small("plan", json!({ "overrides": "a=1" })), "`overrides` is \"a=1\"; it must be a list"),
        (small("plan", json!({ "controller": "my.law" })), "`my.law` is a file, and the explorer"),
        (small("plan", json!({ "controller": "oila" })), "did you mean `olia`?"),
        (small("plan", json!({ "overrides": ["link.c.rate=1 Mb/s"] })), "`a` and `b`"),
    ] {
        let error = error(&request);
        assert!(error.contains(words), "{request}: {error}");
    }
    let (not_json, _) = parts(&answer("{"));
    assert!(not_json["error"].as_str().unwrap().starts_with("the request is not JSON: "));
}

#[test]
fn what_is_too_large_is_refused() {
    let series = json!({ "series": true, "overrides": ["sample=1 ns"] });
    assert!(error(&small("run", series)).contains("lengthen `sample`"));
    let users = json!({ "overrides": ["flow.user.count=4000000"] });
    assert!(error(&small("run", users)).contains("use fewer users"));
    let (long, _) = parts(&answer(&" ".repeat(MOST_REQUEST + 1)));
    assert_eq!(long["error"], "the request has 16 MiB; it has at most 16 MiB");
    for deep in ["[".repeat(1 << 20), "{\"a\":".repeat(1 << 18)] {
        let (deep, _) = parts(&answer(&deep));
        assert!(deep["error"].as_str().unwrap().contains("recursion limit"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The signs make no time or rate so much longer that the run takes long.
    #[test]
    fn no_request_makes_it_panic(
        kind in prop::sample::select(vec!["plan", "text", "run", "list", "fairness"]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), "[\"{}\\[\\],:.=\\\\nul0-]"), 0..4),
    ) {
        let more = json!({ "seed": 1, "series": true, "events": 9, "overrides": ["warmup=0.1 s"] });
        let request = small(kind, if kind == "run" { more } else { json!({}) });
        let mut text: Vec<char> = request.to_string().chars().collect();
        for (place, replace, sign) in changes {
            let at = place.index(text.len());
            text.splice(at..at + usize::from(replace), sign.chars());
        }
        let (header, _) = parts(&answer(&text.iter().collect::<String>()));
        prop_assert_eq!(header.as_object().unwrap().len(), if kind == "list" && header["error"].is_null() { 3 } else { 1 });
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC*", key in "[a-z.]{0,8}", value in "\\PC{0,8}") {
        parts(&answer(&text));
        let request = small("plan", json!({ "overrides": [format!("{key}={value}")], "controller": value }));
        parts(&answer(&request.to_string()));
        parts(&answer(&json!({ "do": "plan", "text": text }).to_string()));
    }
}
