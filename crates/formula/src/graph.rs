//! The typed representation of formulas: a graph in which equal parts are one node.

use alloc::vec::Vec;

/// A node, by its index in the graph. A node comes after the nodes that it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u16);

impl NodeId {
    pub(crate) fn place(self) -> usize {
        usize::from(self.0)
    }
}

/// The path of a symbol: 0 is the path being evaluated, `k` the present path of the reduction at
/// depth `k`.
pub type Index = u8;

/// The path being evaluated.
pub const ME: Index = 0;

/// The inputs of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// `w`: congestion window in segments.
    Window,
    /// `rtt`: smoothed round-trip time in seconds.
    Rtt,
    /// A note of the path.
    Note(u8),
    /// `acked`: segments acknowledged by this ACK.
    Acked,
    /// `rtt_last`: the newest round-trip sample in seconds; zero before the first.
    LastRtt,
    /// `p`: the probability that a segment begins a congestion event.
    Loss,
}

/// A unary operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum One {
    /// `-a`
    Negative,
    /// Magnitude.
    Magnitude,
    /// Square root.
    Root,
    /// `e` to the power of it.
    Exponential,
    /// Natural logarithm.
    Logarithm,
    /// Negation of a condition.
    Not,
}

/// A binary operation on numbers, or on conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Two {
    /// `a + b`
    Plus,
    /// `a - b`
    Minus,
    /// `a b`
    Times,
    /// `a / b`
    Over,
    /// `a` to the power of `b`, for exponents that are not whole in the text.
    Power,
    /// The smaller one.
    Least,
    /// The larger one.
    Most,
    /// `a < b`
    Less,
    /// `a <= b`
    LessEqual,
    /// `a == b`
    Equal,
    /// Whether both conditions hold.
    And,
    /// Whether one of two conditions holds.
    Or,
}

/// A reduction over all usable paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The sum of a number.
    Sum,
    /// The largest number.
    Most,
    /// The smallest number.
    Least,
    /// The number of paths for which a condition holds.
    Count,
}

/// A node.
#[derive(Clone, Copy, Debug)]
pub enum Node {
    /// A constant.
    Number(f64),
    /// A symbol of a path.
    Path(Symbol, Index),
    /// `n`: the number of usable paths.
    Paths,
    /// See [`One`].
    One(One, NodeId),
    /// See [`Two`].
    Two(Two, NodeId, NodeId),
    /// A whole power, by multiplication.
    Whole(NodeId, u8),
    /// The second node if the condition holds, else the third.
    Choice(NodeId, NodeId, NodeId),
    /// The reduction of the last node over all usable paths, with this index.
    Reduce(Reduction, Index, NodeId),
}

impl PartialEq for Node {
    /// Numbers are equal if their bits are.
    fn eq(&self, other: &Self) -> bool {
        use Node::{Choice, Number, One, Path, Paths, Reduce, Two, Whole};
        match (*self, *other) {
            (Number(a), Number(b)) => a.to_bits() == b.to_bits(),
            (Path(a, i), Path(b, j)) => (a, i) == (b, j),
            (Paths, Paths) => true,
            (One(f, a), One(g, b)) => (f, a) == (g, b),
            (Two(f, a, b), Two(g, c, d)) => (f, a, b) == (g, c, d),
            (Whole(a, n), Whole(b, m)) => (a, n) == (b, m),
            (Choice(a, b, c), Choice(d, e, f)) => (a, b, c) == (d, e, f),
            (Reduce(f, i, a), Reduce(g, j, b)) => (f, i, a) == (g, j, b),
            _ => false,
        }
    }
}

/// Most nodes of a law.
pub(crate) const MOST_NODES: usize = 4096;

/// Nodes, and for each node the paths on which it depends.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    /// Bit `k` for [`Index`] `k`.
    free: Vec<u8>,
}

impl Graph {
    /// The node with this content; `None` if there are too many nodes.
    pub(crate) fn add(&mut self, node: Node) -> Option<NodeId> {
        if let Some(place) = self.nodes.iter().position(|known| *known == node) {
            return Some(NodeId(place as u16));
        }
        if self.nodes.len() == MOST_NODES {
            return None;
        }
        let own = match node {
            Node::Path(_, index) => 1 << index,
            _ => 0,
        };
        let used = self.parts(node).fold(own, |all, part| all | self.free[part.place()]);
        self.free.push(match node {
            Node::Reduce(_, index, _) => used & !(1 << index),
            _ => used,
        });
        self.nodes.push(node);
        Some(NodeId(self.nodes.len() as u16 - 1))
    }

    /// The content of a node.
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id.place()]
    }

    /// The nodes in order, each after those that it uses.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The paths on which a node depends: bit `k` for [`Index`] `k`.
    pub(crate) fn free(&self, id: NodeId) -> u8 {
        self.free[id.place()]
    }

    /// The nodes that a node uses directly.
    pub fn parts(&self, node: Node) -> impl Iterator<Item = NodeId> {
        let [a, b, c] = match node {
            Node::Number(_) | Node::Path(..) | Node::Paths => [None; 3],
            Node::One(_, a) | Node::Whole(a, _) | Node::Reduce(_, _, a) => [Some(a), None, None],
            Node::Two(_, a, b) => [Some(a), Some(b), None],
            Node::Choice(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        [a, b, c].into_iter().flatten()
    }

    /// Whether a node is a condition instead of a number.
    pub fn is_condition(&self, id: NodeId) -> bool {
        match self.node(id) {
            Node::One(One::Not, _) => true,
            Node::Choice(_, then, _) => self.is_condition(then),
            Node::Two(operator, ..) => {
                use Two::{And, Equal, Less, LessEqual, Or};
                matches!(operator, Less | LessEqual | Equal | And | Or)
            }
            _ => false,
        }
    }

    /// The nodes below these, including them, in order.
    pub fn below(&self, roots: &[NodeId]) -> Vec<NodeId> {
        let mut used = alloc::vec![false; self.nodes.len()];
        roots.iter().for_each(|root| used[root.place()] = true);
        for place in (0..self.nodes.len()).rev() {
            if used[place] {
                self.parts(self.nodes[place]).for_each(|part| used[part.place()] = true);
            }
        }
        (0..used.len()).filter(|place| used[*place]).map(|place| NodeId(place as u16)).collect()
    }
}
