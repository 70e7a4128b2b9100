//! Random laws: a tape has the numbers of the law's program, also where comparisons tie.

#[path = "common/random.rs"]
mod random;

use anabranch_formula::{
    Enclosure, FormulaSlots, Inputs, Number, PathSlots, Slot, Symbol, Tape, TextLaw, Two,
};
use proptest::prelude::*;

/// Windows, round trips and losses.
struct Settled<'a, N> {
    law: &'a TextLaw,
    paths: &'a [[N; 3]],
}

impl<N: Number> Inputs<N> for Settled<'_, N> {
    fn paths(&self) -> usize {
        self.paths.len()
    }

    fn usable(&self, _path: usize) -> bool {
        true
    }

    fn read(&self, symbol: Symbol, path: usize) -> N {
        let [window, rtt, loss] = self.paths[path];
        match symbol {
            Symbol::Window => window,
            Symbol::Rtt => rtt,
            Symbol::Note(note) => {
                let note = &self.law.notes()[usize::from(note)];
                // The prelude's notes have these values in the steady state, others their first.
                match note.name.as_str() {
                    "between_losses" => N::two(Two::Over, N::real(1.0), loss),
                    "least_rtt" => rtt,
                    _ => N::real(note.initial),
                }
            }
            _ => loss,
        }
    }
}

fn unrolled(law: &TextLaw, count: usize) -> (Tape, Vec<FormulaSlots>) {
    let mut tape = Tape::default();
    let path = |path: u8| PathSlots {
        window: tape.input(3 * path),
        rtt: tape.input(3 * path + 1),
        loss: tape.input(3 * path + 2),
    };
    let paths: Vec<PathSlots> = (0..count as u8).map(path).collect();
    let formulas = law.unroll(&mut tape, &paths);
    (tape, formulas)
}

/// A condition whose sides are often equal: multiples of the same number in any order.
fn tie(draw: random::Draw<'_>) -> String {
    const NUMBERS: [&str; 7] =
        ["w", "rtt", "max_s(w_s)", "min_s(w_s)", "max(w, 4)", "min(x, w_tot)", "(w - max_s(w_s))"];
    const FACTORS: [&str; 6] = ["0.5", "0.5", "2", "1", "(-0.5)", "0.37"];
    let first = draw(NUMBERS.len());
    // Mostly the same number on both sides.
    let second = if draw(3) == 0 { draw(NUMBERS.len()) } else { first };
    let mut side = |number: usize| {
        let (number, factor) = (NUMBERS[number], FACTORS[draw(FACTORS.len())]);
        match draw(3) {
            0 => format!("{number}*{factor}"),
            1 => format!("{factor}*{number}"),
            _ => number.into(),
        }
    };
    let (left, right) = (side(first), side(second));
    let sign = ["<", "<=", ">", ">=", "==", "!="][draw(6)];
    format!("{left} {sign} {right}")
}

/// Values of which some are often equal, and at the edges of the domain.
fn paths() -> impl Strategy<Value = Vec<[f64; 3]>> {
    let window = prop_oneof![Just(1.0), Just(4.0), Just(20.0), Just(16_777_216.0), 1.0..100.0];
    let rtt = prop_oneof![Just(0.1), Just(1.0), Just(0.05), 0.01..1.0];
    let loss = prop_oneof![Just(0.01), Just(0.5), 0.001..0.1];
    prop::collection::vec((window, rtt, loss).prop_map(|(w, r, p)| [w, r, p]), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Growth and backoff are the same doubles: no rewriting changes how they are rounded. What is
    /// computed otherwise is a number that both enclose.
    #[test]
    fn a_tape_of_a_random_law_has_the_numbers_of_its_program(
        seeds in prop::collection::vec(any::<u32>(), 400), paths in paths(), ties in any::<bool>(),
    ) {
        let mut seeds = seeds.iter().cycle();
        let mut at = 0_usize;
        let mut draw = |below: usize| {
            at += 1;
            (*seeds.next().unwrap() as usize).wrapping_add(at / 400) % below
        };
        let mut text = random::law(&mut draw);
        if ties {
            let (one, two) = (tie(&mut draw), tie(&mut draw));
            text = text.replace("growth = ", &format!("growth = (if {one} then 4 else 1)/w + "));
            text = text.replace("backoff = ", &format!("backoff = w*(if {two} then 0.5 else 0.25) + "));
        }
        let Ok(law) = TextLaw::read(&text) else {
            return Ok(());
        };
        let (tape, formulas) = unrolled(&law, paths.len());
        if tape.is_full() {
            return Ok(());
        }
        let flat: Vec<f64> = paths.iter().flatten().copied().collect();
        let points: Vec<[Enclosure; 3]> =
            paths.iter().map(|path| path.map(Enclosure::point)).collect();
        let around: Vec<Enclosure> = points.iter().flatten().copied().collect();
        let (mut values, mut enclosed) = (Vec::new(), Vec::new());
        tape.run(&flat, &mut values);
        tape.run(&around, &mut enclosed);
        let own = Settled { law: &law, paths: &paths };
        let wide = Settled { law: &law, paths: &points };
        for (me, path) in formulas.iter().enumerate() {
            let of = |slot: Slot| values[usize::from(slot)];
            let all = |slot: Slot| enclosed[usize::from(slot)];
            let (growth, backoff): (f64, f64) = (law.growth(me, &own), law.backoff(me, &own));
            for (slot, value) in [(path.growth, growth), (path.backoff, backoff)] {
                let same = of(slot) == value || of(slot).is_nan() && value.is_nan();
                prop_assert!(same, "{text}: {} is {value} at {paths:?}", of(slot));
                prop_assert!(!value.is_finite() || all(slot).contains(value), "{text}: {value}");
            }
            let window = points[me][0];
            let (growth, backoff): (Enclosure, Enclosure) =
                (law.growth(me, &wide), law.backoff(me, &wide));
            let lost = Enclosure::two(Two::Minus, window, backoff);
            prop_assert!(all(path.lost).meet(lost).is_some(), "{text}: {lost:?} {paths:?}");
            if let Some(slot) = path.gained {
                let gained = Enclosure::two(Two::Times, window, growth);
                prop_assert!(all(slot).meet(gained).is_some(), "{text}: {gained:?} {paths:?}");
            }
        }
    }
}
