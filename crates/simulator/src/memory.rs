//! Memory needs of the runs of a plan, from its numbers of users, paths, links and samples.
//!
//! The constants are resident bytes, measured with 20,000 to 100,000 users and rounded up; a test
//! in `tests/test_memory.py` compares them with the memory of runs.

use crate::run::Observe;
use network::Queue;
use scenario::schema::Protocol;
use scenario::{Class, Plan};

/// Bytes of a connection, without its paths.
const USER: u64 = 250;

/// Bytes of a path with little data in flight.
const PATH: u64 = 900;

/// Bytes of a connection over QUIC with its two hosts, and of each of its paths. Its buffers hold
/// references to one block of data.
const QUIC: u64 = 120_000;

/// Bytes of a packet in flight or in a queue: a cache line, and the sender's record of it.
const PACKET: u64 = 100;

/// Bytes of a user's private copy of a link, with the ring that the first packets of its user leave
/// there; without packets it has 340.
const COPY: u64 = 650;

/// Bytes of a path in the tables of a finished run, with its part of the flow.
const RESULT: u64 = 500;

/// Bytes of a number in a series: lists double when they are full, and their last copy goes to
/// Python.
const SAMPLE: u64 = 24;

/// Bytes of an entry in the log of events: 24 in the run, and up to 72 in the columns of Python
/// while they are built.
pub const EVENT_BYTES: u64 = 110;

/// Log entries of a lost packet: its loss, and the sender's reaction.
const ENTRIES: f64 = 2.0;

/// Assumed fraction of a bottleneck's packets that its queue drops. Single runs can have ten times
/// that.
const DROPPED: f64 = 0.01;

/// Numbers in a series at each sampling time: for a path, a connection, and a link.
const COLUMNS: [u64; 3] = [7, 1, 2];

/// Memory of runs, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Connections, links and packets of simultaneous runs.
    pub world: u64,
    /// Tables of all runs.
    pub tables: u64,
    /// Series of all runs.
    pub series: u64,
    /// Logs of events of all runs.
    pub events: u64,
}

impl Need {
    /// The sum.
    pub fn total(self) -> u64 {
        let parts = [self.world, self.tables, self.series, self.events];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}

/// The memory of `runs` runs of `plan`, with up to `at_once` of them at a time.
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
    let quic = plan.classes.iter().filter(|class| class.protocol == Protocol::Quic);
    let quic: u64 =
        quic.map(|class| u64::from(class.count) * class.paths.len() as u64 * QUIC).sum();
    let world = users * USER + paths * PATH + copies * COPY + (started + queued) * PACKET + quic;
    let numbers = paths * COLUMNS[0] + users * COLUMNS[1] + plan.links.len() as u64 * COLUMNS[2];
    let samples = plan.duration.0 / plan.sample.0.max(1) + 1;
    let series = samples.saturating_mul(numbers + 1).saturating_mul(SAMPLE);
    Need {
        world: world.saturating_mul(at_once),
        tables: (paths * RESULT).saturating_mul(runs),
        series: if observe.series { series.saturating_mul(runs) } else { 0 },
        events: if observe.events.is_some() { logged(plan).saturating_mul(runs) } else { 0 },
    }
}

/// Most packets of an initial window in the estimate; larger windows wait for the rate of a link.
const MOST_STARTED: u64 = 100;

/// The size of the log of events of a run, if every path is used to the full: see [`lost`]. Rates
/// are those at the start. Shared media are not counted, because their rates depend on the senders.
/// The size is an expectation: a log that outgrows its memory ends early, and the run goes on.
fn logged(plan: &Plan) -> u64 {
    let mut tight = vec![Tight::default(); plan.links.len()];
    for class in &plan.classes {
        let users = f64::from(class.count);
        for path in &class.paths {
            let slowest = path.links.iter().copied().filter_map(|link| {
                let copies = if plan.links[link].per_user { users } else { 1.0 };
                Some((link, plan.links[link].rate?.0 as f64 * copies))
            });
            let Some((link, rate)) = slowest.min_by(|a, b| a.1.total_cmp(&b.1)) else {
                continue;
            };
            let crossed = path.links.iter().chain(&path.back);
            let losses = crossed.filter_map(|link| plan.links[*link].loss.as_ref());
            let random: f64 = losses.map(|loss| loss.probability).sum();
            let own = &mut tight[link];
            own.room = own.room.max(packets(plan, class, rate));
            own.random = own.random.max(random);
            match wanted(plan, class) {
                wanted if class.protocol == Protocol::Udp => own.constant += wanted,
                wanted => own.adaptive += wanted,
            }
        }
    }
    let entries: f64 = tight.into_iter().map(|link| ENTRIES * lost(link)).sum();
    (entries * EVENT_BYTES as f64) as u64
}

