//! Tests of whole answers.

use crate::case::{Case, Kind, cases};
use crate::question::{Answer, Claim, FixedPoint, Question, Verdict};
use crate::search::{Node, Search, prove};
use crate::witness::{Place, breaks};
use formula::{Enclosure, TextLaw};
use proptest::prelude::*;

const RENO: &str = include_str!("../../../python/anabranch/laws/reno.law");
const LIA: &str = include_str!("../../../python/anabranch/laws/lia.law");
const BALIA: &str = include_str!("../../../python/anabranch/laws/balia.law");
const OLIA: &str = include_str!("../../../python/anabranch/laws/olia.law");
const COUPLED: &str = include_str!("../../../python/anabranch/laws/fully-coupled.law");
const EWTCP: &str = include_str!("../../../python/anabranch/laws/ewtcp.law");
const SEMICOUPLED: &str = include_str!("../../../python/anabranch/laws/semicoupled.law");
const PHI: &str = include_str!("../../../python/anabranch/laws/phi.law");
const GENTLE: &str = include_str!("../../../python/anabranch/laws/gentle.law");
pub(crate) const ALL: [&str; 9] =
    [RENO, LIA, BALIA, OLIA, COUPLED, EWTCP, SEMICOUPLED, PHI, GENTLE];
const CLAIMS: [Claim; 3] = [Claim::TcpShare, Claim::DoNoHarm, Claim::BestPath];

fn question(claim: Claim, within: f64) -> Question {
    Question {
        claim,
        within,
        paths: 2,
        losses: (1e-3, 0.02),
        rtts: (0.02, 0.2),
        floor: 1.0,
        boxes: 60_000,
    }
}

fn answer(text: &str, question: &Question) -> Answer {
    prove(&TextLaw::read(text).unwrap(), question, &mut || true).unwrap()
}

/// Checks a fixed point by the law's own programs.
fn check(text: &str, question: &Question, found: &FixedPoint) {
    let law = TextLaw::read(text).unwrap();
    let at = law.slopes(&found.windows, &found.rtts, &found.losses);
    for (path, window) in found.windows.iter().enumerate() {
        let lost = found.losses[path] * (window - at.backoff[path]);
        let drift = (at.growth[path] - lost) / lost.abs();
        let rests = drift.abs() < 1e-9 || found.at_floor[path] && drift < 0.0;
        assert!(rests, "{text}: {drift} on path {path} of {found:?}");
        assert!(*window >= question.floor && (*window == question.floor || !found.at_floor[path]));
        assert!(question.rtts.0 <= found.rtts[path] && found.rtts[path] <= question.rtts.1);
        assert!(question.losses.0 <= found.losses[path] && found.losses[path] <= question.losses.1);
    }
    let tcp = |path: usize| libm::sqrt(2.0 / found.losses[path]) / found.rtts[path];
    let rate = |path: usize| found.windows[path] / found.rtts[path];
    let paths = 0..found.windows.len();
    let total: f64 = paths.clone().map(rate).sum();
    let ratio = match question.claim {
        Claim::TcpShare => total / paths.map(tcp).fold(0.0, f64::max),
        Claim::BestPath => total / paths.map(tcp).fold(0.0, f64::max),
        Claim::DoNoHarm => paths.map(|path| rate(path) / tcp(path)).fold(0.0, f64::max),
    };
    assert!((ratio / found.ratio - 1.0).abs() < 1e-9, "{ratio} {found:?}");
    if let Some((low, high)) = found.certain {
        assert!(low <= found.ratio && found.ratio <= high && high - low < 1e-4, "{found:?}");
    }
}

#[test]
fn uncoupled_subflows_take_as_many_shares_as_they_are() {
    for paths in 2..5 {
        let asked = Question { paths, ..question(Claim::TcpShare, 0.1) };
        let found = answer(RENO, &asked);
        let witness = found.witness.unwrap();
        check(RENO, &asked, &witness);
        assert_eq!(found.verdict, Verdict::Disproved);
        assert!((witness.ratio - paths as f64).abs() < 1e-9, "{witness:?}");
        let more = Question { within: paths as f64 - 0.99, ..asked };
        assert_eq!(answer(RENO, &more).verdict, Verdict::Proved);
    }
}

#[test]
fn linked_increases_take_one_share_and_harm_no_path() {
    for text in [LIA, BALIA, OLIA, COUPLED, SEMICOUPLED, EWTCP, GENTLE] {
        for claim in [Claim::TcpShare, Claim::DoNoHarm] {
            let found = answer(text, &question(claim, 0.05));
            assert_eq!(found.verdict, Verdict::Proved, "{text} {claim:?}: {found:?}");
            assert!(found.computed > 0 && found.nearest.unwrap().ratio < 1.0 + 1e-9);
        }
    }
}

