//! Rights of this process: root may lack some, as in a container.

use rustix::process::geteuid;
use rustix::thread::{CapabilitySet, capabilities};
use std::fs;

/// Capabilities that are needed to load, read and remove controllers (capabilities(7)).
pub const TO_LOAD: [&str; 3] = ["CAP_BPF", "CAP_NET_ADMIN", "CAP_PERFMON"];

/// The same as bits.
const BITS: [CapabilitySet; 3] =
    [CapabilitySet::BPF, CapabilitySet::NET_ADMIN, CapabilitySet::PERFMON];

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

/// Which right of [`TO_LOAD`] is missing and, after a semicolon, what to do; `None` if none is.
pub fn lacking() -> Option<String> {
    let map = fs::read_to_string("/proc/self/uid_map");
    if map.is_ok_and(|map| !map.split_whitespace().eq(WHOLE)) {
        return Some(OF_NAMESPACE.to_owned());
    }
    let own = capabilities(None).map_or(CapabilitySet::empty(), |own| own.effective);
    without(own)
}

/// The same for a root of the machine with these capabilities.
fn without(mut own: CapabilitySet) -> Option<String> {
    if own.contains(CapabilitySet::SYS_ADMIN) {
        own.insert(IN_SYS_ADMIN);
    }
    let missing = TO_LOAD.iter().zip(BITS).filter(|(_, bit)| !own.contains(*bit));
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
        assert_eq!(without(CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN), None);
        let text = "this root is without CAP_BPF, CAP_PERFMON; in a container: --cap-add=BPF \
                    --cap-add=PERFMON, or --privileged";
        assert_eq!(without(CapabilitySet::NET_ADMIN).as_deref(), Some(text));
    }
}
