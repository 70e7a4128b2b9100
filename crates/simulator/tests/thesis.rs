//! The thesis' schemes (Tse 2006) on its networks; its figures with intervals are reproduced
//! elsewhere.

mod common;

use common::{plan, run};
use control::{AnyScheme, Span};
use simulator::Outcome;

/// 5 Mb/s, 25 ms one way, gentle RED of the thesis' simulator for a BDP of 21 packets.
const RED: &str = "rate = \"5 Mb/s\"\ndelay = \"25 ms\"\nqueue = { red = { min = \"5.25 packets\", \
                   max = \"15.75 packets\", max_p = 0.1, weight = 0.002, limit = \"42 packets\" } }\n";

/// `controller` over paths of one link each, with this many TCPs on each link.
fn outcome(controller: &str, paths: &[usize], tcps: &[usize], seconds: u32) -> Outcome {
    let mut text = format!(
        "name = \"t\"\nduration = \"{seconds} s\"\nwarmup = \"{} s\"\n[transport]\ndelayed_ack = \"0 s\"\n",
        seconds / 4
    );
    for (link, tcps) in tcps.iter().enumerate() {
        text += &format!("[[link]]\nname = \"l{link}\"\n{RED}");
        if *tcps > 0 {
            text += &format!(
                "[[flow]]\nname = \"t{link}\"\ncount = {tcps}\ncontroller = \"reno\"\nspread = \"1 s\"\n\
                 path = [{{ links = [\"l{link}\"] }}]\n"
            );
        }
    }
    let list: Vec<String> =
        paths.iter().map(|link| format!("{{ links = [\"l{link}\"] }}")).collect();
    text += &format!(
        "[[flow]]\nname = \"m\"\ncontroller = \"{controller}\"\nstart = \"2 s\"\npath = [{}]\n",
        list.join(", ")
    );
    run(&plan(&text, &[]), 1)
}

/// The rate of the flow under test, and of all flows together, in bit/s.
fn rates(outcome: &Outcome) -> (f64, f64) {
    let rates: Vec<f64> = outcome.flows.iter().map(|flow| flow.throughput_bps).collect();
    (rates[rates.len() - 1], rates.iter().sum())
}

fn share(outcome: &Outcome) -> f64 {
    let (ours, all) = rates(outcome);
    ours / all
}

#[test]
fn tcp_lp_leaves_the_link_to_a_tcp_and_fills_it_alone() {
    // In Linux' variant, d_max is twice a delay that includes the propagation: the threshold is
    // lower. A TCP does not fill this queue's link either.
    let (tcp, _) = rates(&outcome("reno", &[0], &[0], 120));
    for (controller, least) in [("lp", 0.95), ("lp:reset", 0.58)] {
        let beside = share(&outcome(controller, &[0], &[1], 120));
        assert!(beside < 0.15, "{controller}: {beside}");
        let (alone, _) = rates(&outcome(controller, &[0], &[0], 120));
        assert!(alone > least * tcp, "{controller}: {alone} of {tcp}");
    }
}

#[test]
fn multi_priority_takes_one_share_however_many_flows_it_has_and_the_naive_one_takes_more() {
    for flows in [1, 4, 16] {
        let fair = share(&outcome("multi-priority", &vec![0; flows], &[1], 240));
        assert!((0.44..0.56).contains(&fair), "{flows}: {fair}");
    }
    let naive = share(&outcome("multi-priority:naive", &[0; 16], &[1], 240));
    assert!(naive > 0.65, "{naive}");
}

#[test]
fn tcp_nice_yields_fills_an_empty_link_and_serves_multi_priority_as_well() {
    let (tcp, _) = rates(&outcome("reno", &[0], &[0], 120));
    let beside = share(&outcome("nice", &[0], &[1], 120));
    assert!(beside < 0.15, "{beside}");
    let (alone, _) = rates(&outcome("nice", &[0], &[0], 120));
    assert!(alone > 0.95 * tcp, "{alone} of {tcp}");
    for flows in [4, 16] {
        let fair = share(&outcome("multi-priority:nice", &vec![0; flows], &[1], 240));
        assert!((0.44..0.56).contains(&fair), "{flows}: {fair}");
    }
}

#[test]
fn bilevel_tfrc_with_one_history_fills_eight_paths_in_minutes_and_is_fair() {
    let used =
        |controller| rates(&outcome(controller, &[0, 1, 2, 3, 4, 5, 6, 7], &[0; 8], 240)).0 / 40e6;
    let (described, pooled) = (used("bilevel-tfrc"), used("bilevel-tfrc:pooled"));
    assert!(described < 0.7 && pooled > 0.85, "{described} {pooled}");
    let fair = share(&outcome("bilevel-tfrc:pooled", &[0; 8], &[1], 240));
    assert!((0.4..0.56).contains(&fair), "{fair}");
}

