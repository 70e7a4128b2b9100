//! Derivatives over boxes, by the chain rule from a step back to the variables.

use formula::{Enclosure, Number, One, Slot, Step, Tape, Two};

/// Encloses the derivatives of step `root` by all variables over the box of which `values` are the
/// steps. At a kink they are all slopes between those of both sides, so that differences over the
/// box are products with them. `None` where the step may jump.
pub(crate) fn gradient(
    tape: &Tape,
    values: &[Enclosure],
    root: Slot,
    variables: usize,
) -> Option<Vec<Enclosure>> {
    let zero = Enclosure::point(0.0);
    let last = usize::from(root);
    let mut slopes = vec![zero; last + 1];
    let mut found = vec![zero; variables];
    slopes[last] = Enclosure::point(1.0);
    for place in (0..=last).rev() {
        let slope = slopes[place];
        if slope == zero {
            continue;
        }
        let step = tape.steps()[place];
        let of = |slot: Slot| values[usize::from(slot)];
        let mut adds = |slot: Slot, part: Enclosure| {
            let own = &mut slopes[usize::from(slot)];
            *own = Enclosure::two(Two::Plus, *own, part);
        };
        match step {
            Step::Input(input) => found[usize::from(input)] = slope,
            Step::Constant(_) => {}
            Step::One(op, a) => adds(a, times(slope, of_one(op, of(a), values[place])?)),
            Step::Two(op, a, b) => {
                let constant =
                    |slot: Slot| matches!(tape.steps()[usize::from(slot)], Step::Constant(_));
                let [left, right] = of_two(op, of(a), of(b), values[place])?;
                if !constant(a) {
                    adds(a, times(slope, left));
                }
                if !constant(b) {
                    adds(b, times(slope, right));
                }
            }
            Step::Whole(a, n) => {
                let power = match n {
                    2 => of(a),
                    _ => Enclosure::whole(of(a), n - 1),
                };
                adds(a, times(slope, times(Enclosure::point(n.into()), power)));
            }
            Step::Choose(c, a, b) => {
                if of(c).low() > 0.0 {
                    adds(a, slope);
                } else if of(c).high() < 1.0 {
                    adds(b, slope);
                } else {
                    return None;
                }
            }
        }
    }
    Some(found)
}

pub(crate) fn times(a: Enclosure, b: Enclosure) -> Enclosure {
    Enclosure::two(Two::Times, a, b)
}

fn of_one(op: One, a: Enclosure, value: Enclosure) -> Option<Enclosure> {
    let over = |a, b| Enclosure::two(Two::Over, a, b);
    Some(match op {
        One::Negative => Enclosure::point(-1.0),
        One::Magnitude if a.low() > 0.0 => Enclosure::point(1.0),
        One::Magnitude if a.high() < 0.0 => Enclosure::point(-1.0),
        One::Magnitude => Enclosure::new(-1.0, 1.0),
        One::Root => over(Enclosure::point(0.5), value),
        One::Exponential => value,
        One::Logarithm => over(Enclosure::point(1.0), a),
        One::Not => return value.is_point().then_some(Enclosure::point(0.0)),
    })
}

fn of_two(op: Two, a: Enclosure, b: Enclosure, value: Enclosure) -> Option<[Enclosure; 2]> {
    let over = |a, b| Enclosure::two(Two::Over, a, b);
    let [zero, one] = [0.0, 1.0].map(Enclosure::point);
    let kinked = |first: bool, second: bool| match (first, second) {
        (true, _) => [one, zero],
        (_, true) => [zero, one],
        _ => [Enclosure::UNIT; 2],
    };
    Some(match op {
        Two::Plus => [one, one],
        Two::Minus => [one, Enclosure::point(-1.0)],
        Two::Times => [b, a],
        Two::Over => [over(one, b), Enclosure::one(One::Negative, over(value, b))],
        Two::Power => [times(b, over(value, a)), times(value, Enclosure::one(One::Logarithm, a))],
        Two::Least => kinked(a.high() < b.low(), b.high() < a.low()),
        Two::Most => kinked(a.low() > b.high(), b.low() > a.high()),
        // A condition that is decided has no slope.
        _ => return value.is_point().then_some([zero, zero]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::drifts;
    use formula::{PathSlots, TextLaw};
    use proptest::prelude::*;

    const LAWS: [&str; 4] = [
        include_str!("../../../python/anabranch/laws/lia.law"),
        include_str!("../../../python/anabranch/laws/balia.law"),
        include_str!("../../../python/anabranch/laws/phi.law"),
        "a = exp(-rtt) + ln(w) - max(w - n, 1)^1.5 + abs(w - 9)^3\ngrowth = sqrt(l)/w + a\nbackoff = w_tot^0.5*rtt",
    ];

    proptest! {
        /// The mean value theorem over a box, which kinks are part of.
        #[test]
        fn differences_in_a_box_are_products_with_its_slopes(
            ends in prop::collection::vec((1.0..20.0, 1.0..1.5, 0.0..1.0, 0.0..1.0), 6..7),
        ) {
            let scale = [1.0, 0.01, 0.001];
            for text in LAWS {
                let law = TextLaw::read(text).unwrap();
                let mut tape = Tape::default();
                let path = |first: u8, tape: &mut Tape| PathSlots {
                    window: tape.input(first), rtt: tape.input(first + 1), loss: tape.input(first + 2),
                };
                let paths = [path(0, &mut tape), path(3, &mut tape)];
                let drifts = drifts(&mut tape, &law, &paths);
                let unit = |place: usize| scale[place % 3];
                let bounds: Vec<Enclosure> = ends.iter().enumerate()
                    .map(|(k, end)| Enclosure::new(end.0 * unit(k), end.0 * end.1 * unit(k)))
                    .collect();
                let point = |which: fn(&(f64, f64, f64, f64)) -> f64| -> Vec<f64> {
                    bounds.iter().zip(&ends)
                        .map(|(all, end)| all.low() + which(end) * (all.high() - all.low()))
                        .collect()
                };
                let (x, y) = (point(|end| end.2), point(|end| end.3));
                let mut values = Vec::new();
                tape.run(&bounds, &mut values);
                let (mut at_x, mut at_y) = (Vec::new(), Vec::new());
                tape.run(&x, &mut at_x);
                tape.run(&y, &mut at_y);
                for (drift, _) in drifts {
                    let slopes = gradient(&tape, &values, drift, 6).unwrap();
                    let mut sum = Enclosure::point(0.0);
                    for (slope, (x, y)) in slopes.iter().zip(x.iter().zip(&y)) {
                        sum = Enclosure::two(Two::Plus, sum, times(*slope, Enclosure::point(y - x)));
                    }
                    let (from, to): (f64, f64) = (at_x[usize::from(drift)], at_y[usize::from(drift)]);
                    let slack = 1e-12 * (from.abs() + to.abs() + 1.0);
                    let wide = Enclosure::new(sum.low() - slack, sum.high() + slack);
                    prop_assert!(wide.contains(to - from), "{text}: {} {sum:?}", to - from);
                }
            }
        }
    }
}
