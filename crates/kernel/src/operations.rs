//! `struct tcp_congestion_ops`: its members differ between kernels, and between a kernel and
//! `bpf/kernel.h`, so they are found by name in BTF.

use libbpf_rs::Error;
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{MemberAttr, Struct};
use std::collections::BTreeMap;
use std::io;

/// The name of a congestion control's structure.
pub(crate) const OPERATIONS: &str = "tcp_congestion_ops";

/// Called on every event of a window; up to Linux 7.0 also at the beginning of a transmission.
const EVENT: &str = "cwnd_event";

/// Called at the beginning of a transmission instead of [`EVENT`], since Linux 7.1.
const START: &str = "cwnd_event_tx_start";

/// Members of a structure: the offset of each in bytes, by its name.
#[derive(Debug)]
pub(crate) struct Members(BTreeMap<String, usize>);

impl Members {
    /// The members of `structure`.
    pub(crate) fn of(types: &Btf<'_>, structure: &str) -> Result<Self, Error> {
        let found: Option<Struct<'_>> = types.type_by_name(structure);
        let found = found.ok_or_else(|| failed(format!("BTF has no struct {structure}")))?;
        let offset = |attribute| match attribute {
            MemberAttr::Normal { offset } | MemberAttr::BitField { offset, .. } => offset as usize,
        };
        let named = found.iter().filter_map(|member| {
            Some((member.name?.to_string_lossy().into_owned(), offset(member.attr) / 8))
        });
        Ok(Members(named.collect()))
    }

    /// The offset of `name`.
    pub(crate) fn offset(&self, name: &str) -> Result<usize, Error> {
        let offset = self.0.get(name).copied();
        offset.ok_or_else(|| failed(format!("BTF has no member {name} of struct {OPERATIONS}")))
    }

    /// The callback that must not be registered with a kernel whose structure has these members.
    /// Two callbacks can announce a transmission after idle time: this is the one that the kernel
    /// does not call.
    pub(crate) fn unused(&self) -> &'static str {
        if self.0.contains_key(START) { EVENT } else { START }
    }
}

/// An error of this crate: the object differs from its expectations.
pub(crate) fn failed(text: impl Into<String>) -> Error {
    Error::from(io::Error::other(text.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(names: &[&str]) -> Members {
        Members(names.iter().map(|name| ((*name).to_owned(), 0)).collect())
    }

    #[test]
    fn a_kernel_that_announces_transmissions_apart_is_given_that_callback_alone() {
        let since_7_1 = members(&["set_state", "cwnd_event", "cwnd_event_tx_start", "name"]);
        assert_eq!(since_7_1.unused(), "cwnd_event");
    }

    #[test]
    fn a_kernel_without_that_member_is_given_the_callback_of_all_events() {
        assert_eq!(members(&["set_state", "cwnd_event", "name"]).unused(), "cwnd_event_tx_start");
    }

    #[test]
    fn every_controller_offers_both_callbacks_and_its_name() {
        for program in crate::PROGRAMS.iter() {
            let types = Btf::from_raw("own", &program.object).unwrap().unwrap();
            let own = Members::of(&types, OPERATIONS).unwrap();
            for name in [EVENT, START, "name"] {
                assert!(own.offset(name).is_ok(), "{} {name}", program.kernel_name);
            }
            assert!(own.offset("in_ack_event").is_err());
        }
    }
}
