//! Any text as a scenario, with any overrides: a plan or an error with its place, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scenario::{Override, Plan};

fuzz_target!(|text: &str| {
    // Lines that begin with an exclamation mark are overrides.
    let (overrides, lines): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with('!'));
    let overrides: Vec<Override> =
        overrides.iter().filter_map(|line| line[1..].parse().ok()).collect();
    let text = lines.join("\n");
    match Plan::read(&text, "fuzz", &overrides) {
        Ok(plan) => drop(plan.to_json().to_string()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
