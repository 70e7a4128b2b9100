//! Cached values of pairs of stations at their present positions. A value is computed at its first
//! use after a move: most pairs never send to each other between two moves. Channels of one kind
//! with the same stations share them.

use crate::Position;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Marks a value that is not computed yet.
const UNKNOWN: u64 = f64::NAN.to_bits();

/// Values at the positions of the channel that moved last, by sender and receiver. They are atomic
/// only because a medium may be sent to another thread.
#[derive(Debug)]
pub(crate) struct Geometry {
    stations: usize,
    positions: Mutex<Vec<Position>>,
    /// How often the positions have changed.
    moves: AtomicU64,
    /// Received power in mW, the same both ways.
    power: Vec<AtomicU64>,
    /// Probability that a full packet arrives.
    success: Vec<AtomicU64>,
}

impl Geometry {
    fn new(positions: Vec<Position>) -> Self {
        let stations = positions.len();
        let unknown = || (0..stations * stations).map(|_| AtomicU64::new(UNKNOWN)).collect();
        let (power, success) = (unknown(), unknown());
        let (positions, moves) = (Mutex::new(positions), AtomicU64::new(0));
        Geometry { stations, positions, moves, power, success }
    }

    fn positions(&self) -> MutexGuard<'_, Vec<Position>> {
        self.positions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn moves(&self) -> u64 {
        self.moves.load(Ordering::Relaxed)
    }
}

fn known(value: &AtomicU64) -> Option<f64> {
    Some(f64::from_bits(value.load(Ordering::Relaxed))).filter(|value| !value.is_nan())
}

fn keep(value: &AtomicU64, known: f64) {
    value.store(known.to_bits(), Ordering::Relaxed);
}

/// The pairs of one channel.
#[derive(Debug)]
pub(super) struct Pairs {
    geometry: Arc<Geometry>,
    /// [`Geometry::moves`] at the positions of this channel. While another channel is ahead,
    /// nothing is cached.
    moves: u64,
}

impl Pairs {
    /// Pairs of stations at these positions.
    pub(super) fn new(positions: Vec<Position>) -> Self {
        Pairs { geometry: Arc::new(Geometry::new(positions)), moves: 0 }
    }

    /// The cached values, which other channels may share.
    pub(super) fn geometry(&self) -> &Arc<Geometry> {
        &self.geometry
    }

    /// Shares the values of another channel, whose stations are at the same positions.
    pub(super) fn share(&mut self, geometry: &Arc<Geometry>) {
        if *geometry.positions() == *self.geometry.positions() {
            (self.geometry, self.moves) = (geometry.clone(), geometry.moves());
        }
    }

    /// The stations moved to these positions.
    pub(super) fn move_to(&mut self, positions: &[Position]) {
        let Geometry { positions: present, moves, power, success, .. } = &*self.geometry;
        let mut present = present.lock().unwrap_or_else(PoisonError::into_inner);
        if **present != *positions {
            present.clear();
            present.extend_from_slice(positions);
            moves.fetch_add(1, Ordering::Relaxed);
            let all = power.iter().chain(success);
            all.for_each(|value| value.store(UNKNOWN, Ordering::Relaxed));
        }
        self.moves = moves.load(Ordering::Relaxed);
    }

    /// The number of moves until the present positions; `None` while another channel is ahead.
    pub(super) fn moves(&self) -> Option<u64> {
        Some(self.moves).filter(|moves| *moves == self.geometry.moves())
    }

    /// The received power; `computed` gives it if it is not known.
    pub(super) fn power(&self, from: usize, to: usize, computed: impl FnOnce() -> f64) -> f64 {
        self.value(&self.geometry.power, (from, to), true, computed)
    }

    /// The probability of success; `computed` gives it if it is not known. `mutual` says that it is
    /// the same both ways.
    pub(super) fn success(
        &self,
        from: usize,
        to: usize,
        mutual: bool,
        computed: impl FnOnce() -> f64,
    ) -> f64 {
        self.value(&self.geometry.success, (from, to), mutual, computed)
    }

    /// The value of a pair in `values`; `computed` gives it if it is not known, and `mutual` says
    /// that it is the same both ways.
    #[inline(always)] // runs for every frame
    fn value(
        &self,
        values: &[AtomicU64],
        (from, to): (usize, usize),
        mutual: bool,
        computed: impl FnOnce() -> f64,
    ) -> f64 {
        if self.moves().is_none() {
            return computed();
        }
        let stations = self.geometry.stations;
        let pair = &values[from * stations + to];
        if let Some(value) = known(pair) {
            debug_assert!(value == computed(), "the value from {from} to {to}, computed anew");
            return value;
        }
        let value = computed();
        keep(pair, value);
        if mutual {
            keep(&values[to * stations + from], value);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Some channels share their values. They move to the same places, but not at once.
        #[test]
        fn values_that_are_shared_are_those_of_the_channel_s_own_positions(
            steps in prop::collection::vec((0usize..3, 0usize..4, 0usize..4, prop::bool::ANY), 1..200),
        ) {
            let place = |at: usize, moves: usize| Position { x: (at * (1 + moves)) as f64, y: 0.0 };
            let places = |moves: usize| (0..4).map(|at| place(at, moves)).collect::<Vec<_>>();
            let mut all: Vec<_> = (0..3).map(|_| Pairs::new(places(0))).collect();
            let geometry = all[0].geometry().clone();
            all[1..].iter_mut().for_each(|pairs| pairs.share(&geometry));
            let mut moved = [0; 3];
            for (channel, from, to, moves) in steps {
                if moves {
                    moved[channel] += 1;
                    all[channel].move_to(&places(moved[channel]));
                }
                let right = place(from, moved[channel]).distance(place(to, moved[channel]));
                prop_assert_eq!(all[channel].power(from, to, || right), right);
                prop_assert_eq!(all[channel].success(from, to, moves, || right), right);
            }
        }
    }

    #[test]
    fn channels_at_other_positions_share_nothing() {
        let places = |x: f64| vec![Position::default(), Position { x, y: 0.0 }];
        let (one, mut other) = (Pairs::new(places(1.0)), Pairs::new(places(2.0)));
        assert_eq!(one.power(0, 1, || 1.0), 1.0);
        other.share(one.geometry());
        assert_eq!(other.power(0, 1, || 2.0), 2.0);
    }
}
