//! Any text as a request of the page, and as a scenario in one: an answer whose header is JSON with
//! spaces behind it, never a panic. Requests for runs are left to `run`: these would have no end.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

fuzz_target!(|text: &str| {
    if !text.contains("run") {
        read(&page::answer(text));
    }
    // Lines that begin with an exclamation mark are overrides; the first of them is the controller.
    let (changes, lines): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with('!'));
    let mut changes = changes.iter().map(|line| &line[1..]);
    let controller = changes.next();
    let overrides: Vec<&str> = changes.collect();
    for kind in ["plan", "text"] {
        let request = json!({
            "do": kind, "text": lines.join("\n"), "controller": controller, "overrides": overrides,
        });
        let header = read(&page::answer(&request.to_string()));
        assert!(header.get(kind).is_some() || header["error"].is_string());
    }
});

/// The header of an answer.
fn read(answer: &[u8]) -> Value {
    let (length, rest) = answer.split_first_chunk::<4>().expect("the length of the header");
    let (header, data) = rest.split_at(u32::from_le_bytes(*length) as usize);
    assert!((4 + header.len()) % 8 == 0 && data.len() % 8 == 0);
    serde_json::from_slice(header).expect("the header is JSON")
}
