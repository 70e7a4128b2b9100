//! The drifts over a box, linear about its middle, under every outcome of the conditions that are
//! undecided there. Where the law jumps the drift is any mean of these branches.

use crate::case::Case;
use crate::contract::Excluded;
use crate::gradient::{gradient, times};
use crate::linear::inverse;
use formula::{Enclosure, Number, Slot, Step, Tape, Two};

/// Most conditions that are told apart in a box.
const MOST_CONDITIONS: usize = 12;

/// Most branches.
const MOST_BRANCHES: usize = 64;

/// Multiples of the normal that are tried for the claim, as parts of the reach of the excess.
const PARTS: [f64; 3] = [0.0, 0.5, 2.0];

/// Weight that keeps multiples of drifts small where they serve nothing.
const RIDGE: f64 = 1e-9;

/// A number over the box: its value at the middle, and its slopes over the box.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    pub(crate) middle: Enclosure,
    pub(crate) slopes: Vec<Enclosure>,
}

/// The drifts under one outcome.
pub(crate) struct Branch {
    /// Over the box, from the formulas themselves.
    over: Vec<Enclosure>,
    pub(crate) drifts: Vec<Linear>,
}

/// A box about its middle.
pub(crate) struct About<'a> {
    case: &'a Case,
    pub(crate) middle: Vec<f64>,
    /// The box without its middle.
    pub(crate) offsets: Vec<Enclosure>,
    /// How far the box reaches from its middle.
    reach: Vec<f64>,
    pub(crate) branches: Vec<Branch>,
}

pub(crate) fn plus(a: Enclosure, b: Enclosure) -> Enclosure {
    Enclosure::two(Two::Plus, a, b)
}

pub(crate) fn minus(a: Enclosure, b: Enclosure) -> Enclosure {
    Enclosure::two(Two::Minus, a, b)
}

impl<'a> About<'a> {
    /// `values` are the steps over the box. `None` where more conditions are undecided than are
    /// told apart, or where a drift is steeper than any number.
    pub(crate) fn new(case: &'a Case, bounds: &[Enclosure], values: &[Enclosure]) -> Option<Self> {
        let middle: Vec<f64> = bounds.iter().map(|bound| bound.middle()).collect();
        let points: Vec<Enclosure> = middle.iter().copied().map(Enclosure::point).collect();
        let mut branches = Vec::new();
        let mut waiting: Vec<Vec<(Slot, Enclosure)>> = vec![Vec::new()];
        while let Some(given) = waiting.pop() {
            let mut over = Vec::new();
            case.tape.run_with(bounds, &given, &mut over);
            let open = |slot: &&Slot| !over[usize::from(**slot)].is_point();
            let Some(condition) = case.conditions.iter().find(open) else {
                branches.push(Branch::new(case, &over, &points, &given)?);
                continue;
            };
            if given.len() == MOST_CONDITIONS || branches.len() + waiting.len() > MOST_BRANCHES {
                return None;
            }
            // One that follows from those before it is decided by now.
            for outcome in [1.0, 0.0] {
                let mut more = given.clone();
                more.push((*condition, Enclosure::point(outcome)));
                if is_possible(&case.tape, &more, values) {
                    waiting.push(more);
                }
            }
        }
        let offsets: Vec<Enclosure> =
            bounds.iter().zip(&points).map(|(bound, at)| minus(*bound, *at)).collect();
        let reach = offsets.iter().map(|offset| offset.size()).collect();
        Some(About { case, middle, offsets, reach, branches })
    }

    fn is_free(&self, drift: usize) -> bool {
        self.case.free[self.case.drifts[drift].1]
    }

    /// A number over the box by its slopes.
    fn over(&self, number: &Linear) -> Enclosure {
        let parts = number.slopes.iter().zip(&self.offsets);
        parts.fold(number.middle, |sum, (slope, offset)| plus(sum, times(*slope, *offset)))
    }

    /// For each variable its share in the widths of the drifts over the box, added up.
    pub(crate) fn shares(&self) -> Vec<f64> {
        let mut all = vec![0.0; self.middle.len()];
        for drift in self.branches.iter().flat_map(|branch| &branch.drifts) {
            let parts = drift.slopes.iter().zip(&self.reach);
            let parts: Vec<f64> = parts.map(|(slope, reach)| slope.size() * reach).collect();
            let total: f64 = parts.iter().sum();
            if total > 0.0 {
                all.iter_mut().zip(&parts).for_each(|(share, part)| *share += part / total);
            }
        }
        all
    }

    /// Leaves out a box without a fixed point: where all branches drift to one side of a plane. A
    /// window at the floor that falls stays there, so the plane's normal has no negative part along
    /// it.
    pub(crate) fn check_drifts(&self) -> Result<(), Excluded> {
        for place in 0..self.case.drifts.len() {
            let drift = |branch: &Branch| self.over(&branch.drifts[place]);
            if self.branches.iter().all(|branch| drift(branch).low() > 0.0)
                || self.is_free(place) && self.branches.iter().all(|one| drift(one).high() < 0.0)
            {
                return Err(Excluded);
            }
        }
        let Some(spread) = self.spread() else {
            return Ok(());
        };
        let normal = self.normal(&spread);
        let beyond = |branch: &Branch| {
            let own = branch.over.iter().zip(&normal);
            let own = own.fold(Enclosure::point(0.0), |sum, (drift, factor)| {
                plus(sum, times(Enclosure::point(*factor), *drift))
            });
            own.low() > 0.0 || self.over(&branch.along(&normal)).low() > 0.0
        };
        if self.branches.iter().all(beyond) { Err(Excluded) } else { Ok(()) }
    }

