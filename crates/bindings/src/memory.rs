//! How much memory there is for this process, and whether a run fits into it.

use crate::ScenarioError;
use pyo3::PyResult;
use scenario::Plan;
use simulator::{EVENT_BYTES, Need, Observe, needed};
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// What the interpreter, the tables that are printed and the allocator take beside a run.
const BESIDE: u64 = 128 << 20;

/// What must be left while runs go on: more than they take between two looks.
const LEAST: u64 = 16 << 20;

/// What runs may take.
pub(crate) struct Allowance {
    /// Entries that the log of events of each may have.
    pub(crate) entries: usize,
    /// What there was at the start and what runs are expected to take of it; `None` where memory
    /// cannot be known.
    expected: Option<Expected>,
}

struct Expected {
    available: u64,
    taken: u64,
}

impl Allowance {
    const UNKNOWN: Allowance = Allowance { entries: usize::MAX, expected: None };

    /// Why runs must end now, lest the allocator abort the process: memory ends, or packets in
    /// flight and in queues, which are not estimated, have taken so much that no room is left for
    /// their rings to double.
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

/// Refuses runs that are expected to need more memory than there is, and gives what they may take.
/// Where memory cannot be known they are allowed, without a limit.
///
/// # Errors
/// ScenarioError, with what is needed, what there is and what to change.
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

/// Bytes that this process can still take, and what limits them; `None` if nothing says so.
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

/// The number behind `key` in lines of `KEY NUMBER kB`, in bytes.
fn field(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

fn machine() -> Option<u64> {
    let text = read_to_string("/proc/meminfo").ok()?;
    let swap = field(&text, "SwapFree").unwrap_or(0);
    Some(field(&text, "MemAvailable")?.saturating_add(swap))
}

/// What is left of a limit of this process; `None` if it is unlimited.
fn process(limit: &str, used: &str) -> Option<u64> {
    let limits = read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix(limit))?;
    let soft: u64 = line.split_whitespace().next()?.parse().ok()?;
    let used = field(&read_to_string("/proc/self/status").ok()?, used)?;
    Some(soft.saturating_sub(used))
}

/// What is left of the limits of the control group of this process and of those around it.
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

/// What is left in one group: files that are cached make room.
fn left(folder: &Path, [limit, usage]: [&str; 2]) -> Option<u64> {
    let number =
        |file: &str| -> Option<u64> { read_to_string(folder.join(file)).ok()?.trim().parse().ok() };
    let stat = read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let cached = stat.lines().find_map(|line| line.strip_prefix("inactive_file "));
    let cached: u64 = cached.and_then(|bytes| bytes.parse().ok()).unwrap_or(0);
    Some(number(limit)?.saturating_sub(number(usage)?.saturating_sub(cached)))
}
