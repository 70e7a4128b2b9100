//! A law in whole numbers, as run by the kernel: its arithmetic, its error bound, and its C.

mod bound;
mod c;
mod notes;
mod number;
mod rewrite;

pub use bound::Weighed;
pub use notes::{NOTES, News};
pub use number::Truncated;

use crate::error::LawError;
use crate::graph::{Graph, Node, NodeId, One, Reduction, Symbol, Two};
use crate::law::TextLaw;
use crate::program::{Inputs, Program};
use crate::range::{Range, ranges};
use alloc::string::String;
use alloc::vec::Vec;
use notes::Notes;

/// The view of a path for a law in whole numbers: `struct ab_view` of `bpf/include/intf.h`. A round
/// trip of zero marks a place without a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Window in segments.
    pub cwnd: u32,
    /// Smoothed round-trip time in µs.
    pub srtt: u32,
    /// Segments acknowledged since the last loss.
    pub since_loss: u32,
    /// Segments acknowledged between the last two losses.
    pub between_losses: u32,
    /// The law's own notes of the path, in the format of [`Truncated::bits`]; places beyond its
    /// notes are zero.
    pub notes: [u64; NOTES],
}

/// A law in whole numbers.
#[derive(Clone, Debug)]
pub struct IntegerLaw {
    name: String,
    formula: String,
    min_ssthresh: f64,
    couples: bool,
    graph: Graph,
    ranges: Vec<Range>,
    growth: (NodeId, Program),
    backoff: (NodeId, Program),
    /// Whether the formulas are independent of the unit of time, so that microseconds can be used.
    scaled: bool,
    relative: [u32; 2],
    notes: Notes,
    /// For each node, its line in the text, from 1.
    lines: Vec<usize>,
}

impl TextLaw {
    /// The law in whole numbers.
    ///
    /// # Errors
    /// The place in the text of a feature that the kernel's arithmetic does not have.
    pub fn integer(&self) -> Result<IntegerLaw, LawError> {
        let (notes, updates) = Notes::of(self)?;
        let names: Vec<String> = self.notes().iter().map(|note| note.name.clone()).collect();
        let values = updates.iter().map(|update| update.value);
        let old: Vec<NodeId> = self.formulas().into_iter().chain(values).collect();
        let rewritten = rewrite::rewritten(self.graph(), self.places(), &old, &names);
        let rewritten = rewritten.map_err(|mistake| LawError::new(self.text(), mistake))?;
        let (graph, roots) = (rewritten.graph, rewritten.roots);
        let ranges = ranges(&graph, &names);
        let formulas = [roots[0], roots[1]];
        let scaled = formulas.iter().all(|root| is_scale_free(&graph, *root, &notes));
        let errors = bound::errors(&graph, &ranges, scaled);
        let line = |place: &core::ops::Range<usize>| {
            // Symbols with a memory are defined after the text: their errors are at the last line.
            let before = &self.text().as_bytes()[..place.start.min(self.text().len())];
            1 + before.iter().filter(|byte| **byte == b'\n').count()
        };
        let program = |root: NodeId| Program::new(&graph, &[root]);
        Ok(IntegerLaw {
            name: self.name().into(),
            formula: self.formula().into(),
            min_ssthresh: self.min_ssthresh(),
            couples: self.couples(),
            growth: (roots[0], program(roots[0])),
            backoff: (roots[1], program(roots[1])),
            relative: formulas.map(|root| errors[root.place()].bound()),
            notes: notes.with(&updates, &roots[2..], program),
            graph,
            ranges,
            scaled,
            lines: rewritten.places.iter().map(line).collect(),
        })
    }
}

/// The input of programs from views: whole numbers.
struct Whole<'a> {
    views: &'a [View],
    law: &'a IntegerLaw,
}

impl<N: FromWhole> Inputs<N> for Whole<'_> {
    fn paths(&self) -> usize {
        self.views.len()
    }

    fn usable(&self, path: usize) -> bool {
        self.views[path].srtt > 0
    }

    fn read(&self, symbol: Symbol, path: usize) -> N {
        let view = &self.views[path];
        match symbol {
            Symbol::Window => N::whole_number(view.cwnd),
            Symbol::Rtt if self.law.scaled => N::whole_number(view.srtt),
            Symbol::Note(note) => self.law.notes.read(note, view),
            _ => N::two(Two::Over, N::whole_number(view.srtt), N::whole_number(1_000_000)),
        }
    }
}

/// Numbers converted from whole ones.
trait FromWhole: crate::Number {
    fn whole_number(value: u32) -> Self;
    fn of_truncated(value: Truncated) -> Self;
}

impl FromWhole for Truncated {
    fn whole_number(value: u32) -> Self {
        Truncated::whole(value.into())
    }

    fn of_truncated(value: Truncated) -> Self {
        value
    }
}

impl FromWhole for Weighed {
    fn whole_number(value: u32) -> Self {
        <Weighed as crate::Number>::real(value.into())
    }

    fn of_truncated(value: Truncated) -> Self {
        <Weighed as crate::Number>::real(value.real_value())
    }
}

impl IntegerLaw {
    /// Number of the law's own notes in the kernel.
    pub fn notes(&self) -> usize {
        self.notes.count()
    }

    /// Growth of the window of `me` for one acknowledged segment, in 2^-32 segments: identical to
    /// the C, bit by bit.
    pub fn growth(&self, me: usize, views: &[View]) -> i64 {
        let growth: Truncated = self.growth.1.value(me, &Whole { views, law: self });
        growth.fixed()
    }

