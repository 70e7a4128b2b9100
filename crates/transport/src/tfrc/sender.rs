//! A sender of TFRC: reports in, paced packets out.

use super::sent::SentPackets;
use super::turns::Turns;
use crate::endpoint::{PathReport, SendingEndpoint, Transmit};
use crate::source::{Source, Unsent, Wait};
use control::tfrc::Feedback;
use control::{CongestionController, See, SegmentRate};
use std::sync::Arc;
use units::{Span, Time};
use wire::{Range, TfrcData, TfrcReport};

/// Settings shared by all senders of a class.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Payload bytes of a full packet.
    pub segment: u32,
    /// The source of the data.
    pub source: Source,
    /// The first receive buffer that the peer announces, in bytes.
    pub receive_buffer: u64,
}

/// The sending end of one connection, whose rates control `E` sets.
#[derive(Debug)]
pub struct Sender<E> {
    settings: Arc<Settings>,
    control: E,
    unsent: Unsent,
    /// Oldest byte that the peer's connection has not acknowledged.
    data_una: u64,
    /// Packets sent and not known to have arrived.
    sent: SentPackets,
    /// When each path may send its next packet.
    turns: Turns,
    /// Nothing more can be sent before the next event.
    blocked: bool,
    /// All data that the application has written was sent.
    starved: bool,
    /// When the last byte of a transfer was acknowledged; never before that.
    completed: Time,
}

impl<E: CongestionController> Sender<E> {
    /// A connection over `paths` paths that starts at `start`.
    pub fn new(settings: Arc<Settings>, control: E, paths: usize, start: Time) -> Self {
        let mut turns = Turns::new(paths);
        turns.follow_rates(&control);
        Sender {
            unsent: Unsent::new(start, settings.receive_buffer),
            settings,
            control,
            data_una: 0,
            sent: SentPackets::new(paths),
            turns,
            blocked: false,
            starved: false,
            completed: Time::NEVER,
        }
    }

    /// The application of a [`Source::Live`] has written more.
    pub fn on_written(&mut self) {
        self.blocked = false;
    }

    /// Whether nothing more can be sent before the next event.
    pub fn waits(&self) -> bool {
        self.blocked
    }

    /// The next packet of the path with the earliest turn: lost data, or new data.
    fn poll(&mut self, now: Time) -> Option<Transmit<TfrcData>> {
        debug_assert!(self.turns.are_of(&self.control), "an old turn");
        let mut tried = None;
        while self.turns.times().first() <= now
            && let Some(next) = self.turns.times().after(tried).filter(|(turn, _)| *turn <= now)
        {
            let (_, me) = next;
            if let Some(data) = self.sent.to_probe(me) {
                let number = self.sent.count(now, me);
                return Some(self.packet(now, me, data, number));
            }
            let again = self.sent.take_lost(now, me, self.turns.times().all());
            if let Some(data) = again.or_else(|| self.next_data(now)) {
                self.unsent.nxt = self.unsent.nxt.max(data.end);
                let number = self.sent.on_sent(now, me, data);
                return Some(self.packet(now, me, data, number));
            }
            tried = Some(next);
        }
        None
    }

    /// Nothing can be sent now: if there is data to send, waits for the next turn.
    fn wait(&mut self, now: Time) {
        let more = self.next_data(now).is_some() || self.sent.any_lost();
        self.sent.wait(now, more, self.turns.times());
    }

    /// Handles the nofeedback timers that have fired.
    #[inline(never)] // keeps the code of usual wake-ups short
    fn on_silence(&mut self, now: Time) {
        for path in 0..self.sent.paths.len() {
            if self.sent.is_silent(now, path) {
                let idle = self.sent.on_silence(now, path);
                self.control.on_silence(path, now, idle);
                self.turns.follow_rates(&self.control);
                self.sent.restart_silence(now, path, self.turns.rate(path));
            }
        }
    }

    fn next_data(&mut self, now: Time) -> Option<Range> {
        let next = self.unsent.next(now, &self.settings.source, self.settings.segment);
        self.starved = next == Err(Wait::Application);
        next.ok()
    }

