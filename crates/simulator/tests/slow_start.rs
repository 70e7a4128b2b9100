//! The slow start of a law, observed at a queue.

mod common;

use common::{plan, run};

/// Two paths with ten bandwidth-delay products of queue each: 10 Mb/s, 40 ms, 333 packets.
fn packets_lost(controller: &str) -> (u64, f64) {
    let link = |name: &str| {
        format!(
            "[[link]]\nname = \"{name}\"\nrate = \"10 Mb/s\"\ndelay = \"20 ms\"\n\
             queue = {{ droptail = {{ packets = \"333 packets\" }} }}\n"
        )
    };
    let text = format!(
        "name = \"deep\"\nduration = \"8 s\"\n{}{}[[flow]]\nname = \"m\"\n\
         controller = \"{controller}\"\npath = [{{ links = [\"a\"] }}, {{ links = [\"b\"] }}]\n",
        link("a"),
        link("b")
    );
    let outcome = run(&plan(&text, &[]), 1);
    let lost = outcome.paths.iter().map(|path| path.retransmits).sum();
    (lost, outcome.flows[0].throughput_bps)
}

#[test]
fn lia_with_hystart_leaves_slow_start_before_a_deep_queue_is_full() {
    let (lost, plain) = packets_lost("lia");
    assert!(lost > 100, "TCP's own slow start overflows the queues: {lost}");
    let (lost, rate) = packets_lost("lia+hystart");
    assert_eq!(lost, 0, "HyStart++ leaves before");
    assert!(rate > 0.8 * plain, "and the paths are used: {rate} of {plain}");
}
