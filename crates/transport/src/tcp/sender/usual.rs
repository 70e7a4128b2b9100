//! The sender's part of the fast path for usual segments: see `tcp/usual.rs`.

use super::Sender;
use crate::endpoint::{SendingEndpoint, Transmit};
use crate::tcp::path::Path;
use crate::tcp::usual::UsualAck;
use control::{CongestionController, Phase};
use units::Time;
use wire::{Data, Flags, Range};

impl Path {
    /// Whether no data is lost, SACKed or under repair.
    #[inline(always)] // runs for every segment and every ACK
    fn is_calm(&self) -> bool {
        self.board.is_clean() && self.recovery.phase == Phase::Open
    }

    /// Whether `ack` acknowledges new data while the path is calm.
    #[inline(always)] // runs for every ACK
    fn expects(&self, ack: u64) -> bool {
        self.is_calm() && self.standing.member && self.board.una < ack && ack <= self.board.nxt
    }

    /// Bytes that the window of a calm path allows now; zero for others, and while the host may not
    /// queue more.
    #[inline(always)] // runs for every segment
    fn usual_room(&self) -> u64 {
        match self.is_calm() && self.may_use_host() {
            true => self.window_beyond(self.board.outstanding()),
            false => 0,
        }
    }
}

impl<E: CongestionController> Sender<E> {
    /// Processes `ack` if it is usual for `path`; returns whether it was.
    #[inline(always)] // runs for every ACK
    pub fn on_usual_ack(&mut self, now: Time, path: usize, ack: &UsualAck) -> bool {
        let usual = self.is_usual();
        let side = &mut self.paths[path];
        if !usual || !side.expects(ack.ack) {
            return false;
        }
        let acked = ack.ack - side.board.una;
        side.board.una = ack.ack;
        side.grow(now, ack.echo, acked, &self.settings, &mut self.control, path);
        let before = side.timer.deadline;
        side.restart_calm_timer(now, &self.settings);
        // Without outstanding data, the next segment starts the timer.
        let after = side.timer.deadline;
        self.sooner |= after < before || after == Time::NEVER;
        self.unblock_path(path);
        self.data_una = match self.several {
            None => ack.ack, // the path's order is the connection's
            Some(_) => self.data_una.max(ack.data_ack.min(self.unsent.nxt)),
        };
        self.unsent.edge = self.unsent.edge.max(ack.window_edge);
        self.look_whether_completed(now);
        true
    }

    /// The next segment after a usual ACK of `path`, if it is new data on `path`. Otherwise it does
    /// nothing, and the next poll is that of any event.
    #[inline(always)] // runs for every ACK
    pub fn poll_after_usual_ack(&mut self, now: Time, path: usize) -> Option<Data> {
        let side = &self.paths[path];
        debug_assert!(side.is_calm() && self.extensions.is_none(), "the ACK was not usual");
        let room = match side.may_use_host() {
            true => side.window_beyond(side.board.outstanding()),
            false => return None,
        };
        let transmit = match self.several {
            None => self.poll_usual_only(now, room),
            Some(_) if self.only_candidate() == Some(path) => {
                self.poll_usual_of_several(now, path, room)
            }
            Some(_) => None,
        };
        transmit.map(|Transmit { segment, .. }| segment)
    }

    /// The next deadline, if it may be earlier than at the last call: a timer that only moves to a
    /// later time need not be set again.
    #[inline(always)] // runs for every ACK
    pub fn earlier_deadline(&mut self) -> Option<Time> {
        std::mem::take(&mut self.sooner).then(|| self.next_deadline())
    }

    /// Whether it has nothing more to send before its next event, and no earlier deadline than the
    /// driver knows.
    #[inline(always)] // runs for every segment
    pub fn is_settled(&self) -> bool {
        self.blocked && !self.sooner
    }

    /// The next segment, if it is usual: new data on a calm path with room for it, while no other
    /// path could send.
    #[inline(always)] // runs for every segment
    pub(super) fn poll_usual(&mut self, now: Time) -> Option<Transmit<Data>> {
        if self.extensions.is_some() {
            return None;
        }
        match &mut *self.paths {
            [only] => {
                let room = only.usual_room();
                self.poll_usual_only(now, room)
            }
            _ => {
                let me = self.only_candidate()?;
                self.poll_usual_of_several(now, me, self.paths[me].usual_room())
            }
        }
    }

    /// New data of a connection with one path, which allows `room` bytes.
    #[inline(always)] // runs for every segment
    fn poll_usual_only(&mut self, now: Time, room: u64) -> Option<Transmit<Data>> {
        let range = self.usual_data(now, room)?;
        let (path, len) = (&mut self.paths[0], range.len());
        let seq = path.board.nxt;
        path.board.nxt += len;
        path.on_transmit(now, Range { start: seq, end: seq + len }, &self.settings);
        self.unsent.nxt = range.end;
        self.blocked = room <= len; // not even for one more byte
        path.standing.cwnd_limited = self.blocked;
        let (dsn, len) = (range.start, len as u32);
        Some(Transmit { path: 0, segment: Data { seq, dsn, len, stamp: now, flags: Flags::NONE } })
    }

    /// New data on `me`, the [`Sender::only_candidate`], which allows `room` bytes.
    #[inline(always)] // runs for every segment
    fn poll_usual_of_several(&mut self, now: Time, me: usize, room: u64) -> Option<Transmit<Data>> {
        let range = self.usual_data(now, room)?;
        let transmit = self.send(now, me, range);
        self.blocked = !self.look_at_only(me, room - range.len());
        Some(transmit)
    }

    /// The next new data, if there is room for a segment.
    #[inline(always)] // runs for every segment
    fn usual_data(&mut self, now: Time, room: u64) -> Option<Range> {
        let segment = self.settings.segment();
        if room < u64::from(segment) {
            return None;
        }
        let range = self.unsent.next(now, &self.settings.source, segment).ok()?;
        self.starved = false;
        Some(range)
    }
}
