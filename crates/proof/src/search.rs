//! Branch and prune.

use crate::branches::About;
use crate::case::{Case, Kind, cases};
use crate::contract::{Excluded, contract, logarithmic};
use crate::newton::Inverse;
use crate::question::{Answer, FixedPoint, Open, Question, Verdict};
use crate::witness::{Place, breaks, samples};
use formula::{Enclosure, TextLaw};
use std::collections::VecDeque;

/// A box of which every variable is narrower than this, in logarithms, is not bisected.
const NARROWEST: f64 = 1e-7;

/// Of so many boxes that cannot be left out, one is asked for a fixed point.
const ASKED: u64 = 16;

/// Boxes between calls of the caller's `go_on`.
const BREATH: u64 = 256;

/// What counts for bisection beside a variable's share in the drifts.
const EVEN: f64 = 0.1;

/// A box of a case.
pub(crate) struct Node {
    pub(crate) case: usize,
    pub(crate) bounds: Vec<Enclosure>,
}

/// Answers a question about a law. `go_on` is asked from time to time; where it says no, what was
/// not looked at is open. `None` if the law is too large.
pub fn prove(
    law: &TextLaw,
    question: &Question,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Answer> {
    let mut search = Search::new(law, question, cases(law, question)?);
    let mut answer = Answer {
        verdict: Verdict::Proved,
        boxes: 0,
        witness: None,
        nearest: None,
        computed: 0,
        doubt: None,
        open: None,
    };
    search.sample(&mut answer);
    if answer.witness.is_some() {
        answer.verdict = Verdict::Disproved;
        return Some(answer);
    }
    let whole = |(case, own): (usize, &Case)| Node { case, bounds: own.whole.clone() };
    let mut waiting: VecDeque<Node> = search.cases.iter().enumerate().map(whole).collect();
    let mut narrow = Vec::new();
    let mut kept: u64 = 0;
    while let Some(mut node) = waiting.pop_front() {
        let stops = answer.boxes.is_multiple_of(BREATH) && !go_on();
        if answer.boxes == question.boxes || stops {
            waiting.push_front(node);
            break;
        }
        answer.boxes += 1;
        if search.prune(&mut node).is_err() {
            continue;
        }
        kept += 1;
        if kept % ASKED == 1 {
            answer.witness = search.ask(&node);
            if answer.witness.is_some() {
                answer.verdict = Verdict::Disproved;
                return Some(answer);
            }
        }
        match search.bisected(&node) {
            Some(halves) => waiting.extend(halves),
            None => narrow.push(node),
        }
    }
    narrow.extend(waiting);
    answer.doubt = search.doubt.take();
    if !narrow.is_empty() || answer.doubt.is_some() {
        answer.verdict = Verdict::Open;
        answer.open = Some(search.open(&narrow));
        answer.witness = search.doubtful.take();
    }
    Some(answer)
}

/// The state of a search.
pub(crate) struct Search<'a> {
    law: &'a TextLaw,
    question: &'a Question,
    cases: Vec<Case>,
    values: Vec<Enclosure>,
    /// For each variable of the last box, its share in the widths of the drifts; empty where the
    /// law may jump.
    shares: Vec<f64>,
    /// A fixed point that breaks the claim, as a number without proof.
    doubtful: Option<FixedPoint>,
    /// Where the tape and the law's own program differ.
    doubt: Option<String>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(law: &'a TextLaw, question: &'a Question, cases: Vec<Case>) -> Self {
        let (values, shares) = (Vec::new(), Vec::new());
        Search { law, question, cases, values, shares, doubtful: None, doubt: None }
    }

    /// Fixed points at some places: the worst one, as a witness if it breaks the claim.
    fn sample(&mut self, answer: &mut Answer) {
        let room = |found: &FixedPoint| match self.question.claim.is_upper() {
            true => self.question.allowed() - found.ratio,
            false => found.ratio - self.question.allowed(),
        };
        let (mut all, doubt) = samples(self.law, self.question);
        self.doubt = doubt;
        all.retain(|found| {
            let (rtts, losses) = (found.rtts.clone(), found.losses.clone());
            let wrong = Place::new(self.law, self.question, rtts, losses).unconfirmed(found);
            self.doubt = self.doubt.take().or(wrong);
            found.confirmed
        });
        answer.computed = all.len();
        let worst = all.iter().min_by(|a, b| room(a).total_cmp(&room(b)));
        answer.nearest = worst.cloned();
        let proved = all.iter().filter(|found| breaks(self.question, found));
        let witness = proved.min_by(|a, b| room(a).total_cmp(&room(b)));
        if let Some(found) = witness {
            let (rtts, losses) = (found.rtts.clone(), found.losses.clone());
            let place = Place::new(self.law, self.question, rtts, losses);
            answer.witness = Some(place.simplified(found.clone()));
        } else if let Some(found) = worst {
            self.doubtful = self.question.is_broken(found.ratio).then(|| found.clone());
        }
    }

    /// Narrows a box, or leaves it out.
    pub(crate) fn prune(&mut self, node: &mut Node) -> Result<(), Excluded> {
        let case = &self.cases[node.case];
        self.shares.clear();
        contract(case, &mut node.bounds, &mut self.values)?;
        let Some(about) = About::new(case, &node.bounds, &self.values) else {
            return Ok(());
        };
        about.check_drifts()?;
        about.check_claim(&self.values)?;
        self.shares = about.shares();
        if let Some(inverse) = Inverse::new(case, &about) {
            inverse.krawczyk(&about, &mut node.bounds)?;
        }
        Ok(())
    }

    /// The halves of a box along its widest variable; `None` if it is too narrow.
    fn bisected(&self, node: &Node) -> Option<[Node; 2]> {
        let kinds = &self.cases[node.case].kinds;
        let width = |(bound, kind): (&Enclosure, &Kind)| match kind {
            Kind::Floor => 0.0,
            _ => logarithmic(*bound),
        };
        let widths: Vec<f64> = node.bounds.iter().zip(kinds).map(width).collect();
        let most = widths.iter().copied().fold(0.0, f64::max);
        if most < NARROWEST {
            return None;
        }
        // A variable that moves the drifts most, if it is not much narrower than others.
        let score = |place: &usize| {
            let share = self.shares.get(*place).copied().unwrap_or(0.0);
            widths[*place] * (EVEN + share)
        };
        let widest = (0..widths.len()).max_by(|a, b| score(a).total_cmp(&score(b)))?;
        let bound = node.bounds[widest];
        let middle = libm::sqrt(bound.low()) * libm::sqrt(bound.high());
        let half = |low: f64, high: f64| {
            let mut bounds = node.bounds.clone();
            bounds[widest] = Enclosure::new(low, high);
            Node { case: node.case, bounds }
        };
        Some([half(bound.low(), middle), half(middle, bound.high())])
    }

    /// A fixed point from the middle of a box that breaks the claim.
    fn ask(&mut self, node: &Node) -> Option<FixedPoint> {
        let case = &self.cases[node.case];
        let middle: Vec<f64> = node
            .bounds
            .iter()
            .map(|bound| {
                (libm::sqrt(bound.low()) * libm::sqrt(bound.high()))
                    .clamp(bound.low(), bound.high())
            })
            .collect();
        let mut values = Vec::new();
        case.tape.run(&middle, &mut values);
        let of = |slot: formula::Slot| -> f64 { values[usize::from(slot)] };
        let scale = case.scale.map_or(1.0, of);
        let (low, high) = self.question.rtts;
        let rtts = case.paths.iter().map(|path| of(path.rtt));
        let unit = match case.relative {
            true => {
                let least = rtts.clone().fold(f64::INFINITY, f64::min);
                let most = rtts.clone().fold(0.0, f64::max);
                libm::sqrt(low / least * (high / most))
            }
            false => 1.0,
        };
        let rtts = rtts.map(|rtt| (rtt * unit).clamp(low, high)).collect();
        let (low, high) = self.question.losses;
        let loss = |slot| (of(slot) * scale * scale).clamp(low, high);
        let losses = case.paths.iter().map(|path| loss(path.loss)).collect();
        let windows = case.paths.iter().map(|path| of(path.window) / scale).collect();
        let place = Place::new(self.law, self.question, rtts, losses);
        let found = place.nearest(windows, &case.free)?;
        if let Some(doubt) = place.unconfirmed(&found) {
            self.doubt.get_or_insert(doubt);
            return None;
        }
        if breaks(self.question, &found) {
            return Some(place.simplified(found));
        }
        if self.question.is_broken(found.ratio) {
            self.doubtful.get_or_insert(found);
        }
        None
    }

    /// What contains the boxes that are left.
    fn open(&self, left: &[Node]) -> Open {
        let mut share = 0.0;
        let mut ranges: Vec<(String, f64, f64)> = Vec::new();
        for node in left {
            let case = &self.cases[node.case];
            let mut part = 1.0;
            for ((kind, bound), whole) in case.kinds.iter().zip(&node.bounds).zip(&case.whole) {
                let name = match kind {
                    Kind::Window(_) | Kind::Floor => continue,
                    Kind::Rtt(path) if case.relative => format!("rtt {} / rtt 1", path + 1),
                    Kind::Rtt(path) => format!("rtt {} in s", path + 1),
                    Kind::Loss(_) if self.question.claim.shares_loss() => "loss".into(),
                    Kind::Loss(path) if case.scale.is_some() => {
                        format!("loss {} / loss 1", path + 1)
                    }
                    Kind::Loss(path) => format!("loss {}", path + 1),
                };
                let unit = match kind {
                    Kind::Loss(_) if case.scale.is_some() => self.question.losses.0,
                    _ => 1.0,
                };
                part *= logarithmic(*bound) / logarithmic(*whole);
                let (low, high) = (bound.low() / unit, bound.high() / unit);
                match ranges.iter_mut().find(|(own, ..)| *own == name) {
                    Some((_, least, most)) => {
                        *least = least.min(low);
                        *most = most.max(high);
                    }
                    None => ranges.push((name, low, high)),
                }
            }
            share += part;
        }
        Open { boxes: left.len(), share: share.min(1.0), ranges }
    }
}
