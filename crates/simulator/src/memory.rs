//! How much memory runs of a plan need, by its numbers of users, paths, links and samples.
//!
//! The constants are resident bytes, as measured with 20,000 to 100,000 users and rounded up; a
//! test in `tests/test_memory.py` holds them against what runs take.

use crate::run::Observe;
use network::Queue;
use scenario::{Class, Plan};

/// Of a connection, beside its paths.
const USER: u64 = 700;

/// Of a path with little in flight.
const PATH: u64 = 1000;

/// Of a packet in flight or in a queue: a cache line, and what the sender remembers of it.
const PACKET: u64 = 100;

/// Of a user's private copy of a link.
const COPY: u64 = 400;

/// Of a path in the tables of a finished run, with its part of the flow.
const RESULT: u64 = 500;

/// Of a number in a series: lists double when they are full, and their last copy goes to Python.
const SAMPLE: u64 = 24;

/// Numbers in a series at each sampling time: of a path, of a connection, of a link.
const COLUMNS: [u64; 3] = [7, 1, 2];

/// What runs need, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Connections, links and packets of the runs that go on at one time.
    pub world: u64,
    /// Tables of all runs.
    pub tables: u64,
    /// Series of all runs.
    pub series: u64,
}

impl Need {
    /// All together.
    pub fn total(self) -> u64 {
        self.world.saturating_add(self.tables).saturating_add(self.series)
    }
}

/// What `runs` runs of `plan` need, if up to `at_once` of them go on at one time.
pub fn needed(plan: &Plan, observe: Observe, runs: usize, at_once: usize) -> Need {
    let (runs, at_once) = (runs as u64, at_once.min(runs) as u64);
    let each = |of: &dyn Fn(&Class) -> u64| -> u64 {
        plan.classes.iter().map(|class| u64::from(class.count).saturating_mul(of(class))).sum()
    };
    let users = each(&|_| 1);
    let paths = each(&|class| class.paths.len() as u64);
    let started = each(&|class| {
        let window = class.transport.initial_window as u64;
        class.paths.len() as u64 * window.min(MOST_STARTED)
    });
    let copies = each(&|class| private(plan, class));
    let queued: u64 = plan.links.iter().map(|link| room(&link.queue)).sum();
    let world = users * USER + paths * PATH + copies * COPY + (started + queued) * PACKET;
    let numbers = paths * COLUMNS[0] + users * COLUMNS[1] + plan.links.len() as u64 * COLUMNS[2];
    let samples = plan.duration.0 / plan.sample.0.max(1) + 1;
    let series = samples.saturating_mul(numbers + 1).saturating_mul(SAMPLE);
    Need {
        world: world.saturating_mul(at_once),
        tables: (paths * RESULT).saturating_mul(runs),
        series: if observe.series { series.saturating_mul(runs) } else { 0 },
    }
}

/// Packets of an initial window that count; larger ones wait for the rate of a link.
const MOST_STARTED: u64 = 100;

/// How many links of a user of `class` are copies of its own.
fn private(plan: &Plan, class: &Class) -> u64 {
    let ways = class.paths.iter().flat_map(|path| path.links.iter().chain(&path.back));
    let mut own: Vec<usize> = ways.copied().filter(|link| plan.links[*link].per_user).collect();
    own.sort_unstable();
    own.dedup();
    own.len() as u64
}

/// Packets that may wait in a queue of usual size; an enormous one is hardly ever full.
fn room(queue: &Queue) -> u64 {
    match queue {
        Queue::Unlimited => 0,
        _ => 1000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(count: u32, sample: &str) -> Plan {
        let text = format!(
            "name = 'x'\nduration = '1000 s'\nsample = '{sample}'\n[[link]]\nname = 'a'\n\
             rate = '1 Mb/s'\n[[link]]\nname = 'b'\nrate = '1 Mb/s'\nper_user = true\n[[flow]]\n\
             name = 'f'\ncount = {count}\n[[flow.path]]\nlinks = ['a']\n[[flow.path]]\nlinks = ['b']\n"
        );
        Plan::read(&text, "x.toml", &[]).unwrap()
    }

    #[test]
    fn what_is_needed_grows_with_users_runs_and_samples() {
        let series = Observe { series: true, events: false };
        let need =
            |count, sample, runs, at_once| needed(&plan(count, sample), series, runs, at_once);
        let one = need(1000, "1 s", 1, 1);
        assert!(one.world > 1000 * (USER + 2 * PATH + COPY));
        assert_eq!(need(1000, "1 s", 10, 2).world, 2 * one.world);
        assert_eq!(need(1000, "1 s", 10, 2).series, 10 * one.series);
        assert_eq!(need(1000, "1 s", 1, 8), one, "one run takes one thread");
        assert!(need(1000, "1 us", 1, 1).series > 900_000 * one.series);
        assert_eq!(needed(&plan(1000, "1 s"), Observe::default(), 1, 1).series, 0);
        assert_eq!(need(4_900_000, "1 ns", 1000, 1).total(), u64::MAX, "nothing overflows");
    }
}
