//! The sending endpoint of a connection: data, scheduler, windows and paths.

use crate::path::{Fired, Path, PathReport};
use crate::scheduler::{Choice, Schedule, Scheduling};
use crate::settings::SenderSettings;
use crate::source::Source;
use crate::tfrc::Rated;
use control::{CongestionController, Phase};
use std::collections::VecDeque;
use std::sync::Arc;
use units::Time;
use wire::{Ack, Data, Flags, Range};

/// A segment to send on a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transmit {
    /// Index of the path.
    pub path: usize,
    /// The segment.
    pub data: Data,
}

/// No path: of data that none has outstanding.
const NOBODY: usize = usize::MAX;

/// The sending endpoint of one connection under congestion control `E`.
#[derive(Debug)]
pub struct Sender<E> {
    settings: Arc<SenderSettings>,
    control: E,
    paths: Box<[Path]>,
    start: Time,
    /// Oldest byte that the peer's connection has not acknowledged.
    data_una: u64,
    /// Next byte to send for the first time.
    data_nxt: u64,
    /// Right edge of the receive window; never moves back.
    edge: u64,
    /// Data sent on one path that other paths may send again, and that path.
    reinject: VecDeque<(Range, usize)>,
    scheduler: Scheduling,
    /// The path that sent last.
    last_path: u32,
    /// Nothing more can be sent until something happens.
    blocked: bool,
    /// A path has window space and the application has written nothing to fill it with.
    starved: bool,
    /// TFRC: what was sent and is not known to have arrived.
    rated: Option<Box<Rated>>,
    /// Whether anything is on that the common case does without: see [`SenderSettings::special`].
    special: bool,
    /// Whether a first path was ever established.
    opened: bool,
    /// When the last byte of a transfer was acknowledged; never if it was not.
    completed: Time,
}

impl<E: CongestionController> Sender<E> {
    /// A connection over `paths` paths that starts at `start`.
    pub fn new(settings: Arc<SenderSettings>, control: E, paths: usize, start: Time) -> Self {
        let mut sender = Sender {
            edge: settings.receive_buffer,
            special: settings.special() || control.moves_siblings() || control.reads_delay(),
            opened: !settings.handshake,
            rated: settings.tfrc.then(|| Box::new(Rated::new(paths))),
            paths: (0..paths).map(|_| Path::new(paths > 1, &settings)).collect(),
            scheduler: settings.scheduler.start(paths),
            settings,
            control,
            start,
            data_una: 0,
            data_nxt: 0,
            reinject: VecDeque::new(),
            last_path: 0,
            blocked: false,
            starved: false,
            completed: Time::NEVER,
        };
        (0..paths).for_each(|me| sender.refresh(me));
        sender
    }

    /// `path` is a backup: it is used only while no other path works.
    pub fn set_backup(&mut self, path: usize) {
        self.paths[path].backup = true;
    }

    /// Brings window and pace of `me` over from control.
    fn refresh(&mut self, me: usize) {
        let path = &mut self.paths[me];
        path.refresh(self.control.window(me).cwnd, self.settings.segment);
        path.set_pace(self.control.pacing(me), &self.settings);
    }

    /// An ACK of `path` arrived.
    pub fn on_ack(&mut self, now: Time, path: usize, ack: &Ack) {
        self.blocked = false;
        match self.special {
            false => self.on_plain_ack(now, path, ack),
            true => self.on_special_ack(now, path, ack),
        }
    }

    #[inline(always)] // on the way of every ACK
    fn on_plain_ack(&mut self, now: Time, path: usize, ack: &Ack) {
        let side = &mut self.paths[path];
        if side.member {
            side.on_ack(now, ack, &self.settings, &mut self.control, path);
            side.refresh(self.control.window(path).cwnd, self.settings.segment);
        }
        self.data_una = match &*self.paths {
            [only] if only.member => only.board.una,
            _ => self.data_una.max(ack.data_ack.min(self.data_nxt)),
        };
        self.edge = self.edge.max(ack.window_edge);
        self.look_whether_completed(now);
    }

    #[inline(always)] // on the way of every ACK
    fn look_whether_completed(&mut self, now: Time) {
        if let Source::Transfer(total) = self.settings.source
            && self.data_una >= total.0
            && self.completed == Time::NEVER
        {
            self.completed = now;
        }
    }

