//! Both directions of a tape: from the variables to the steps, and from the ranges that steps keep
//! back to the variables (HC4-revise: Benhamou, Goualard, Granvilliers and Puget, ICLP 1999).

use crate::case::Case;
use formula::{Enclosure, Number, One, Slot, Step, Two};

/// A box over which some range is not kept.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excluded;

/// Most passes over a box.
const MOST_PASSES: usize = 12;

/// A pass that leaves more than this part of every variable is the last one.
const PROGRESS: f64 = 0.9;

/// Narrows a box to a smaller one that keeps all that the case's ranges allow, and evaluates its
/// steps.
///
/// A condition that is undecided may hold at one state and not at its neighbour, and the drift is
/// any mean of both. For one drift a step that chooses by it is as any number between both choices:
/// a continuous function takes all means of its values. For two drifts these may be two numbers, so
/// that in such boxes each drift is followed by itself.
pub(crate) fn contract(
    case: &Case,
    bounds: &mut [Enclosure],
    values: &mut Vec<Enclosure>,
) -> Result<(), Excluded> {
    let drifts: Vec<(Slot, Enclosure)> = case.drift_ranges().collect();
    let mut all = case.kept.clone();
    for _ in 0..MOST_PASSES {
        case.tape.run(bounds, values);
        let decided = |slot: &Slot| values[usize::from(*slot)].is_point();
        let together = case.conditions.iter().all(decided);
        let groups = if together { vec![drifts.as_slice()] } else { drifts.chunks(1).collect() };
        let before = bounds.to_vec();
        for group in groups {
            all.truncate(case.kept.len());
            all.extend_from_slice(group);
            case.tape.run(bounds, values);
            narrow_inputs(case, &all, bounds, values)?;
        }
        let moved = bounds
            .iter()
            .zip(&before)
            .any(|(new, old)| logarithmic(*new) < PROGRESS * logarithmic(*old));
        if !moved {
            break;
        }
    }
    // The steps over all of the box, for slopes hold between any two of its points.
    case.tape.run(bounds, values);
    let mut kept = case.kept.iter().chain(&drifts);
    match kept.all(|(slot, range)| values[usize::from(*slot)].meet(*range).is_some()) {
        true => Ok(()),
        false => Err(Excluded),
    }
}

/// Follows these ranges back to the variables.
fn narrow_inputs(
    case: &Case,
    ranges: &[(Slot, Enclosure)],
    bounds: &mut [Enclosure],
    values: &mut [Enclosure],
) -> Result<(), Excluded> {
    for (slot, range) in ranges {
        narrow(values, *slot, *range)?;
    }
    backward(case, values)?;
    for (slot, step) in case.tape.steps().iter().enumerate() {
        if let Step::Input(input) = *step {
            let bound = &mut bounds[usize::from(input)];
            *bound = bound.meet(values[slot]).ok_or(Excluded)?;
        }
    }
    Ok(())
}

/// The width of a variable in logarithms.
pub(crate) fn logarithmic(bound: Enclosure) -> f64 {
    libm::log(bound.high() / bound.low())
}

fn narrow(values: &mut [Enclosure], slot: Slot, range: Enclosure) -> Result<(), Excluded> {
    let own = &mut values[usize::from(slot)];
    *own = own.meet(range).ok_or(Excluded)?;
    Ok(())
}

