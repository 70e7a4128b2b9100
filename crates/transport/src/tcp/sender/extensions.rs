//! Parts of a sender that few connections have. They are one optional box, so that a single check
//! excludes them all.

use super::Sender;
use super::selection::Selection;
use crate::endpoint::Transmit;
use crate::options::{Idle, Options};
use crate::scheduler::Choice;
use crate::settings::SenderSettings;
use crate::tcp::path::Path;
use crate::tcp::tracking::Tracking;
use control::CongestionController;
use units::{Span, Time};
use wire::{Ack, Data, Flags, Range};

/// The parts beyond the common case; a part is absent while it is off. State of tracked segments is
/// in the paths.
#[derive(Debug)]
pub(super) struct Extensions {
    pub(super) handshake: Option<Handshake>,
    pub(super) help: Option<Help>,
    pub(super) selection: Option<Selection>,
    /// The effect of an idle time on the window, if any.
    idle: Option<Idle>,
    /// The host may hold the data that a path sends in this time, and no more.
    small_queue_time: Option<Span>,
    /// The handshake is the only part: the box is dropped once every path is established.
    opens_only: bool,
}

/// The connection and its joins begin with a handshake.
#[derive(Debug)]
pub(super) struct Handshake {
    /// Whether a first path was ever established.
    pub(super) opened: bool,
}

/// Opportunistic retransmission: the help of each path for others.
#[derive(Debug)]
pub(super) struct Help {
    /// Whether the window of the helped path is halved.
    pub(super) penalise: bool,
    pub(super) paths: Box<[Helper]>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Helper {
    /// The path has sent the data below this for which the receiver waited.
    pub(super) helped: u64,
    /// Its window is not halved again before this time.
    pub(super) punished_until: Time,
}

impl Extensions {
    /// The extensions of a connection; `None` if all are off and its paths track nothing.
    pub(super) fn new(settings: &SenderSettings, paths: usize) -> Option<Box<Self>> {
        let Options { handshake, opportunistic, penalise, idle, small_queue_time, suspend, .. } =
            settings.options;
        let helpers = || vec![Helper::default(); paths].into();
        let parts = Extensions {
            handshake: handshake.then_some(Handshake { opened: false }),
            help: opportunistic.then(|| Help { penalise, paths: helpers() }),
            selection: (suspend && paths > 1).then(|| Selection::new(paths)),
            idle: (idle != Idle::Keep).then_some(idle),
            small_queue_time,
            opens_only: false,
        };
        let own = opportunistic || parts.idle.is_some() || small_queue_time.is_some();
        let own = own || parts.selection.is_some();
        let lasting = own || Tracking::is_needed(settings);
        (handshake || lasting).then(|| Box::new(Extensions { opens_only: !lasting, ..parts }))
    }

    /// The handshake alone, for an established connection that a path joins.
    fn reopening() -> Self {
        Extensions {
            handshake: Some(Handshake { opened: true }),
            help: None,
            selection: None,
            idle: None,
            small_queue_time: None,
            opens_only: true,
        }
    }
}

/// Whether an ACK answers a packet of a handshake.
pub(super) fn opens(ack: &Ack) -> bool {
    ack.flags.has(Flags::SYN) || ack.flags.has(Flags::CONFIRM)
}

impl<E: CongestionController> Sender<E> {
    /// An ACK of `path` arrived at a connection with extensions.
    #[inline(never)]
    pub(super) fn on_ack_extended(&mut self, now: Time, path: usize, ack: &Ack) {
        if opens(ack) {
            return self.on_handshake(now, path, ack);
        }
        let progress = ack.ack > self.paths[path].board.una;
        self.tell_delay(path, ack);
        if progress {
            self.answered(now, path);
        }
        self.on_ack(now, path, ack);
        self.select_paths(now, |_| None);
        if let Some(time) = self.extensions.as_ref().and_then(|parts| parts.small_queue_time) {
            self.paths[path].limit_host(time, self.control.window(path), &self.settings);
        }
        self.refresh_siblings();
    }