    /// The time of [`Sender::next_deadline`] has come; early calls do no harm.
    pub fn on_deadline(&mut self, now: Time) {
        self.blocked = false;
        if self.rated.is_some() {
            return self.on_silence(now);
        }
        for me in 0..self.paths.len() {
            if self.paths[me].deadline > now {
                continue;
            }
            let fired = self.paths[me].on_timer(now, &self.settings, &mut self.control, me);
            self.refresh(me);
            self.refresh_siblings();
            if self.paths.len() > 1 && fired == Fired::Timeout {
                self.paths[me].failed = true;
                self.reinject_from(me);
            }
        }
    }

    /// `bytes` of `path` have left the host. Where what waits there is not limited, nobody needs to say so.
    pub fn on_sent(&mut self, path: usize, bytes: u32) {
        self.blocked = false;
        self.paths[path].left_host(bytes, &self.settings);
    }

    /// When to call [`Sender::on_deadline`], or to poll a paced source again.
    pub fn next_deadline(&self) -> Time {
        let mut timers = self.paths.iter().map(|path| path.deadline).min().unwrap_or(Time::NEVER);
        if self.special {
            let held = self.paths.iter().filter_map(Path::held_until);
            timers = timers.min(held.min().unwrap_or(Time::NEVER));
            timers = self.rated.as_ref().map_or(timers, |rated| rated.next_deadline());
        }
        if !self.starved {
            return timers;
        }
        let write = self.settings.source.next_write(self.start, self.data_nxt);
        timers.min(write.unwrap_or(Time::NEVER))
    }

