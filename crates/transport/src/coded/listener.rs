//! The receiving side: combinations in, segments out.

use super::{Tag, tag, untag};
use coding::{Combination, Decoder};
use units::Time;
use wire::{CodedAck, Range};

/// Segments that may be pending: no sender has more under way, and a hostile one makes no more
/// memory.
const LIMIT: usize = 1 << 16;

/// What was heard on a coded path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Heard {
    /// Combinations that arrived.
    pub arrived: u64,
    /// Combinations that brought a degree of freedom.
    pub innovative: u64,
    /// Segments decoded.
    pub decoded: u64,
    /// Seconds that segments waited between being seen and being decoded, all together.
    pub waited_s: f64,
    /// Segments that wait now.
    pub pending: u64,
}

/// The decoder of one path, and what it has done.
#[derive(Debug)]
pub(crate) struct Listener {
    decoder: Decoder<Tag>,
    heard: Heard,
    /// When the number of waiting segments may have changed last.
    since: Time,
    /// What the last combination decoded; kept for its room.
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
    /// The path begins again with segment `number`.
    pub(crate) fn start_at(&mut self, number: u32) {
        self.decoder.start_at(number);
    }

    /// A combination arrived: the bytes of the connection that it decodes.
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

    /// What an acknowledgement says of the path.
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
