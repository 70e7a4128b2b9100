//! Rates that follow from arithmetic alone.

mod common;

use common::{PACKET, PAYLOAD, mean, plan, run, runs};

const LINE: &str = r#"
name = "line"
duration = "30 s"
warmup = "5 s"

[[link]]
name = "line"
rate = "50 Mb/s"
delay = "40 ms"

[[flow]]
name = "one"

[[flow.path]]
links = ["line"]
"#;

/// Round trip of a full segment over [`LINE`]: two propagation delays and one transmission.
const ROUND_TRIP: f64 = 0.080 + 8.0 * PACKET / 50e6;

#[track_caller]
fn close(got: f64, expected: f64, tolerance: f64) {
    let ratio = got / expected;
    assert!((ratio - 1.0).abs() <= tolerance, "{got} instead of {expected}: {ratio}");
}

#[test]
fn a_flow_limited_by_the_receive_window_sends_a_window_each_round_trip() {
    for segments in [1.0, 4.0, 16.0, 100.0] {
        let buffer = format!("transport.receive_buffer=\"{} B\"", segments * PAYLOAD);
        let outcome = run(&plan(LINE, &[&buffer]), 1);
        let expected = 8.0 * segments * PAYLOAD / ROUND_TRIP;
        close(outcome.flows[0].goodput_bps, expected, 0.004);
        assert_eq!(outcome.paths[0].retransmits, 0);
    }
}

#[test]
fn a_receive_buffer_shared_by_two_paths_limits_their_sum() {
    let two = format!("{LINE}\n[[flow.path]]\nlinks = [\"line\"]\n");
    let buffer = format!("transport.receive_buffer=\"{} B\"", 20.0 * PAYLOAD);
    for scheduler in ["min-rtt", "round-robin"] {
        let scheduler = format!("transport.scheduler={scheduler}");
        let outcome = run(&plan(&two, &[&buffer, &scheduler]), 1);
        let most = 8.0 * 20.0 * PAYLOAD / ROUND_TRIP;
        assert!(outcome.flows[0].goodput_bps <= most * 1.004, "{}", outcome.flows[0].goodput_bps);
        close(outcome.flows[0].goodput_bps, most, 0.02);
    }
}

#[test]
fn an_unlimited_flow_on_a_clean_line_takes_all_of_it() {
    let outcome = run(&plan(LINE, &["warmup=15 s"]), 1);
    close(outcome.links[0].utilisation, 1.0, 1e-3);
    close(outcome.flows[0].goodput_bps, 50e6 * PAYLOAD / PACKET, 1e-3);
}

#[test]
fn a_paced_application_gets_its_rate() {
    for rate in [0.05, 1.0, 7.3, 40.0] {
        let outcome = run(&plan(LINE, &[&format!("flow.one.app_rate={rate} Mb/s")]), 1);
        close(outcome.flows[0].goodput_bps, rate * 1e6, 0.02);
        assert_eq!(outcome.paths[0].retransmits, 0, "{rate} Mb/s");
    }
}

#[test]
fn the_rate_of_a_link_is_exact_however_it_divides() {
    // 1500 B at 7.3 Mb/s take 1,643,835.6 ns: the fraction is carried over.
    let overrides = ["link.line.rate=7.3 Mb/s", "duration=120 s", "warmup=20 s"];
    let outcome = run(&plan(LINE, &overrides), 1);
    close(outcome.links[0].throughput_bps, 7.3e6, 2e-5);
}

#[test]
fn no_link_carries_more_than_its_rate() {
    let second = "\n[[flow]]\nname = \"others\"\ncount = 7\nspread = \"3 s\"\n\n[[flow.path]]\nlinks = [\"line\"]\n";
    let text = format!("{LINE}{second}");
    for rate in ["200 kb/s", "3 Mb/s", "50 Mb/s"] {
        for queue in ["{ droptail = { packets = \"20 packets\" } }", "\"unlimited\""] {
            let overrides =
                [&format!("link.line.rate={rate}"), &format!("link.line.queue={queue}")];
            let overrides = overrides.map(String::as_str);
            for outcome in runs(&plan(&text, &overrides), 2) {
                // The measurement begins and ends anywhere within a packet's transmission.
                let slack = 8.0 * PACKET / outcome.links[0].throughput_bps / 25.0;
                let utilisation = outcome.links[0].utilisation;
                assert!(utilisation <= 1.0 + slack, "{rate}, {queue}: {utilisation}");
                let arrived = mean(std::slice::from_ref(&outcome), |outcome| {
                    outcome.flows.iter().map(|flow| flow.throughput_bps).sum()
                });
                close(arrived, outcome.links[0].throughput_bps, 0.01);
            }
        }
    }
}

#[test]
fn random_loss_removes_the_stated_fraction() {
    for place in ["before", "after"] {
        let overrides = [
            &format!("link.line.loss={{ probability = 0.02, place = \"{place}\" }}"),
            "duration=120 s",
        ];
        let outcomes = runs(&plan(LINE, &overrides.map(|text| text as &str)), 4);
        let link = |outcome: &simulator::Outcome| {
            outcome.links[0].lost_packets as f64 / outcome.links[0].arrived_packets as f64
        };
        close(mean(&outcomes, link), 0.02, 0.05);
    }
}
