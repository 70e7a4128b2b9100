//! Timed events of a scenario: starts, joins, leaves, changes.

mod common;

use common::{plan, run};
use simulator::Outcome;

fn outcome(text: &str, seed: u64) -> Outcome {
    run(&plan(text, &[]), seed)
}

const LINK: &str =
    "name = 'x'\nduration = '20 s'\n[[link]]\nname = 'a'\nrate = '10 Mb/s'\ndelay = '10 ms'\n";

#[test]
fn a_path_that_leaves_before_the_start_does_not_start_the_flow() {
    let text = format!(
        "{LINK}[[link]]\nname = 'b'\nrate = '10 Mb/s'\ndelay = '10 ms'\n\
         [[flow]]\nname = 'late'\ncontroller = 'lia'\nstart = '10 s'\n\
         [[flow.path]]\nlinks = ['a']\n[[flow.path]]\nlinks = ['b']\nleave = '2 s'\n"
    );
    let flow = &outcome(&text, 1).flows[0];
    assert!(flow.throughput_bps <= 5e6, "half of the time at 10 Mb/s: {flow:?}");
}

#[test]
fn a_transfer_whose_only_path_leaves_is_not_complete() {
    let text = format!(
        "{LINK}loss = {{ probability = 0.3 }}\n[[flow]]\nname = 'short'\ntransfer = '14480 B'\n\
         [[flow.path]]\nlinks = ['a']\nleave = '45 ms'\n"
    );
    for seed in 1..20 {
        let flow = &outcome(&text, seed).flows[0];
        let whole = flow.goodput_bps * 20.0 / 8.0 > 14_479.0;
        assert!(flow.completed_s.is_nan() || whole, "seed {seed}: {flow:?}");
    }
}

#[test]
fn of_two_changes_at_one_time_the_later_in_the_file_stays() {
    let change = |rate| format!("[[link.change]]\nat = '5 s'\nrate = '{rate} Mb/s'\n");
    let flow = "[[flow]]\nname = 'tcp'\n[[flow.path]]\nlinks = ['a']\n";
    let last = outcome(&format!("{LINK}{}{}{flow}", change(2), change(8)), 1);
    let only = outcome(&format!("{LINK}{}{flow}", change(8)), 1);
    assert_eq!(last.flows[0].goodput_bps, only.flows[0].goodput_bps);
}

#[test]
fn a_link_and_a_class_of_one_name_draw_from_different_streams() {
    let text = format!(
        "{LINK}loss = {{ probability = 0.5, place = 'before' }}\n[[flow]]\nname = 'a'\nspread = '5 s'\n\
         transfer = '1448 B'\n[[flow.path]]\nlinks = ['a']\n"
    );
    // With one stream a first packet is lost exactly if the start is in the first half.
    let coincide = (0..60).filter(|seed| {
        let flow = &outcome(&text, *seed).flows[0];
        let early = flow.start_s < 2.5;
        let at_once = flow.completed_s < flow.start_s + 0.1; // false for NaN
        let lost = !at_once;
        early == lost
    });
    assert!((15..45).contains(&coincide.count()));
}

#[test]
fn a_path_that_has_left_has_no_window_in_the_means() {
    let text =
        format!("{LINK}[[flow]]\nname = 'tcp'\n[[flow.path]]\nlinks = ['a']\nleave = '1 ms'\n");
    assert!(outcome(&text, 1).paths[0].cwnd_segments <= 10.0);
    let unused = format!(
        "{LINK}[[flow]]\nname = 'tcp'\n[[flow.path]]\nlinks = ['a']\n[[flow.path]]\nlinks = ['a']\njoin = '25 s'\n"
    );
    assert!(outcome(&unused, 1).paths[1].cwnd_segments.is_nan());
}
