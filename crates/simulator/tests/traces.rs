//! Links whose rate and delay follow a trace.

mod common;

use common::{PACKET, plan, run};
use simulator::Observe;

/// A flow over a link that follows `trace`.
fn over(trace: &str, link: &str, flow: &str) -> String {
    format!(
        "name = 'x'\nduration = '10 s'\n[[link]]\nname = 'a'\ndelay = '10 ms'\n{link}\n\
         [link.trace]\n{trace}\n[[flow]]\nname = 'u'\n{flow}\npath = [{{ links = ['a'] }}]\n"
    )
}

#[test]
fn what_a_link_carries_is_the_integral_of_its_trace() {
    let rows = "rows = \"t_s,rate_bps\\n0,8e6\\n1,2e6\\n2.5,0\\n4,20e6\\n\"";
    let link = "rate = '1 Mb/s'\nqueue = { droptail = { packets = '20 packets' } }";
    let flow = "protocol = 'udp'\napp_rate = '50 Mb/s'"; // more than the link's highest rate
    let once = 8.0 + 1.5 * 2.0 + 6.0 * 20.0;
    let again = 2.0 * (8.0 + 1.5 * 2.0 + 1.0 * 20.0);
    for (repeat, expected) in [("", once), ("repeat = '5 s'", again)] {
        let text = over(&format!("{rows}\n{repeat}"), link, flow);
        let outcome = run(&plan(&text, &[]), 1);
        let carried = outcome.links[0].throughput_bps * 10.0 / 1e6;
        // Packets that left the link in the last 10 ms have not arrived, and one frame is being
        // sent.
        let slack = 0.010 * 20.0 + 2.0 * 8.0 * PACKET / 1e6;
        assert!((carried - expected).abs() < slack, "{repeat}: {carried} Mbit, not {expected}");
        let used = outcome.links[0].utilisation;
        assert!((used - carried / expected).abs() < 1e-6, "{used}");
    }
}

#[test]
fn a_packet_takes_the_delay_that_the_trace_has_when_it_is_sent() {
    let rows = "rows = \"t_s,delay_s\\n0,0.010\\n5,0.050\\n\"";
    let text = over(rows, "rate = '1 Gb/s'", "app_rate = '100 kb/s'");
    let observe = Observe { series: true, events: None };
    let outcome = simulator::run(&plan(&text, &[]), 1, observe, &Default::default()).unwrap();
    let series = outcome.series.unwrap();
    let at = |seconds: f64| {
        let row = series.t_s.iter().position(|t| *t >= seconds).unwrap();
        series.paths.srtt_s[row]
    };
    // The way back keeps the link's first delay.
    assert!((at(4.9) - 0.020).abs() < 0.001 && (at(9.9) - 0.060).abs() < 0.001);
}

#[test]
fn a_trace_and_its_changes_written_out_are_the_same_run() {
    let link = "rate = '5 Mb/s'\nqueue = { droptail = { packets = '20 packets' } }";
    let traced = over("rows = \"t_s,rate_bps,loss\\n1,2e6,0.01\\n3,9e6,0\\n\"", link, "");
    let written = traced.replace("[link.trace]\nrows = \"t_s,rate_bps,loss\\n1,2e6,0.01\\n3,9e6,0\\n\"",
        "[[link.change]]\nat = '1 s'\nrate = '2 Mb/s'\nloss = 0.01\n[[link.change]]\nat = '3 s'\nrate = '9 Mb/s'\nloss = 0.0\n");
    assert!(!written.contains("trace"));
    let digest = |text: &str| run(&plan(text, &[]), 1).digest;
    assert_eq!(digest(&traced), digest(&written));
}

/// A UDP flow over a link with opportunities at `times`; it offers packets of `bytes` faster than
/// the link sends them.
fn backlogged(times: &str, bytes: u32, queue: &str) -> String {
    format!(
        "name = 'x'\nduration = '10 s'\n[transport]\npacket = '{bytes} B'\npayload = '{} B'\n[[link]]\n\
         name = 'cell'\ndelay = '10 ms'\nqueue = {queue}\nopportunities = {{ times = '{times}' }}\n[[flow]]\n\
         name = 'u'\nprotocol = 'udp'\napp_rate = '60 Mb/s'\npath = [{{ links = ['cell'] }}]\n",
        bytes - 28
    )
}

