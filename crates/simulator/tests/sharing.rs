//! How flows share a RED link, and the share of several paths of one connection.

mod common;

use common::{goodputs, mean, plan, runs};

/// Twenty flows, half a megabit each; the curve of Khalili's scenarios.
const TWENTY: &str = r#"
name = "twenty"
duration = "330 s"
warmup = "30 s"

[[link]]
name = "bottleneck"
rate = "10 Mb/s"
delay = "55 ms"
queue = { red = { min = "25 packets", max = "50 packets", max_p = 0.1, weight = 0.0625, spacing = "independent", limit = "200 packets" } }

[[flow]]
name = "tcp"
count = 20
spread = "5 s"

[[flow.path]]
links = ["bottleneck"]
"#;

/// Jain, Chiu and Hawe 1984.
fn jain(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    sum * sum / (rates.len() as f64 * rates.iter().map(|rate| rate * rate).sum::<f64>())
}

#[test]
fn twenty_flows_fill_a_red_link_and_share_it_evenly() {
    let outcomes = runs(&plan(TWENTY, &[]), 4);
    let utilisation = mean(&outcomes, |outcome| outcome.links[0].utilisation);
    println!("utilisation {utilisation:.4}, over seeds Jain {:.4}", jain(&goodputs(&outcomes, 0)));
    assert!(utilisation >= 0.97, "{utilisation}");
    for outcome in &outcomes {
        let rates: Vec<f64> = outcome.flows.iter().map(|flow| flow.goodput_bps).collect();
        let (jain, utilisation) = (jain(&rates), outcome.links[0].utilisation);
        println!("seed {}: utilisation {utilisation:.4}, Jain {jain:.4}", outcome.seed);
        assert!(jain >= 0.98, "seed {}: Jain {jain}", outcome.seed);
        assert!((0.97..=1.0).contains(&utilisation), "seed {}: {utilisation}", outcome.seed);
    }
}

/// As many connections of two paths each as of one path, all through one link. Rates are ample, so
/// that windows are well above their floors (about twelve segments for a TCP).
const SHARED: &str = r#"
name = "shared"
duration = "230 s"
warmup = "30 s"

[[link]]
name = "bottleneck"
rate = "20 Mb/s"
delay = "30 ms"
queue = { red = { min = "50 packets", max = "100 packets", max_p = 0.1, weight = 0.0625, spacing = "independent", limit = "400 packets" } }

[[flow]]
name = "multipath"
count = 5
controller = "lia"
spread = "5 s"

[[flow.path]]
links = ["bottleneck"]

[[flow.path]]
links = ["bottleneck"]

[[flow]]
name = "single"
count = 5
spread = "5 s"

[[flow.path]]
links = ["bottleneck"]
"#;

/// The rate of a connection of two paths, in units of a TCP on the same link.
fn share(controller: &str) -> f64 {
    let change = format!("flow.multipath.controller={controller}");
    let outcomes = runs(&plan(SHARED, &[&change]), 4);
    let total = |class| goodputs(&outcomes, class).iter().sum::<f64>();
    let share = total(0) / total(1);
    println!("{controller}: {share:.3} of a TCP's share");
    share
}

/// Two paths of one loss probability and one round trip balance at one TCP in total; the second
/// path's window is nearer to its floor, and halving one of two windows is gentler, which leaves
/// them slightly above. Uncoupled paths are two TCPs.
#[test]
fn coupled_paths_through_one_bottleneck_take_about_one_share_and_uncoupled_ones_two() {
    for controller in ["lia", "olia", "balia", "semicoupled", "ewtcp", "dwc"] {
        let share = share(controller);
        assert!((0.8..=1.25).contains(&share), "{controller}: {share}");
    }
    let two = share("uncoupled");
    assert!((1.8..=2.2).contains(&two), "uncoupled: {two}");
}
