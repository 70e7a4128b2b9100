//! The scheduler of Linux.
//!
//! Source: Linux v6.18, net/mptcp/protocol.c, `mptcp_subflow_get_send`, `__subflow_push_pending`
//! and `__mptcp_push_pending`. Data that the application writes is handed at once to subflows,
//! which keep it until their own windows permit sending it. A burst of `MPTCP_SEND_BURST_SIZE` goes
//! to the subflow of the least
//!
//! ```text
//! linger_time = wmem_queued / avg_pacing_rate
//! ```
//!
//! in fragments of 32 KiB, as long as its send buffer has room; nothing is handed out while the
//! buffer of that subflow is full. The average begins with the first rate that is seen, and each
//! burst moves it: `(avg · wmem + rate · burst)/(burst + wmem)`. The rate is the pacing rate of
//! control. Without pacing it is two windows a round trip in slow start and 1.2 beyond, where
//! outstanding data counts as the window if there is more of it (net/ipv4/tcp_input.c,
//! `tcp_update_pacing_rate`).
//!
//! A send buffer holds twice the window at 4352 bytes for a segment of 1448, at least of ten
//! segments and at most 4 MiB (`tcp_sndbuf_expand`). It never shrinks, and grows only while the
//! window is not full (`tcp_should_expand_sndbuf`). The connection's buffer is the sum of its
//! subflows' (protocol.h, `__mptcp_sync_sndbuf`).
//!
//! Backup subflows get data only if no other subflow is active. A subflow in timeout keeps its data
//! until it is stale; it is active again at its next ACK (`mptcp_subflow_active`). It becomes stale
//! only while another subflow works.
//!
//! Deviations:
//! * A subflow is stale at its second retransmission timeout in a row. The kernel counts firings of
//!   the connection's retransmission timer without any ACK on the subflow; the fifth makes it stale
//!   (pm.c, `mptcp_pm_subflow_chk_stale`; `net.mptcp.stale_loss_cnt` is 4). The first firing comes
//!   after a retransmission timeout, the others every 200 ms while no other subflow has a timer
//!   pending, so that with a timeout of 200 to 400 ms both rules fall between 0.6 and 1.2 s.
//! * `__mptcp_retrans` is left out: when that timer fires, the kernel sends the oldest fragment
//!   that the peer's connection has not acknowledged on a subflow without data of its own. Here, as
//!   with every scheduler, a path's first timeout offers its outstanding data to the other paths,
//!   as far as their windows have room. While a path recovers from losses without a timeout, the
//!   kernel's timer may fire, and no other path sends its data here.
//! * Unsent data of a stale subflow moves to others. In the kernel others send copies of all
//!   unacknowledged data (`__mptcp_retransmit_pending_data`), and the subflow later sends its own.
//! * Send buffers are counted in payload, not in memory, and the application always waits for room.
//! * A fragment is a whole number of segments, as if the application wrote large blocks.
//! * Before the first round-trip sample, which a handshake gives, a subflow gets at most its
//!   window.
//! * A tail-loss probe carries the connection's next data, not the subflow's.

use super::{Choice, Described, Kind, PathState, Schedule, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use units::{InvalidParameter, Span, Time, ValidRange};
use wire::Range;

/// `MPTCP_SEND_BURST_SIZE`: 64 KiB without the largest headers.
const BURST: u64 = 65_428;

/// Payload of a fragment (`struct mptcp_data_frag`): a page fragment of 32 KiB without its header.
const FRAGMENT: u64 = 32_728;

/// Windows that fit into a subflow's send buffer.
const BUFFERED: u64 = 6;

/// Smallest window for which a send buffer is sized, in segments (`TCP_INIT_CWND`).
const INITIAL_WINDOW: u64 = 10;

/// Largest send buffer of a subflow (`net.ipv4.tcp_wmem`).
const MOST_BUFFERED: u64 = 4 << 20;

/// Timeouts in a row that make a subflow stale.
const STALE: u32 = 2;

/// Period with which an application that writes on demand checks its subflows; a quarter of a
/// round trip if that is shorter.
const CHECK: Span = Span::millis(20);

const WINDOWS: ValidRange<f64> = ValidRange {
    holds: |windows| (0.1..=100.0).contains(windows),
    right: "it lies from 0.1 to 100 windows",
};

/// The scheduler of Linux: the path that would finish its queued data soonest.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Linux {
    /// The application writes on demand: it supplies each path with this many windows of unsent
    /// data. By default it fills the send buffer.
    #[serde(default)]
    #[schemars(extend("range" = WINDOWS.right))]
    pub windows_ahead: Option<f64>,
}

