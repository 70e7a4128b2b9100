//! Groups under two noq endpoints that talk to each other in virtual time.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod common;

use adapter::Engine;
use anabranch_noq::{Event, Group, replay};
use common::{CLIENT, Link, MTU, Pair, SERVES};
use noq_proto::PathId;
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// Most paths of a connection here.
const PATHS: usize = 8;

fn pair(controller: &str, links: Vec<Link>, seed: u64) -> (Pair, [Arc<Group>; 2]) {
    let groups = [(); 2].map(|()| {
        let spec = controller.parse().unwrap();
        // A path that has moved to another address may stand beside its older self for a while.
        let group = Group::with_paths(&spec, Default::default(), 2 * PATHS).unwrap();
        group.record(1_000_000); // from the first path on
        group
    });
    let factories = groups.clone().map(|group| group as _);
    (Pair::new(links, factories, PATHS as u32, seed), groups)
}

/// What must hold after every event: one slot for each path, beside `older` selves of paths, and
/// two packets in each window.
fn check(pair: &Pair, groups: &[Arc<Group>; 2], older: usize) {
    for (end, group) in groups.iter().enumerate() {
        let Some(connection) = &pair.ends[end].connection else { continue };
        let paths = connection.paths();
        let slots = group.report().len();
        let right = paths.len()..=paths.len() + older;
        assert!(right.contains(&slots), "end {end}: {slots} slots for {paths:?}");
        for path in paths {
            let window = connection.congestion_state(path).unwrap().window();
            assert!(window >= 2 * MTU, "end {end}: {path} has a window of {window}");
        }
    }
}

#[test]
fn two_paths_carry_a_transfer_and_each_has_a_slot() {
    let links = vec![Link::new(1e6, 10), Link::new(1e6, 30)];
    let (mut pair, groups) = pair("lia", links, 1);
    pair.ends[CLIENT].to_send = 4_000_000;
    pair.run(Duration::from_millis(500), |pair| check(pair, &groups, 0));
    assert!(pair.open(1).is_some());
    pair.run(Duration::from_secs(6), |pair| check(pair, &groups, 0));
    assert_eq!(pair.ends[SERVES].received, 4_000_000);
    let report = groups[CLIENT].report();
    assert_eq!(report.len(), 2);
    // Acknowledgements of the slower path may come over the faster one.
    for (path, least) in report.iter().zip([20, 40]) {
        assert!(path.srtt >= Duration::from_millis(least), "{path:?}");
        assert!(path.ssthresh.is_finite(), "no congestion: {path:?}");
    }
}

#[test]
fn what_a_group_did_replays_bit_for_bit_and_a_path_that_is_left_alone_is_reno() {
    for controller in ["lia", "olia", "balia", "lia+hystart", "cubic", "coupled-cubic"] {
        let links = vec![Link::new(5e5, 10), Link::new(5e5, 15)];
        let (mut pair, groups) = pair(controller, links, 3);
        let group = &groups[CLIENT];
        pair.ends[CLIENT].to_send = u64::MAX / 2;
        pair.run(Duration::from_millis(300), |_| {});
        let second = pair.open(1).expect("the server gives numbers for paths");
        pair.run(Duration::from_secs(4), |_| {});
        assert!(pair.close(second));
        pair.run(Duration::from_secs(6), |_| {});
        let (steps, missed) = group.take_steps();
        assert_eq!(missed, 0);
        let (spec, settings) = (group.spec(), group.settings());
        replay(spec, settings, group.paths(), &steps).unwrap();
        let left = steps.iter().position(|step| matches!(step.event, Event::Leave)).unwrap();
        let alone: Vec<_> = steps[left + 1..].iter().filter(|step| step.path == 0).collect();
        let losses = alone.iter().filter(|step| matches!(step.event, Event::Congestion(_)));
        assert!(alone.len() > 1_000 && losses.count() > 2, "{controller}: {}", alone.len());
        if !["lia", "olia", "balia"].contains(&controller) {
            continue; // it is no law whose single path is Reno
        }
        let mut reno = Engine::new(&"reno".parse().unwrap(), settings, 1).unwrap();
        reno.step(0, Event::Join);
        reno.step(0, Event::Restart(alone[0].views[0].unwrap().window));
        for step in alone {
            assert_eq!(reno.step(0, step.event), step.window, "{controller}");
        }
    }
}

