//! Errors of scenarios: each says what is wrong, where, and what would be right; and the reader
//! never panics, whatever the text.

mod common;

use common::{RIGHT, read, refused};
use proptest::prelude::*;
use units::{Bytes, Rate, Span};

#[test]
fn the_scenario_that_all_others_are_made_from_is_right() {
    read(RIGHT, &[]).unwrap();
}

#[test]
fn an_unknown_key_is_answered_with_the_keys_that_exist() {
    refused("warmup = ", "warm_up = ", "3:1", &["there is no key `warm_up`", "`warmup`"]);
    refused("rate = ", "speed = ", "11:1", &["there is no key `speed`", "`rate`", "`delay`"]);
    refused("join = ", "joins = ", "43:1", &["there is no key `joins`", "`join`", "`leave`"]);
    refused("max_p = ", "maxp = ", "22:58", &["there is no key `maxp`", "`max_p`"]);
    refused(
        "droptail = ",
        "fifo = ",
        "13:11",
        &["queue has no kind `fifo`", "`droptail`", "`red`"],
    );
    refused("rto_min = ", "rto = ", "7:1", &["there is no key `rto`", "`rto_min`"]);
}

#[test]
fn a_missing_key_is_named() {
    refused("duration = \"10 s\"\n", "", "1:1", &["the key `duration` is missing"]);
    refused("limit = \"40 packets\"", "", "", &["missing", "limit"]);
}

#[test]
fn a_missing_unit_is_answered_with_a_value_that_has_one() {
    refused("\"10 Mb/s\"", "\"10\"", "11:8", &["`10` is not a rate", "unit is missing", "10 Mb/s"]);
    refused("\"10 Mb/s\"", "10", "11:8", &["whole number 10", "rate with its unit", "10 Mb/s"]);
    refused("\"10 Mb/s\"", "1.5", "11:8", &["1.5", "rate with its unit", "10 Mb/s"]);
    refused("\"20 ms\"", "20", "12:9", &["whole number 20", "time with its unit", "40 ms"]);
    refused("\"10 s\"", "\"10\"", "2:12", &["`10` is not a time", "unit is missing", "40 ms"]);
    refused(
        "\"50 packets\"",
        "50",
        "13:34",
        &["whole number 50", "number of packets", "200 packets"],
    );
}

#[test]
fn a_wrong_unit_is_answered_with_the_units_that_exist() {
    refused("\"10 Mb/s\"", "\"10 ms\"", "11:8", &["`10 ms` is not a rate", "`ms`", "Mb/s"]);
    refused("\"10 Mb/s\"", "\"10 MB/s\"", "11:8", &["`10 MB/s` is not a rate", "`MB/s`", "Mb/s"]);
    refused("\"20 ms\"", "\"20 Mb/s\"", "12:9", &["`20 Mb/s` is not a time", "ms", "40 ms"]);
    refused("\"50 packets\"", "\"50 B\"", "13:34", &["`50 B` is not a number of packets"]);
}

#[test]
fn a_rate_of_zero_or_below_is_refused() {
    refused("\"10 Mb/s\"", "\"0 Mb/s\"", "11:8", &["`0 Mb/s` is not a rate", "it is zero"]);
    refused("\"10 Mb/s\"", "\"-1 Mb/s\"", "11:8", &["`-1 Mb/s` is not a rate", "it is negative"]);
    refused("\"10 Mb/s\"", "\"0.1 b/s\"", "11:8", &["less than one of its smallest unit"]);
    refused("\"10 Mb/s\"", "\"9e9 Gb/s\"", "11:8", &["is not a rate"]);
    refused("\"20 ms\"", "\"-20 ms\"", "12:9", &["`-20 ms` is not a time", "it is negative"]);
}

#[test]
fn a_link_that_does_not_exist_is_answered_with_those_that_do() {
    let words = ["flow `users`", "no link `up`", "the links are `left` and `right`"];
    refused("\"left\", \"right\"]", "\"left\", \"up\"]", "38:18", &words);
    let back = "join = \"1 s\"\nback = [\"up\"]";
    refused("join = \"1 s\"", back, "44:9", &words);
}

