//! The receiving side of one coded path: Gaussian elimination at each arrival.

use crate::field::{self, Block, Multiples, SHORT};
use crate::{Combination, MAX_WINDOW, Symbol};
use alloc::{collections::VecDeque, vec::Vec};

#[cfg(test)]
mod tests;

/// A block of coefficients that are all 0.
const ZERO: Block = [0; SHORT];

/// The state of one segment.
#[derive(Clone, Debug)]
enum Slot<S> {
    /// Not the pivot of a row; rows have its coefficients in this column.
    Unseen(u32),
    /// Seen: the pivot of a row with unseen segments.
    Row(Row<S>),
    /// Decoded: its symbol is known and was delivered.
    Decoded(S),
    /// Counts as decoded without a known symbol (see [`Decoder::start_at`]).
    Gone,
}

/// A row: `symbol` is the pivot plus each of `free` times its coefficient.
#[derive(Clone, Debug)]
struct Row<S> {
    /// A coefficient for each column; missing ones at the end are 0; in a slot at least one is not
    /// 0. Only unseen segments above the pivot have coefficients other than 0.
    free: Vec<Block>,
    symbol: S,
}

/// The decoding matrix of one path, in reduced row echelon form after every packet.
///
/// Segments are delivered as soon as they are determined, which need not be in the order of their
/// numbers: only the segments that one packet decodes are in order. The caller reorders them.
///
/// Memory: at most `limit + MAX_WINDOW` slots, for arbitrary packets. Each slot that is not decoded
/// has a row of a byte for each unseen segment, at most `limit`, and up to the end of a block: a
/// quarter of `limit`² when half of them are seen. Decoded symbols stay for `MAX_WINDOW` numbers
/// below the first segment that is not decoded: a packet with an older segment has only decoded
/// ones and is not innovative.
#[derive(Clone, Debug)]
pub struct Decoder<S> {
    /// The number of the first slot.
    offset: u32,
    slots: VecDeque<Slot<S>>,
    /// The segment at which the path last started: slots without a symbol are all below it.
    start: u32,
    /// The first segment that is not decoded.
    undecoded: u32,
    /// The first segment that is not seen.
    unseen: u32,
    rank: u32,
    /// Rows of segments that are seen but not decoded.
    pending: usize,
    limit: u32,
    columns: Columns,
    /// Coefficients of a packet, one for each column; kept for its memory.
    scratch: Vec<Block>,
}

/// Each unseen segment has its own column. Columns are reused, so that the length of rows is the
/// largest number of unseen segments at one time, instead of the width of the window of numbers.
#[derive(Clone, Debug, Default)]
struct Columns {
    count: u32,
    /// Free columns: they are 0 in every row.
    spare: Vec<u32>,
}

impl Columns {
    fn take(&mut self) -> u32 {
        self.spare.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        })
    }
}

impl<S: Symbol> Decoder<S> {
    /// `limit`: segments that may be pending above the first undecoded one; packets with segments
    /// beyond are refused. It should be larger than a sender's data in flight, and than the window
    /// of a combination.
    ///
    /// A packet with no segment above [`Decoder::highest`] is never refused for the limit. So a
    /// sender without new acknowledgements can always get everything decoded by combinations of
    /// data that it has already sent.
    pub fn new(limit: usize) -> Self {
        Self {
            offset: 0,
            slots: VecDeque::new(),
            start: 0,
            undecoded: 0,
            unseen: 0,
            rank: 0,
            pending: 0,
            limit: u32::try_from(limit).unwrap_or(u32::MAX).max(1),
            columns: Columns::default(),
            scratch: Vec::new(),
        }
    }

