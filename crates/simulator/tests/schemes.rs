//! Controllers, queues and sources of today in a network, compared with closed forms or with the
//! behaviour that their sources describe.

mod common;

use common::{mean, plan, run, runs};
use simulator::Outcome;

/// One flow for each line of `flows` over a link of 20 Mb/s and a round trip of 40 ms: 66.7 packets
/// of BDP.
fn outcome(queue: &str, transport: &str, flows: &[&str], seconds: u32) -> Outcome {
    let mut text = format!(
        "name = \"schemes\"\nduration = \"{seconds} s\"\nwarmup = \"{} s\"\n[transport]\n{transport}\n\
         [[link]]\nname = \"l\"\nrate = \"20 Mb/s\"\ndelay = \"20 ms\"\nqueue = {queue}\n",
        seconds / 4
    );
    for (number, flow) in flows.iter().enumerate() {
        text +=
            &format!("[[flow]]\nname = \"f{number}\"\n{flow}\n[[flow.path]]\nlinks = [\"l\"]\n");
    }
    run(&plan(&text, &[]), 1)
}

fn share(outcome: &Outcome) -> f64 {
    let total: f64 = outcome.flows.iter().map(|flow| flow.throughput_bps).sum();
    outcome.flows[0].throughput_bps / total
}

const DEEP: &str = "{ droptail = { packets = \"300 packets\" } }";

#[test]
fn bbr_alone_fills_the_link_without_filling_its_queue() {
    let one = outcome(DEEP, "", &["controller = \"bbr\""], 40);
    let link = &one.links[0];
    assert!(link.utilisation > 0.96, "{link:?}");
    assert!(link.queue_packets < 0.3 * 66.7, "{link:?}");
    assert_eq!(link.dropped_packets, 0);
    let reno = outcome(DEEP, "", &["controller = \"reno\""], 40);
    assert!(reno.links[0].queue_packets > 100.0, "{:?}", reno.links[0]);
}

#[test]
fn where_cubic_is_reno_friendly_it_shares_with_reno() {
    // RFC 9438 §4.3: windows of some 60 segments at 40 ms are in that region.
    let queue = "{ red = { min = \"20 packets\", max = \"60 packets\", max_p = 0.1, limit = \"300 packets\" } }";
    let flows = ["controller = \"cubic\"", "controller = \"reno\""];
    let share = share(&outcome(queue, "", &flows, 200));
    assert!((0.42..0.62).contains(&share), "{share}");
}

#[test]
fn weighted_vegas_alone_keeps_its_backlog_between_2_and_10_packets() {
    let one = outcome(DEEP, "", &["controller = \"wvegas:nodrain\""], 60);
    let link = &one.links[0];
    assert!(link.utilisation > 0.99, "{link:?}");
    assert!((2.0..10.5).contains(&link.queue_packets), "{link:?}");
}

#[test]
fn with_ecn_a_queue_that_marks_loses_nothing() {
    for queue in ["{ codel = { ecn = true } }", "{ fq-codel = { ecn = true } }"] {
        let flows = ["controller = \"reno\"", "controller = \"lia\""];
        let outcome = outcome(queue, "ecn = true", &flows, 40);
        let link = &outcome.links[0];
        assert_eq!((link.dropped_packets, outcome.paths[0].retransmits), (0, 0), "{queue}");
        let answered: u64 = outcome.paths.iter().map(|path| path.marks).sum();
        assert!(
            answered > 5 && answered <= link.marked_packets + 2,
            "{queue}: {answered} {link:?}"
        );
    }
}

#[test]
fn fq_codel_gives_equal_shares_to_unequal_controllers() {
    let flows = ["controller = \"bbr\"", "controller = \"reno\""];
    let share = share(&outcome("{ fq-codel = {} }", "", &flows, 60));
    // Reno halves its window at 5 ms of delay and leaves a little of its half to BBR.
    assert!((0.48..0.6).contains(&share), "{share}");
    let shallow = outcome("{ droptail = { packets = \"30 packets\" } }", "", &flows, 60);
    assert!(self::share(&shallow) > 0.75, "BBR takes a shallow queue: {:?}", shallow.flows);
}

#[test]
fn a_datagram_source_gets_its_rate_whatever_it_loses() {
    let flows = ["app_rate = \"8 Mb/s\"\nprotocol = \"udp\""];
    let udp = &outcome(DEEP, "", &flows, 40).flows[0];
    assert!((udp.goodput_bps / 8e6 - 1.0).abs() < 1e-3, "{udp:?}");
    let flows = ["app_rate = \"40 Mb/s\"\nprotocol = \"udp\""];
    let flood = outcome(DEEP, "", &flows, 40);
    assert!((flood.flows[0].throughput_bps / 20e6 - 1.0).abs() < 1e-3, "{:?}", flood.flows[0]);
    assert_eq!(
        flood.conservation.delivered + flood.conservation.dropped + flood.conservation.in_flight,
        flood.conservation.sent
    );
}

