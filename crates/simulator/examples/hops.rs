//! Runs a scenario once and prints the values for benchmarks: packet-hops, events, digest, class
//! means, and on Linux the peak of resident memory.
//!
//! `cargo run --release --example hops -- benches/workloads/w1.toml [seed] [key=value …]`

use scenario::Plan;
use simulator::{Observe, Progress, run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: hops SCENARIO [seed] [key=value …]")?;
    let seed = arguments.next().map_or(Ok(1), |seed| seed.parse())?;
    let overrides = arguments.map(|text| text.parse()).collect::<Result<Vec<_>, _>>()?;
    let text = std::fs::read_to_string(&file)?;
    let plan = Plan::read(&text, &file, &overrides)?;
    let outcome = run(&plan, seed, Observe::default(), &Progress::default()).ok_or("stopped")?;
    println!(
        "hops {} events {} digest {:016x}",
        outcome.packet_hops, outcome.events, outcome.digest
    );
    println!("{:?}", outcome.conservation);
    for (index, class) in plan.classes.iter().enumerate() {
        let flows = outcome.flows.iter().filter(|flow| flow.class as usize == index);
        let rates: Vec<f64> = flows.map(|flow| flow.throughput_bps / 1e6).collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        println!("{}: {mean:.4} Mb/s each, {:?}", class.name, outcome.classes[index]);
    }
    for (link, row) in plan.links.iter().zip(&outcome.links) {
        let loss = row.dropped_packets as f64 / row.arrived_packets.max(1) as f64;
        println!("{}: loss {loss:.4} {row:?}", link.name);
    }
    if let Some(peak) = peak() {
        println!("peak {peak}");
    }
    Ok(())
}

/// The most resident memory that this process had, as Linux tells it, such as `5120 kB`. What
/// `wait4` tells its parent includes the parent's own.
fn peak() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().into())
}