/// Capacity of the bottleneck link of some paths, and their load, in packets.
#[derive(Clone, Copy, Default)]
struct Tight {
    room: f64,
    /// Load of adaptive senders.
    adaptive: f64,
    /// Load of constant senders.
    constant: f64,
    /// Probability of random loss, both directions together.
    random: f64,
}

/// Packets lost at a link: the load of constant senders above its rate, and the dropped or randomly
/// lost part of the other packets.
fn lost(link: Tight) -> f64 {
    let Tight { room, adaptive, constant, random } = link;
    let carried = room.min(adaptive + constant);
    carried * (DROPPED + random).min(1.0) + (constant - room).max(0.0)
}

/// Packets that the users of `class` send on a path; infinite if they never end.
fn wanted(plan: &Plan, class: &Class) -> f64 {
    let users = f64::from(class.count);
    match (class.transfer, &class.pauses, class.app_rate) {
        (Some(transfer), None, _) => {
            users * (transfer.0 as f64 / f64::from(class.transport.segment())).ceil()
        }
        (_, _, Some(rate)) => packets(plan, class, rate.0 as f64 * users),
        _ => f64::INFINITY,
    }
}

/// Packets that `rate`, in bits per second, carries from the start to the end.
fn packets(plan: &Plan, class: &Class, rate: f64) -> f64 {
    plan.duration.seconds() * rate / (8.0 * class.transport.packet.0 as f64)
}

/// Number of a user's links that are private copies.
fn private(plan: &Plan, class: &Class) -> u64 {
    let ways = class.paths.iter().flat_map(|path| path.links.iter().chain(&path.back));
    let mut own: Vec<usize> = ways.copied().filter(|link| plan.links[*link].per_user).collect();
    own.sort_unstable();
    own.dedup();
    own.len() as u64
}

/// Packets that may wait in a queue of usual size; an enormous queue is hardly ever full.
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
        let series = Observe { series: true, events: None };
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

    /// Log size of `runs` runs in which `flow` shares a link of 12 Mb/s: 1000 packets of 1500 B a
    /// second.
    fn events(duration: &str, link: &str, flow: &str, runs: usize) -> u64 {
        let text = format!(
            "name = 'x'\nduration = '{duration}'\n[[link]]\nname = 'access'\nrate = '1 Gb/s'\n\
             per_user = true\n[[link]]\nname = 'a'\nrate = '12 Mb/s'\n{link}\n[[flow]]\n\
             name = 'f'\n{flow}\n[[flow.path]]\nlinks = ['access', 'a']\n"
        );
        let plan = Plan::read(&text, "x.toml", &[]).unwrap();
        assert_eq!(needed(&plan, Observe::default(), runs, 1).events, 0);
        needed(&plan, Observe { series: false, events: Some(usize::MAX) }, runs, 1).events
    }

    #[test]
    fn a_log_of_events_grows_with_what_the_slowest_link_can_lose() {
        let near = |bytes: u64, packets: f64| {
            let expected = packets * ENTRIES * EVENT_BYTES as f64;
            assert!((bytes as f64 / expected - 1.0).abs() < 1e-3, "{bytes} is not {expected}");
        };
        near(events("100 s", "", "count = 50", 1), 1000.0);
        near(events("100 s", "", "count = 50", 7), 7000.0);
        near(events("10000 s", "", "count = 50", 1), 100_000.0);
        near(events("100 s", "loss = { probability = 0.04 }", "", 1), 5000.0);
        near(events("1000 s", "", "count = 50\ntransfer = '14480 B'", 1), 5.0);
        let udp = "protocol = 'udp'\napp_rate = '36 Mb/s'";
        near(events("100 s", "", udp, 1), 201_000.0);
    }
}