impl Kind for Linux {
    const DESCRIBED: Described = Described {
        names: &["linux", "default"],
        summary: "The scheduler of Linux: data goes at once to the path that would finish it soonest.",
        source: "Linux v6.18, net/mptcp/protocol.c, mptcp_subflow_get_send",
    };

    type State = Box<Subflows>;

    fn example() -> Self {
        Linux { windows_ahead: None }
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        WINDOWS.check("windows_ahead", &self.windows_ahead)
    }

    fn start(&self, paths: usize) -> Box<Subflows> {
        let demand = self.windows_ahead.map(|windows| Demand {
            windows,
            next_check: Time::ZERO,
            allowed: 0,
        });
        let subflows = (0..paths).map(|_| Subflow::default()).collect();
        Box::new(Subflows { subflows, returned: VecDeque::new(), demand })
    }
}

/// State of a connection and its subflows.
#[derive(Debug)]
pub(crate) struct Subflows {
    subflows: Vec<Subflow>,
    /// Data of subflows that left or became stale: it is handed out before new data.
    returned: VecDeque<Range>,
    demand: Option<Demand>,
}

#[derive(Debug, Default)]
struct Subflow {
    /// Data handed to it and not sent yet.
    queue: VecDeque<Range>,
    /// Bytes in `queue`.
    queued: u64,
    /// Average of the pacing rate in bytes/s; zero before the first sample.
    avg_pacing_rate: f64,
    /// Largest window so far that it did not fill, in bytes.
    unfilled: u64,
    /// It gets no data until its next ACK.
    stale: bool,
}

/// An application that writes on demand.
#[derive(Debug)]
struct Demand {
    windows: f64,
    next_check: Time,
    /// Bytes written and not handed out.
    allowed: u64,
}

impl Subflow {
    /// `sk_wmem_queued`: bytes handed to it and not acknowledged.
    fn wmem(&self, state: &PathState) -> u64 {
        state.outstanding + self.queued
    }

    /// `sk_sndbuf`.
    fn buffer(&self, segment: u64) -> u64 {
        (BUFFERED * self.unfilled.max(INITIAL_WINDOW * segment)).min(MOST_BUFFERED)
    }

    /// The time until all its data would be sent, in seconds; infinite if it takes no more.
    fn linger_time(&self, state: &PathState) -> f64 {
        let wmem = self.wmem(state);
        match self.avg_pacing_rate > 0.0 {
            true => wmem as f64 / self.avg_pacing_rate,
            false if wmem < state.cwnd => 0.0,
            false => f64::INFINITY,
        }
    }

    fn push(&mut self, range: Range) {
        self.queued += range.len();
        match self.queue.back_mut().filter(|last| last.end == range.start) {
            Some(last) => last.end = range.end,
            None => self.queue.push_back(range),
        }
    }

    /// The next segment of its queue.
    fn pop(&mut self, segment: u64) -> Option<Range> {
        let first = self.queue.front_mut()?;
        let taken = Range { start: first.start, end: first.end.min(first.start + segment) };
        first.start = taken.end;
        if first.is_empty() {
            self.queue.pop_front();
        }
        self.queued -= taken.len();
        Some(taken)
    }
}

/// `sk_pacing_rate` in bytes/s; zero before the first round-trip sample.
fn pacing_rate(state: &PathState) -> f64 {
    let srtt = state.srtt.seconds();
    let slow_start = state.cwnd < state.ssthresh / 2;
    let windows = if slow_start { 2.0 } else { 1.2 };
    let window = state.cwnd.max(state.outstanding);
    let unpaced = if srtt > 0.0 { windows * window as f64 / srtt } else { 0.0 };
    state.pacing.unwrap_or(unpaced)
}

impl Schedule for Subflows {
    #[inline(never)] // keeps the common case small
    fn choose(&mut self, view: &mut impl View) -> Option<Choice> {
        self.update(view);
        while self.push_pending(view) {}
        let segment = view.segment();
        let ready = (0..view.paths()).filter(|path| view.may_send(*path));
        let mut ready = ready.filter_map(|path| Some((path, self.subflows[path].pop(segment)?)));
        ready.next().map(|(path, range)| Choice::Range(path, range))
    }

    fn on_leave(&mut self, path: usize) {
        let left = std::mem::take(&mut self.subflows[path]);
        self.returned.extend(left.queue);
    }
}

impl Subflows {
    /// Updates averages, send buffers and stale subflows, and asks the application for data.
    fn update(&mut self, view: &impl View) {
        for (path, subflow) in self.subflows.iter_mut().enumerate() {
            let state = view.path(path);
            if subflow.queue.is_empty() && state.outstanding + view.segment() <= state.cwnd {
                subflow.unfilled = subflow.unfilled.max(state.cwnd);
            }
            if subflow.avg_pacing_rate == 0.0 {
                subflow.avg_pacing_rate = pacing_rate(&state);
            }
            subflow.stale &= state.timeouts > 0;
        }
        for path in 0..view.paths() {
            if view.path(path).timeouts >= STALE && self.another_works(path, view) {
                let subflow = &mut self.subflows[path];
                subflow.stale = true;
                subflow.queued = 0;
                self.returned.extend(subflow.queue.drain(..));
            }
        }
        if let Some(demand) = &mut self.demand {
            demand.check(&self.subflows, view);
        }
    }

