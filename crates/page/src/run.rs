//! One run of a scenario, as a page asks for it.

use crate::ask::{Fields, wrong};
use crate::packing::Packing;
use scenario::Plan;
use simulator::{EVENT_BYTES, Observe, Progress, needed};

/// The largest seed: numbers of JavaScript are whole up to here.
const LAST_SEED: u64 = (1 << 53) - 1;

/// Most rows of the log of events in an answer.
const MOST_EVENTS: usize = 100_000;

/// Most memory that a run may be expected to need, in bytes. A page has 4 GiB at most, and the
/// answer is there twice while it is packed.
const MOST_MEMORY: u64 = 1 << 30;

pub(crate) fn run(mut fields: Fields, progress: &Progress) -> Result<Vec<u8>, String> {
    let right = format!("a whole number from 0 to {LAST_SEED}");
    let seed: u64 = fields.take("seed", &right)?.unwrap_or(1);
    if seed > LAST_SEED {
        return Err(wrong("seed", &seed.into(), &right));
    }
    let series: bool = fields.take("series", "true or false")?.unwrap_or(false);
    let events: u64 = fields.take("events", "a whole number of rows, 0 for none")?.unwrap_or(0);
    let events = usize::try_from(events).unwrap_or(usize::MAX).min(MOST_EVENTS);
    let plan = fields.scenario()?.plan(fields)?;
    simulator::check(&plan)?;
    let observe = Observe { series, events: (events > 0).then_some(events) };
    check_memory(&plan, observe)?;
    let stopped = || format!("{}: the run was stopped", plan.name);
    let outcome = simulator::run(&plan, seed, observe, progress).ok_or_else(stopped)?;
    let mut to = Packing::default();
    let Ok(()) = tables::outcome(&mut to, &plan, &outcome);
    drop(outcome);
    Ok(to.finish())
}

/// Refuses a run that is expected to need more than [`MOST_MEMORY`].
fn check_memory(plan: &Plan, observe: Observe) -> Result<(), String> {
    let need = needed(plan, Observe { events: None, ..observe }, 1, 1);
    let events = observe.events.unwrap_or(0) as u64 * EVENT_BYTES;
    let total = need.total().saturating_add(events);
    if total <= MOST_MEMORY {
        return Ok(());
    }
    let mib = |bytes: u64| bytes >> 20;
    let help = match need.series > need.world {
        true => "lengthen `sample`, or shorten `duration`",
        false => "use fewer users (`count`, `arrivals`) or fewer paths",
    };
    Err(format!(
        "{} needs about {} MiB of memory (connections, links and packets {} MiB, series {} MiB); a \
         page has {} MiB\nhelp: {help}, or run it with `anabranch run`",
        plan.name,
        mib(total),
        mib(need.world),
        mib(need.series),
        mib(MOST_MEMORY),
    ))
}