    /// The next segment to send at `now`; call until `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        if self.blocked {
            return None;
        }
        let transmit = match self.special {
            false => self.poll_retransmission(now).or_else(|| self.poll_new(now)),
            true => self.poll_special(now),
        };
        self.blocked |= transmit.is_none() || self.only_path_is_full();
        transmit
    }

    /// Whether a connection with one path has used up its window: the common end of a poll.
    fn only_path_is_full(&mut self) -> bool {
        let [only] = &mut *self.paths else {
            return false;
        };
        let full = !only.window_has_room(1, &self.settings);
        only.cwnd_limited |= full;
        full && !(self.special && only.coder.as_ref().is_some_and(|coder| coder.owes()))
    }

    #[inline(always)] // on the way of every segment
    fn poll_retransmission(&mut self, now: Time) -> Option<Transmit> {
        for (me, path) in self.paths.iter().enumerate() {
            let Some(range) = path.next_retransmission(self.settings.segment) else {
                continue;
            };
            if !path.has_space(range.len(), &self.settings) {
                continue;
            }
            let dsn = path.dsn(range.start)?;
            let path = &mut self.paths[me];
            path.board.on_retransmitted(range);
            return Some(self.resend(now, me, range, dsn));
        }
        None
    }

    /// Sends `range` of `me` again.
    #[cold]
    fn resend(&mut self, now: Time, me: usize, range: Range, dsn: u64) -> Transmit {
        let path = &mut self.paths[me];
        path.tally.retransmits += 1;
        path.on_transmit(now, range, &self.settings);
        let len = range.len() as u32;
        let data = Data { seq: range.start, dsn, len, stamp: now, ..Data::default() };
        Transmit { path: me, data }
    }

    /// What another path may have lost goes before new data.
    fn poll_new(&mut self, now: Time) -> Option<Transmit> {
        if let Some((me, range)) = self.reinjection() {
            return Some(self.send(now, me, range));
        }
        let (me, range) = self.new_data(now)?;
        let transmit = self.send(now, me, range);
        self.blocked = self.all_are_full(me);
        Some(transmit)
    }

    /// Whether a connection with several paths has used up all of their windows with what `me` has just
    /// sent: the common end of a poll. What [`Sender::look_for_room`] found of the others still holds.
    #[inline(always)] // on the way of every segment
    fn all_are_full(&mut self, me: usize) -> bool {
        if self.paths.len() == 1 {
            return false; // see `only_path_is_full`
        }
        self.paths[me].look_for_room(&self.settings);
        !self.paths.iter().any(|path| path.ready || path.board.next_lost().is_some())
    }

    /// Sends the data in `range` on `me`, for the first time on this path.
    #[inline(always)] // on the way of every segment
    fn send(&mut self, now: Time, me: usize, range: Range) -> Transmit {
        let flags = if self.special { self.before_sending(now, me) } else { Flags::NONE };
        let path = &mut self.paths[me];
        let len = range.len();
        let seq = path.board.nxt;
        if let Some(mapping) = &mut path.mapping {
            mapping.push(seq, range.start, len);
        }
        path.board.nxt += len;
        path.on_transmit(now, Range { start: seq, end: seq + len }, &self.settings);
        self.data_nxt = self.data_nxt.max(range.end);
        self.last_path = me as u32;
        let data = Data { seq, dsn: range.start, len: len as u32, rtt_us: 0, stamp: now, flags };
        Transmit { path: me, data }
    }

    /// The next data, and the path to carry it.
    #[inline(always)] // on the way of every segment
    fn new_data(&mut self, now: Time) -> Option<(usize, Range)> {
        self.look_for_room();
        match self.choose(now)? {
            Choice::New(me) => {
                let range = self.next_data(now)?;
                self.scheduler.on_new(me, range);
                Some((me, range))
            }
            Choice::Range(me, range) => Some((me, range)),
        }
    }

    /// Which paths could carry new data.
    #[inline(always)] // on the way of every segment
    fn look_for_room(&mut self) {
        self.paths.iter_mut().for_each(|path| path.look_for_room(&self.settings));
        self.starved = false;
    }

    /// The next data that the application wrote and the receive window admits.
    #[inline(always)] // on the way of every segment
    fn next_data(&mut self, now: Time) -> Option<Range> {
        let start = self.data_nxt;
        let written = self.settings.source.written(now.since(self.start), self.settings.segment);
        let end = (start + u64::from(self.settings.segment)).min(written);
        self.starved = start >= end;
        if self.starved {
            self.paths.iter_mut().for_each(Path::on_app_limited);
        }
        (start < end && end <= self.edge).then_some(Range { start, end })
    }

    fn has_space(&self, me: usize) -> bool {
        self.paths[me].has_space(u64::from(self.settings.segment), &self.settings)
    }

    /// What the scheduler sends next; with one path there is nothing to choose.
    #[inline(always)] // on the way of every segment
    fn choose(&mut self, now: Time) -> Option<Choice> {
        if let [only] = &*self.paths {
            return only.ready.then_some(Choice::New(0));
        }
        let (scheduler, mut view) = self.seen(now);
        let choice = scheduler.choose(&mut view);
        if choice.is_none() && self.starved {
            self.paths.iter_mut().for_each(Path::on_app_limited);
        }
        choice
    }

    /// When the connection starts.
    pub fn start(&self) -> Time {
        self.start
    }

    /// When the last byte of a transfer was acknowledged.
    pub fn completed(&self) -> Option<Time> {
        (self.completed < Time::NEVER).then_some(self.completed)
    }

    /// The number of paths, members or not.
    pub fn paths(&self) -> usize {
        self.paths.len()
    }

    /// The state of `path`.
    pub fn report(&self, path: usize) -> PathReport {
        if let Some(rated) = &self.rated {
            return self.rated_report(rated, path);
        }
        let window = self.control.window(path);
        let Path { rtt, tally, board, member, phase, .. } = &self.paths[path];
        PathReport {
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            srtt: rtt.srtt(),
            latest_rtt: rtt.latest(),
            rto: rtt.rto(&self.settings.rto, 0),
            pipe: board.pipe(),
            member: *member,
            recovering: *phase != Phase::Open,
            retransmits: tally.retransmits,
            timeouts: tally.timeouts,
            recoveries: tally.recoveries,
            marks: tally.marks,
            undone: tally.undone,
            probes: tally.probes,
            echoed: tally.echoed,
            verdicts: self.control.verdicts(path),
        }
    }
}

mod coded;
mod multipath;
mod rated;
mod seen;
#[cfg(test)]
pub(crate) use seen::next;
mod special;
#[cfg(test)]
mod tests;