    /// The normal along which the drifts at the middle are large beside how they differ over the
    /// box and between branches.
    fn normal(&self, spread: &Spread) -> Vec<f64> {
        let Some(first) = self.branches.first() else {
            return vec![0.0; spread.scales.len()];
        };
        let drifts = first.drifts.iter().zip(&spread.scales);
        let drifts: Vec<f64> = drifts.map(|(drift, scale)| drift.middle.middle() / scale).collect();
        self.factors(spread, &drifts)
    }

    /// For each drift its size over the box.
    fn scales(&self) -> Vec<f64> {
        let size = |place: usize| {
            let drifts = self.branches.iter().map(|branch| &branch.drifts[place]);
            let size = |drift: &Linear| {
                let parts = drift.slopes.iter().zip(&self.reach);
                drift.middle.size() + parts.map(|(slope, reach)| slope.size() * reach).sum::<f64>()
            };
            drifts.map(size).fold(f64::MIN_POSITIVE, f64::max)
        };
        (0..self.case.drifts.len()).map(size).collect()
    }

    /// Leaves out a box in which the claim is not broken. At a fixed point a mean of the branches
    /// is zero, so that the excess is a mean of the excess without multiples of their drifts. The
    /// multiples are chosen so that this hardly depends on the state and on the branch (Lagrange's
    /// multipliers, by least squares).
    pub(crate) fn check_claim(&self, values: &[Enclosure]) -> Result<(), Excluded> {
        let case = self.case;
        let Some(slopes) = gradient(&case.tape, values, case.excess, self.middle.len()) else {
            return Ok(());
        };
        let points: Vec<Enclosure> = self.middle.iter().copied().map(Enclosure::point).collect();
        let mut at_middle = Vec::new();
        case.tape.run(&points, &mut at_middle);
        let excess = Linear { middle: at_middle[usize::from(case.excess)], slopes };
        let Some(spread) = self.spread() else {
            return Ok(());
        };
        let Some(first) = self.branches.first() else {
            return Ok(());
        };
        let multiples = self.multiples(&spread, &excess);
        let normal = self.normal(&spread);
        let along = first.along(&normal).middle.middle();
        let reach = excess.slopes.iter().zip(&self.reach);
        let reach: f64 = reach.map(|(slope, reach)| slope.size() * reach).sum();
        for part in PARTS {
            let more = if along > 0.0 { part * reach / along } else { 0.0 };
            let factors: Vec<f64> =
                multiples.iter().zip(&normal).map(|(one, normal)| one + more * normal).collect();
            let within = |branch: &Branch| {
                let part = branch.along(&factors);
                let slopes = excess.slopes.iter().zip(&part.slopes);
                let rest = Linear {
                    middle: minus(excess.middle, part.middle),
                    slopes: slopes.map(|(all, part)| minus(*all, *part)).collect(),
                };
                self.over(&rest).high() < 0.0
            };
            if self.branches.iter().all(within) {
                return Err(Excluded);
            }
        }
        Ok(())
    }

    /// How the drifts differ over the box and between branches.
    fn spread(&self) -> Option<Spread> {
        let scales = self.scales();
        let scaled = |branch: &Branch, of: &dyn Fn(&Linear) -> f64| -> Vec<f64> {
            branch.drifts.iter().zip(&scales).map(|(drift, scale)| of(drift) / scale).collect()
        };
        let first = self.branches.first()?;
        let mut rows = Vec::new();
        for branch in &self.branches {
            for (variable, reach) in self.reach.iter().enumerate() {
                let row = scaled(branch, &|drift| drift.slopes[variable].middle() * reach);
                rows.push((row, Some(variable)));
            }
            let own = scaled(branch, &|drift| drift.middle.middle());
            let other = scaled(first, &|drift| drift.middle.middle());
            rows.push((own.iter().zip(&other).map(|(a, b)| a - b).collect(), None));
        }
        let count = scales.len();
        let mut matrix = vec![vec![0.0; count]; count];
        for (row, _) in &rows {
            for (place, one) in row.iter().enumerate() {
                row.iter().zip(&mut matrix[place]).for_each(|(other, sum)| *sum += one * other);
            }
        }
        let most = (0..count).map(|place| matrix[place][place]).fold(f64::MIN_POSITIVE, f64::max);
        (0..count).for_each(|place| matrix[place][place] += RIDGE * most);
        Some(Spread { inverse: inverse(&matrix)?, scales, rows })
    }

