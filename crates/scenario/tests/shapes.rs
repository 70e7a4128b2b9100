//! Unknown keys, values of another type, and other spellings of words: errors name the key, the
//! value and what would be right.

mod common;

use common::{RIGHT, read, refused};
use transport::DelayedAck;
use units::Span;

#[test]
fn an_unknown_key_is_answered_with_the_key_that_is_near() {
    refused(
        "rate = ",
        "rat = ",
        "11:1",
        &["link `left`: there is no key `rat`; did you mean `rate`?"],
    );
    refused(
        "spread = ",
        "spreed = ",
        "35:1",
        &["flow `users`: there is no key `spreed`; did you mean `spread`?"],
    );
    refused("droptail = ", "dropptail = ", "13:11", &["did you mean `droptail`?"]);
    let error = read(RIGHT, &["link.left.rat=1 Mb/s"]).unwrap_err();
    assert!(
        error.contains("override `link.left.rat=1 Mb/s`: link `left`: there is no key `rat`"),
        "{error}"
    );
    assert!(error.contains("did you mean `rate`?"), "{error}");
    let error = read(RIGHT, &["link.lefd.rate=1 Mb/s"]).unwrap_err();
    assert!(error.contains("did you mean `left`? the entries are"), "{error}");
}

/// Text of the scenario, its replacement, and the words of the error.
const WRONG: &[(&str, &str, [&str; 2])] = &[
    (
        "count = 3",
        "count = \"3\"",
        ["flow `users`: count is the text \"3\"", "a whole number from 0"],
    ),
    ("count = 3", "count = 1.5", ["count is the number 1.5", "a whole number from 0"]),
    ("count = 3", "count = {}", ["count is a table", "a whole number from 0"]),
    ("count = 3", "striped = 1", ["striped is the whole number 1", "it is true or false"]),
    (
        "count = 3",
        "base = -1",
        ["base is the whole number -1", "a whole number from 0 to 4294967295"],
    ),
    (
        "count = 3",
        "protocol = \"tpc\"",
        ["protocol is \"tpc\"; did you mean `tcp`?", "\"tcp\", \"udp\" or \"quic\""],
    ),
    (
        "count = 3",
        "protocol = 6",
        ["protocol is the whole number 6", "\"tcp\", \"udp\" or \"quic\""],
    ),
    ("count = 3", "transport = 1", ["transport is the whole number 1", "a table with the keys"]),
    (
        "controller = \"lia\"",
        "controller = 5",
        ["controller is the whole number 5", "a text in quotes"],
    ),
    ("links = [\"right\"]", "links = \"right\"", ["path.1.links is the text \"right\"", "a list"]),
    (
        "links = [\"right\"]",
        "links = [1]",
        ["path.1.links.0 is the whole number 1", "a text in quotes"],
    ),
    (
        "queue = { droptail = { packets = \"50 packets\" } }",
        "queue = 5",
        ["queue is the whole number 5", "a table with one of the keys"],
    ),
    (
        "queue = { droptail = { packets = \"50 packets\" } }",
        "queue = {}",
        ["queue has 0 keys", "a table with one of the keys"],
    ),
    (
        "loss = 0.5",
        "loss = true",
        ["link `right`: change.0.loss is true", "it is a number; it lies from 0 to 1"],
    ),
    (
        "duration = \"10 s\"",
        "duration = { s = 10 }",
        ["duration is a table", "a time with its unit"],
    ),
    (
        "duration = \"10 s\"",
        "duration = 2026-01-01",
        ["duration is a date", "a time with its unit"],
    ),
    ("[transport]", "[[transport]]", ["transport is a list", "a table with the keys"]),
];

#[test]
fn a_value_of_another_type_is_named_with_its_key_and_what_would_be_right() {
    for (right, wrong, words) in WRONG {
        refused(right, wrong, "", words);
    }
}

/// Words of the parser's implementation, which mean nothing to a user.
const NOT_OURS: &[&str] = &[
    "invalid type",
    "invalid value",
    "invalid length",
    "expected",
    "variant",
    "i64",
    "u32",
    "f64",
    "sequence",
    "a map",
    "unit value",
    "newtype",
    "unknown field",
    "missing field",
    "there is none",
];

