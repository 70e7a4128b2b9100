//! The receiving side of one coded path: Gaussian elimination as packets arrive.

use crate::{Combination, MAX_WINDOW, Symbol, field};
use alloc::{collections::VecDeque, vec::Vec};

#[cfg(test)]
mod tests;

/// What is known of one segment.
#[derive(Clone, Debug)]
enum Slot<S> {
    /// No row has it as its pivot.
    Unseen,
    /// Seen: it is the pivot of a row that has unseen segments.
    Row(Row<S>),
    /// Its symbol is known; it was delivered.
    Decoded(S),
    /// It counts as known, and its symbol is not (see [`Decoder::start_at`]).
    Gone,
}

/// `symbol` is the pivot plus each of `free` times its coefficient.
#[derive(Clone, Debug)]
struct Row<S> {
    /// Unseen segments above the pivot with coefficients that are not 0, in order. Never empty in a
    /// slot.
    free: Vec<(u32, u8)>,
    symbol: S,
}

/// The decoding matrix of one path, in reduced row echelon form after every packet.
///
/// Segments are delivered as soon as they are determined, which need not be in the order of their
/// numbers: only the segments that one packet decodes are in order. The caller reorders them.
///
/// Memory: at most `limit + MAX_WINDOW` slots, whatever arrives, and a row of at most `limit`
/// coefficients in each that is not decoded. Decoded symbols stay for `MAX_WINDOW` numbers below
/// the first one that is not decoded: what names an older segment names decoded ones alone and says
/// nothing new.
#[derive(Clone, Debug)]
pub struct Decoder<S> {
    /// The number of the first slot.
    offset: u32,
    slots: VecDeque<Slot<S>>,
    /// The first segment that is not decoded.
    undecoded: u32,
    /// The first segment that is not seen.
    unseen: u32,
    rank: u32,
    /// Rows of segments that are seen and not decoded.
    pending: usize,
    limit: u32,
    /// Coefficients of a packet, from the first unseen segment on; kept for its memory.
    scratch: Vec<u8>,
}

impl<S: Symbol> Decoder<S> {
    /// `limit`: segments that may be pending above the first undecoded one; packets that name
    /// others are refused. It should be more than a sender has in flight, and than a combination
    /// has segments.
    ///
    /// A packet that names no segment above [`Decoder::highest`] is never refused for it, so a
    /// sender that hears nothing new can always have everything decoded by combinations of what it
    /// has already sent.
    pub fn new(limit: usize) -> Self {
        Self {
            offset: 0,
            slots: VecDeque::new(),
            undecoded: 0,
            unseen: 0,
            rank: 0,
            pending: 0,
            limit: u32::try_from(limit).unwrap_or(u32::MAX).max(1),
            scratch: Vec::new(),
        }
    }

    /// A coded packet arrived. What it decodes goes to `deliver` with its number, in increasing
    /// order. Returns whether it was innovative.
    ///
    /// Not innovative, and without effect, is also a packet without segments, beyond the limit,
    /// whose numbers wrap, or that names a segment whose symbol is gone.
    pub fn on_packet(
        &mut self,
        what: Combination,
        mut symbol: S,
        mut deliver: impl FnMut(u32, S),
    ) -> bool {
        let Some(end) = what.end().filter(|end| self.admits(what.base, *end)) else {
            return false;
        };
        while self.highest() < end {
            self.slots.push_back(Slot::Unseen);
        }
        self.reduce(what, &mut symbol);
        // The numbers are asked for last: they would overflow behind the last segment that there
        // may be.
        let mut left = self.scratch.iter().copied().zip(self.unseen..).filter(|(c, _)| *c != 0);
        let Some((leading, pivot)) = left.next() else {
            return false;
        };
        let inverse = field::inverse(leading).unwrap_or(1); // it is not 0
        symbol.scale(inverse);
        let free = left.map(|(c, number)| (number, field::mul(c, inverse))).collect();
        self.insert(pivot, Row { free, symbol }, &mut deliver);
        true
    }

    /// The first segment that is not seen: what is acknowledged.
    pub fn first_unseen(&self) -> u32 {
        self.unseen
    }

    /// Segments that are seen, those before the start among them: one more for every innovative
    /// packet.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// One past the highest segment that any packet covered; a packet that was refused covered
    /// none.
    pub fn highest(&self) -> u32 {
        self.offset + self.slots.len() as u32 // no slot has the number u32::MAX
    }

    /// Segments that are seen and not decoded yet.
    pub fn pending(&self) -> usize {
        self.pending
    }

    /// Slots in memory.
    pub fn held(&self) -> usize {
        self.slots.len()
    }

    /// The path begins, or begins again, at segment `number`: all below it count as seen from now
    /// on, and what is not decoded of them is not delivered any more. Packets that still name such
    /// a segment are ignored.
    pub fn start_at(&mut self, number: u32) {
        if number > self.highest() {
            self.slots.clear();
            (self.offset, self.rank, self.pending) = (number, number, 0);
        }
        let below = number.saturating_sub(self.offset) as usize;
        for slot in self.slots.iter_mut().take(below) {
            match slot {
                Slot::Unseen => self.rank += 1,
                Slot::Row(_) => self.pending -= 1,
                Slot::Decoded(_) | Slot::Gone => continue,
            }
            *slot = Slot::Gone;
        }
        self.unseen = self.unseen.max(number);
        self.undecoded = self.undecoded.max(number);
        self.advance();
    }

