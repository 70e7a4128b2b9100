//! The arithmetic of `bpf/include/number.h` and `signed.h`, bit by bit.

use crate::graph::{One, Two};
use crate::number::Number;

/// A number in the kernel's arithmetic: 32 significant bits and a sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truncated {
    negative: bool,
    /// At least 2^31, or 0.
    mantissa: u64,
    exponent: i64,
}

/// Exponents are below this, and not below its negative.
const BIAS: i64 = 4096;

const ZERO: Truncated = Truncated { negative: false, mantissa: 0, exponent: 0 };

/// `AB_INFINITY`.
const INFINITY: Truncated = Truncated { negative: false, mantissa: 0xffff_ffff, exponent: BIAS };

impl Truncated {
    /// `ab_whole`.
    pub fn whole(value: u64) -> Self {
        if value == 0 {
            return ZERO;
        }
        let zeros = value.leading_zeros();
        packed((value << zeros) >> 32, 32 - i64::from(zeros))
    }

    /// `ab_signed_fixed`: in units of 2^-32, towards zero.
    pub fn fixed(self) -> i64 {
        let shift = self.exponent + 32;
        let size = match () {
            () if self.mantissa == 0 || shift < -31 => 0,
            () if shift > 30 => 1 << 62,
            () if shift < 0 => (self.mantissa >> -shift) as i64,
            () => (self.mantissa << shift) as i64,
        };
        if self.negative { -size } else { size }
    }

    /// `ab_floor`: rounded down.
    pub fn floor(self) -> i64 {
        self.fixed() >> 32
    }

    /// The representation in C: an `ab_signed`.
    pub fn bits(self) -> u64 {
        if self.mantissa == 0 {
            return 0;
        }
        u64::from(self.negative) << 63 | ((self.exponent + BIAS) as u64) << 32 | self.mantissa
    }

    /// The number of a representation in C; zero where it is not one.
    pub fn from_bits(bits: u64) -> Self {
        let (mantissa, exponent) = (bits & 0xffff_ffff, (bits << 1 >> 33) as i64 - BIAS);
        match mantissa >> 31 == 1 && exponent <= BIAS {
            true => Truncated { negative: bits >> 63 == 1, mantissa, exponent },
            false => ZERO,
        }
    }

    /// Its value as a real number.
    pub fn real_value(self) -> f64 {
        let size = libm::scalbn(self.mantissa as f64, self.exponent as i32);
        if self.negative { -size } else { size }
    }

    fn size(self) -> Self {
        Truncated { negative: false, ..self }
    }

    /// The same number with this sign, unless it is zero.
    fn signed(self, negative: bool) -> Self {
        Truncated { negative: negative && self.mantissa != 0, ..self }
    }

    fn order(self) -> (i64, u64) {
        if self.mantissa == 0 { (i64::MIN, 0) } else { (self.exponent, self.mantissa) }
    }

    fn plus(self, other: Self) -> Self {
        let (large, small) =
            if self.order() > other.order() { (self, other) } else { (other, self) };
        let apart = large.exponent - small.exponent;
        if small.mantissa == 0 || apart > 31 {
            return large;
        }
        let sum = large.mantissa + (small.mantissa >> apart);
        if sum >> 32 != 0 {
            packed(sum >> 1, large.exponent + 1)
        } else {
            packed(sum, large.exponent)
        }
    }

    /// `ab_less`: `self - other`; `self` must not be below `other`.
    fn less(self, other: Self) -> Self {
        let apart = self.exponent - other.exponent;
        if other.mantissa == 0 || apart > 62 {
            return self;
        }
        let rest = Truncated::whole((self.mantissa << 31) - ((other.mantissa << 31) >> apart));
        if rest.mantissa == 0 {
            ZERO
        } else {
            packed(rest.mantissa, rest.exponent + self.exponent - 31)
        }
    }

