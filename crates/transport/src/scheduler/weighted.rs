//! Paths in turn, each with its share.
//!
//! Source: Shreedhar and Varghese, "Efficient Fair Queueing using Deficit Round Robin", SIGCOMM
//! 1995, §3, with paths in place of queues: at its turn a path earns its weight in segments, and
//! sends while its deficit counter covers a segment. A path without room loses its turn and its
//! deficit, as an empty queue does there. So weights divide the data while all paths have room, and
//! a path never waits for another one.

use super::{Choice, Described, Kind, Schedule, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{InvalidParameter, ValidRange};
use wire::Range;

/// A turn of the largest weight is a window of 1.5 MB.
const WEIGHT: ValidRange<u32> = ValidRange {
    holds: |weight| (1..=1000).contains(weight),
    right: "a weight lies from 1 to 1000",
};

/// Paths with window space in turn, each with as many segments as its weight.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Weighted {
    /// The weights of the paths in their order; further paths have weight 1.
    #[schemars(extend("range" = WEIGHT.right))]
    pub weights: Vec<u32>,
}

impl Kind for Weighted {
    const DESCRIBED: Described = Described {
        names: &["weighted"],
        summary: "Paths with window space in turn, each with as many segments as its weight.",
        source: "Shreedhar and Varghese, SIGCOMM 1995, §3",
    };

    type State = Box<DeficitRoundRobin>;

    fn example() -> Self {
        Weighted { weights: vec![2, 1] }
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        self.weights.iter().try_for_each(|weight| WEIGHT.check("weights", weight))
    }

    fn start(&self, paths: usize) -> Box<DeficitRoundRobin> {
        let mut weights = self.weights.clone();
        weights.resize(paths, 1);
        Box::new(DeficitRoundRobin { weights, deficits: vec![0; paths], turn: 0 })
    }
}

/// The deficit counters of a connection, and the path whose turn it is.
#[derive(Debug)]
pub(crate) struct DeficitRoundRobin {
    weights: Vec<u32>,
    /// Bytes that each path may still send in its turn.
    deficits: Vec<u64>,
    turn: usize,
}

impl Schedule for DeficitRoundRobin {
    #[inline(never)] // keeps the common case small
    fn choose(&mut self, view: &mut impl View) -> Option<Choice> {
        for _ in 0..=view.paths() {
            if !view.may_send(self.turn) {
                self.deficits[self.turn] = 0;
            } else if self.deficits[self.turn] >= view.segment() {
                return Some(Choice::New(self.turn));
            }
            self.turn = (self.turn + 1) % view.paths();
            self.deficits[self.turn] += u64::from(self.weights[self.turn]) * view.segment();
        }
        None
    }

    fn on_new(&mut self, path: usize, range: Range) {
        let deficit = &mut self.deficits[path];
        *deficit = deficit.saturating_sub(range.len());
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Connection;
    use super::*;

    /// Number of 600 segments that each path carries.
    fn shares(weights: &[u32], seen: &mut Connection) -> Vec<u32> {
        let mut turns = Weighted { weights: weights.to_vec() }.start(seen.paths());
        let mut counts = vec![0; seen.paths()];
        for start in (0..600_000).step_by(1000) {
            let Some(Choice::New(path)) = turns.choose(seen) else { panic!("a path has room") };
            turns.on_new(path, Range { start, end: start + 1000 });
            counts[path] += 1;
        }
        counts
    }

    #[test]
    fn paths_with_room_share_by_their_weights() {
        let mut seen = Connection::with_srtts(&[10, 20, 30]);
        assert_eq!(shares(&[3, 2, 1], &mut seen), [300, 200, 100]);
        assert_eq!(shares(&[4], &mut seen), [400, 100, 100]);
    }

    #[test]
    fn a_path_without_room_holds_no_other_back_and_saves_nothing_up() {
        let mut seen = Connection::with_srtts(&[10, 20, 30]);
        seen.fill(0);
        assert_eq!(shares(&[3, 2, 1], &mut seen), [0, 400, 200]);
    }

    #[test]
    fn a_weight_of_zero_is_refused() {
        let wrong = Weighted { weights: vec![1, 0] }.check().unwrap_err();
        assert_eq!((wrong.key.as_str(), wrong.value.as_str()), ("weights", "0"));
    }
}
