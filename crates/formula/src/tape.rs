//! A law for a given number of paths as one list of steps, each computed once: equal parts of the
//! formulas of all paths are one step, and no loop is left.
//!
//! Steps may be rewritten where the results are equal as real numbers, for all finite operands; no
//! constants are combined. Growth and backoff evaluate to the numbers of the program, bit by bit
//! but for the sign of zero and factors of one number that are next to each other; what else is
//! given for a path does up to rounding. In [`Enclosure`]s all contain the numbers of the text.
//!
//! [`Enclosure`]: crate::Enclosure

use crate::graph::{Graph, ME, Node, NodeId, One, Reduction, Symbol, Two};
use crate::law::TextLaw;
use crate::number::Number;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// A step, by its place on the tape.
pub type Slot = u16;

/// A step; it uses only those before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// An input of the tape.
    Input(u8),
    /// A number.
    Constant(f64),
    /// An operation on one number.
    One(One, Slot),
    /// An operation on two numbers, or a comparison; conditions are 1 or 0.
    Two(Two, Slot, Slot),
    /// A whole power.
    Whole(Slot, u8),
    /// The second if the condition holds, else the third.
    Choose(Slot, Slot, Slot),
}

/// The steps that use a path: any steps of the tape, such as inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathSlots {
    /// Segments.
    pub window: Slot,
    /// Seconds.
    pub rtt: Slot,
    /// Probability.
    pub loss: Slot,
}

/// The formulas of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FormulaSlots {
    /// Segments for one acknowledged segment.
    pub growth: Slot,
    /// The window after a congestion event, in segments.
    pub backoff: Slot,
    /// `growth w`, if growth divides by the window and the product leaves that out.
    pub gained: Option<Slot>,
    /// What a congestion event costs, `w - backoff`, in segments.
    pub lost: Slot,
}

/// Most steps of a tape.
const MOST_STEPS: usize = 8192;

/// Most factors that are looked through for a window.
const MOST_FACTORS: u8 = 16;

/// A list of steps.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    steps: Vec<Step>,
    full: bool,
}

impl Tape {
    /// The steps in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether steps are missing because there are too many; then no result means anything.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Evaluates all steps into `values`.
    pub fn run<N: Number>(&self, inputs: &[N], values: &mut Vec<N>) {
        values.clear();
        for step in &self.steps {
            let value = self.value(*step, inputs, values);
            values.push(value);
        }
    }

    /// Evaluates all steps, with given values for some of them: pairs in the order of the tape.
    pub fn run_with<N: Number>(&self, inputs: &[N], given: &[(Slot, N)], values: &mut Vec<N>) {
        values.clear();
        let mut given = given.iter().peekable();
        for (slot, step) in self.steps.iter().enumerate() {
            let value = match given.next_if(|(own, _)| usize::from(*own) == slot) {
                Some((_, value)) => *value,
                None => self.value(*step, inputs, values),
            };
            values.push(value);
        }
    }

    #[inline]
    fn value<N: Number>(&self, step: Step, inputs: &[N], values: &[N]) -> N {
        let of = |slot: Slot| values[usize::from(slot)];
        match step {
            Step::Input(input) => inputs[usize::from(input)],
            Step::Constant(value) => N::real(value),
            Step::One(op, a) => N::one(op, of(a)),
            Step::Two(op @ (Two::Less | Two::LessEqual | Two::Equal), a, b) => {
                N::compare(op, of(a), of(b))
            }
            Step::Two(Two::And, a, b) => N::two(Two::Least, of(a), of(b)),
            Step::Two(Two::Or, a, b) => N::two(Two::Most, of(a), of(b)),
            Step::Two(op, a, b) => N::two(op, of(a), of(b)),
            Step::Whole(a, n) => N::whole(of(a), n),
            Step::Choose(c, a, b) => N::choose(of(c), of(a), of(b)),
        }
    }

    fn step(&self, slot: Slot) -> Step {
        self.steps[usize::from(slot)]
    }

