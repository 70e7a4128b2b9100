//! The sender's part of the fast path for usual segments: see `tcp/usual.rs`.

use super::Sender;
use crate::endpoint::Transmit;
use crate::tcp::path::Path;
use crate::tcp::usual::UsualAck;
use control::{CongestionController, Phase};
use units::Time;
use wire::Data;

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
        side.restart_timer(now, &self.settings);
        self.unblock_path(path);
        self.data_una = match self.several {
            None => ack.ack, // the path's order is the connection's
            Some(_) => self.data_una.max(ack.data_ack.min(self.unsent.nxt)),
        };
        self.unsent.edge = self.unsent.edge.max(ack.window_edge);
        self.look_whether_completed(now);
        true
    }

    /// The next segment, if it is usual: new data on a calm path with room for it, while no other
    /// path could send.
    #[inline(always)] // runs for every segment
    pub(super) fn poll_usual(&mut self, now: Time) -> Option<Transmit<Data>> {
        if self.extensions.is_some() {
            return None;
        }
        let me = self.only_candidate()?;
        let segment = self.settings.segment();
        let room = self.paths[me].usual_room();
        if room < u64::from(segment) {
            return None;
        }
        let range = self.unsent.next(now, &self.settings.source, segment).ok()?;
        self.starved = false;
        let transmit = self.send(now, me, range);
        if self.several.is_some() {
            self.blocked = !self.look_at_only(me);
        } else {
            self.blocked = room <= range.len(); // not even for one more byte
            self.paths[me].standing.cwnd_limited = self.blocked;
        }
        Some(transmit)
    }
}