#[test]
fn no_value_of_a_wrong_type_is_answered_in_the_words_of_the_parser() {
    let values = [
        "1",
        "-1",
        "1.5",
        "true",
        "\"\"",
        "\"x\"",
        "[]",
        "[1]",
        "{}",
        "{ x = 1 }",
        "[{}]",
        "1979-05-27",
    ];
    let lines: Vec<&str> = RIGHT.lines().collect();
    let mut refused = 0;
    for (number, line) in lines.iter().enumerate() {
        let Some((key, _)) = line.split_once(" = ") else { continue };
        for value in values {
            let edited = format!("{key} = {value}");
            let mut text = lines.clone();
            text[number] = &edited;
            let Err(error) = read(&text.join("\n"), &[]) else { continue };
            let message = error.lines().filter(|line| !line.contains(" | "));
            let message = message.collect::<Vec<_>>().join("\n");
            for word in NOT_OURS {
                assert!(!message.contains(word), "{edited}: `{word}` in:\n{error}");
            }
            assert!(
                message.contains("help: ") || message.contains("write, for example"),
                "{edited}:\n{error}"
            );
            refused += 1;
        }
    }
    assert!(refused > 200, "{refused}");
}

#[test]
fn words_and_kinds_are_found_however_they_are_written() {
    for (right, other) in [
        ("controller = \"lia\"", "controller = \"Linked Increases\""),
        ("count = 3", "protocol = \"TCP\""),
        ("queue = { droptail = {", "queue = { Drop-Tail = {"),
        ("queue = { red = {", "queue = { RED = {"),
        ("initial_window = 4.0", "scheduler = \"Round Robin\"\nidle = \"Restart\""),
        ("initial_window = 4.0", "scheduler = \"MinRTT\"\nrto_floor = \"TOTAL\""),
    ] {
        let text = RIGHT.replacen(right, other, 1);
        assert_ne!(text, RIGHT);
        let plan = read(&text, &[]);
        assert!(plan.is_ok(), "{other}: {}", plan.unwrap_err());
    }
    let plan = read(&RIGHT.replacen("\"lia\"", "\"RTT Compensator\"", 1), &[]).unwrap();
    assert_eq!(plan.classes[0].controller.to_string(), "lia");
}

#[test]
fn a_word_that_stands_in_the_place_of_a_time_is_found_however_it_is_written() {
    let delayed = |text: &str| {
        let options = format!("delayed_ack = \"{text}\"\nhandshake = true");
        read(&RIGHT.replacen("initial_window = 4.0", &options, 1), &[])
    };
    for text in ["linux", "Linux", "LINUX"] {
        let plan = delayed(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(plan.classes[0].transport.delayed_ack, DelayedAck::AsLinux, "{text}");
    }
    let after = delayed("40 ms").unwrap().classes[0].transport.delayed_ack;
    assert_eq!(after, DelayedAck::After(Span::millis(40)));
    assert!(delayed("Windows").unwrap_err().contains("or \"linux\""));
    let over = ["transport.delayed_ack=Linux", "transport.handshake=true"];
    assert_eq!(read(RIGHT, &over).map(|_| ()), Ok(()));
}

#[test]
fn a_link_is_crossed_once_and_leads_somewhere_else() {
    let words = ["flow `users`: a path crosses link `right` twice", "crosses each link once"];
    refused("[\"right\"]", "[\"right\", \"right\"]", "", &words);
    let back = "join = \"1 s\"\nback = [\"right\", \"right\"]";
    refused("join = \"1 s\"", back, "", &words);
    let words = ["link `left`: it ends at node `a`, where it begins", "name another node"];
    refused("to = \"b\"", "to = \"a\"", "16:1", &words);
}

#[test]
fn a_medium_that_does_not_exist_is_answered_with_what_there_is() {
    let edited = "medium = \"air\"\nrate = \"10 Mb/s\"";
    let words = ["there is no medium `air`", "the scenario has no medium: add one of [[medium]]"];
    refused("rate = \"10 Mb/s\"", edited, "", &words);
}

#[test]
fn a_round_trip_that_is_longer_than_the_first_timeout_is_warned_of() {
    let plan = read(RIGHT, &[]).unwrap();
    assert_eq!(plan.warnings, Vec::<String>::new());
    let plan = read(RIGHT, &["link.left.delay=600 ms"]).unwrap();
    assert_eq!(plan.warnings.len(), 1);
    let words = "flow `users`, path 0: its round trip without queues (1220 ms)";
    assert!(plan.warnings[0].contains(words), "{:?}", plan.warnings);
    let plan = read(RIGHT, &["link.left.delay=600 ms", "transport.rto_initial=3 s"]).unwrap();
    assert_eq!(plan.warnings, Vec::<String>::new());
}