#[test]
fn a_gap_between_nodes_is_shown_with_both_of_its_sides() {
    let words = ["flow `users`", "gap", "`right` ends at `c`", "`left` begins at `a`", "help: "];
    refused("[\"left\", \"right\"]", "[\"right\", \"left\"]", "38:19", &words);
}

#[test]
fn a_flow_without_paths_and_a_path_without_links_are_refused() {
    let paths = &RIGHT[RIGHT.find("[[flow.path]]").unwrap()..];
    refused(paths, "", "30:1", &["flow `users`", "no path", "[[flow.path]]"]);
    refused("[\"right\"]", "[]", "42:1", &["flow `users`", "`links` of a path is empty"]);
    let back = "join = \"1 s\"\nback = []";
    refused("join = \"1 s\"", back, "44:1", &["flow `users`", "`back` of a path is empty"]);
    let flows = &RIGHT[RIGHT.find("[[flow]]").unwrap()..];
    refused(flows, "", "1:1", &["no [[flow]]", "help: add"]);
}

#[test]
fn an_unknown_controller_is_answered_with_the_name_that_is_near() {
    let words = ["flow `users`", "controller", "`lai`", "did you mean `lia`", "list controllers"];
    refused("\"lia\"", "\"lai\"", "33:14", &words);
}

#[test]
fn two_things_of_one_name_are_refused_at_the_second() {
    let words = ["two links are called `left`", "another name"];
    refused("name = \"right\"", "name = \"left\"", "19:8", &words);
    let twice = "[[flow]]\nname = \"users\"\n[[flow.path]]\nlinks = [\"left\"]\n\n[[flow]]";
    refused("[[flow]]", twice, "36:8", &["two flows are called `users`", "another name"]);
    refused("name = \"left\"", "name = \"le.ft\"", "10:8", &["`le.ft`", "no dot"]);
    refused("name = \"left\"", "name = \"\"", "10:8", &["``", "not empty"]);
}

#[test]
fn times_that_make_no_sense_together_are_refused() {
    let words = ["warmup (12 s)", "the end of the run (10 s)", "shorten `warmup`"];
    refused("warmup = \"2 s\"", "warmup = \"12 s\"", "3:1", &words);
    refused("warmup = \"2 s\"", "warmup = \"10 s\"", "3:1", &["warmup (10 s)", "shorten"]);
    refused(
        "duration = \"10 s\"",
        "duration = \"0 s\"",
        "2:1",
        &["duration is 0 s", "above zero", "60 s"],
    );
    refused(
        "warmup = \"2 s\"",
        "sample = \"0 s\"",
        "3:1",
        &["sample is 0 s", "above zero", "100 ms"],
    );
    refused(
        "start = \"0 s\"",
        "start = \"20 s\"",
        "34:1",
        &["flow `users`", "may start at 21 s", "ends at 10 s"],
    );
    refused(
        "join = \"1 s\"",
        "join = \"2 s\"\nleave = \"1 s\"",
        "44:1",
        &["leaves at 1 s and joins at 2 s"],
    );
}

#[test]
fn an_empty_file_and_one_that_is_no_text_are_refused() {
    for text in ["", " \n\t\n"] {
        let error = read(text, &[]).unwrap_err();
        assert!(error.contains("probe.toml is empty"), "{error}");
        assert!(error.contains("`duration`"), "{error}");
    }
    for text in
        ["\0\0\0\0", "\u{7f}ELF\u{2}\u{1}\u{1}\0\0", "PNG\r\n\u{1a}\n\0\0\0\rIHDR", "{}", "[["]
    {
        let error = read(text, &[]).unwrap_err();
        assert!(error.contains("--> probe.toml:1:"), "{text:?}: {error}");
    }
}

