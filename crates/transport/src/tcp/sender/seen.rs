//! The scheduler's view of a sender.

use super::Sender;
use super::several::{PathSet, Several};
use crate::scheduler::{PathState, Scheduling, View};
use crate::settings::SenderSettings;
use crate::source::{Unsent, next};
use crate::tcp::path::Path;
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
    unsent: &'a mut Unsent,
    starved: &'a mut bool,
    /// Paths that may be ready; `None` if they are not tracked.
    ready: Option<PathSet>,
    now: Time,
}

impl<E: CongestionController> Sender<E> {
    /// The scheduler of several paths, and its view at `now`.
    #[inline(always)] // runs for every segment
    pub(super) fn seen(&mut self, now: Time) -> Option<(&mut Scheduling, Seen<'_, E>)> {
        let Several { scheduler, readiness } = self.several.as_deref_mut()?;
        let seen = Seen {
            paths: &self.paths,
            control: &self.control,
            settings: &self.settings,
            last: self.last_path,
            data_una: self.data_una,
            unsent: &mut self.unsent,
            starved: &mut self.starved,
            ready: readiness.ready_paths(),
            now,
        };
        Some((scheduler, seen))
    }

    /// Whether `me` stands by: it is a backup (RFC 8684 §3.3.8) and another path works.
    #[inline(always)] // runs for every segment
    pub(super) fn stands_by(&self, me: usize) -> bool {
        stands_by(&self.paths, me)
    }
}

#[inline(always)] // runs for every segment
fn stands_by(paths: &[Path], me: usize) -> bool {
    paths[me].standing.backup && another_works(paths)
}

/// Whether a path that is not a backup works.
#[cold]
fn another_works(paths: &[Path]) -> bool {
    paths.iter().any(|path| !path.standing.backup && path.working())
}

impl<E: CongestionController> View for Seen<'_, E> {
    fn now(&self) -> Time {
        self.now
    }

    #[inline(always)] // runs for every segment
    fn paths(&self) -> usize {
        self.paths.len()
    }

    #[inline(always)] // runs for every segment
    fn may_send(&self, path: usize) -> bool {
        let side = &self.paths[path];
        side.standing.ready && !side.standing.failed && !stands_by(self.paths, path)
    }

    #[inline(always)] // runs for every segment
    fn next_able(&self, from: usize) -> Option<usize> {
        let Some(ready) = self.ready else {
            return (from..self.paths.len()).find(|path| self.may_send(*path));
        };
        let mut path = ready.next(from, self.paths.len());
        while let Some(me) = path.filter(|me| !self.may_send(*me)) {
            path = ready.next(me + 1, self.paths.len());
        }
        path
    }

    fn is_used(&self, path: usize) -> bool {
        self.paths[path].working() && !stands_by(self.paths, path)
    }

    #[inline(always)] // runs for every segment
    fn srtt(&self, path: usize) -> Span {
        self.paths[path].rtt.srtt()
    }

    fn path(&self, path: usize) -> PathState {
        let side = &self.paths[path];
        let segment = f64::from(self.settings.segment());
        let window = self.control.window(path);
        PathState {
            srtt: side.rtt.srtt(),
            rttvar: side.rtt.rttvar(),
            cwnd: (window.cwnd * segment) as u64,
            ssthresh: (window.ssthresh * segment) as u64,
            outstanding: side.board.outstanding(),
            pacing: self.control.pacing(path).map(|rate| rate.0 * segment),
            established: side.standing.member && side.established(),
            backup: side.standing.backup,
            timeouts: side.timeouts(),
        }
    }

    fn last(&self) -> usize {
        self.last as usize
    }

    fn segment(&self) -> u64 {
        u64::from(self.settings.segment())
    }

    fn data_una(&self) -> u64 {
        self.data_una
    }

    fn data_nxt(&self) -> u64 {
        self.unsent.nxt
    }

    fn written(&self) -> u64 {
        self.unsent.written(self.now, &self.settings.source, self.settings.segment())
    }

    fn edge(&self) -> u64 {
        self.unsent.edge
    }

    fn take(&mut self, most: u64) -> Option<Range> {
        let (Unsent { nxt, edge, .. }, written) = (*self.unsent, self.written());
        *self.starved = nxt >= written;
        let range = next(nxt, most, self.segment(), written, edge)?;
        self.unsent.nxt = range.end;
        Some(range)
    }
}