    /// `mptcp_subflow_active`.
    fn is_active(&self, path: usize, view: &impl View) -> bool {
        view.path(path).established && !self.subflows[path].stale
    }

    /// Whether an active subflow other than `path` is not about to become stale.
    fn another_works(&self, path: usize, view: &impl View) -> bool {
        let works = |other| self.is_active(other, view) && view.path(other).timeouts < STALE;
        (0..view.paths()).any(|other| other != path && works(other))
    }

    /// `mptcp_subflow_get_send` and one burst; returns whether data was handed out.
    fn push_pending(&mut self, view: &mut impl View) -> bool {
        let Some(best) = self.soonest(view) else {
            return false;
        };
        let (state, segment) = (view.path(best), view.segment());
        let wmem = self.subflows[best].wmem(&state);
        let burst = BURST.min(view.edge().saturating_sub(view.data_nxt()));
        let mut left = BURST.div_ceil(segment) * segment;
        let mut pushed = false;
        while left > 0 && self.subflows[best].wmem(&state) < self.subflows[best].buffer(segment) {
            let fragment = FRAGMENT.div_ceil(segment) * segment;
            let Some(range) = self.take(view, fragment.min(left)) else {
                break;
            };
            left -= range.len();
            self.subflows[best].push(range);
            pushed = true;
        }
        if pushed && burst > 0 {
            let subflow = &mut self.subflows[best];
            let (wmem, burst) = (wmem as f64, burst as f64);
            subflow.avg_pacing_rate =
                (subflow.avg_pacing_rate * wmem + pacing_rate(&state) * burst) / (burst + wmem);
        }
        pushed
    }

    /// The subflow that would finish its data soonest; a backup one only if no other is active.
    fn soonest(&self, view: &impl View) -> Option<usize> {
        let active = |path: &usize| self.is_active(*path, view);
        let any = (0..view.paths()).any(|path| active(&path) && !view.path(path).backup);
        let candidates = (0..view.paths()).filter(active);
        let (mut soonest, mut least) = (None, f64::INFINITY);
        for path in candidates.filter(|path| view.path(*path).backup != any) {
            let linger_time = self.subflows[path].linger_time(&view.path(path));
            if linger_time < least {
                (soonest, least) = (Some(path), linger_time);
            }
        }
        soonest
    }

    /// Takes the next `most` bytes that the application has written.
    fn take(&mut self, view: &mut impl View, most: u64) -> Option<Range> {
        if let Some(first) = self.returned.front_mut() {
            let taken = Range { start: first.start, end: first.end.min(first.start + most) };
            first.start = taken.end;
            if first.is_empty() {
                self.returned.pop_front();
            }
            return Some(taken);
        }
        let segment = view.segment();
        let buffer: u64 = self.subflows.iter().map(|subflow| subflow.buffer(segment)).sum();
        let full = view.data_nxt() - view.data_una() >= buffer;
        let Some(demand) = &mut self.demand else {
            return if full { None } else { view.take(most) };
        };
        let most = most.min(demand.allowed);
        let range = if full || most == 0 { None } else { view.take(most) }?;
        demand.allowed = demand.allowed.saturating_sub(range.len());
        Some(range)
    }
}

