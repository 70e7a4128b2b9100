//! Data that the peer's connection lacks though its subflows have acknowledged it (RFC 8684
//! §3.3.6): Linux drops what has no room in the buffer of the connection, and a proxy may have
//! acknowledged what never arrived.

use super::Connection;
use crate::retry::Retry;
use units::Time;
use wire::Range;

/// The repetition of such data.
#[derive(Debug, Default)]
pub(super) struct Repeating {
    /// When the oldest data is sent again, if the peer's connection does not acknowledge it.
    pub(super) retry: Retry,
    /// What was sent below may be missing too: when the peer acknowledges a part of it, what comes
    /// next is sent again at once, as in a recovery of NewReno (RFC 6582 §3.2).
    until: u64,
}

impl Connection {
    /// Sends the oldest data again if the peer's connection has not acknowledged it for a timeout
    /// and no subflow has it outstanding; `before` is what the peer expected until now.
    pub(super) fn look_at_data(&mut self, now: Time, before: u64) {
        let outstanding = match (&self.session, &self.sender) {
            (Some(_), Some(sender)) => sender.outstanding(),
            _ => Range::default(),
        };
        if outstanding.is_empty() {
            self.repeating.retry = Retry::OFF;
        } else if outstanding.start > before || self.repeating.retry.at == Time::NEVER {
            self.repeating.retry = Retry::begin(now, self.wait());
            self.repeat_missing(outstanding.start);
        } else if self.repeating.retry.is_due(now) {
            self.repeating.until = outstanding.end;
            self.repeat_missing(outstanding.start);
        }
    }

    /// Sends the data from `start` on again, if it may be missing.
    fn repeat_missing(&mut self, start: u64) {
        if let Some(sender) = self.sender.as_mut().filter(|_| start < self.repeating.until) {
            sender.repeat_data();
        }
    }

    /// The number of the oldest data that the peer's connection has not acknowledged.
    pub(super) fn oldest_data(&self) -> u64 {
        self.sender.as_ref().map_or(0, |it| it.outstanding().start)
    }
}
