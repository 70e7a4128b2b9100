//! A valid scenario, and the error after an exchange of one of its parts.

use scenario::{Override, Plan};

/// A valid scenario with most features.
pub(crate) const RIGHT: &str = r#"name = "probe"
duration = "10 s"
warmup = "2 s"

[transport]
initial_window = 4.0
rto_min = "200 ms"

[[link]]
name = "left"
rate = "10 Mb/s"
delay = "20 ms"
queue = { droptail = { packets = "50 packets" } }
loss = { probability = 0.01 }
from = "a"
to = "b"

[[link]]
name = "right"
rate = "5 Mb/s"
delay = "10 ms"
queue = { red = { min = "5 packets", max = "15 packets", max_p = 0.1, limit = "40 packets" } }
from = "b"
to = "c"

[[link.change]]
at = "5 s"
loss = 0.5

[[flow]]
name = "users"
count = 3
controller = "lia"
start = "0 s"
spread = "1 s"

[[flow.path]]
links = ["left", "right"]
leave = "9 s"

[[flow.path]]
links = ["right"]
join = "1 s"
"#;

/// The plan of a text with overrides, or the error text.
pub(crate) fn read(text: &str, overrides: &[&str]) -> Result<Plan, String> {
    let overrides: Result<Vec<Override>, _> = overrides.iter().map(|text| text.parse()).collect();
    let overrides = overrides.map_err(|error: scenario::Error| error.to_string())?;
    Plan::read(text, "probe.toml", &overrides).map_err(|error| error.to_string())
}

/// Replaces `right` by `wrong` in the scenario, and requires an error at `place` ("line:column";
/// empty for the whole file) that contains all of `words`.
#[track_caller]
pub(crate) fn refused(right: &str, wrong: &str, place: &str, words: &[&str]) {
    assert!(RIGHT.contains(right), "nothing to replace: {right}");
    let text = RIGHT.replacen(right, wrong, 1);
    let error = read(&text, &[]).map(|_| ()).expect_err("it was accepted");
    println!("{error}\n");
    if !place.is_empty() {
        let (line, column) = place.split_once(':').expect("line:column");
        let number = |text: &str| text.parse::<usize>().expect("a number");
        let line = text.lines().nth(number(line) - 1).expect("a line of the text");
        assert!(error.contains(&format!("--> probe.toml:{place}\n")), "not at {place}:\n{error}");
        assert!(error.contains(&format!("| {line}\n")), "the line is not shown:\n{error}");
        assert!(number(column) <= line.chars().count());
    }
    for word in words {
        assert!(error.contains(word), "`{word}` is missing:\n{error}");
    }
}
