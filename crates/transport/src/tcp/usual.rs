//! The fast path for usual segments: new data that continues the newest, and the ACK of new data on
//! a path without losses.
//!
//! Both ends try this first; the sender's part is in `sender/usual.rs`. Other segments take the
//! full processing of [`Sender::on_answer`], [`Sender::poll_transmit`] and [`Receiver::on_data`],
//! which has the same result for a usual segment: tests in `sender/tests.rs` compare the two.
//!
//! [`Sender::on_answer`]: crate::SendingEndpoint::on_answer
//! [`Sender::poll_transmit`]: crate::SendingEndpoint::poll_transmit
//! [`Receiver::on_data`]: crate::ReceivingEndpoint::on_data

use super::Receiver;
use super::receiver::Acks;
use units::{Span, Time};
use wire::{Ack, Data, Flags, Sacks};

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

impl Receiver {
    /// Processes `data` if it is usual for `path` and acknowledged at once, and returns its ACK.
    #[inline(always)] // runs for every segment
    pub fn on_usual_data(&mut self, path: usize, data: &Data) -> Option<UsualAck> {
        if data.len == 0 || data.flags != Flags::NONE || self.acks != Acks::AtOnce {
            return None;
        }
        let side = &mut self.paths[path];
        if !side.receive_usual(data) {
            return None;
        }
        let (next, echo) = (side.next, side.echo);
        let only = self.paths.len() == 1;
        self.data.follow(data, next, only);
        Some(self.usual_ack(next, echo))
    }

    /// An ACK of a path that expects `next`.
    #[inline(always)] // runs for every segment
    pub(super) fn usual_ack(&self, next: u64, echo: Time) -> UsualAck {
        UsualAck { ack: next, data_ack: self.data.next, window_edge: self.data.edge(), echo }
    }
}
