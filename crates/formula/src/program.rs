//! A formula as a list of operations on registers, and its evaluation.
//!
//! Every node has its own register. Reductions that do not depend on each other share one loop over
//! the usable paths, and nodes that do not depend on the path of a loop are computed before it.

use crate::graph::{Graph, Index, Node, NodeId, One, Reduction, Symbol, Two};
use crate::number::Number;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// A register.
pub type Register = u16;

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "every `out` is the register that is written; others are read")]
pub enum Op {
    /// A symbol of the path at an index.
    Load { out: Register, symbol: Symbol, index: Index },
    /// The number of usable paths.
    Paths { out: Register },
    /// See [`One`].
    One { op: One, out: Register, a: Register },
    /// An operation on two numbers; for conditions, their product or the larger one.
    Two { op: Two, out: Register, a: Register, b: Register },
    /// A comparison.
    Compare { op: Two, out: Register, a: Register, b: Register },
    /// To a whole power.
    Whole { out: Register, a: Register, n: u8 },
    /// `a` if the condition `c` holds, else `b`.
    Choose { out: Register, c: Register, a: Register, b: Register },
    /// Begins a reduction.
    Begin { out: Register, of: Reduction },
    /// Runs the next `length` operations once for each usable path, as the path at `index`.
    Loop { index: Index, length: u16 },
    /// Adds the value of `a` for one path to a reduction.
    Gather { of: Reduction, out: Register, a: Register },
}

/// The inputs of a program.
pub trait Inputs<N> {
    /// Number of paths; some may not be usable.
    fn paths(&self) -> usize;

    /// Whether a path counts.
    fn usable(&self, path: usize) -> bool;

    /// A symbol of a path.
    fn read(&self, symbol: Symbol, path: usize) -> N;
}

/// Formulas that are evaluated together.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    ops: Box<[Op]>,
    /// The constants in the first registers.
    constants: Box<[f64]>,
    /// The node of each register.
    nodes: Box<[NodeId]>,
    outputs: Box<[Register]>,
}

impl Program {
    /// The program for these nodes, in this order.
    pub fn new(graph: &Graph, outputs: &[NodeId]) -> Self {
        let mut lowering = Lowering::new(graph, outputs);
        lowering.fill(1, outputs);
        let register = |id: &NodeId| lowering.of(*id);
        Program {
            outputs: outputs.iter().map(register).collect(),
            ops: lowering.ops.into(),
            constants: lowering.constants.into(),
            nodes: lowering.nodes.into(),
        }
    }

    /// Its operations.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The registers of its outputs.
    pub fn outputs(&self) -> &[Register] {
        &self.outputs
    }

    /// The node of its first output.
    pub fn root(&self) -> NodeId {
        self.nodes[usize::from(self.outputs[0])]
    }

    /// The node of each register.
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// Its first output, for path `me`.
    #[inline]
    pub fn value<N: Number>(&self, me: usize, inputs: &impl Inputs<N>) -> N {
        self.run(me, inputs, |registers| registers(0))
    }

    /// All its outputs, for path `me`: `see` gets the index of each with its value.
    pub fn values<N: Number>(
        &self,
        me: usize,
        inputs: &impl Inputs<N>,
        mut see: impl FnMut(usize, N),
    ) {
        self.run(me, inputs, |output| (0..self.outputs.len()).for_each(|k| see(k, output(k))));
    }

    /// Evaluates on the stack, with the registers that it needs; `done` reads the outputs.
    #[inline]
    fn run<N: Number, T>(
        &self,
        me: usize,
        inputs: &impl Inputs<N>,
        done: impl FnOnce(&dyn Fn(usize) -> N) -> T,
    ) -> T {
        match self.nodes.len() {
            0..=16 => self.run_in::<N, 16, T>(me, inputs, done),
            17..=32 => self.run_in::<N, 32, T>(me, inputs, done),
            33..=128 => self.run_in::<N, 128, T>(me, inputs, done),
            129..=512 => self.run_in::<N, 512, T>(me, inputs, done),
            _ => self.run_in::<N, 4096, T>(me, inputs, done),
        }
    }

    fn run_in<N: Number, const R: usize, T>(
        &self,
        me: usize,
        inputs: &impl Inputs<N>,
        done: impl FnOnce(&dyn Fn(usize) -> N) -> T,
    ) -> T {
        let mut registers = Registers([N::real(0.0); R]);
        for (register, value) in registers.0.iter_mut().zip(&self.constants) {
            *register = N::real(*value);
        }
        execute(&self.ops, &mut registers, &mut [me; 4], inputs);
        done(&|output| registers.get(self.outputs[output]))
    }
}