    /// The window of `me` after a congestion event in whole segments, not floored.
    pub fn backoff(&self, me: usize, views: &[View]) -> i64 {
        let backoff: Truncated = self.backoff.1.value(me, &Whole { views, law: self });
        backoff.floor()
    }

    /// Growth of the law itself in segments, and the bound on the difference of
    /// [`IntegerLaw::growth`]; `None` where truncation may decide a condition.
    pub fn growth_within(&self, me: usize, views: &[View]) -> Option<(f64, f64)> {
        let found: Weighed = self.growth.1.value(me, &Whole { views, law: self });
        let error = f64::from(self.relative[0]) * found.magnitude * U + FIXED;
        (!found.near).then_some((found.value, error))
    }

    /// The same for backoff, before it is rounded down.
    pub fn backoff_within(&self, me: usize, views: &[View]) -> Option<(f64, f64)> {
        let found: Weighed = self.backoff.1.value(me, &Whole { views, law: self });
        let error = f64::from(self.relative[1]) * found.magnitude * U + FIXED;
        (!found.near).then_some((found.value, error))
    }

    /// The bound on the error of growth, in 2^-31 of its magnitude.
    pub fn relative_bound(&self) -> u32 {
        self.relative[0]
    }

    /// Whether the magnitude is growth itself, because nothing is subtracted.
    pub fn is_positive(&self) -> bool {
        let below = self.graph.below(&[self.growth.0]);
        let signed = |id: &NodeId| match self.graph.node(*id) {
            Node::Two(Two::Minus, ..) | Node::One(One::Negative, _) => true,
            _ => !self.ranges[id.place()].is_positive_or_zero(),
        };
        !below.iter().any(signed)
    }

    /// The header of the law in C: `bpf/include/views.h` lists its definitions.
    pub fn c(&self) -> String {
        c::header(self, None)
    }

    /// The header with a line of `file`, the text of the law, for each line of C: messages of
    /// compilers and of the kernel's verifier then name the text.
    pub fn c_of_file(&self, file: &str) -> String {
        c::header(self, Some(file))
    }
}

/// The error of one operation is below this part of its result.
const U: f64 = 1.0 / (1u64 << 31) as f64;

/// Largest loss by truncation to whole 2^-32 segments.
const FIXED: f64 = 1.0 / (1u64 << 32) as f64;

/// Whether a node is independent of the unit of time.
fn is_scale_free(graph: &Graph, root: NodeId, notes: &Notes) -> bool {
    dimension(graph, root, notes).is_some_and(|power| power == Some(0) || power.is_none())
}

/// The exponent of time in a node's unit: `Some(None)` for zero and infinity, which fit any unit;
/// `None` if its parts do not fit together.
type Dimension = Option<Option<i32>>;

fn dimension(graph: &Graph, root: NodeId, notes: &Notes) -> Dimension {
    let mut all: Vec<Dimension> = alloc::vec![None; graph.nodes().len()];
    for id in graph.below(&[root]) {
        let of = |id: NodeId| all[id.place()];
        let found = match graph.node(id) {
            Node::Number(value) if value == 0.0 || value.is_infinite() => Some(None),
            Node::Path(Symbol::Rtt | Symbol::LastRtt, _) => Some(Some(1)),
            Node::Path(Symbol::Note(note), _) if notes.field(note).is_none() => None,
            Node::Number(_) | Node::Path(..) | Node::Paths => Some(Some(0)),
            Node::One(One::Negative | One::Magnitude, a) => of(a),
            Node::One(One::Root, a) => match of(a) {
                Some(Some(power)) if power % 2 == 0 => Some(Some(power / 2)),
                Some(None) => Some(None),
                _ => None,
            },
            Node::One(One::Not, a) => of(a).map(|_| Some(0)),
            Node::Two(Two::Times, a, b) => together(of(a), of(b), i32::checked_add),
            Node::Two(Two::Over, a, b) => together(of(a), of(b), i32::checked_sub),
            Node::Two(Two::Plus | Two::Minus | Two::Least | Two::Most, a, b) => same(of(a), of(b)),
            Node::Two(Two::Less | Two::LessEqual | Two::Equal, a, b) => {
                same(of(a), of(b)).map(|_| Some(0))
            }
            Node::Two(Two::And | Two::Or, a, b) => of(a).and(of(b)).map(|_| Some(0)),
            Node::Whole(a, n) => together(of(a), Some(Some(n.into())), i32::checked_mul),
            Node::Choice(c, a, b) => of(c).and(same(of(a), of(b))),
            Node::Reduce(Reduction::Count, _, a) => of(a).map(|_| Some(0)),
            Node::Reduce(_, _, a) => of(a),
            Node::One(..) | Node::Two(Two::Power, ..) => None,
        };
        all[id.place()] = found;
    }
    all[root.place()]
}

fn together(a: Dimension, b: Dimension, of: fn(i32, i32) -> Option<i32>) -> Dimension {
    Some(match (a?, b?) {
        (Some(a), Some(b)) => Some(of(a, b)?),
        _ => None,
    })
}

fn same(a: Dimension, b: Dimension) -> Dimension {
    match (a?, b?) {
        (Some(a), Some(b)) if a != b => None,
        (None, other) | (other, _) => Some(other),
    }
}
