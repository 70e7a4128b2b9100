//! Settings of a controller: `struct ab_settings` in `bpf/include/intf.h`.

use std::num::NonZeroU32;
use std::str::FromStr;
use zerocopy::{Immutable, IntoBytes};

/// Settings of a controller.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Another name in the kernel, at most 15 characters: a controller for one process.
    pub name: Option<String>,
    /// Smallest ssthresh of coupled paths in segments, at least 1; `None` is the law's own.
    pub min_ssthresh: Option<NonZeroU32>,
    /// Fraction of callbacks to ignore, below 1: only to test that missed callbacks are repaired.
    pub skips: f64,
    /// Whether to record each step under the law.
    pub record: bool,
    /// A fault of its arithmetic: only to test that such a fault is found.
    pub fault: Fault,
    /// Whether only subflows that share a bottleneck are coupled, as [`Coupler`] finds.
    ///
    /// [`Coupler`]: crate::Coupler
    pub sbd: bool,
}

/// A fault planted in a controller: `enum ab_fault` in `bpf/include/intf.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// No fault.
    #[default]
    Sound = 0,
    /// The fraction of a step beyond whole segments is dropped.
    RemainderDropped = 1,
    /// The round-trip times of two paths are swapped.
    TripsSwapped = 2,
    /// The fraction of the window is reset between two steps.
    CreditReset = 3,
    /// A window does not decay in idle time.
    IdleIgnored = 4,
}
layout!(ab_fault, Fault);

impl FromStr for Fault {
    type Err = String;

    /// Parses the name of a fault in `intf.h`, in lower case and with dashes.
    fn from_str(name: &str) -> Result<Self, String> {
        let all: &[(&str, Fault)] = layout!(ab_fault names Fault);
        let mut planted = all.iter().filter(|(_, fault)| *fault != Fault::Sound);
        planted.clone().find(|known| known.0 == name).map(|known| known.1).ok_or_else(|| {
            let names: Vec<&str> = planted.by_ref().map(|known| known.0).collect();
            format!("there is no fault `{name}`; there are {}", names.join(", "))
        })
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            name: None,
            min_ssthresh: None,
            skips: 0.0,
            record: false,
            fault: Fault::Sound,
            sbd: false,
        }
    }
}

impl Settings {
    pub(crate) fn constants(&self) -> Constants {
        Constants {
            min_ssthresh: self.min_ssthresh.map_or(0, NonZeroU32::get),
            skips: (self.skips * f64::from(u32::MAX)) as u32,
            record: u32::from(self.record),
            fault: self.fault as u32,
            sbd: u32::from(self.sbd),
        }
    }
}

/// The settings in the format of the controller.
#[derive(IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct Constants {
    /// Zero stands for the law's own.
    min_ssthresh: u32,
    /// Callbacks to ignore, as a fraction of 2^32.
    skips: u32,
    record: u32,
    fault: u32,
    sbd: u32,
}
layout!(ab_settings, Constants);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_read_by_its_name_in_the_header() {
        assert_eq!("trips-swapped".parse(), Ok(Fault::TripsSwapped));
        let text = "there is no fault `sound`; there are remainder-dropped, trips-swapped, \
                    credit-reset, idle-ignored";
        assert_eq!("sound".parse::<Fault>(), Err(text.to_owned()));
    }
}
