//! The kinds of the registries that random scenarios must reach.

use control::ControllerSpec;
use network::Queue;
use scenario::{Plan, medium_examples};
use std::collections::BTreeSet;
use transport::Scheduler;

/// Every registered controller with each of its options and slow starts, and the kernel's.
pub(crate) fn controllers() -> BTreeSet<String> {
    ControllerSpec::all().iter().map(controller).collect()
}

/// Every registered queue.
pub(crate) fn queues() -> BTreeSet<String> {
    Queue::short(1, false).iter().map(queue).collect()
}

/// Every registered scheduler.
pub(crate) fn schedulers() -> BTreeSet<String> {
    Scheduler::examples().iter().map(scheduler).collect()
}

/// Every example of every registered medium.
pub(crate) fn media() -> BTreeSet<String> {
    medium_examples().into_iter().map(|example| medium(&example.name)).collect()
}

/// The members of `kinds` that do not occur in `plans`.
pub(crate) fn unreached(
    mut kinds: BTreeSet<String>,
    plans: impl Iterator<Item = Plan>,
) -> BTreeSet<String> {
    for plan in plans {
        for class in &plan.classes {
            kinds.remove(&controller(&class.controller));
            kinds.remove(&scheduler(&class.transport.scheduler));
        }
        for link in &plan.links {
            kinds.remove(&queue(&link.queue));
        }
        for own in &plan.media {
            kinds.remove(&medium(&own.name));
            for station in &own.stations {
                kinds.remove(&queue(&station.settings.queue));
            }
        }
        if kinds.is_empty() {
            break;
        }
    }
    kinds
}

fn controller(spec: &ControllerSpec) -> String {
    format!("controller {spec}")
}

fn queue(queue: &Queue) -> String {
    format!("queue {}", queue.name())
}

/// Identified by its parameters: a scheduler does not give its name, and an example is the same
/// each time.
fn scheduler(scheduler: &Scheduler) -> String {
    format!("scheduler {scheduler:?}")
}

/// Any of several channels counts; their names have numbers after a slash.
fn medium(name: &str) -> String {
    format!("medium {}", name.split('/').next().unwrap_or(name))
}
