//! Each path in turn.
//!
//! Source: Paasch et al., "Experimental Evaluation of Multipath TCP Schedulers", CSWS 2014, §3.1. A
//! turn is one segment.

use super::{Choice, Described, Kind, Schedule, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Paths with window space in turn, one segment each.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundRobin {}

impl Kind for RoundRobin {
    const DESCRIBED: Described = Described {
        names: &["round-robin"],
        summary: "Paths with window space in turn, one segment each.",
        source: "Paasch et al., CSWS 2014, §3.1",
    };

    type State = Turn;

    fn example() -> Self {
        RoundRobin {}
    }

    fn start(&self, _paths: usize) -> Turn {
        Turn
    }
}

/// A scheduler without state: the sender knows which path sent last.
#[derive(Debug)]
pub(crate) struct Turn;

impl Schedule for Turn {
    #[inline(never)] // keeps the common case small
    fn choose(&mut self, view: &mut impl View) -> Option<Choice> {
        let (paths, next) = (view.paths(), view.last() + 1);
        let turns = (next..paths).chain(0..paths.min(next));
        turns.into_iter().find(|path| view.may_send(*path)).map(Choice::New)
    }

    fn takes_only_path(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Connection;
    use super::*;

    #[test]
    fn paths_with_space_take_turns() {
        let mut seen = Connection::with_srtts(&[30, 20, 5, 10]);
        seen.paths[2].0 = false;
        let turns = [0, 1, 3].map(|last| {
            seen.last = last;
            Turn.choose(&mut seen)
        });
        assert_eq!(turns, [1, 3, 0].map(|path| Some(Choice::New(path))));
    }
}
