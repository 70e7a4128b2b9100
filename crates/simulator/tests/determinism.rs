//! A run is a function of the plan and the seed only.

mod common;

use common::{plan, run};
use scenario::Plan;
use simulator::{Observe, Outcome, Progress, replicate};

/// Everything that draws random numbers or changes in time.
const BUSY: &str = r#"
name = "busy"
duration = "12 s"
warmup = "2 s"

[[link]]
name = "ap1"
rate = "8 Mb/s"
delay = "20 ms"
queue = { red = { min = "5 packets", max = "20 packets", max_p = 0.1, weight = 0.1, limit = "60 packets" } }

[[link.change]]
at = "6 s"
rate = "3 Mb/s"
delay = "35 ms"

[[link]]
name = "ap2"
rate = "4 Mb/s"
delay = "10 ms"
loss = { probability = 0.01 }

[[link]]
name = "radio"
rate = "5 Mb/s"
delay = "1 ms"
loss = { probability = 0.005 }
per_user = true

[[flow]]
name = "multipath"
count = 3
controller = "olia"
spread = "1 s"

[[flow.path]]
links = ["radio", "ap1"]

[[flow.path]]
links = ["ap2"]
join = "3 s"
leave = "10 s"

[[flow]]
name = "single"
count = 3
spread = "1 s"

[[flow.path]]
links = ["ap2"]
"#;

const SEEDS: [u64; 6] = [1, 2, 3, 4, 5, 6];

fn digests(plan: &Plan, threads: usize) -> Vec<(u64, u64)> {
    let outcomes = replicate(plan, &SEEDS, Observe::default(), threads, &Progress::default());
    outcomes.iter().map(|outcome| (outcome.seed, outcome.digest)).collect()
}

#[test]
fn the_digest_is_the_same_on_one_and_on_two_threads_and_every_time() {
    let plan = plan(BUSY, &[]);
    let once = digests(&plan, 1);
    assert_eq!(once, digests(&plan, 2));
    assert_eq!(once, digests(&plan, 2));
    assert_eq!(once.iter().map(|(seed, _)| *seed).collect::<Vec<_>>(), SEEDS);
}

#[test]
fn another_seed_gives_another_digest() {
    let mut digests: Vec<u64> = digests(&plan(BUSY, &[]), 2).iter().map(|(_, d)| *d).collect();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), SEEDS.len());
}

/// The history of a run, independent of observers.
fn history(outcome: &Outcome) -> (u64, u64, u64, Vec<(f64, f64)>) {
    let rates = outcome.flows.iter().map(|flow| (flow.throughput_bps, flow.goodput_bps)).collect();
    (outcome.digest, outcome.events, outcome.packet_hops, rates)
}

/// The controllers of connections that are paced by rate, whose packets take another way through
/// the world if somebody looks.
const BY_RATE: [&str; 3] = ["tfrc", "bilevel-tfrc", "bilevel-tfrc:pooled"];

#[test]
fn looking_changes_nothing_for_connections_by_rate() {
    for controller in BY_RATE {
        let own = format!("flow.multipath.controller=\"{controller}\"");
        let copies = "link.ap2.duplicate=0.02";
        let plan = plan(BUSY, &[&own, copies, "duration=8 s"]);
        let reference = history(&run(&plan, 7));
        for (series, events) in [(true, None), (false, Some(usize::MAX)), (true, Some(9))] {
            let observe = Observe { series, events };
            let seen = simulator::run(&plan, 7, observe, &Progress::default()).unwrap();
            assert_eq!(history(&seen), reference, "{controller}, {observe:?}");
        }
    }
}

#[test]
fn looking_changes_nothing() {
    let reference = history(&run(&plan(BUSY, &[]), 7));
    for sample in ["sample=1 ms", "sample=13.7 ms", "sample=30 s"] {
        assert_eq!(history(&run(&plan(BUSY, &[sample]), 7)), reference, "{sample}");
    }
    let all = Some(usize::MAX);
    for (series, events) in [(true, None), (false, all), (true, all), (false, Some(1))] {
        let observe = Observe { series, events };
        let plan = plan(BUSY, &["sample=5 ms"]);
        let seen = simulator::run(&plan, 7, observe, &Progress::default()).unwrap();
        assert_eq!(history(&seen), reference, "{observe:?}");
        assert_eq!(seen.series.is_some(), series);
        let log = seen.events_log;
        assert_eq!(log.as_ref().is_some_and(|log| !log.events.is_empty()), events.is_some());
        assert_eq!(log.is_some_and(|log| log.ended.is_some()), events == Some(1));
    }
}

#[test]
fn another_warm_up_changes_what_is_counted_and_not_what_happens() {
    let (short, long) =
        (run(&plan(BUSY, &["warmup=0 s"]), 7), run(&plan(BUSY, &["warmup=5 s"]), 7));
    assert_eq!((short.digest, short.events), (long.digest, long.events));
}

/// A separate link, with its own loss process and flow.
const STRANGERS_LINK: &str = r#"
[[link]]
name = "elsewhere"
rate = "2 Mb/s"
delay = "7 ms"
loss = { probability = 0.03 }
"#;
const STRANGER: &str = r#"
[[flow]]
name = "stranger"
count = 2
spread = "1 s"

[[flow.path]]
links = ["elsewhere"]
"#;

#[test]
fn a_component_that_shares_nothing_disturbs_nobody() {
    let alone = run(&plan(BUSY, &[]), 7);
    let after = run(&plan(&format!("{BUSY}{STRANGERS_LINK}{STRANGER}"), &[]), 7);
    let (links, flows) = (BUSY.find("[[link]]").unwrap(), BUSY.find("[[flow]]").unwrap());
    let before = format!(
        "{}{STRANGERS_LINK}{}{STRANGER}{}",
        &BUSY[..links],
        &BUSY[links..flows],
        &BUSY[flows..]
    );
    let before = run(&plan(&before, &[]), 7);
    // Compared as text, in which a missing value (`NaN`) equals itself.
    let text = |outcome: &Outcome, flows: usize, paths: usize| {
        let (flows, paths) = (&outcome.flows[..flows], &outcome.paths[..paths]);
        format!("{flows:#?}\n{paths:#?}\n{:#?}", &outcome.links[..2])
    };
    let (flows, paths) = (alone.flows.len(), alone.paths.len());
    assert_eq!(text(&after, flows, paths), text(&alone, flows, paths));
    for (own, seen) in alone.flows.iter().zip(&before.flows[2..]) {
        assert_eq!((own.user, own.throughput_bps), (seen.user, seen.throughput_bps));
        assert_eq!((own.goodput_bps, own.start_s), (seen.goodput_bps, seen.start_s));
    }
}
