//! A question with the paths chosen that are at the floor: steps, and the ranges that they keep at
//! a fixed point that breaks the claim.

use crate::question::{Claim, Question};
use crate::scale::{Scales, scales};
use formula::{Enclosure, One, PathSlots, Slot, Step, Tape, TextLaw, Two};

/// The largest window of the language of laws.
const MOST_WINDOW: f64 = 16_777_216.0;

/// A variable of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A window in segments that moves.
    Window(usize),
    /// A window at the floor.
    Floor,
    /// A round trip, in seconds or over that of the first path.
    Rtt(usize),
    /// A loss probability, or one over that of the first path times the least of the range.
    Loss(usize),
}

/// A case. Path 0 is the one that the claim is about.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) tape: Tape,
    pub(crate) kinds: Vec<Kind>,
    /// The whole ranges of the variables.
    pub(crate) whole: Vec<Enclosure>,
    pub(crate) paths: Vec<PathSlots>,
    /// Whether each window moves; the others are at the floor.
    pub(crate) free: Vec<bool>,
    /// The drift of each path, and behind them others that are zero with it: see [`drifts`].
    pub(crate) drifts: Vec<(Slot, usize)>,
    /// The rate that the claim is about over TCP's.
    pub(crate) ratio: Slot,
    /// Above zero where the claim is broken.
    pub(crate) excess: Slot,
    /// Other steps with the range of each.
    pub(crate) kept: Vec<(Slot, Enclosure)>,
    /// Conditions on the state on which drifts depend.
    pub(crate) conditions: Vec<Slot>,
    /// Whether each step is a condition.
    pub(crate) is_condition: Vec<bool>,
    /// In a case that is scaled: by how much, as windows.
    pub(crate) scale: Option<Slot>,
    /// Whether round trips are over that of the first path.
    pub(crate) relative: bool,
}

impl Case {
    /// Each drift with its range at a fixed point: zero, or not above it where the window is at the
    /// floor.
    pub(crate) fn drift_ranges(&self) -> impl Iterator<Item = (Slot, Enclosure)> {
        self.drifts.iter().map(|(drift, path)| match self.free[*path] {
            true => (*drift, Enclosure::point(0.0)),
            false => (*drift, Enclosure::NEGATIVE),
        })
    }
}

/// All cases of a question: at any fixed point that breaks the claim, and under some order of the
/// paths, all ranges of one of them are kept. `None` if the law is too large.
pub(crate) fn cases(law: &TextLaw, question: &Question) -> Option<Vec<Case>> {
    let scales = scales(law, question.paths);
    let mut all = Vec::new();
    for first in [true, false] {
        for others in (0..question.paths).rev() {
            let free = (0..question.paths).map(|path| match path {
                0 => first,
                path => path <= others,
            });
            let case = Building::new(question, scales, free.collect()).case(law);
            if case.tape.is_full() {
                return None;
            }
            all.push(case);
        }
    }
    Some(all)
}

/// The rate that a claim about path `about` compares, over TCP's.
pub(crate) fn ratio(tape: &mut Tape, claim: Claim, paths: &[PathSlots], about: usize) -> Slot {
    let mine = paths[about];
    let sum = match claim {
        Claim::DoNoHarm => mine.window,
        _ => {
            let mut sum = tape.constant(0.0);
            for path in paths {
                let part = match path.rtt == mine.rtt {
                    true => path.window,
                    false => {
                        let speed = tape.two(Two::Over, mine.rtt, path.rtt);
                        tape.two(Two::Times, path.window, speed)
                    }
                };
                sum = tape.two(Two::Plus, sum, part);
            }
            sum
        }
    };
    let two = tape.constant(2.0);
    let half = tape.two(Two::Over, mine.loss, two);
    let inverse = tape.one(One::Root, half); // of TCP's window, sqrt(2/p)
    tape.two(Two::Times, sum, inverse)
}

/// Adds the drifts of all paths; and behind them, where formulas are simpler so, the drifts times
/// their windows. Each with its path.
pub(crate) fn drifts(tape: &mut Tape, law: &TextLaw, paths: &[PathSlots]) -> Vec<(Slot, usize)> {
    let formulas = law.unroll(tape, paths);
    let mut all = Vec::new();
    for (place, (path, formula)) in paths.iter().zip(&formulas).enumerate() {
        let lost = tape.two(Two::Times, path.loss, formula.lost);
        all.push((tape.two(Two::Minus, formula.growth, lost), place));
    }
    for (place, (path, formula)) in paths.iter().zip(&formulas).enumerate() {
        if let Some(gained) = formula.gained {
            let losses = tape.two(Two::Times, path.loss, path.window);
            let lost = tape.two(Two::Times, losses, formula.lost);
            all.push((tape.two(Two::Minus, gained, lost), place));
        }
    }
    all
}

