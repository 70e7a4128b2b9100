//! State of connections with several paths: the scheduler, and the paths that could send now, so
//! that a usual ACK looks at no other path.

use super::Sender;
use crate::scheduler::{Schedule, Scheduling};
use crate::settings::SenderSettings;
use crate::tcp::path::Path;
use control::CongestionController;
use units::Time;
use wire::Range;

/// Bits of a set.
const BITS: usize = u64::BITS as usize;

/// A set of paths that may have a property. Paths whose indices are equal modulo 64 share a bit,
/// and with more than 64 paths no path is ever removed. So the property must still be checked for
/// each path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PathSet(u64);

impl PathSet {
    /// Adds path `me` of `paths`, or removes it.
    #[inline(always)] // runs for every segment
    fn set(&mut self, me: usize, paths: usize, holds: bool) {
        let bit = 1 << (me % BITS);
        match holds {
            true => self.0 |= bit,
            false if paths <= BITS => self.0 &= !bit,
            false => {}
        }
    }

    /// Whether `me` is the only one of `paths` paths that may be in the set.
    #[inline(always)] // runs for every segment
    fn has_only(self, me: usize, paths: usize) -> bool {
        paths <= BITS && self.0 & !(1 << (me % BITS)) == 0
    }

    /// The first of `paths` paths at or after `from` that may be in the set.
    #[inline(always)] // runs for every segment
    pub(super) fn next(self, from: usize, paths: usize) -> Option<usize> {
        if from >= paths {
            return None;
        }
        let from_there_on = self.0.rotate_right((from % BITS) as u32);
        let next = from + from_there_on.trailing_zeros() as usize;
        (self.0 != 0 && next < paths).then_some(next)
    }

    /// Whether the property `really` holds for one of `paths` paths in the set.
    #[inline(always)] // runs for every segment
    fn holds(self, paths: usize, really: impl Fn(usize) -> bool) -> bool {
        let mut path = self.next(0, paths);
        while let Some(me) = path.filter(|me| !really(*me)) {
            path = self.next(me + 1, paths);
        }
        path.is_some()
    }
}

/// The changes since the paths were last looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Changed {
    Nothing,
    /// One path changed.
    Path(u32),
    /// Any paths may have changed.
    Any,
}

/// State that only a connection with several paths has.
#[derive(Debug)]
pub(super) struct Several {
    pub(super) scheduler: Scheduling,
    pub(super) readiness: Readiness,
}

impl Several {
    pub(super) fn new(settings: &SenderSettings, paths: usize) -> Self {
        let scheduler = settings.options.scheduler.start(paths);
        Several { scheduler, readiness: Readiness::default() }
    }

    /// A usual ACK has changed path `me` of `paths`; `alone` says that no other path has changed
    /// since the last look at all. Returns whether none of them could send, and the scheduler would
    /// choose `me`.
    #[inline(always)] // runs for every ACK
    pub(super) fn on_usual_ack(&mut self, me: usize, paths: usize, alone: bool) -> bool {
        self.readiness.changed(me, alone);
        self.readiness.only_candidate(paths) == Some(me) && self.scheduler.takes_only_path()
    }

    /// Updates whether path `me` of `paths`, the only one that may have changed, could send more:
    /// it is calm, and its window allows `room` bytes. Returns whether it could.
    #[inline(always)] // runs for every segment
    pub(super) fn look_at_calm(
        &mut self,
        me: usize,
        paths: usize,
        path: &mut Path,
        room: u64,
        settings: &SenderSettings,
    ) -> bool {
        let enough = room >= u64::from(settings.segment());
        path.standing.cwnd_limited = !enough;
        path.standing.ready = enough && path.may_use_host();
        let readiness = &mut self.readiness;
        readiness.ready.set(me, paths, path.standing.ready);
        readiness.lossy.set(me, paths, false);
        readiness.timers = readiness.timers.min(path.timer.deadline);
        readiness.changed = Changed::Nothing;
        path.standing.ready
    }
}

/// Findings of the last look at the paths.
#[derive(Debug)]
pub(super) struct Readiness {
    changed: Changed,
    /// Paths that could carry new data: see `Standing::ready`.
    ready: PathSet,
    /// Paths with lost data.
    lossy: PathSet,
    /// No timer of a path fires before this time.
    pub(super) timers: Time,
}

impl Default for Readiness {
    fn default() -> Self {
        let none = PathSet::default();
        Readiness { changed: Changed::Any, ready: none, lossy: none, timers: Time::NEVER }
    }
}

impl Readiness {
    /// Any path may have changed.
    #[inline(always)] // runs for every ACK
    pub(super) fn forget(&mut self) {
        self.changed = Changed::Any;
    }

    /// Path `me` has changed; `alone` says that no other path has changed since the last look at
    /// all.
    #[inline(always)] // runs for every ACK
    pub(super) fn changed(&mut self, me: usize, alone: bool) {
        self.changed = match alone && self.changed == Changed::Nothing {
            true => Changed::Path(me as u32),
            false => Changed::Any,
        };
    }

    /// The one of `paths` paths that has changed or, if none has, that could send; `None` if
    /// another one could send.
    #[inline(always)] // runs for every segment
    fn only_candidate(&self, paths: usize) -> Option<usize> {
        let me = match self.changed {
            Changed::Path(me) => me as usize,
            Changed::Nothing => self.only_ready(paths)?,
            Changed::Any => return None,
        };
        (self.ready.has_only(me, paths) && self.lossy.has_only(me, paths)).then_some(me)
    }

    /// Records what path `me` of `paths` could send.
    #[inline(always)] // runs for every segment
    fn look_at(&mut self, me: usize, paths: usize, path: &mut Path, settings: &SenderSettings) {
        path.look_for_room(settings);
        self.ready.set(me, paths, path.standing.ready);
        self.lossy.set(me, paths, path.has_lost());
        self.timers = self.timers.min(path.timer.deadline);
    }

