//! Fixed points at given round trips and losses: found by numbers, proved by Krawczyk's operator.

use crate::branches::About;
use crate::case::{Case, Kind, are_conditions, conditions, drifts, ratio};
use crate::newton::Inverse;
use crate::question::{Claim, FixedPoint, Question};
use formula::{Enclosure, FormulaSlots, PathSlots, Slot, Tape, TextLaw, Two};

/// Steps along the drift, and the part of it that a window takes in each.
const STEPS: usize = 400;
const PACE: f64 = 0.25;

/// Steps of Newton's method.
const NEWTON: usize = 40;

/// Points of the ranges at which fixed points are computed.
const SAMPLES: usize = 64;

const PRIMES: [u32; 16] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53];

/// A law at given round trips and losses.
pub(crate) struct Place<'a> {
    law: &'a TextLaw,
    question: &'a Question,
    pub(crate) rtts: Vec<f64>,
    pub(crate) losses: Vec<f64>,
}

/// Relative distance of windows that are one.
const SAME: f64 = 1e-6;

/// Relative difference of the tape and the law's own program that rounding explains.
const ROUNDING: f64 = 1e-6;

/// Fixed points at points of the ranges: the ends and between them, without randomness, each once.
/// And a place at which the tape and the law's own program differ.
pub(crate) fn samples(law: &TextLaw, question: &Question) -> (Vec<FixedPoint>, Option<String>) {
    let (mut all, mut doubt): (Vec<FixedPoint>, _) = (Vec::new(), None);
    for number in 0..SAMPLES {
        let place = Place::sampled(law, question, number);
        for start in place.starts() {
            doubt = doubt.or_else(|| place.doubt(&start));
            let Some(found) = place.fixed_point(start) else {
                continue;
            };
            if !all.iter().any(|known| is_same(known, &found)) {
                all.push(found);
            }
        }
    }
    (all, doubt)
}

/// Whether two fixed points are one.
fn is_same(a: &FixedPoint, b: &FixedPoint) -> bool {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= SAME * a.abs().max(b.abs());
    let place = a.rtts == b.rtts && a.losses == b.losses && a.at_floor == b.at_floor;
    place && a.windows.iter().zip(&b.windows).all(near)
}

/// A number of the range in logarithms: for a quarter of the shares either end.
fn between((low, high): (f64, f64), share: f64) -> f64 {
    let share = (2.0 * share - 0.5).clamp(0.0, 1.0);
    if share == 0.0 {
        return low;
    }
    if share == 1.0 {
        return high;
    }
    (low * libm::pow(high / low, share)).clamp(low, high)
}

/// Halton's sequence.
fn spread(number: usize, prime: u32) -> f64 {
    let (mut rest, mut part, mut sum) = (number as u32 + 1, 1.0, 0.0);
    while rest > 0 {
        part /= f64::from(prime);
        sum += part * f64::from(rest % prime);
        rest /= prime;
    }
    sum
}

/// The number with so many digits that is next to `value`.
fn rounded(value: f64, digits: i32) -> f64 {
    let unit = libm::pow(10.0, libm::floor(libm::log10(value)) + 1.0 - f64::from(digits));
    // Through its decimal text, so that 0.3 is the number that the text 0.3 has.
    let text = format!("{:.*}", 12, libm::round(value / unit) * unit);
    text.parse().unwrap_or(value)
}

impl<'a> Place<'a> {
    pub(crate) fn new(
        law: &'a TextLaw,
        question: &'a Question,
        rtts: Vec<f64>,
        losses: Vec<f64>,
    ) -> Self {
        Place { law, question, rtts, losses }
    }

    /// The first is the middle.
    fn sampled(law: &'a TextLaw, question: &'a Question, number: usize) -> Self {
        let count = question.paths;
        let share = |place: usize| match number {
            0 => 0.5,
            _ => spread(number, PRIMES[place % PRIMES.len()]),
        };
        let rtts = (0..count).map(|path| between(question.rtts, share(path))).collect();
        let own = |path: usize| if question.claim.shares_loss() { count } else { count + path };
        let losses = (0..count).map(|path| between(question.losses, share(own(path)))).collect();
        Place::new(law, question, rtts, losses)
    }