#[test]
fn multi_priority_uses_paths_that_are_empty_and_leaves_those_that_are_not() {
    let (one, _) = rates(&outcome("reno", &[0], &[0], 120));
    let (empty, _) = rates(&outcome("multi-priority", &[0, 1, 2, 3], &[0; 4], 120));
    assert!((0.9..1.1).contains(&(empty / (4.0 * one))), "{empty} of 4 × {one}");
    let contested = outcome("multi-priority", &[0, 1, 2, 3], &[1; 4], 240);
    let (ours, all) = rates(&contested);
    assert!((0.08..0.2).contains(&(ours / all)), "an eighth is fair: {ours} of {all}");
}

#[test]
fn the_base_may_be_any_path() {
    // A TCP as the base has half of the contested path; in the background it has nothing there.
    let text = |base: usize| {
        format!(
            "name = \"t\"\nduration = \"240 s\"\nwarmup = \"60 s\"\n[[link]]\nname = \"l0\"\n{RED}\
             [[link]]\nname = \"l1\"\n{RED}[[flow]]\nname = \"t\"\npath = [{{ links = [\"l1\"] }}]\n\
             [[flow]]\nname = \"m\"\ncontroller = \"multi-priority\"\nbase = {base}\nstart = \"2 s\"\n\
             path = [{{ links = [\"l0\"] }}, {{ links = [\"l1\"] }}]\n"
        )
    };
    let contested = |base| run(&plan(&text(base), &[]), 1).paths[2].throughput_bps;
    assert!(contested(0) < 0.4e6, "{}", contested(0));
    assert!(contested(1) > 1.8e6, "{}", contested(1));
}

#[test]
fn the_base_moves_to_the_larger_path() {
    let wrong = |controller: &str| {
        let mut text = format!(
            "name = \"t\"\nduration = \"300 s\"\nwarmup = \"100 s\"\n[[link]]\nname = \"l0\"\n{RED}"
        );
        text += "[[link]]\nname = \"l1\"\nrate = \"1.5 Mb/s\"\ndelay = \"25 ms\"\n";
        text += "queue = { droptail = { packets = \"20 packets\" } }\n";
        for link in 0..2 {
            text +=
                &format!("[[flow]]\nname = \"t{link}\"\npath = [{{ links = [\"l{link}\"] }}]\n");
        }
        text += &format!("[[flow]]\nname = \"m\"\ncontroller = \"{controller}\"\n");
        text += "path = [{ links = [\"l1\"] }, { links = [\"l0\"] }]\n";
        rates(&run(&plan(&text, &[]), 1)).0
    };
    let (stays, moves) = (wrong("multi-priority"), wrong("multi-priority:switching"));
    assert!(moves > 1.6 * stays, "{stays} {moves}");
}

#[test]
fn by_trial_the_base_finds_the_contested_path_when_the_other_is_empty() {
    // Figure 4-11: two TCPs on the path on which the base begins, none on the other.
    let rate =
        |controller: &str, paths: &[usize]| rates(&outcome(controller, paths, &[2, 0], 300)).0;
    let (right, wrong) = (rate("multi-priority", &[0, 1]), rate("multi-priority", &[1, 0]));
    assert!(wrong < 0.85 * right, "{wrong} {right}");
    let by_rate = rate("multi-priority:switching", &[1, 0]);
    assert!(
        by_rate < 0.85 * right,
        "an empty path has the highest rate of a TCP: {by_rate} {right}"
    );
    let by_trial = rate("multi-priority:trial", &[1, 0]);
    assert!(by_trial > 0.95 * right, "{by_trial} {right}");
}

#[test]
fn mtcp_keeps_one_of_the_paths_that_share_a_drop_tail_queue_and_all_that_do_not() {
    let text = |paths: &str| {
        format!(
            "name = \"t\"\nduration = \"300 s\"\nwarmup = \"120 s\"\n[transport]\ndelayed_ack = \"0 s\"\n\
             [[link]]\nname = \"a\"\nrate = \"5 Mb/s\"\ndelay = \"25 ms\"\n\
             queue = {{ droptail = {{ packets = \"21 packets\" }} }}\n[[link]]\nname = \"b\"\n\
             rate = \"5 Mb/s\"\ndelay = \"31 ms\"\nqueue = {{ droptail = {{ packets = \"25 packets\" }} }}\n\
             [[flow]]\nname = \"m\"\ncontroller = \"mtcp\"\npath = [{paths}]\n"
        )
    };
    let used = |paths: &str| {
        let run = run(&plan(&text(paths), &[]), 1);
        run.paths.iter().filter(|path| path.throughput_bps > 0.5e6).count()
    };
    assert_eq!(used("{ links = [\"a\"] }, { links = [\"a\"] }"), 1);
    assert_eq!(used("{ links = [\"a\"] }, { links = [\"b\"] }"), 2);
}