#[test]
fn red_thresholds_out_of_order_and_weights_out_of_range_are_refused() {
    let max = ["link `right`", "queue.red.max", "4", "not above min", "help: min is below max"];
    refused("max = \"15 packets\"", "max = \"4 packets\"", "22:38", &max);
    refused("max = \"15 packets\"", "max = \"5 packets\"", "22:38", &["queue.red.max"]);
    for value in ["0.0", "1.5", "-0.1", "nan"] {
        let edited = format!("max_p = {value}");
        refused(
            "max_p = 0.1",
            &edited,
            "22:58",
            &["link `right`", "queue.red.max_p is", "above 0"],
        );
        let edited = format!("max_p = 0.1, weight = {value}");
        refused(
            "max_p = 0.1",
            &edited,
            "22:71",
            &["link `right`", "queue.red.weight is", "above 0"],
        );
    }
    refused("\"40 packets\"", "\"0 packets\"", "22:71", &["queue.red.limit is 0", "1 packet"]);
    refused(
        "\"40 packets\"",
        "\"4 packets\"",
        "22:71",
        &["queue.red.limit is 4", "at least `min`"],
    );
}

#[test]
fn a_probability_out_of_range_is_refused() {
    for value in ["-0.1", "1.1", "nan", "inf"] {
        let edited = format!("probability = {value}");
        let words = ["link `left`", "loss.probability is", "from 0 to 1"];
        refused("probability = 0.01", &edited, "14:10", &words);
        let edited = format!("loss = {value}");
        let words = ["link `right`", "change.0.loss is", "from 0 to 1"];
        refused("loss = 0.5", &edited, "28:1", &words);
    }
}

#[test]
fn faults_of_a_link_that_cannot_be_are_refused() {
    for (edited, words) in [
        ("probability = 0.1, burst = 0.5", ["loss.burst is 0.5", "at least 1 packet"]),
        ("probability = 0.9, burst = 2.0", ["loss.burst is 2", "share / (1 - share)"]),
        ("probability = 0.6, burst = 2.0, bad = 0.5", ["loss.probability is 0.6", "below `bad`"]),
        ("probability = 0.1, burst = 2.0, good = 0.2", ["loss.probability is 0.1", "`good`"]),
        ("probability = 0.1, bad = 0.2", ["no `burst`", "mean length of a `burst`"]),
        ("probability = 0.1, bad = 1.2", ["loss.bad is 1.2", "from 0 to 1"]),
    ] {
        refused("probability = 0.01", edited, "", &["link `left`", words[0], words[1]]);
    }
    for (edited, words) in [
        (
            "reorder = { probability = 2.0, delay = \"1 ms\" }",
            ["reorder.probability is 2", "0 to 1"],
        ),
        ("duplicate = -0.5", ["duplicate is -0.5", "from 0 to 1"]),
    ] {
        let edited = format!("loss = {{ probability = 0.01 }}\n{edited}");
        refused("loss = { probability = 0.01 }", &edited, "", &["link `left`", words[0], words[1]]);
    }
}

#[test]
fn parameters_of_the_disciplines_that_cannot_be_are_refused() {
    for (edited, words) in [
        ("pie = { update = \"0 s\" }", ["queue.pie.update is 0", "at least 1 ms"]),
        ("pie = { alpha = -1.0 }", ["queue.pie.alpha is -1", "not below 0"]),
        ("pie = { limit = \"0 packets\" }", ["queue.pie.limit is 0", "at least 1 packet"]),
        ("codel = { interval = \"0 s\" }", ["queue.codel.interval is 0", "above zero"]),
        ("codel = { limit = \"0 packets\" }", ["queue.codel.limit is 0", "at least 1 packet"]),
        ("fq-codel = { queues = 0 }", ["queue.fq-codel.queues is 0", "from 1 to"]),
        ("fq-codel = { quantum = \"0 B\" }", ["queue.fq-codel.quantum is 0", "from 1 B"]),
        (
            "random = { threshold = \"9 packets\", limit = \"8 packets\" }",
            ["queue.random.threshold is 9", "at most `limit`"],
        ),
        ("fq-codel = { targte = \"5 ms\" }", ["there is no key `targte`", "`target`"]),
    ] {
        let right = "droptail = { packets = \"50 packets\" }";
        refused(right, edited, "", &[words[0], words[1]]);
    }
}

#[test]
fn a_queue_that_cannot_be_is_refused() {
    refused(
        "packets = \"50 packets\"",
        "",
        "13:11",
        &["link `left`", "without a limit", "unlimited"],
    );
    refused("rate = \"10 Mb/s\"\n", "", "12:1", &["link `left`", "queue", "no rate"]);
}