    /// A coded packet arrived. Segments that it decodes go to `deliver` with their numbers, in
    /// increasing order. Returns whether it was innovative.
    ///
    /// These packets are also not innovative, and have no effect: packets without segments, beyond
    /// the limit, with numbers that wrap, or with a segment whose symbol is gone.
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
            self.slots.push_back(Slot::Unseen(self.columns.take()));
        }
        self.reduce(what, &mut symbol);
        let Some((pivot, column)) = self.leading() else {
            return false;
        };
        let leading = core::mem::take(&mut self.scratch.as_flattened_mut()[column as usize]);
        let inverse = field::inverse(leading).unwrap_or(1); // it is not 0
        symbol.scale(inverse);
        let used = self.scratch.iter().rposition(|block| *block != ZERO);
        let mut free = self.scratch[..used.map_or(0, |last| last + 1)].to_vec();
        field::scale(free.as_flattened_mut(), inverse);
        self.insert((pivot, column), Row { free, symbol }, &mut deliver);
        true
    }

    /// The first unseen segment with a coefficient in `scratch`, and its column.
    fn leading(&self) -> Option<(u32, u32)> {
        if self.scratch.iter().all(|block| *block == ZERO) {
            return None;
        }
        let scratch = self.scratch.as_flattened();
        let slots = self.slots.range((self.unseen - self.offset) as usize..);
        // Numbers come second in the zip: they would overflow after the last possible segment.
        slots.zip(self.unseen..).find_map(|(slot, number)| match slot {
            Slot::Unseen(column) if scratch[*column as usize] != 0 => Some((number, *column)),
            _ => None,
        })
    }

    /// The first segment that is not seen: the acknowledgement.
    pub fn first_unseen(&self) -> u32 {
        self.unseen
    }

    /// Number of seen segments, including those before the start: one more for every innovative
    /// packet.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// One past the highest segment in any packet; refused packets do not count.
    pub fn highest(&self) -> u32 {
        self.offset + self.slots.len() as u32 // u32::MAX is never the number of a slot
    }

    /// Segments that are seen but not decoded yet.
    pub fn pending(&self) -> usize {
        self.pending
    }

    /// Slots in memory.
    pub fn held(&self) -> usize {
        self.slots.len()
    }

    /// The path starts, or restarts, at segment `number`. All segments below count as seen from now
    /// on; those not decoded are never delivered. Packets with such a segment are ignored.
    pub fn start_at(&mut self, number: u32) {
        if number > self.highest() {
            self.slots.clear();
            self.columns = Columns::default();
            (self.offset, self.rank, self.pending) = (number, number, 0);
        }
        let below = number.saturating_sub(self.offset) as usize;
        for slot in self.slots.iter_mut().take(below) {
            match slot {
                Slot::Unseen(column) => {
                    self.columns.spare.push(*column); // rows above are zero below their pivot
                    self.rank += 1;
                }
                Slot::Row(_) => self.pending -= 1,
                Slot::Decoded(_) | Slot::Gone => continue,
            }
            *slot = Slot::Gone;
        }
        self.start = self.start.max(number);
        self.unseen = self.unseen.max(number);
        self.undecoded = self.undecoded.max(number);
        self.advance();
    }

    /// Whether the symbols of all segments from `base` to `end` are known, or have a slot.
    fn admits(&self, base: u32, end: u32) -> bool {
        let Some(first) = base.checked_sub(self.offset) else {
            return false;
        };
        let room = self.undecoded.saturating_add(self.limit);
        let old = end.min(self.start).saturating_sub(base); // zero for most packets
        let mut old = self.slots.iter().skip(first as usize).take(old as usize);
        end <= room && !old.any(|slot| matches!(slot, Slot::Gone))
    }

    /// Removes known segments from a packet: unseen segments remain, with their coefficients in
    /// `scratch`.
    fn reduce(&mut self, what: Combination, symbol: &mut S) {
        self.scratch.clear();
        self.scratch.resize((self.columns.count as usize).div_ceil(SHORT), ZERO);
        let named = self.slots.range((what.base - self.offset) as usize..);
        if self.pending > 0 {
            let rows = what.coefficients().zip(named.clone()).filter_map(|(c, slot)| match slot {
                Slot::Row(row) => Some((c, &row.free[..])),
                _ => None,
            });
            let rows: Vec<_> = rows.collect();
            for (at, block) in self.scratch.iter_mut().enumerate() {
                let terms = rows.iter().filter_map(|(c, free)| Some((*c, free.get(at)?)));
                field::add_short_combination(block, terms);
            }
        }
        let scratch = self.scratch.as_flattened_mut();
        let known = what.coefficients().zip(named).filter_map(|(c, slot)| match slot {
            Slot::Unseen(column) => {
                scratch[*column as usize] ^= c;
                None
            }
            Slot::Row(Row { symbol, .. }) | Slot::Decoded(symbol) => Some((c, symbol)),
            Slot::Gone => None, // not admitted
        });
        symbol.add_combination(known);
    }

    /// Inserts a row. Its pivot is eliminated from the other rows; rows below may then have nothing
    /// free any more.
    fn insert(
        &mut self,
        (pivot, column): (u32, u32),
        new: Row<S>,
        deliver: &mut impl FnMut(u32, S),
    ) {
        let multiples = Multiples::new(if self.pending > 0 { &new.free } else { &[] });
        let rows = (self.undecoded - self.offset) as usize..(pivot - self.offset) as usize;
        for (slot, number) in self.slots.range_mut(rows).zip(self.undecoded..) {
            let Slot::Row(row) = slot else { continue };
            if row.eliminate(column as usize, &new.symbol, &multiples) {
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
        self.columns.spare.push(column);
        self.rank += 1;
        self.advance();
    }

    /// Moves the marks forward, and drops symbols that no innovative packet can need.
    fn advance(&mut self) {
        let from = |number: u32| self.slots.range((number - self.offset) as usize..);
        let seen = from(self.unseen).take_while(|slot| !matches!(slot, Slot::Unseen(_))).count();
        let known = |slot: &&Slot<S>| matches!(slot, Slot::Decoded(_) | Slot::Gone);
        let decoded = from(self.undecoded).take_while(known).count();
        self.unseen += seen as u32;
        self.undecoded += decoded as u32;
        if self.unseen == self.highest() {
            // No row with coefficients is left: after a wide gap rows are short again.
            self.columns.count = 0;
            self.columns.spare.clear();
        }
        let old = (self.undecoded - self.offset).saturating_sub(MAX_WINDOW as u32);
        self.slots.drain(..old as usize);
        self.offset += old;
    }
}

impl<S: Symbol> Row<S> {
    /// Eliminates the pivot of another row, which has `column`, from the free coefficients. Returns
    /// whether nothing is free any more.
    fn eliminate(&mut self, column: usize, symbol: &S, multiples: &Multiples) -> bool {
        let coefficient = self.free.as_flattened_mut().get_mut(column);
        let factor = coefficient.map_or(0, core::mem::take);
        if factor == 0 {
            return false;
        }
        self.symbol.add_scaled(factor, symbol);
        self.free.resize(self.free.len().max(multiples.blocks()), ZERO);
        multiples.add_to(&mut self.free, factor);
        self.free.iter().all(|block| *block == ZERO)
    }
}