#[test]
fn controllers_of_rates_fill_two_paths_and_replay_bit_for_bit() {
    for controller in ["bbr", "bbr:linux", "nice", "best-path", "bilevel"] {
        let links = vec![Link::new(1e6, 20), Link::new(5e5, 30)];
        let (mut pair, groups) = pair(controller, links, 7);
        let group = &groups[CLIENT];
        pair.ends[CLIENT].to_send = u64::MAX / 2;
        pair.run(Duration::from_millis(300), |pair| check(pair, &groups, 0));
        pair.open(1).expect("the server gives numbers for paths");
        pair.run(Duration::from_secs(8), |pair| check(pair, &groups, 0));
        let (steps, missed) = group.take_steps();
        assert_eq!(missed, 0);
        replay(group.spec(), group.settings(), group.paths(), &steps).unwrap();
        // Best-path and bilevel send at the rate of the best path alone.
        let least =
            if controller.starts_with('b') && !controller.contains("bbr") { 5.0 } else { 9.0 };
        let received = pair.ends[SERVES].received as f64 / 1e6;
        assert!(received > least, "{controller}: {received} of 12 MB");
    }
}

#[test]
fn bbr_is_told_the_rate_of_its_link_and_keeps_the_queue_short() {
    let (mut pair, groups) = pair("bbr", vec![Link::new(1e6, 20)], 11);
    pair.links[0].queue = 400_000.0;
    pair.ends[CLIENT].to_send = u64::MAX / 2;
    pair.run(Duration::from_secs(4), |_| {});
    let (steps, _) = groups[CLIENT].take_steps();
    let rates: Vec<f64> = steps
        .iter()
        .filter_map(|step| match step.event {
            Event::Delivered(sample) if sample.now.seconds() > 2.0 => Some(sample.rate.0),
            _ => None,
        })
        .filter(|rate| *rate > 0.0)
        .collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let link = 1e6 / MTU as f64;
    assert!(rates.len() > 500 && (mean / link - 1.0).abs() < 0.05, "{mean} of {link} packets/s");
    // A window of two bandwidth-delay products: NewReno would fill 400 ms.
    let srtt = groups[CLIENT].report()[0].srtt;
    assert!(srtt < Duration::from_millis(100), "{srtt:?}");
}

#[test]
fn a_mark_reduces_the_window_once_each_round_trip() {
    let (mut pair, groups) = pair("reno", vec![Link::new(1e6, 20)], 5);
    pair.links[0].marks = true;
    pair.ends[CLIENT].to_send = u64::MAX / 2;
    pair.run(Duration::from_secs(5), |_| {});
    let (steps, _) = groups[CLIENT].take_steps();
    let marks = steps.iter().filter(|step| matches!(step.event, Event::Congestion(_))).count();
    // A sawtooth of a link of 40 packets and a queue of 21 to 42 has a period of over a second.
    assert!((2..=12).contains(&marks), "{marks} reductions");
    assert!(!pair.ends[SERVES].lost);
}

#[test]
fn a_path_that_a_nat_moves_keeps_its_slot_and_its_window() {
    let (mut pair, groups) = pair("olia", vec![Link::new(1e6, 20)], 9);
    pair.ends[CLIENT].to_send = 1 << 40;
    pair.ends[SERVES].to_send = 1 << 40;
    pair.run(Duration::from_secs(2), |pair| check(pair, &groups, 0));
    let before = groups[SERVES].windows()[0].1.cwnd;
    pair.rebind(0, false);
    let mut least = f64::INFINITY;
    pair.run(Duration::from_millis(30), |pair| {
        check(pair, &groups, 0);
        least = least.min(groups[SERVES].windows()[0].1.cwnd);
    });
    assert!(least > before * 0.4, "{before} became {least}");
    let moved = pair.connection(SERVES).network_path(PathId::ZERO).unwrap().remote();
    assert_eq!(moved.port(), 1001);
    pair.run(Duration::from_secs(2), |pair| check(pair, &groups, 0));
    assert!(!pair.ends[CLIENT].lost && !pair.ends[SERVES].lost);
}

