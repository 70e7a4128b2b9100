//! The sending endpoint of a connection: data, scheduler, windows and paths.

use super::path::{Fired, Path};
use crate::endpoint::{PathReport, SendingEndpoint, Transmit};
use crate::scheduler::{Choice, Schedule};
use crate::settings::SenderSettings;
use crate::source::{Unsent, Wait};
use control::{CongestionController, Needs, Phase, See};
use extensions::{Extensions, opens};
use several::Several;
use std::collections::VecDeque;
use std::sync::Arc;
use units::Time;
use wire::{Ack, Data, Flags, Range};

/// The owner of data that is outstanding on no path.
const NOBODY: usize = usize::MAX;

/// Data to be sent again on another path, and the path on which it is outstanding.
#[derive(Debug, Default)]
struct Reinjection {
    waiting: VecDeque<(Range, usize)>,
}

/// The sending endpoint of one connection under congestion control `E`.
#[derive(Debug)]
pub struct Sender<E> {
    pub(crate) settings: Arc<SenderSettings>,
    pub(crate) control: E,
    pub(crate) paths: Box<[Path]>,
    /// Data not sent yet.
    pub(crate) unsent: Unsent,
    /// Oldest byte that the peer's connection has not acknowledged.
    data_una: u64,
    /// Data sent on one path that other paths may send again, and that path; absent while there is
    /// none.
    reinject: Option<Box<Reinjection>>,
    /// State that only several paths need; absent with one path.
    several: Option<Box<Several>>,
    /// The path that sent last.
    last_path: u32,
    /// Nothing more can be sent before the next event.
    blocked: bool,
    /// A path has window space, and the application has no data for it.
    starved: bool,
    /// The next deadline may be earlier than the driver knows.
    sooner: bool,
    /// The needs of control beyond ACKs and losses.
    needs: Needs,
    /// Whether control needs neither siblings nor delays.
    needs_little: bool,
    /// State that few connections need; absent if all of it is unused.
    extensions: Option<Box<Extensions>>,
    /// When the last byte of a transfer was acknowledged; never before that.
    completed: Time,
}

impl<E: CongestionController> Sender<E> {
    /// A connection over `paths` paths that starts at `start`.
    pub fn new(settings: Arc<SenderSettings>, control: E, paths: usize, start: Time) -> Self {
        let mut sender = Sender {
            unsent: Unsent::new(start, settings.options.first_buffer()),
            extensions: Extensions::new(&settings, paths),
            paths: (0..paths).map(|_| Path::new(paths > 1, &settings)).collect(),
            several: (paths > 1).then(|| Box::new(Several::new(&settings, paths))),
            needs_little: !control.needs().siblings && !control.needs().delays,
            needs: control.needs(),
            settings,
            control,
            data_una: 0,
            reinject: None,
            last_path: 0,
            blocked: false,
            starved: false,
            sooner: true,
            completed: Time::NEVER,
        };
        (0..paths).for_each(|me| sender.refresh(me));
        sender
    }

    /// The state that an ACK of `path` reads, to be prefetched.
    #[inline(always)] // called for many connections in turn
    pub fn path(&self, path: usize) -> Option<&impl Sized> {
        self.paths.get(path)
    }

    /// Addresses of what control reads at an ACK of `path`, to be prefetched.
    #[inline(always)] // called for many connections in turn
    pub fn control_reads(&self, path: usize) -> Option<[*const u8; 2]> {
        self.control.reads(path)
    }

    /// Whether `path` is a backup: then it is used only while no other path works.
    pub fn set_backup(&mut self, path: usize, backup: bool) {
        self.unblock();
        self.paths[path].standing.backup = backup;
    }

    /// Updates window and pace of `me` from control.
    pub(crate) fn refresh(&mut self, me: usize) {
        let path = &mut self.paths[me];
        path.refresh(self.control.window(me).cwnd, &self.settings);
        if path.is_paced() {
            path.set_pace(self.control.pacing(me), &self.settings);
        }
        self.look_again();
    }