    fn known(&self, slot: Slot) -> Option<f64> {
        match self.step(slot) {
            Step::Constant(value) => Some(value),
            _ => None,
        }
    }

    fn add(&mut self, step: Step) -> Slot {
        if let Some(place) = self.steps.iter().position(|known| *known == step) {
            return place as Slot;
        }
        if self.steps.len() == MOST_STEPS {
            self.full = true;
            return 0;
        }
        self.steps.push(step);
        (self.steps.len() - 1) as Slot
    }

    /// An input.
    pub fn input(&mut self, input: u8) -> Slot {
        self.add(Step::Input(input))
    }

    /// A number.
    pub fn constant(&mut self, value: f64) -> Slot {
        self.add(Step::Constant(value))
    }

    /// `op a`
    pub fn one(&mut self, op: One, a: Slot) -> Slot {
        match (op, self.known(a)) {
            (One::Not, Some(value)) => self.constant(f64::from(u8::from(value == 0.0))),
            _ => self.add(Step::One(op, a)),
        }
    }

    /// `a op b`
    pub fn two(&mut self, op: Two, a: Slot, b: Slot) -> Slot {
        // Sums and products of doubles do not depend on the order of the operands, bit by bit, so
        // that `w c` and `c w` are one step.
        let (a, b) = match op {
            Two::Plus | Two::Times if b < a => (b, a),
            _ => (a, b),
        };
        let (x, y) = (self.known(a), self.known(b));
        match (op, x, y) {
            (Two::Plus, Some(0.0), _) | (Two::Times, Some(1.0), _) => return b,
            (Two::Plus | Two::Minus, _, Some(0.0)) => return a,
            (Two::Times | Two::Over, _, Some(1.0)) => return a,
            (Two::And | Two::Or, Some(known), _) => {
                return if (known == 0.0) == (op == Two::And) { a } else { b };
            }
            (Two::And | Two::Or, _, Some(known)) => {
                return if (known == 0.0) == (op == Two::And) { b } else { a };
            }
            (Two::Less | Two::LessEqual | Two::Equal, Some(x), Some(y)) => {
                return self.constant(f64::compare(op, x, y));
            }
            (Two::Equal, ..) if a == b => return self.constant(1.0),
            (Two::Less | Two::LessEqual, ..) => return self.below(op, a, b),
            _ => {}
        }
        self.add(Step::Two(op, a, b))
    }

    /// `a` to the power of `n`.
    pub fn whole(&mut self, a: Slot, n: u8) -> Slot {
        self.add(Step::Whole(a, n))
    }

    /// `a` if `c` holds, else `b`.
    pub fn choose(&mut self, c: Slot, a: Slot, b: Slot) -> Slot {
        match self.known(c) {
            Some(value) => {
                if value == 0.0 {
                    b
                } else {
                    a
                }
            }
            None if a == b => a,
            None => self.add(Step::Choose(c, a, b)),
        }
    }

    /// `a < b` or `a <= b`. An extreme is compared by its parts: `max(x, y) c <= b` holds where
    /// `x c <= b` and `y c <= b`, which enclosures tell apart better.
    fn below(&mut self, op: Two, a: Slot, b: Slot) -> Slot {
        if a == b {
            return self.constant(f64::from(u8::from(op == Two::LessEqual)));
        }
        let (left, right) = (self.scaled(a), self.scaled(b));
        if let Step::Two(Two::Most, x, y) = self.step(left.0)
            && left.1.is_none_or(|c| self.known(c).is_some_and(|c| c > 0.0))
        {
            let parts = [x, y].map(|part| {
                let part = self.times(part, left.1);
                self.two(op, part, b)
            });
            return self.two(Two::And, parts[0], parts[1]);
        }
        if let Step::Two(Two::Least, x, y) = self.step(right.0)
            && right.1.is_none_or(|c| self.known(c).is_some_and(|c| c > 0.0))
        {
            let parts = [x, y].map(|part| {
                let part = self.times(part, right.1);
                self.two(op, a, part)
            });
            return self.two(Two::And, parts[0], parts[1]);
        }
        // `x c < x d` is `0 < x (d - c)`, so the sign of `x` decides where the factors differ.
        // Equal factors leave `x c` beside itself.
        if left.0 == right.0 {
            let [c, d] = [left.1, right.1].map(|c| c.and_then(|c| self.known(c)).unwrap_or(1.0));
            if c == d {
                return self.constant(f64::from(u8::from(op == Two::LessEqual)));
            }
            let zero = self.constant(0.0);
            let (low, high) = if c < d { (zero, left.0) } else { (left.0, zero) };
            return self.add(Step::Two(op, low, high));
        }
        self.add(Step::Two(op, a, b))
    }