struct Building<'a> {
    question: &'a Question,
    scales: Scales,
    free: Vec<bool>,
    tape: Tape,
    kinds: Vec<Kind>,
    whole: Vec<Enclosure>,
    kept: Vec<(Slot, Enclosure)>,
}

impl<'a> Building<'a> {
    fn new(question: &'a Question, scales: Scales, free: Vec<bool>) -> Self {
        let (tape, kept) = (Tape::default(), Vec::new());
        Building { question, scales, free, tape, kinds: Vec::new(), whole: Vec::new(), kept }
    }

    fn variable(&mut self, kind: Kind, low: f64, high: f64) -> Slot {
        self.kinds.push(kind);
        self.whole.push(Enclosure::new(low, high));
        self.tape.input(self.kinds.len() as u8 - 1)
    }

    fn is_relative(&self) -> bool {
        let (low, high) = self.question.rtts;
        self.scales.time && low < high
    }

    /// Whether the loss of the first path is set to the least one, and all others are over it. A
    /// floor is no multiple of windows, so no path may be at it.
    fn is_scaled(&self) -> bool {
        let (low, high) = self.question.losses;
        self.scales.window && low < high && self.free.iter().all(|free| *free)
    }

    fn case(mut self, law: &TextLaw) -> Case {
        let rtts = self.rtts();
        let (losses, scale) = self.losses();
        let windows = self.windows(scale);
        let slots =
            |path: usize| PathSlots { window: windows[path], rtt: rtts[path], loss: losses[path] };
        let paths: Vec<PathSlots> = (0..self.free.len()).map(slots).collect();
        self.in_order(&paths);
        let drifts = drifts(&mut self.tape, law, &paths);
        let (ratio, excess) = self.broken(&paths);
        let relative = self.is_relative();
        let conditions = conditions(&self.tape, &drifts);
        let is_condition = are_conditions(&self.tape);
        let Building { tape, kinds, whole, kept, free, .. } = self;
        Case {
            tape,
            kinds,
            whole,
            paths,
            free,
            drifts,
            ratio,
            excess,
            kept,
            conditions,
            is_condition,
            scale,
            relative,
        }
    }

    fn rtts(&mut self) -> Vec<Slot> {
        let (low, high) = self.question.rtts;
        let count = self.free.len();
        if low == high {
            return vec![self.tape.constant(low); count];
        }
        if !self.is_relative() {
            return (0..count).map(|path| self.variable(Kind::Rtt(path), low, high)).collect();
        }
        let (least, most) = ((low / high).next_down(), (high / low).next_up());
        let mut all = vec![self.tape.constant(1.0)];
        for path in 1..count {
            let rtt = self.variable(Kind::Rtt(path), least, most);
            for other in &all[1..] {
                let over = self.tape.two(Two::Over, rtt, *other);
                self.kept.push((over, Enclosure::new(least, most)));
            }
            all.push(rtt);
        }
        all
    }

    /// The losses, and the factor of windows.
    fn losses(&mut self) -> (Vec<Slot>, Option<Slot>) {
        let (low, high) = self.question.losses;
        let (count, scaled) = (self.free.len(), self.is_scaled());
        if low == high || scaled && self.question.claim.shares_loss() {
            let scale = scaled.then(|| self.tape.constant(1.0));
            return (vec![self.tape.constant(low); count], scale);
        }
        if self.question.claim.shares_loss() {
            return (vec![self.variable(Kind::Loss(0), low, high); count], None);
        }
        if !scaled {
            let each = (0..count).map(|path| self.variable(Kind::Loss(path), low, high));
            return (each.collect(), None);
        }
        let first = self.tape.constant(low);
        let mut all = vec![first];
        let least = (low / high * low).next_down().next_down();
        let mut scale = self.tape.constant(1.0);
        for path in 1..count {
            let loss = self.variable(Kind::Loss(path), least, high);
            let over = self.tape.two(Two::Over, first, loss);
            let root = self.tape.one(One::Root, over);
            scale = self.tape.two(Two::Most, scale, root);
            all.push(loss);
        }
        let square = self.tape.whole(scale, 2);
        for loss in &all {
            let own = self.tape.two(Two::Times, *loss, square);
            self.kept.push((own, Enclosure::new(0.0, high.next_up())));
        }
        (all, Some(scale))
    }