#[test]
fn reduced_flows_together_have_the_weight_of_the_square_root_law() {
    // 1 + (N − 1)/√N TCPs of N = 4: 2.5 against one.
    let four = share(&outcome("hacker", &[0; 4], &[1], 240));
    assert!((0.64..0.78).contains(&four), "{four}");
    let alone = share(&outcome("hacker", &[0], &[1], 240));
    assert!((0.42..0.58).contains(&alone), "{alone}");
}

#[test]
fn bilevel_tcp_is_one_tcp_on_a_shared_link_and_a_third_of_two_contested_ones() {
    for flows in [1, 2, 16] {
        let fair = share(&outcome("bilevel", &vec![0; flows], &[1], 240));
        assert!((0.38..0.56).contains(&fair), "{flows}: {fair}");
    }
    let third = share(&outcome("bilevel", &[0, 1], &[1, 1], 240));
    assert!((0.27..0.39).contains(&third), "{third}");
}

#[test]
fn every_scheme_goes_on_when_its_first_path_is_cut() {
    let mut slow = Vec::new();
    for scheme in AnyScheme::listed() {
        let controller = scheme.described.names[0];
        let text = format!(
            "name = \"cut\"\nduration = \"40 s\"\nwarmup = \"20 s\"\n[[link]]\nname = \"l0\"\n{RED}\
             change = [{{ at = \"10 s\", up = false }}]\n[[link]]\nname = \"l1\"\n{RED}[[flow]]\nname = \"m\"\n\
             controller = \"{controller}\"\npath = [{{ links = [\"l0\"] }}, {{ links = [\"l1\"] }}]\n"
        );
        let (ours, _) = rates(&run(&plan(&text, &[]), 1));
        // Weighted Vegas backs off at every queue that has doubled, and RED keeps one; best-path
        // still counts the rate of the path that was cut.
        let least = if ["wvegas", "best-path"].contains(&controller) { 0.5 } else { 0.7 };
        if ours < least * 5e6 {
            slow.push((controller, ours));
        }
    }
    assert!(slow.is_empty(), "{slow:?}");
}

#[test]
fn multi_priority_works_where_its_base_path_stands_by() {
    for controller in ["multi-priority", "multi-priority:switching", "multi-priority:trial"] {
        let text = format!(
            "name = \"by\"\nduration = \"40 s\"\nwarmup = \"20 s\"\n[[link]]\nname = \"l0\"\n{RED}\
             [[link]]\nname = \"l1\"\n{RED}change = [{{ at = \"4 s\", up = false }}, {{ at = \"9 s\", up = true }}]\n\
             [[flow]]\nname = \"m\"\ncontroller = \"{controller}\"\n\
             path = [{{ links = [\"l0\"], backup = true }}, {{ links = [\"l1\"] }}]\n"
        );
        let (ours, _) = rates(&run(&plan(&text, &[]), 1));
        assert!(ours > 0.6 * 5e6, "{controller}: {ours}");
    }
}

#[test]
fn mtcp_goes_on_when_the_path_that_it_kept_is_cut_before_the_bottleneck() {
    let text = "name = \"cut\"\nduration = \"300 s\"\nwarmup = \"240 s\"\n[transport]\ndelayed_ack = \"0 s\"\n\
                [[link]]\nname = \"shared\"\nrate = \"5 Mb/s\"\ndelay = \"25 ms\"\n\
                queue = { droptail = { packets = \"21 packets\" } }\n\
                [[link]]\nname = \"a\"\ndelay = \"1 ms\"\nchange = [{ at = \"200 s\", up = false }]\n\
                [[link]]\nname = \"b\"\ndelay = \"3 ms\"\n\
                [[flow]]\nname = \"m\"\ncontroller = \"mtcp\"\n\
                path = [{ links = [\"a\", \"shared\"] }, { links = [\"b\", \"shared\"] }]\n";
    let (ours, _) = rates(&run(&plan(text, &[]), 1));
    assert!(ours > 0.8 * 5e6, "{ours}");
}

