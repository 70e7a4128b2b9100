//! What this kernel offers, what that allows, and how to get what is missing.

use crate::output::{say, table, write_json};
use kernel::{
    Controller, LOCKDOWN, Refused, Settings, TO_LOAD, is_root, lacking, program, read_setting,
};
use serde::Serialize;
use std::fs;
use std::path::Path;

/// The first kernel whose `cong_control` has the signature that the controllers are written for.
const LEAST_KERNEL: (u32, u32) = (6, 10);

const BTF: &str = "/sys/kernel/btf/vmlinux";

const AS_ROOT: &str = "see root";

/// The row about the user, not about the kernel.
const ROOT: &str = "root";

/// Whether something is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Yes,
    No,
    Unknown,
}

impl From<bool> for State {
    fn from(holds: bool) -> Self {
        if holds { State::Yes } else { State::No }
    }
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Yes => "yes",
            State::No => "no",
            State::Unknown => "unknown",
        }
    }
}

/// One thing that a kernel has or lacks.
#[derive(Serialize)]
struct Fact {
    name: &'static str,
    state: State,
    detail: String,
    /// How to get it if it is missing.
    remedy: String,
    /// Whether `load` needs it.
    needed_for: &'static [&'static str],
}

#[derive(Serialize)]
struct Found {
    facts: Vec<Fact>,
    load: State,
}

fn fact(
    name: &'static str,
    state: impl Into<State>,
    detail: impl Into<String>,
    remedy: impl Into<String>,
) -> Fact {
    let (detail, remedy) = (detail.into(), remedy.into());
    Fact { name, state: state.into(), detail, remedy, needed_for: &["load"] }
}

/// Prints what there is, or writes it into a file; whether nothing is missing.
pub(crate) fn command(json: Option<&Path>) -> Result<bool, Refused> {
    let facts = facts();
    let load = allows(&facts);
    let found = Found { facts, load };
    match json {
        Some(file) => write_json(file, &found, false)?,
        None => print(&found)?,
    }
    Ok(load != State::No)
}

fn print(found: &Found) -> Result<(), Refused> {
    let row = |fact: &Fact| {
        let remedy = if fact.state == State::Yes { "" } else { &fact.remedy };
        [fact.name, fact.state.word(), &fact.detail, remedy].map(str::to_owned).to_vec()
    };
    let rows: Vec<Vec<String>> = found.facts.iter().map(row).collect();
    say(&table("This kernel", &["part", "there", "detail", "remedy"], &rows, 4))?;
    let others = found.facts.iter().filter(|fact| fact.name != ROOT);
    let answer = match found.load == State::No && allows(others) != State::No {
        true => {
            "not as this user: run it as root; every part that can be checked without root is \
                 there"
        }
        false => found.load.word(),
    };
    say(&format!("load (controllers in the kernel): {answer}"))?;
    // What any of our processes leaves when it is killed.
    for left in kernel::loaded().unwrap_or_default() {
        let name = left.kernel_name;
        let law = name.strip_prefix("ab_").unwrap_or(&name);
        say(&format!("{name} is in the kernel; `anabranch-linux unload {law}` takes it out"))?;
    }
    let assigned = kernel::assigned().unwrap_or_default();
    for one in assigned.iter().filter(|one| one.cgroup.is_some()) {
        let (name, cgroup) = (&one.controller, one.told());
        let law = name.strip_prefix("ab_").unwrap_or(name);
        say(&format!(
            "{name} is assigned to {cgroup}; `anabranch-linux unassign {law} --cgroup {cgroup}` \
             ends that"
        ))?;
    }
    Ok(())
}

/// Whether everything is present.
fn allows<'a>(facts: impl IntoIterator<Item = &'a Fact> + Clone) -> State {
    let needed = || facts.clone().into_iter().filter(|fact| !fact.needed_for.is_empty());
    let any = |state| needed().any(|fact| fact.state == state);
    match (any(State::No), any(State::Unknown)) {
        (true, _) => State::No,
        (false, true) => State::Unknown,
        (false, false) => State::Yes,
    }
}

/// All of them, in the order of a table. Nothing is left behind.
fn facts() -> Vec<Fact> {
    let looks = [
        version,
        rights,
        capabilities,
        lockdown,
        controllers,
        mptcp,
        types,
        operations,
        siblings,
        compiler,
        writable,
        pins,
    ];
    looks.map(|look| look()).into()
}

fn version() -> Fact {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().ok());
    let own = numbers.next().flatten().zip(numbers.next().flatten());
    let enough = own.is_some_and(|own: (u32, u32)| own >= LEAST_KERNEL);
    let (major, minor) = LEAST_KERNEL;
    let remedy = format!("needs Linux {major}.{minor} or later");
    fact("kernel", enough, format!("Linux {release}"), remedy)
}

fn rights() -> Fact {
    let detail = format!("user {}", rustix::process::geteuid().as_raw());
    fact(ROOT, is_root(), detail, "run it as root: sudo anabranch-linux …")
}

/// Rights that root may be without.
fn capabilities() -> Fact {
    const NAME: &str = "capabilities";
    if !is_root() {
        return fact(NAME, State::Unknown, "those of root", AS_ROOT);
    }
    match lacking() {
        None => fact(NAME, true, TO_LOAD.join(", "), ""),
        Some(why) => {
            let (detail, remedy) = why.split_once("; ").unwrap_or((&why, ""));
            fact(NAME, false, detail, remedy)
        }
    }
}