/// From each step, last first, to those that it uses. Conditions are left as they are: where one is
/// undecided the drift is a mean over its outcomes, and a mean bounds none of them.
fn backward(case: &Case, values: &mut [Enclosure]) -> Result<(), Excluded> {
    let narrows = |values: &mut [Enclosure], slot: Slot, range: Enclosure| match case.is_condition
        [usize::from(slot)]
    {
        true => Ok(()),
        false => narrow(values, slot, range),
    };
    for (slot, step) in case.tape.steps().iter().enumerate().rev() {
        let out = values[slot];
        let of = |slot: Slot| values[usize::from(slot)];
        match *step {
            Step::Input(_) | Step::Constant(_) => {}
            Step::One(op, a) => narrows(values, a, undone(op, out, of(a)))?,
            Step::Two(op, a, b) if a == b => {
                if op == Two::Times {
                    narrows(values, a, whole_root(out, of(a), 2))?;
                }
            }
            Step::Two(op, a, b) => {
                let (left, right) = operands(op, out, of(a), of(b));
                narrows(values, a, left)?;
                narrows(values, b, right)?;
            }
            Step::Whole(a, n) => narrows(values, a, whole_root(out, of(a), n))?,
            Step::Choose(c, a, b) => {
                let c = of(c);
                if c.low() > 0.0 {
                    narrows(values, a, out)?;
                } else if c.high() < 1.0 {
                    narrows(values, b, out)?;
                }
            }
        }
    }
    Ok(())
}

/// What the operand of `op` may be where the result is in `out`.
fn undone(op: One, out: Enclosure, a: Enclosure) -> Enclosure {
    match op {
        One::Negative => Enclosure::one(One::Negative, out),
        One::Root => match out.meet(Enclosure::POSITIVE) {
            Some(root) => Enclosure::two(Two::Times, root, root),
            None => out,
        },
        One::Exponential => Enclosure::one(One::Logarithm, out),
        One::Logarithm => Enclosure::one(One::Exponential, out),
        One::Magnitude if a.low() >= 0.0 => out,
        One::Magnitude => Enclosure::new(-out.high(), out.high()),
        One::Not => Enclosure::ALL,
    }
}

/// What the operands of `op` may be where the result is in `out`.
fn operands(op: Two, out: Enclosure, a: Enclosure, b: Enclosure) -> (Enclosure, Enclosure) {
    let two = Enclosure::two;
    let all = Enclosure::ALL;
    // A quotient by what may be zero says nothing if the product is zero with it.
    let over = |out: Enclosure, by: Enclosure| match by.contains(0.0) && out.contains(0.0) {
        true => all,
        false => two(Two::Over, out, by),
    };
    match op {
        Two::Plus => (two(Two::Minus, out, b), two(Two::Minus, out, a)),
        Two::Minus => (two(Two::Plus, out, b), two(Two::Minus, a, out)),
        Two::Times => (over(out, b), over(out, a)),
        Two::Over => (two(Two::Times, out, b), over(a, out)),
        Two::Power if b.is_point() && b.low() != 0.0 && out.low() > 0.0 => {
            let inverse = two(Two::Over, Enclosure::point(1.0), b);
            (two(Two::Power, out, inverse), all)
        }
        Two::Least => {
            let above = Enclosure::new(out.low(), f64::INFINITY);
            let left = if b.low() > out.high() { out } else { above };
            let right = if a.low() > out.high() { out } else { above };
            (left, right)
        }
        Two::Most => {
            let below = Enclosure::new(f64::NEG_INFINITY, out.high());
            let left = if b.high() < out.low() { out } else { below };
            let right = if a.high() < out.low() { out } else { below };
            (left, right)
        }
        _ => (all, all),
    }
}

/// What a number may be whose power `n` is in `out`.
fn whole_root(out: Enclosure, a: Enclosure, n: u8) -> Enclosure {
    let exponent = Enclosure::two(Two::Over, Enclosure::point(1.0), Enclosure::point(n.into()));
    match out.meet(Enclosure::POSITIVE) {
        Some(part) if a.low() >= 0.0 => match n {
            2 => Enclosure::one(One::Root, part),
            _ => Enclosure::two(Two::Power, part, exponent),
        },
        Some(part) if n.is_multiple_of(2) => {
            let root = Enclosure::two(Two::Power, part, exponent).high();
            Enclosure::new(-root, root)
        }
        _ => Enclosure::ALL,
    }
}