    /// TCP's windows, and with each path ahead.
    fn starts(&self) -> Vec<Vec<f64>> {
        let count = self.losses.len();
        let tcp: Vec<f64> = self.losses.iter().map(|loss| libm::sqrt(2.0 / loss)).collect();
        let even = tcp.iter().map(|window| window / count as f64).collect();
        let ahead = |first: usize| {
            let part = |path: usize| if path == first { 1.0 } else { 0.2 / count as f64 };
            tcp.iter().enumerate().map(|(path, window)| window * part(path)).collect()
        };
        let others = if count > 1 { count.min(3) } else { 0 };
        [even].into_iter().chain((0..others).map(ahead)).collect()
    }

    /// What to say where growth or backoff of the tape are not those of the law's own program.
    fn doubt(&self, windows: &[f64]) -> Option<String> {
        let windows: Vec<f64> =
            windows.iter().map(|window| window.max(self.question.floor)).collect();
        let mut tape = Tape::default();
        let paths = self.paths(&mut tape);
        let formulas = self.law.unroll(&mut tape, &paths);
        let mut values: Vec<f64> = Vec::new();
        tape.run(&windows, &mut values);
        let own = self.law.slopes(&windows, &self.rtts, &self.losses);
        let near = |slot: Slot, own: f64| {
            let value = values[usize::from(slot)];
            let far = (value - own).abs() > ROUNDING * value.abs().max(own.abs());
            value == own || value.is_nan() == own.is_nan() && !far
        };
        let pairs = formulas.iter().zip(own.growth.iter().zip(&own.backoff));
        let agree = pairs.fold(!tape.is_full(), |agree, (path, (growth, backoff))| {
            agree && near(path.growth, *growth) && near(path.backoff, *backoff)
        });
        (!agree).then(|| self.differing(&windows))
    }

    fn differing(&self, windows: &[f64]) -> String {
        let Place { rtts, losses, .. } = self;
        format!(
            "the list of operations and the law's own program differ at windows {windows:?}, round trips \
             {rtts:?} s and losses {losses:?}, which is a fault of the proof"
        )
    }

    /// A fixed point that the law's own program does not have, in words.
    pub(crate) fn unconfirmed(&self, found: &FixedPoint) -> Option<String> {
        (!found.confirmed).then(|| self.differing(&found.windows))
    }

    /// Whether the law's own program rests at a fixed point of the tape, with its ratio.
    fn is_confirmed(&self, found: &FixedPoint) -> bool {
        let own = self.law.slopes(&found.windows, &self.rtts, &self.losses);
        let rests = |path: usize| {
            let (window, loss) = (found.windows[path], self.losses[path]);
            let (growth, backoff) = (own.growth[path], own.backoff[path]);
            let drift = growth - loss * (window - backoff);
            let size = growth.abs() + loss * (window + backoff.abs());
            drift <= ROUNDING * size && (found.at_floor[path] || drift >= -ROUNDING * size)
        };
        let (mine, paths) = (found.path, 0..found.windows.len());
        let part = |path: usize| found.windows[path] * self.rtts[mine] / self.rtts[path];
        let sum = match self.question.claim {
            Claim::DoNoHarm => part(mine),
            _ => paths.clone().map(part).sum(),
        };
        let ratio = sum * libm::sqrt(self.losses[mine] / 2.0);
        paths.into_iter().all(rests) && (ratio - found.ratio).abs() <= ROUNDING * ratio
    }

    /// The path that the claim is about, at these windows.
    fn about(&self, windows: &[f64]) -> usize {
        let paths = 0..windows.len();
        let least = |of: &dyn Fn(usize) -> f64| {
            paths.clone().min_by(|a, b| of(*a).total_cmp(&of(*b))).unwrap_or(0)
        };
        match self.question.claim {
            Claim::TcpShare => least(&|path| self.rtts[path]),
            Claim::BestPath => least(&|path| self.losses[path] * self.rtts[path] * self.rtts[path]),
            Claim::DoNoHarm => least(&|path| -windows[path] * windows[path] * self.losses[path]),
        }
    }

