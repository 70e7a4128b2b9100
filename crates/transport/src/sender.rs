//! The sending endpoint of a connection: data, scheduler, windows and paths.

use crate::path::{Fired, Path, PathReport};
use crate::settings::{Idle, SenderSettings};
use crate::source::Source;
use control::Ensemble;
use std::collections::VecDeque;
use std::sync::Arc;
use units::Time;
use wire::{Ack, Data, Ecn, Range};

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
    last_path: usize,
    /// Nothing more can be sent until something happens.
    blocked: bool,
    /// A path has window space and the application has written nothing to fill it with.
    starved: bool,
    /// Whether any part of [`crate::ModernSettings`] is on.
    modern: bool,
    completed: Option<Time>,
}

impl<E: Ensemble> Sender<E> {
    /// A connection over `paths` paths that starts at `start`.
    pub fn new(settings: Arc<SenderSettings>, control: E, paths: usize, start: Time) -> Self {
        let mut sender = Sender {
            edge: settings.receive_buffer,
            modern: settings.modern.any(),
            paths: (0..paths).map(|_| Path::new(paths > 1, &settings)).collect(),
            settings,
            control,
            start,
            data_una: 0,
            data_nxt: 0,
            reinject: VecDeque::new(),
            last_path: 0,
            blocked: false,
            starved: false,
            completed: None,
        };
        (0..paths).for_each(|me| sender.refresh(me));
        sender
    }

    /// Brings the window of `me` over from control.
    #[inline(always)] // on the way of every ACK
    fn refresh(&mut self, me: usize) {
        self.paths[me].refresh(self.control.window(me).cwnd, self.settings.segment);
        if self.modern {
            let segment = f64::from(self.settings.segment);
            self.paths[me].set_pace(self.control.pacing(me).map(|rate| rate * segment));
        }
    }

    /// An ACK of `path` arrived.
    pub fn on_ack(&mut self, now: Time, path: usize, ack: &Ack) {
        self.blocked = false;
        if self.paths[path].member {
            self.paths[path].on_ack(now, ack, &self.settings, &mut self.control, path);
            self.refresh(path);
        }
        self.data_una = match &*self.paths {
            [only] if only.member => only.board.una,
            _ => self.data_una.max(ack.data_ack.min(self.data_nxt)),
        };
        self.edge = self.edge.max(ack.window_edge);
        if let Source::Transfer(total) = self.settings.source
            && self.data_una >= total.0
            && self.completed.is_none()
        {
            self.completed = Some(now);
        }
    }

    /// The time of [`Sender::next_deadline`] has come; early calls do no harm.
    pub fn on_deadline(&mut self, now: Time) {
        self.blocked = false;
        for me in 0..self.paths.len() {
            if self.paths[me].deadline > now {
                continue;
            }
            let fired = self.paths[me].on_timer(now, &self.settings, &mut self.control, me);
            self.refresh(me);
            if self.paths.len() > 1 && fired == Fired::Timeout {
                self.paths[me].failed = true;
                self.reinject_from(me);
            }
        }
    }

    /// `bytes` of `path` have left the host.
    pub fn on_sent(&mut self, path: usize, bytes: u32) {
        self.blocked &= self.settings.host_limit == u64::MAX;
        let queued = &mut self.paths[path].queued;
        *queued = queued.saturating_sub(u64::from(bytes));
    }

    /// When to call [`Sender::on_deadline`], or to poll a paced source again.
    pub fn next_deadline(&self) -> Time {
        let mut timers = self.paths.iter().map(|path| path.deadline).min().unwrap_or(Time::NEVER);
        if self.modern {
            let held = self.paths.iter().filter_map(Path::held_until);
            timers = timers.min(held.min().unwrap_or(Time::NEVER));
        }
        match self.settings.source.next_write(self.start, self.data_nxt) {
            Some(write) if self.starved => timers.min(write),
            _ => timers,
        }
    }

