//! UDP: datagrams are sent when the application writes them, without window, acknowledgement or
//! retransmission. An echoing receiver returns each datagram (RFC 862), from which its sender
//! measures the round trip.

use crate::endpoint::{PathReport, ReceivingEndpoint, SendingEndpoint, Transmit};
use crate::options::Options;
use crate::rtt::Rtt;
use crate::source::{Source, Unsent};
use control::Window;
use std::collections::VecDeque;
use std::sync::Arc;
use units::Time;
use wire::{Datagram, Echo};

/// Settings shared by all senders of a class.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Options of the user: the size of a datagram, and the timeout in reports.
    pub options: Options,
    /// The source of the data.
    pub source: Source,
    /// The window in reports; it does not limit sending.
    pub window: Window,
}

/// The sending end; a connection has one path.
#[derive(Debug)]
pub struct Sender {
    settings: Arc<Settings>,
    unsent: Unsent,
    /// When it was found that all data was sent that the application had written; `None` if some is
    /// left.
    starved: Option<Time>,
    /// Whether the path belongs to the connection now.
    member: bool,
    rtt: Rtt,
    /// Datagrams echoed.
    echoed: u64,
}

impl Sender {
    /// A connection that starts at `start`.
    pub fn new(settings: Arc<Settings>, start: Time) -> Self {
        let unsent = Unsent::new(start, u64::MAX); // no receive window
        let (starved, member) = (None, true);
        Sender { settings, unsent, starved, member, rtt: Rtt::default(), echoed: 0 }
    }
}

impl SendingEndpoint for Sender {
    type Sent = Datagram;
    type Answer = Echo;

    fn on_answer(&mut self, now: Time, _path: usize, Echo(datagram): &Echo) {
        self.rtt.sample(now.since(datagram.stamp));
        self.echoed += 1;
    }

    fn on_deadline(&mut self, _now: Time) {}

    fn on_sent(&mut self, _path: usize, _bytes: u32) {}

    fn join(&mut self, _path: usize) -> u64 {
        self.member = true;
        0 // UDP does not number the datagrams of a path
    }

    fn leave(&mut self, _path: usize) {
        (self.member, self.rtt) = (false, Rtt::default());
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Transmit<Datagram>> {
        if self.starved == Some(now) {
            return None; // it writes nothing more in the same instant
        }
        let Settings { options, source, .. } = &*self.settings;
        let (offset, segment) = (self.unsent.nxt, options.segment());
        let written = self.unsent.written(now, source, segment);
        let len = written.saturating_sub(offset).min(segment.into());
        let sent = if self.member { len } else { 0 };
        self.unsent.nxt += sent;
        self.starved = (self.unsent.nxt >= written).then_some(now);
        let segment = Datagram { offset, len: sent as u32, stamp: now };
        (sent > 0).then_some(Transmit { path: 0, segment })
    }

    fn next_deadline(&self) -> Time {
        match self.starved {
            None => Time::NEVER,
            Some(_) => self.unsent.next_write(&self.settings.source),
        }
    }

    fn start(&self) -> Time {
        self.unsent.start
    }

    fn completed(&self) -> Option<Time> {
        None // nothing is acknowledged
    }

    fn paths(&self) -> usize {
        1
    }

    fn report(&self, _path: usize) -> PathReport {
        let Window { cwnd, ssthresh } = self.settings.window;
        PathReport {
            cwnd,
            ssthresh,
            srtt: self.rtt.srtt(),
            latest_rtt: self.rtt.latest(),
            rto: self.rtt.rto(&self.settings.options, 0),
            member: self.member,
            echoed: self.echoed,
            ..PathReport::default()
        }
    }
}

/// The receiving end.
#[derive(Debug)]
pub struct Receiver {
    /// Whether datagrams are echoed.
    echoes: bool,
    /// Payload bytes received.
    arrived: u64,
    /// Echoes to send at once.
    waiting: VecDeque<Echo>,
    /// Since when they are due; never without one.
    due: Time,
}

impl Receiver {
    /// A receiver; it echoes if `echoes`.
    pub fn new(echoes: bool) -> Self {
        Receiver { echoes, arrived: 0, waiting: VecDeque::new(), due: Time::NEVER }
    }
}

impl ReceivingEndpoint for Receiver {
    type Data = Datagram;
    type Answer = Echo;

    /// The echo is sent by the deadline, which is now.
    fn on_data(&mut self, now: Time, _path: usize, data: &Datagram) -> Option<Echo> {
        self.arrived += u64::from(data.len);
        if self.echoes {
            self.waiting.push_back(Echo(*data));
            self.due = now;
        }
        None
    }

    fn on_deadline(&mut self, now: Time) -> Option<Transmit<Echo>> {
        if now < self.due {
            return None;
        }
        let segment = self.waiting.pop_front()?;
        if self.waiting.is_empty() {
            self.due = Time::NEVER;
        }
        Some(Transmit { path: 0, segment })
    }

    fn join(&mut self, _path: usize, _first: u64) {
        self.waiting.clear();
        self.due = Time::NEVER;
    }

    fn next_deadline(&self) -> Time {
        self.due
    }

    fn delivered(&self) -> u64 {
        self.arrived
    }

    fn held(&self) -> u64 {
        0
    }

    fn taken(&self, _path: usize) -> u64 {
        self.arrived
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Bytes, Rate, Span};

    #[test]
    fn what_is_written_is_sent_at_once_and_comes_back_with_its_round_trip() {
        let settings = Settings {
            options: Options { payload: Bytes(1000), ..Options::default() },
            source: Source::Paced(Rate(8_000_000)), // 1000 B each ms
            window: Window { cwnd: 10.0, ssthresh: f64::INFINITY },
        };
        let mut sender = Sender::new(Arc::new(settings), Time::ZERO);
        let mut receiver = Receiver::new(true);
        let sent = sender.poll_transmit(Time::ZERO).unwrap();
        assert_eq!((sent.segment.offset, sent.segment.len), (0, 1000));
        assert_eq!(sender.poll_transmit(Time::ZERO), None);
        assert_eq!(sender.next_deadline(), Time(1_000_000));
        let arrival = Time(5_000_000);
        assert_eq!(receiver.on_data(arrival, 0, &sent.segment), None);
        assert_eq!(receiver.next_deadline(), arrival);
        let echo = receiver.on_deadline(arrival).unwrap().segment;
        assert_eq!((receiver.on_deadline(arrival), receiver.next_deadline()), (None, Time::NEVER));
        sender.on_answer(Time(10_000_000), 0, &echo);
        let report = sender.report(0);
        assert_eq!((report.srtt, report.echoed, receiver.delivered()), (Span::millis(10), 1, 1000));
    }
}
