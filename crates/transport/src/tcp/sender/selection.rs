//! Path selection: a path that has become far worse than before is suspended until a probe on it is
//! answered (wished for by Xue et al., TVT 2017, §V-B-2 and §V-C: "close the bad path timely").
//!
//! The rule:
//! * **leave**: a path is suspended when less was acknowledged on it in the last 2 s than a tenth
//!   of what its mean rate gives in that time, and more on another path in use. Its mean rate is
//!   over all the time that it was in use. Something was outstanding on it all that time: a path
//!   without data to carry is not judged.
//! * **probe**: once in a second the oldest outstanding segment is sent again on it.
//! * **rejoin**: one answer to a probe, and the path is used as if it had just joined (RFC 9260
//!   §8.3: one HEARTBEAT ACK makes a destination active again). The same holds as soon as no other
//!   path is in use.
//!
//! A path's loss, its round trip and a stalled decoder all reduce the rate of acknowledged data,
//! and the paper names throughput as the criterion of path selection (§I). The paper has no
//! numbers; 2 s, a tenth and 1 s are the values that its ledger recommends
//! (`couple.wish.path_selection`).

use super::Sender;
use crate::tcp::path::Path;
use control::CongestionController;
use std::collections::VecDeque;
use units::{Span, Time};
use wire::Range;

/// Time over which a path's rate is judged.
const PATIENCE: Span = Span::millis(2000);
/// Fraction of its mean rate below which a path is slow.
const SLOW: f64 = 0.1;

/// The measurement of each path's rate.
#[derive(Debug)]
pub(super) struct Selection {
    paths: Box<[Watched]>,
    /// When a path that stays silent will be slow.
    pub(super) deadline: Time,
}

#[derive(Clone, Debug, Default)]
struct Watched {
    /// First byte not acknowledged at the last look.
    una: u64,
    /// Bytes acknowledged while in use, and the time that it was in use.
    acked: u64,
    used: Span,
    /// When it was last looked at.
    looked: Time,
    /// When it was last seen with nothing outstanding.
    idle: Time,
    /// Bytes acknowledged in the last `PATIENCE`, with their times.
    recent: VecDeque<(Time, u64)>,
}

impl Watched {
    /// Updates the measurement with the events on `path` since the last look.
    fn update(&mut self, now: Time, path: &Path, in_use: bool) {
        let progress = path.board.una.saturating_sub(self.una);
        self.una = path.board.una;
        if in_use {
            self.used = Span(self.used.0 + now.since(self.looked).0);
            self.acked += progress;
        }
        self.looked = now;
        if progress > 0 {
            self.recent.push_back((now, progress));
        }
        while self.recent.front().is_some_and(|(at, _)| *at + PATIENCE <= now) {
            self.recent.pop_front();
        }
        if path.board.outstanding() == 0 {
            self.idle = now;
        }
    }

    fn lately(&self) -> u64 {
        self.recent.iter().map(|(_, bytes)| bytes).sum()
    }

    /// When it will have had data outstanding and no acknowledgement for `PATIENCE`.
    fn silent_at(&self) -> Time {
        self.recent.back().map_or(self.idle, |(at, _)| self.idle.max(*at)) + PATIENCE
    }

    fn slow(&self, now: Time) -> bool {
        let busy = self.used >= PATIENCE && now >= self.idle + PATIENCE;
        let expected = self.acked as f64 * PATIENCE.seconds() / self.used.seconds().max(1e-9);
        busy && (self.lately() as f64) < SLOW * expected
    }
}

impl Selection {
    pub(super) fn new(paths: usize) -> Self {
        Selection { paths: vec![Watched::default(); paths].into(), deadline: Time::NEVER }
    }

    /// Looks at all paths; returns the slowest one to be suspended.
    fn look(&mut self, now: Time, paths: &[Path]) -> Option<usize> {
        let in_use = |me: usize| in_use(&paths[me]);
        for (me, (watched, path)) in self.paths.iter_mut().zip(paths).enumerate() {
            watched.update(now, path, in_use(me));
        }
        let used = || (0..paths.len()).filter(|me| in_use(*me));
        let most = used().map(|me| self.paths[me].lately()).max()?;
        self.deadline = used()
            .filter(|me| paths[*me].board.outstanding() > 0)
            .map(|me| self.paths[me].silent_at())
            .filter(|at| *at > now)
            .min()
            .unwrap_or(Time::NEVER);
        used()
            .filter(|me| self.paths[*me].slow(now) && self.paths[*me].lately() < most)
            .min_by_key(|me| self.paths[*me].lately())
    }

    /// Data is about to be sent on `path`.
    pub(super) fn before_sending(&mut self, now: Time, me: usize, path: &Path) {
        if path.board.outstanding() == 0 {
            self.paths[me].idle = now;
        }
        self.deadline = self.deadline.min(self.paths[me].silent_at().max(now + Span(1)));
    }

    /// `path` has left: forgets its measurement.
    pub(super) fn forget(&mut self, me: usize, path: &Path) {
        let (una, looked) = (path.board.nxt, self.paths[me].looked);
        self.paths[me] = Watched { una, looked, idle: looked, ..Watched::default() };
    }
}

fn in_use(path: &Path) -> bool {
    path.standing.member && path.established() && !path.suspended()
}

impl<E: CongestionController> Sender<E> {
    /// When the next silent path is looked at.
    pub(super) fn selects_at(&self) -> Time {
        let selection = self.extensions.as_ref().and_then(|it| it.selection.as_ref());
        selection.map_or(Time::NEVER, |selection| selection.deadline)
    }

    /// With path selection, suspends the path that has become slow; its outstanding data and the
    /// ranges of `stuck` are offered to the other paths.
    pub(crate) fn select_paths<R: IntoIterator<Item = Range>>(
        &mut self,
        now: Time,
        mut stuck: impl FnMut(usize) -> R,
    ) {
        let Some(selection) = self.extensions.as_mut().and_then(|it| it.selection.as_mut()) else {
            return;
        };
        if let Some(me) = selection.look(now, &self.paths) {
            self.paths[me].suspend(now);
            self.reinject_from(me, stuck(me));
            self.tell_scheduler_of_leaving(me);
            self.control.set_member(me, false);
            self.unblock();
            self.refresh_siblings();
        }
        if !self.paths.iter().any(in_use) {
            (0..self.paths.len()).for_each(|me| self.answered(now, me));
        }
    }

    /// Data of `me` was acknowledged: if the path was suspended, it is used again.
    pub(crate) fn answered(&mut self, now: Time, me: usize) {
        if !self.paths[me].suspended() {
            return;
        }
        self.paths[me].resume(now);
        if let Some(selection) = self.extensions.as_mut().and_then(|it| it.selection.as_mut()) {
            // The time before counts neither as silence nor in the rate.
            let watched = &mut selection.paths[me];
            (watched.idle, watched.looked) = (now, now);
            watched.recent.clear();
        }
        self.control.set_member(me, true);
        self.refresh(me);
        self.refresh_siblings();
        self.unblock();
    }
}