    /// Paths whose windows are the inputs of a tape.
    fn paths(&self, tape: &mut Tape) -> Vec<PathSlots> {
        let path = |(path, (rtt, loss)): (usize, (&f64, &f64))| PathSlots {
            window: tape.input(path as u8),
            rtt: tape.constant(*rtt),
            loss: tape.constant(*loss),
        };
        self.rtts.iter().zip(&self.losses).enumerate().map(path).collect()
    }

    /// The case with these round trips and losses, in which the windows alone are variables.
    fn case(&self, free: &[bool], about: usize) -> Case {
        let mut tape = Tape::default();
        let paths = self.paths(&mut tape);
        let drifts = drifts(&mut tape, self.law, &paths);
        let ratio = ratio(&mut tape, self.question.claim, &paths, about);
        let kind = |(path, free): (usize, &bool)| {
            if *free { Kind::Window(path) } else { Kind::Floor }
        };
        Case {
            conditions: conditions(&tape, &drifts),
            is_condition: are_conditions(&tape),
            kinds: free.iter().enumerate().map(kind).collect(),
            whole: Vec::new(),
            paths,
            free: free.to_vec(),
            drifts,
            ratio,
            excess: ratio,
            kept: Vec::new(),
            scale: None,
            relative: false,
            tape,
        }
    }

    /// A tape whose inputs are the windows, with the drift and the loss term of each path.
    fn numbers(&self) -> (Tape, Vec<(Slot, Slot)>) {
        let mut tape = Tape::default();
        let paths = self.paths(&mut tape);
        let formulas = self.law.unroll(&mut tape, &paths);
        let part = |(path, formula): (&PathSlots, &FormulaSlots)| {
            let lost = tape.two(Two::Times, path.loss, formula.lost);
            (tape.two(Two::Minus, formula.growth, lost), lost)
        };
        let parts = paths.iter().zip(&formulas).map(part).collect();
        (tape, parts)
    }

    /// The fixed point to which windows drift from a start, if they come to rest.
    pub(crate) fn fixed_point(&self, start: Vec<f64>) -> Option<FixedPoint> {
        let floor = self.question.floor;
        let (tape, parts) = self.numbers();
        let mut windows = start;
        let mut values = Vec::new();
        for _ in 0..STEPS {
            tape.run(&windows, &mut values);
            for (window, (drift, lost)) in windows.iter_mut().zip(&parts) {
                let of = |slot: Slot| -> f64 { values[usize::from(slot)] };
                let part = of(*drift) / of(*lost).abs().max(f64::MIN_POSITIVE);
                if part.is_nan() {
                    return None;
                }
                *window = (*window * libm::exp(PACE * part.clamp(-1.0, 1.0))).max(floor);
            }
        }
        let free: Vec<bool> = windows.iter().map(|window| *window > floor * 1.000_001).collect();
        self.nearest(windows, &free)
    }

    /// The fixed point next to `windows` at which the windows that are not free are at the floor.
    pub(crate) fn nearest(&self, windows: Vec<f64>, free: &[bool]) -> Option<FixedPoint> {
        let floor = self.question.floor;
        let case = self.case(free, 0);
        let mut bounds: Vec<Enclosure> = windows.into_iter().map(Enclosure::point).collect();
        for (bound, _) in bounds.iter_mut().zip(free).filter(|(_, free)| !**free) {
            *bound = Enclosure::point(floor);
        }
        let mut values = Vec::new();
        for _ in 0..NEWTON {
            case.tape.run(&bounds, &mut values);
            let Some(about) = About::new(&case, &bounds, &values) else {
                break;
            };
            let Some(inverse) = Inverse::new(&case, &about) else {
                break;
            };
            let mut moved: f64 = 0.0;
            for (variable, new) in inverse.step(&about) {
                let old = bounds[variable].low();
                let new = new.clamp(old / 2.0, old * 2.0).max(floor);
                moved = moved.max((new / old - 1.0).abs());
                bounds[variable] = Enclosure::point(new);
            }
            if moved < 1e-14 {
                break;
            }
        }
        let windows: Vec<f64> = bounds.iter().map(|bound| bound.low()).collect();
        self.checked(&windows, free)
    }