#[test]
fn lower_effort_has_what_a_tcp_leaves_of_a_link_with_strict_priorities_and_no_more() {
    for (application, low, high) in [("app_rate = \"2 Mb/s\"", 2.6e6, 3.1e6), ("", 0.0, 0.05e6)] {
        let text = format!(
            "name = \"le\"\nduration = \"60 s\"\nwarmup = \"20 s\"\n\
             [[link]]\nname = \"l\"\nrate = \"5 Mb/s\"\ndelay = \"25 ms\"\n\
             queue = {{ strict-priority = {{ limit = \"21 packets\" }} }}\n\
             [[flow]]\nname = \"tcp\"\n{application}\npath = [{{ links = [\"l\"] }}]\n\
             [[flow]]\nname = \"m\"\ncount = 4\npath = [{{ links = [\"l\"], lower_effort = true }}]\n"
        );
        let alone = run(&plan(&text, &["flow.m.count=0"]), 1).flows[0].goodput_bps;
        let beside = run(&plan(&text, &[]), 1);
        let tcp = beside.flows[0].goodput_bps;
        assert!((tcp / alone - 1.0).abs() < 0.01, "{application}: {tcp} of {alone}");
        let lower: f64 = beside.flows[1..].iter().map(|flow| flow.throughput_bps).sum();
        assert!((low..high).contains(&lower), "{application}: {lower}");
    }
}

#[test]
fn tfrc_shares_a_link_with_a_tcp() {
    let one = share(&outcome("tfrc", &[0], &[1], 240));
    assert!((0.4..0.62).contains(&one), "{one}");
    let four = outcome("tfrc", &[0; 4], &[4], 240);
    let fair = share(&four);
    assert!((0.4..0.62).contains(&fair), "four of each: {fair}");
}

#[test]
fn fractions_of_tfrc_and_bilevel_tfrc_are_one_tcp_on_a_shared_link() {
    for flows in [1, 4, 16] {
        for (controller, band) in [("tfrc:fractional", 0.35..0.62), ("bilevel-tfrc", 0.38..0.6)] {
            let fair = share(&outcome(controller, &vec![0; flows], &[1], 240));
            assert!(band.contains(&fair), "{controller} {flows}: {fair}");
        }
    }
}

#[test]
fn bilevel_tfrc_has_a_third_of_two_contested_paths_and_most_of_empty_ones() {
    let third = share(&outcome("bilevel-tfrc", &[0, 1], &[1, 1], 240));
    assert!((0.25..0.39).contains(&third), "{third}");
    let (one, _) = rates(&outcome("reno", &[0], &[0], 120));
    let (empty, _) = rates(&outcome("bilevel-tfrc", &[0, 1, 2, 3], &[0; 4], 240));
    assert!(empty > 0.75 * 4.0 * one, "{empty} of 4 × {one}");
}

#[test]
fn two_hundred_thousand_packets_leave_the_loss_estimate_of_tfrc_right() {
    // Random loss alone: TFRC's rate is that of its response function at this loss.
    let text = "name = \"long\"\nduration = \"1600 s\"\nwarmup = \"1500 s\"\n[[link]]\nname = \"l\"\n\
                rate = \"100 Mb/s\"\ndelay = \"25 ms\"\nloss = { probability = 0.01 }\n\
                [[flow]]\nname = \"m\"\ncontroller = \"tfrc\"\npath = [{ links = [\"l\"] }]\n";
    let early = run(&plan(text, &["warmup=20 s", "duration=120 s"]), 1);
    let late = run(&plan(text, &[]), 1);
    assert!(late.conservation.sent > 200_000);
    let (early, late) = (rates(&early).0, rates(&late).0);
    assert!((0.85..1.15).contains(&(late / early)), "{early} {late}");
    let predicted = 12_000.0 * control::tfrc::response(0.01, Span::millis(50)).0;
    assert!((0.8..1.2).contains(&(late / predicted)), "{late} {predicted}");
}

#[test]
fn one_tcp_striped_over_unequal_paths_takes_reordering_for_loss() {
    let rate = |delay: u32, striped: bool| {
        let text = format!(
            "name = \"s\"\nduration = \"60 s\"\nwarmup = \"10 s\"\n[[link]]\nname = \"a\"\nrate = \"5 Mb/s\"\n\
             delay = \"25 ms\"\nqueue = {{ droptail = {{ packets = \"200 packets\" }} }}\n\
             [[link]]\nname = \"b\"\nrate = \"5 Mb/s\"\ndelay = \"{delay} ms\"\n\
             queue = {{ droptail = {{ packets = \"200 packets\" }} }}\n[[flow]]\nname = \"m\"\n\
             striped = {striped}\npath = [{{ links = [\"a\"] }}, {{ links = [\"b\"] }}]\n"
        );
        let outcome = run(&plan(&text, &[]), 1);
        let dropped: u64 = outcome.links.iter().map(|link| link.dropped_packets).sum();
        let again: u64 = outcome.paths.iter().map(|path| path.retransmits).sum();
        (rates(&outcome).0 / 10e6, again.saturating_sub(dropped))
    };
    assert_eq!(rate(25, true).1, 0, "paths of one length keep the order");
    let (striped, spurious) = rate(75, true);
    assert!(striped < 0.5 && spurious > 0, "{striped} {spurious}");
    let (split, spurious) = rate(75, false);
    assert!(split > 0.9 && spurious == 0, "{split} {spurious}");
}
