//! Numbers that enclose: intervals that contain the exact result of every operation, for all
//! numbers that their operands contain.
//!
//! Sums, differences, products and quotients are rounded outwards by one unit in the last place
//! unless they are exact; so are square roots, which `libm` rounds correctly. Exponentials,
//! logarithms and powers are widened by `MARGIN`, many times the error that `libm` documents.

use crate::graph::{One, Two};
use crate::number::Number;

/// Relative widening of exponentials, logarithms and powers: 8 units in the last place, where
/// `libm` documents less than one.
const MARGIN: f64 = 8.0 * f64::EPSILON;

/// All real numbers from `low` to `high`; an infinite end is no number itself. A condition is 1
/// where it holds, 0 where it does not, and both where that is undecided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Enclosure {
    low: f64,
    high: f64,
}

impl Enclosure {
    /// All real numbers.
    pub const ALL: Enclosure = Enclosure { low: f64::NEG_INFINITY, high: f64::INFINITY };
    /// Numbers from zero on.
    pub const POSITIVE: Enclosure = Enclosure { low: 0.0, high: f64::INFINITY };
    /// Numbers up to zero.
    pub const NEGATIVE: Enclosure = Enclosure { low: f64::NEG_INFINITY, high: 0.0 };
    /// From 0 to 1; a condition that is undecided.
    pub const UNIT: Enclosure = Enclosure { low: 0.0, high: 1.0 };

    /// The numbers from `low` to `high`, in either order; all numbers if one of them is none.
    pub fn new(low: f64, high: f64) -> Self {
        if low.is_nan() || high.is_nan() {
            return Enclosure::ALL;
        }
        // An infinite bound alone contains no number: the last finite one is beside it.
        let (low, high) = if low <= high { (low, high) } else { (high, low) };
        Enclosure { low: low.min(f64::MAX), high: high.max(f64::MIN) }
    }

    /// One number.
    pub fn point(value: f64) -> Self {
        Enclosure::new(value, value)
    }

    /// The lower end.
    pub fn low(self) -> f64 {
        self.low
    }

    /// The upper end.
    pub fn high(self) -> f64 {
        self.high
    }

    /// Whether it is one number.
    pub fn is_point(self) -> bool {
        self.low == self.high
    }

