//! Properties of all schedulers, and a connection to test them with.

use super::*;
use crate::source::next;
use proptest::prelude::*;
use units::{Span, Time};

/// A connection with paths that may send or not.
pub(super) struct Connection {
    /// For each path whether it may send, and its state.
    pub(super) paths: Vec<(bool, PathState)>,
    pub(super) last: usize,
    pub(super) data_una: u64,
    pub(super) data_nxt: u64,
    pub(super) written: u64,
    pub(super) edge: u64,
    pub(super) now: Time,
    /// Bytes sent on all paths, copies included.
    sent: u64,
}

impl Connection {
    /// Paths that may send, with these round-trip times in ms and a window of ten segments.
    pub(super) fn with_srtts(srtts: &[u64]) -> Self {
        let path = |srtt: &u64| {
            let srtt = Span::millis(*srtt);
            (true, PathState { srtt, cwnd: 10_000, established: true, ..PathState::default() })
        };
        let paths = srtts.iter().map(path).collect();
        let (written, edge, now) = (u64::MAX, 1 << 20, Time::ZERO);
        Connection { paths, last: 0, data_una: 0, data_nxt: 0, written, edge, now, sent: 0 }
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
    fn now(&self) -> Time {
        self.now
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
    fn edge(&self) -> u64 {
        self.edge
    }
    fn take(&mut self, most: u64) -> Option<Range> {
        let range = next(self.data_nxt, most, self.segment(), self.written, self.edge)?;
        self.data_nxt = range.end;
        Some(range)
    }
}

#[test]
fn a_scheduler_is_read_by_each_of_its_names_and_written_by_its_first() {
    for (described, scheduler) in Scheduler::DESCRIBED.iter().zip(Scheduler::examples()) {
        scheduler.check().unwrap();
        let mut parameters = serde_json::to_value(&scheduler).unwrap();
        let kind = parameters.as_object_mut().unwrap().remove("kind");
        assert_eq!(kind, Some(described.names[0].into()));
        for name in described.names {
            let written = serde_json::json!({ *name: parameters });
            assert_eq!(serde_json::from_value::<Scheduler>(written).unwrap(), scheduler);
        }
    }
    assert_eq!(serde_json::from_str::<Scheduler>("\"min-rtt\"").unwrap(), Scheduler::default());
    let wrong = serde_json::from_str::<Scheduler>("\"fastest\"").unwrap_err().to_string();
    assert!(wrong.contains("expected one of `min-rtt`"), "{wrong}");
}

/// An event of a connection.
#[derive(Clone, Debug)]
enum Event {
    /// Time passes, and a path acknowledges all its data.
    Acked(usize, u64),
    /// The round-trip time of a path changes to this.
    Rtt(usize, u64),
    /// The window of a path changes to this many segments, or to its outstanding data if that is
    /// more.
    Window(usize, u64),
    /// A timeout of a path.
    Timeout(usize),
    /// The path leaves and joins again.
    Left(usize),
    /// All data arrives in order, and the receive window becomes this many segments.
    Read(u64),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let path = 0..3_usize;
    prop::collection::vec(
        prop_oneof![
            4 => (path.clone(), 1..100_u64).prop_map(|(path, ms)| Event::Acked(path, ms)),
            1 => (path.clone(), 0..500_u64).prop_map(|(path, ms)| Event::Rtt(path, ms)),
            1 => (path.clone(), 1..100_u64).prop_map(|(path, size)| Event::Window(path, size)),
            1 => path.clone().prop_map(Event::Timeout),
            1 => path.prop_map(Event::Left),
            1 => (1..500_u64).prop_map(Event::Read),
        ],
        0..60,
    )
}

impl Connection {
    fn apply(&mut self, event: &Event, scheduler: &mut Scheduling) {
        match *event {
            Event::Acked(path, ms) => {
                self.now = self.now + Span::millis(ms);
                let state = &mut self.paths[path].1;
                (state.outstanding, state.timeouts) = (0, 0);
            }
            Event::Rtt(path, ms) => self.paths[path].1.srtt = Span::millis(ms),
            Event::Window(path, size) => {
                let state = &mut self.paths[path].1;
                state.cwnd = (1000 * size).max(state.outstanding);
            }
            Event::Timeout(path) => {
                let state = &mut self.paths[path].1;
                state.timeouts += u32::from(state.outstanding > 0);
            }
            Event::Left(path) => {
                scheduler.on_leave(path);
                let state = &mut self.paths[path].1;
                (state.outstanding, state.timeouts) = (0, 0);
            }
            Event::Read(segments) => {
                self.data_una = self.data_nxt;
                self.edge = self.edge.max(self.data_una + 1000 * segments);
            }
        }
        if self.sent >= self.data_nxt && self.nothing_is_out() {
            self.data_una = self.data_nxt;
        }
        self.look();
    }

    /// A path may send if its window has room and no timeout has hit.
    fn look(&mut self) {
        for (ready, state) in &mut self.paths {
            *ready = state.timeouts == 0 && state.outstanding + 1000 <= state.cwnd;
        }
    }

    fn nothing_is_out(&self) -> bool {
        self.paths.iter().all(|(_, state)| state.outstanding == 0)
    }

    /// Sends everything that the scheduler permits, and checks each choice. If it stops while
    /// nothing is in flight, the receive window is closed, and no path has unsent data.
    fn send(&mut self, scheduler: &mut Scheduling) -> Result<(), TestCaseError> {
        for sent in 0.. {
            prop_assert!(sent < 10_000, "it sends for ever");
            let Some(choice) = scheduler.choose(self) else {
                let closed = self.data_nxt + 1000 > self.edge && self.sent >= self.data_nxt;
                prop_assert!(closed || !self.nothing_is_out(), "it waits for nothing");
                return Ok(());
            };
            let (path, len) = match choice {
                Choice::Range(path, range) => {
                    prop_assert!(range.end <= self.data_nxt && range.len() <= 1000);
                    (path, range.len())
                }
                Choice::New(path) => {
                    prop_assert!(self.paths[path].0, "path {path} is not ready");
                    let Some(range) = self.take(1000) else { return Ok(()) };
                    scheduler.on_new(path, range);
                    (path, range.len())
                }
            };
            prop_assert!(self.paths[path].0, "path {path} is not ready");
            self.last = path;
            self.paths[path].1.outstanding += len;
            self.sent += len;
            self.look();
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn no_scheduler_chooses_a_path_that_is_not_ready_and_none_waits_for_nothing(
        events in events(),
    ) {
        for scheduler in Scheduler::examples() {
            let mut connection = Connection::with_srtts(&[10, 50, 200]);
            let mut scheduling = scheduler.start(3);
            connection.send(&mut scheduling)?;
            for event in &events {
                connection.apply(event, &mut scheduling);
                connection.send(&mut scheduling)?;
            }
        }
    }
}
