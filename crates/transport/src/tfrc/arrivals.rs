//! The receiving side of one TFRC path: the content of its reports, and when they are due (RFC 5348
//! §6).

use super::history::History;
use std::collections::VecDeque;
use units::{Span, Time};
use wire::{TfrcData, TfrcReport};

/// The arrivals on one path.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    history: History,
    /// Arrival times of packets in the last round trip, and of earlier ones since the last report.
    recent: VecDeque<Time>,
    /// Packets that arrived before this time do not count any more: when a packet arrived after
    /// them, its round trip had not begun.
    horizon: Time,
    /// The sender's round-trip time from the newest packet; zero before it has a sample.
    rtt: Span,
    /// The newest packet: its stamp, and its arrival time.
    newest: (Time, Time),
    /// When the last report was sent.
    reported: Option<Time>,
}

impl Arrivals {
    /// A packet arrived. Returns when the next report is due: at once after the first packet and
    /// when a loss event begins, otherwise a round trip after the last one.
    pub(crate) fn on_data(&mut self, now: Time, data: &TfrcData) -> Time {
        self.rtt = Span(u64::from(data.rtt_us) * 1_000);
        self.newest = (data.stamp, now);
        self.recent.push_back(now);
        self.forget(now);
        let worse = self.history.on_packet(now, data.number, self.rtt);
        match self.reported {
            Some(at) if !worse => (at + self.rtt).max(now),
            _ => now,
        }
    }

    /// Arrivals that are older than a round trip at `now` do not count any more.
    fn forget(&mut self, now: Time) {
        self.horizon = self.horizon.max(Time(now.0.saturating_sub(self.rtt.0)));
    }

    /// `X_recv`: receive rate in the last round trip; zero before the first round-trip sample.
    fn rate(&mut self) -> f64 {
        while self.recent.front().is_some_and(|at| *at < self.horizon) {
            self.recent.pop_front();
        }
        match self.rtt {
            Span::ZERO => 0.0,
            rtt => self.recent.len() as f64 / rtt.seconds(),
        }
    }

    /// Writes the report at `now`, without the fields of the connection.
    ///
    /// On a real host a report may leave more than a round trip after the newest packet, where the
    /// last round trip is empty. `X_recv` is then that of the one which ended with this packet: of
    /// zero the sender would make the least rate, a packet in 64 s.
    pub(crate) fn write_report(&mut self, now: Time, report: &mut TfrcReport) {
        self.reported = Some(now);
        let (echo, arrived) = self.newest;
        self.forget(if now <= arrived + self.rtt { now } else { arrived });
        (report.next, report.echo) = (self.history.next(), echo);
        report.delay = now.since(arrived);
        report.received = self.rate();
        report.events = self.history.count();
        self.history.write_intervals(&mut report.intervals);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn data(number: u64, rtt_us: u32) -> TfrcData {
        TfrcData { number, rtt_us, len: 1000, stamp: Time(7), dsn: 0 }
    }

    const MS: u64 = 1_000_000;

    fn heard(arrivals: &mut Arrivals, now: Time) -> TfrcReport {
        let mut report = TfrcReport::default();
        arrivals.write_report(now, &mut report);
        report
    }

    proptest! {
        #[test]
        fn the_receive_rate_counts_what_no_packet_since_found_older_than_its_round_trip(
            steps in prop::collection::vec((0..9_u64, 0..12_u32, any::<bool>()), 1..60),
        ) {
            let (mut arrivals, mut plain, mut now) = (Arrivals::default(), Vec::new(), Time(MS));
            for (number, (later, rtt, reports)) in (0..).zip(steps) {
                now = now + Span::millis(later);
                let rtt_us = 1000 * rtt;
                arrivals.on_data(now, &data(number, rtt_us));
                plain.push(now);
                plain.retain(|at: &Time| *at + Span::millis(rtt.into()) >= now);
                if reports {
                    let rate = match rtt {
                        0 => 0.0,
                        _ => plain.len() as f64 / Span::millis(rtt.into()).seconds(),
                    };
                    prop_assert_eq!(heard(&mut arrivals, now).received, rate);
                }
            }
        }
    }

    #[test]
    fn the_first_packet_and_every_loss_event_are_reported_at_once_others_once_a_round_trip() {
        let mut arrivals = Arrivals::default();
        assert_eq!(arrivals.on_data(Time(MS), &data(0, 0)), Time(MS));
        assert_eq!(heard(&mut arrivals, Time(MS)).received, 0.0);
        assert_eq!(arrivals.on_data(Time(2 * MS), &data(1, 20_000)), Time(21 * MS));
        arrivals.on_data(Time(3 * MS), &data(3, 20_000));
        arrivals.on_data(Time(4 * MS), &data(4, 20_000));
        assert_eq!(arrivals.on_data(Time(5 * MS), &data(5, 20_000)), Time(5 * MS));
        let report = heard(&mut arrivals, Time(9 * MS));
        assert_eq!((report.events, report.intervals), (1, vec![4, 2]));
        assert_eq!((report.delay, report.received), (Span::millis(4), 5.0 / 0.02));
        assert_eq!(heard(&mut arrivals, Time(30 * MS)).received, 5.0 / 0.02, "a late report");
        // After a pause longer than a round trip the next packet is reported at once.
        assert_eq!(arrivals.on_data(Time(50 * MS), &data(6, 20_000)), Time(50 * MS));
        assert_eq!(heard(&mut arrivals, Time(50 * MS)).received, 1.0 / 0.02);
    }
}