    /// Whether it contains the number.
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The largest magnitude in it.
    pub fn size(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// A number in its middle, or any number of it if it is unbounded.
    pub fn middle(self) -> f64 {
        let middle = self.low / 2.0 + self.high / 2.0;
        match middle.is_finite() {
            true => middle.clamp(self.low, self.high),
            false => 0.0_f64.clamp(self.low.max(f64::MIN), self.high.min(f64::MAX)),
        }
    }

    /// The difference of its ends, rounded up.
    pub fn width(self) -> f64 {
        up(self.high - self.low)
    }

    /// What both contain; `None` if that is nothing.
    pub fn meet(self, other: Self) -> Option<Self> {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        (low <= high).then_some(Enclosure { low, high })
    }

    /// The smallest enclosure that contains both.
    pub fn hull(self, other: Self) -> Self {
        Enclosure { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn of_condition(certain: bool, excluded: bool) -> Self {
        match (certain, excluded) {
            (true, _) => Enclosure { low: 1.0, high: 1.0 },
            (_, true) => Enclosure { low: 0.0, high: 0.0 },
            _ => Enclosure::UNIT,
        }
    }

    fn sum(self, other: Self) -> Self {
        let (low, low_exact) = added(self.low, other.low);
        let (high, high_exact) = added(self.high, other.high);
        Enclosure {
            low: if low_exact { low } else { down(low) },
            high: if high_exact { high } else { up(high) },
        }
    }

    fn negative(self) -> Self {
        Enclosure { low: -self.high, high: -self.low }
    }

    fn product(self, other: Self) -> Self {
        let (a, b) = (self, other);
        if a.is_point() && a.low == 1.0 {
            return b;
        }
        if b.is_point() && b.low == 1.0 {
            return a;
        }
        let zero = Enclosure { low: 0.0, high: 0.0 };
        if a == zero || b == zero {
            return zero;
        }
        // The usual case, at a third of the price.
        if a.low > 0.0 && b.low > 0.0 {
            return Enclosure { low: down(a.low * b.low).max(0.0), high: up(a.high * b.high) };
        }
        let ends = [
            multiplied(a.low, b.low),
            multiplied(a.low, b.high),
            multiplied(a.high, b.low),
            multiplied(a.high, b.high),
        ];
        around(ends)
    }

    fn quotient(self, other: Self) -> Self {
        let (a, b) = (self, other);
        if b.is_point() && b.low == 1.0 {
            return a;
        }
        if a.low > 0.0 && b.low > 0.0 && b.high < f64::INFINITY {
            return Enclosure { low: down(a.low / b.high).max(0.0), high: up(a.high / b.low) };
        }
        if b.low > 0.0 || b.high < 0.0 {
            return around([a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high]);
        }
        // Zero is no divisor, and it may be the end of those that are.
        let sign = if b.low == 0.0 { b.high } else { b.low };
        if b.low < 0.0 && b.high > 0.0 || sign == 0.0 {
            return Enclosure::ALL;
        }
        let (positive, negative) = (a.low >= 0.0, a.high <= 0.0);
        match (positive, negative, sign > 0.0) {
            (true, _, true) => Enclosure { low: down(a.low / sign).max(0.0), ..Enclosure::ALL },
            (true, _, false) => Enclosure { high: up(a.low / sign).min(0.0), ..Enclosure::ALL },
            (_, true, true) => Enclosure { high: up(a.high / sign).min(0.0), ..Enclosure::ALL },
            (_, true, false) => Enclosure { low: down(a.high / sign).max(0.0), ..Enclosure::ALL },
            _ => Enclosure::ALL,
        }
    }

    /// For positive bases; only the positive part of a base counts.
    fn power(self, exponent: Self) -> Self {
        let base = Enclosure { low: self.low.max(0.0), high: self.high.max(0.0) };
        if base.low == 0.0 && exponent.low < 0.0 {
            return Enclosure::POSITIVE;
        }
        let (a, b) = (base, exponent);
        let pow = libm::pow;
        let ends = [pow(a.low, b.low), pow(a.low, b.high), pow(a.high, b.low), pow(a.high, b.high)];
        // The power of a base that tends to zero lies above zero.
        let zero = if a.low == 0.0 { 0.0 } else { f64::INFINITY };
        let low = ends.into_iter().fold(zero, f64::min);
        let high = ends.into_iter().fold(0.0, f64::max);
        Enclosure { low: lowered(low).max(0.0), high: raised(high) }
    }

    fn root(self) -> Self {
        let low = down(libm::sqrt(self.low.max(0.0))).max(0.0);
        Enclosure { low, high: up(libm::sqrt(self.high.max(0.0))) }
    }

    fn magnitude(self) -> Self {
        if self.low >= 0.0 {
            return self;
        }
        let high = self.size();
        Enclosure { low: (-self.high).max(0.0), high }
    }
}

/// The enclosure of exact results whose rounded values are `ends`; one that is no number has finite
/// neighbours.
fn around(ends: [f64; 4]) -> Enclosure {
    // A positive zero is exact or a positive number that was too small, and lies above no result.
    let below = |end: f64| if end == 0.0 && end.is_sign_positive() { 0.0 } else { down(end) };
    let above = |end: f64| if end == 0.0 && end.is_sign_negative() { 0.0 } else { up(end) };
    let known = || ends.into_iter().filter(|end| !end.is_nan());
    let low = known().map(below).fold(f64::INFINITY, f64::min);
    let high = known().map(above).fold(f64::NEG_INFINITY, f64::max);
    if low <= high { Enclosure { low, high } } else { Enclosure::ALL }
}

fn down(value: f64) -> f64 {
    value.next_down()
}

fn up(value: f64) -> f64 {
    value.next_up()
}

fn lowered(value: f64) -> f64 {
    match value.is_finite() {
        true => down(value - value.abs() * MARGIN),
        false => down(value),
    }
}

fn raised(value: f64) -> f64 {
    match value.is_finite() {
        true => up(value + value.abs() * MARGIN),
        false => value,
    }
}

/// Zero times anything is zero: an infinite end is no number.
fn multiplied(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

/// A sum, and whether it is exact (Knuth's two-sum).
fn added(a: f64, b: f64) -> (f64, bool) {
    let sum = a + b;
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    (sum, error == 0.0)
}

impl Number for Enclosure {
    fn real(value: f64) -> Self {
        Enclosure::point(value)
    }

    fn holds(self) -> bool {
        self.low > 0.0
    }

    fn one(op: One, a: Self) -> Self {
        match op {
            One::Negative => a.negative(),
            One::Magnitude => a.magnitude(),
            One::Root => a.root(),
            One::Exponential => Enclosure {
                low: lowered(libm::exp(a.low)).max(0.0),
                high: raised(libm::exp(a.high)),
            },
            One::Logarithm => Enclosure {
                low: lowered(libm::log(a.low.max(0.0))),
                high: raised(libm::log(a.high.max(0.0))).max(f64::MIN),
            },
            One::Not => Enclosure { low: 1.0 - a.high, high: 1.0 - a.low },
        }
    }

    fn two(op: Two, a: Self, b: Self) -> Self {
        match op {
            Two::Plus => a.sum(b),
            Two::Minus => a.sum(b.negative()),
            Two::Times => a.product(b),
            Two::Over => a.quotient(b),
            Two::Power => a.power(b),
            Two::Least | Two::And => Enclosure { low: a.low.min(b.low), high: a.high.min(b.high) },
            Two::Most | Two::Or => Enclosure { low: a.low.max(b.low), high: a.high.max(b.high) },
            _ => Self::compare(op, a, b),
        }
    }

    /// Decided only where it is for all numbers near those of the operands, too: a condition that
    /// tips in the operands is undecided.
    fn compare(op: Two, a: Self, b: Self) -> Self {
        let same = a.is_point() && b.is_point() && a.low == b.low;
        let (below, above) = (a.high < b.low, a.low > b.high);
        match op {
            Two::Less => Enclosure::of_condition(below, above || same),
            Two::LessEqual => Enclosure::of_condition(below || same, above),
            _ => Enclosure::of_condition(same, below || above),
        }
    }

    fn choose(c: Self, a: Self, b: Self) -> Self {
        match (c.low > 0.0, c.high < 1.0) {
            (true, _) => a,
            (_, true) => b,
            _ => a.hull(b),
        }
    }

    fn whole(a: Self, n: u8) -> Self {
        let power = |end: f64| {
            let end = Enclosure { low: end, high: end };
            (1..n).fold(end, |product, _| product.product(end))
        };
        let (low, high) = (power(a.low), power(a.high));
        if n % 2 == 1 || a.low >= 0.0 {
            return Enclosure { low: low.low, high: high.high };
        }
        let least = if a.high < 0.0 { high.low } else { 0.0 };
        Enclosure { low: least, high: low.high.max(high.high) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONES: [One; 6] =
        [One::Negative, One::Magnitude, One::Root, One::Exponential, One::Logarithm, One::Not];
    const TWOS: [Two; 7] =
        [Two::Plus, Two::Minus, Two::Times, Two::Over, Two::Power, Two::Least, Two::Most];

    /// Numbers of all sizes, with zero, whole ones and those next to overflow and underflow.
    fn numbers() -> impl Strategy<Value = f64> {
        prop_oneof![
            -1e3..1e3,
            (-300.0..300.0_f64, any::<bool>()).prop_map(|(exponent, negative)| {
                let size = libm::pow(10.0, exponent);
                if negative { -size } else { size }
            }),
            (-20..20_i8).prop_map(f64::from),
            Just(f64::MAX),
            Just(f64::MIN_POSITIVE),
        ]
    }

    proptest! {
        #[test]
        fn an_operation_on_enclosures_contains_that_on_their_numbers(
            ends in [numbers(), numbers(), numbers(), numbers()], share in 0.0..=1.0, other in 0.0..=1.0,
        ) {
            let within = |all: Enclosure, share: f64| {
                (all.low() * (1.0 - share) + all.high() * share).clamp(all.low(), all.high())
            };
            let (a, b) = (Enclosure::new(ends[0], ends[1]), Enclosure::new(ends[2], ends[3]));
            let (x, y) = (within(a, share), within(b, other));
            for op in ONES {
                // The negation is of a condition: of one that is decided, or not.
                let (x, a) = match op {
                    One::Not if a.is_point() => (1.0, Enclosure::point(1.0)),
                    One::Not => (f64::from(u8::from(share > 0.5)), Enclosure::UNIT),
                    _ => (x, a),
                };
                let value = f64::one(op, x);
                let all = Enclosure::one(op, a);
                prop_assert!(!value.is_finite() || all.contains(value), "{op:?} {a:?}: {value} {all:?}");
            }
            for op in TWOS {
                let undefined = op == Two::Over && y == 0.0 || op == Two::Power && x <= 0.0;
                let value = f64::two(op, x, y);
                let all = Enclosure::two(op, a, b);
                let fits = all.contains(value) || value.is_infinite() && all.size() == f64::INFINITY;
                prop_assert!(undefined || fits, "{op:?} {a:?} {b:?}: {value} {all:?}");
            }
            for n in 2..6 {
                let (value, all) = (f64::whole(x, n), Enclosure::whole(a, n));
                prop_assert!(!value.is_finite() || all.contains(value), "{a:?}^{n}: {value} {all:?}");
            }
            for op in [Two::Less, Two::LessEqual, Two::Equal] {
                prop_assert!(Enclosure::compare(op, a, b).contains(f64::compare(op, x, y)));
            }
        }

        /// Against the exact error of a sum and of a product (by halves of 26 bits).
        #[test]
        fn ends_lie_beyond_the_exact_results(x in -1e6..1e6, y in -1e6..1e6) {
            let (a, b) = (Enclosure::point(x), Enclosure::point(y));
            let sum = Enclosure::two(Two::Plus, a, b);
            let part: f64 = x + y - x;
            let error = (x - (x + y - part)) + (y - part);
            prop_assert!(error <= 0.0 || sum.high() > x + y);
            prop_assert!(error >= 0.0 || sum.low() < x + y);
            let product = Enclosure::two(Two::Times, a, b);
            let error = libm::fma(x, y, -(x * y));
            prop_assert!(error <= 0.0 || product.high() > x * y);
            prop_assert!(error >= 0.0 || product.low() < x * y);
            if y != 0.0 {
                let quotient = Enclosure::two(Two::Over, a, b);
                prop_assert!(quotient.low() < x / y || x == 0.0);
                prop_assert!(quotient.high() > x / y || x == 0.0);
            }
            let root = Enclosure::one(One::Root, Enclosure::point(x.abs()));
            let square = Enclosure::two(Two::Times, root, root);
            prop_assert!(square.contains(x.abs()));
        }
    }

    #[test]
    fn whole_numbers_stay_exact() {
        let [two, three] = [2.0, 3.0].map(Enclosure::point);
        assert_eq!(Enclosure::two(Two::Plus, two, three), Enclosure::point(5.0));
        assert_eq!(Enclosure::two(Two::Minus, two, two), Enclosure::point(0.0));
        let zero = Enclosure::point(0.0);
        assert_eq!(Enclosure::two(Two::Times, zero, Enclosure::ALL), zero);
    }

    #[test]
    fn a_condition_that_tips_is_undecided() {
        let (one, two) = (Enclosure::new(1.0, 2.0), Enclosure::new(2.0, 3.0));
        assert_eq!(Enclosure::compare(Two::LessEqual, one, two), Enclosure::UNIT);
        assert_eq!(Enclosure::choose(Enclosure::UNIT, one, two), Enclosure::new(1.0, 3.0));
        let point = Enclosure::point(2.0);
        assert_eq!(Enclosure::compare(Two::LessEqual, point, point), Enclosure::point(1.0));
    }

    #[test]
    fn a_divisor_that_reaches_zero_leaves_the_side() {
        let half = Enclosure::two(Two::Over, Enclosure::point(1.0), Enclosure::new(0.0, 2.0));
        assert!(half.low() > 0.49 && half.high() == f64::INFINITY);
        let all = Enclosure::two(Two::Over, Enclosure::point(1.0), Enclosure::new(-1.0, 2.0));
        assert_eq!(all, Enclosure::ALL);
    }
}
