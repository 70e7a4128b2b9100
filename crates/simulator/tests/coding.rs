//! Coded paths in a network: losses hidden from TCP, the cost of coding, and conservation of all
//! bytes.

mod common;

use common::{mean, plan, run, runs};
use control::ControllerSpec;
use proptest::prelude::*;

/// One flow over a line of 2 Mb/s and 40 ms with 5 % of loss; `coding` is a key of its path.
fn lossy(controller: &str, coding: &str, seconds: u32) -> String {
    format!(
        "name = \"lossy\"\nduration = \"{seconds} s\"\nwarmup = \"5 s\"\n\
         [[link]]\nname = \"l\"\nrate = \"2 Mb/s\"\ndelay = \"20 ms\"\n\
         queue = {{ droptail = {{ packets = \"30 packets\" }} }}\nloss = {{ probability = 0.05 }}\n\
         [[flow]]\nname = \"f\"\ncontroller = \"{controller}\"\npath = [{{ links = [\"l\"]{coding} }}]\n"
    )
}

#[test]
fn coding_hides_noise_from_tcp_which_then_fills_the_line() {
    let plain = runs(&plan(&lossy("reno", "", 100), &[]), 3);
    let coded = ", coding = { redundancy = 1.2, window = 16 }";
    let coded = runs(&plan(&lossy("reno", coded, 100), &[]), 3);
    let goodput = |outcomes: &[simulator::Outcome]| mean(outcomes, |one| one.flows[0].goodput_bps);
    // Every arrival can be innovative: redundancy replaces losses of the line and of the queue.
    let most = 2e6 * 1448.0 / 1512.0 * 0.95;
    assert!(goodput(&coded) < most, "{} of {most}", goodput(&coded));
    assert!(goodput(&coded) > 0.95 * most, "{} of {most}", goodput(&coded));
    // Mathis et al. 1997: (MSS/RTT) sqrt(1.5/p), here with the least round trip.
    let square_root = 1448.0 * 8.0 / 0.046 * (1.5_f64 / 0.05).sqrt();
    assert!(goodput(&plain) < square_root, "{} of {square_root}", goodput(&plain));
    assert!(goodput(&coded) > 1.5 * goodput(&plain), "{}", goodput(&plain));
}

#[test]
fn where_nothing_is_lost_all_beyond_the_segments_is_redundant() {
    let text = lossy("reno", ", coding = { redundancy = 1.25, window = 8 }", 60);
    let outcome = run(&plan(&text, &["link.l.loss.probability=0", "flow.f.app_rate=1 Mb/s"]), 1);
    let coding = &outcome.coding[0];
    let redundant = coding.arrived_packets - coding.innovative_packets;
    let share = redundant as f64 / coding.arrived_packets as f64;
    assert!((share - 0.2).abs() < 0.01, "{coding:?}");
    assert!(coding.decoded_segments.abs_diff(coding.innovative_packets) < 8, "{coding:?}");
}

#[test]
fn tcp_hears_of_fewer_losses_the_wider_the_window_and_the_more_redundancy() {
    // Losses beyond the redundancy R, as in congestion: a fraction of 10 %.
    let events = |redundancy: f64, window: u32| {
        let coding = format!(", coding = {{ redundancy = {redundancy}, window = {window} }}");
        let text = lossy("reno", &coding, 200);
        let outcomes = runs(&plan(&text, &["link.l.loss.probability=0.1"]), 3);
        mean(&outcomes, |one| {
            (one.paths[0].recoveries + one.paths[0].timeouts) as f64
                / one.paths[0].sent_packets as f64
        })
    };
    let by_window = [2, 6, 16].map(|window| events(1.05, window));
    assert!(by_window.is_sorted_by(|a, b| a > b), "{by_window:?}");
    let by_redundancy = [1.0, 1.05, 1.1].map(|redundancy| events(redundancy, 6));
    assert!(by_redundancy.is_sorted_by(|a, b| a > b), "{by_redundancy:?}");
    assert!(by_window[0] < 0.1, "{by_window:?}");
}

