//! The error bound of the kernel's arithmetic against the law.
//!
//! Errors are counted in `u = 2^-31`: an operation truncates less than `u` of its result. They are
//! relative to a *magnitude*: that of a sum or difference is the sum of those of its terms, that of
//! a product or quotient the product, and so on. Where nothing is subtracted, the magnitude is the
//! number itself. An error of `[low, high]` says that the result lies at most `low u` times the
//! magnitude below the true number and at most `high u` times above. The sum of all products of
//! errors is below `u`, which [`Error::bound`] adds. That fails if a divisor or a radicand is the
//! small difference of numbers 10^5 times as large; [`Weighed`] detects this case, and ties.

use crate::graph::{Graph, Node, NodeId, One, Reduction, Symbol, Two};
use crate::integer::number::parts;
use crate::number::Number;
use crate::range::{PATHS, Range};
use alloc::vec::Vec;

/// An error in units of `u` times the magnitude.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Error {
    low: f64,
    high: f64,
}

impl Error {
    const NONE: Error = Error { low: 0.0, high: 0.0 };
    const TRUNCATED: Error = Error { low: 1.0, high: 0.0 };

    fn either(self) -> f64 {
        self.low.max(self.high)
    }

    fn larger(self, other: Error) -> Error {
        Error { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    /// The error after truncation towards zero; `positive` says that truncation makes the result
    /// smaller.
    fn truncated(self, times: f64, positive: bool) -> Error {
        let high = if positive { self.high } else { self.high + times };
        Error { low: self.low + times, high }
    }

    /// The error of a product with a constant: a negative constant exchanges low and high.
    fn scaled(self, constant: Node) -> Error {
        match constant {
            Node::Number(value) if value < 0.0 => Error { low: self.high, high: self.low },
            _ => self,
        }
    }

    /// The bound in units of `u`.
    pub(crate) fn bound(self) -> u32 {
        (libm::ceil(self.either()) as u32).saturating_add(1)
    }
}

/// The errors of all nodes, with round trips in microseconds (`scaled`) or in seconds.
pub(crate) fn errors(graph: &Graph, ranges: &[Range], scaled: bool) -> Vec<Error> {
    let mut all: Vec<Error> = Vec::new();
    for (place, node) in graph.nodes().iter().enumerate() {
        let of = |id: NodeId| all[id.place()];
        let positive = |id: NodeId| ranges[id.place()].is_positive_or_zero();
        let own = ranges[place];
        let error = match *node {
            _ if own.exact && !matches!(node, Node::Choice(..)) => Error::NONE,
            Node::Number(value) => constant(value),
            Node::Path(Symbol::Rtt | Symbol::LastRtt, _) if !scaled => Error::TRUNCATED,
            Node::Path(..) | Node::Paths => Error::NONE,
            Node::One(One::Root, a) => {
                let Error { low, high } = of(a);
                Error { low: low / 2.0 + 1.0, high: high / 2.0 }
            }
            Node::One(One::Negative, a) => Error { low: of(a).high, high: of(a).low },
            Node::One(One::Magnitude, a) => {
                let both = of(a).either();
                if positive(a) { of(a) } else { Error { low: both, high: both } }
            }
            Node::One(..) => Error::NONE,
            Node::Two(Two::Times | Two::Over, a, b) if power_of_two(graph.node(b)) => {
                of(a).scaled(graph.node(b))
            }
            Node::Two(Two::Times, a, b) if power_of_two(graph.node(a)) => {
                of(b).scaled(graph.node(a))
            }
            Node::Two(op, a, b) => two(op, of(a), of(b), positive(a) && positive(b)),
            Node::Whole(a, n) => {
                let times = |so_far, _| two(Two::Times, so_far, of(a), positive(a));
                (1..n).fold(of(a), times)
            }
            Node::Choice(_, a, b) => of(a).larger(of(b)),
            Node::Reduce(Reduction::Sum, _, body) => {
                of(body).truncated((PATHS - 1) as f64, positive(body))
            }
            Node::Reduce(Reduction::Most | Reduction::Least, _, body) => of(body),
            Node::Reduce(Reduction::Count, ..) => Error::NONE,
        };
        all.push(error);
    }
    all
}

fn constant(value: f64) -> Error {
    let (mantissa, exponent) = parts(value);
    // Exact if the value has at most 32 significant bits.
    let exact = libm::scalbn(mantissa as f64, exponent as i32) == value.abs();
    match (exact || value.is_infinite(), value >= 0.0) {
        (true, _) => Error::NONE,
        (false, true) => Error::TRUNCATED,
        (false, false) => Error { low: 0.0, high: 1.0 },
    }
}

fn power_of_two(node: Node) -> bool {
    match node {
        Node::Number(value) => value.is_normal() && value.to_bits() << 12 == 0,
        _ => false,
    }
}

fn two(op: Two, a: Error, b: Error, positive: bool) -> Error {
    let sum = a.either() + b.either();
    match op {
        Two::Plus => a.larger(b).truncated(1.0, positive),
        Two::Minus => a.larger(Error { low: b.high, high: b.low }).truncated(1.0, false),
        Two::Times if positive => {
            Error { low: a.low + b.low, high: a.high + b.high }.truncated(1.0, true)
        }
        Two::Over if positive => {
            Error { low: a.low + b.high, high: a.high + b.low }.truncated(1.0, true)
        }
        Two::Times | Two::Over => Error { low: sum, high: sum }.truncated(1.0, false),
        Two::Least | Two::Most => a.larger(b),
        _ => Error::NONE,
    }
}

/// A number with its magnitude, and whether its comparisons were clear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighed {
    /// The number itself.
    pub value: f64,
    /// The reference of its error.
    pub magnitude: f64,
    /// Whether the operands of a comparison were so close that truncation may decide it.
    pub near: bool,
    /// Whether the kernel has exactly this number: a whole number computed from whole numbers, or
    /// zero.
    pub exact: bool,
}

/// The kernel may compare numbers within this relative distance differently.
const NEAR: f64 = 1e-7;

/// Whole numbers up to this have at most 32 bits.
const MOST_EXACT: f64 = 4_294_967_296.0;

/// Numbers smaller than their magnitude by this factor are mostly error.
const CANCELLED: f64 = 1e5;

impl Weighed {
    /// Whether the number is a small difference of much larger ones.
    fn cancelled(self) -> bool {
        self.magnitude > CANCELLED * self.value.abs()
    }