    /// A step without its constant factor, and that.
    fn scaled(&self, slot: Slot) -> (Slot, Option<Slot>) {
        match self.step(slot) {
            Step::Two(Two::Times, a, c) if self.known(c).is_some() => (a, Some(c)),
            Step::Two(Two::Times, c, a) if self.known(c).is_some() => (a, Some(c)),
            _ => (slot, None),
        }
    }

    fn times(&mut self, a: Slot, c: Option<Slot>) -> Slot {
        c.map_or(a, |c| self.two(Two::Times, a, c))
    }

    /// `window - backoff`, without the window twice if it is a factor of both.
    fn lost(&mut self, window: Slot, backoff: Slot) -> Slot {
        match self.step(backoff) {
            Step::Two(Two::Minus, w, part) if w == window => part,
            Step::Two(Two::Over, w, by) if w == window => {
                let one = self.constant(1.0);
                let part = self.two(Two::Over, one, by);
                let part = self.two(Two::Minus, one, part);
                self.two(Two::Times, window, part)
            }
            _ => match self.factor(backoff, window, MOST_FACTORS) {
                Some(factor) => {
                    let one = self.constant(1.0);
                    let part = self.two(Two::Minus, one, factor);
                    self.two(Two::Times, window, part)
                }
                None => self.two(Two::Minus, window, backoff),
            },
        }
    }

    /// `slot` times `window`, which is above zero, if that leaves a division by the window out.
    fn divided(&mut self, slot: Slot, window: Slot, depth: u8) -> Option<Slot> {
        let depth = depth.checked_sub(1)?;
        match self.step(slot) {
            Step::Two(Two::Over, a, w) if w == window => Some(a),
            Step::Two(Two::Over, a, b) => {
                let rest = self.divided(a, window, depth)?;
                Some(self.two(Two::Over, rest, b))
            }
            Step::Two(Two::Times, a, b) => match self.divided(a, window, depth) {
                Some(rest) => Some(self.two(Two::Times, rest, b)),
                None => {
                    let rest = self.divided(b, window, depth)?;
                    Some(self.two(Two::Times, a, rest))
                }
            },
            Step::Two(op @ (Two::Plus | Two::Minus | Two::Least | Two::Most), a, b) => {
                let [left, right] = self.either(a, b, window, depth)?;
                Some(self.two(op, left, right))
            }
            Step::Choose(c, a, b) => {
                let [left, right] = self.either(a, b, window, depth)?;
                Some(self.choose(c, left, right))
            }
            Step::One(One::Negative, a) => {
                let rest = self.divided(a, window, depth)?;
                Some(self.one(One::Negative, rest))
            }
            _ => None,
        }
    }

    /// Both times the window, if that leaves a division out of one of them.
    fn either(&mut self, a: Slot, b: Slot, window: Slot, depth: u8) -> Option<[Slot; 2]> {
        let [left, right] = [a, b].map(|part| self.divided(part, window, depth));
        if left.is_none() && right.is_none() {
            return None;
        }
        let mut whole = |part: Slot, known: Option<Slot>| {
            known.unwrap_or_else(|| self.two(Two::Times, part, window))
        };
        Some([whole(a, left), whole(b, right)])
    }

