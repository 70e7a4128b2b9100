//! Ranges of numbers over the domain of laws, and operations that these ranges forbid.

use crate::error::Mistake;
use crate::graph::{Graph, Node, NodeId, One, Reduction, Symbol, Two};
use crate::number::Number;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops;

/// Most paths of a coupled connection (`AB_PATHS` of `bpf/include/intf.h`).
pub(crate) const PATHS: usize = 16;

/// The domain: windows in segments, round trips in seconds, segments between losses
/// (`bpf/include/views.h`).
pub(crate) const WINDOWS: (f64, f64) = (1.0, 16_777_216.0);
/// See [`WINDOWS`].
pub(crate) const ROUND_TRIPS: (f64, f64) = (1e-6, 2_147.483_648);
/// See [`WINDOWS`].
pub(crate) const SEGMENTS: (f64, f64) = (0.0, 4_294_967_295.0);

/// The least loss probability of a steady state.
const LEAST_LOSS: f64 = 1e-12;

/// The notes that the kernel keeps as whole numbers, for every law.
pub(crate) const COUNTED: [&str; 2] = ["since_loss", "between_losses"];

/// The note of `rtt_min`.
pub(crate) const LEAST_RTT: &str = "least_rtt";

/// The known range of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) least: f64,
    pub(crate) most: f64,
    /// A whole number below 2^32, or a power of two: exact in the arithmetic.
    pub(crate) exact: bool,
}

/// Whole numbers up to this are exact.
const EXACT: f64 = 4_294_967_296.0;

impl Range {
    fn new(least: f64, most: f64) -> Self {
        // The difference of two infinities is unknown.
        let least = if least.is_nan() { f64::NEG_INFINITY } else { least };
        let most = if most.is_nan() { f64::INFINITY } else { most };
        Range { least, most, exact: false }
    }

    fn exactly(self, exact: bool) -> Self {
        Range { exact: exact && self.least >= 0.0 && self.most <= EXACT, ..self }
    }

    /// The range of an operation that is monotonic in each of its operands on each side of zero.
    fn corners(op: Two, a: Range, b: Range) -> Range {
        let values = [(a.least, b.least), (a.least, b.most), (a.most, b.least), (a.most, b.most)];
        // Zero times anything is zero.
        let product = |(x, y): (f64, f64)| match op {
            Two::Times if x == 0.0 || y == 0.0 => 0.0,
            _ => f64::two(op, x, y),
        };
        let values = values.map(product);
        let least = values.into_iter().fold(f64::INFINITY, f64::min);
        let most = values.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Range::new(least, most)
    }

    pub(crate) fn is_positive_or_zero(self) -> bool {
        self.least >= 0.0
    }
}

/// Refuses operations that may have no result: a divisor that may be zero, a root or power of a
/// number that may be negative, a logarithm of a number that may not be above zero.
pub(crate) fn check(
    graph: &Graph,
    places: &[ops::Range<usize>],
    notes: &[String],
) -> Result<(), Mistake> {
    let ranges = ranges(graph, notes);
    let of = |id: NodeId| ranges[id.place()];
    for (id, (node, place)) in graph.nodes().iter().zip(places).enumerate() {
        let (what, range) = match *node {
            Node::Two(Two::Over, _, b) if of(b).least <= 0.0 && of(b).most >= 0.0 => {
                ("the divisor may be zero", of(b))
            }
            Node::One(One::Root, a) if of(a).least < 0.0 => {
                ("the root may be of a negative number", of(a))
            }
            Node::One(One::Logarithm, a) if of(a).least <= 0.0 => {
                ("the logarithm may be of a number that is not above zero", of(a))
            }
            Node::Two(Two::Power, a, _) if of(a).least <= 0.0 => {
                ("the power may be of a number that is not above zero", of(a))
            }
            _ if is_unbounded(graph, *node, &ranges, id) => {
                let message = "the number may be infinite: bound what it is made of";
                return Err(Mistake::new(message, place.clone()));
            }
            _ => continue,
        };
        let (least, most) = (range.least, range.most);
        let help = "as far as the domain tells; bound it, as in `max(…, 1)`";
        let message = format!("{what}: it lies from {least} to {most} {help}");
        return Err(Mistake::new(message, place.clone()));
    }
    Ok(())
}

/// Whether a node may be infinite although its parts are finite.
fn is_unbounded(graph: &Graph, node: Node, ranges: &[Range], id: usize) -> bool {
    let finite = |range: &Range| range.least.is_finite() && range.most.is_finite();
    let mut parts = graph.parts(node).peekable();
    parts.peek().is_some()
        && parts.all(|part| finite(&ranges[part.place()]))
        && !finite(&ranges[id])
}

