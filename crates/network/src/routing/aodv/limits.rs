//! How often messages may be sent, and which RREQs were seen.

use crate::routing::Node;
use std::collections::{BTreeSet, VecDeque};
use units::{Span, Time};

const SECOND: Span = Span::millis(1000);

/// So many messages in any second, and no more.
#[derive(Debug)]
pub(super) struct RateLimit {
    most: usize,
    /// When the last ones were sent, oldest first.
    sent: VecDeque<Time>,
}

impl RateLimit {
    pub(super) fn new(most: u32) -> Self {
        RateLimit { most: most.max(1) as usize, sent: VecDeque::new() }
    }

    /// When the next one may be sent.
    pub(super) fn free(&self) -> Time {
        match self.sent.front() {
            Some(first) if self.sent.len() == self.most => *first + SECOND,
            _ => Time::ZERO,
        }
    }

    /// One is sent.
    pub(super) fn spend(&mut self, now: Time) {
        if self.sent.len() == self.most {
            self.sent.pop_front();
        }
        self.sent.push_back(now);
    }
}

/// RREQs seen within `PATH_DISCOVERY_TIME` (§6.5), by originator and id.
#[derive(Debug, Default)]
pub(super) struct Seen {
    known: BTreeSet<(Node, u32)>,
    /// When each is forgotten, oldest first.
    until: VecDeque<(Time, (Node, u32))>,
}

impl Seen {
    /// Whether a RREQ is new; from now on it is not, until `until`, which never decreases.
    pub(super) fn first(&mut self, now: Time, rreq: (Node, u32), until: Time) -> bool {
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