#[test]
fn pauses_take_their_part_of_the_time() {
    let pauses = "pauses = { on = \"100 ms\", off = \"300 ms\", random = false }";
    let flows = [format!("app_rate = \"8 Mb/s\"\nprotocol = \"udp\"\n{pauses}")];
    let one = outcome(DEEP, "", &[&flows[0]], 40);
    assert!((one.flows[0].goodput_bps / 2e6 - 1.0).abs() < 0.01, "{:?}", one.flows[0]);
}

#[test]
fn a_short_transfer_takes_a_round_trip_and_its_transmission_and_with_a_handshake_another() {
    // 5 segments of 1448 B in packets of 1500 B: 0.6 ms each at 20 Mb/s; the ACK of the last comes
    // 40 ms later.
    for (transport, round_trips) in [("", 1.0), ("handshake = true", 2.0)] {
        let flows = ["transfer = \"7240 B\"\nstart = \"10 s\""];
        let one = outcome(DEEP, transport, &flows, 20);
        let handshake = if round_trips > 1.0 { 52.0 * 8.0 / 20e6 } else { 0.0 };
        let expected = 0.04 * round_trips + 5.0 * 0.0006 + handshake;
        assert!((one.flows[0].fct_s - expected).abs() < 1e-6, "{:?}", one.flows[0]);
        assert_eq!(
            (one.classes[0].completed_flows, one.classes[0].fct_mean_s),
            (1, one.flows[0].fct_s)
        );
    }
}

#[test]
fn arrivals_come_at_their_rate_and_their_sizes_have_their_mean() {
    let flows = ["arrivals = 50.0\ntransfer = \"20 kB\"\nsizes = \"exponential\""];
    let many = outcome("{ codel = {} }", "", &flows, 100);
    assert_eq!(many.flows.len(), 5_000);
    let goodput: f64 = many.flows.iter().map(|flow| flow.goodput_bps).sum();
    assert!((goodput / (50.0 * 20e3 * 8.0) - 1.0).abs() < 0.1, "{goodput}");
    assert!(many.classes[0].completed_flows > 3_600, "{:?}", many.classes[0]);
}

#[test]
fn rack_sees_reordering_where_counting_sees_losses() {
    let text = |rack| {
        format!(
            "name = \"x\"\nduration = \"60 s\"\nwarmup = \"10 s\"\n[transport]\nrack = {rack}\n\
             [[link]]\nname = \"l\"\nrate = \"20 Mb/s\"\ndelay = \"20 ms\"\n\
             reorder = {{ probability = 0.01, delay = \"8 ms\" }}\n\
             [[flow]]\nname = \"f\"\n[[flow.path]]\nlinks = [\"l\"]\n"
        )
    };
    let counting = run(&plan(&text(false), &[]), 1);
    let timing = run(&plan(&text(true), &[]), 1);
    assert!(counting.paths[0].retransmits > 100, "{:?}", counting.paths[0]);
    assert!(timing.paths[0].retransmits < 10, "{:?}", timing.paths[0]);
    assert!(timing.flows[0].throughput_bps > 1.5 * counting.flows[0].throughput_bps);
}

/// Queues for a BDP of 66.7 packets.
const SHALLOW: &str = "{ droptail = { packets = \"25 packets\" } }";
const BDP: &str = "{ droptail = { packets = \"67 packets\" } }";
const RED: &str = "{ red = { min = \"50 packets\", max = \"100 packets\", max_p = 0.1, weight = 0.0625, \
                   spacing = \"independent\", limit = \"400 packets\" } }";

/// The rate of a connection with one path over each of these links, in units of a TCP; each link
/// also carries one TCP.
fn tcps(controller: &str, queue: &str, links: [usize; 2]) -> f64 {
    let mut text = "name = \"dwc\"\nduration = \"300 s\"\nwarmup = \"50 s\"\n".to_owned();
    for link in 0..=links[1] {
        text += &format!(
            "[[link]]\nname = \"l{link}\"\nrate = \"20 Mb/s\"\ndelay = \"20 ms\"\nqueue = {queue}\n\
             [[flow]]\nname = \"t{link}\"\nspread = \"5 s\"\npath = [{{ links = [\"l{link}\"] }}]\n"
        );
    }
    let paths = links.map(|link| format!("{{ links = [\"l{link}\"] }}")).join(", ");
    text += &format!(
        "[[flow]]\nname = \"m\"\ncontroller = \"{controller}\"\nspread = \"5 s\"\npath = [{paths}]\n"
    );
    let outcomes = runs(&plan(&text, &[]), 4);
    let rate = |flow: usize| mean(&outcomes, |outcome| outcome.flows[flow].throughput_bps);
    let beside = (0..=links[1]).map(rate).sum::<f64>() / (links[1] + 1) as f64;
    let ours = rate(links[1] + 1) / beside;
    println!("{controller} over {links:?}, {queue}: {ours:.3} TCPs");
    ours
}

