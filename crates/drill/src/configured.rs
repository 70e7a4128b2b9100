//! What the shell commands of a script have configured: they run in a network namespace as if for
//! the kernel, and this reads from there what a setting of ours has an equal for.

use host::Settings;
use std::fs;
use std::net::Ipv4Addr;
use std::process::Command;
use units::Bytes;

/// An address that the script wants announced: its identifier, and the address.
pub(crate) type Announced = (u8, Ipv4Addr);

/// What the path manager may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Addresses of a peer that may be used (`add_addr_accepted`).
    pub(crate) accepted: usize,
    /// Subflows besides the first one (`subflows`).
    pub(crate) subflows: usize,
}

fn sysctl(name: &str) -> Option<String> {
    fs::read_to_string(format!("/proc/sys/net/{name}")).ok()
}

fn flag(name: &str) -> Option<bool> {
    sysctl(name).map(|text| text.trim() != "0")
}

/// The largest of the three sizes of a buffer.
fn largest(name: &str) -> Option<u64> {
    sysctl(name)?.split_whitespace().last()?.parse().ok()
}

/// The settings of a host whose sockets use MPTCP, or TCP alone.
pub(crate) fn settings(multipath: bool) -> Settings {
    // The scripts' sysctl names CUBIC, which every kernel has.
    let mut settings = Settings::new("cubic".parse().expect("a controller of the laboratory"));
    settings.multipath = multipath && flag("mptcp/enabled") != Some(false);
    settings.checksums = flag("mptcp/checksum_enabled") == Some(true);
    settings.options.sack = flag("ipv4/tcp_sack") != Some(false);
    settings.options.dsack &= settings.options.sack && flag("ipv4/tcp_dsack") != Some(false);
    settings.options.rack &= settings.options.sack;
    settings.options.tlp &= settings.options.sack;
    // Linux' 2 grants ECN and does not ask for it; a host of ours does both or neither.
    settings.options.ecn = flag("ipv4/tcp_ecn") == Some(true);
    if let Some(bytes) = largest("ipv4/tcp_rmem") {
        settings.options.receive_buffer = Bytes(bytes);
    }
    if let Some(bytes) = largest("ipv4/tcp_wmem") {
        settings.send_buffer = bytes as usize;
    }
    settings
}

fn ip(arguments: &[&str]) -> String {
    let done = Command::new("ip").arg("mptcp").args(arguments).output();
    done.map(|done| String::from_utf8_lossy(&done.stdout).into_owned()).unwrap_or_default()
}

/// The addresses that are to be announced.
pub(crate) fn announced() -> Vec<Announced> {
    read_endpoints(&ip(&["endpoint", "show"]))
}

/// Lines such as `10.0.0.1 id 1 signal dev tun0`.
fn read_endpoints(text: &str) -> Vec<Announced> {
    let one = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        let id = words.iter().position(|word| *word == "id")?;
        let signal = words.contains(&"signal");
        Some((words.get(id + 1)?.parse().ok()?, words.first()?.parse().ok()?)).filter(|_| signal)
    };
    text.lines().filter_map(one).collect()
}

/// The limits that the script has set.
pub(crate) fn limits() -> Limits {
    read_limits(&ip(&["limits", "show"]))
}

/// A line such as `add_addr_accepted 8 subflows 8`.
fn read_limits(text: &str) -> Limits {
    let words: Vec<_> = text.split_whitespace().collect();
    let value = |name| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1)?.parse().ok()
    };
    Limits {
        accepted: value("add_addr_accepted").unwrap_or(0),
        subflows: value("subflows").unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_endpoints_that_are_to_be_signalled_are_announced() {
        let text = "10.0.0.2 id 1 signal dev tun0\n10.0.0.3 id 2 subflow\nfe80::1 id 3 signal \n";
        assert_eq!(read_endpoints(text), [(1, Ipv4Addr::new(10, 0, 0, 2))]);
    }

    #[test]
    fn limits_that_are_not_printed_are_zero() {
        let limits = Limits { accepted: 8, subflows: 3 };
        assert_eq!(read_limits("add_addr_accepted 8 subflows 3 \n"), limits);
        assert_eq!(read_limits(""), Limits::default());
    }
}