/// A variety: bursts, a pause of 700 ms, a last number that occurs twice.
const CELL: &str = "0 0 3 3 3 4 9 17 17 18 40 740 741 741 742 900 900";
const QUEUES: [&str; 2] = ["{ droptail = { packets = '40 packets' } }", "{ codel = {} }"];

#[test]
fn what_always_waits_gets_every_opportunity_at_its_very_millisecond() {
    let times: Vec<u64> = CELL.split(' ').map(|ms| ms.parse().unwrap()).collect();
    let all = (0..12).flat_map(|turn| times.iter().map(move |ms| turn * 900 + ms));
    // A packet that arrives at 0 is too late for 0; a packet that leaves later than 10 ms before
    // the end does not arrive.
    let expected: Vec<u64> = all.filter(|ms| *ms > 0 && *ms <= 9_990).collect();
    for queue in QUEUES {
        let plan = plan(&backlogged(CELL, 1500, queue), &["sample=1 ms"]);
        let observe = Observe { series: true, events: None };
        let outcome = simulator::run(&plan, 1, observe, &Default::default()).unwrap();
        let series = outcome.series.unwrap();
        let mut seen = Vec::new();
        for row in 1..series.t_s.len() {
            let came = series.paths.arrived_bytes[row] - series.paths.arrived_bytes[row - 1];
            let came_at = (1e3 * series.t_s[row]).round() as u64;
            seen.extend((0..(came / PACKET).round() as u64).map(|_| came_at - 10));
        }
        assert_eq!(seen, expected, "{queue}");
        let link = &outcome.links[0];
        assert!((link.throughput_bps * 10.0 - 12e3 * expected.len() as f64).abs() < 1.0);
        // The opportunities of the last 10 ms count as offered too.
        assert!(link.utilisation <= 1.0 && link.utilisation > 0.98, "{}", link.utilisation);
    }
}

#[test]
fn small_packets_share_opportunities() {
    for queue in QUEUES {
        let count = |bytes: u32| {
            let outcome = run(&plan(&backlogged(CELL, bytes, queue), &[]), 1);
            outcome.links[0].throughput_bps * 10.0 / 8.0 / f64::from(bytes)
        };
        assert!((count(500) - 3.0 * count(1500)).abs() < 3.1);
        assert!((count(400) - 3.75 * count(1500)).abs() < 4.1, "one may be finished by the next");
    }
}

#[test]
fn a_tcp_over_an_opportunity_each_millisecond_is_one_over_12_mbps() {
    let cell = "opportunities = { times = '1' }";
    let goodput = |transmitter: &str| {
        let text = format!(
            "name = 'x'\nduration = '40 s'\nwarmup = '5 s'\n[[link]]\nname = 'a'\ndelay = '20 ms'\n{transmitter}\n\
             queue = {{ droptail = {{ packets = '60 packets' }} }}\n[[flow]]\nname = 'u'\npath = [{{ links = ['a'] }}]\n"
        );
        run(&plan(&text, &[]), 1).flows[0].goodput_bps
    };
    let (with, without) = (goodput(cell), goodput("rate = '12 Mb/s'"));
    assert!((with / without - 1.0).abs() < 0.01, "{with} and {without}");
    assert!((with / 12e6 / (1448.0 / 1500.0) - 1.0).abs() < 0.01, "{with}");
}

#[test]
fn another_start_is_another_run_and_the_same_again_is_the_same() {
    let text = backlogged(CELL, 1500, QUEUES[0]);
    let digest = |start: &str| {
        run(&plan(&text, &[&format!("link.cell.opportunities.start={start}")]), 1).digest
    };
    assert_eq!(digest("100 ms"), digest("100 ms"));
    assert_ne!(digest("100 ms"), digest("0 ms"));
    assert_eq!(digest("100 ms"), digest("1 s"), "a period later");
}