    /// Packet `number` of `me`, which has been counted.
    fn packet(&mut self, now: Time, me: usize, data: Range, number: u64) -> Transmit<TfrcData> {
        self.turns.on_sent(now, me);
        let rtt_us = u32::try_from(self.sent.paths[me].rtt.0 / 1_000).unwrap_or(u32::MAX);
        let (dsn, len) = (data.start, data.len() as u32);
        Transmit { path: me, segment: TfrcData { number, dsn, len, rtt_us, stamp: now } }
    }
}

impl<E: CongestionController> SendingEndpoint for Sender<E> {
    type Sent = TfrcData;
    type Answer = TfrcReport;

    fn on_answer(&mut self, now: Time, path: usize, report: &TfrcReport) {
        self.blocked = false;
        if !self.sent.paths[path].member {
            return;
        }
        let limited = self.sent.on_report(now, path, report.next, report.echo, report.delay);
        self.data_una = self.data_una.max(report.data_ack.min(self.unsent.nxt));
        self.unsent.edge = self.unsent.edge.max(report.window_edge);
        self.sent.on_arrived(self.data_una);
        let side = &mut self.sent.paths[path];
        side.loss_events = side.loss_events.max(report.events);
        let feedback = Feedback {
            now,
            rtt: side.rtt,
            sample: side.sample,
            received: SegmentRate(report.received.max(0.0)), // false for NaN
            events: report.events,
            intervals: &report.intervals,
            limited,
        };
        self.control.on_feedback(path, &feedback);
        self.turns.follow_rates(&self.control);
        self.sent.restart_silence(now, path, self.turns.rate(path));
        self.sent.on_missing(now, &report.missing);
        if self.completed == Time::NEVER && self.settings.source.ends_by(self.data_una) {
            self.completed = now;
        }
        if self.completed < Time::NEVER {
            self.sent.finish();
        }
    }

    fn on_deadline(&mut self, now: Time) {
        self.blocked = false;
        if self.sent.any_silent(now) {
            self.on_silence(now);
        } // otherwise a turn has come
    }

    fn on_sent(&mut self, _path: usize, _bytes: u32) {
        self.blocked = false;
    }

    fn join(&mut self, path: usize) -> u64 {
        self.blocked = false;
        self.control.set_member(path, true);
        self.turns.join(path);
        self.turns.follow_rates(&self.control);
        self.sent.join(path)
    }

    fn leave(&mut self, path: usize) {
        self.blocked = false;
        self.sent.leave(path);
        self.control.set_member(path, false);
        self.turns.leave(path);
        self.turns.follow_rates(&self.control);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Transmit<TfrcData>> {
        if self.blocked {
            return None;
        }
        let transmit = self.poll(now);
        self.blocked = self.turns.times().first() > now || transmit.is_none();
        if self.blocked {
            self.wait(now);
        }
        transmit
    }

    fn next_deadline(&self) -> Time {
        let timers = self.sent.next_deadline();
        match self.starved {
            false => timers,
            true => timers.min(self.unsent.next_write(&self.settings.source)),
        }
    }

    fn start(&self) -> Time {
        self.unsent.start
    }

    fn completed(&self) -> Option<Time> {
        (self.completed < Time::NEVER).then_some(self.completed)
    }

    fn paths(&self) -> usize {
        self.sent.paths.len()
    }

    /// The window of a path is the data that its rate keeps in the network.
    fn report(&self, path: usize) -> PathReport {
        let side = &self.sent.paths[path];
        let window = self.control.window(path);
        PathReport {
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            srtt: side.rtt,
            latest_rtt: side.sample,
            rto: Span(4 * side.rtt.0),
            pipe: self.sent.outstanding(path),
            member: side.member,
            retransmits: side.retransmits,
            timeouts: side.timeouts,
            recoveries: side.loss_events,
            ..PathReport::default()
        }
    }

    fn observe(&self, path: usize, see: See<'_>) {
        self.control.observe(path, see);
    }
}
