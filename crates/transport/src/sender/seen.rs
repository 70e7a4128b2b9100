//! What the scheduler sees of a sender.

use super::Sender;
use crate::path::Path;
use crate::scheduler::{PathState, Scheduling, View};
use crate::settings::SenderSettings;
use control::CongestionController;
use units::{Span, Time};
use wire::Range;

/// A sender without its scheduler.
pub(super) struct Seen<'a, E> {
    paths: &'a [Path],
    control: &'a E,
    settings: &'a SenderSettings,
    last: u32,
    data_una: u64,
    data_nxt: &'a mut u64,
    starved: &'a mut bool,
    edge: u64,
    now: Time,
    /// Since the start of the connection.
    age: Span,
}

impl<E: CongestionController> Sender<E> {
    /// The scheduler, and what it sees at `now`.
    #[inline(always)] // on the way of every segment
    pub(super) fn seen(&mut self, now: Time) -> (&mut Scheduling, Seen<'_, E>) {
        let seen = Seen {
            paths: &self.paths,
            control: &self.control,
            settings: &self.settings,
            last: self.last_path,
            data_una: self.data_una,
            data_nxt: &mut self.data_nxt,
            starved: &mut self.starved,
            edge: self.edge,
            now,
            age: now.since(self.start),
        };
        (&mut self.scheduler, seen)
    }

    /// Whether `me` is not to be used because it is a backup (RFC 8684 §3.3.8) and another path works.
    #[inline(always)] // on the way of every segment
    pub(super) fn stands_by(&self, me: usize) -> bool {
        stands_by(&self.paths, me)
    }
}

#[inline(always)] // on the way of every segment
fn stands_by(paths: &[Path], me: usize) -> bool {
    paths[me].backup && another_works(paths)
}

/// Whether any path works that is no backup.
#[cold]
fn another_works(paths: &[Path]) -> bool {
    paths.iter().any(|path| !path.backup && path.working())
}

impl<E: CongestionController> View for Seen<'_, E> {
    fn now(&self) -> Time {
        self.now
    }

    #[inline(always)] // on the way of every segment
    fn paths(&self) -> usize {
        self.paths.len()
    }

    #[inline(always)] // on the way of every segment
    fn may_send(&self, path: usize) -> bool {
        let side = &self.paths[path];
        side.ready && !side.failed && !stands_by(self.paths, path)
    }

    fn is_used(&self, path: usize) -> bool {
        self.paths[path].working() && !stands_by(self.paths, path)
    }

    #[inline(always)] // on the way of every segment
    fn srtt(&self, path: usize) -> Span {
        self.paths[path].rtt.srtt()
    }

    fn path(&self, path: usize) -> PathState {
        let side = &self.paths[path];
        let segment = f64::from(self.settings.segment);
        let window = self.control.window(path);
        PathState {
            srtt: side.rtt.srtt(),
            rttvar: side.rtt.rttvar(),
            cwnd: (window.cwnd * segment) as u64,
            ssthresh: (window.ssthresh * segment) as u64,
            outstanding: side.board.outstanding(),
            pacing: self.control.pacing(path).map(|rate| rate * segment),
            established: side.member && side.established(),
            backup: side.backup,
            timeouts: side.timeouts(),
        }
    }

    fn last(&self) -> usize {
        self.last as usize
    }

    fn segment(&self) -> u64 {
        u64::from(self.settings.segment)
    }

    fn data_una(&self) -> u64 {
        self.data_una
    }

    fn data_nxt(&self) -> u64 {
        *self.data_nxt
    }

    fn written(&self) -> u64 {
        self.settings.source.written(self.age, self.settings.segment)
    }

    fn edge(&self) -> u64 {
        self.edge
    }

    fn take(&mut self, most: u64) -> Option<Range> {
        let (nxt, written) = (*self.data_nxt, self.written());
        *self.starved = nxt >= written;
        let range = next(nxt, most, self.segment(), written, self.edge)?;
        *self.data_nxt = range.end;
        Some(range)
    }
}

/// Of the data from `start` on `most` bytes or less: what is `written`, and below the `edge` of the receive window in
/// whole segments.
pub(crate) fn next(start: u64, most: u64, segment: u64, written: u64, edge: u64) -> Option<Range> {
    let end = start.saturating_add(most).min(written);
    let admitted = start + edge.saturating_sub(start) / segment * segment;
    let end = if end <= edge { end } else { admitted.min(end) };
    (start < end).then_some(Range { start, end })
}
