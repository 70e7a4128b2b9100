//! Runs of a plan: single runs, and replications on several threads.

use crate::build::build;
use crate::measure::Meter;
use crate::result::Outcome;
use crate::watch::{Recording, Watch};
use crate::world::World;
use rayon::prelude::*;
use scenario::Plan;
#[cfg(feature = "quic")]
use scenario::schema;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use units::{Span, Time};

/// Results to keep besides the scalars.
#[derive(Clone, Copy, Debug, Default)]
pub struct Observe {
    /// Samples over time.
    pub series: bool,
    /// Every drop, loss, recovery and timeout, up to this many entries.
    pub events: Option<usize>,
}

/// Progress of replications, and the request to stop; shared with the thread that shows it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Simulated nanoseconds, all replications together.
    simulated: AtomicU64,
    stop: AtomicBool,
}

impl Progress {
    /// Simulated seconds so far, all replications together.
    pub fn simulated_s(&self) -> f64 {
        Span(self.simulated.load(Ordering::Relaxed)).seconds()
    }

    /// Ends the replications that have not finished; finished ones are kept.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Whether `plan` can be simulated.
///
/// # Errors
/// Why not: a controller that only the kernel has, or a flow over QUIC that the stack cannot have
/// or that this build does not contain.
pub fn check(plan: &Plan) -> Result<(), String> {
    plan.simulated()?;
    #[cfg(feature = "quic")]
    for class in plan.classes.iter().filter(|class| class.protocol == schema::Protocol::Quic) {
        crate::build::quic_control(class)
            .map_err(|why| format!("flow `{}`: controller: {why}", class.name))?;
    }
    #[cfg(not(feature = "quic"))]
    if let Some(class) = plan.quic() {
        return Err(format!(
            "flow `{}`: protocol is quic, and a page has no QUIC stack; run it with \
             `anabranch run`",
            class.name
        ));
    }
    Ok(())
}

/// Runs `plan` once; `None` if it was stopped.
///
/// # Panics
/// If packets appear or vanish: that is a fault of the simulator.
pub fn run(plan: &Plan, seed: u64, observe: Observe, progress: &Progress) -> Option<Outcome> {
    // No recording is written, so that no write can fail.
    record(plan, seed, observe, Recording::default(), progress).ok().flatten()
}

/// Runs `plan` once and writes `recording`; `None` if it was stopped.
///
/// # Errors
/// The error of the write or, with [`io::ErrorKind::InvalidInput`], a feature of the plan that
/// captures cannot show.
///
/// # Panics
/// If packets appear or vanish: that is a fault of the simulator.
pub fn record(
    plan: &Plan,
    seed: u64,
    observe: Observe,
    recording: Recording,
    progress: &Progress,
) -> io::Result<Option<Outcome>> {
    let watch = Watch::new(plan, seed, observe.events, recording)?.map(Box::new);
    let (mut world, planned) = build(plan, seed, watch.is_some());
    world.watch = watch;
    complete(plan, seed, (world, planned), observe, progress)
}

/// Runs a world to the end of its plan. `planned` has the plan's link of each of its links.
fn complete(
    plan: &Plan,
    seed: u64,
    (mut world, planned): (World, Vec<u32>),
    observe: Observe,
    progress: &Progress,
) -> io::Result<Option<Outcome>> {
    if world.watch.as_ref().is_some_and(|watch| watch.reads_notes()) {
        world.flows.iter_mut().for_each(|flow| flow.ends.keep_notes());
    }
    let mut meter = Meter::new(plan, planned, &world, observe.series);
    if !advance(plan, &mut world, &mut meter, progress) {
        return Ok(None);
    }
    let counts = world.conservation();
    assert!(
        counts.holds(),
        "{} with seed {seed}: packets were lost track of: {counts:?}",
        plan.name
    );
    let events = world.watch.take().map(|watch| watch.finish()).transpose()?.flatten();
    Ok(Some(meter.finish(seed, world, events)))
}

/// Runs a world to the end of its plan; returns whether it was not stopped.
fn advance(plan: &Plan, world: &mut World, meter: &mut Meter<'_>, progress: &Progress) -> bool {
    let (end, warmup) = (Time::from(plan.duration), Time::from(plan.warmup));
    // Without a warm-up, events at time zero count too.
    let mut warm = warmup == Time::ZERO;
    if warm {
        meter.start(world);
    }
    let mut next_sample = Time::ZERO;
    loop {
        if progress.stop.load(Ordering::Relaxed) {
            return false;
        }
        // The next time to look: a sample, the end of the warm-up, or the end.
        let moment = if warm { next_sample } else { next_sample.min(warmup) }.min(end);
        let before = world.now;
        let reached = world.run_until(moment);
        progress.simulated.fetch_add(world.now.since(before).0, Ordering::Relaxed);
        if !reached {
            continue;
        }
        if !warm && moment >= warmup {
            meter.start(world);
            warm = true;
        }
        if moment == next_sample {
            meter.sample(world, warm);
            next_sample = next_sample + plan.sample;
        }
        if moment == end {
            return true;
        }
    }
}

/// Runs `plan` once for each seed on `threads` threads (0: one for each core), but no more than
/// there are seeds. Results are in the order of the seeds, without those that were stopped.
pub fn replicate(
    plan: &Plan,
    seeds: &[u64],
    observe: Observe,
    threads: usize,
    progress: &Progress,
) -> Vec<Outcome> {
    let all = || seeds.par_iter().filter_map(|seed| run(plan, *seed, observe, progress)).collect();
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if threads == 0 { cores() } else { threads }.min(seeds.len()).max(1);
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(all),
        Err(_) => seeds.iter().filter_map(|seed| run(plan, *seed, observe, progress)).collect(),
    }
}

/// Like [`run`], after `change` of the world.
#[cfg(test)]
pub(crate) fn run_changed(
    plan: &Plan,
    seed: u64,
    observe: Observe,
    change: impl FnOnce(&mut World),
) -> Outcome {
    let watch = Watch::new(plan, seed, observe.events, Recording::default());
    let watch = watch.expect("nothing is written").map(Box::new);
    let (mut world, planned) = build(plan, seed, watch.is_some());
    world.watch = watch;
    change(&mut world);
    let done = complete(plan, seed, (world, planned), observe, &Progress::default());
    done.expect("nothing is written").expect("nothing stops it")
}