/// Its other steady state stands where the worse path is ahead, up to a loss 1.09 times that of the
/// better one (docs/explanation/fluid.md), which takes a root of that.
#[test]
fn balia_loses_at_most_a_root_of_the_losses_between_which_it_has_two_steady_states() {
    let asked = question(Claim::BestPath, 0.03);
    let found = answer(BALIA, &asked);
    assert_eq!(found.verdict, Verdict::Disproved);
    assert!(found.nearest.unwrap().ratio > 0.97, "the search found it, not the samples");
    check(BALIA, &asked, &found.witness.unwrap());
    assert_eq!(answer(BALIA, &question(Claim::BestPath, 0.06)).verdict, Verdict::Proved);
}

#[test]
fn a_claim_that_a_computed_fixed_point_breaks_is_never_proved() {
    for text in ALL {
        for claim in CLAIMS {
            let nearest = answer(text, &Question { boxes: 0, ..question(claim, 0.0) }).nearest;
            let nearest = nearest.unwrap();
            check(text, &question(claim, 0.0), &nearest);
            let room = if claim.is_upper() { nearest.ratio - 1.0 } else { 1.0 - nearest.ratio };
            let asked = Question { boxes: 2000, ..question(claim, room - 1e-6) };
            let found = answer(text, &asked);
            assert_ne!(found.verdict, Verdict::Proved, "{text} {claim:?}");
            check(text, &asked, &found.witness.unwrap());
        }
    }
}

#[test]
fn what_is_not_looked_at_is_open() {
    let asked = Question { boxes: 50, ..question(Claim::BestPath, 0.01) };
    let found = answer(LIA, &asked);
    let open = found.open.unwrap();
    assert_eq!((found.verdict, found.boxes), (Verdict::Open, 50));
    assert!(open.boxes > 0 && open.share > 0.0 && open.share <= 1.0, "{open:?}");
    let mut calls = 0;
    let stopped =
        prove(&TextLaw::read(LIA).unwrap(), &question(Claim::BestPath, 0.001), &mut || {
            calls += 1;
            calls < 3
        });
    assert_eq!(stopped.unwrap().verdict, Verdict::Open);
}

#[test]
fn a_law_without_a_fixed_point_has_none_computed() {
    let found = answer("growth = 1\nbackoff = w", &question(Claim::TcpShare, 0.1));
    assert_eq!((found.verdict, found.computed), (Verdict::Proved, 0));
}

/// Windows of 12 segments, where the drift jumps from above zero to below it, have no smooth branch
/// that rests, and are fixed points all the same: 1.2 times TCP's window of 10.
#[test]
fn a_window_that_is_held_at_a_jump_is_a_fixed_point() {
    let text = "growth = (if w > 12 then 0.5 else 2)/w\nbackoff = w/2";
    for paths in 1..3 {
        let ranges = Question { paths, losses: (0.02, 0.02), ..question(Claim::DoNoHarm, 0.19) };
        let held = Question { boxes: 3000, ..ranges };
        assert_eq!(answer(text, &held).verdict, Verdict::Open);
        let beyond = Question { within: 0.21, ..held };
        assert_eq!(answer(text, &beyond).verdict, Verdict::Proved);
    }
}

/// The corner is smaller than the distance of the samples, so that the search finds it.
#[test]
fn a_law_that_is_unfair_in_a_corner_of_the_ranges_is_disproved_there() {
    let corner = "note q = 0\nsteady q = p\n\
        own = if q > 0.0061 and q < 0.00615 and rtt > 0.11 and rtt < 0.13 then 8 else 1\n\
        growth = own * min(max_s(w_s/rtt_s^2) / sum_s(x_s)^2, 1/w)\nbackoff = w/2";
    let asked = Question { rtts: (0.12, 0.12), ..question(Claim::DoNoHarm, 0.2) };
    let found = answer(corner, &asked);
    assert_eq!(found.verdict, Verdict::Disproved, "{found:?}");
    assert!(found.boxes > 0);
    let witness = found.witness.unwrap();
    check(corner, &asked, &witness);
    let path = witness.path;
    assert!((0.0061..0.00615).contains(&witness.losses[path]), "{witness:?}");
    assert_eq!(answer(LIA, &asked).verdict, Verdict::Proved);
}