    /// Whether the magnitude equals the number, up to rounding.
    fn is_clean(self) -> bool {
        self.magnitude <= self.value.abs() * (1.0 + 1e-9)
    }
}

impl Number for Weighed {
    fn real(value: f64) -> Self {
        let exact = constant(value) == Error::NONE;
        Weighed { value, magnitude: value.abs(), near: false, exact }
    }

    fn holds(self) -> bool {
        self.value.holds()
    }

    fn one(op: One, a: Self) -> Self {
        let value = f64::one(op, a.value);
        let magnitude = match op {
            One::Negative | One::Magnitude => a.magnitude,
            One::Root if value > 0.0 => a.magnitude / value,
            _ => value.abs(),
        };
        let near = a.near || op == One::Root && a.cancelled();
        let exact = a.exact && matches!(op, One::Negative | One::Magnitude | One::Not);
        Weighed { value, magnitude, near, exact }
    }

    fn two(op: Two, a: Self, b: Self) -> Self {
        let value = f64::two(op, a.value, b.value);
        let magnitude = match op {
            Two::Plus | Two::Minus => a.magnitude + b.magnitude,
            Two::Times => a.magnitude * b.magnitude,
            Two::Over => a.magnitude * b.magnitude / (b.value * b.value),
            _ if a.is_clean() && b.is_clean() || a.value.is_infinite() || b.value.is_infinite() => {
                if value == a.value {
                    a.magnitude
                } else {
                    b.magnitude
                }
            }
            _ => a.magnitude.max(b.magnitude),
        };
        let near = a.near || b.near || op == Two::Over && b.cancelled();
        let small = value.abs() <= MOST_EXACT && libm::trunc(value) == value;
        let whole = small && matches!(op, Two::Plus | Two::Minus | Two::Times);
        let chosen = matches!(op, Two::Least | Two::Most);
        let exact = a.exact && b.exact && (whole || chosen) || value == 0.0 && magnitude == 0.0;
        Weighed { value, magnitude, near, exact }
    }

    fn compare(op: Two, a: Self, b: Self) -> Self {
        let value = f64::compare(op, a.value, b.value);
        // Equal numbers may differ if they were computed in different ways.
        let apart = (a.value - b.value).abs() > NEAR * (a.magnitude + b.magnitude);
        let near = a.near || b.near || !(apart || a.exact && b.exact);
        Weighed { value, magnitude: value, near, exact: true }
    }

    fn choose(c: Self, a: Self, b: Self) -> Self {
        let chosen = if c.holds() { a } else { b };
        Weighed { near: chosen.near || c.near, ..chosen }
    }
}
