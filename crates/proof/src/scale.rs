//! Whether a law depends on the units of time and of windows: dimensions of its steps.

use formula::{One, PathSlots, Slot, Step, Tape, TextLaw, Two};

/// Powers of time and of windows in a number; `None` of a number that has no unit of its own, as
/// zero.
type Dimension = Option<[f64; 2]>;

/// Whether a law's formulas keep their meaning in another unit of time, and under windows that are
/// `s` times as large with losses of `1/s²`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scales {
    pub(crate) time: bool,
    pub(crate) window: bool,
}

/// Exact: sums and comparisons are of equal dimensions, and functions are of pure numbers.
pub(crate) fn scales(law: &TextLaw, paths: usize) -> Scales {
    let mut tape = Tape::default();
    let slots: Vec<PathSlots> = (0..paths as u8)
        .map(|path| PathSlots {
            window: tape.input(3 * path),
            rtt: tape.input(3 * path + 1),
            loss: tape.input(3 * path + 2),
        })
        .collect();
    let formulas = law.unroll(&mut tape, &slots);
    let kept = |unit: usize, growth: f64, backoff: f64| {
        let found = dimensions(&tape, unit);
        let is = |slot: Slot, power: f64| match found[usize::from(slot)] {
            Some(None) => true,
            Some(Some(own)) => own == power,
            None => false,
        };
        formulas.iter().all(|path| is(path.growth, growth) && is(path.backoff, backoff))
    };
    let known = !tape.is_full();
    Scales { time: known && kept(0, 0.0, 0.0), window: known && kept(1, -1.0, 1.0) }
}

/// For each step its power of the unit, `Some(None)` of a number that has none, `None` of one that
/// mixes powers.
fn dimensions(tape: &Tape, unit: usize) -> Vec<Option<Option<f64>>> {
    let of_input = |input: u8| -> Dimension {
        Some([[0.0, 1.0], [1.0, 0.0], [0.0, -2.0]][usize::from(input % 3)])
    };
    let mut all: Vec<Option<Option<f64>>> = Vec::new();
    for step in tape.steps() {
        let of = |slot: Slot| all[usize::from(slot)];
        let constant = |slot: Slot| match tape.steps()[usize::from(slot)] {
            Step::Constant(value) => Some(value),
            _ => None,
        };
        let pure = |slot: Slot| matches!(of(slot), Some(None | Some(0.0)));
        let alike = |a: Slot, b: Slot| match (of(a)?, of(b)?) {
            (None, other) | (other, None) => Some(other),
            (Some(a), Some(b)) => (a == b).then_some(Some(a)),
        };
        let scaled = |a: Slot, by: f64| Some(of(a)?.map(|power| power * by));
        let found = match *step {
            Step::Input(input) => Some(of_input(input).map(|powers| powers[unit])),
            Step::Constant(value) => Some((value != 0.0 && value.is_finite()).then_some(0.0)),
            Step::One(One::Negative | One::Magnitude, a) => of(a),
            Step::One(One::Root, a) => scaled(a, 0.5),
            Step::One(One::Exponential | One::Logarithm | One::Not, a) => {
                pure(a).then_some(Some(0.0))
            }
            Step::Two(Two::Plus | Two::Minus | Two::Least | Two::Most, a, b) => alike(a, b),
            Step::Two(Two::Times, a, b) => match (of(a), of(b)) {
                (Some(None), Some(_)) | (Some(_), Some(None)) => Some(None),
                (Some(Some(a)), Some(Some(b))) => Some(Some(a + b)),
                _ => None,
            },
            Step::Two(Two::Over, a, b) => match (of(a), of(b)) {
                (Some(None), Some(_)) => Some(None),
                (Some(Some(a)), Some(Some(b))) => Some(Some(a - b)),
                _ => None,
            },
            Step::Two(Two::Power, a, b) => match constant(b) {
                Some(power) => scaled(a, power),
                None => (pure(a) && pure(b)).then_some(Some(0.0)),
            },
            Step::Two(Two::Less | Two::LessEqual | Two::Equal, a, b) => {
                alike(a, b).map(|_| Some(0.0))
            }
            Step::Two(Two::And | Two::Or, a, b) => alike(a, b),
            Step::Whole(a, n) => scaled(a, f64::from(n)),
            Step::Choose(c, a, b) => of(c).and_then(|_| alike(a, b)),
        };
        all.push(found);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdicts::ALL;

    fn of(text: &str) -> (bool, bool) {
        let Scales { time, window } = scales(&TextLaw::read(text).unwrap(), 2);
        (time, window)
    }

    #[test]
    fn shipped_laws_have_no_unit() {
        for text in ALL {
            assert_eq!(of(text), (true, true), "{text}");
        }
    }

    #[test]
    fn a_number_with_a_unit_of_its_own_is_found() {
        assert_eq!(of("growth = min(1/w, 0.1)\nbackoff = w/2"), (true, false));
        assert_eq!(of("growth = min(rtt, 1)/w\nbackoff = w/2"), (false, true));
        assert_eq!(of("growth = if w > 20 then 1/w else 2/w\nbackoff = w/2"), (true, false));
        assert_eq!(of("growth = if l > 20 then 1/w else 2/w\nbackoff = w/2"), (true, false));
        assert_eq!(of("growth = 1/w\nbackoff = max(w/2, 1)"), (true, false));
        assert_eq!(of("growth = 1/w^2\nbackoff = w/2"), (true, false));
    }
}
