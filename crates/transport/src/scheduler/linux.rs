//! The scheduler of Linux.
//!
//! Source: Linux v6.18, net/mptcp/protocol.c, `mptcp_subflow_get_send`, `__subflow_push_pending`
//! and `__mptcp_push_pending`. What the application writes is handed at once to subflows, which
//! keep it until their own windows let it out. A burst of `MPTCP_SEND_BURST_SIZE` goes to the
//! subflow of the least
//!
//! ```text
//! linger_time = wmem_queued / avg_pacing_rate
//! ```
//!
//! if its send buffer has room, and nothing is handed out while that one has none. The average
//! begins with the first rate that is seen, and each burst moves it: `(avg · wmem + rate ·
//! burst)/(burst + wmem)`. The rate is the one that control paces with, or else two windows a round
//! trip in slow start and 1.2 beyond (`tcp_update_pacing_rate`). Backup subflows get data only if
//! there is no other. A subflow in timeout keeps what it got until it is stale.
//!
//! Where it differs:
//! * Send buffers are counted in payload, not in memory: a subflow's holds six of its largest
//!   window so far (`tcp_sndbuf_expand`: twice the window, at 4352 bytes for a segment of 1448), at
//!   most 4 MiB, and the connection's all of theirs together (`__mptcp_sync_sndbuf`).
//! * A burst is a whole number of segments, as if the application wrote whole segments.
//! * The kernel finds a subflow stale when its retransmission timer has fired more than four times
//!   without an ACK of it; here it is so at the second timeout in a row. As with every scheduler,
//!   what was outstanding is offered to other paths at the first.
//! * The connection has no retransmission timer of its own, which in the kernel sends what is
//!   missing on an idle subflow (`__mptcp_retrans`).
//! * Before the first round-trip sample, which is there after a handshake, a subflow gets no more
//!   than its window.
//! * A tail-loss probe carries the connection's next data, not the subflow's.

use super::{Choice, Described, Kind, PathState, Schedule, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use units::{InvalidParameter, Span, Time, ensure};
use wire::Range;

/// `MPTCP_SEND_BURST_SIZE`: 64 KiB without the largest headers.
const BURST: u64 = 65_428;

/// Windows that a subflow's send buffer holds.
const BUFFERED: u64 = 6;

/// Largest send buffer of a subflow (`net.ipv4.tcp_wmem`).
const MOST_BUFFERED: u64 = 4 << 20;

/// Timeouts in a row that make a subflow stale.
const STALE: u32 = 2;

/// How often an application that writes on demand looks at its subflows; four times a round trip if
/// that is shorter.
const LOOK: Span = Span::millis(20);

const RANGE: &str = "it lies from 0.1 to 100 windows";

/// The scheduler of Linux: the path whose queued data would be done soonest.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Linux {
    /// The application writes on demand: it keeps each path supplied with unsent data of so many
    /// windows. By default it fills the send buffer.
    #[serde(default)]
    #[schemars(extend("range" = RANGE))]
    pub windows_ahead: Option<f64>,
}

impl Kind for Linux {
    const DESCRIBED: Described = Described {
        names: &["linux", "default"],
        summary: "Linux's own: data goes at once to the path that would be done with it soonest.",
        source: "Linux v6.18, net/mptcp/protocol.c, mptcp_subflow_get_send",
    };

    type State = Box<Subflows>;

    fn example() -> Self {
        Linux { windows_ahead: None }
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        let windows = self.windows_ahead.unwrap_or(1.0);
        ensure((0.1..=100.0).contains(&windows), "windows_ahead", windows, RANGE)
    }

    fn start(&self, paths: usize) -> Box<Subflows> {
        let demand = self.windows_ahead.map(|windows| Demand {
            windows,
            next_look: Time::ZERO,
            allowed: 0,
        });
        let subflows = (0..paths).map(|_| Subflow::default()).collect();
        Box::new(Subflows { subflows, returned: VecDeque::new(), demand })
    }
}

/// What the kernel keeps of a connection and its subflows.
#[derive(Debug)]
pub(crate) struct Subflows {
    subflows: Vec<Subflow>,
    /// Data of subflows that left or became stale: it is handed out before new data.
    returned: VecDeque<Range>,
    demand: Option<Demand>,
}

#[derive(Debug, Default)]
struct Subflow {
    /// What it got and has not sent.
    queue: VecDeque<Range>,
    /// Bytes of it.
    queued: u64,
    /// Average of the pacing rate in bytes/s; zero before the first sample.
    avg_pacing_rate: f64,
    /// Its largest window so far, in bytes.
    largest: u64,
}

/// An application that writes on demand.
#[derive(Debug)]
struct Demand {
    windows: f64,
    next_look: Time,
    /// Bytes that it has written and that are not handed out.
    allowed: u64,
}

impl Subflow {
    /// `sk_wmem_queued`: what it has and is not acknowledged.
    fn wmem(&self, state: &PathState) -> u64 {
        state.outstanding + self.queued
    }

    /// `sk_sndbuf`.
    fn buffer(&self, segment: u64) -> u64 {
        (BUFFERED * self.largest.max(10 * segment)).min(MOST_BUFFERED)
    }

    /// The time until all that it has would be done, in seconds; infinite if it takes no more.
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

    /// The next segment of what it has.
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
    let unpaced = if srtt > 0.0 { windows * state.cwnd as f64 / srtt } else { 0.0 };
    state.pacing.unwrap_or(unpaced)
}