/// Both sides of the comparison are the same number, so that growth is `4/w`: twice TCP's window.
#[test]
fn a_product_that_is_compared_with_itself_is_not_less() {
    for condition in ["w*0.5 <= 0.5*w", "max_s(w_s)*0.5 <= 0.5*max_s(w_s)", "not 0.3*w < w*0.3"] {
        let text = format!("growth = (if {condition} then 4 else 1)/w\nbackoff = w/2");
        let asked = question(Claim::DoNoHarm, 0.5);
        let found = answer(&text, &asked);
        assert_eq!(found.verdict, Verdict::Disproved, "{text}");
        let witness = found.witness.unwrap();
        check(&text, &asked, &witness);
        assert!((witness.ratio - 2.0).abs() < 1e-9, "{witness:?}");
        assert_eq!(answer(&text, &question(Claim::DoNoHarm, 1.01)).verdict, Verdict::Proved);
    }
    // The largest window, and it alone, has twice TCP's.
    let text = "growth = (if max_s(w_s)*0.5 <= 0.5*w then 4 else 1)/w\nbackoff = w/2";
    let asked = question(Claim::DoNoHarm, 0.5);
    let found = answer(text, &asked);
    assert_eq!(found.verdict, Verdict::Disproved);
    check(text, &asked, &found.witness.unwrap());
}

#[test]
fn fixed_points_are_counted_once() {
    let one = Question { losses: (0.01, 0.01), rtts: (0.1, 0.1), ..question(Claim::TcpShare, 0.1) };
    assert_eq!(answer(LIA, &one).computed, 1);
    let found = answer(LIA, &question(Claim::TcpShare, 0.1));
    assert!(found.computed <= 64 && found.doubt.is_none(), "{}", found.computed);
}

#[test]
fn windows_round_trips_and_losses_outside_the_domain_of_laws_are_refused() {
    let right = question(Claim::DoNoHarm, 0.1);
    assert_eq!(right.fault(), None);
    for (wrong, words) in [
        (Question { floor: 0.5, ..right }, "the floor is 0.5 segments; it is from 1,"),
        (Question { floor: 11.0, ..right }, "the floor is 11 segments; it is from 1,"),
        (
            Question { rtts: (1e-7, 0.1), ..right },
            "round trips are from 0.0000001 to 0.1 s; they are",
        ),
        (Question { rtts: (0.1, 2148.0), ..right }, "round trips are from 0.1 to 2148 s; they are"),
        (Question { losses: (1e-10, 0.1), ..right }, "losses are from 0.0000000001 to 0.1; they"),
    ] {
        let fault = wrong.fault().unwrap();
        assert!(fault.starts_with(words), "{fault}");
    }
}

/// Forms of growth with ties, kinks, jumps, and numbers with a unit.
const GROWTHS: [&str; 12] = [
    "1/w",
    "1/w_tot",
    "w/rtt^2 / sum_s(x_s)^2",
    "max_s(w_s/rtt_s^2) / sum_s(x_s)^2",
    "min(max_s(w_s/rtt_s^2) / sum_s(x_s)^2, 1/w)",
    "(if w > 12 then 1 else 2)/w_tot",
    "(if is_largest(w) then 1.5 else 0.5)/w_tot",
    "(if is_largest(l/rtt^2) then 1.2 else 0.3)/w",
    "min(1/w, 0.08) + (if count_s(rtt_s < rtt) > 0 then 0.5 else 0)/w_tot",
    "sqrt(x/x_all)/w + abs(w - w_tot/n)/(9*w_tot^2)",
    "(if w*0.5 <= 0.5*w then 1.5 else 0.5)/w_tot",
    "(if max_s(w_s)*0.5 <= 0.5*w then 1.5 else 0.5)/w_tot",
];
const BACKOFFS: [&str; 4] =
    ["w/2", "w - w_tot/2", "w*(1 - 0.5/n)", "w - w/2*min(max_s(x_s)/x, 1.5)"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Fixed points that are computed from random starts at random places agree with the verdict.
    #[test]
    fn no_fixed_point_contradicts_a_verdict(
        form in 0..GROWTHS.len(), back in 0..BACKOFFS.len(), factor in 0.3..2.5, within in 0.0..1.5,
        claim in 0..3_usize, paths in 1..4_usize,
        places in prop::collection::vec(
            prop::collection::vec((0.0..1.0, 0.0..1.0, 0.0..1.0), 3), 12,
        ),
    ) {
        let text = format!(
            "x_all = sum_s(x_s)\ngrowth = {factor} * ({})\nbackoff = {}", GROWTHS[form], BACKOFFS[back],
        );
        let claim = CLAIMS[claim];
        let within = if claim.is_upper() { within } else { within / 2.0 };
        let asked = Question { paths, boxes: 3000, ..question(claim, within) };
        let found = answer(&text, &asked);
        if let Some(witness) = &found.witness {
            prop_assert!(asked.is_broken(witness.ratio));
            if found.verdict == Verdict::Disproved {
                check(&text, &asked, witness);
            }
        }
        let law = TextLaw::read(&text).unwrap();
        let between = |(low, high): (f64, f64), share: f64| low * libm::pow(high / low, share);
        for place in &places {
            let place = &place[..paths];
            let rtts = place.iter().map(|own| between(asked.rtts, own.0)).collect();
            let loss = |own: &(f64, f64, f64)| {
                between(asked.losses, if claim.shares_loss() { place[0].1 } else { own.1 })
            };
            let losses = place.iter().map(loss).collect();
            let start = place.iter().map(|own| between((1.0, 60.0), own.2)).collect();
            let point = Place::new(&law, &asked, rtts, losses).fixed_point(start);
            if let Some(point) = point.filter(|point| breaks(&asked, point)) {
                prop_assert!(found.verdict != Verdict::Proved, "{text} {claim:?} {within}: {point:?}");
            }
        }
    }
}

