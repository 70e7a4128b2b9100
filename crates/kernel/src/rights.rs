//! Rights of this process: root may lack some, as in a container.

use rustix::process::geteuid;
use rustix::thread::{CapabilitySet, capabilities};
use std::fs;

/// Capabilities that are needed to load, read and remove controllers (capabilities(7)).
pub const TO_LOAD: [&str; 3] = ["CAP_BPF", "CAP_NET_ADMIN", "CAP_PERFMON"];

/// Capabilities by name, in the order in which they are told.
const NAMED: [(&str, CapabilitySet); 4] = [
    ("CAP_BPF", CapabilitySet::BPF),
    ("CAP_NET_ADMIN", CapabilitySet::NET_ADMIN),
    ("CAP_PERFMON", CapabilitySet::PERFMON),
    ("CAP_SYS_ADMIN", CapabilitySet::SYS_ADMIN),
];

/// The level of lockdown, in brackets among all (kernel_lockdown(7)).
pub const LOCKDOWN: &str = "/sys/kernel/security/lockdown";

/// Why a controller cannot be loaded under the highest level of lockdown.
pub(crate) const LOCKED: &str = "the kernel is locked down (confidentiality), and BPF may not read \
                                 its memory, as controllers do";

/// Capabilities that `CAP_SYS_ADMIN` includes.
const IN_SYS_ADMIN: CapabilitySet = CapabilitySet::BPF.union(CapabilitySet::PERFMON);

/// The map of user ids of the machine's first user namespace.
const WHOLE: [&str; 3] = ["0", "0", "4294967295"];

const OF_NAMESPACE: &str = "this is root of a user namespace, which may neither load BPF nor enter \
                            the machine's network namespaces; run it as the machine's own root, \
                            outside of a rootless container";

/// Whether this process runs as root.
pub fn is_root() -> bool {
    geteuid().is_root()
}

/// What a command needs: to look at sockets of all namespaces, and at what others have loaded,
/// takes more than to load.
fn needed(command: &str) -> &'static [&'static str] {
    match command {
        "status" => &["CAP_BPF", "CAP_NET_ADMIN", "CAP_PERFMON", "CAP_SYS_ADMIN"],
        _ => &TO_LOAD,
    }
}

/// The level of lockdown; `None` if the kernel does not tell it.
pub fn lockdown() -> Option<String> {
    let text = fs::read_to_string(LOCKDOWN).ok()?;
    text.split(['[', ']']).nth(1).map(str::to_owned)
}

/// Whether BPF may not read the kernel's memory, as far as the kernel tells.
pub(crate) fn locked() -> bool {
    lockdown().is_some_and(|level| level == "confidentiality")
}

/// Which right of [`TO_LOAD`] is missing and, after a semicolon, what to do; `None` if none is.
pub fn lacking() -> Option<String> {
    lacking_for("load")
}

/// The same for a command.
pub(crate) fn lacking_for(command: &str) -> Option<String> {
    let map = fs::read_to_string("/proc/self/uid_map");
    if map.is_ok_and(|map| !map.split_whitespace().eq(WHOLE)) {
        return Some(OF_NAMESPACE.to_owned());
    }
    let own = capabilities(None).map_or(CapabilitySet::empty(), |own| own.effective);
    without(own, needed(command))
}

/// The same for a root of the machine with these capabilities.
fn without(mut own: CapabilitySet, wanted: &[&str]) -> Option<String> {
    if own.contains(CapabilitySet::SYS_ADMIN) {
        own.insert(IN_SYS_ADMIN);
    }
    let missing = NAMED.iter().filter(|(name, bit)| wanted.contains(name) && !own.contains(*bit));
    let names: Vec<&str> = missing.map(|(name, _)| *name).collect();
    if names.is_empty() {
        return None;
    }
    let options: Vec<String> = names
        .iter()
        .map(|name| format!("--cap-add={}", name.strip_prefix("CAP_").unwrap_or(name)))
        .collect();
    Some(format!(
        "this root is without {}; in a container: {}, or --privileged",
        names.join(", "),
        options.join(" ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_capability_is_named_with_the_option_of_a_container() {
        assert_eq!(without(CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN, &TO_LOAD), None);
        let text = "this root is without CAP_BPF, CAP_PERFMON; in a container: --cap-add=BPF \
                    --cap-add=PERFMON, or --privileged";
        assert_eq!(without(CapabilitySet::NET_ADMIN, &TO_LOAD).as_deref(), Some(text));
    }

    #[test]
    fn to_see_sockets_takes_one_capability_more_than_to_load() {
        let own = CapabilitySet::BPF | CapabilitySet::NET_ADMIN | CapabilitySet::PERFMON;
        assert_eq!(without(own, needed("load")), None);
        let text = without(own, needed("status"));
        assert!(text.is_some_and(|text| text.starts_with("this root is without CAP_SYS_ADMIN;")));
    }
}
