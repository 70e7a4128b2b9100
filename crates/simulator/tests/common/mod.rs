//! Helpers of the scenario tests.
#![allow(dead_code, reason = "each test file is a crate of its own and uses a part")]

pub(crate) mod kinds;

use network::Queue;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use scenario::{Override, Plan};
use simulator::{Observe, Outcome, Progress, replicate};

/// Packet and payload bytes of the default transport.
pub(crate) const PACKET: f64 = 1500.0;
pub(crate) const PAYLOAD: f64 = 1448.0;

/// The plan of a scenario with overrides.
pub(crate) fn plan(text: &str, overrides: &[&str]) -> Plan {
    let overrides: Vec<Override> =
        overrides.iter().map(|text| text.parse().expect("an override")).collect();
    Plan::read(text, "test.toml", &overrides).unwrap_or_else(|error| panic!("{error}"))
}

/// Gives links with a transmitter, and hosts before media, short queues of every kind in turn,
/// beginning with number `first` of the registry.
pub(crate) fn with_queues(mut plan: Plan, first: usize, limit: u64, ecn: bool) -> Plan {
    let queues = Queue::short(limit, ecn);
    let for_hosts = |queue: &&Queue| queue.fits_host();
    let mut for_hosts = queues.iter().filter(for_hosts).cycle().skip(first);
    let mut for_links = queues.iter().cycle().skip(first);
    for link in
        plan.links.iter_mut().filter(|link| link.rate.is_some() && link.attachments.is_empty())
    {
        link.queue.clone_from(for_links.next().expect("it goes on for ever"));
    }
    for station in plan.media.iter_mut().flat_map(|medium| &mut medium.stations) {
        station.settings.queue.clone_from(for_hosts.next().expect("it goes on for ever"));
    }
    plan
}

/// Values of a proptest strategy, the same at each call.
pub(crate) fn drawn<T: std::fmt::Debug>(
    strategy: impl Strategy<Value = T>,
    count: usize,
) -> impl Iterator<Item = T> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(move |_| {
        let tree = strategy.new_tree(&mut runner).expect("no strategy here rejects");
        tree.current()
    })
}

/// One run without series or events.
pub(crate) fn run(plan: &Plan, seed: u64) -> Outcome {
    simulator::run(plan, seed, Observe::default(), &Progress::default()).expect("nobody stopped it")
}

/// Runs with the seeds from 1 on, on two threads.
pub(crate) fn runs(plan: &Plan, seeds: u64) -> Vec<Outcome> {
    let seeds: Vec<u64> = (1..=seeds).collect();
    replicate(plan, &seeds, Observe::default(), 2, &Progress::default())
}

/// Mean of a measure over runs.
pub(crate) fn mean(outcomes: &[Outcome], figure: impl Fn(&Outcome) -> f64) -> f64 {
    outcomes.iter().map(figure).sum::<f64>() / outcomes.len() as f64
}

/// Goodputs of the flows of a class, averaged over runs; classes are numbered in file order.
pub(crate) fn goodputs(outcomes: &[Outcome], class: u32) -> Vec<f64> {
    let flows = outcomes[0].flows.iter().enumerate().filter(|(_, flow)| flow.class == class);
    flows.map(|(index, _)| mean(outcomes, |outcome| outcome.flows[index].goodput_bps)).collect()
}