    #[inline(always)] // runs for every ACK
    fn on_ack(&mut self, now: Time, path: usize, ack: &Ack) {
        let side = &mut self.paths[path];
        if side.standing.member {
            side.on_ack(now, ack, &self.settings, &mut self.control, path);
            side.look_whether_calm();
        }
        self.on_progress(now, ack.data_ack, ack.window_edge);
    }

    /// An ACK was processed: the peer's connection expects `data_ack` next and has room up to
    /// `edge`.
    #[inline(always)] // runs for every ACK
    pub(super) fn on_progress(&mut self, now: Time, data_ack: u64, edge: u64) {
        self.data_una = match &*self.paths {
            [only] if only.standing.member => only.board.una,
            _ => self.data_una.max(data_ack.min(self.unsent.nxt)),
        };
        self.unsent.edge = self.unsent.edge.max(edge);
        self.look_whether_completed(now);
    }

    /// Whether there are no extensions, and control needs neither siblings nor delays.
    #[inline(always)] // runs for every ACK
    pub(super) fn is_usual(&self) -> bool {
        self.extensions.is_none() && self.needs_little
    }

    /// An event occurred: polling may give a segment again, and timers may have changed.
    pub(crate) fn unblock(&mut self) {
        (self.blocked, self.sooner) = (false, true);
        self.look_again();
    }

    /// Any path may have changed.
    pub(crate) fn look_again(&mut self) {
        if let Some(several) = &mut self.several {
            several.readiness.forget();
        }
    }

    /// An ACK has changed path `me` alone: polling may give a segment again.
    #[inline(always)] // runs for every ACK
    pub(super) fn unblock_path(&mut self, me: usize) {
        if let Some(Several { readiness, .. }) = self.several.as_deref_mut() {
            // If the path has no outstanding data any more, its timer may have been the first one.
            let alone = self.paths[me].timer.deadline < Time::NEVER;
            readiness.changed(me, alone && self.blocked);
        }
        self.blocked = false;
    }

    /// The peer's connection expects `data_ack` next and has room up to `edge`.
    pub fn on_data_ack(&mut self, data_ack: u64, edge: u64) {
        self.data_una = self.data_una.max(data_ack.min(self.unsent.nxt));
        self.unsent.edge = self.unsent.edge.max(edge);
    }

    #[inline(always)] // runs for every ACK
    pub(crate) fn look_whether_completed(&mut self, now: Time) {
        if self.settings.source.ends_by(self.data_una) && self.completed == Time::NEVER {
            self.completed = now;
        }
    }

    /// An ACK has changed `me`: if that path may send nothing, and no other path could send, a poll
    /// need not look for it.
    #[inline(always)] // it has one caller
    fn block_if_full(&mut self, me: usize) {
        if !self.is_usual() || self.paths[me].could_send(&self.settings) {
            return;
        }
        match self.several {
            None => _ = self.paths[me].look_for_room(&self.settings),
            Some(_) if self.only_candidate() == Some(me) => self.look_at_changed(),
            Some(_) => return,
        }
        (self.starved, self.blocked) = (false, true);
    }

    /// Whether a deadline that the driver knows has moved to a later time than `now`, and nothing
    /// else has happened.
    fn is_too_early(&self, now: Time) -> bool {
        let waits = self.blocked && !self.starved && self.is_usual();
        waits && self.paths.iter().all(|path| path.timer.deadline > now)
    }

    /// The next deadline, if only a deadline that the driver knows has come, and has moved to a
    /// later time: then [`SendingEndpoint::on_deadline`] need not be called.
    pub fn moved_deadline(&mut self, now: Time) -> Option<Time> {
        self.is_too_early(now).then(|| {
            self.look_at_timers();
            self.sooner = false;
            self.next_deadline()
        })
    }

    /// The driver must be told of the next deadline.
    fn look_at_timers(&mut self) {
        if let Some(Several { readiness, .. }) = self.several.as_deref_mut() {
            let timers = self.paths.iter().map(|path| path.timer.deadline);
            readiness.timers = timers.min().unwrap_or(Time::NEVER);
        }
        self.sooner = true;
    }

    /// Whether a connection with one path has used up its window: the common end of a poll.
    fn only_path_is_full(&mut self) -> bool {
        let [only] = &mut *self.paths else {
            return false;
        };
        let full = !only.window_has_room(1, &self.settings);
        only.standing.cwnd_limited |= full;
        full
    }

