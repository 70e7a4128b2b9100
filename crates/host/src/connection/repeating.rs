//! Data that the peer's connection lacks though its subflows have acknowledged them (RFC 8684
//! §3.3.6): Linux drops what has no room in the buffer of the connection, and a proxy may have
//! acknowledged what never arrived.

use super::Connection;
use crate::retry::Retry;
use units::Time;

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
        let wait = self.wait();
        let Some(sender) = self.sender.as_mut().filter(|_| self.session.is_some()) else {
            self.repeating.retry = Retry::OFF;
            return;
        };
        let outstanding = sender.outstanding();
        let Repeating { retry, until } = &mut self.repeating;
        if outstanding.is_empty() {
            *retry = Retry::OFF;
            return;
        }
        if outstanding.start > before || retry.at == Time::NEVER {
            *retry = Retry::begin(now, wait);
        } else if retry.is_due(now) {
            *until = outstanding.end;
        } else {
            return;
        }
        if outstanding.start < *until {
            sender.repeat_data();
        }
    }

    /// The number of the oldest data that the peer's connection has not acknowledged.
    pub(super) fn oldest_data(&self) -> u64 {
        self.sender.as_ref().map_or(0, |it| it.outstanding().start)
    }
}
