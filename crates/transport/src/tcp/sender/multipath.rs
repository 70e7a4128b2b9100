//! Parts of a sender that only connections with several paths use.

use super::extensions::{Handshake, Helper};
use super::{NOBODY, Sender};
use crate::tcp::path::Path;
use control::{CongestionController, Window};
use std::collections::VecDeque;
use units::Time;
use wire::Range;

impl<E: CongestionController> Sender<E> {
    /// Opportunistic retransmission and penalisation (Raiciu et al., NSDI 2012, §4.2): the receive
    /// window is full, `me` could send, and another path holds the data for which the receiver
    /// waits. That data is sent on `me` too, once, and the window of the other path is halved, once
    /// in each of its round trips.
    pub(super) fn opportunistic(&mut self, now: Time, me: usize) -> Option<(usize, Range)> {
        let start = self.data_una;
        let help = self.extensions.as_mut()?.help.as_mut()?;
        if help.paths[me].helped > start {
            return None;
        }
        let holds = |path: &Path| path.holds(start);
        let owner = self.paths.iter().position(holds).filter(|owner| *owner != me)?;
        let end = (start + u64::from(self.settings.segment())).min(self.unsent.nxt);
        help.paths[me].helped = end;
        if help.penalise && now >= help.paths[owner].punished_until {
            help.paths[owner].punished_until = now + self.paths[owner].rtt.srtt();
            let Window { cwnd, ssthresh } = self.control.window(owner);
            let half = (cwnd / 2.0).max(1.0);
            let ssthresh = ssthresh.min(half.max(2.0));
            self.control.restart(owner, Window { cwnd: half, ssthresh });
            self.refresh(owner);
            self.refresh_siblings();
        }
        Some((me, Range { start, end }))
    }

    /// Offers the outstanding data of `from` and the ranges of `more` to the other paths.
    pub(super) fn reinject_from(&mut self, from: usize, more: impl IntoIterator<Item = Range>) {
        let missing = self.paths[from].offer().into_iter().chain(more);
        let offered = missing.map(|range| (range, from));
        self.reinject.get_or_insert_default().waiting.extend(offered);
    }

    /// Data to be sent again on another path, and a path with space for it.
    #[inline(always)] // runs for every segment
    pub(super) fn reinjection(&mut self) -> Option<(usize, Range)> {
        match &self.reinject {
            None => None,
            Some(_) => self.take_reinjection(),
        }
    }

    #[cold]
    fn take_reinjection(&mut self) -> Option<(usize, Range)> {
        let data_una = self.data_una;
        let mut reinject = self.reinject.take()?;
        reinject.waiting.retain_mut(|(range, _)| {
            range.start = range.start.max(data_una);
            !range.is_empty()
        });
        let taken = self.take_from(&mut reinject.waiting);
        self.reinject = Some(reinject).filter(|it| !it.waiting.is_empty());
        taken
    }

    /// The first data of `waiting` that a path may send, and that path.
    fn take_from(&self, waiting: &mut VecDeque<(Range, usize)>) -> Option<(usize, Range)> {
        let able = |me: usize| {
            !self.paths[me].standing.failed && self.has_space(me) && !self.stands_by(me)
        };
        let (me, index) = (0..self.paths.len())
            .filter(|me| able(*me))
            .find_map(|me| Some((me, waiting.iter().position(|(_, from)| *from != me)?)))?;
        let (range, _) = &mut waiting[index];
        let end = range.end.min(range.start + u64::from(self.settings.segment()));
        let taken = Range { start: range.start, end };
        range.start = end;
        Some((me, taken))
    }

    /// `path` leaves the connection; its outstanding data and `more` are offered to the other
    /// paths.
    pub(crate) fn remove(&mut self, path: usize, more: impl IntoIterator<Item = Range>) {
        self.unblock();
        self.reinject_from(path, more);
        // If it joins again, it has forgotten this data and may carry it like any other path.
        let waiting = self.reinject.iter_mut().flat_map(|it| it.waiting.iter_mut());
        waiting.filter(|(_, from)| *from == path).for_each(|item| item.1 = NOBODY);
        self.tell_scheduler_of_leaving(path);
        if let Some(help) = self.extensions.as_mut().and_then(|parts| parts.help.as_mut()) {
            help.paths[path] = Helper::default();
        }
        self.paths[path].leave(&self.settings);
        if let Some(selection) = self.extensions.as_mut().and_then(|it| it.selection.as_mut()) {
            selection.forget(path, &self.paths[path]);
        }
        self.control.set_member(path, false);
        self.refresh_siblings();
    }

    /// With a handshake: closed paths request a join once the connection is established; before,
    /// the first path requests the connection.
    pub(super) fn open_closed(&mut self) {
        let handshake = self.extensions.as_ref().and_then(|parts| parts.handshake.as_ref());
        let Some(Handshake { opened }) = handshake else {
            return;
        };
        let join = *opened || self.paths.iter().any(Path::asks);
        if join && !opened {
            return;
        }
        for path in self.paths.iter_mut().filter(|path| path.closed()) {
            path.open(join);
            if !join {
                break; // the others follow when it is established
            }
        }
    }
}
