//! The numbers of programs: real numbers, and numbers with additional parts.

use crate::graph::{One, Two};

/// A number that programs compute with. Conditions are numbers too: one that holds is 1, else 0.
pub trait Number: Copy {
    /// The number of a real value.
    fn real(value: f64) -> Self;

    /// Whether it is a condition that holds.
    fn holds(self) -> bool;

    /// The number of a condition.
    fn condition(holds: bool) -> Self {
        Self::real(f64::from(u8::from(holds)))
    }

    /// `op a`
    fn one(op: One, a: Self) -> Self;

    /// `a op b` for numbers; for conditions, [`Two::Least`] is "and", and [`Two::Most`] is "or".
    fn two(op: Two, a: Self, b: Self) -> Self;

    /// The condition `a op b`.
    fn compare(op: Two, a: Self, b: Self) -> Self;

    /// `a` if the condition `c` holds, else `b`.
    #[inline(always)] // an operation of the evaluator
    fn choose(c: Self, a: Self, b: Self) -> Self {
        if c.holds() { a } else { b }
    }

    /// `a` to the power of `n`, at least 2, by multiplication from the left.
    fn whole(a: Self, n: u8) -> Self {
        (1..n).fold(a, |product, _| Self::two(Two::Times, product, a))
    }
}

impl Number for f64 {
    fn real(value: f64) -> f64 {
        value
    }

    #[inline(always)] // an operation of the evaluator
    fn holds(self) -> bool {
        self != 0.0
    }

    #[inline(always)] // an operation of the evaluator
    fn one(op: One, a: f64) -> f64 {
        match op {
            One::Negative => -a,
            One::Magnitude => a.abs(),
            One::Root => libm::sqrt(a),
            One::Exponential => libm::exp(a),
            One::Logarithm => libm::log(a),
            One::Not => f64::from(u8::from(a == 0.0)),
        }
    }

    #[inline(always)] // an operation of the evaluator
    fn two(op: Two, a: f64, b: f64) -> f64 {
        match op {
            Two::Plus => a + b,
            Two::Minus => a - b,
            Two::Times => a * b,
            Two::Over => a / b,
            Two::Power => libm::pow(a, b),
            Two::Least => a.min(b),
            Two::Most => a.max(b),
            _ => f64::NAN,
        }
    }

    #[inline(always)] // an operation of the evaluator
    fn compare(op: Two, a: f64, b: f64) -> f64 {
        let holds = match op {
            Two::Less => a < b,
            Two::LessEqual => a <= b,
            _ => a == b,
        };
        f64::from(u8::from(holds))
    }
}

/// Operations of constants.
pub(crate) mod constant {
    use super::{Number, One, Two};

    pub(crate) fn one(op: One, a: f64) -> f64 {
        <f64 as Number>::one(op, a)
    }

    pub(crate) fn two(op: Two, a: f64, b: f64) -> f64 {
        <f64 as Number>::two(op, a, b)
    }

    pub(crate) fn whole(a: f64, n: u8) -> f64 {
        <f64 as Number>::whole(a, n)
    }

    /// Whether the result of an operation is a condition.
    pub(crate) fn is_condition(op: Two) -> bool {
        matches!(op, Two::Less | Two::LessEqual | Two::Equal | Two::And | Two::Or)
    }
}
