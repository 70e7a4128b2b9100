//! Rules that a peer with the right key can break.

/// A peer with the right key has broken a rule, or a limit is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Violation {
    /// A frame that cannot be read.
    Frame,
    /// A frame of a stream that cannot be.
    Stream,
    /// A decoded segment that cannot be.
    Symbol,
    /// Too many pieces wait for earlier bytes.
    Pieces,
    /// Data was acknowledged that a path has not acknowledged, or too much of it.
    Unacknowledged,
    /// A record that the peer has not sealed, or that is too long.
    Record,
    /// A path has used all numbers of segments.
    Exhausted,
}

impl Violation {
    /// What the peer did.
    pub(crate) fn says(self) -> &'static str {
        match self {
            Violation::Frame => "a frame that cannot be read",
            Violation::Stream => "a frame of a stream that cannot be",
            Violation::Symbol => "a decoded segment that cannot be",
            Violation::Pieces => "too many pieces of data wait for earlier ones",
            Violation::Unacknowledged => "acknowledgements that contradict each other",
            Violation::Record => "a record that it has not sealed",
            Violation::Exhausted => "a path has used up its numbers",
        }
    }
}
