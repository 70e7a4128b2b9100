//! A law in the steady state, for theory: windows, round trips and losses are given, and notes have
//! their long-run values.

use crate::MOST_NOTES;
use crate::dual::Dual;
use crate::graph::Symbol;
use crate::law::TextLaw;
use crate::number::Number;
use crate::program::Inputs;
use alloc::vec::Vec;

/// Growth and backoff of every path, and their derivatives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slopes {
    /// For each path, segments for one acknowledged segment.
    pub growth: Vec<f64>,
    /// For each path, segments.
    pub backoff: Vec<f64>,
    /// For each path, derivatives by the windows of all paths, then by their round trips, then by
    /// their losses.
    pub by_growth: Vec<Vec<f64>>,
    /// The same for backoff.
    pub by_backoff: Vec<Vec<f64>>,
}

/// A path in the steady state.
#[derive(Clone, Copy)]
struct Path<N> {
    window: N,
    rtt: N,
    loss: N,
    notes: [N; MOST_NOTES],
}

struct Paths<N>(Vec<Path<N>>);

impl<N: Number> Inputs<N> for Paths<N> {
    fn paths(&self) -> usize {
        self.0.len()
    }

    fn usable(&self, _path: usize) -> bool {
        true
    }

    fn read(&self, symbol: Symbol, path: usize) -> N {
        let Path { window, rtt, loss, notes } = self.0[path];
        match symbol {
            Symbol::Window => window,
            Symbol::Rtt => rtt,
            Symbol::Loss => loss,
            Symbol::Note(note) => notes[usize::from(note) % MOST_NOTES],
            // Neither formulas nor steady values read these.
            Symbol::Acked | Symbol::LastRtt => N::real(f64::NAN),
        }
    }
}

impl TextLaw {
    /// Growth and backoff at windows in segments, round trips in seconds and loss probabilities of
    /// `n` paths, with their exact derivatives.
    pub fn slopes(&self, windows: &[f64], rtts: &[f64], losses: &[f64]) -> Slopes {
        let count = windows.len();
        let mut found = Slopes::default();
        for me in 0..count {
            let mut rows = [Vec::new(), Vec::new()];
            for moving in 0..3 * count {
                let number = |values: &[f64], kind: usize, path: usize| Dual {
                    value: values[path],
                    slope: f64::from(u8::from(moving == kind * count + path)),
                };
                let path = |path| {
                    let window = number(windows, 0, path);
                    let (rtt, loss) = (number(rtts, 1, path), number(losses, 2, path));
                    self.settled(window, rtt, loss)
                };
                let paths = Paths((0..count).map(path).collect());
                let both = [self.growth(me, &paths), self.backoff(me, &paths)];
                if moving == 0 {
                    found.growth.push(both[0].value);
                    found.backoff.push(both[1].value);
                }
                rows.iter_mut().zip(both).for_each(|(row, value)| row.push(value.slope));
            }
            let [by_growth, by_backoff] = rows;
            found.by_growth.push(by_growth);
            found.by_backoff.push(by_backoff);
        }
        found
    }

    /// A path with its notes in the steady state.
    fn settled<N: Number>(&self, window: N, rtt: N, loss: N) -> Path<N> {
        let zero = [N::real(0.0); MOST_NOTES];
        let path = Path { window, rtt, loss, notes: zero };
        let mut notes = zero;
        self.steady(&mut notes, &Paths(alloc::vec![path]));
        Path { notes, ..path }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LAWS: [&str; 4] = [
        include_str!("../../../python/anabranch/laws/lia.law"),
        include_str!("../../../python/anabranch/laws/balia.law"),
        include_str!("../../../python/anabranch/laws/phi.law"),
        "a = exp(-rtt) + ln(w) - max(w - n, 1)^1.5\ngrowth = sqrt(l)/w + a\nbackoff = w_tot^0.5*rtt_min",
    ];

    proptest! {
        /// The differences are inexact here: by the curvature and by rounding.
        #[test]
        fn slopes_are_those_of_small_differences(
            paths in prop::collection::vec((2.0..100.0, 0.01..1.0, 0.001..0.1), 1..5),
        ) {
            let column = |of: fn(&(f64, f64, f64)) -> f64| paths.iter().map(of).collect::<Vec<f64>>();
            let state = [column(|path| path.0), column(|path| path.1), column(|path| path.2)];
            for text in LAWS {
                let law = TextLaw::read(text).unwrap();
                let at = |state: &[Vec<f64>; 3]| law.slopes(&state[0], &state[1], &state[2]);
                let exact = at(&state);
                for moving in 0..3 * paths.len() {
                    let (kind, path) = (moving / paths.len(), moving % paths.len());
                    let step = 1e-6 * state[kind][path];
                    let moved = |by: f64| {
                        let mut moved = state.clone();
                        moved[kind][path] += by;
                        at(&moved)
                    };
                    let (up, down) = (moved(step), moved(-step));
                    for me in 0..paths.len() {
                        let slope = (up.growth[me] - down.growth[me]) / (2.0 * step);
                        let scale = exact.growth[me].abs() / state[kind][path];
                        let near = (slope - exact.by_growth[me][moving]).abs();
                        prop_assert!(near < 1e-4 * (scale + slope.abs()), "{text}: {slope} {exact:?}");
                    }
                }
            }
        }
    }
}