    fn add(self, other: Self) -> Self {
        let (x, y) = (self.size(), other.size());
        if self.negative == other.negative {
            return x.plus(y).signed(self.negative);
        }
        match x.order() > y.order() {
            true => x.less(y).signed(self.negative),
            false => y.less(x).signed(other.negative),
        }
    }

    fn times(self, other: Self) -> Self {
        if self.mantissa == 0 || other.mantissa == 0 {
            return ZERO;
        }
        let (product, e) = (self.mantissa * other.mantissa, self.exponent + other.exponent);
        let found = if product >> 63 != 0 {
            packed(product >> 32, e + 32)
        } else {
            packed(product >> 31, e + 31)
        };
        found.signed(self.negative != other.negative)
    }

    fn over(self, other: Self) -> Self {
        let negative = self.negative != other.negative;
        if other.mantissa == 0 {
            return INFINITY.signed(negative);
        }
        if self.mantissa == 0 {
            return ZERO;
        }
        let (quotient, e) =
            ((self.mantissa << 32) / other.mantissa, self.exponent - other.exponent);
        let found = if quotient >> 32 != 0 {
            packed(quotient >> 1, e - 31)
        } else {
            packed(quotient, e - 32)
        };
        found.signed(negative)
    }

    fn root(self) -> Self {
        if self.mantissa == 0 {
            return ZERO;
        }
        let odd = self.exponent & 1;
        let rest = self.mantissa << (32 - odd);
        packed(rest.isqrt(), (self.exponent - (32 - odd)) / 2)
    }

    fn below(self, other: Self) -> bool {
        match (self.negative, other.negative) {
            (false, false) => self.order() < other.order(),
            (true, true) => self.order() > other.order(),
            (negative, _) => negative,
        }
    }
}

/// `ab_pack`.
fn packed(mantissa: u64, exponent: i64) -> Truncated {
    if exponent < -BIAS {
        return ZERO;
    }
    if exponent >= BIAS {
        return INFINITY;
    }
    Truncated { negative: false, mantissa: mantissa & 0xffff_ffff, exponent }
}

/// The 32-bit mantissa and the exponent of a constant in C, truncated.
pub(crate) fn parts(value: f64) -> (u64, i64) {
    let bits = value.abs().to_bits();
    let (exponent, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
    let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    if mantissa == 0 {
        return (0, 0);
    }
    let zeros = mantissa.leading_zeros();
    let exponent = exponent.max(1) - 1075 + 32 - i64::from(zeros);
    ((mantissa << zeros) >> 32, exponent)
}

impl Number for Truncated {
    fn real(value: f64) -> Self {
        if value.is_nan() {
            return ZERO;
        }
        if value.is_infinite() {
            return INFINITY.signed(value < 0.0);
        }
        let (mantissa, exponent) = parts(value);
        if mantissa == 0 { ZERO } else { packed(mantissa, exponent).signed(value < 0.0) }
    }

    fn holds(self) -> bool {
        self.mantissa != 0
    }

    /// Exponentials and logarithms are zero: the kernel does not have them.
    fn one(op: One, a: Self) -> Self {
        match op {
            One::Negative => a.signed(!a.negative),
            One::Magnitude => a.size(),
            One::Root => a.size().root(),
            One::Not => Truncated::condition(a == ZERO),
            One::Exponential | One::Logarithm => ZERO,
        }
    }

    /// Powers that are not whole are zero: the kernel does not have them.
    fn two(op: Two, a: Self, b: Self) -> Self {
        match op {
            Two::Plus => a.add(b),
            Two::Minus => a.add(b.signed(!b.negative)),
            Two::Times => a.times(b),
            Two::Over => a.over(b),
            Two::Least => {
                if a.below(b) {
                    a
                } else {
                    b
                }
            }
            Two::Most => {
                if b.below(a) {
                    a
                } else {
                    b
                }
            }
            _ => ZERO,
        }
    }

    fn compare(op: Two, a: Self, b: Self) -> Self {
        Truncated::condition(match op {
            Two::Less => a.below(b),
            Two::LessEqual => !b.below(a),
            _ => a == b,
        })
    }
}
