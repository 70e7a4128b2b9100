//! The receiving side of one path of TFRC: what its reports say, and when they are due (RFC 5348 §6).

use super::history::History;
use std::collections::VecDeque;
use units::{Span, Time};
use wire::{Data, Range, Report};

/// What arrived on one path.
#[derive(Debug, Default)]
pub(crate) struct Hearing {
    history: History,
    /// When packets of the last round trip arrived.
    recent: VecDeque<Time>,
    /// The sender's round-trip time, as the newest packet says; zero before it has one.
    rtt: Span,
    /// The newest packet: its stamp, and when it arrived.
    newest: (Time, Time),
    /// When the last report was sent.
    reported: Option<Time>,
}

impl Hearing {
    /// A packet arrived. Returns when the next report is due: at once after the first packet and when a loss
    /// event begins, otherwise a round trip after the last one.
    pub(crate) fn on_data(&mut self, now: Time, data: &Data) -> Time {
        self.rtt = Span(u64::from(data.rtt_us) * 1_000);
        self.newest = (data.stamp, now);
        self.recent.push_back(now);
        self.forget(now);
        let worse = self.history.on_packet(now, data.seq, self.rtt);
        match self.reported {
            Some(at) if !worse => (at + self.rtt).max(now),
            _ => now,
        }
    }

    /// Drops arrivals that are older than a round trip.
    fn forget(&mut self, now: Time) {
        let old = self.recent.partition_point(|at| *at + self.rtt < now);
        self.recent.drain(..old);
    }

    /// `X_recv`: what arrived in the last round trip; nothing is known before there is one.
    fn rate(&self) -> f64 {
        match self.rtt {
            Span::ZERO => 0.0,
            rtt => self.recent.len() as f64 / rtt.seconds(),
        }
    }

    /// The number that the path's next packet should have, and the stamp to be echoed.
    pub(crate) fn next(&self) -> (u64, Time) {
        (self.history.next(), self.newest.0)
    }

    /// The report of now, and what the connection misses.
    pub(crate) fn report(&mut self, now: Time, missing: Vec<Range>) -> Report {
        self.reported = Some(now);
        self.forget(now);
        Report {
            delay: now.since(self.newest.1),
            received: self.rate(),
            events: self.history.count(),
            intervals: self.history.intervals(),
            missing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Flags;

    fn data(number: u64, rtt_us: u32) -> Data {
        Data { seq: number, rtt_us, len: 1000, stamp: Time(7), flags: Flags::RATED, dsn: 0 }
    }

    const MS: u64 = 1_000_000;

    #[test]
    fn the_first_packet_and_every_loss_event_are_reported_at_once_others_once_a_round_trip() {
        let mut hearing = Hearing::default();
        assert_eq!(hearing.on_data(Time(MS), &data(0, 0)), Time(MS));
        assert_eq!(hearing.report(Time(MS), Vec::new()).received, 0.0);
        assert_eq!(hearing.on_data(Time(2 * MS), &data(1, 20_000)), Time(21 * MS));
        hearing.on_data(Time(3 * MS), &data(3, 20_000));
        hearing.on_data(Time(4 * MS), &data(4, 20_000));
        assert_eq!(hearing.on_data(Time(5 * MS), &data(5, 20_000)), Time(5 * MS));
        let report = hearing.report(Time(9 * MS), Vec::new());
        assert_eq!((report.events, report.intervals), (1, vec![4, 2]));
        assert_eq!((report.delay, report.received), (Span::millis(4), 5.0 / 0.02));
        // After a pause longer than a round trip the next packet is reported at once.
        assert_eq!(hearing.on_data(Time(50 * MS), &data(6, 20_000)), Time(50 * MS));
        assert_eq!(hearing.report(Time(50 * MS), Vec::new()).received, 1.0 / 0.02);
    }
}