    /// The multiples of the drifts that follow the slopes of the excess.
    fn multiples(&self, spread: &Spread, excess: &Linear) -> Vec<f64> {
        let mut right = vec![0.0; spread.scales.len()];
        for (row, variable) in &spread.rows {
            let Some(variable) = *variable else {
                continue;
            };
            let wanted = excess.slopes[variable].middle() * self.reach[variable];
            right.iter_mut().zip(row).for_each(|(sum, one)| *sum += one * wanted);
        }
        self.factors(spread, &right)
    }

    /// Of drifts at the floor no multiple is negative.
    fn factors(&self, spread: &Spread, right: &[f64]) -> Vec<f64> {
        let found = |(place, line): (usize, &Vec<f64>)| {
            let sum: f64 = line.iter().zip(right).map(|(one, right)| one * right).sum();
            let sum = if self.is_free(place) { sum } else { sum.max(0.0) };
            sum / spread.scales[place]
        };
        spread.inverse.iter().enumerate().map(found).collect()
    }
}

/// The drifts' slopes times the reach of the box, and their differences between branches.
struct Spread {
    /// Of the matrix of their products.
    inverse: Vec<Vec<f64>>,
    /// For each drift its size over the box, by which rows are divided.
    scales: Vec<f64>,
    /// Each with its variable; none of a difference.
    rows: Vec<(Vec<f64>, Option<usize>)>,
}

impl Branch {
    fn new(
        case: &Case,
        over: &[Enclosure],
        points: &[Enclosure],
        given: &[(Slot, Enclosure)],
    ) -> Option<Self> {
        let mut middle = Vec::new();
        case.tape.run_with(points, given, &mut middle);
        let linear = |(drift, _): &(Slot, usize)| {
            let slopes = gradient(&case.tape, over, *drift, points.len())?;
            let known = slopes.iter().all(|slope| slope.size().is_finite());
            known.then_some(Linear { middle: middle[usize::from(*drift)], slopes })
        };
        let drifts = case.drifts.iter().map(linear).collect::<Option<Vec<_>>>()?;
        let over = case.drifts.iter().map(|(drift, _)| over[usize::from(*drift)]).collect();
        Some(Branch { over, drifts })
    }

    /// The sum of multiples of the drifts.
    fn along(&self, factors: &[f64]) -> Linear {
        let zero = Enclosure::point(0.0);
        let variables = self.drifts.first().map_or(0, |drift| drift.slopes.len());
        let mut all = Linear { middle: zero, slopes: vec![zero; variables] };
        for (drift, factor) in self.drifts.iter().zip(factors) {
            let factor = Enclosure::point(*factor);
            all.middle = plus(all.middle, times(factor, drift.middle));
            for (sum, slope) in all.slopes.iter_mut().zip(&drift.slopes) {
                *sum = plus(*sum, times(factor, *slope));
            }
        }
        all
    }
}

/// Whether the outcomes of comparisons are possible together: no number is below itself.
fn is_possible(tape: &Tape, given: &[(Slot, Enclosure)], values: &[Enclosure]) -> bool {
    // (a, b, strict): a is below b, or may be as large if it is not strict.
    let mut order: Vec<(Slot, Slot, bool)> = Vec::new();
    for (slot, outcome) in given {
        let Step::Two(op, a, b) = tape.steps()[usize::from(*slot)] else {
            continue;
        };
        let (low, high, strict) = match (op, outcome.low() > 0.0) {
            (Two::Less, true) => (a, b, true),
            (Two::Less, false) => (b, a, false),
            (Two::LessEqual, true) => (a, b, false),
            (Two::LessEqual, false) => (b, a, true),
            _ => continue,
        };
        let ((x, c), (y, d)) = (scaled(tape, low), scaled(tape, high));
        let positive = [x, y].iter().all(|slot| values[usize::from(*slot)].low() > 0.0);
        // x c < y d with c > d > 0 leaves x < y for positive numbers.
        if c == d && c > 0.0 {
            order.push((x, y, strict));
        } else if positive && c > d && d > 0.0 {
            order.push((x, y, true));
        }
    }
    // A chain from a number back to itself that is strict somewhere.
    loop {
        let mut longer = Vec::new();
        for (a, b, first) in &order {
            for (c, d, second) in &order {
                let chain = (*a, *d, *first || *second);
                if b == c && !order.contains(&chain) && !longer.contains(&chain) {
                    longer.push(chain);
                }
            }
        }
        if longer.is_empty() {
            break;
        }
        order.extend(longer);
    }
    !order.iter().any(|(a, b, strict)| a == b && *strict)
}

/// A step without its constant factor, and that.
fn scaled(tape: &Tape, slot: Slot) -> (Slot, f64) {
    let constant = |slot: Slot| match tape.steps()[usize::from(slot)] {
        Step::Constant(value) => Some(value),
        _ => None,
    };
    match tape.steps()[usize::from(slot)] {
        Step::Two(Two::Times, a, b) => match (constant(a), constant(b)) {
            (Some(factor), None) => (b, factor),
            (None, Some(factor)) => (a, factor),
            _ => (slot, 1.0),
        },
        _ => (slot, 1.0),
    }
}
