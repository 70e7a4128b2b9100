//! Pending wake-ups of up to some thousand sources, in a tournament (Knuth, The Art of Computer
//! Programming, volume 3, §5.4.1): each source is a leaf, and each node above has the earlier of
//! its two children. Sources that are woken often are nearer to the root.
//!
//! A timing wheel takes as many instructions, but it cycles through its slots, which evicts
//! everything else from the first-level cache; the keys of some hundred sources are a few
//! kilobytes. With so many a whole run is faster by a sixth in a tournament, with six thousand by a
//! tenth.

use crate::event_source::EventSource;
use units::Time;

/// Most sources in a tournament.
pub(super) const MOST: usize = 1 << 13;
/// Nodes: the deepest leaf has two more than the logarithm of all sources, rounded up, above it.
const NODES: usize = 4 * MOST;
/// Bits of a source in a key.
const BITS: u32 = MOST.trailing_zeros();
/// A wake-up at this time or later never happens: 26 days.
pub(super) const LATEST: Time = Time((1 << (64 - BITS)) - 1);

/// The time of a wake-up and, in the lower bits, its source: integers that are in total order.
type Key = u64;

/// The key of a source without a pending wake-up, or a later one.
const NEVER: Key = LATEST.0 << BITS;

fn key(source: EventSource, when: Time) -> Key {
    when.min(LATEST).0 << BITS | u64::from(source.0)
}

/// The leaf of each source, by Shannon's code (A Mathematical Theory of Communication, 1948, §9): a
/// source with a share `p` of the wake-ups has a depth of log2(1/p), rounded up.
fn leaves(weights: &[u32]) -> Box<[u16; MOST]> {
    let (sources, total) = (weights.len() as u64, weights.iter().map(|it| u64::from(*it)).sum());
    let total = u64::max(total, 1);
    // The mean of its share and of an equal share, which limits the depth.
    let depth = |weight: u32| {
        let twice = u64::from(weight) * sources + total;
        (2 * total * sources).div_ceil(twice).next_power_of_two().trailing_zeros()
    };
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|source| depth(weights[*source]));
    let mut leaves = Box::new([0; MOST]);
    let mut leaf = 1;
    for source in order {
        // From the leaf after the last one down to this depth: always along the left edge.
        leaf <<= depth(weights[source]) - u32::ilog2(leaf);
        leaves[source] = leaf as u16;
        leaf += 1;
    }
    leaves
}

/// Wake-ups of up to [`MOST`] sources, in total order: by time, then by source.
pub(crate) struct Tournament {
    /// Node 1 is the earliest of all; below node `i` are `2 i` and `2 i + 1`.
    keys: Box<[Key; NODES]>,
    /// The node of each source: a leaf.
    leaves: Box<[u16; MOST]>,
}

impl Tournament {
    /// A tournament of sources that are woken about as often as `weights` says, compared with each
    /// other.
    pub(super) fn new(weights: &[u32]) -> Self {
        let keys: Box<[Key]> = vec![NEVER; NODES].into();
        let keys = keys.try_into().expect("as many");
        Tournament { keys, leaves: leaves(weights) }
    }

    fn leaf(&self, source: usize) -> usize {
        usize::from(self.leaves[source % MOST]) % NODES
    }

    /// Gives a source a new key, earlier or later.
    #[inline(always)] // runs for every event
    fn replay(&mut self, source: usize, key: Key) {
        let mut node = self.leaf(source);
        self.keys[node] = key;
        let mut first = key;
        while node > 1 {
            first = first.min(self.keys[(node ^ 1) % NODES]);
            node /= 2;
            self.keys[node % NODES] = first;
        }
    }

    /// Gives a source an earlier key than it had.
    #[inline(always)] // runs for every hop
    fn advance_to(&mut self, source: usize, key: Key) {
        let mut node = self.leaf(source);
        while node > 0 && key < self.keys[node % NODES] {
            self.keys[node % NODES] = key;
            node /= 2;
        }
    }

    /// Wakes `source` at `when`, unless an earlier wake-up is pending.
    #[inline(always)] // runs for every hop
    pub(super) fn schedule(&mut self, source: EventSource, when: Time) {
        self.advance_to(source.index(), key(source, when));
    }

    /// Replaces the wake-up of `source`, the one returned last, by one at `next`, if there is one.
    #[inline(always)] // runs for every event
    pub(super) fn follow(&mut self, source: EventSource, next: Option<Time>) {
        self.replay(source.index(), next.map_or(NEVER, |when| key(source, when)));
    }

    /// Wakes `source` at `when`, whatever was pending.
    pub(super) fn reschedule(&mut self, source: EventSource, when: Time) {
        let key = key(source, when);
        // A medium that is offered a packet mostly keeps its next wake-up.
        if self.keys[self.leaf(source.index())] != key {
            self.replay(source.index(), key);
        }
    }

    /// The next wake-up at or before `end`. It stays until it is replaced.
    #[inline(always)] // it has one caller
    pub(super) fn pop(&self, end: Time) -> Option<(Time, EventSource)> {
        let first = self.keys[1];
        let when = Time(first >> BITS);
        if when > end.min(Time(LATEST.0 - 1)) {
            return None;
        }
        Some((when, EventSource(first as u32 % MOST as u32)))
    }
}
