//! The path of the smallest round-trip time.
//!
//! Source: Raiciu et al., "How Hard Can It Be?", NSDI 2012, §4: of the subflows with window space
//! the one with the smallest smoothed round-trip time. It was the default of Linux before MPTCP was
//! part of it (multipath-tcp.org, `get_available_subflow`).

use super::{Choice, Described, Kind, Schedule, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The path with the smallest smoothed round-trip time (srtt) among those with window space; the
/// first one among equals.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MinRtt {}

impl Kind for MinRtt {
    const DESCRIBED: Described = Described {
        names: &["min-rtt"],
        summary: "The path with the smallest srtt among those with window space.",
        source: "Raiciu et al., NSDI 2012, §4",
    };

    type State = Fastest;

    fn example() -> Self {
        MinRtt {}
    }

    fn start(&self, _paths: usize) -> Fastest {
        Fastest
    }
}

/// A scheduler without state.
#[derive(Debug)]
pub(crate) struct Fastest;

impl Schedule for Fastest {
    #[inline(always)] // runs for every segment
    fn choose(&mut self, view: &mut impl View) -> Option<Choice> {
        fastest(view).map(Choice::New)
    }

    fn takes_only_path(&self) -> bool {
        true
    }
}

/// The fastest path that may send; the first one among equals.
#[inline(always)] // runs for every segment
pub(super) fn fastest(view: &impl View) -> Option<usize> {
    let (mut fastest, mut least) = (None, u64::MAX);
    let mut able = view.next_able(0);
    while let Some(path) = able {
        let srtt = view.srtt(path).0;
        if srtt < least {
            (fastest, least) = (Some(path), srtt);
        }
        able = view.next_able(path + 1);
    }
    fastest
}

#[cfg(test)]
mod tests {
    use super::super::tests::Connection;
    use super::*;

    #[test]
    fn the_fastest_path_with_space_is_chosen() {
        let mut seen = Connection::with_srtts(&[30, 20, 5, 10]);
        seen.paths[2].0 = false;
        assert_eq!(Fastest.choose(&mut seen), Some(Choice::New(3)));
        seen.paths.iter_mut().for_each(|path| path.0 = false);
        assert_eq!(Fastest.choose(&mut seen), None);
    }
}