    /// The step by which `of` is multiplied to give `slot`, if products and quotients show it.
    fn factor(&mut self, slot: Slot, of: Slot, depth: u8) -> Option<Slot> {
        if slot == of {
            return Some(self.constant(1.0));
        }
        let depth = depth.checked_sub(1)?;
        match self.step(slot) {
            Step::Two(Two::Times, a, b) => match self.factor(a, of, depth) {
                Some(rest) => Some(self.two(Two::Times, rest, b)),
                None => {
                    let rest = self.factor(b, of, depth)?;
                    Some(self.two(Two::Times, a, rest))
                }
            },
            Step::Two(Two::Over, a, b) => {
                let rest = self.factor(a, of, depth)?;
                Some(self.two(Two::Over, rest, b))
            }
            _ => None,
        }
    }
}

impl TextLaw {
    /// Adds the formulas of a law for these paths, all usable, with notes in the steady state.
    pub fn unroll(&self, tape: &mut Tape, paths: &[PathSlots]) -> Vec<FormulaSlots> {
        let notes: Vec<Vec<Slot>> = paths.iter().map(|path| self.settled_on(tape, *path)).collect();
        let [growth, backoff] = self.formulas();
        let mut formulas = Vec::new();
        let mut done = BTreeMap::new();
        for (me, path) in paths.iter().enumerate() {
            let mut unrolling =
                Unrolling { tape, graph: self.graph(), paths, notes: &notes, done: &mut done };
            let at = [me, 0, 0, 0];
            unrolling.fill(&[growth, backoff], at, 1 << ME);
            let [growth, backoff] = [growth, backoff].map(|node| unrolling.of(node, at));
            let gained = tape.divided(growth, path.window, MOST_FACTORS);
            let lost = tape.lost(path.window, backoff);
            formulas.push(FormulaSlots { growth, backoff, gained, lost });
        }
        formulas
    }

    /// The notes of a path in the steady state.
    fn settled_on(&self, tape: &mut Tape, path: PathSlots) -> Vec<Slot> {
        let mut notes: Vec<Slot> =
            self.notes().iter().map(|note| tape.constant(note.initial)).collect();
        // Steady values read no notes.
        let unread = alloc::vec![alloc::vec![tape.constant(0.0); notes.len()]];
        for (note, node) in self.steady_values() {
            let (mut done, paths) = (BTreeMap::new(), [path]);
            let mut unrolling = Unrolling {
                tape,
                graph: self.graph(),
                paths: &paths,
                notes: &unread,
                done: &mut done,
            };
            unrolling.fill(&[node], [0; 4], 1 << ME);
            notes[note] = unrolling.of(node, [0; 4]);
        }
        notes
    }
}

/// The path at each index.
type At = [usize; 4];

struct Unrolling<'a> {
    tape: &'a mut Tape,
    graph: &'a Graph,
    paths: &'a [PathSlots],
    /// For each path.
    notes: &'a [Vec<Slot>],
    /// The step of a node for the paths on which it depends.
    done: &'a mut BTreeMap<(NodeId, At), Slot>,
}