/// Whether the kernel keeps its memory from root, and so from BPF.
fn lockdown() -> Fact {
    const NAME: &str = "lockdown";
    let Some(level) = kernel::lockdown() else {
        let detail = format!("{LOCKDOWN} is not there");
        let remedy = "mount -t securityfs securityfs /sys/kernel/security; see fields";
        return Fact { needed_for: &[], ..fact(NAME, State::Unknown, detail, remedy) };
    };
    let detail = match &*level {
        "confidentiality" => {
            "confidentiality: BPF may not read the kernel's memory, as controllers do".to_owned()
        }
        _ => format!("{level}: BPF may read the kernel's memory"),
    };
    let remedy = "boot without lockdown=confidentiality; integrity does no harm";
    fact(NAME, level != "confidentiality", detail, remedy)
}

fn controllers() -> Fact {
    fact("controllers", true, "compiled into this build", "")
}

fn mptcp() -> Fact {
    match read_setting("net.mptcp.enabled").ok().flatten() {
        None => fact("MPTCP", false, "the kernel has none", "a kernel with CONFIG_MPTCP=y"),
        Some(on) => {
            let detail = format!("net.mptcp.enabled = {on}");
            fact("MPTCP", on == "1", detail, "sysctl -w net.mptcp.enabled=1")
        }
    }
}

/// The kernel's own types, which a controller is fitted to when it is loaded.
fn types() -> Fact {
    fact("BTF", Path::new(BTF).exists(), BTF, "a kernel with CONFIG_DEBUG_INFO_BTF=y")
}

/// BPF programs in the place of a congestion control.
fn operations() -> Fact {
    let remedy = "a kernel with CONFIG_BPF_JIT=y and BPF struct_ops for tcp_congestion_ops";
    let state = has_types(&["bpf_struct_ops_tcp_congestion_ops"]);
    fact("struct_ops", state, "of tcp_congestion_ops", remedy)
}

/// Kernel types that a subflow needs to find its siblings.
fn siblings() -> Fact {
    let remedy = "a kernel with CONFIG_MPTCP=y built in, and its types in BTF";
    let state = has_types(&["mptcp_subflow_context", "conn_list", "bpf_rdonly_cast"]);
    fact("siblings", state, "the list of subflows can be walked", remedy)
}

/// The kernel's compiler of BPF programs, which struct_ops need.
fn compiler() -> Fact {
    let Ok(on) = read_setting("net.core.bpf_jit_enable") else {
        return fact("JIT", State::Unknown, "only root may look", AS_ROOT);
    };
    let Some(on) = on else {
        let hidden = "not shown in this network namespace";
        return Fact { needed_for: &[], ..fact("JIT", State::Unknown, hidden, "see fields") };
    };
    let enabled = matches!(&*on, "1" | "2");
    let detail = format!("net.core.bpf_jit_enable = {on}");
    fact("JIT", enabled, detail, "sysctl -w net.core.bpf_jit_enable=1")
}

/// The fields that a controller writes: shown by loading one and taking it out again.
fn writable() -> Fact {
    const NAME: &str = "fields";
    let fields = "snd_cwnd, snd_ssthresh, sk_pacing_rate, icsk_ca_priv";
    let hindered = match is_root() {
        false => Some(AS_ROOT),
        true => lacking().map(|_| "see capabilities"),
    };
    if let Some(why) = hindered {
        return fact(NAME, State::Unknown, format!("{fields}; not tried"), why);
    }
    let Some(olia) = program("olia") else {
        return fact(NAME, State::Unknown, format!("{fields}; not tried"), "a build with OLIA");
    };
    let name = format!("ab{}_check", std::process::id());
    match Controller::load(olia, &Settings { name: Some(name), ..Settings::default() }) {
        Ok(_) => fact(NAME, true, fields, ""),
        Err(error) => {
            let said = format!("{error:#}");
            let line = said.lines().next().unwrap_or_default();
            let detail = format!("this kernel cannot run the controller olia: {line}");
            fact(NAME, false, detail, "see what the kernel said: anabranch-linux load olia")
        }
    }
}

/// The file system that keeps a controller when the command has ended.
fn pins() -> Fact {
    let known = fs::read_to_string("/proc/filesystems").is_ok_and(|all| all.contains("\tbpf\n"));
    let detail = "mounted at /sys/fs/bpf when needed";
    fact("bpffs", known, detail, "a kernel with CONFIG_BPF_SYSCALL=y")
}

/// Whether names are among the kernel's own types; needs no privilege.
fn has_types(names: &[&str]) -> State {
    match fs::read(BTF) {
        Ok(bytes) => {
            let whole = |name: &&str| format!("\0{name}\0").into_bytes();
            let there = |name: Vec<u8>| bytes.windows(name.len()).any(|part| part == name);
            names.iter().map(whole).all(there).into()
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => State::No,
        Err(_) => State::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_part_outweighs_one_that_is_unknown() {
        let known = |state| fact("part", state, "", "");
        let (yes, unknown) = (known(State::Yes), known(State::Unknown));
        assert_eq!(allows([&yes, &unknown]), State::Unknown);
        assert_eq!(allows([&yes, &unknown, &known(State::No)]), State::No);
        assert_eq!(allows([&yes]), State::Yes);
    }
}