/// A power of two of registers, so that every access is in bounds.
struct Registers<N, const R: usize>([N; R]);

impl<N: Copy, const R: usize> Registers<N, R> {
    #[inline(always)] // an operation of the evaluator
    fn get(&self, register: Register) -> N {
        self.0[usize::from(register) & (R - 1)]
    }

    #[inline(always)] // an operation of the evaluator
    fn set(&mut self, register: Register, value: N) {
        self.0[usize::from(register) & (R - 1)] = value;
    }
}

fn execute<N: Number, const R: usize>(
    ops: &[Op],
    registers: &mut Registers<N, R>,
    at: &mut [usize; 4],
    inputs: &impl Inputs<N>,
) {
    let mut rest = ops;
    while let [op, behind @ ..] = rest {
        rest = behind;
        let value = |register| registers.get(register);
        let (out, found) = match *op {
            Op::Load { out, symbol, index } => {
                (out, inputs.read(symbol, at[usize::from(index) & 3]))
            }
            Op::Two { op, out, a, b } => (out, N::two(op, value(a), value(b))),
            Op::Compare { op, out, a, b } => (out, N::compare(op, value(a), value(b))),
            Op::One { op, out, a } => (out, N::one(op, value(a))),
            Op::Whole { out, a, n } => (out, N::whole(value(a), n)),
            Op::Choose { out, c, a, b } => (out, N::choose(value(c), value(a), value(b))),
            Op::Gather { of, out, a } => (out, gathered(of, value(out), value(a))),
            Op::Begin { out, of } => (out, N::real(beginning(of))),
            Op::Paths { out } => {
                let usable = (0..inputs.paths()).filter(|path| inputs.usable(*path)).count();
                (out, N::real(usable as f64))
            }
            Op::Loop { index, length } => {
                let (body, behind) = rest.split_at(usize::from(length).min(rest.len()));
                for path in 0..inputs.paths() {
                    if inputs.usable(path) {
                        at[usize::from(index) & 3] = path;
                        execute(body, registers, at, inputs);
                    }
                }
                rest = behind;
                continue;
            }
        };
        registers.set(out, found);
    }
}

/// The initial value of a reduction.
pub(crate) fn beginning(of: Reduction) -> f64 {
    match of {
        Reduction::Sum | Reduction::Count => 0.0,
        Reduction::Most => f64::NEG_INFINITY,
        Reduction::Least => f64::INFINITY,
    }
}

#[inline(always)] // an operation of the evaluator
fn gathered<N: Number>(of: Reduction, so_far: N, value: N) -> N {
    match of {
        Reduction::Sum => N::two(Two::Plus, so_far, value),
        Reduction::Most => N::two(Two::Most, so_far, value),
        Reduction::Least => N::two(Two::Least, so_far, value),
        Reduction::Count => N::choose(value, N::two(Two::Plus, so_far, N::real(1.0)), so_far),
    }
}

struct Lowering<'a> {
    graph: &'a Graph,
    ops: Vec<Op>,
    constants: Vec<f64>,
    register: Vec<Option<Register>>,
    /// Whether each register has its value, for the bound paths.
    done: Vec<bool>,
    /// The node of each register.
    nodes: Vec<NodeId>,
}

impl<'a> Lowering<'a> {
    fn new(graph: &'a Graph, outputs: &[NodeId]) -> Self {
        let nodes = graph.nodes().len();
        let mut lowering = Lowering {
            graph,
            ops: Vec::new(),
            constants: Vec::new(),
            register: alloc::vec![None; nodes],
            done: alloc::vec![false; nodes],
            nodes: Vec::new(),
        };
        for id in graph.below(outputs) {
            if let Node::Number(value) = graph.node(id) {
                lowering.constants.push(value);
                lowering.take_register(id);
            }
        }
        lowering
    }

    fn take_register(&mut self, id: NodeId) -> Register {
        self.done[id.place()] = true;
        let nodes = &mut self.nodes;
        *self.register[id.place()].get_or_insert_with(|| {
            nodes.push(id);
            nodes.len() as Register - 1
        })
    }

    /// The register of a node with a computed value.
    fn of(&self, id: NodeId) -> Register {
        self.register[id.place()].unwrap_or_default()
    }

