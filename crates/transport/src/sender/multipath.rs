//! What only connections with several paths do.

use super::{NOBODY, Sender};
use crate::scheduler::Schedule;
use control::{CongestionController, Window};
use units::Time;
use wire::Range;

impl<E: CongestionController> Sender<E> {
    /// Opportunistic retransmission and penalisation (Raiciu et al., NSDI 2012, §4.2): the receive window is
    /// full, `me` could send, and another path holds the data that the receiver waits for. That data goes
    /// on `me` too, once, and the window of the other path is halved, once for each of its round trips.
    pub(super) fn opportunistic(&mut self, now: Time, me: usize) -> Option<(usize, Range)> {
        let start = self.data_una;
        if !self.settings.opportunistic || self.paths[me].helped > start {
            return None;
        }
        let holds = |path: &crate::path::Path| path.holds(start);
        let owner = self.paths.iter().position(holds).filter(|owner| *owner != me)?;
        if self.settings.penalise && now >= self.paths[owner].punished_until {
            let Window { cwnd, ssthresh } = self.control.window(owner);
            let half = (cwnd / 2.0).max(1.0);
            self.control
                .restart(owner, Window { cwnd: half, ssthresh: ssthresh.min(half.max(2.0)) });
            self.paths[owner].punished_until = now + self.paths[owner].rtt.srtt();
            self.refresh(owner);
            self.refresh_siblings();
        }
        let end = (start + u64::from(self.settings.segment)).min(self.data_nxt);
        self.paths[me].helped = end;
        Some((me, Range { start, end }))
    }

    /// Offers what is outstanding on `from` to the other paths.
    pub(super) fn reinject_from(&mut self, from: usize) {
        let missing = self.paths[from].offer();
        self.reinject.extend(missing.into_iter().map(|range| (range, from)));
    }

    /// Data that waits to be sent again on another path than before, and a path with space for it.
    #[inline(always)] // on the way of every segment
    pub(super) fn reinjection(&mut self) -> Option<(usize, Range)> {
        match self.reinject.is_empty() {
            true => None,
            false => self.take_reinjection(),
        }
    }

    #[cold]
    fn take_reinjection(&mut self) -> Option<(usize, Range)> {
        let data_una = self.data_una;
        self.reinject.retain_mut(|(range, _)| {
            range.start = range.start.max(data_una);
            !range.is_empty()
        });
        let able = |me: usize| !self.paths[me].failed && self.has_space(me) && !self.stands_by(me);
        let (me, index) = (0..self.paths.len())
            .filter(|me| able(*me))
            .find_map(|me| Some((me, self.reinject.iter().position(|(_, from)| *from != me)?)))?;
        let (range, _) = &mut self.reinject[index];
        let end = range.end.min(range.start + u64::from(self.settings.segment));
        let taken = Range { start: range.start, end };
        range.start = end;
        Some((me, taken))
    }

    /// `path` joins the connection, again or late. Returns the first sequence number it will use,
    /// which the receiver must be told: see [`crate::Receiver::join`].
    pub fn join(&mut self, path: usize) -> u64 {
        self.blocked = false;
        if let Some(rated) = &mut self.rated {
            self.paths[path].join();
            self.control.set_member(path, true);
            return rated.join(path);
        }
        self.paths[path].join();
        self.control.set_member(path, true);
        self.refresh(path);
        self.refresh_siblings();
        let side = &self.paths[path];
        side.coder.as_ref().map_or(side.board.nxt, |coder| u64::from(coder.next()))
    }

    /// `path` leaves the connection; what it had outstanding is offered to the others.
    pub fn leave(&mut self, path: usize) {
        self.blocked = false;
        if let Some(rated) = &mut self.rated {
            rated.leave(path);
        }
        self.reinject_from(path);
        // Should it join again, it has forgotten this data and may carry it like any other path.
        self.reinject.iter_mut().filter(|(_, from)| *from == path).for_each(|item| item.1 = NOBODY);
        self.scheduler.on_leave(path);
        self.paths[path].leave(&self.settings);
        self.control.set_member(path, false);
        self.refresh_siblings();
    }

    /// With a handshake: paths that are closed ask for a join once the connection is established; before,
    /// the first one asks for the connection.
    pub(super) fn open_closed(&mut self) {
        if !self.settings.handshake {
            return;
        }
        let join = self.opened || self.paths.iter().any(crate::path::Path::asks);
        if join && !self.opened {
            return;
        }
        for path in self.paths.iter_mut().filter(|path| path.closed()) {
            path.open(join);
            if !join {
                break; // the others when it is established
            }
        }
    }
}
