//! The receiving side of coding: combinations in, segments out.

use super::{Tag, tag, untag};
use coding::{Combination, Decoder};
use units::Time;
use wire::{CodedAck, Range};

/// Most pending segments: no sender has more in flight, and the limit bounds the memory that a
/// hostile one can use.
const LIMIT: usize = 1 << 16;

/// Counters of a coded path's decoder.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Heard {
    /// Combinations that arrived.
    pub arrived: u64,
    /// Combinations that brought a degree of freedom.
    pub innovative: u64,
    /// Segments decoded.
    pub decoded: u64,
    /// Sum of the seconds that segments waited between being seen and being decoded.
    pub waited_s: f64,
    /// Segments waiting now.
    pub pending: u64,
}

/// The decoder of one path, and its counters.
#[derive(Debug)]
pub(crate) struct Listener {
    decoder: Decoder<Tag>,
    heard: Heard,
    /// When the number of waiting segments last changed.
    since: Time,
    /// Segments decoded by the last combination; kept to reuse its memory.
    decoded: Vec<Range>,
    /// Payload bytes decoded.
    taken: u64,
}

impl Default for Listener {
    fn default() -> Self {
        let decoder = Decoder::new(LIMIT);
        let (heard, decoded) = (Heard::default(), Vec::new());
        Listener { decoder, heard, since: Time::ZERO, decoded, taken: 0 }
    }
}

impl Listener {
    /// The path restarts with segment `number`.
    pub(crate) fn start_at(&mut self, number: u32) {
        self.decoder.start_at(number);
    }

    /// A combination arrived; returns the bytes of the connection that it decodes.
    pub(crate) fn on_data(&mut self, now: Time, data: &wire::Combination) -> &[Range] {
        let waiting = now.since(self.since).seconds() * self.decoder.pending() as f64;
        self.heard.waited_s += waiting;
        self.since = now;
        self.decoded.clear();
        let wire::Combination { first, count, key, .. } = *data;
        let (what, symbol) = (Combination { base: first, count, key }, tag(data.dsn, data.lengths));
        let decoded = &mut self.decoded;
        let innovative = self.decoder.on_packet(what, symbol, |_, tag| {
            let (start, len) = untag(tag);
            decoded.push(Range { start, end: start.saturating_add(u64::from(len)) });
        });
        self.heard.arrived += 1;
        self.heard.innovative += u64::from(innovative);
        self.heard.decoded += self.decoded.len() as u64;
        self.taken += self.decoded.iter().map(|range| range.len()).sum::<u64>();
        &self.decoded
    }

    /// The content of an acknowledgement of the path.
    pub(crate) fn seen(&self) -> CodedAck {
        CodedAck {
            first_unseen: self.decoder.first_unseen(),
            received: self.decoder.rank(),
            covered: self.decoder.highest(),
            ..CodedAck::default()
        }
    }

    /// Payload bytes decoded.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    pub(crate) fn heard(&self) -> Heard {
        Heard { pending: self.decoder.pending() as u64, ..self.heard }
    }
}