    /// An answer of a handshake arrived.
    fn on_handshake(&mut self, now: Time, path: usize, ack: &Ack) {
        if self.paths[path].standing.member && self.paths[path].on_answer(now, ack) {
            if let Some(own) = self.extensions.as_mut().and_then(|parts| parts.handshake.as_mut()) {
                own.opened = true;
            }
            self.unsent.edge = self.unsent.edge.max(ack.window_edge);
            self.end_opening(now);
        }
    }

    /// Once every member path is established, a connection without further extensions drops the
    /// box.
    fn end_opening(&mut self, now: Time) {
        let open = |path: &Path| path.established() || !path.standing.member;
        let over = self.extensions.as_ref().is_some_and(|parts| parts.opens_only)
            && self.paths.iter().all(open);
        if over {
            self.paths.iter_mut().for_each(|path| path.look_at_pace(now));
            self.extensions = None;
            self.look_again();
        }
    }

    /// Keeps the extensions for good.
    #[cfg(test)]
    pub(super) fn stay_extended(&mut self) {
        let parts = self.extensions.get_or_insert_with(|| Box::new(Extensions::reopening()));
        parts.opens_only = false;
    }

    /// A path joins: with handshakes, it begins one.
    pub(super) fn expect_opening(&mut self) {
        if self.settings.options.handshake && self.extensions.is_none() {
            self.extensions = Some(Box::new(Extensions::reopening()));
        }
    }

    /// Reports the one-way delay of the segment that `ack` acknowledges, if control needs delays.
    pub(super) fn tell_delay(&mut self, path: usize, ack: &Ack) {
        if self.needs.delays && ack.ack > self.paths[path].board.una {
            self.control.on_delay(path, ack.transit);
        }
    }

    /// Reads the windows of other paths, if control may have moved them.
    #[inline(always)] // mostly nothing
    pub(crate) fn refresh_siblings(&mut self) {
        if self.needs.siblings {
            self.refresh_all();
        }
    }

    fn refresh_all(&mut self) {
        let (paths, settings) = (&mut self.paths, &self.settings);
        let mut changed = false;
        self.control.windows(paths.len(), |me, window| {
            changed |= paths[me].refresh(window.cwnd, settings);
        });
        debug_assert!(
            (0..paths.len()).all(|me| !paths[me].refresh(self.control.window(me).cwnd, settings)),
            "a window has changed unnoticed"
        );
        if self.extensions.is_some() {
            for (me, path) in paths.iter_mut().enumerate().filter(|(_, path)| path.is_paced()) {
                path.set_pace(self.control.pacing(me), settings);
            }
        }
        if changed {
            self.look_again();
        }
    }

    /// The next segment to send, with all extensions.
    #[inline(never)]
    pub(super) fn poll_extended(&mut self, now: Time) -> Option<Transmit<Data>> {
        self.prepare(now)
            .or_else(|| self.poll_retransmission(now))
            .or_else(|| {
                let (me, range) = self.reinjection().or_else(|| self.extended_data(now))?;
                Some(self.send(now, me, range))
            })
            .or_else(|| self.give_up_waiting(now))
    }

    /// The next data and its path, or help for the path for which the receive window waits.
    fn extended_data(&mut self, now: Time) -> Option<(usize, Range)> {
        self.paths.iter_mut().for_each(|path| _ = path.look_for_room(&self.settings));
        self.starved = false;
        match self.choose(now)? {
            Choice::Range(me, range) => Some((me, range)),
            Choice::New(me) => match self.next_data(now) {
                Some(range) => {
                    self.tell_scheduler(me, range);
                    Some((me, range))
                }
                None if self.paths.len() > 1 && !self.starved => self.opportunistic(now, me),
                None => None,
            },
        }
    }