    /// The fixed point at these windows, if it is one.
    fn checked(&self, windows: &[f64], free: &[bool]) -> Option<FixedPoint> {
        let (tape, parts) = self.numbers();
        if tape.is_full() {
            return None;
        }
        let mut values: Vec<f64> = Vec::new();
        tape.run(windows, &mut values);
        for ((drift, lost), free) in parts.iter().zip(free) {
            let of = |slot: Slot| values[usize::from(slot)];
            let part = of(*drift) / of(*lost).abs().max(f64::MIN_POSITIVE);
            if part.is_nan() || part > 1e-9 || *free && part < -1e-9 {
                return None;
            }
        }
        let path = self.about(windows);
        let case = self.case(free, path);
        case.tape.run(windows, &mut values);
        let mut found = FixedPoint {
            windows: windows.to_vec(),
            rtts: self.rtts.clone(),
            losses: self.losses.clone(),
            at_floor: free.iter().map(|free| !free).collect(),
            path,
            ratio: values[usize::from(case.ratio)],
            certain: None,
            confirmed: false,
        };
        found.confirmed = self.is_confirmed(&found);
        if found.confirmed && !case.tape.is_full() {
            found.certain = self.certain(&case, windows);
        }
        Some(found)
    }

    /// The ratio at the fixed point close to `windows`, if there provably is one.
    fn certain(&self, case: &Case, windows: &[f64]) -> Option<(f64, f64)> {
        let floor = self.question.floor;
        (6..13).rev().find_map(|digits| {
            let part = libm::pow(10.0, -f64::from(digits));
            let around = |(window, free): (&f64, &bool)| match free {
                true => Enclosure::new((window * (1.0 - part)).max(floor), window * (1.0 + part)),
                false => Enclosure::new(floor, floor.next_up()),
            };
            let mut bounds: Vec<Enclosure> = windows.iter().zip(&case.free).map(around).collect();
            let mut values = Vec::new();
            case.tape.run(&bounds, &mut values);
            if case.free.contains(&true) {
                let about = About::new(case, &bounds, &values)?;
                let inverse = Inverse::new(case, &about)?;
                match inverse.krawczyk(&about, &mut bounds) {
                    Ok(true) => case.tape.run(&bounds, &mut values),
                    _ => return None,
                }
            }
            let of = |slot: Slot| values[usize::from(slot)];
            let rests = case.drifts[..case.free.len()]
                .iter()
                .all(|(drift, path)| case.free[*path] || of(*drift).high() <= 0.0);
            rests.then(|| (of(case.ratio).low(), of(case.ratio).high()))
        })
    }

    /// A fixed point at rounder numbers that breaks the claim as `found` does, or itself.
    pub(crate) fn simplified(&self, found: FixedPoint) -> FixedPoint {
        let within = |value: f64, (low, high): (f64, f64)| value.clamp(low, high);
        for digits in 1..4 {
            let round = |values: &[f64], range| -> Vec<f64> {
                values.iter().map(|value| within(rounded(*value, digits), range)).collect()
            };
            let rtts = round(&found.rtts, self.question.rtts);
            let losses = round(&found.losses, self.question.losses);
            let place = Place::new(self.law, self.question, rtts, losses);
            let free: Vec<bool> = found.at_floor.iter().map(|floor| !floor).collect();
            let near = place.nearest(found.windows.clone(), &free);
            let again = near.filter(|near| breaks(self.question, near));
            let again = again.or_else(|| {
                let settled = place.fixed_point(found.windows.clone());
                settled.filter(|settled| breaks(self.question, settled))
            });
            if let Some(again) = again {
                return again;
            }
        }
        found
    }
}

/// Whether a fixed point is proved, and proved to break the claim; the law's own program has it.
pub(crate) fn breaks(question: &Question, found: &FixedPoint) -> bool {
    let both = |(low, high): (f64, f64)| question.is_broken(low) && question.is_broken(high);
    found.confirmed && found.certain.is_some_and(both)
}
