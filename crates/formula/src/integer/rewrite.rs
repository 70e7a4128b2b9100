//! The formulas of a law in the kernel's operations: a separate graph.
//!
//! Operations that the arithmetic does not have are refused by name. A quotient by a product
//! becomes two quotients, which saves the truncation of the product, unless the product is exact.

use crate::error::Mistake;
use crate::graph::{Graph, Node, NodeId, One, Two};
use crate::number::Number;
use crate::range::{Range, ranges};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops;

/// A graph, and for each node its bytes in the text of the law.
pub(crate) struct Rewritten {
    pub(crate) graph: Graph,
    pub(crate) places: Vec<ops::Range<usize>>,
    pub(crate) roots: Vec<NodeId>,
}

/// Rewrites the nodes below the roots; `notes` are the names of notes.
pub(crate) fn rewritten(
    graph: &Graph,
    places: &[ops::Range<usize>],
    roots: &[NodeId],
    notes: &[String],
) -> Result<Rewritten, Mistake> {
    let ranges = ranges(graph, notes);
    let empty = Rewritten { graph: Graph::default(), places: Vec::new(), roots: Vec::new() };
    let mut rewriter = Rewriter { old: graph, ranges, new: empty, known: Vec::new() };
    rewriter.known = alloc::vec![None; graph.nodes().len()];
    for id in rewriter.needed(roots) {
        let place = &places[id.place()];
        let node = rewriter.node(id, place)?;
        rewriter.known[id.place()] = Some(node);
    }
    rewriter.new.roots = roots.iter().map(|root| rewriter.of(*root)).collect();
    Ok(rewriter.new)
}

struct Rewriter<'a> {
    old: &'a Graph,
    ranges: Vec<Range>,
    new: Rewritten,
    known: Vec<Option<NodeId>>,
}

impl Rewriter<'_> {
    /// The nodes below the roots, without branches that a condition on parameters excludes.
    fn needed(&self, roots: &[NodeId]) -> Vec<NodeId> {
        let mut used = alloc::vec![false; self.old.nodes().len()];
        let mut found = roots.to_vec();
        while let Some(id) = found.pop() {
            if core::mem::replace(&mut used[id.place()], true) {
                continue;
            }
            match self.old.node(id) {
                Node::Choice(c, a, b) if let Some(holds) = self.decided(c) => {
                    found.push(if holds { a } else { b });
                }
                node => found.extend(self.old.parts(node)),
            }
        }
        (0..used.len()).filter(|place| used[*place]).map(|place| NodeId(place as u16)).collect()
    }

    /// The value of a condition on numbers alone, such as one on a parameter.
    fn decided(&self, condition: NodeId) -> Option<bool> {
        let number = |id: NodeId| match self.old.node(id) {
            Node::Number(value) => Some(value),
            _ => None,
        };
        match self.old.node(condition) {
            Node::One(One::Not, a) => self.decided(a).map(|holds| !holds),
            Node::Two(Two::And, a, b) => Some(self.decided(a)? && self.decided(b)?),
            Node::Two(Two::Or, a, b) => Some(self.decided(a)? || self.decided(b)?),
            Node::Two(op @ (Two::Less | Two::LessEqual | Two::Equal), a, b) => {
                Some(f64::compare(op, number(a)?, number(b)?).holds())
            }
            _ => None,
        }
    }

    /// The new node of an earlier old one.
    fn of(&self, id: NodeId) -> NodeId {
        self.known[id.place()].unwrap_or(NodeId(0))
    }

    fn add(&mut self, node: Node, place: &ops::Range<usize>) -> Result<NodeId, Mistake> {
        let full = || Mistake::new("the law is too large for the kernel", place.clone());
        let id = self.new.graph.add(node).ok_or_else(full)?;
        if id.place() == self.new.places.len() {
            self.new.places.push(place.clone());
        }
        Ok(id)
    }

    fn node(&mut self, id: NodeId, place: &ops::Range<usize>) -> Result<NodeId, Mistake> {
        let refused =
            |what: &str| Err(Mistake::new(format!("the kernel has no {what}"), place.clone()));
        let node = match self.old.node(id) {
            Node::One(One::Exponential, _) => return refused("exponential function"),
            Node::One(One::Logarithm, _) => return refused("logarithm"),
            Node::Two(Two::Power, a, b) => return self.power(a, b, place),
            Node::Two(Two::Over, a, b) => return self.quotient(self.of(a), b, place),
            Node::One(op, a) => Node::One(op, self.of(a)),
            Node::Two(op, a, b) => Node::Two(op, self.of(a), self.of(b)),
            Node::Whole(a, n) => Node::Whole(self.of(a), n),
            Node::Choice(c, a, b) if let Some(holds) = self.decided(c) => {
                return Ok(self.of(if holds { a } else { b }));
            }
            Node::Choice(c, a, b) => Node::Choice(self.of(c), self.of(a), self.of(b)),
            Node::Reduce(of, index, body) => Node::Reduce(of, index, self.of(body)),
            other @ (Node::Number(_) | Node::Path(..) | Node::Paths) => other,
        };
        self.add(node, place)
    }

    /// A quotient. Its divisor is not zero anywhere in the domain.
    fn quotient(
        &mut self,
        a: NodeId,
        divisor: NodeId,
        place: &ops::Range<usize>,
    ) -> Result<NodeId, Mistake> {
        match self.old.node(divisor) {
            _ if self.ranges[divisor.place()].exact => {}
            Node::Two(Two::Times, b, c) => {
                let first = self.quotient(a, b, place)?;
                return self.quotient(first, c, place);
            }
            Node::Whole(b, n) => {
                return (0..n).try_fold(a, |so_far, _| self.quotient(so_far, b, place));
            }
            _ => {}
        }
        self.add(Node::Two(Two::Over, a, self.of(divisor)), place)
    }

    /// Powers by multiples of 1/8: products of roots.
    fn power(
        &mut self,
        base: NodeId,
        exponent: NodeId,
        place: &ops::Range<usize>,
    ) -> Result<NodeId, Mistake> {
        let eighths = match self.old.node(exponent) {
            Node::Number(value) => value * 8.0,
            _ => f64::NAN,
        };
        if !(eighths.abs() <= 128.0 && f64::from(eighths as i32) == eighths) {
            let message = "the kernel has powers by multiples of 1/8 up to 16 alone";
            return Err(Mistake::new(message, place.clone()));
        }
        let one = self.add(Node::Number(1.0), place)?;
        let (mut root, mut factors, mut left) = (self.of(base), Vec::new(), eighths.abs() as u32);
        if left / 8 > 0 {
            factors.push((root, left / 8));
        }
        for _ in 0..3 {
            left = left % 8 * 2;
            if left == 0 {
                break;
            }
            root = self.add(Node::One(One::Root, root), place)?;
            if left >= 8 {
                factors.push((root, 1));
            }
        }
        let mut product = one;
        for (factor, times) in factors {
            let power = match times {
                1 => factor,
                _ => self.add(Node::Whole(factor, times as u8), place)?,
            };
            product = match product == one {
                true => power,
                false => self.add(Node::Two(Two::Times, product, power), place)?,
            };
        }
        match eighths < 0.0 {
            true => self.add(Node::Two(Two::Over, one, product), place),
            false => Ok(product),
        }
    }
}