impl Demand {
    /// Once in a period, and when all data is sent: allows enough data for each subflow to have
    /// `windows` of unsent data, in whole segments.
    fn check(&mut self, subflows: &[Subflow], view: &impl View) {
        let idle =
            subflows.iter().enumerate().all(|(path, subflow)| subflow.wmem(&view.path(path)) == 0);
        if view.now() < self.next_check && !idle {
            return;
        }
        let segment = view.segment();
        let mut period = CHECK;
        self.allowed = 0;
        for (path, subflow) in subflows.iter().enumerate() {
            let state = view.path(path);
            if state.established {
                let wanted = (self.windows * state.cwnd as f64) as u64;
                self.allowed += wanted.saturating_sub(subflow.queued).next_multiple_of(segment);
                let shorter = Some(Span(state.srtt.0 / 4)).filter(|span| *span > Span::ZERO);
                period = shorter.map_or(period, |shorter| period.min(shorter));
            }
        }
        self.next_check = view.now() + period;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Connection;
    use super::*;

    /// Bytes queued on each path.
    fn queued(linux: &Subflows) -> Vec<u64> {
        linux.subflows.iter().map(|subflow| subflow.queued).collect()
    }

    #[test]
    fn data_goes_to_the_path_that_would_be_done_soonest_in_bursts_of_64_kib() {
        let mut linux = Linux { windows_ahead: None }.start(2);
        let mut seen = Connection::with_srtts(&[10, 20]);
        // The path with twice the rate gets the first burst; the next goes to the other path, which
        // has no data.
        assert!(linux.push_pending_at(&mut seen));
        assert_eq!(queued(&linux), [66_000, 0]);
        assert!(linux.push_pending_at(&mut seen));
        assert_eq!(queued(&linux), [66_000, 66_000]);
        // Both send buffers hold six windows of ten segments.
        assert!(!linux.push_pending_at(&mut seen));
        assert_eq!(seen.data_nxt, 132_000);
    }

    #[test]
    fn a_path_keeps_what_it_got_though_the_other_one_has_room() {
        let mut linux = Linux { windows_ahead: None }.start(2);
        let mut seen = Connection::with_srtts(&[10, 20]);
        linux.update(&seen);
        while linux.push_pending(&mut seen) {}
        seen.fill(1);
        let sent: u64 = std::iter::from_fn(|| linux.choose(&mut seen))
            .map(|choice| match choice {
                Choice::Range(0, range) => range.len(),
                other => panic!("only the first path has room: {other:?}"),
            })
            .sum();
        assert_eq!(sent, 66_000);
        assert_eq!(queued(&linux), [0, 66_000]);
    }

    #[test]
    fn data_of_a_path_that_becomes_stale_is_handed_to_others() {
        let mut linux = Linux { windows_ahead: None }.start(2);
        let mut seen = Connection::with_srtts(&[10, 20]);
        linux.update(&seen);
        while linux.push_pending(&mut seen) {}
        seen.fill(1);
        seen.paths[1].1.timeouts = STALE;
        while linux.choose(&mut seen).is_some() {}
        assert_eq!(queued(&linux), [0, 0]);
    }

    #[test]
    fn the_last_path_that_works_does_not_become_stale_and_an_ack_makes_a_stale_one_active() {
        let mut linux = Linux { windows_ahead: None }.start(2);
        let mut seen = Connection::with_srtts(&[10, 20]);
        seen.paths[1].1.timeouts = STALE;
        linux.update(&seen);
        assert!(linux.subflows[1].stale);
        seen.paths[0].1.timeouts = STALE;
        linux.update(&seen);
        assert!(!linux.subflows[0].stale);
        seen.paths[1].1.timeouts = 0;
        linux.update(&seen);
        assert!(linux.subflows[0].stale && !linux.subflows[1].stale);
    }

    #[test]
    fn a_send_buffer_grows_with_windows_that_are_not_full() {
        let mut linux = Linux { windows_ahead: None }.start(1);
        let mut seen = Connection::with_srtts(&[10]);
        seen.paths[0].1.cwnd = 20_000;
        seen.fill(0);
        linux.update(&seen);
        assert_eq!(linux.subflows[0].buffer(1000), 60_000);
        seen.paths[0].1.outstanding = 19_000;
        linux.update(&seen);
        assert_eq!(linux.subflows[0].buffer(1000), 120_000);
    }

    #[test]
    fn outstanding_data_counts_as_the_window_of_the_pacing_rate_if_there_is_more() {
        let srtt = Span::millis(100);
        let state = PathState { srtt, cwnd: 5000, outstanding: 10_000, ..PathState::default() };
        assert!((pacing_rate(&state) - 120_000.0).abs() < 1e-6);
    }

    #[test]
    fn written_on_demand_no_more_is_unsent_than_the_windows_that_are_wanted() {
        let mut linux = Linux { windows_ahead: Some(2.0) }.start(2);
        let mut seen = Connection::with_srtts(&[10, 20]);
        linux.update(&seen);
        while linux.push_pending(&mut seen) {}
        assert_eq!(queued(&linux).iter().sum::<u64>(), 40_000);
    }

    #[test]
    fn backups_get_data_only_if_there_is_no_other_path() {
        let mut linux = Linux { windows_ahead: None }.start(2);
        let mut seen = Connection::with_srtts(&[10, 20]);
        seen.paths[0].1.backup = true;
        linux.update(&seen);
        while linux.push_pending(&mut seen) {}
        assert_eq!(queued(&linux), [0, 66_000]);
        seen.paths[1].1.timeouts = STALE;
        linux.update(&seen);
        while linux.push_pending(&mut seen) {}
        assert_eq!(queued(&linux), [66_000, 0]);
    }

    impl Subflows {
        fn push_pending_at(&mut self, seen: &mut Connection) -> bool {
            self.update(seen);
            self.push_pending(seen)
        }
    }
}
