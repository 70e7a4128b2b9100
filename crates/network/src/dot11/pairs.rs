//! Cached values of pairs of stations at their present positions. A value is computed at its first
//! use after a move: most pairs never send to each other between two moves.

use std::cell::Cell;

/// Marks a value that is not computed yet.
const UNKNOWN: f64 = f64::NAN;

/// By sender and receiver.
#[derive(Debug)]
pub(super) struct Pairs {
    stations: usize,
    /// Received power in mW, the same both ways.
    power: Vec<Cell<f64>>,
    /// Probability that a full packet arrives.
    success: Vec<Cell<f64>>,
}

impl Pairs {
    /// Pairs of this many stations.
    pub(super) fn new(stations: usize) -> Self {
        let unknown = || vec![Cell::new(UNKNOWN); stations * stations];
        Pairs { stations, power: unknown(), success: unknown() }
    }

    /// The stations moved.
    pub(super) fn forget(&mut self) {
        self.power.fill(Cell::new(UNKNOWN));
        self.success.fill(Cell::new(UNKNOWN));
    }

    /// The received power; `computed` gives it if it is not known.
    pub(super) fn power(&self, from: usize, to: usize, computed: impl FnOnce() -> f64) -> f64 {
        let (pair, back) = (from * self.stations + to, to * self.stations + from);
        let known = self.power[pair].get();
        if !known.is_nan() {
            return known;
        }
        let power = computed();
        self.power[pair].set(power);
        self.power[back].set(power);
        power
    }

    /// The probability of success; `computed` gives it if it is not known.
    pub(super) fn success(&self, from: usize, to: usize, computed: impl FnOnce() -> f64) -> f64 {
        let cell = &self.success[from * self.stations + to];
        if cell.get().is_nan() {
            cell.set(computed());
        }
        cell.get()
    }
}