#[test]
fn flows_that_cannot_be_are_refused() {
    for count in ["-1", "4294967296"] {
        let what = format!("flow `users`: count is the whole number {count}");
        let right = "it is a whole number from 0 to 4294967295";
        refused("count = 3", &format!("count = {count}"), "32:9", &[&what, right]);
    }
    refused("count = 3", "transfer = \"0 B\"", "32:1", &["transfer is 0 B", "leave it out"]);
    refused("count = 3", "count = 0", "30:1", &["no flow has a user", "`count` of 1"]);
    let unfair = "fair = { margin = 1.5 }";
    refused("count = 3", unfair, "32:10", &["fair.margin is 1.5", "from 0 to 1"]);
    refused("count = 3", "count = 3\nfair = {}", "33:1", &["not a single user", "count = 1"]);
    refused("count = 3", "fair = { definition = \"nice\" }", "32:23", &["nice", "stringent"]);
    refused("count = 3", "base = 2", "32:1", &["base is path 2", "its paths are 0 to 1"]);
    refused("count = 3", "base = -1", "32:8", &["-1"]);
    let striped = "striped = true\nbase = 1";
    refused("count = 3", striped, "33:1", &["base is path 1", "one path, which is path 0"]);
    let both = "transfer = \"1 MB\"\napp_rate = \"1 Mb/s\"";
    refused("count = 3", both, "32:1", &["`transfer`", "`app_rate`", "choose one"]);
}

#[test]
fn traffic_that_cannot_be_is_refused() {
    for (edited, words) in [
        ("arrivals = -1.0", ["arrivals is -1", "above 0"]),
        ("count = 2\narrivals = 1.0", ["`arrivals` is set, and so is", "how many users come"]),
        ("sizes = \"exponential\"", ["`sizes` is set without", "mean as `transfer`"]),
        ("transfer = \"1 MB\"\nsizes = { pareto = 1.0 }", ["sizes.pareto is 1", "above 1"]),
        ("transfer = \"1 MB\"\nsizes = { lognormal = 0.0 }", ["sizes.lognormal is 0", "above 0"]),
        ("pauses = { on = \"1 s\", off = \"1 s\" }", ["`pauses` is set without", "as `app_rate`"]),
        (
            "app_rate = \"1 Mb/s\"\npauses = { on = \"1 s\", off = \"1 us\" }",
            ["pauses.off is 1 us", "at least 1 ms"],
        ),
        ("protocol = \"udp\"", ["it is UDP, and has no", "rate at which it sends"]),
        ("protocol = \"udp\"\napp_rate = \"1 Mb/s\"", ["it is UDP, and has several", "one path"]),
    ] {
        let text = format!("spread = \"0 s\"\n{edited}");
        let text = RIGHT.replacen("spread = \"1 s\"", &text, 1).replacen("count = 3", "", 1);
        let error = read(&text, &[]).map(|_| ()).expect_err(edited);
        for word in ["flow `users`", words[0], words[1]] {
            assert!(error.contains(word), "`{word}` is missing:\n{error}");
        }
    }
}

#[test]
fn transport_options_that_need_another_one_are_refused_without_it() {
    for option in ["rack", "tlp", "dsack", "frto"] {
        let edited = format!("sack = false\n{option} = true");
        let whose = format!("transport.{option} is true without sack");
        refused("initial_window = 4.0", &edited, "7:1", &[&whose, "it needs SACK"]);
    }
    let words = ["transport.penalise is true without opportunistic", "opportunistic = true"];
    refused("initial_window = 4.0", "penalise = true", "6:1", &words);
}

