//! What all schedulers have in common, and a connection to show them.

use super::*;
use units::Span;

/// A connection with paths that are ready or not.
pub(super) struct Connection {
    /// For each path whether it may send, and its state.
    pub(super) paths: Vec<(bool, PathState)>,
    pub(super) last: usize,
    pub(super) data_una: u64,
    pub(super) data_nxt: u64,
    pub(super) written: u64,
}

impl Connection {
    /// Paths that may send, with these round-trip times in ms and a window of ten segments.
    pub(super) fn with_srtts(srtts: &[u64]) -> Self {
        let path = |srtt: &u64| {
            let srtt = Span::millis(*srtt);
            (true, PathState { srtt, cwnd: 10_000, ..PathState::default() })
        };
        let paths = srtts.iter().map(path).collect();
        Connection { paths, last: 0, data_una: 0, data_nxt: 0, written: u64::MAX }
    }

    /// The window of `path` is full.
    pub(super) fn fill(&mut self, path: usize) {
        let (ready, state) = &mut self.paths[path];
        (*ready, state.outstanding) = (false, state.cwnd);
    }
}

impl View for Connection {
    fn paths(&self) -> usize {
        self.paths.len()
    }
    fn may_send(&self, path: usize) -> bool {
        self.paths[path].0
    }
    fn is_used(&self, _path: usize) -> bool {
        true
    }
    fn srtt(&self, path: usize) -> Span {
        self.paths[path].1.srtt
    }
    fn path(&self, path: usize) -> PathState {
        self.paths[path].1
    }
    fn last(&self) -> usize {
        self.last
    }
    fn segment(&self) -> u64 {
        1000
    }
    fn data_una(&self) -> u64 {
        self.data_una
    }
    fn data_nxt(&self) -> u64 {
        self.data_nxt
    }
    fn written(&self) -> u64 {
        self.written
    }
}

#[test]
fn a_scheduler_is_read_by_each_of_its_names_and_written_by_its_first() {
    for described in Scheduler::DESCRIBED {
        for name in described.names {
            let scheduler: Scheduler = serde_json::from_value(serde_json::json!(name)).unwrap();
            scheduler.check().unwrap();
            let written = serde_json::to_string(&scheduler).unwrap();
            assert!(written.contains(described.names[0]), "{written}");
            assert_eq!(serde_json::from_str::<Scheduler>(&written).unwrap(), scheduler);
        }
    }
    let wrong = serde_json::from_str::<Scheduler>("\"fastest\"").unwrap_err().to_string();
    assert!(wrong.contains("expected one of `min-rtt`"), "{wrong}");
}
