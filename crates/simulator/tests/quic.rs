//! Users of QUIC beside users of TCP and UDP.
#![cfg(feature = "quic")]

mod common;

use common::run;
use simulator::{Observe, Outcome, Progress, check};

/// A network of which every user takes a part, with losses of several kinds.
fn mixed(pair: &str, single: &str) -> String {
    format!(
        r#"
name = "mixed"
duration = "6 s"

[[link]]
name = "left"
rate = "6 Mb/s"
delay = "15 ms"
queue = {{ droptail = {{ packets = "30 packets" }} }}
duplicate = 0.01

[[link]]
name = "right"
rate = "4 Mb/s"
delay = "25 ms"
queue = {{ red = {{ min = "5 packets", max = "20 packets", max_p = 0.1, weight = 0.1, limit = "60 packets", ecn = true }} }}
loss = {{ probability = 0.003 }}

[[link]]
name = "back"
delay = "10 ms"
loss = {{ probability = 0.003 }}

[[flow]]
name = "pair"
{pair}
count = 2
spread = "500 ms"
[[flow.path]]
links = ["left"]
back = ["back"]
[[flow.path]]
links = ["right"]
back = ["back"]
join = "1 s"
leave = "4 s"

[[flow]]
name = "single"
{single}
transport.ecn = true
[[flow.path]]
links = ["right"]
back = ["back"]

[[flow]]
name = "tcp"
[[flow.path]]
links = ["left"]
back = ["back"]

[[flow]]
name = "constant"
protocol = "udp"
app_rate = "500 kb/s"
[[flow.path]]
links = ["left"]
"#
    )
}

const QUIC: &str = "protocol = \"quic\"";

fn plan(text: &str) -> scenario::Plan {
    common::plan(text, &[])
}

fn rate(outcome: &Outcome, class: u32) -> f64 {
    let flows = outcome.flows.iter().filter(|flow| flow.class == class);
    flows.map(|flow| flow.goodput_bps).sum()
}

#[test]
fn packets_are_conserved_and_every_user_has_a_share_beside_tcp() {
    for controller in ["lia", "olia", "balia", "noq:cubic", "noq:bbr3"] {
        let pair = format!("{QUIC}\ncontroller = \"{controller}\"");
        let outcome = run(&plan(&mixed(&pair, QUIC)), 1);
        assert!(outcome.conservation.holds() && outcome.conservation.copied > 0, "{controller}");
        for class in 0..4 {
            assert!(rate(&outcome, class) > 200_000.0, "{controller}: class {class}");
        }
        let wire: f64 = outcome.flows.iter().map(|flow| flow.throughput_bps).sum();
        assert!((6e6..=10e6).contains(&wire), "{controller}: {wire} b/s of 10 Mb/s");
    }
}

#[test]
fn two_runs_have_one_digest_and_another_seed_has_another() {
    let plan = plan(&mixed(QUIC, QUIC));
    let digest = |seed| run(&plan, seed).digest;
    assert_eq!(digest(3), digest(3));
    assert_ne!(digest(3), digest(4));
}

#[test]
fn observing_a_run_does_not_change_it() {
    let plan = plan(&mixed(QUIC, QUIC));
    let observe = Observe { series: true, events: Some(1000) };
    let seen = simulator::run(&plan, 3, observe, &Progress::default()).expect("nothing stops it");
    assert_eq!(seen.digest, run(&plan, 3).digest);
    let series = seen.series.expect("it was asked for");
    assert!(series.paths.cwnd_segments.iter().any(|cwnd| *cwnd > 20.0));
}

#[test]
fn a_transfer_over_quic_completes_and_its_bytes_are_counted_once() {
    let pair = format!("{QUIC}\ntransfer = \"300 kB\"");
    let outcome = run(&plan(&mixed(&pair, QUIC)), 2);
    for flow in outcome.flows.iter().filter(|flow| flow.class == 0) {
        assert!((0.2..6.0).contains(&flow.fct_s), "{}", flow.fct_s);
        assert_eq!((flow.goodput_bps * 6.0 / 8.0).round(), 300_000.0);
    }
}

#[test]
fn a_user_whose_queue_marks_reduces_without_a_loss() {
    let text = r#"
name = "marks"
duration = "5 s"
[[link]]
name = "wire"
rate = "5 Mb/s"
delay = "20 ms"
queue = { red = { min = "5 packets", max = "30 packets", max_p = 0.1, weight = 0.1, limit = "200 packets", ecn = true } }
[[flow]]
name = "user"
protocol = "quic"
transport.ecn = true
[[flow.path]]
links = ["wire"]
"#;
    let marked = run(&plan(text), 1);
    let path = &marked.paths[0];
    assert!(path.recoveries > 3 && path.lost_packets < 10, "{path:?}");
    assert!(path.throughput_bps > 4.5e6, "{path:?}");
    let deaf = run(&plan(&text.replace("transport.ecn = true", "")), 1);
    assert!(deaf.paths[0].lost_packets > path.lost_packets, "{:?}", deaf.paths[0]);
}

#[test]
fn what_the_stack_cannot_do_is_refused_by_name() {
    let read = |flow: &str| {
        let text = mixed(QUIC, &format!("{QUIC}\n{flow}"));
        scenario::Plan::read(&text, "s", &[]).expect_err(flow).to_string()
    };
    for (flow, named) in [
        ("transport.scheduler = \"round-robin\"", "transport.scheduler"),
        ("transport.rack = true", "transport.rack"),
        ("transport.small_queue = \"10 kB\"", "transport.small_queue"),
        ("echo = true", "echo"),
        ("controller = \"tfrc\"", "reports"),
        ("controller = \"kernel:lia\"", "kernel:lia"),
        ("controller = \"noq:vegas\"", "noq:newreno"),
    ] {
        assert!(read(flow).contains(named), "{flow}: {}", read(flow));
    }
    let small = mixed(QUIC, QUIC) + "[transport]\npacket = \"1000 B\"\npayload = \"948 B\"\n";
    let small = scenario::Plan::read(&small, "s", &[]).expect_err("1200 bytes do not fit");
    assert!(small.to_string().contains("transport.packet is 1 kB"), "{small}");
    let tcp = scenario::Plan::read(&mixed(QUIC, "controller = \"noq:cubic\""), "s", &[]);
    assert!(tcp.expect_err("TCP").to_string().contains("protocol = \"quic\""));
    assert_eq!(check(&plan(&mixed(QUIC, QUIC))), Ok(()));
}
