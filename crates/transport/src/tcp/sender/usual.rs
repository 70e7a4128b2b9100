//! The sender's part of the fast path for usual segments: see `tcp/usual.rs`.

use super::Sender;
use crate::endpoint::{SendingEndpoint, Transmit};
use crate::settings::SenderSettings;
use crate::source::Unsent;
use crate::tcp::path::Path;
use crate::tcp::usual::UsualAck;
use control::{CongestionController, Phase};
use units::Time;
use wire::{Data, Flags};

impl Path {
    /// Whether no data is lost, SACKed or under repair.
    #[inline(always)] // runs for every segment and every ACK
    fn is_calm(&self) -> bool {
        self.board.is_clean() && self.recovery.phase == Phase::Open
    }

    /// An ACK was processed. So that a usual one need not ask all this, the answer is kept until
    /// something else happens.
    pub(super) fn look_whether_calm(&mut self) {
        self.standing.calm = self.is_calm() && self.standing.member;
    }

    /// Whether `ack` acknowledges new data while the path is calm.
    #[inline(always)] // runs for every ACK
    fn expects(&self, ack: u64) -> bool {
        let calm = self.standing.calm;
        debug_assert!(!calm || (self.is_calm() && self.standing.member), "it is not calm any more");
        calm && self.board.una < ack && ack <= self.board.nxt
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

    /// Whether it is calm and its window has no room for a segment, if [`Path::usual_room`] is
    /// `room`.
    #[inline(always)] // runs for every segment
    fn is_full(&self, room: u64, settings: &SenderSettings) -> bool {
        room < u64::from(settings.segment()) && self.is_calm() && self.may_use_host()
    }

    /// Sends the next new data, if it is calm and allows `room` bytes, enough for a segment.
    #[inline(always)] // runs for every segment
    fn send_usual(
        &mut self,
        now: Time,
        room: u64,
        unsent: &mut Unsent,
        settings: &SenderSettings,
    ) -> Option<Data> {
        let segment = settings.segment();
        if room < u64::from(segment) {
            return None;
        }
        let range = unsent.next(now, &settings.source, segment).ok()?;
        debug_assert!(self.is_calm() && self.tracking.is_none(), "it needs more than this");
        unsent.nxt = range.end;
        let (seq, len) = (self.board.nxt, range.len());
        if let Some(mapping) = &mut self.mapping {
            mapping.push(self.board.una, seq, range.start);
        }
        self.board.nxt += len;
        self.host.queued += len;
        self.note_sent(now);
        if self.timer.deadline == Time::NEVER {
            self.restart_timer(now, settings);
        }
        Some(Data { seq, dsn: range.start, len: len as u32, stamp: now, flags: Flags::NONE })
    }
}

/// What a sender did with an ACK that may be usual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usual {
    /// Nothing: the ACK is not usual.
    No,
    /// It is processed; sending is that after any event.
    Processed,
    /// It is processed, and releases new data on its path.
    Releases(Data),
}

impl<E: CongestionController> Sender<E> {
    /// Processes `ack` if it is usual for `path`. If `sends`, the segment that it releases is sent
    /// at once, if no other path could send.
    #[inline(always)] // runs for every ACK
    pub fn on_usual_ack(&mut self, now: Time, path: usize, ack: &UsualAck, sends: bool) -> Usual {
        if !self.is_usual() {
            return Usual::No;
        }
        // Looked up once: after each store through `self` they would be read again.
        let Sender { settings: shared, control, paths, unsent, several, .. } = self;
        let (settings, count) = (&**shared, paths.len());
        let side = &mut paths[path];
        if !side.expects(ack.ack) {
            return Usual::No;
        }
        let acked = ack.ack - side.board.una;
        side.board.una = ack.ack;
        // Before control is called: fewer values are kept during that call.
        self.data_una = match several {
            None => ack.ack, // the path's order is the connection's
            Some(_) => self.data_una.max(ack.data_ack.min(unsent.nxt)),
        };
        unsent.edge = unsent.edge.max(ack.window_edge);
        if settings.source.ends_by(self.data_una) && self.completed == Time::NEVER {
            self.completed = now;
        }
        side.grow(now, ack.echo, acked, settings, control, path);
        let settings = &**shared; // need not be kept during that call
        let before = side.timer.deadline;
        side.restart_calm_timer(now, settings);
        // Without outstanding data, the next segment starts the timer. One comparison finds both,
        // because `NEVER` is the last time.
        let after = side.timer.deadline;
        self.sooner |= after.0.wrapping_add(1) <= before.0;
        let room = match sends && side.may_use_host() {
            true => side.window_beyond(side.board.outstanding()),
            false => 0,
        };
        let released = match several {
            None => {
                let data = side.send_usual(now, room, unsent, settings);
                self.blocked = data.is_some_and(|data| room <= u64::from(data.len));
                if data.is_some() {
                    self.starved = false;
                    side.standing.cwnd_limited = self.blocked;
                }
                data
            }
            Some(several) => {
                // If nothing is outstanding any more, its timer may have been the first one.
                let alone = std::mem::take(&mut self.blocked) && after < Time::NEVER;
                let chosen = several.on_usual_ack(path, count, alone)
                    && self.reinject.is_none()
                    && !side.standing.backup;
                let room = if chosen { room } else { 0 };
                let data = side.send_usual(now, room, unsent, settings);
                if let Some(Data { len, .. }) = data {
                    (self.starved, self.last_path) = (false, path as u32);
                    let room = room - u64::from(len);
                    self.blocked = !several.look_at_calm(path, count, side, room, settings);
                }
                data
            }
        };
        released.map_or(Usual::Processed, Usual::Releases)
    }

    /// New data on `me`, the [`Sender::only_candidate`], which allows `room` bytes.
    #[inline(always)] // runs for every segment
    fn send_on_candidate(&mut self, now: Time, me: usize, room: u64) -> Option<Data> {
        let (several, paths) = (self.several.as_deref_mut()?, self.paths.len());
        let side = &mut self.paths[me];
        let data = side.send_usual(now, room, &mut self.unsent, &self.settings)?;
        (self.starved, self.last_path) = (false, me as u32);
        let room = room - u64::from(data.len);
        self.blocked = !several.look_at_calm(me, paths, side, room, &self.settings);
        Some(data)
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
    /// path could send. If that path is calm and full, nothing can be sent.
    #[inline(always)] // runs for every segment
    pub(super) fn poll_usual(&mut self, now: Time) -> Option<Transmit<Data>> {
        if self.extensions.is_some() {
            return None;
        }
        let (path, segment) = match &mut *self.paths {
            [only] => {
                if !only.standing.calm {
                    return None;
                }
                let room = only.usual_room();
                if only.is_full(room, &self.settings) {
                    (only.standing.cwnd_limited, only.standing.ready) = (true, false);
                    (self.starved, self.blocked) = (false, true);
                    return None;
                }
                let data = only.send_usual(now, room, &mut self.unsent, &self.settings)?;
                self.blocked = room <= u64::from(data.len); // not even for one more byte
                self.starved = false;
                only.standing.cwnd_limited = self.blocked;
                (0, data)
            }
            _ => {
                let me = self.only_candidate()?;
                if !self.paths[me].standing.calm {
                    return None;
                }
                let room = self.paths[me].usual_room();
                if self.paths[me].is_full(room, &self.settings) {
                    self.look_at_changed();
                    (self.starved, self.blocked) = (false, true);
                    return None;
                }
                (me, self.send_on_candidate(now, me, room)?)
            }
        };
        Some(Transmit { path, segment })
    }
}