#[test]
fn dwc_s_paths_through_one_link_are_one_tcp() {
    for queue in [SHALLOW, BDP, RED] {
        let ours = tcps("dwc", queue, [0, 0]);
        assert!((0.85..1.15).contains(&ours), "{queue}: {ours}");
    }
}

#[test]
fn dwc_s_paths_through_two_links_are_two_tcps_by_losses() {
    for queue in [SHALLOW, BDP] {
        let ours = tcps("dwc:losses", queue, [0, 1]);
        assert!((1.85..2.15).contains(&ours), "{queue}: {ours}");
    }
}

#[test]
fn dwc_s_paths_through_two_links_are_two_tcps_by_delays_only_where_queues_are_often_empty() {
    // With a queue of a BDP the delay is increased half of the time: three events in a row without
    // that sign are rare. As one group the paths halve at the losses of both links, and have less
    // than one TCP.
    let [shallow, bdp, red] = [SHALLOW, BDP, RED].map(|queue| tcps("dwc", queue, [0, 1]));
    assert!((1.5..2.1).contains(&shallow), "{shallow}");
    assert!((0.6..0.95).contains(&bdp), "{bdp}");
    assert!((0.95..1.3).contains(&red), "{red}");
}

/// The rate of a connection over `a` and `b`, which both lead to `shared`, in units of a TCP at its
/// bottleneck, 10 to 30 seconds after the bottleneck has moved: from `a` and `b` to `shared`, or
/// back.
fn after_a_move(controller: &str, to_shared: bool) -> f64 {
    let mut text = "name = \"moved\"\nduration = \"130 s\"\nwarmup = \"110 s\"\n".to_owned();
    for (name, shared) in [("a", false), ("b", false), ("shared", true)] {
        let (slow, fast) = ("10 Mb/s", "1 Gb/s");
        let (before, after, start) =
            if shared == to_shared { (fast, slow, 100) } else { (slow, fast, 0) };
        // TCPs have the connection's round trip: otherwise phase effects would decide.
        text += &format!(
            "[[link]]\nname = \"{name}\"\nrate = \"{before}\"\ndelay = \"10 ms\"\n\
             queue = {{ droptail = {{ packets = \"12 packets\" }} }}\n\
             change = [{{ at = \"100 s\", rate = \"{after}\" }}]\n\
             [[link]]\nname = \"far-{name}\"\nrate = \"1 Gb/s\"\ndelay = \"10 ms\"\n\
             [[flow]]\nname = \"t-{name}\"\nstart = \"{start} s\"\nspread = \"1 s\"\n\
             path = [{{ links = [\"{name}\", \"far-{name}\"] }}]\n"
        );
    }
    text += &format!(
        "[[flow]]\nname = \"m\"\ncontroller = \"{controller}\"\nspread = \"1 s\"\n\
         path = [{{ links = [\"a\", \"shared\"] }}, {{ links = [\"b\", \"shared\"] }}]\n"
    );
    let outcomes = runs(&plan(&text, &[]), 24);
    let rate = |flow: usize| mean(&outcomes, |outcome| outcome.flows[flow].throughput_bps);
    let ours = rate(3) / if to_shared { rate(2) } else { (rate(0) + rate(1)) / 2.0 };
    let events = mean(&outcomes, |outcome| {
        outcome.paths.iter().filter(|path| path.flow == 3).map(|path| path.recoveries).sum::<u64>()
            as f64
    });
    println!("{controller}, to shared: {to_shared}: {ours:.3} TCPs, {events} losses in 20 s");
    ours
}

#[test]
fn dwc_follows_when_the_bottleneck_moves() {
    // By delays two queues look like one for longer: a chance rise of one delay during a loss of
    // the other path is enough. Over 24 runs `dwc` has 1.25 TCPs by then, `dwc:losses` 1.94.
    for (controller, least) in [("dwc", 0.1), ("dwc:losses", 0.5)] {
        let (one, two) = (after_a_move(controller, true), after_a_move(controller, false));
        assert!((0.85..1.15).contains(&one), "{controller}: {one}");
        assert!(two > one + least && two < 2.1, "{controller}: {one}, {two}");
    }
}