    /// The next segment of any kind, with all checks.
    #[inline(never)] // keeps the code of usual segments short
    fn poll_unusual(&mut self, now: Time) -> Option<Transmit<Data>> {
        // Pacing, the selection of paths and controls that keep time have deadlines too.
        self.sooner |= self.extensions.is_some() || self.needs.siblings;
        let transmit = match self.extensions {
            None if self.paths.len() == 1 => self.poll_only(now),
            None => self.poll_several(now),
            Some(_) => {
                let transmit = self.poll_extended(now);
                self.blocked |= self.only_path_is_full();
                transmit
            }
        };
        if transmit.is_some() {
            return transmit;
        }
        self.sooner |= self.starved; // the application's next write may be the first deadline
        let late = if self.needs.siblings { self.after_stall(now) } else { None };
        self.blocked = late.is_none();
        late
    }

    /// The next segment of a connection with one path: there is nothing to choose, and no other
    /// path whose data it could send.
    #[inline(always)] // it has one caller
    fn poll_only(&mut self, now: Time) -> Option<Transmit<Data>> {
        if self.paths[0].has_lost()
            && let Some(again) = self.poll_retransmission(now)
        {
            self.blocked = self.only_path_is_full();
            return Some(again);
        }
        let room = self.paths[0].look_for_room(&self.settings);
        self.starved = false;
        self.blocked = true;
        let range = self.paths[0].standing.ready.then(|| self.next_data(now))??;
        let transmit = self.send(now, 0, range);
        let full = room <= range.len(); // not even for one more byte
        self.paths[0].standing.cwnd_limited |= full;
        self.blocked = full;
        Some(transmit)
    }

    fn poll_retransmission(&mut self, now: Time) -> Option<Transmit<Data>> {
        let unclean = |sender: &Self, me: usize| !sender.paths[me].board.is_clean();
        (0..self.paths.len())
            .find_map(|me| if unclean(self, me) { self.retransmission_on(now, me) } else { None })
    }

    /// The next retransmission on `me`.
    #[inline(always)] // runs for many ACKs in a recovery
    fn retransmission_on(&mut self, now: Time, me: usize) -> Option<Transmit<Data>> {
        let path = &mut self.paths[me];
        if path.board.is_clean() || !path.has_space(1, &self.settings) {
            return None; // mostly; what is lost need not be looked up
        }
        let range = path.next_retransmission(self.settings.segment())?;
        if !path.has_space(range.len(), &self.settings) {
            return None;
        }
        let dsn = path.dsn(range.start)?;
        path.board.on_retransmitted(range);
        Some(self.resend(now, me, range, dsn))
    }

    /// The next segment of a connection with several paths: a retransmission; otherwise data that
    /// another path may have lost; otherwise new data.
    #[inline(always)] // runs for every segment
    fn poll_several(&mut self, now: Time) -> Option<Transmit<Data>> {
        self.look_at_changed();
        let mut lossy = self.next_lossy(0);
        while let Some(me) = lossy {
            if let Some(again) = self.retransmission_on(now, me) {
                self.look_at(me);
                return Some(again);
            }
            lossy = self.next_lossy(me + 1);
        }
        let reinjected = self.reinjection();
        let (me, range) = match reinjected {
            Some(_) => reinjected,
            None => self.new_data(now),
        }?;
        let transmit = self.send(now, me, range);
        self.look_at(me);
        self.blocked = reinjected.is_none() && self.all_are_full();
        Some(transmit)
    }

    /// Sends `range` of `me` again.
    #[cold]
    fn resend(&mut self, now: Time, me: usize, range: Range, dsn: u64) -> Transmit<Data> {
        let path = &mut self.paths[me];
        path.tally.retransmits += 1;
        self.sooner |= path.timer.deadline == Time::NEVER; // starts now
        path.on_transmit(now, range, &self.settings);
        let len = range.len() as u32;
        let segment = Data { seq: range.start, dsn, len, stamp: now, flags: Flags::NONE };
        Transmit { path: me, segment }
    }

