//! Runs a scenario under the controller: `cargo run --release -- FILE.toml [SEEDS] [KEY=VALUE …]`.

use my_controller::OneWindow;
use scenario::Plan;
use simulator::{Observe, Progress, replicate};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: my-controller FILE.toml [SEEDS] [KEY=VALUE …]")?;
    let seeds = arguments.next().map_or(Ok(5), |count| count.parse::<u64>())?;
    let overrides = arguments.map(|text| text.parse()).collect::<Result<Vec<_>, _>>()?;
    let plan = Plan::read(&std::fs::read_to_string(&file)?, &file, &overrides)?;
    let plan = plan.with_outside(Arc::new(OneWindow { gain: 1.0 }));
    let seeds: Vec<u64> = (1..=seeds).collect();
    let outcomes = replicate(&plan, &seeds, Observe::default(), 0, &Progress::default());
    for (number, class) in plan.classes.iter().enumerate() {
        let flows = outcomes.iter().flat_map(|outcome| &outcome.flows);
        let rates: Vec<f64> = flows
            .filter(|flow| flow.class as usize == number)
            .map(|flow| flow.throughput_bps / 1e6)
            .collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        println!("{} ({}): {mean:.3} Mb/s each", class.name, class.controller);
    }
    Ok(())
}
