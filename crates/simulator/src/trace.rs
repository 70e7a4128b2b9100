//! A record of what happened, event by event, when it is asked for.

use units::Time;

/// What happened.
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
    /// Control began to ask why a coded path lost packets.
    Asked,
    /// It found noise.
    Noise,
    /// It found congestion.
    Congestion,
}

impl EventKind {
    /// The word for it in results.
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
    /// When.
    pub at: Time,
    /// What.
    pub kind: EventKind,
    /// Number of the path among all paths.
    pub path: u32,
    /// Number of the link among all links, where there is one.
    pub link: Option<u32>,
}

/// Events in the order in which they happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// All of them, up to `ended`.
    pub events: Vec<Event>,
    /// When the first event happened that there was no room for, if there was one.
    pub ended: Option<Time>,
}