    /// Whether the symbols of all segments from `base` to `end` are there, or have a place.
    fn admits(&self, base: u32, end: u32) -> bool {
        let Some(first) = base.checked_sub(self.offset) else {
            return false;
        };
        let room = self.undecoded.saturating_add(self.limit);
        let named = self.slots.iter().skip(first as usize).take((end - base) as usize);
        end <= room && !named.into_iter().any(|slot| matches!(slot, Slot::Gone))
    }

    /// Takes what is known out of a packet: unseen segments are left, their coefficients in
    /// `scratch`.
    fn reduce(&mut self, what: Combination, symbol: &mut S) {
        let unseen = self.unseen;
        self.scratch.clear();
        self.scratch.resize((self.highest() - unseen) as usize, 0);
        let named = self.slots.range((what.base - self.offset) as usize..);
        for ((c, slot), number) in what.coefficients().zip(named.clone()).zip(what.base..) {
            match slot {
                Slot::Unseen => self.scratch[(number - unseen) as usize] ^= c,
                Slot::Row(row) => {
                    for (free, factor) in &row.free {
                        self.scratch[(free - unseen) as usize] ^= field::mul(c, *factor);
                    }
                }
                Slot::Decoded(_) | Slot::Gone => {}
            }
        }
        let known = what.coefficients().zip(named).filter_map(|(c, slot)| match slot {
            Slot::Decoded(symbol) | Slot::Row(Row { symbol, .. }) => Some((c, symbol)),
            Slot::Unseen | Slot::Gone => None, // what is gone is not admitted
        });
        symbol.add_combination(known);
    }

    /// A new row. No other one has its pivot from now on, and those below it may have nothing free
    /// any more.
    fn insert(&mut self, pivot: u32, new: Row<S>, deliver: &mut impl FnMut(u32, S)) {
        let rows = (self.undecoded - self.offset) as usize..(pivot - self.offset) as usize;
        for (slot, number) in self.slots.range_mut(rows).zip(self.undecoded..) {
            let Slot::Row(row) = slot else { continue };
            row.eliminate(pivot, &new);
            if row.free.is_empty() {
                let symbol = core::mem::replace(&mut row.symbol, S::zero());
                deliver(number, symbol.clone());
                *slot = Slot::Decoded(symbol);
                self.pending -= 1;
            }
        }
        self.slots[(pivot - self.offset) as usize] = if new.free.is_empty() {
            deliver(pivot, new.symbol.clone());
            Slot::Decoded(new.symbol)
        } else {
            self.pending += 1;
            Slot::Row(new)
        };
        self.rank += 1;
        self.advance();
    }

    /// Moves the marks up to where they belong, and forgets symbols that no useful packet names.
    fn advance(&mut self) {
        let from = |number: u32| self.slots.range((number - self.offset) as usize..);
        let seen = from(self.unseen).take_while(|slot| !matches!(slot, Slot::Unseen)).count();
        let known = |slot: &&Slot<S>| matches!(slot, Slot::Decoded(_) | Slot::Gone);
        let decoded = from(self.undecoded).take_while(known).count();
        self.unseen += seen as u32;
        self.undecoded += decoded as u32;
        let old = (self.undecoded - self.offset).saturating_sub(MAX_WINDOW as u32);
        self.slots.drain(..old as usize);
        self.offset += old;
    }
}

impl<S: Symbol> Row<S> {
    /// Takes `pivot`, the pivot of `other`, out of what is free.
    fn eliminate(&mut self, pivot: u32, other: &Self) {
        let Ok(at) = self.free.binary_search_by_key(&pivot, |(number, _)| *number) else {
            return;
        };
        let (_, factor) = self.free.remove(at);
        self.symbol.add_scaled(factor, &other.symbol);
        let scaled = other.free.iter().map(|(number, c)| (*number, field::mul(factor, *c)));
        self.free = sum(&self.free, scaled);
    }
}

/// The sum of two sparse vectors whose entries are in order of their numbers.
fn sum(one: &[(u32, u8)], other: impl Iterator<Item = (u32, u8)>) -> Vec<(u32, u8)> {
    let mut sum = Vec::with_capacity(one.len() + other.size_hint().0);
    let mut rest = one;
    for (number, c) in other {
        let before = rest.partition_point(|(own, _)| *own < number);
        sum.extend_from_slice(&rest[..before]);
        rest = &rest[before..];
        let c = match rest.split_first() {
            Some(((own, factor), behind)) if *own == number => {
                rest = behind;
                c ^ factor
            }
            _ => c,
        };
        if c != 0 {
            sum.push((number, c));
        }
    }
    sum.extend_from_slice(rest);
    sum
}
