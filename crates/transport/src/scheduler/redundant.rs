//! Every path sends all of the data.
//!
//! Source: Frömmgen et al., "ReMP TCP: Low Latency Multipath TCP", ICC 2016, §III. Each path sends
//! unacknowledged data in order; the path that sends a segment first is chosen by round-trip time.

use super::min_rtt::fastest;
use super::{Choice, Described, Kind, Schedule, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::Range;

/// Like min-rtt, and every other path sends the same data too.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Redundant {}

impl Kind for Redundant {
    const DESCRIBED: Described = Described {
        names: &["redundant"],
        summary: "Like min-rtt, and every other path sends the same data too.",
        source: "Frömmgen et al., ICC 2016, §III",
    };

    type State = Box<Copies>;

    fn example() -> Self {
        Redundant {}
    }

    fn start(&self, paths: usize) -> Box<Copies> {
        Box::new(Copies { copied: vec![0; paths] })
    }
}

/// The progress of each path.
#[derive(Debug)]
pub(crate) struct Copies {
    /// For each path: it has sent all data below this byte, or skips it.
    copied: Vec<u64>,
}

impl Schedule for Copies {
    #[inline(never)] // keeps the common case small
    fn choose(&mut self, view: &mut impl View) -> Option<Choice> {
        let (una, nxt) = (view.data_una(), view.data_nxt());
        let behind = |path: &usize| self.copied[*path].max(una) < nxt && view.may_send(*path);
        let Some(path) = (0..view.paths()).find(behind) else {
            return fastest(view).map(Choice::New);
        };
        let start = self.copied[path].max(una);
        let end = (start + view.segment()).min(nxt);
        self.copied[path] = end;
        Some(Choice::Range(path, Range { start, end }))
    }

    fn on_new(&mut self, path: usize, range: Range) {
        self.copied[path] = range.end;
    }

    fn on_leave(&mut self, path: usize) {
        self.copied[path] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Connection;
    use super::*;

    #[test]
    fn what_one_path_has_sent_the_other_sends_before_anything_new_is_sent() {
        let mut copies = Redundant {}.start(2);
        let mut seen = Connection::with_srtts(&[10, 20]);
        assert_eq!(copies.choose(&mut seen), Some(Choice::New(0)));
        copies.on_new(0, Range { start: 0, end: 1000 });
        seen.data_nxt = 1000;
        let copy = Range { start: 0, end: 1000 };
        assert_eq!(copies.choose(&mut seen), Some(Choice::Range(1, copy)));
        assert_eq!(copies.choose(&mut seen), Some(Choice::New(0)));
    }
}