    /// Sends the data in `range` on `me`, for the first time on this path.
    #[inline(always)] // runs for every segment
    fn send(&mut self, now: Time, me: usize, range: Range) -> Transmit<Data> {
        let flags = match self.extensions {
            None => Flags::NONE,
            Some(_) => self.before_sending(now, me),
        };
        let path = &mut self.paths[me];
        let len = range.len();
        let seq = path.board.nxt;
        if let Some(mapping) = &mut path.mapping {
            mapping.push(path.board.una, seq, range.start);
        }
        path.board.nxt += len;
        self.sooner |= path.timer.deadline == Time::NEVER; // starts now
        path.on_transmit(now, Range { start: seq, end: seq + len }, &self.settings);
        self.unsent.nxt = self.unsent.nxt.max(range.end);
        self.last_path = me as u32;
        let segment = Data { seq, dsn: range.start, len: len as u32, stamp: now, flags };
        Transmit { path: me, segment }
    }

    /// The next data, and the path to carry it.
    #[inline(always)] // runs for every segment
    fn new_data(&mut self, now: Time) -> Option<(usize, Range)> {
        self.starved = false;
        let choice = match self.only_choice() {
            Some(me) => Choice::New(me),
            None => self.choose(now)?,
        };
        match choice {
            Choice::New(me) => {
                let range = self.next_data(now)?;
                self.tell_scheduler(me, range);
                Some((me, range))
            }
            Choice::Range(me, range) => Some((me, range)),
        }
    }

    /// The next data that the application wrote and the receive window admits.
    #[inline(always)] // runs for every segment
    fn next_data(&mut self, now: Time) -> Option<Range> {
        let next = self.unsent.next(now, &self.settings.source, self.settings.segment());
        self.starved = next == Err(Wait::Application);
        if self.starved {
            self.paths.iter_mut().for_each(Path::on_app_limited);
        }
        next.ok()
    }

    fn has_space(&self, me: usize) -> bool {
        self.paths[me].has_space(u64::from(self.settings.segment()), &self.settings)
    }

    /// The scheduler's choice of the next data; with one path there is nothing to choose.
    #[inline(always)] // runs for every segment
    fn choose(&mut self, now: Time) -> Option<Choice> {
        let Some((scheduler, mut view)) = self.seen(now) else {
            return self.paths[0].standing.ready.then_some(Choice::New(0));
        };
        let choice = scheduler.choose(&mut view);
        if choice.is_none() && self.starved {
            self.paths.iter_mut().for_each(Path::on_app_limited);
        }
        choice
    }

    /// The first of: a path's timer, the time at which pacing releases a path, the next path
    /// selection.
    #[inline(never)]
    fn extended_deadline(&self) -> Time {
        let timers = self.paths.iter().map(|path| path.timer.deadline);
        let held = self.paths.iter().filter_map(Path::held_until);
        timers.chain(held).min().unwrap_or(Time::NEVER).min(self.selects_at())
    }

    /// Runs the fired timers. After a timeout other paths may send the path's outstanding data, and
    /// the ranges of `stuck`.
    pub(crate) fn run_timers<R: IntoIterator<Item = Range>>(
        &mut self,
        now: Time,
        mut stuck: impl FnMut(usize) -> R,
    ) {
        self.unblock();
        for me in 0..self.paths.len() {
            if self.paths[me].timer.deadline > now {
                continue;
            }
            let fired = self.paths[me].on_timer(now, &self.settings, &mut self.control, me);
            self.refresh(me);
            self.refresh_siblings();
            if self.paths.len() > 1 && fired == Fired::Timeout {
                self.paths[me].standing.failed = true;
                self.reinject_from(me, stuck(me));
            }
        }
        if self.needs.siblings && self.control.timer() <= now {
            self.control.on_timer(now);
            (0..self.paths.len()).for_each(|me| self.refresh(me));
        }
        self.select_paths(now, stuck);
    }
}

impl<E: CongestionController> SendingEndpoint for Sender<E> {
    type Sent = Data;
    type Answer = Ack;

