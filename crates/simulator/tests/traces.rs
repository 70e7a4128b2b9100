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
    let flow = "protocol = 'udp'\napp_rate = '50 Mb/s'"; // more than the link ever carries
    let once = 8.0 + 1.5 * 2.0 + 6.0 * 20.0;
    let again = 2.0 * (8.0 + 1.5 * 2.0 + 1.0 * 20.0);
    for (repeat, expected) in [("", once), ("repeat = '5 s'", again)] {
        let text = over(&format!("{rows}\n{repeat}"), link, flow);
        let outcome = run(&plan(&text, &[]), 1);
        let carried = outcome.links[0].throughput_bps * 10.0 / 1e6;
        // What left the link in the last 10 ms has not arrived, and one frame is being sent.
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
    let observe = Observe { series: true, events: false };
    let outcome = simulator::run(&plan(&text, &[]), 1, observe, &Default::default()).unwrap();
    let series = outcome.series.unwrap();
    let at = |seconds: f64| {
        let row = series.t_s.iter().position(|t| *t >= seconds).unwrap();
        series.paths.srtt_s[row]
    };
    // The way back has the link's first delay all the time.
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
