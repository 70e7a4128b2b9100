//! The fast path for usual segments: new data in order, and its ACK on a path without losses.
//!
//! Both ends try this first. Other segments take the full processing of [`Sender::on_answer`] and
//! [`Receiver::on_data`]. It has the same result for a usual segment: a test in `sender/tests.rs`
//! compares the two.
//!
//! [`Sender::on_answer`]: crate::SendingEndpoint::on_answer
//! [`Receiver::on_data`]: crate::ReceivingEndpoint::on_data

use super::path::Path;
use super::{Receiver, Sender};
use control::{CongestionController, Phase};
use units::{Span, Time};
use wire::{Ack, Data, Flags, Range, Sacks};

/// An ACK without SACK blocks, transit time and flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsualAck {
    /// Next byte that the path's receiver expects.
    pub ack: u64,
    /// Next byte that the connection's receiver expects.
    pub data_ack: u64,
    /// Right edge of the connection's receive window, as a data sequence number.
    pub window_edge: u64,
    /// Time stamp of the segment that caused this ACK.
    pub echo: Time,
}

impl From<UsualAck> for Ack {
    fn from(UsualAck { ack, data_ack, window_edge, echo }: UsualAck) -> Self {
        let (transit, sacks, flags) = (Span::ZERO, Sacks::default(), Flags::NONE);
        Ack { ack, data_ack, window_edge, echo, transit, sacks, flags }
    }
}

impl Path {
    /// Whether `ack` acknowledges new data while no data is lost, SACKed or under repair.
    #[inline(always)] // runs for every ACK
    fn expects(&self, ack: u64) -> bool {
        self.board.is_clean()
            && self.recovery.phase == Phase::Open
            && self.standing.member
            && self.board.una < ack
            && ack <= self.board.nxt
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
        self.on_progress(now, ack.data_ack, ack.window_edge);
        true
    }
}

impl Receiver {
    /// Processes `data` if it is usual for `path`, and returns its ACK.
    #[inline(always)] // runs for every segment
    pub fn on_usual_data(&mut self, path: usize, data: &Data) -> Option<UsualAck> {
        let at_once = self.acks_at_once();
        let side = &mut self.paths[path];
        let usual = data.seq == side.next && data.len > 0 && data.flags == Flags::NONE;
        if !(usual && at_once && side.is_in_order()) {
            return None;
        }
        side.next += u64::from(data.len);
        side.echo = data.stamp;
        let next = side.next;
        match self.paths.len() {
            1 => self.data.next = next, // the path's order is the connection's
            _ => {
                self.data.insert(Range { start: data.dsn, end: data.dsn + u64::from(data.len) });
            }
        }
        Some(UsualAck {
            ack: next,
            data_ack: self.data.next,
            window_edge: self.data.edge(),
            echo: data.stamp,
        })
    }
}