#[test]
fn a_transfer_over_coded_paths_is_delivered_whole_though_paths_leave_join_and_fail() {
    let text = r#"
        name = "transfer"
        duration = "60 s"
        [[link]]
        name = "a"
        rate = "4 Mb/s"
        delay = "15 ms"
        loss = { probability = 0.05 }
        [[link.change]]
        at = "2 s"
        up = false
        [[link.change]]
        at = "4 s"
        up = true
        [[link]]
        name = "b"
        rate = "1 Mb/s"
        delay = "60 ms"
        queue = { droptail = { packets = "6 packets" } }
        [[flow]]
        name = "one"
        transfer = "1234567 B"
        path = [{ links = ["a"], coding = { redundancy = 1.1 } }]
        [[flow]]
        name = "two"
        controller = "couple-plus"
        transfer = "1234567 B"
        path = [
          { links = ["a"], leave = "2.5 s", coding = { redundancy = 1.1 } },
          { links = ["b"], join = "500 ms", coding = { redundancy = 1.2, window = 12 } },
        ]
    "#;
    for seed in 1..=5 {
        let outcome = run(&plan(text, &[]), seed);
        for flow in &outcome.flows {
            assert!(flow.completed_s > 0.0 && flow.completed_s < 60.0, "seed {seed}: {flow:?}");
            let bytes = flow.goodput_bps * 60.0 / 8.0;
            assert!((bytes - 1_234_567.0).abs() < 1e-3, "seed {seed}: {bytes} bytes");
        }
        assert_eq!(outcome.conservation.in_flight, 0);
    }
}

/// Two links and up to three flows with some paths coded.
fn scenario() -> impl Strategy<Value = String> {
    let link = |name: &'static str| {
        (100_u32..8000, 1_u32..60, 2_u32..60, 0.0..0.3).prop_map(move |(rate, delay, limit, loss)| {
            format!(
                "[[link]]\nname = \"{name}\"\nrate = \"{rate} kb/s\"\ndelay = \"{delay} ms\"\n\
                 queue = {{ droptail = {{ packets = \"{limit} packets\" }} }}\nloss = {{ probability = {loss} }}\n"
            )
        })
    };
    let with_acks = |spec: &ControllerSpec| !spec.needs().reports;
    let controllers: Vec<_> = ControllerSpec::all().into_iter().filter(with_acks).collect();
    let coding = || {
        prop::option::of((1.0..2.0, 1_u8..=255)).prop_map(|coding| match coding {
            None => String::new(),
            Some((r, w)) => format!(", coding = {{ redundancy = {r}, window = {w} }}"),
        })
    };
    let flow = (prop::sample::select(controllers), coding(), coding(), 3_u32..200, any::<bool>());
    let flows = prop::collection::vec(flow, 1..4);
    (link("a"), link("b"), flows).prop_map(|(a, b, flows)| {
        let mut text = format!("name = \"random\"\nduration = \"4 s\"\n{a}{b}");
        for (number, (controller, first, second, buffer, sack)) in flows.into_iter().enumerate() {
            text += &format!(
                "[[flow]]\nname = \"f{number}\"\ncontroller = \"{controller}\"\n\
                 transport = {{ receive_buffer = \"{buffer} kB\", sack = {sack} }}\n\
                 path = [{{ links = [\"a\"]{first} }}, {{ links = [\"b\", \"a\"]{second} }}]\n"
            );
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(150) })]
    #[test]
    fn combinations_are_accounted_for_and_memory_is_bounded_by_the_receive_buffer(
        text in scenario(),
        seed in any::<u64>(),
    ) {
        let plan = plan(&text, &[]);
        let outcome = run(&plan, seed);
        prop_assert!(outcome.conservation.holds(), "{:?}", outcome.conservation);
        prop_assert_eq!(outcome.digest, run(&plan, seed).digest);
        for coding in &outcome.coding {
            prop_assert!(coding.innovative_packets <= coding.arrived_packets);
            prop_assert!(coding.decoded_segments <= coding.innovative_packets);
            prop_assert!(coding.noise + coding.congestion <= coding.asked);
        }
        for (flow, class) in outcome.flows.iter().zip(&plan.classes) {
            prop_assert!(flow.goodput_bps <= flow.throughput_bps);
            prop_assert!(flow.held_max_bytes <= class.transport.receive_buffer.0 as f64);
        }
    }
}
