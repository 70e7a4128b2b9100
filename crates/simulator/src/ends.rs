//! The two ends of a connection, one variant for each protocol. Most runs spend their time in TCP's
//! ends, which are stored inline; the others are boxed.

use crate::controller::Controller;
use control::See;
use transport::{
    Note, PathReport, ReceivingEndpoint, SendingEndpoint, Transmit, coded, tcp, tfrc, udp,
};
use units::Time;
use wire::{Range, Segment};

/// A sender and its receiver.
#[derive(Debug)]
pub(crate) struct Pair<S, R> {
    pub(crate) sender: S,
    pub(crate) receiver: R,
}

/// Both ends of a connection.
#[derive(Debug)]
#[cfg_attr(
    target_pointer_width = "64", // with 32 bits a variant is not large
    expect(
        clippy::large_enum_variant,
        reason = "TCP's ends lie in the flow, where an ACK finds them"
    )
)]
#[repr(u8)] // a separate tag, which one instruction reads
pub(crate) enum Ends {
    Tcp(Pair<tcp::Sender<Controller>, tcp::Receiver>),
    Coded(Box<Pair<coded::Sender<Controller>, coded::Receiver>>),
    Tfrc(Box<Pair<tfrc::Sender<Controller>, tfrc::Receiver>>),
    Udp(Box<Pair<udp::Sender, udp::Receiver>>),
    #[cfg(feature = "quic")]
    Quic(Box<Pair<quic::Sender, quic::Receiver>>),
}

/// Evaluates one expression for the pair of any protocol.
macro_rules! with {
    ($ends:expr, $pair:ident => $what:expr) => {
        match $ends {
            Ends::Tcp($pair) => $what,
            Ends::Coded($pair) => $what,
            Ends::Tfrc($pair) => $what,
            Ends::Udp($pair) => $what,
            #[cfg(feature = "quic")]
            Ends::Quic($pair) => $what,
        }
    };
}

impl Ends {
    /// An answer arrived at the sender. An answer of another protocol is ignored, as by a host.
    pub(crate) fn on_answer(&mut self, now: Time, path: usize, answer: Segment) {
        with!(self, pair => if let Ok(answer) = answer.try_into() {
            pair.sender.on_answer(now, path, &answer);
        })
    }

    /// Data arrived at the receiver; returns its answer if there is one now.
    pub(crate) fn on_data(&mut self, now: Time, path: usize, data: Segment) -> Option<Segment> {
        with!(self, pair => match data.try_into() {
            Ok(data) => pair.receiver.on_data(now, path, &data).map(Into::into),
            Err(_) => None,
        })
    }

    /// The next segment of the sender.
    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<Transmit<Segment>> {
        with!(self, pair => pair.sender.poll_transmit(now).map(whole))
    }

    /// An answer of the receiver that is due.
    pub(crate) fn poll_answer(&mut self, now: Time) -> Option<Transmit<Segment>> {
        with!(self, pair => pair.receiver.on_deadline(now).map(whole))
    }

    pub(crate) fn on_deadline(&mut self, now: Time) {
        with!(self, pair => pair.sender.on_deadline(now));
    }

    /// The sender's next deadline, unless it is known to be no earlier than at the last call.
    #[inline(always)] // runs for every ACK
    pub(crate) fn earlier_deadline(&mut self) -> Option<Time> {
        match self {
            Ends::Tcp(pair) => pair.sender.earlier_deadline(),
            _ => Some(self.any_sender_deadline()),
        }
    }

    #[cold]
    fn any_sender_deadline(&self) -> Time {
        with!(self, pair => pair.sender.next_deadline())
    }

    #[inline(always)] // runs for every segment
    pub(crate) fn receiver_deadline(&self) -> Time {
        match self {
            Ends::Tcp(pair) => pair.receiver.next_deadline(),
            _ => self.any_receiver_deadline(),
        }
    }

    #[cold]
    fn any_receiver_deadline(&self) -> Time {
        with!(self, pair => pair.receiver.next_deadline())
    }

    pub(crate) fn on_sent(&mut self, path: usize, bytes: u32) {
        with!(self, pair => pair.sender.on_sent(path, bytes));
    }

    /// `path` joins at both ends. Returns the first number that it will use.
    pub(crate) fn join(&mut self, path: usize) -> u64 {
        with!(self, pair => {
            let first = pair.sender.join(path);
            pair.receiver.join(path, first);
            first
        })
    }

    pub(crate) fn leave(&mut self, path: usize) {
        with!(self, pair => pair.sender.leave(path));
    }

    pub(crate) fn start(&self) -> Time {
        with!(self, pair => pair.sender.start())
    }

    pub(crate) fn completed(&self) -> Option<Time> {
        with!(self, pair => pair.sender.completed())
    }

    pub(crate) fn paths(&self) -> usize {
        with!(self, pair => pair.sender.paths())
    }

    pub(crate) fn report(&self, path: usize) -> PathReport {
        with!(self, pair => pair.sender.report(path))
    }

    pub(crate) fn observe(&self, path: usize, see: See<'_>) {
        with!(self, pair => pair.sender.observe(path, see));
    }

    pub(crate) fn keep_notes(&mut self) {
        with!(self, pair => pair.sender.keep_notes());
    }

    /// What the sender did with its packets since the last call.
    pub(crate) fn notes(&mut self) -> Vec<Note> {
        with!(self, pair => pair.sender.notes())
    }

    pub(crate) fn delivered(&self) -> u64 {
        with!(self, pair => pair.receiver.delivered())
    }

    pub(crate) fn held(&self) -> u64 {
        with!(self, pair => pair.receiver.held())
    }

    pub(crate) fn taken(&self, path: usize) -> u64 {
        with!(self, pair => pair.receiver.taken(path))
    }

    /// Counters of the decoder of `path`, if it is coded.
    pub(crate) fn heard(&self, path: usize) -> Option<coded::Heard> {
        match self {
            Ends::Coded(pair) => pair.receiver.heard(path),
            _ => None,
        }
    }

    /// The data in a segment that has just been polled, if the segment is a combination.
    pub(crate) fn combined(&self, path: usize, segment: &Segment) -> Vec<Range> {
        match (self, segment) {
            (Ends::Coded(pair), Segment::Combination(it)) => pair.sender.combined(path, it),
            _ => Vec::new(),
        }
    }
}

/// Converts the segment to one of all protocols.
fn whole<S: Into<Segment>>(Transmit { path, segment }: Transmit<S>) -> Transmit<Segment> {
    Transmit { path, segment: segment.into() }
}
