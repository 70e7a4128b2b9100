//! The receiving side of one coded path: Gaussian elimination as packets arrive.

use crate::{Combination, MAX_WINDOW, Symbol, field};
use alloc::{collections::VecDeque, vec::Vec};

#[cfg(test)]
mod tests;

/// What is known of one segment.
#[derive(Clone, Debug)]
enum Slot<S> {
    /// No row has it as its pivot; rows have its coefficients in this column.
    Unseen(u32),
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
    /// A coefficient for each column, those behind the last one are 0; not all are 0 in a slot.
    /// Only unseen segments above the pivot have others than 0.
    free: Vec<u8>,
    symbol: S,
}

/// The decoding matrix of one path, in reduced row echelon form after every packet.
///
/// Segments are delivered as soon as they are determined, which need not be in the order of their
/// numbers: only the segments that one packet decodes are in order. The caller reorders them.
///
/// Memory: at most `limit + MAX_WINDOW` slots, whatever arrives, and in each that is not decoded a
/// row of at most `limit` bytes, one for each unseen segment: a quarter of `limit`² when half of
/// them are seen. Decoded symbols stay for `MAX_WINDOW` numbers below the first one that is not
/// decoded: what names an older segment names decoded ones alone and says nothing new.
#[derive(Clone, Debug)]
pub struct Decoder<S> {
    /// The number of the first slot.
    offset: u32,
    slots: VecDeque<Slot<S>>,
    /// Where the path began last: only below it is a slot gone.
    start: u32,
    /// The first segment that is not decoded.
    undecoded: u32,
    /// The first segment that is not seen.
    unseen: u32,
    rank: u32,
    /// Rows of segments that are seen and not decoded.
    pending: usize,
    limit: u32,
    columns: Columns,
    /// Coefficients of a packet, one for each column; kept for its memory.
    scratch: Vec<u8>,
}

/// Each unseen segment has a column of its own. Columns are used again, so that rows are as long as
/// most segments were unseen at one time, and not as the window of numbers is.
#[derive(Clone, Debug, Default)]
struct Columns {
    count: u32,
    /// Those that no segment has: they are 0 in every row.
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
            self.slots.push_back(Slot::Unseen(self.columns.take()));
        }
        self.reduce(what, &mut symbol);
        let Some((pivot, column)) = self.leading() else {
            return false;
        };
        let leading = core::mem::take(&mut self.scratch[column as usize]);
        let inverse = field::inverse(leading).unwrap_or(1); // it is not 0
        symbol.scale(inverse);
        let length = self.scratch.iter().rposition(|c| *c != 0).map_or(0, |last| last + 1);
        let mut free = self.scratch[..length].to_vec();
        field::scale(&mut free, inverse);
        self.insert((pivot, column), Row { free, symbol }, &mut deliver);
        true
    }

    /// The first unseen segment with a coefficient in `scratch`, and its column.
    fn leading(&self) -> Option<(u32, u32)> {
        if self.scratch.iter().all(|c| *c == 0) {
            return None;
        }
        let slots = self.slots.range((self.unseen - self.offset) as usize..);
        // The numbers are asked for last: they would overflow behind the last segment that there
        // may be.
        slots.zip(self.unseen..).find_map(|(slot, number)| match slot {
            Slot::Unseen(column) if self.scratch[*column as usize] != 0 => Some((number, *column)),
            _ => None,
        })
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
            self.columns = Columns::default();
            (self.offset, self.rank, self.pending) = (number, number, 0);
        }
        let below = number.saturating_sub(self.offset) as usize;
        for slot in self.slots.iter_mut().take(below) {
            match slot {
                Slot::Unseen(column) => {
                    self.columns.spare.push(*column); // rows above have nothing below their pivot
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

    /// Whether the symbols of all segments from `base` to `end` are there, or have a place.
    fn admits(&self, base: u32, end: u32) -> bool {
        let Some(first) = base.checked_sub(self.offset) else {
            return false;
        };
        let room = self.undecoded.saturating_add(self.limit);
        let old = end.min(self.start).saturating_sub(base); // most packets name none
        let mut old = self.slots.iter().skip(first as usize).take(old as usize);
        end <= room && !old.any(|slot| matches!(slot, Slot::Gone))
    }

    /// Takes what is known out of a packet: unseen segments are left, their coefficients in
    /// `scratch`.
    fn reduce(&mut self, what: Combination, symbol: &mut S) {
        self.scratch.clear();
        self.scratch.resize(self.columns.count as usize, 0);
        let scratch = &mut self.scratch;
        let named = self.slots.range((what.base - self.offset) as usize..);
        let known = what.coefficients().zip(named).filter_map(|(c, slot)| match slot {
            Slot::Unseen(column) => {
                scratch[*column as usize] ^= c;
                None
            }
            Slot::Row(row) => {
                field::add_scaled(scratch, c, &row.free);
                Some((c, &row.symbol))
            }
            Slot::Decoded(symbol) => Some((c, symbol)),
            Slot::Gone => None, // it is not admitted
        });
        symbol.add_combination(known);
    }

    /// A new row. No other one has its pivot from now on, and those below it may have nothing free
    /// any more.
    fn insert(
        &mut self,
        (pivot, column): (u32, u32),
        new: Row<S>,
        deliver: &mut impl FnMut(u32, S),
    ) {
        let rows = (self.undecoded - self.offset) as usize..(pivot - self.offset) as usize;
        for (slot, number) in self.slots.range_mut(rows).zip(self.undecoded..) {
            let Slot::Row(row) = slot else { continue };
            if row.eliminate(column as usize, &new) {
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

    /// Moves the marks up to where they belong, and forgets symbols that no useful packet names.
    fn advance(&mut self) {
        let from = |number: u32| self.slots.range((number - self.offset) as usize..);
        let seen = from(self.unseen).take_while(|slot| !matches!(slot, Slot::Unseen(_))).count();
        let known = |slot: &&Slot<S>| matches!(slot, Slot::Decoded(_) | Slot::Gone);
        let decoded = from(self.undecoded).take_while(known).count();
        self.unseen += seen as u32;
        self.undecoded += decoded as u32;
        if self.unseen == self.highest() {
            // No row is left that could have coefficients: after a wide gap rows are short again.
            self.columns.count = 0;
            self.columns.spare.clear();
        }
        let old = (self.undecoded - self.offset).saturating_sub(MAX_WINDOW as u32);
        self.slots.drain(..old as usize);
        self.offset += old;
    }
}

impl<S: Symbol> Row<S> {
    /// Takes the pivot of `other`, which has `column`, out of what is free. Returns whether nothing
    /// is free any more.
    fn eliminate(&mut self, column: usize, other: &Self) -> bool {
        let factor = self.free.get_mut(column).map_or(0, core::mem::take);
        if factor == 0 {
            return false;
        }
        self.symbol.add_scaled(factor, &other.symbol);
        self.free.add_scaled(factor, &other.free);
        self.free.iter().all(|c| *c == 0)
    }
}