#[test]
fn eight_paths_fill_their_links_and_each_leaves_its_slot() {
    let links = (0..8).map(|link| Link::new(2e5, 5 + 3 * link)).collect();
    let (mut pair, groups) = pair("olia", links, 11);
    pair.ends[CLIENT].to_send = 1 << 40;
    pair.run(Duration::from_millis(200), |pair| check(pair, &groups, 0));
    for link in 1..8 {
        assert!(pair.open(link).is_some(), "no path over link {link}");
        pair.run(Duration::from_millis(200), |pair| check(pair, &groups, 0));
    }
    let before = pair.ends[SERVES].received;
    pair.run(Duration::from_secs(10), |pair| check(pair, &groups, 0));
    let rate = (pair.ends[SERVES].received - before) as f64 / 10.0;
    assert!(rate > 0.75 * 8.0 * 2e5, "{rate} B/s");
    assert_eq!(groups[CLIENT].report().len(), 8);
    for path in pair.connection(CLIENT).paths().into_iter().skip(1) {
        assert!(pair.close(path));
    }
    pair.run(Duration::from_secs(8), |pair| check(pair, &groups, 0));
    assert_eq!(groups.map(|group| group.report().len()), [1, 1]);
}

/// What may happen to a connection.
#[derive(Clone, Debug)]
enum Act {
    Open(usize),
    /// The client gives up the path of this number among its paths.
    Close(usize),
    Rebind(usize, bool),
    Loss(usize, f64),
    /// Nothing passes on the link, or it does again.
    Rate(usize, bool),
    Wait(u64),
}

fn act() -> impl Strategy<Value = Act> {
    let link = 0..PATHS;
    prop_oneof![
        3 => link.clone().prop_map(Act::Open),
        2 => link.clone().prop_map(Act::Close),
        2 => (link.clone(), any::<bool>()).prop_map(|(link, other)| Act::Rebind(link, other)),
        1 => (link.clone(), 0.0..0.3).prop_map(|(link, loss)| Act::Loss(link, loss)),
        1 => (link, any::<bool>()).prop_map(|(link, up)| Act::Rate(link, up)),
        3 => (1_u64..800).prop_map(Act::Wait),
    ]
}

fn do_it(pair: &mut Pair, act: &Act) {
    match *act {
        Act::Open(link) => {
            pair.open(link);
        }
        Act::Close(number) => {
            let paths = pair.connection(CLIENT).paths();
            pair.close(paths[number % paths.len()]);
        }
        Act::Rebind(link, address) => pair.rebind(link, address),
        Act::Loss(link, loss) => pair.links[link].loss = loss,
        Act::Rate(link, up) => pair.links[link].rate = if up { 3e5 } else { 0.0 },
        Act::Wait(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn paths_that_come_go_and_move_hold_one_slot_each_and_two_packets_at_least(
        acts in prop::collection::vec(act(), 1..40),
        law in 0_usize..4,
        seed in any::<u64>(),
    ) {
        let links = (0..PATHS as u64).map(|link| Link::new(3e5, 5 + 7 * link)).collect();
        let (mut pair, groups) = pair(["lia", "olia", "balia", "coupled-cubic"][law], links, seed);
        pair.ends[CLIENT].to_send = 1 << 40;
        pair.ends[SERVES].to_send = 1 << 40;
        pair.run(Duration::from_millis(300), |pair| check(pair, &groups, 0));
        let mut older = 0; // only a move to another address makes a second slot
        for act in &acts {
            if pair.ends.iter().any(|end| end.lost) {
                break; // the last path was given up
            }
            older += if matches!(act, Act::Rebind(_, true)) { PATHS } else { 0 };
            do_it(&mut pair, act);
            let time = if let Act::Wait(time) = act { *time } else { 20 };
            pair.run(Duration::from_millis(time), |pair| check(pair, &groups, older));
        }
        for group in &groups {
            let (steps, missed) = group.take_steps();
            prop_assert_eq!(missed, 0);
            replay(group.spec(), group.settings(), group.paths(), &steps).unwrap();
        }
        let Pair { ends, .. } = pair;
        drop(ends);
        for group in &groups {
            prop_assert_eq!(group.report(), []);
        }
    }
}

#[test]
fn every_controller_of_noq_has_a_factory_with_the_initial_window_that_is_asked_for() {
    for name in adapter::NOQ_NAMES {
        let spec = format!("noq:{name}").parse().unwrap();
        let settings = anabranch_noq::Settings { initial_window: 20.0, ..Default::default() };
        let made = anabranch_noq::factory(&spec, settings, 2, 1000).unwrap();
        assert_eq!(made.build(common::start(), 1000).initial_window(), 20_000, "{name}");
    }
}