impl Schedule for Subflows {
    #[inline(never)] // keeps the common case small
    fn choose(&mut self, view: &mut impl View) -> Option<Choice> {
        self.look(view);
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
    /// Brings averages and windows up to date, and takes back what stale subflows have.
    fn look(&mut self, view: &impl View) {
        for (path, subflow) in self.subflows.iter_mut().enumerate() {
            let state = view.path(path);
            subflow.largest = subflow.largest.max(state.cwnd);
            if subflow.avg_pacing_rate == 0.0 {
                subflow.avg_pacing_rate = pacing_rate(&state);
            }
            if state.timeouts >= STALE {
                subflow.queued = 0;
                self.returned.extend(subflow.queue.drain(..));
            }
        }
        if let Some(demand) = &mut self.demand {
            demand.look(&self.subflows, view);
        }
    }

    /// `mptcp_subflow_get_send` and one burst; whether anything was handed out.
    fn push_pending(&mut self, view: &mut impl View) -> bool {
        let Some(best) = self.soonest(view) else {
            return false;
        };
        let (state, segment) = (view.path(best), view.segment());
        let wmem = self.subflows[best].wmem(&state);
        if wmem >= self.subflows[best].buffer(segment) {
            return false;
        }
        let burst = BURST.min(view.edge().saturating_sub(view.data_nxt()));
        let Some(range) = self.take(view, BURST.div_ceil(segment) * segment) else {
            return false;
        };
        let subflow = &mut self.subflows[best];
        if burst > 0 {
            let (wmem, burst) = (wmem as f64, burst as f64);
            subflow.avg_pacing_rate = (subflow.avg_pacing_rate * wmem
                + pacing_rate(&state) * burst)
                / (burst + wmem);
        }
        subflow.push(range);
        true
    }

    /// The subflow that would be done soonest; a backup one only if there is no other.
    fn soonest(&self, view: &impl View) -> Option<usize> {
        let active = |path: &usize| {
            let state = view.path(*path);
            state.established && state.timeouts < STALE
        };
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

    /// The next `most` bytes that the application has written.
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
    /// Looks at the subflows if it is time to: each is to have `windows` of unsent data, in whole
    /// segments.
    fn look(&mut self, subflows: &[Subflow], view: &impl View) {
        let idle = subflows
            .iter()
            .enumerate()
            .all(|(path, subflow)| subflow.wmem(&view.path(path)) == 0);
        if view.now() < self.next_look && !idle {
            return;
        }
        let segment = view.segment();
        let mut between = LOOK;
        self.allowed = 0;
        for (path, subflow) in subflows.iter().enumerate() {
            let state = view.path(path);
            if state.established {
                let wanted = (self.windows * state.cwnd as f64) as u64;
                self.allowed += wanted.saturating_sub(subflow.queued).next_multiple_of(segment);
                let shorter = Some(Span(state.srtt.0 / 4)).filter(|span| *span > Span::ZERO);
                between = shorter.map_or(between, |shorter| between.min(shorter));
            }
        }
        self.next_look = view.now() + between;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Connection;
    use super::*;

    /// Bytes that each path has got.
    fn queued(linux: &Subflows) -> Vec<u64> {
        linux.subflows.iter().map(|subflow| subflow.queued).collect()
    }

    #[test]
    fn data_goes_to_the_path_that_would_be_done_soonest_in_bursts_of_64_kib() {
        let mut linux = Linux { windows_ahead: None }.start(2);
        let mut seen = Connection::with_srtts(&[10, 20]);
        // Twice the rate gets the first burst; the next goes to the other path, which has nothing
        // to do.
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
        linux.look(&seen);
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
    fn what_a_path_has_is_handed_to_others_when_it_is_stale_or_leaves() {
        let mut linux = Linux { windows_ahead: None }.start(2);
        let mut seen = Connection::with_srtts(&[10, 20]);
        linux.look(&seen);
        while linux.push_pending(&mut seen) {}
        seen.fill(1);
        seen.paths[1].1.timeouts = STALE;
        while linux.choose(&mut seen).is_some() {}
        assert_eq!(queued(&linux), [0, 0]);
    }

    #[test]
    fn written_on_demand_no_more_is_unsent_than_the_windows_that_are_wanted() {
        let mut linux = Linux { windows_ahead: Some(2.0) }.start(2);
        let mut seen = Connection::with_srtts(&[10, 20]);
        linux.look(&seen);
        while linux.push_pending(&mut seen) {}
        assert_eq!(queued(&linux).iter().sum::<u64>(), 40_000);
    }

    #[test]
    fn backups_get_data_only_if_there_is_no_other_path() {
        let mut linux = Linux { windows_ahead: None }.start(2);
        let mut seen = Connection::with_srtts(&[10, 20]);
        seen.paths[0].1.backup = true;
        linux.look(&seen);
        while linux.push_pending(&mut seen) {}
        assert_eq!(queued(&linux), [0, 66_000]);
        seen.paths[1].1.timeouts = STALE;
        linux.look(&seen);
        while linux.push_pending(&mut seen) {}
        assert_eq!(queued(&linux), [66_000, 0]);
    }

    impl Subflows {
        fn push_pending_at(&mut self, seen: &mut Connection) -> bool {
            self.look(seen);
            self.push_pending(seen)
        }
    }
}
