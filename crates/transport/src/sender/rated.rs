//! A sender of TFRC: reports in, paced packets out.

use super::{Sender, Transmit};
use crate::path::PathReport;
use crate::tfrc::Rated;
use control::CongestionController;
use control::tfrc::Feedback;
use units::{Span, Time};
use wire::{Ack, Data, Flags, Range, Report};

impl<E: CongestionController> Sender<E> {
    /// A report of `path` has come with an acknowledgement (TFRC).
    #[cold]
    pub fn on_report(&mut self, now: Time, path: usize, ack: &Ack, report: &Report) {
        self.blocked = false;
        let Some(rated) = self.rated.as_mut().filter(|_| self.paths[path].member) else {
            return;
        };
        let limited = rated.on_report(now, path, ack.ack, ack.echo, report.delay);
        self.data_una = self.data_una.max(ack.data_ack.min(self.data_nxt));
        self.edge = self.edge.max(ack.window_edge);
        rated.on_arrived(self.data_una);
        let side = &mut rated.paths[path];
        side.tally[2] = side.tally[2].max(report.events);
        let feedback = Feedback {
            now: now.seconds(),
            rtt: side.rtt.seconds(),
            sample: side.sample.seconds(),
            received: report.received.max(0.0), // which NaN is not
            events: report.events,
            intervals: &report.intervals,
            limited,
        };
        self.control.on_feedback(path, &feedback);
        rated.restart_silence(now, path, rate(&self.control, path));
        rated.on_missing(now, &report.missing);
        self.look_whether_completed(now);
        if self.completed < Time::NEVER
            && let Some(rated) = &mut self.rated
        {
            rated.finish();
        }
    }

    /// The nofeedback timers that have fired.
    pub(super) fn on_silence(&mut self, now: Time) {
        let Some(rated) = &mut self.rated else {
            return;
        };
        for path in 0..self.paths.len() {
            if rated.paths[path].silence <= now {
                let idle = rated.on_silence(now, path);
                self.control.on_silence(path, now.seconds(), idle);
                rated.restart_silence(now, path, rate(&self.control, path));
            }
        }
    }

    /// The next packet of the path whose turn has come first: what was lost, or new data.
    pub(super) fn poll_rated(&mut self, now: Time) -> Option<Transmit> {
        let mut rated = self.rated.take()?;
        let paths = 0..self.paths.len();
        let turns: Vec<Time> =
            paths.clone().map(|me| rated.turn(me, rate(&self.control, me))).collect();
        let mut due: Vec<usize> = paths.clone().filter(|me| turns[*me] <= now).collect();
        due.sort_by_key(|me| turns[*me]);
        let transmit = due.iter().find_map(|me| {
            if let Some(data) = rated.to_probe(*me) {
                let number = rated.count(now, *me);
                return Some(packet(&rated, now, *me, data, number));
            }
            let again = rated.take_lost(now, *me, &turns);
            let data = again.or_else(|| self.next_data(now))?;
            self.data_nxt = self.data_nxt.max(data.end);
            let number = rated.on_sent(now, *me, data);
            Some(packet(&rated, now, *me, data, number))
        });
        if transmit.is_none() {
            let more = self.next_data(now).is_some() || rated.any_lost();
            rated.wake = Time::NEVER;
            for me in paths.filter(|me| turns[*me] > now && turns[*me] < Time::NEVER) {
                if more || rated.to_probe(me).is_some() {
                    rated.on_limited(now, me);
                    rated.wake = rated.wake.min(turns[me]);
                }
            }
        }
        self.rated = Some(rated);
        transmit
    }

    /// The state of `path`; its window is what its rate keeps in the network.
    #[cold]
    pub(super) fn rated_report(&self, rated: &Rated, path: usize) -> PathReport {
        let side = &rated.paths[path];
        let window = self.control.window(path);
        let [retransmits, timeouts, recoveries] = side.tally;
        PathReport {
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            srtt: side.rtt,
            latest_rtt: side.sample,
            rto: Span(4 * side.rtt.0),
            pipe: rated.outstanding(path),
            member: self.paths[path].member,
            retransmits,
            timeouts,
            recoveries,
            ..PathReport::default()
        }
    }
}

/// Packet `seq` of `me`.
fn packet(rated: &Rated, now: Time, me: usize, data: Range, seq: u64) -> Transmit {
    let rtt_us = u32::try_from(rated.paths[me].rtt.0 / 1_000).unwrap_or(u32::MAX);
    let (dsn, len) = (data.start, data.len() as u32);
    Transmit { path: me, data: Data { seq, dsn, len, rtt_us, stamp: now, flags: Flags::RATED } }
}

/// What control lets `path` send, in segments per second.
fn rate(control: &impl CongestionController, path: usize) -> f64 {
    control.pacing(path).unwrap_or(0.0)
}