#[test]
fn transport_options_that_cannot_be_are_refused() {
    let whose = "the scenario: transport.";
    for (edited, words) in [
        ("packet = \"0 B\"", ["packet is 0 ", "1 to 65535 bytes"]),
        ("packet = \"70000 B\"", ["packet is 70 kB", "1 to 65535 bytes"]),
        ("payload = \"1500 B\"", ["payload is 1500 B", "room for headers"]),
        ("payload = \"0 B\"", ["payload is 0 ", "above 0 B"]),
        ("initial_window = 0.5", ["initial_window is 0.5", "at least 1 segment"]),
        ("min_window = nan", ["min_window is NaN", "at least 1 segment"]),
        ("min_window = 20", ["min_window is 20", "at most `initial_window`"]),
        ("receive_buffer = \"1 kB\"", ["receive_buffer is 1 kB", "one payload must fit"]),
    ] {
        refused("initial_window = 4.0", edited, "6:1", &[whose, words[0], words[1]]);
    }
    let words = ["transport.rto_min is 200 s", "at most rto_max"];
    refused("rto_min = \"200 ms\"", "rto_min = \"200 s\"", "7:1", &words);
    for field in ["rto_min", "rto_max", "rto_initial"] {
        let edited = format!("{field} = \"0 s\"");
        refused("rto_min = \"200 ms\"", &edited, "7:1", &[field, "above zero"]);
    }
}

/// A flow's options override the scenario's: the result is checked.
#[test]
fn transport_options_are_judged_as_the_flow_will_have_them() {
    let edit = |general: &str, own: &str| {
        let general = RIGHT.replacen("initial_window = 4.0", general, 1);
        general.replacen("count = 3", &format!("transport = {{ {own} }}"), 1)
    };
    let error =
        read(&edit("packet = \"1000 B\"\npayload = \"900 B\"", "payload = \"1400 B\""), &[]);
    let error = error.map(|_| ()).expect_err("a payload larger than its packet was accepted");
    assert!(error.contains("flow `users`") && error.contains("payload is 1400 B"), "{error}");

    let error = read(&edit("payload = \"1400 B\"", "receive_buffer = \"1300 B\""), &[]);
    assert!(error.is_err(), "a receive buffer smaller than a payload was accepted");
    let error = read(&edit("rto_max = \"2 s\"", "rto_min = \"3 s\""), &[]);
    assert!(error.is_err(), "a smallest timeout above the largest was accepted");

    let plan = read(&edit("packet = \"9000 B\"", "payload = \"8900 B\""), &[]).unwrap();
    let options = &plan.classes[0].transport;
    assert_eq!((options.packet, options.payload), (Bytes(9000), Bytes(8900)));
}

#[test]
fn a_path_without_a_rate_and_a_delay_is_refused_as_it_would_stand_still_in_time() {
    let text = |link: &str| {
        format!(
            "name = \"x\"\nduration = \"1 s\"\n[[link]]\nname = \"a\"\n{link}\n[[flow]]\nname = \"f\"\n\
             [[flow.path]]\nlinks = [\"a\"]\n"
        )
    };
    let changes = "delay = \"1 ms\"\nchange = [{ at = \"500 ms\", delay = \"0 s\" }]";
    for link in ["", "delay = \"0 s\"", changes] {
        let error = read(&text(link), &[]).map(|_| ()).expect_err(link);
        assert!(error.contains("has a rate, or a delay") && error.contains("help"), "{error}");
    }
    for link in ["rate = \"1 Mb/s\"", "delay = \"1 ms\""] {
        read(&text(link), &[]).unwrap();
    }
}

#[test]
fn what_is_wrong_in_an_override_is_not_looked_for_in_the_file() {
    for (change, words) in [
        (
            "flow.users.count=-2",
            "override `flow.users.count=-2`: flow `users`: count is the whole number -2",
        ),
        ("transport.sack=maybe", "override `transport.sack=maybe`: transport.sack is the text"),
        ("warmup=20 s", "override `warmup=20 s`: warmup (20 s)"),
        ("flow.users.count=20000000", "override `flow.users.count=20000000`: the flows have"),
    ] {
        let error = read(RIGHT, &[change]).map(|_| ()).expect_err(change);
        assert!(error.contains(words) && !error.contains("-->"), "{error}");
    }
}

#[test]
fn of_two_overrides_of_a_key_the_last_one_counts_and_is_named() {
    let error = read(RIGHT, &["warmup=1 s", "warmup=20 s"]).map(|_| ()).unwrap_err();
    assert!(error.contains("override `warmup=20 s`"), "{error}");
    // An error caused by an override is shown in the text that includes it.
    let error = read(RIGHT, &["transport.packet=\"1000 B\""]).map(|_| ()).unwrap_err();
    assert!(error.contains("probe.toml with overrides:"), "{error}");
}