    /// Checks that no path that could send is missing.
    fn covers(&self, paths: &[Path]) -> bool {
        paths.iter().enumerate().all(|(me, path)| {
            let held = |set: PathSet, holds: bool| !holds || set.next(me, paths.len()) == Some(me);
            held(self.ready, path.standing.ready)
                && held(self.lossy, path.has_lost())
                && self.timers <= path.timer.deadline
        })
    }

    /// The paths that could carry new data, if they are known.
    #[inline(always)] // runs for every segment
    pub(super) fn ready_paths(&self) -> Option<PathSet> {
        (self.changed == Changed::Nothing).then_some(self.ready)
    }

    /// Whether none of `paths` could send. Lost data counts if `could_repair` holds for its path.
    #[inline(always)] // runs for every segment
    fn none(&self, paths: &[Path], could_repair: impl Fn(&Path) -> bool) -> bool {
        let count = paths.len();
        !self.ready.holds(count, |me| paths[me].standing.ready)
            && !self.lossy.holds(count, |me| paths[me].has_lost() && could_repair(&paths[me]))
    }

    /// The only one of `paths` paths that may be ready, if there is one and it is known.
    #[inline(always)] // runs for many segments
    fn only_ready(&self, paths: usize) -> Option<usize> {
        let PathSet(ready) = self.ready_paths()?;
        (paths <= BITS && ready.is_power_of_two()).then(|| ready.trailing_zeros() as usize)
    }
}

impl<E: CongestionController> Sender<E> {
    /// Looks at the paths that may have changed.
    #[inline(always)] // runs for every segment
    pub(super) fn look_at_changed(&mut self) {
        let Some(Several { readiness, .. }) = self.several.as_deref_mut() else {
            return;
        };
        let paths = self.paths.len();
        match readiness.changed {
            Changed::Nothing => {}
            Changed::Path(me) => {
                let me = me as usize;
                readiness.look_at(me, paths, &mut self.paths[me], &self.settings);
            }
            Changed::Any => {
                readiness.timers = Time::NEVER;
                for (me, path) in self.paths.iter_mut().enumerate() {
                    readiness.look_at(me, paths, path, &self.settings);
                }
            }
        }
        readiness.changed = Changed::Nothing;
        debug_assert!(readiness.covers(&self.paths), "a path has changed unnoticed");
    }

    /// Updates whether `me` could send new or lost data.
    #[inline(always)] // runs for every segment
    pub(super) fn look_at(&mut self, me: usize) {
        if let Some(Several { readiness, .. }) = self.several.as_deref_mut() {
            let paths = self.paths.len();
            readiness.look_at(me, paths, &mut self.paths[me], &self.settings);
        }
    }

    /// The path that the scheduler would choose for new data, if no other path could send anything.
    #[inline(always)] // runs for every segment
    pub(super) fn only_candidate(&self) -> Option<usize> {
        let Several { scheduler, readiness } = self.several.as_deref()?;
        let me = readiness.only_candidate(self.paths.len())?;
        let able = !self.paths[me].standing.failed && !self.stands_by(me);
        (able && self.reinject.is_none() && scheduler.takes_only_path()).then_some(me)
    }

    /// The path that the scheduler would choose for new data, because no other one could carry any.
    #[inline(always)] // runs for many segments
    pub(super) fn only_choice(&self) -> Option<usize> {
        let Several { scheduler, readiness } = self.several.as_deref()?;
        let me = readiness.only_ready(self.paths.len())?;
        let standing = &self.paths[me].standing;
        let able = standing.ready && !standing.failed && !self.stands_by(me);
        (able && scheduler.takes_only_path()).then_some(me)
    }

    /// The first path at or after `from` that may have lost data.
    #[inline(always)] // runs for every segment
    pub(super) fn next_lossy(&self, from: usize) -> Option<usize> {
        self.several.as_ref()?.readiness.lossy.next(from, self.paths.len())
    }

    /// The new data in `range` is about to be sent on `me`.
    #[inline(always)] // runs for every segment
    pub(super) fn tell_scheduler(&mut self, me: usize, range: Range) {
        if let Some(several) = &mut self.several {
            several.scheduler.on_new(me, range);
        }
    }

    /// `me` leaves the connection, or is suspended.
    pub(super) fn tell_scheduler_of_leaving(&mut self, me: usize) {
        if let Some(several) = &mut self.several {
            several.scheduler.on_leave(me);
        }
    }

    /// Whether no path could send: then a poll would find nothing. Control that needs siblings
    /// polls in any case if data is lost.
    #[inline(always)] // runs for every segment
    pub(super) fn all_are_full(&self) -> bool {
        let repairs = |path: &Path| self.needs.siblings || path.has_space(1, &self.settings);
        self.several.as_ref().is_some_and(|several| several.readiness.none(&self.paths, repairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_path_that_was_put_in_is_found_and_of_up_to_64_no_other(
            paths in 1usize..200, steps in prop::collection::vec((any::<usize>(), any::<bool>()), 0..80),
        ) {
            let (mut set, mut model) = (PathSet::default(), vec![false; paths]);
            for (me, holds) in steps {
                set.set(me % paths, paths, holds);
                model[me % paths] = holds;
            }
            let found: Vec<usize> =
                std::iter::successors(set.next(0, paths), |me| set.next(me + 1, paths)).collect();
            prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
            for (me, holds) in model.into_iter().enumerate() {
                prop_assert!(!holds || found.contains(&me));
                prop_assert!(holds || paths > 64 || !found.contains(&me));
            }
        }
    }
}