    /// Computes `targets` with the paths of `bound` at their indices; the path being evaluated is
    /// bound too.
    fn fill(&mut self, bound: u8, targets: &[NodeId]) {
        let open = |id: &NodeId| self.graph.free(*id) & !bound == 0 && !self.done[id.place()];
        let needed: Vec<NodeId> = self.graph.below(targets).into_iter().filter(open).collect();
        let heights = self.heights(&needed);
        let highest = heights.iter().copied().max().unwrap_or(0);
        for height in 0..=highest {
            let here = |reduces: bool| {
                let pairs = needed.iter().zip(&heights);
                let chosen = pairs.filter(|(id, own)| {
                    **own == height && reduces == matches!(self.graph.node(**id), Node::Reduce(..))
                });
                chosen.map(|(id, _)| *id).collect::<Vec<NodeId>>()
            };
            let (reductions, plain) = (here(true), here(false));
            for index in 1..=3 {
                self.reduce(bound, index, &reductions);
            }
            plain.into_iter().for_each(|id| self.operation(id));
        }
    }

    /// For each of the nodes, which are in order, the number of loops that must run before it.
    fn heights(&self, needed: &[NodeId]) -> Vec<usize> {
        let mut heights = alloc::vec![0; self.graph.nodes().len()];
        for id in needed {
            let node = self.graph.node(*id);
            heights[id.place()] = match node {
                // The body of its loop has no height of its own here.
                Node::Reduce(_, _, body) => {
                    let below = self.graph.below(&[body]);
                    1 + below.iter().map(|part| heights[part.place()]).max().unwrap_or(0)
                }
                _ => self.graph.parts(node).map(|part| heights[part.place()]).max().unwrap_or(0),
            };
        }
        needed.iter().map(|id| heights[id.place()]).collect()
    }

    /// One loop for the reductions that run over `index`.
    fn reduce(&mut self, bound: u8, index: Index, reductions: &[NodeId]) {
        let of = |id: &NodeId| match self.graph.node(*id) {
            Node::Reduce(of, own, body) if own == index => Some((*id, of, body)),
            _ => None,
        };
        let own: Vec<(NodeId, Reduction, NodeId)> = reductions.iter().filter_map(of).collect();
        if own.is_empty() {
            return;
        }
        for (id, of, _) in &own {
            let out = self.take_register(*id);
            self.ops.push(Op::Begin { out, of: *of });
        }
        let start = self.ops.len();
        self.ops.push(Op::Loop { index, length: 0 });
        let bodies: Vec<NodeId> = own.iter().map(|(.., body)| *body).collect();
        self.fill(bound | 1 << index, &bodies);
        for (id, of, body) in &own {
            let (out, a) = (self.of(*id), self.of(*body));
            self.ops.push(Op::Gather { of: *of, out, a });
        }
        let length = (self.ops.len() - start - 1) as u16;
        self.ops[start] = Op::Loop { index, length };
        // Values that depend on the path of the loop must be computed again in another loop.
        for id in self.graph.below(&bodies) {
            if self.graph.free(id) & (1 << index) != 0 {
                self.done[id.place()] = false;
            }
        }
    }

    fn operation(&mut self, id: NodeId) {
        let node = self.graph.node(id);
        if matches!(node, Node::Number(_) | Node::Reduce(..)) {
            return;
        }
        let out = self.take_register(id);
        let of = |id: NodeId| self.of(id);
        self.ops.push(match node {
            Node::Number(_) | Node::Reduce(..) => return,
            Node::Path(symbol, index) => Op::Load { out, symbol, index },
            Node::Paths => Op::Paths { out },
            Node::One(op, a) => Op::One { op, out, a: of(a) },
            Node::Two(op @ (Two::Less | Two::LessEqual | Two::Equal), a, b) => {
                Op::Compare { op, out, a: of(a), b: of(b) }
            }
            Node::Two(Two::And, a, b) => Op::Two { op: Two::Least, out, a: of(a), b: of(b) },
            Node::Two(Two::Or, a, b) => Op::Two { op: Two::Most, out, a: of(a), b: of(b) },
            Node::Two(op, a, b) => Op::Two { op, out, a: of(a), b: of(b) },
            Node::Whole(a, n) => Op::Whole { out, a: of(a), n },
            Node::Choice(c, a, b) => Op::Choose { out, c: of(c), a: of(a), b: of(b) },
        });
    }
}