impl Unrolling<'_> {
    fn key(&self, node: NodeId, at: At) -> (NodeId, At) {
        let free = self.graph.free(node);
        let used = |index: usize| if free & (1 << index) != 0 { at[index] } else { usize::MAX };
        (node, core::array::from_fn(used))
    }

    fn of(&self, node: NodeId, at: At) -> Slot {
        self.done.get(&self.key(node, at)).copied().unwrap_or_default()
    }

    /// Computes all nodes below the targets that depend on bound paths alone.
    fn fill(&mut self, targets: &[NodeId], at: At, bound: u8) {
        for node in self.graph.below(targets) {
            let key = self.key(node, at);
            if self.graph.free(node) & !bound == 0 && !self.done.contains_key(&key) {
                let slot = self.made(node, at, bound);
                self.done.insert(key, slot);
            }
        }
    }

    fn made(&mut self, node: NodeId, at: At, bound: u8) -> Slot {
        let of = |node: NodeId| self.of(node, at);
        match self.graph.node(node) {
            Node::Number(value) => self.tape.constant(value),
            Node::Path(symbol, index) => self.symbol(symbol, at[usize::from(index) & 3]),
            Node::Paths => self.tape.constant(self.paths.len() as f64),
            Node::One(op, a) => {
                let a = of(a);
                self.tape.one(op, a)
            }
            Node::Two(op, a, b) => {
                let (a, b) = (of(a), of(b));
                self.tape.two(op, a, b)
            }
            Node::Whole(a, n) => {
                let a = of(a);
                self.tape.whole(a, n)
            }
            Node::Choice(c, a, b) => {
                let (c, a, b) = (of(c), of(a), of(b));
                self.tape.choose(c, a, b)
            }
            Node::Reduce(reduction, index, body) => {
                let mut parts = Vec::new();
                for path in 0..self.paths.len() {
                    let mut inside = at;
                    inside[usize::from(index) & 3] = path;
                    self.fill(&[body], inside, bound | 1 << index);
                    parts.push(self.of(body, inside));
                }
                self.reduced(reduction, &parts)
            }
        }
    }

    fn symbol(&mut self, symbol: Symbol, path: usize) -> Slot {
        let PathSlots { window, rtt, loss } = self.paths[path];
        match symbol {
            Symbol::Window => window,
            Symbol::Rtt => rtt,
            Symbol::Loss => loss,
            Symbol::Note(note) => self.notes[path][usize::from(note)],
            // Neither formulas nor steady values read these.
            Symbol::Acked | Symbol::LastRtt => self.tape.constant(f64::NAN),
        }
    }

    fn reduced(&mut self, reduction: Reduction, parts: &[Slot]) -> Slot {
        let (op, first) = match reduction {
            // A condition that holds is 1.
            Reduction::Sum | Reduction::Count => (Two::Plus, Some(self.tape.constant(0.0))),
            Reduction::Most => (Two::Most, None),
            Reduction::Least => (Two::Least, None),
        };
        let all = first.into_iter().chain(parts.iter().copied());
        all.reduce(|so_far, part| self.tape.two(op, so_far, part)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Enclosure;
    use crate::program::Inputs;
    use proptest::prelude::*;

    const LAWS: [&str; 12] = [
        include_str!("../../../python/anabranch/laws/balia.law"),
        include_str!("../../../python/anabranch/laws/ewtcp.law"),
        include_str!("../../../python/anabranch/laws/fully-coupled.law"),
        include_str!("../../../python/anabranch/laws/gentle.law"),
        include_str!("../../../python/anabranch/laws/lia.law"),
        include_str!("../../../python/anabranch/laws/olia.law"),
        include_str!("../../../python/anabranch/laws/phi.law"),
        include_str!("../../../python/anabranch/laws/reno.law"),
        include_str!("../../../python/anabranch/laws/semicoupled.law"),
        "a = exp(-rtt) + ln(w) - max(w - n, 1)^1.5 + abs(x - 9)^3\nhigh = is_largest(l) and not is_smallest(w)\n\
         growth = (if any_s(w_s > 20) then sqrt(l) else -1)/w + a\nbackoff = w_tot^0.5*rtt_min + count_s(high_s)",
        "growth = (if w*0.5 <= 0.5*w then 4 else 1)/w\nbackoff = w/2",
        "growth = (if max_s(w_s)*0.5 <= 0.5*w then 4 else 1)/w\nbackoff = w/2",
    ];

    /// Windows, round trips and losses.
    struct Settled<'a, N>(&'a TextLaw, &'a [[N; 3]]);

    impl<N: Number> Inputs<N> for Settled<'_, N> {
        fn paths(&self) -> usize {
            self.1.len()
        }

        fn usable(&self, _path: usize) -> bool {
            true
        }

        fn read(&self, symbol: Symbol, path: usize) -> N {
            let [window, rtt, loss] = self.1[path];
            match symbol {
                Symbol::Window => window,
                Symbol::Rtt => rtt,
                Symbol::Note(note) => {
                    // The prelude's notes: `l` between losses, and the round trip.
                    match self.0.notes()[usize::from(note)].name.as_str() {
                        "between_losses" => N::two(Two::Over, N::real(1.0), loss),
                        "least_rtt" => rtt,
                        _ => N::real(0.0),
                    }
                }
                _ => loss,
            }
        }
    }

    fn unrolled(law: &TextLaw, count: usize) -> (Tape, Vec<FormulaSlots>) {
        let mut tape = Tape::default();
        let paths: Vec<PathSlots> = (0..count as u8)
            .map(|path| PathSlots {
                window: tape.input(3 * path),
                rtt: tape.input(3 * path + 1),
                loss: tape.input(3 * path + 2),
            })
            .collect();
        let formulas = law.unroll(&mut tape, &paths);
        (tape, formulas)
    }

    fn flat<N: Copy>(paths: &[[N; 3]]) -> Vec<N> {
        paths.iter().flatten().copied().collect()
    }

    #[test]
    fn every_shipped_law_is_among_those_that_are_tested() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/anabranch/laws");
        extern crate std;
        for file in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            assert!(LAWS.contains(&text.as_str()), "{text}");
        }
    }

    proptest! {
        /// A tape may differ from the program by rounding: it has other steps.
        #[test]
        fn a_tape_computes_what_the_program_does(
            paths in prop::collection::vec((1.0..100.0, 0.01..1.0, 0.001..0.1), 1..5),
        ) {
            let paths: Vec<[f64; 3]> = paths.into_iter().map(|(w, r, p)| [w, r, p]).collect();
            for text in LAWS {
                let law = TextLaw::read(text).unwrap();
                let (tape, formulas) = unrolled(&law, paths.len());
                let mut values = Vec::new();
                tape.run(&flat(&paths), &mut values);
                for (me, path) in formulas.iter().enumerate() {
                    let of = |slot: Slot| values[usize::from(slot)];
                    let inputs = Settled(&law, &paths);
                    let growth: f64 = law.growth(me, &inputs);
                    let backoff: f64 = law.backoff(me, &inputs);
                    prop_assert!((of(path.growth) - growth).abs() < 1e-9 * (1.0 + growth.abs()), "{text}");
                    prop_assert!((of(path.backoff) - backoff).abs() < 1e-9 * (1.0 + backoff.abs()), "{text}");
                    let lost = paths[me][0] - backoff;
                    if let Some(slot) = path.gained {
                        let gained = paths[me][0] * growth;
                        prop_assert!((of(slot) - gained).abs() < 1e-9 * (1.0 + gained.abs()), "{text}");
                    }
                    prop_assert!((of(path.lost) - lost).abs() < 1e-9 * (1.0 + backoff.abs()), "{text}");
                }
            }
        }

        /// For every law: what it computes at any point of a box lies in what it encloses over the
        /// box, by its programs and by its tape.
        #[test]
        fn an_enclosure_over_a_box_contains_what_is_computed_in_it(
            paths in prop::collection::vec(
                ((1.0..100.0, 1.0..3.0), (0.01..1.0, 1.0..3.0), (0.001..0.1, 1.0..3.0)), 1..5,
            ),
            inside in prop::collection::vec(0.0..1.0, 15),
            narrow in 0.0..1.0,
        ) {
            let reach = |(low, factor): (f64, f64)| low * (1.0 + narrow * (factor - 1.0));
            let boxes: Vec<[Enclosure; 3]> = paths
                .iter()
                .map(|(w, r, p)| [*w, *r, *p].map(|one| Enclosure::new(one.0, reach(one))))
                .collect();
            let mut shares = inside.iter().copied();
            let mut within = |all: Enclosure| {
                let share = shares.next().unwrap_or(0.5);
                (all.low() + share * (all.high() - all.low())).clamp(all.low(), all.high())
            };
            let points: Vec<[f64; 3]> = boxes.iter().map(|path| path.map(&mut within)).collect();
            for text in LAWS {
                let law = TextLaw::read(text).unwrap();
                let (tape, _) = unrolled(&law, boxes.len());
                let (mut enclosed, mut values) = (Vec::new(), Vec::new());
                tape.run(&flat(&boxes), &mut enclosed);
                tape.run(&flat(&points), &mut values);
                for (all, value) in enclosed.iter().zip(&values) {
                    prop_assert!(all.contains(*value), "{text}: {value} {all:?}");
                }
                for me in 0..boxes.len() {
                    let (all, one) = (Settled(&law, &boxes), Settled(&law, &points));
                    let pairs: [(Enclosure, f64); 2] = [
                        (law.growth(me, &all), law.growth(me, &one)),
                        (law.backoff(me, &all), law.backoff(me, &one)),
                    ];
                    for (all, value) in pairs {
                        prop_assert!(all.contains(value), "{text}: {value} {all:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_number_beside_itself_is_compared_by_its_factors() {
        let mut tape = Tape::default();
        let (w, zero) = (tape.input(0), tape.constant(0.0));
        for (c, d) in [(0.5, 0.5), (-2.0, -2.0), (0.0, 0.0), (0.5, 2.0), (2.0, 0.5), (-1.0, 0.0)] {
            let [c, d] = [c, d].map(|c| tape.constant(c));
            let (left, right) = (tape.two(Two::Times, w, c), tape.two(Two::Times, d, w));
            for op in [Two::Less, Two::LessEqual] {
                let known = tape.two(op, left, right);
                for value in [-3.0, 0.0, 3.0, f64::MIN_POSITIVE, -1e300] {
                    let mut values = Vec::new();
                    tape.run(&[value], &mut values);
                    let of = |slot: Slot| values[usize::from(slot)];
                    assert_eq!(of(known), f64::compare(op, of(left), of(right)), "{op:?} {value}");
                }
            }
        }
        assert_eq!(tape.two(Two::LessEqual, w, w), tape.two(Two::Equal, w, w));
        assert_eq!(tape.two(Two::Less, w, w), zero);
    }

    #[test]
    fn what_a_loss_costs_has_the_window_once() {
        for (text, width) in [
            ("growth = 1/w\nbackoff = w/2", 0.5),
            ("growth = 1/w\nbackoff = w*(1 - 0.5/n)", 0.5),
            ("growth = 1/w\nbackoff = w - w*0.5", 0.5),
        ] {
            let (tape, formulas) = unrolled(&TextLaw::read(text).unwrap(), 1);
            let mut values = Vec::new();
            let inputs = [Enclosure::new(1.0, 2.0), Enclosure::point(0.1), Enclosure::point(0.01)];
            tape.run(&inputs, &mut values);
            let lost = values[usize::from(formulas[0].lost)];
            assert!((lost.width() - width).abs() < 1e-9, "{text}: {lost:?}");
        }
    }

    #[test]
    fn the_largest_path_is_known_where_it_is_the_largest_throughout_the_box() {
        let law = TextLaw::read("growth = if is_largest(w) then 1 else 2\nbackoff = w/2").unwrap();
        let (tape, formulas) = unrolled(&law, 2);
        let path = |low, high| [Enclosure::new(low, high), Enclosure::UNIT, Enclosure::UNIT];
        let mut values = Vec::new();
        tape.run(&flat(&[path(10.0, 20.0), path(1.0, 9.0)]), &mut values);
        let growth = formulas.iter().map(|path| values[usize::from(path.growth)]);
        assert_eq!(growth.collect::<Vec<_>>(), [1.0, 2.0].map(Enclosure::point));
        tape.run(&flat(&[path(10.0, 20.0), path(1.0, 11.0)]), &mut values);
        assert_eq!(values[usize::from(formulas[1].growth)], Enclosure::new(1.0, 2.0));
    }
}
