//! The trace: a record of events, on request.

use units::Time;

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A queue dropped a packet.
    Dropped,
    /// A packet was lost at random, or because the link was down.
    Lost,
    /// A sender began a fast recovery.
    Recovery,
    /// A retransmission timer fired.
    Timeout,
    /// A path joined its connection.
    Joined,
    /// A path left its connection.
    Left,
    /// Control began to classify a loss of a coded path.
    Asked,
    /// Control classified a loss as noise.
    Noise,
    /// Control classified a loss as congestion.
    Congestion,
}

impl EventKind {
    /// Its word in results.
    pub fn word(self) -> &'static str {
        match self {
            EventKind::Dropped => "drop",
            EventKind::Lost => "loss",
            EventKind::Recovery => "recovery",
            EventKind::Timeout => "timeout",
            EventKind::Joined => "join",
            EventKind::Left => "leave",
            EventKind::Asked => "asked",
            EventKind::Noise => "noise",
            EventKind::Congestion => "congestion",
        }
    }
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it happened.
    pub at: Time,
    /// What happened.
    pub kind: EventKind,
    /// Number of the path among all paths.
    pub path: u32,
    /// Number of the link among all links, if the event has one.
    pub link: Option<u32>,
}

/// Events in the order in which they happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// All events, up to `ended`.
    pub events: Vec<Event>,
    /// Time of the first event that did not fit, if there was one.
    pub ended: Option<Time>,
}