#[test]
fn overrides_that_lead_nowhere_are_refused() {
    for (change, words) in [
        ("link.up.rate=1 Mb/s", ["`link.up.rate`", "`up`", "`left` and `right`"]),
        ("link.7.rate=1 Mb/s", ["`link.7.rate`", "`7`", "`left` and `right`"]),
        ("name.first=x", ["`name.first`", "`first`", "a value, not a table"]),
        ("link.left=1", ["nothing can be set at `left`", "an entry", "link.left.KEY=VALUE"]),
        ("link.up=1", ["nothing can be set at `up`", "the entries are", "`left` and `right`"]),
        ("duration.x.y=1", ["`duration.x.y`", "`x`", "a value, not a table"]),
        ("link=1", ["link is the whole number 1", "a list of tables", "[[link]]"]),
        ("speed=1", ["there is no key `speed`", "speed", "`duration`"]),
        ("link.left.rate=quick", ["`quick` is not a rate", "begin with a number", "10 Mb/s"]),
        ("no-equals", ["`no-equals` is not an override", "key=value", "link."]),
        ("=1", ["`=1` is not an override", "key=value", "link."]),
    ] {
        let error = read(RIGHT, &[change]).map(|_| ()).expect_err(change);
        println!("{error}\n");
        for word in words {
            assert!(error.contains(word), "{change}: `{word}` is missing:\n{error}");
        }
    }
}

#[test]
fn an_override_that_leads_too_deep_is_refused_before_tables_are_made() {
    let error = read(RIGHT, &[&format!("a{}=1", ".a".repeat(100_000))]).unwrap_err();
    assert!(error.starts_with("the key of an override has 100001 parts"), "{error}");
}

#[test]
fn overrides_lead_into_lists_that_are_written_inline() {
    let text = "name = \"x\"\nduration = \"9 s\"\nlink = [{ name = \"l\", rate = \"1 Mb/s\" }]\n\
                flow = [{ name = \"f\", path = [{ links = [\"l\"] }, { links = [\"l\"] }] }]\n";
    let changes = ["link.l.rate=2 Mb/s", "flow.f.count=3", "flow.0.path.1.join=1 s"];
    let plan = read(text, &changes).unwrap();
    assert_eq!(plan.links[0].rate, Some(Rate(2_000_000)));
    let class = &plan.classes[0];
    assert_eq!((class.count, class.paths[1].join), (3, Span::millis(1000)));
    let error = read(text, &["flow.nobody.count=3"]).unwrap_err();
    assert!(error.contains("the entries are"), "{error}");
}

#[test]
fn overrides_that_lead_somewhere_are_taken() {
    let changes = ["link.left.rate=1 Mb/s", "flow.0.path.1.join=\"3 s\"", "warmup=0.5 s"];
    let plan = read(RIGHT, &changes).unwrap();
    assert_eq!(plan.links[0].rate, Some("1 Mb/s".parse().unwrap()));
    assert_eq!(plan.classes[0].paths[1].join, "3 s".parse().unwrap());
    assert_eq!(plan.warmup, "500 ms".parse().unwrap());
}

#[test]
fn overrides_find_links_and_flows_however_their_names_are_written() {
    let plan = read(RIGHT, &["link.LEFT.rate=1 Mb/s", "flow.Users.count=7"]).unwrap();
    assert_eq!((plan.links[0].rate, plan.classes[0].count), (Some(Rate(1_000_000)), 7));
    let error = read(RIGHT, &["flow.USERS.count=-2"]).map(|_| ()).unwrap_err();
    assert!(error.starts_with("override `flow.USERS.count=-2`: flow `users`"), "{error}");
}

/// A piece of a scenario, or noise.
fn piece() -> impl Strategy<Value = String> {
    let words = [
        "[[link]]",
        "[[flow]]",
        "[[flow.path]]",
        "[transport]",
        "name = \"left\"",
        "rate = ",
        "= ",
        "\"10 Mb/s\"",
        "\"-1e308 s\"",
        "\"ten years\"",
        "1e400",
        "nan",
        "[\"left\"]",
        "{ red = {} }",
        "\"é\u{1F600}\"",
        "'''",
        "\"\"\"",
        "\n",
        ".",
        "#",
        "\0",
        "\u{feff}",
        "\r",
        "count = 4294967295",
        "delay = \"315360000 s\"",
        "18446744073709551616",
        "1979-05-27T07:32:00Z",
    ];
    prop_oneof![
        4 => prop::sample::select(words.to_vec()).prop_map(str::to_owned),
        1 => "\\PC{0,6}",
    ]
}