    #[inline(never)] // one copy, with everything that it calls, for all callers
    fn on_answer(&mut self, now: Time, path: usize, ack: &Ack) {
        if self.extensions.is_some() {
            self.unblock();
            return self.on_ack_extended(now, path, ack);
        }
        if opens(ack) {
            return; // a duplicate answer of a handshake
        }
        if self.is_usual() && self.paths[path].repairs_at(ack.ack) {
            self.paths[path].on_duplicate(&self.settings, &self.control, path);
            self.on_progress(now, ack.data_ack, ack.window_edge);
            self.unblock_path(path);
            return self.block_if_full(path);
        }
        self.tell_delay(path, ack);
        let before = self.paths[path].timer.deadline;
        self.on_ack(now, path, ack);
        self.unblock_path(path);
        // Without outstanding data, the next segment starts the timer.
        let after = self.paths[path].timer.deadline;
        self.sooner |= after < before || after == Time::NEVER || self.needs.siblings;
        self.refresh_siblings();
        self.block_if_full(path);
    }

    fn on_deadline(&mut self, now: Time) {
        match self.is_too_early(now) {
            true => self.look_at_timers(),
            false => self.run_timers(now, |_| None),
        }
    }

    #[inline] // runs for every segment on a medium
    fn on_sent(&mut self, path: usize, bytes: u32) {
        // While its host had room, the path waited for something else, if at all.
        if !self.paths[path].host_has_room() || !self.is_usual() {
            self.unblock();
            self.paths[path].left_host(bytes, &self.settings);
        } else {
            self.paths[path].leave_host(bytes);
        }
    }

    /// Data outstanding on the path when it left has been sent by other paths.
    fn join(&mut self, path: usize) -> u64 {
        self.unblock();
        self.paths[path].join();
        self.expect_opening();
        self.control.set_member(path, true);
        self.refresh(path);
        self.refresh_siblings();
        self.paths[path].board.nxt
    }

    fn leave(&mut self, path: usize) {
        self.remove(path, None);
    }

    #[inline(always)] // runs for every segment
    fn poll_transmit(&mut self, now: Time) -> Option<Transmit<Data>> {
        if self.blocked {
            return None;
        }
        match self.poll_usual(now) {
            None if self.blocked => None,
            None => self.poll_unusual(now),
            usual => usual,
        }
    }

    #[inline(always)] // runs for every ACK
    fn next_deadline(&self) -> Time {
        let timers = match (&self.several, &self.extensions) {
            (None, None) => self.paths[0].timer.deadline,
            (Some(several), None) => several.readiness.timers,
            (_, Some(_)) => self.extended_deadline(),
        };
        let timers = match self.needs.siblings {
            false => timers,
            true => timers.min(self.control.timer()),
        };
        match self.starved {
            false => timers,
            true => timers.min(self.unsent.next_write(&self.settings.source)),
        }
    }

    fn start(&self) -> Time {
        self.unsent.start
    }

    fn completed(&self) -> Option<Time> {
        (self.completed < Time::NEVER).then_some(self.completed)
    }

    fn paths(&self) -> usize {
        self.paths.len()
    }

    fn report(&self, path: usize) -> PathReport {
        let window = self.control.window(path);
        let Path { rtt, tally, board, standing, recovery, .. } = &self.paths[path];
        PathReport {
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            srtt: rtt.srtt(),
            latest_rtt: rtt.latest(),
            rto: rtt.rto(&self.settings.options, 0),
            pipe: board.pipe(),
            member: standing.member && !self.paths[path].suspended(),
            recovering: recovery.phase != Phase::Open,
            retransmits: tally.retransmits,
            timeouts: tally.timeouts.into(),
            recoveries: tally.recoveries.into(),
            marks: tally.marks.into(),
            undone: tally.undone.into(),
            probes: tally.probes.into(),
            echoed: 0,
            verdicts: self.control.verdicts(path),
        }
    }

    fn observe(&self, path: usize, see: See<'_>) {
        if self.paths[path].standing.member {
            self.control.observe(path, see);
        }
    }
}

mod extensions;
mod live;
mod multipath;
mod seen;
mod selection;
mod several;
#[cfg(test)]
mod tests;
mod usual;

pub use usual::Usual;
