//! Any text as the file of a trace or of opportunities: ordered times, or an error with its line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scenario::{Plan, with_files};

const SCENARIO: &str = "name = 'x'\nduration = '10 s'\n[[link]]\nname = 'a'\nrate = '1 Mb/s'\n\
    trace = { file = 'f', repeat = '1 s' }\n[[flow]]\nname = 'u'\npath = [{ links = ['a'] }]\n";

const CELL: &str = "name = 'x'\nduration = '10 s'\n[[link]]\nname = 'a'\n\
    opportunities = { file = 'f', start = '1 s' }\n[[flow]]\nname = 'u'\npath = [{ links = ['a'] }]\n";

fuzz_target!(|text: &str| {
    changes(text);
    opportunities(text);
});

fn changes(rows: &str) {
    let Ok(text) = with_files(SCENARIO, "fuzz", &|_| Ok(rows.to_owned())) else {
        return;
    };
    let text = text.expect("the scenario names a file");
    if let Ok(plan) = Plan::read(&text, "fuzz", &[]) {
        let changes = &plan.links[0].changes;
        assert!(changes.windows(2).all(|pair| pair[0].at < pair[1].at));
        assert!(changes.iter().all(|change| change.rate.is_none_or(|rate| rate.0 > 0)));
    }
}

/// A valid file is also valid inside a scenario, and a link accepts it.
fn opportunities(times: &str) {
    let Ok(text) = with_files(CELL, "fuzz", &|_| Ok(times.to_owned())) else {
        return;
    };
    let text = text.expect("the scenario names a file");
    let plan = Plan::read(&text, "fuzz", &[]);
    let plan = plan.expect("its file was checked");
    let own = plan.links[0].opportunities.as_ref().expect("it has some");
    assert!(network::Opportunities::new(own.times_ms.clone(), own.start).is_some());
    assert!(plan.links[0].rate.is_some_and(|rate| rate.0 > 0));
    assert!(plan.links[0].mean_rate_bps(plan.warmup, plan.duration) >= 0.0);
}