    /// New data is about to be sent on `me`: checks the age of its window, and returns its ECN
    /// bits.
    #[inline(never)]
    pub(super) fn before_sending(&mut self, now: Time, me: usize) -> Flags {
        let path = &mut self.paths[me];
        if self.extensions.as_ref().is_some_and(|parts| parts.idle.is_some())
            && path.restart_after_idle(now, &self.settings, &mut self.control, me)
        {
            path.refresh(self.control.window(me).cwnd, &self.settings);
            self.refresh_siblings();
        }
        let path = &mut self.paths[me];
        if let Some(selection) = self.extensions.as_mut().and_then(|it| it.selection.as_mut()) {
            selection.before_sending(now, me, path);
        }
        path.ecn()
    }

    /// Work before a poll: packets of handshakes, paths held back by pacing, and a probe that is
    /// due.
    fn prepare(&mut self, now: Time) -> Option<Transmit<Data>> {
        self.open_closed();
        let opens = self.extensions.as_ref().is_some_and(|parts| parts.handshake.is_some());
        for (me, path) in self.paths.iter_mut().enumerate() {
            path.look_at_pace(now);
            if opens && let Some(flags) = path.poll_opening(now, &self.settings) {
                let (seq, dsn) = (path.board.nxt, self.unsent.nxt);
                return Some(Transmit {
                    path: me,
                    segment: Data { seq, dsn, len: 0, stamp: now, flags },
                });
            }
        }
        self.poll_probe(now).or_else(|| self.poll_suspended(now))
    }

    /// A probe that is due on a suspended path.
    fn poll_suspended(&mut self, now: Time) -> Option<Transmit<Data>> {
        if !self.settings.options.suspend {
            return None;
        }
        let segment = self.settings.segment();
        let probed = |path: &mut Path| path.poll_suspended(segment);
        let (me, range) =
            self.paths.iter_mut().enumerate().find_map(|(me, path)| Some((me, probed(path)?)))?;
        let dsn = self.paths[me].dsn(range.start)?;
        Some(self.resend(now, me, range, dsn))
    }

    /// If nothing is in flight and nothing could be sent, of new data, of lost data, or of what the
    /// scheduler has handed to a path already: lets a control that moves several windows open one,
    /// and polls again.
    #[inline(never)] // few senders have such a control
    pub(super) fn after_stall(&mut self, now: Time) -> Option<Transmit<Data>> {
        let in_flight = self.paths.iter().any(|path| path.board.pipe() > 0);
        if in_flight || (self.starved && self.data_una == self.unsent.nxt) {
            return None;
        }
        self.control.on_stalled();
        self.refresh_siblings();
        if let Some(again) = self.poll_retransmission(now) {
            self.look_again();
            return Some(again);
        }
        let (me, range) = self.extended_data(now)?;
        let transmit = self.send(now, me, range);
        self.look_again();
        Some(transmit)
    }

    /// The first retransmission, if a path has held its retransmissions back for too long.
    fn give_up_waiting(&mut self, now: Time) -> Option<Transmit<Data>> {
        let waits = self.settings.options.frto;
        match waits && self.paths.iter_mut().any(Path::give_up_waiting) {
            true => self.poll_retransmission(now),
            false => None,
        }
    }

    /// A tail-loss probe that is due: new data if there is any, whatever the window allows, or the
    /// last segment again (RFC 8985 §7.3).
    fn poll_probe(&mut self, now: Time) -> Option<Transmit<Data>> {
        if !self.settings.options.tlp {
            return None;
        }
        let me = self.paths.iter().position(|path| path.probe_due())?;
        let new = self.next_data(now);
        let transmit = match new {
            Some(range) => {
                self.tell_scheduler(me, range);
                self.send(now, me, range)
            }
            None => {
                let range = self.paths[me].last_segment(self.settings.segment())?;
                let dsn = self.paths[me].dsn(range.start)?;
                self.resend(now, me, range, dsn)
            }
        };
        self.paths[me].on_probed(now, new.is_none());
        Some(transmit)
    }
}