    /// The next segment to send at `now`; call until `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        if self.blocked {
            return None;
        }
        let probe = if self.modern { self.prepare(now) } else { None };
        let mut transmit =
            probe.or_else(|| self.poll_retransmission(now)).or_else(|| self.poll_new(now));
        if transmit.is_none() && self.modern {
            transmit = self.give_up_waiting(now);
        }
        self.blocked = transmit.is_none() || self.only_path_is_full();
        transmit
    }

    /// Before a poll: which paths pacing holds back, and a tail-loss probe that is due.
    #[cold]
    fn prepare(&mut self, now: Time) -> Option<Transmit> {
        self.paths.iter_mut().for_each(|path| path.look_at_pace(now));
        self.poll_probe(now)
    }

    /// If a path held retransmissions back in vain, the first of them.
    #[cold]
    fn give_up_waiting(&mut self, now: Time) -> Option<Transmit> {
        match self.paths.iter_mut().any(Path::give_up_waiting) {
            true => self.poll_retransmission(now),
            false => None,
        }
    }

    /// Whether a connection with one path has used up its window: the common end of a poll.
    fn only_path_is_full(&mut self) -> bool {
        let [only] = &mut *self.paths else {
            return false;
        };
        let full = !only.window_has_room(1, &self.settings);
        only.cwnd_limited |= full;
        full
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
        let data = Data { seq: range.start, dsn, len, stamp: now, ecn: Ecn::NONE };
        Transmit { path: me, data }
    }

    /// A tail-loss probe that is due: new data if there is any, whatever the window says, or the last
    /// segment again (RFC 8985 §7.3).
    fn poll_probe(&mut self, now: Time) -> Option<Transmit> {
        let me = self.paths.iter().position(|path| path.probe_due())?;
        let new = self.next_data(now);
        let transmit = match new {
            Some(range) => self.send(now, me, range),
            None => {
                let range = self.paths[me].last_segment(self.settings.segment)?;
                let dsn = self.paths[me].dsn(range.start)?;
                self.resend(now, me, range, dsn)
            }
        };
        self.paths[me].on_probed(new.is_none());
        Some(transmit)
    }

    /// What another path may have lost goes before new data.
    fn poll_new(&mut self, now: Time) -> Option<Transmit> {
        let (me, range) = self.reinjection().or_else(|| self.new_data(now))?;
        Some(self.send(now, me, range))
    }

    /// Sends the data in `range` on `me`, for the first time on this path.
    #[inline(always)] // on the way of every segment
    fn send(&mut self, now: Time, me: usize, range: Range) -> Transmit {
        let path = &mut self.paths[me];
        if self.settings.idle != Idle::Keep
            && path.restart_after_idle(now, &self.settings, &mut self.control, me)
        {
            path.refresh(self.control.window(me).cwnd, self.settings.segment);
        }
        let len = range.len();
        let seq = path.board.nxt;
        if let Some(mapping) = &mut path.mapping {
            mapping.push(seq, range.start, len);
        }
        path.board.nxt += len;
        path.on_transmit(now, Range { start: seq, end: seq + len }, &self.settings);
        self.data_nxt = self.data_nxt.max(range.end);
        self.last_path = me;
        let ecn = path.ecn(&self.settings);
        let data = Data { seq, dsn: range.start, len: len as u32, stamp: now, ecn };
        Transmit { path: me, data }
    }

    /// The next data that the application wrote, and the path to carry it.
    fn new_data(&mut self, now: Time) -> Option<(usize, Range)> {
        let segment = u64::from(self.settings.segment);
        for path in &mut self.paths {
            let room = path.window_has_room(segment, &self.settings);
            path.cwnd_limited = !room;
            path.ready = room && path.may_use_host(&self.settings);
        }
        self.starved = false;
        let me = self.choose_path()?;
        Some((me, self.next_data(now)?))
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

    /// The path for the next data among those whose window has space.
    fn choose_path(&self) -> Option<usize> {
        if let [only] = &*self.paths {
            return only.ready.then_some(0);
        }
        let srtts =
            self.paths.iter().map(|path| (!path.failed && path.ready).then_some(path.rtt.srtt().0));
        self.settings.scheduler.choose(srtts, self.last_path)
    }

    /// Offers what is outstanding on `from` to the other paths.
    fn reinject_from(&mut self, from: usize) {
        let missing = self.paths[from].offer();
        self.reinject.extend(missing.into_iter().map(|range| (range, from)));
    }

    /// Data that waits to be sent again on another path than before, and a path with space for it.
    fn reinjection(&mut self) -> Option<(usize, Range)> {
        if self.reinject.is_empty() {
            return None;
        }
        let data_una = self.data_una;
        self.reinject.retain_mut(|(range, _)| {
            range.start = range.start.max(data_una);
            !range.is_empty()
        });
        let able = |me: usize| !self.paths[me].failed && self.has_space(me);
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
        self.paths[path].join();
        self.control.set_member(path, true);
        self.refresh(path);
        self.paths[path].board.nxt
    }

    /// `path` leaves the connection; what it had outstanding is offered to the others.
    pub fn leave(&mut self, path: usize) {
        self.blocked = false;
        self.reinject_from(path);
        // Should it join again, it has forgotten this data and may carry it like any other path.
        self.reinject.iter_mut().filter(|(_, from)| *from == path).for_each(|item| item.1 = NOBODY);
        self.paths[path].leave(&self.settings);
        self.control.set_member(path, false);
    }

    /// When the connection starts.
    pub fn start(&self) -> Time {
        self.start
    }

    /// When the last byte of a transfer was acknowledged.
    pub fn completed(&self) -> Option<Time> {
        self.completed
    }

    /// The number of paths, members or not.
    pub fn paths(&self) -> usize {
        self.paths.len()
    }

    /// The state of `path`.
    pub fn report(&self, path: usize) -> PathReport {
        let window = self.control.window(path);
        let Path { rtt, tally, board, member, .. } = &self.paths[path];
        PathReport {
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            srtt: rtt.srtt(),
            latest_rtt: rtt.latest(),
            rto: rtt.rto(&self.settings.rto, 0),
            pipe: board.pipe(),
            member: *member,
            retransmits: tally.retransmits,
            timeouts: tally.timeouts,
            recoveries: tally.recoveries,
            marks: tally.marks,
            undone: tally.undone,
            probes: tally.probes,
        }
    }
}

#[cfg(test)]
mod tests;