/// The valid scenario with a part of its text replaced.
fn mutated() -> impl Strategy<Value = String> {
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0_usize..20, piece()), 1..6);
    edits.prop_map(|edits| {
        let mut text: Vec<char> = RIGHT.chars().collect();
        for (at, length, piece) in edits {
            let begin = at.index(text.len() + 1);
            let end = (begin + length).min(text.len());
            text.splice(begin..end, piece.chars());
        }
        text.into_iter().collect()
    })
}

/// The valid scenario with one value replaced: it still parses as TOML, so that the checks run.
fn revalued() -> impl Strategy<Value = String> {
    let lines: Vec<&str> = RIGHT.lines().collect();
    let value = prop_oneof![
        any::<f64>().prop_map(|value| format!("{value:?}")),
        any::<i64>().prop_map(|value| value.to_string()),
        ("[0-9.]{1,6}", "(s|ms|ns|Mb/s|B|packets|GiB)")
            .prop_map(|(n, unit)| format!("\"{n} {unit}\"")),
        Just("\"315360000 s\"".to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
    ];
    (0..lines.len(), value).prop_map(move |(number, value)| {
        let edit = |(line, text): (usize, &&str)| match text.split_once(" = ") {
            Some((key, _)) if line == number => format!("{key} = {value}\n"),
            _ => format!("{text}\n"),
        };
        lines.iter().enumerate().map(edit).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_text_makes_the_reader_panic(text in prop_oneof!["\\PC*", "(?s).{0,80}"]) {
        prop_assert!(read(&text, &[]).is_err());
    }

    #[test]
    fn no_mutation_of_a_scenario_makes_the_reader_panic(text in mutated()) {
        if let Err(error) = read(&text, &[]) {
            prop_assert!(!error.trim().is_empty());
        }
    }

    #[test]
    fn no_value_of_a_scenario_makes_the_reader_panic(text in revalued()) {
        if let Err(error) = read(&text, &[]) {
            prop_assert!(!error.trim().is_empty());
        }
    }

    #[test]
    fn no_override_makes_the_reader_panic(key in "[a-z0-9.]{0,12}|link\\.(left|0)\\.[a-z.]{1,9}", value in "\\PC{0,12}") {
        let _ = read(RIGHT, &[&format!("{key}={value}")]);
    }
}

#[test]
fn coding_that_cannot_be_is_refused_and_coding_that_is_too_weak_is_warned_of() {
    let coded = |coding: &str| format!("join = \"1 s\"\ncoding = {coding}");
    let at_most = ["redundancy is 0.9", "at least 1/(1 − p)", "at most 10"];
    refused("join = \"1 s\"", &coded("{ redundancy = 0.9 }"), "44:12", &at_most);
    refused("join = \"1 s\"", &coded("{ redundancy = 1e9 }"), "44:12", &["at most 10"]);
    let window = ["coding.window is 0", "1 to 255"];
    refused("join = \"1 s\"", &coded("{ redundancy = 1.1, window = 0 }"), "44:30", &window);
    let weak = RIGHT.replace("join = \"1 s\"", &coded("{ redundancy = 1.1 }"));
    let plan = read(&weak, &["link.right.loss.probability=0.2"]).unwrap();
    assert!(plan.warnings[0].contains("below 1/(1 − 0.200) = 1.250"), "{:?}", plan.warnings);
    assert!(read(&weak, &["link.right.loss.probability=0.09"]).unwrap().warnings.is_empty());
    let reports = read(&weak, &["flow.users.controller=tfrc"]).unwrap_err();
    assert!(reports.contains("needs reports from the receiver, but a path is coded"), "{reports}");
    let modern = read(&weak, &["transport.rack=true"]).unwrap_err();
    assert!(modern.contains("transport.rack is on"), "{modern}");
}
