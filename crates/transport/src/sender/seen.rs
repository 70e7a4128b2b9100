//! What the scheduler sees of a sender.

use super::Sender;
use crate::path::Path;
use crate::scheduler::{PathState, Scheduling, View};
use crate::settings::SenderSettings;
use control::CongestionController;
use units::{Span, Time};

/// A sender without its scheduler.
pub(super) struct Seen<'a, E> {
    paths: &'a [Path],
    control: &'a E,
    settings: &'a SenderSettings,
    last: u32,
    data_una: u64,
    data_nxt: u64,
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
            data_nxt: self.data_nxt,
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
            outstanding: side.board.outstanding(),
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
        self.data_nxt
    }

    fn written(&self) -> u64 {
        self.settings.source.written(self.age, self.settings.segment)
    }
}