/// The range of every node; conditions are 0 or 1.
pub(crate) fn ranges(graph: &Graph, notes: &[String]) -> Vec<Range> {
    let mut all: Vec<Range> = Vec::new();
    for node in graph.nodes() {
        let of = |id: crate::graph::NodeId| all[id.place()];
        let pair = |(least, most): (f64, f64)| Range::new(least, most);
        let range = match *node {
            Node::Number(value) => {
                let whole = value == f64::from(value as u32);
                pair((value, value)).exactly(whole)
            }
            Node::Path(Symbol::Window, _) => pair(WINDOWS).exactly(true),
            Node::Path(Symbol::Rtt, _) => pair(ROUND_TRIPS),
            Node::Path(Symbol::LastRtt, _) => pair((0.0, ROUND_TRIPS.1)),
            Node::Path(Symbol::Note(note), _) => {
                let published = notes.get(usize::from(note)).map(String::as_str);
                match published {
                    Some(name) if COUNTED.contains(&name) => pair(SEGMENTS).exactly(true),
                    Some(LEAST_RTT) => pair(ROUND_TRIPS),
                    _ => pair((f64::NEG_INFINITY, f64::INFINITY)),
                }
            }
            Node::Path(Symbol::Acked, _) => pair((0.0, f64::INFINITY)),
            Node::Path(Symbol::Loss, _) => pair((LEAST_LOSS, 1.0)),
            Node::Paths => pair((1.0, PATHS as f64)).exactly(true),
            Node::One(op, a) => one(op, of(a)),
            Node::Two(op, a, b) => two(op, of(a), of(b)),
            Node::Whole(a, n) => whole(of(a), n),
            Node::Choice(_, a, b) => {
                let (a, b) = (of(a), of(b));
                Range::new(a.least.min(b.least), a.most.max(b.most)).exactly(a.exact && b.exact)
            }
            Node::Reduce(reduction, _, body) => reduced(reduction, of(body)),
        };
        all.push(range);
    }
    all
}

fn one(op: One, a: Range) -> Range {
    match op {
        One::Negative => Range::new(-a.most, -a.least),
        One::Magnitude => {
            let least = if a.least > 0.0 { a.least } else { (-a.most).max(0.0) };
            Range::new(least, a.most.max(-a.least)).exactly(a.exact)
        }
        One::Root => Range::new(libm::sqrt(a.least.max(0.0)), libm::sqrt(a.most.max(0.0))),
        One::Exponential => Range::new(libm::exp(a.least), libm::exp(a.most)),
        One::Logarithm => Range::new(libm::log(a.least.max(0.0)), libm::log(a.most.max(0.0))),
        One::Not => Range::new(0.0, 1.0),
    }
}

fn two(op: Two, a: Range, b: Range) -> Range {
    let exact = a.exact && b.exact;
    match op {
        Two::Plus => Range::new(a.least + b.least, a.most + b.most).exactly(exact),
        Two::Minus => Range::new(a.least - b.most, a.most - b.least).exactly(exact),
        Two::Times => Range::corners(op, a, b).exactly(exact),
        Two::Over if b.least > 0.0 || b.most < 0.0 => Range::corners(op, a, b),
        Two::Power if a.least > 0.0 => Range::corners(op, a, b),
        Two::Over | Two::Power => Range::new(f64::NEG_INFINITY, f64::INFINITY),
        Two::Least => Range::new(a.least.min(b.least), a.most.min(b.most)).exactly(exact),
        Two::Most => Range::new(a.least.max(b.least), a.most.max(b.most)).exactly(exact),
        Two::Less | Two::LessEqual | Two::Equal | Two::And | Two::Or => Range::new(0.0, 1.0),
    }
}

fn whole(a: Range, n: u8) -> Range {
    let (x, y) = (f64::whole(a.least, n), f64::whole(a.most, n));
    let range = match n.is_multiple_of(2) && a.least < 0.0 {
        true => Range::new(if a.most >= 0.0 { 0.0 } else { y }, x.max(y)),
        false => Range::new(x, y),
    };
    range.exactly(a.exact)
}

fn reduced(reduction: Reduction, body: Range) -> Range {
    let most = PATHS as f64;
    match reduction {
        Reduction::Sum => {
            // At least one path; for a negative number, all paths.
            let least = if body.least > 0.0 { body.least } else { body.least * most };
            let above = if body.most > 0.0 { body.most * most } else { body.most };
            Range::new(least, above).exactly(body.exact)
        }
        Reduction::Count => Range::new(0.0, most).exactly(true),
        Reduction::Most | Reduction::Least => body,
    }
}
