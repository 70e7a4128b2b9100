//! Rate limits of messages, and the record of received RREQs.

use crate::routing::Node;
use std::collections::{BTreeSet, VecDeque};
use units::{Span, Time};

const SECOND: Span = Span::millis(1000);

/// At most `most` messages in any second.
#[derive(Debug)]
pub(super) struct RateLimit {
    most: usize,
    /// Times of the last messages, oldest first.
    sent: VecDeque<Time>,
}

impl RateLimit {
    pub(super) fn new(most: u32) -> Self {
        RateLimit { most: most.max(1) as usize, sent: VecDeque::new() }
    }

    /// When the next one may be sent.
    pub(super) fn next_allowed(&self) -> Time {
        match self.sent.front() {
            Some(first) if self.sent.len() == self.most => *first + SECOND,
            _ => Time::ZERO,
        }
    }

    /// Records a message that is sent now.
    pub(super) fn record(&mut self, now: Time) {
        if self.sent.len() == self.most {
            self.sent.pop_front();
        }
        self.sent.push_back(now);
    }
}

/// RREQs received within `PATH_DISCOVERY_TIME` (§6.5), by originator and RREQ ID.
#[derive(Debug, Default)]
pub(super) struct SeenRreqs {
    known: BTreeSet<(Node, u32)>,
    /// When each expires, oldest first.
    until: VecDeque<(Time, (Node, u32))>,
}

impl SeenRreqs {
    /// Records a RREQ until `until`, which never decreases. Returns whether it is new.
    pub(super) fn insert(&mut self, now: Time, rreq: (Node, u32), until: Time) -> bool {
        while let Some((_, old)) = self.until.front().filter(|(end, _)| *end <= now) {
            self.known.remove(old);
            self.until.pop_front();
        }
        let new = self.known.insert(rreq);
        if new {
            self.until.push_back((until, rreq));
        }
        new
    }
}
