//! Memory available to this process, and whether a run fits into it.

use crate::ScenarioError;
use pyo3::PyResult;
use scenario::Plan;
use simulator::{EVENT_BYTES, Need, Observe, needed};
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Memory of the interpreter, printed tables and the allocator besides a run.
const BESIDE: u64 = 128 << 20;

/// Memory that must stay free during runs: more than they allocate between two checks.
const LEAST: u64 = 16 << 20;

/// Limits of runs.
pub(crate) struct Allowance {
    /// Most entries in the log of events of each run.
    pub(crate) entries: usize,
    /// Memory at the start and the expected need of runs; `None` where memory is unknown.
    expected: Option<Expected>,
}

struct Expected {
    available: u64,
    taken: u64,
}

impl Allowance {
    const UNKNOWN: Allowance = Allowance { entries: usize::MAX, expected: None };

    /// The reason why runs must end now, before the allocator aborts the process. Either memory
    /// runs out, or packets in flight and in queues, which are not estimated, have taken so much
    /// that their rings cannot double.
    pub(crate) fn ends(&self) -> Option<String> {
        let expected = self.expected.as_ref()?;
        let (left, limit) = available()?;
        let more = expected.available.saturating_sub(left).saturating_sub(expected.taken);
        (left < LEAST || more > BESIDE && left < 2 * more).then(|| {
            format!(
                "{} are left ({limit}), and runs have taken {} more than was expected: packets in \
                 flight and in long queues are not estimated\nhelp: lower rates, delays or limits \
                 of queues, or run fewer replications at one time (`--threads 1`)",
                figure(left),
                figure(more)
            )
        })
    }
}

fn figure(bytes: u64) -> String {
    match bytes {
        0..1_000_000_000 => format!("{:.0} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// Refuses runs that are expected to need more memory than available; returns their limits. Where
/// memory is unknown they are allowed, without a limit.
///
/// # Errors
/// ScenarioError, with the need, the available memory and what to change.
pub(crate) fn check(
    plan: &Plan,
    observe: Observe,
    runs: usize,
    threads: usize,
) -> PyResult<Allowance> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let at_once = if threads == 0 { cores() } else { threads };
    let need = needed(plan, observe, runs, at_once);
    let Some((available, limit)) = available() else {
        return Ok(Allowance::UNKNOWN);
    };
    let all = need.total().saturating_add(BESIDE);
    if let Some(left) = available.checked_sub(all) {
        let entries = usize::try_from((left + need.events) / EVENT_BYTES).unwrap_or(usize::MAX);
        let logged = if observe.events.is_some() { left } else { 0 };
        let expected = Expected { available, taken: need.total() + logged };
        return Ok(Allowance { entries: entries / runs.max(1), expected: Some(expected) });
    }
    let help = match need {
        Need { series, world, events, .. } if series > world.max(events) => {
            "lengthen `sample`, shorten `duration`, or leave `--series` out"
        }
        Need { events, world, .. } if events > world => {
            "shorten `duration`, use fewer replications, or leave `--events` out"
        }
        Need { tables, world, .. } if tables > world => "use fewer replications",
        _ if runs > 1 && at_once > 1 => "use fewer threads (`--threads 1`), or fewer users",
        _ => "use fewer users (`count`, `arrivals`) or fewer paths",
    };
    let Need { world, tables, series, events } = need;
    Err(ScenarioError::new_err(format!(
        "{} needs about {} of memory (connections, links and packets {}, tables {}, series {}, \
         events {}, the program itself {}); {} are available ({limit})\nhelp: {help}",
        plan.name,
        figure(all),
        figure(world),
        figure(tables),
        figure(series),
        figure(events),
        figure(BESIDE),
        figure(available),
    )))
}

/// Bytes that this process can still allocate, and the limiting resource; `None` if no limit is
/// known.
fn available() -> Option<(u64, &'static str)> {
    let limits = [
        (machine(), "what the machine has free"),
        (group(), "the limit of the control group"),
        (process("Max address space", "VmSize"), "the limit of address space, ulimit -v"),
        (process("Max data size", "VmData"), "the limit of data, ulimit -d"),
    ];
    let known = limits.into_iter().filter_map(|(bytes, name)| Some((bytes?, name)));
    known.min_by_key(|(bytes, _)| *bytes)
}

/// The number after `key` in lines of `KEY NUMBER kB`, in bytes.
fn field(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

fn machine() -> Option<u64> {
    let text = read_to_string("/proc/meminfo").ok()?;
    let swap = field(&text, "SwapFree").unwrap_or(0);
    Some(field(&text, "MemAvailable")?.saturating_add(swap))
}

/// The rest of a limit of this process; `None` if it is unlimited.
fn process(limit: &str, used: &str) -> Option<u64> {
    let limits = read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix(limit))?;
    let soft: u64 = line.split_whitespace().next()?.parse().ok()?;
    let used = field(&read_to_string("/proc/self/status").ok()?, used)?;
    Some(soft.saturating_sub(used))
}

/// The rest of the limits of this process's control group and its ancestors.
fn group() -> Option<u64> {
    let text = read_to_string("/proc/self/cgroup").ok()?;
    let of = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
        let (root, files) = match controllers {
            "" => ("/sys/fs/cgroup", ["memory.max", "memory.current"]),
            own if own.split(',').any(|own| own == "memory") => {
                ("/sys/fs/cgroup/memory", ["memory.limit_in_bytes", "memory.usage_in_bytes"])
            }
            _ => return None,
        };
        let own: PathBuf = Path::new(root).join(path);
        let around = own.ancestors().take_while(|folder| folder.starts_with(root));
        around.filter_map(|folder| left(folder, files)).min()
    };
    text.lines().filter_map(of).min()
}

/// The rest in one group: cached files can be evicted.
fn left(folder: &Path, [limit, usage]: [&str; 2]) -> Option<u64> {
    let number =
        |file: &str| -> Option<u64> { read_to_string(folder.join(file)).ok()?.trim().parse().ok() };
    let stat = read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let cached = stat.lines().find_map(|line| line.strip_prefix("inactive_file "));
    let cached: u64 = cached.and_then(|bytes| bytes.parse().ok()).unwrap_or(0);
    Some(number(limit)?.saturating_sub(number(usage)?.saturating_sub(cached)))
}
