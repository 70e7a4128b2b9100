//! The receiving side: combinations in, segments out.

use super::{Tag, tag, untag};
use coding::{Combination, Decoder};
use units::Time;
use wire::{Data, Range};

/// Segments that may be pending: no sender has more under way, and a hostile one makes no more memory.
const LIMIT: usize = 1 << 16;

/// What was heard on a coded path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Heard {
    /// Combinations that arrived.
    pub arrived: u64,
    /// Those of them that brought a degree of freedom.
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
    /// What the last combination decoded.
    pub(crate) decoded: Vec<Range>,
}

impl Default for Listener {
    fn default() -> Self {
        let decoder = Decoder::new(LIMIT);
        Listener { decoder, heard: Heard::default(), since: Time::ZERO, decoded: Vec::new() }
    }
}

impl Listener {
    /// The path begins again with segment `number`.
    pub(crate) fn start_at(&mut self, number: u32) {
        self.decoder.start_at(number);
    }

    /// A combination arrived; what it decodes is in `decoded`.
    pub(crate) fn on_data(&mut self, now: Time, data: &Data) {
        let waiting = now.since(self.since).seconds() * self.decoder.pending() as f64;
        self.heard.waited_s += waiting;
        self.since = now;
        self.decoded.clear();
        let (what, symbol) = (Combination::unpack(data.seq), tag(data.dsn, data.rtt_us));
        let decoded = &mut self.decoded;
        let innovative = self.decoder.on_packet(what, symbol, |_, tag| {
            let (start, len) = untag(tag);
            decoded.push(Range { start, end: start.saturating_add(u64::from(len)) });
        });
        self.heard.arrived += 1;
        self.heard.innovative += u64::from(innovative);
        self.heard.decoded += self.decoded.len() as u64;
    }

    /// Number of the first segment not seen; and of how many segments how many degrees of freedom arrived.
    pub(crate) fn seen(&self) -> (u64, Range) {
        let (rank, highest) = (self.decoder.rank(), self.decoder.highest());
        let known = Range { start: u64::from(rank), end: u64::from(highest) };
        (u64::from(self.decoder.first_unseen()), known)
    }

    pub(crate) fn heard(&self) -> Heard {
        Heard { pending: self.decoder.pending() as u64, ..self.heard }
    }
}
