//! Any text as the file of a trace: rows in order, or an error with its line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scenario::{Plan, with_traces};

const SCENARIO: &str = "name = 'x'\nduration = '10 s'\n[[link]]\nname = 'a'\nrate = '1 Mb/s'\n\
    trace = { file = 'f', repeat = '1 s' }\n[[flow]]\nname = 'u'\npath = [{ links = ['a'] }]\n";

fuzz_target!(|rows: &str| {
    let Ok(text) = with_traces(SCENARIO, "fuzz", &|_| Ok(rows.to_owned())) else {
        return;
    };
    let text = text.expect("the scenario names a file");
    if let Ok(plan) = Plan::read(&text, "fuzz", &[], &|_| Ok(scenario::Known::default())) {
        let changes = &plan.links[0].changes;
        assert!(changes.windows(2).all(|pair| pair[0].at < pair[1].at));
        assert!(changes.iter().all(|change| change.rate.is_none_or(|rate| rate.0 > 0)));
    }
});
