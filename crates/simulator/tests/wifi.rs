//! Connections over a medium: claims of the chapter on coupled control over Wi-Fi about the sending
//! host and about stations' shares. Its figures with intervals are reproduced elsewhere.

mod common;

use common::{plan, run};
use simulator::Outcome;

/// Two networks of 802.11a, each with a wired server; each has its own client, and one client is on
/// both. `way` says which of two links data takes.
fn networks(up: bool) -> String {
    let mut text = String::from("name = \"t\"\nduration = \"60 s\"\nwarmup = \"15 s\"\n");
    for n in [1, 2] {
        text += &format!(
            "[[medium]]\nname = \"air{n}\"\nstandard = \"a\"\n[[medium.station]]\nname = \"ap{n}\"\n\
             queue = {{ droptail = {{ packets = \"49 packets\" }} }}\nring = \"1 packets\"\n\
             [[link]]\nname = \"out{n}\"\nrate = \"1 Gb/s\"\ndelay = \"4 ms\"\n\
             [[link]]\nname = \"in{n}\"\nrate = \"1 Gb/s\"\ndelay = \"4 ms\"\n"
        );
        for (client, name) in [("both", "m"), ("single", "s")] {
            text += &format!(
                "[[link]]\nname = \"{name}up{n}\"\nmedium = \"air{n}\"\nfrom = \"{client}\"\nto = \"ap{n}\"\n\
                 [[link]]\nname = \"{name}down{n}\"\nmedium = \"air{n}\"\nfrom = \"ap{n}\"\nto = \"{client}\"\n"
            );
        }
    }
    let path = |name: &str, n: u32| {
        let up_way = format!("[\"{name}up{n}\", \"out{n}\"]");
        let down_way = format!("[\"in{n}\", \"{name}down{n}\"]");
        let (there, back) = if up { (up_way, down_way) } else { (down_way, up_way) };
        format!("{{ links = {there}, back = {back} }}")
    };
    text += &format!("[[flow]]\nname = \"m\"\npath = [{}, {}]\n", path("m", 1), path("m", 2));
    for n in [1, 2] {
        text += &format!("[[flow]]\nname = \"s{n}\"\npath = [{}]\n", path("s", n));
    }
    text
}

/// The share of the client on both networks in the total.
fn share(outcome: &Outcome) -> f64 {
    let rates: Vec<f64> = outcome.flows.iter().map(|flow| flow.throughput_bps).collect();
    rates[0] / rates.iter().sum::<f64>()
}

#[test]
fn up_the_medium_decides_and_coupling_makes_no_difference() {
    for controller in ["lia", "reno"] {
        let outcome = run(&plan(&networks(true), &[&format!("flow.m.controller={controller}")]), 1);
        assert!((0.45..0.55).contains(&share(&outcome)), "{controller}: {}", share(&outcome));
        // Stations of the first medium: the client on both, the access point, the other client.
        let host = outcome.stations[0];
        assert_eq!((host.dropped_packets, host.empty), (0, 0.0));
        assert!(host.failed_packets < host.attempts / 10_000);
    }
}

#[test]
fn down_the_access_point_drops_and_coupling_takes_a_third() {
    let outcome = run(&plan(&networks(false), &["flow.m.controller=lia"]), 1);
    assert!((0.28..0.40).contains(&share(&outcome)), "{}", share(&outcome));
    let uncoupled = run(&plan(&networks(false), &["flow.m.controller=reno"]), 1);
    assert!((0.45..0.55).contains(&share(&uncoupled)), "{}", share(&uncoupled));
    assert!(outcome.stations[1].dropped_packets > 0);
}

#[test]
fn small_queues_keep_the_host_short_and_cost_no_throughput() {
    let text = networks(true);
    let without = run(&plan(&text, &[]), 1);
    let packets = |outcome: &Outcome| outcome.stations[0].queue_packets;
    for (option, most) in [("small_queue=16 KiB", 13.0), ("small_queue_time=2 ms", 9.0)] {
        let with = run(&plan(&text, &[&format!("transport.{option}")]), 1);
        assert!(packets(&with) < most && packets(&without) > 300.0, "{option}: {}", packets(&with));
        let ratio = with.flows[0].throughput_bps / without.flows[0].throughput_bps;
        assert!((0.9..1.05).contains(&ratio), "{option}: {ratio}");
    }
}

#[test]
fn codel_in_the_host_drops_what_has_waited_long() {
    let stations = "medium.air1.station=[{ name = \"both\", queue = { codel = {} }, ring = \"2 packets\" }, \
                    { name = \"ap1\", queue = { droptail = { packets = \"49 packets\" } } }]";
    let outcome = run(&plan(&networks(true), &[stations]), 1);
    assert!(outcome.stations[0].dropped_packets > 0);
    assert!(outcome.stations[0].queue_packets < 40.0, "{}", outcome.stations[0].queue_packets);
}

#[test]
fn a_medium_gives_the_same_bytes_for_the_same_seed_and_others_for_another() {
    let plan = plan(&networks(true), &["duration=5 s", "warmup=1 s"]);
    assert_eq!(run(&plan, 3).digest, run(&plan, 3).digest);
    assert_ne!(run(&plan, 3).digest, run(&plan, 4).digest);
}