    fn windows(&mut self, scale: Option<Slot>) -> Vec<Slot> {
        let floor = self.question.floor;
        let (low, high) = self.question.losses;
        let most = match scale {
            Some(_) => MOST_WINDOW * libm::sqrt(high / low) * 1.001,
            None => MOST_WINDOW,
        };
        let mut all = Vec::new();
        for path in 0..self.free.len() {
            if !self.free[path] {
                // Beside the floor are windows above it: where a law jumps at it, both sides count.
                all.push(self.variable(Kind::Floor, floor, floor.next_up()));
                continue;
            }
            let window = self.variable(Kind::Window(path), floor, most);
            if let Some(scale) = scale {
                let least = self.tape.constant(floor);
                let least = self.tape.two(Two::Times, least, scale);
                let above = self.tape.two(Two::Minus, window, least);
                self.kept.push((above, Enclosure::POSITIVE));
            }
            all.push(window);
        }
        all
    }

    /// Paths other than the first are in some order, for a law does not know their order.
    fn in_order(&mut self, paths: &[PathSlots]) {
        let varies = |(low, high): (f64, f64)| low < high;
        let rtts_vary = varies(self.question.rtts);
        let losses_vary = varies(self.question.losses) && !self.question.claim.shares_loss();
        for (path, pair) in paths.windows(2).enumerate().skip(1) {
            if self.free[path] != self.free[path + 1] {
                continue;
            }
            let (low, high) = match (rtts_vary, losses_vary) {
                (true, _) => (pair[0].rtt, pair[1].rtt),
                (_, true) => (pair[0].loss, pair[1].loss),
                _ if self.free[path] => (pair[0].window, pair[1].window),
                _ => continue,
            };
            self.ordered(low, high);
        }
    }

    fn ordered(&mut self, low: Slot, high: Slot) {
        if low != high {
            let over = self.tape.two(Two::Minus, high, low);
            self.kept.push((over, Enclosure::POSITIVE));
        }
    }

    /// The ratio of the claim and its excess, which is kept at zero or above.
    fn broken(&mut self, paths: &[PathSlots]) -> (Slot, Slot) {
        let claim = self.question.claim;
        // The first path has the smallest round trip, or the fastest TCP.
        for path in &paths[1..] {
            match claim {
                Claim::TcpShare => self.ordered(paths[0].rtt, path.rtt),
                Claim::BestPath => {
                    let [best, other] = [paths[0], *path].map(|path| {
                        let square = self.tape.whole(path.rtt, 2);
                        self.tape.two(Two::Times, square, path.loss)
                    });
                    self.ordered(best, other);
                }
                Claim::DoNoHarm => {}
            }
        }
        let ratio = ratio(&mut self.tape, claim, paths, 0);
        let allowed = self.tape.constant(self.question.allowed());
        let (more, less) = if claim.is_upper() { (ratio, allowed) } else { (allowed, ratio) };
        let excess = self.tape.two(Two::Minus, more, less);
        self.kept.push((excess, Enclosure::POSITIVE));
        (ratio, excess)
    }
}

/// The comparisons below these steps.
pub(crate) fn conditions(tape: &Tape, roots: &[(Slot, usize)]) -> Vec<Slot> {
    let steps = tape.steps();
    let mut used = vec![false; steps.len()];
    roots.iter().for_each(|(root, _)| used[usize::from(*root)] = true);
    let mut all = Vec::new();
    for place in (0..steps.len()).rev() {
        if !used[place] {
            continue;
        }
        let mut uses = |slot: Slot| used[usize::from(slot)] = true;
        match steps[place] {
            Step::Input(_) | Step::Constant(_) => {}
            Step::One(_, a) | Step::Whole(a, _) => uses(a),
            Step::Two(op, a, b) => {
                [a, b].into_iter().for_each(uses);
                if matches!(op, Two::Less | Two::LessEqual | Two::Equal) {
                    all.push(place as Slot);
                }
            }
            Step::Choose(c, a, b) => [c, a, b].into_iter().for_each(uses),
        }
    }
    all.reverse();
    all
}

/// For each step whether it is a condition: a comparison, or what is used as one.
pub(crate) fn are_conditions(tape: &Tape) -> Vec<bool> {
    let mut all = vec![false; tape.steps().len()];
    for (place, step) in tape.steps().iter().enumerate().rev() {
        match *step {
            Step::Two(Two::Less | Two::LessEqual | Two::Equal, ..) => all[place] = true,
            Step::Two(Two::And | Two::Or, a, b) => {
                [place, a.into(), b.into()].into_iter().for_each(|slot: usize| all[slot] = true);
            }
            Step::One(One::Not, a) => {
                [place, a.into()].into_iter().for_each(|slot: usize| all[slot] = true);
            }
            Step::Choose(c, a, b) => {
                all[usize::from(c)] = true;
                if all[place] {
                    [a, b].into_iter().for_each(|slot| all[usize::from(slot)] = true);
                }
            }
            _ => {}
        }
    }
    all
}