/// A fixed point as the variables of the case that it belongs to: paths are in the order of the
/// case.
fn placed(found: &FixedPoint, all: &[Case], question: &Question) -> (usize, Vec<f64>) {
    let mut order: Vec<usize> =
        (0..found.windows.len()).filter(|path| *path != found.path).collect();
    let key = |path: &usize| (found.at_floor[*path], found.rtts[*path].to_bits());
    order.sort_by_key(key);
    order.insert(0, found.path);
    let free: Vec<bool> = order.iter().map(|path| !found.at_floor[*path]).collect();
    let place = all.iter().position(|case| case.free == free).unwrap();
    let case = &all[place];
    let first = order[0];
    let scale = match case.scale {
        Some(_) => libm::sqrt(found.losses[first] / question.losses.0),
        None => 1.0,
    };
    let unit = if case.relative { found.rtts[first] } else { 1.0 };
    let variable = |kind: &Kind| match *kind {
        Kind::Window(path) => found.windows[order[path]] * scale,
        Kind::Floor => question.floor,
        Kind::Rtt(path) => found.rtts[order[path]] / unit,
        Kind::Loss(path) => found.losses[order[path]] / (scale * scale),
    };
    (place, case.kinds.iter().map(variable).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// What breaks a claim is in no box that is left out, and stays in those that are narrowed.
    #[test]
    fn a_box_around_a_fixed_point_that_breaks_the_claim_keeps_it(
        form in 0..GROWTHS.len(), back in 0..BACKOFFS.len(), factor in 0.3..2.5, claim in 0..3_usize,
        place in prop::collection::vec((0.0..1.0, 0.0..1.0, 0.0..1.0), 3), paths in 1..4_usize,
        ends in prop::collection::vec((0.0..1.0, 0.0..1.0), 9), width in 1e-6..1.5, edge in 0.0..1.0,
    ) {
        let text = format!(
            "x_all = sum_s(x_s)\ngrowth = {factor} * ({})\nbackoff = {}", GROWTHS[form], BACKOFFS[back],
        );
        let law = TextLaw::read(&text).unwrap();
        let claim = CLAIMS[claim];
        let wide = Question { paths, losses: (1e-3, 0.3), ..question(claim, 0.0) };
        let between = |(low, high): (f64, f64), share: f64| {
            // Ends of the ranges are as frequent as what lies between.
            low * libm::pow(high / low, (2.0 * share - 0.5).clamp(0.0, 1.0))
        };
        let place = &place[..paths];
        let rtts = place.iter().map(|own| between(wide.rtts, own.0)).collect();
        let loss = |own: &(f64, f64, f64)| {
            between(wide.losses, if claim.shares_loss() { place[0].1 } else { own.1 })
        };
        let losses = place.iter().map(loss).collect();
        let start = place.iter().map(|own| between((1.0, 60.0), own.2)).collect();
        let found = Place::new(&law, &wide, rtts, losses).fixed_point(start);
        prop_assume!(found.is_some());
        let found = found.unwrap();
        let room = if claim.is_upper() { found.ratio - 1.0 } else { 1.0 - found.ratio };
        let asked = Question { within: room - 1e-4 * (1.0 + edge), ..wide };
        let all = cases(&law, &asked).unwrap();
        let (case, point) = placed(&found, &all, &asked);
        let around = |(k, value): (usize, &f64)| {
            let (low, high) = ends[k % ends.len()];
            let bound = Enclosure::new(
                value * (1.0 - 1e-9) / (1.0 + width * low), value * (1.0 + 1e-9) * (1.0 + width * high),
            );
            bound.meet(all[case].whole[k]).unwrap()
        };
        let bounds = point.iter().enumerate().map(around).collect();
        let mut node = Node { case, bounds };
        let mut search = Search::new(&law, &asked, all);
        prop_assert!(search.prune(&mut node).is_ok(), "{text} {claim:?}: {found:?}");
        for (bound, value) in node.bounds.iter().zip(&point) {
            let near = Enclosure::new(value * (1.0 - 1e-9), value * (1.0 + 1e-9));
            prop_assert!(bound.meet(near).is_some(), "{text} {claim:?}: {value} {bound:?} {found:?}");
        }
    }
}
