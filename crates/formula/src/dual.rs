//! Numbers with their derivative along one direction: exact slopes of formulas.

use crate::graph::{One, Two};
use crate::number::Number;

/// A number and its derivative. At a kink or a jump the slope is that of the side that the formula
/// takes there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dual {
    /// The number.
    pub value: f64,
    /// Its derivative.
    pub slope: f64,
}

impl Number for Dual {
    fn real(value: f64) -> Dual {
        Dual { value, slope: 0.0 }
    }

    fn holds(self) -> bool {
        self.value.holds()
    }

    fn one(op: One, a: Dual) -> Dual {
        let value = f64::one(op, a.value);
        let factor = match op {
            One::Negative => -1.0,
            One::Magnitude => f64::from(i8::from(a.value > 0.0) - i8::from(a.value < 0.0)),
            One::Root => 0.5 / value,
            One::Exponential => value,
            One::Logarithm => 1.0 / a.value,
            One::Not => 0.0,
        };
        Dual { value, slope: scaled(factor, a.slope) }
    }

    fn two(op: Two, a: Dual, b: Dual) -> Dual {
        let value = f64::two(op, a.value, b.value);
        let slope = match op {
            Two::Plus => a.slope + b.slope,
            Two::Minus => a.slope - b.slope,
            Two::Times => scaled(b.value, a.slope) + scaled(a.value, b.slope),
            Two::Over => scaled(1.0 / b.value, a.slope) - scaled(value / b.value, b.slope),
            Two::Power => {
                let by_base = b.value * f64::two(Two::Power, a.value, b.value - 1.0);
                scaled(by_base, a.slope) + scaled(value * libm::log(a.value), b.slope)
            }
            Two::Least => {
                if b.value < a.value {
                    b.slope
                } else {
                    a.slope
                }
            }
            Two::Most => {
                if b.value > a.value {
                    b.slope
                } else {
                    a.slope
                }
            }
            _ => 0.0,
        };
        Dual { value, slope }
    }

    fn compare(op: Two, a: Dual, b: Dual) -> Dual {
        Dual::real(f64::compare(op, a.value, b.value))
    }
}

/// A slope of zero stays zero, whatever its factor: `∞ · 0` is 0 here.
fn scaled(factor: f64, slope: f64) -> f64 {
    if slope == 0.0 { 0.0 } else { factor * slope }
}
