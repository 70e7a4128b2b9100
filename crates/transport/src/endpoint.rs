//! The contract of endpoints, which have no I/O, no clock and no randomness: their driver passes in
//! events with their times, and carries the segments that they send.
//!
//! * After any call that gives a sender an event, call [`SendingEndpoint::poll_transmit`] until it
//!   returns `None`, and then [`SendingEndpoint::next_deadline`], which may have changed.
//! * A receiver answers [`ReceivingEndpoint::on_data`] at once, or later: then it has a deadline.
//!   At the deadline, call [`ReceivingEndpoint::on_deadline`] until it returns `None`, and then ask
//!   for the next deadline.
//! * A call before the deadline does no harm.

use control::{See, Verdicts};
use units::{Span, Time};
use wire::Segment;

/// A segment to send on a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transmit<S> {
    /// Index of the path.
    pub path: usize,
    /// The segment.
    pub segment: S,
}

/// The end of a connection that sends data.
pub trait SendingEndpoint {
    /// Segments that it sends.
    type Sent: Into<Segment>;
    /// Answers of the other end.
    type Answer: TryFrom<Segment>;

    /// An answer arrived on `path`.
    fn on_answer(&mut self, now: Time, path: usize, answer: &Self::Answer);

    /// The deadline of [`SendingEndpoint::next_deadline`] has come.
    fn on_deadline(&mut self, now: Time);

    /// `bytes` of payload of `path` have left the host. Optional if the host's queue has no limit.
    fn on_sent(&mut self, path: usize, bytes: u32);

    /// `path` joins the connection, again or late. Returns the first number that it will use; the
    /// driver passes it to [`ReceivingEndpoint::join`].
    fn join(&mut self, path: usize) -> u64;

    /// `path` leaves the connection.
    fn leave(&mut self, path: usize);

    /// The next segment to send at `now`; call until `None`.
    fn poll_transmit(&mut self, now: Time) -> Option<Transmit<Self::Sent>>;

    /// When to call [`SendingEndpoint::on_deadline`], or to poll again because the application
    /// writes or pacing permits the next segment.
    fn next_deadline(&self) -> Time;

    /// When the connection starts.
    fn start(&self) -> Time;

    /// When the last byte of a transfer was acknowledged.
    fn completed(&self) -> Option<Time>;

    /// The number of paths, members or not.
    fn paths(&self) -> usize;

    /// The state of `path`.
    fn report(&self, path: usize) -> PathReport;

    /// Passes the quantities of the congestion control of `path` to `see`: see
    /// [`control::CongestionController::observe`].
    fn observe(&self, _path: usize, _see: See<'_>) {}

    /// Keeps [`SendingEndpoint::notes`] from now on. Called before the first segment.
    fn keep_notes(&mut self) {}

    /// What the sender did with its packets since the last call, in order. Empty for a sender whose
    /// segments and answers say it: a log reads those.
    fn notes(&mut self) -> Vec<Note> {
        Vec::new()
    }
}

/// A note of a sender on one of its packets, for logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// Index of the path on which the packet was sent.
    pub path: usize,
    /// What became of the packet.
    pub what: Noted,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted {
    /// It is in the segment that was polled last.
    Sent {
        /// Its type, by its name in qlog.
        kind: &'static str,
        /// Its number; `None` if nobody waits for its acknowledgement.
        number: Option<u64>,
        /// Bytes of the segment.
        bytes: u32,
        /// Bytes of its frames; `None` if nobody waits for its acknowledgement, or if the segment
        /// has several packets.
        payload: Option<u32>,
    },
    /// It was acknowledged for the first time.
    Acked(u64),
    /// It was declared lost.
    Lost(u64),
}

/// The end of a connection that receives data. The application reads data at once when it is in
/// order.
pub trait ReceivingEndpoint {
    /// Segments that it receives.
    type Data: TryFrom<Segment>;
    /// Answers that it sends.
    type Answer: Into<Segment>;

    /// A segment arrived on `path`. Returns the answer to send now, if there is one.
    fn on_data(&mut self, now: Time, path: usize, data: &Self::Data) -> Option<Self::Answer>;

    /// An answer that is due at `now`; call until `None`.
    fn on_deadline(&mut self, now: Time) -> Option<Transmit<Self::Answer>>;

    /// `path` joins the connection and will number its data from `first` on: in bytes, or in TFRC
    /// packets, or in coded segments.
    fn join(&mut self, path: usize, first: u64);

    /// When to call [`ReceivingEndpoint::on_deadline`].
    fn next_deadline(&self) -> Time;

    /// Bytes delivered to the application, in order; for UDP in any order.
    fn delivered(&self) -> u64;

    /// Bytes that wait in the buffer for earlier bytes.
    fn held(&self) -> u64;

    /// Payload bytes that `path` received, each counted once: in its order or, on a coded path,
    /// decoded; for TFRC and UDP all that arrived.
    fn taken(&self, path: usize) -> u64;
}

/// A path's counters and state, for observation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathReport {
    /// Congestion window in segments.
    pub cwnd: f64,
    /// Slow-start threshold in segments; infinite before the first congestion event.
    pub ssthresh: f64,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Span,
    /// The newest round-trip sample.
    pub latest_rtt: Span,
    /// Retransmission timeout, not backed off.
    pub rto: Span,
    /// Bytes thought to be in the network.
    pub pipe: u64,
    /// Whether the path belongs to the connection now; if not, the window has no meaning.
    pub member: bool,
    /// Whether it repairs losses: in fast recovery, or after a timeout.
    pub recovering: bool,
    /// Segments sent again.
    pub retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast recoveries begun.
    pub recoveries: u64,
    /// Reductions for echoed marks (ECN).
    pub marks: u64,
    /// Reductions found to be spurious and undone.
    pub undone: u64,
    /// Tail-loss probes sent.
    pub probes: u64,
    /// Datagrams echoed.
    pub echoed: u64,
    /// Losses classified by control, if it classifies them.
    pub verdicts: Verdicts,
}
