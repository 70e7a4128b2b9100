//! The receiver of a connection with coded paths, built around TCP's.

use super::{Answer, Heard, Listener, Sent};
use crate::endpoint::{ReceivingEndpoint, Transmit};
use crate::tcp;
use units::{Span, Time};
use wire::{Ack, CodedAck, Combination, Range};

/// The receiving end of one connection.
#[derive(Debug)]
pub struct Receiver {
    tcp: tcp::Receiver,
    /// The decoder of each path, if it is coded.
    listeners: Box<[Option<Listener>]>,
}

impl Receiver {
    /// The connection of `tcp`, which has received nothing yet; `coded` says which of its paths are
    /// coded.
    pub fn new(tcp: tcp::Receiver, coded: impl IntoIterator<Item = bool>) -> Self {
        let listeners = coded.into_iter().map(|coded| coded.then(Listener::default)).collect();
        Receiver { tcp, listeners }
    }

    /// Counters of the decoder of `path`, if it is coded.
    pub fn heard(&self, path: usize) -> Option<Heard> {
        Some(self.listeners[path].as_ref()?.heard())
    }

    /// For a driver that decodes real payload itself: a combination with `stamp` arrived on `path`
    /// after `transit` and has decoded the ranges of `decoded`. The answer lacks the decoder's
    /// numbers.
    pub fn on_decoded(
        &mut self,
        path: usize,
        (stamp, transit): (Time, Span),
        decoded: impl IntoIterator<Item = Range>,
    ) -> CodedAck {
        decoded.into_iter().for_each(|range| self.tcp.data.insert(range));
        let Ack { data_ack, window_edge, echo, transit, .. } =
            self.tcp.answer_coded(path, stamp, transit);
        CodedAck { data_ack, window_edge, echo, transit, ..CodedAck::default() }
    }

    /// A combination arrived: it is acknowledged, and the decoded data is delivered.
    fn on_combination(&mut self, now: Time, path: usize, data: &Combination) -> Option<CodedAck> {
        let listener = self.listeners[path].as_mut()?;
        for range in listener.on_data(now, data) {
            self.tcp.data.insert(*range);
        }
        let Ack { data_ack, window_edge, echo, transit, .. } =
            self.tcp.answer_coded(path, data.stamp, now.since(data.stamp));
        Some(CodedAck { data_ack, window_edge, echo, transit, ..listener.seen() })
    }
}

impl ReceivingEndpoint for Receiver {
    type Data = Sent;
    type Answer = Answer;

    fn on_data(&mut self, now: Time, path: usize, data: &Sent) -> Option<Answer> {
        match data {
            Sent::Plain(data) => self.tcp.on_data(now, path, data).map(Answer::Plain),
            Sent::Combined(data) => self.on_combination(now, path, data).map(Answer::Coded),
        }
    }

    fn on_deadline(&mut self, now: Time) -> Option<Transmit<Answer>> {
        let Transmit { path, segment } = self.tcp.on_deadline(now)?;
        Some(Transmit { path, segment: Answer::Plain(segment) })
    }

    fn join(&mut self, path: usize, first: u64) {
        match &mut self.listeners[path] {
            None => self.tcp.join(path, first),
            Some(listener) => {
                listener.start_at(first as u32);
                self.tcp.join(path, 0);
            }
        }
    }

    fn next_deadline(&self) -> Time {
        self.tcp.next_deadline()
    }

    fn delivered(&self) -> u64 {
        self.tcp.delivered()
    }

    fn held(&self) -> u64 {
        self.tcp.held()
    }

    fn taken(&self, path: usize) -> u64 {
        let decoded = self.listeners[path].as_ref().map_or(0, Listener::taken);
        self.tcp.taken(path).wrapping_add(decoded)
    }
}
