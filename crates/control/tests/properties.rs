//! Properties of the laws, for arbitrary windows, round trips and histories.

mod common;

use anabranch_control::{
    Acked, AnyController, Cause, CongestionController, Law, LawVisitor, Phase, Settings, Shell,
};
use common::{Formulas, Path, acked, controller, formulas, registered};
use proptest::prelude::*;

fn law(name: &str) -> Box<dyn Formulas> {
    formulas(name.parse().expect("a law"))
}

/// A usable path, as a running connection may have it.
fn path() -> impl Strategy<Value = Path> {
    (1.0..1000.0, 0.0005..1.0, 0.0..1e5, 0.0..1e5).prop_map(
        |(cwnd, srtt, since_loss, between_losses)| Path { cwnd, srtt, since_loss, between_losses },
    )
}

fn paths(number: core::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<Path>> {
    prop::collection::vec(path(), number)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-12)
}

fn rates(paths: &[Path]) -> f64 {
    paths.iter().map(Path::rate).sum()
}

/// Avoidance from the first ACK on, so that every step goes through the law.
fn avoidance() -> Settings {
    Settings { initial_ssthresh: 1.0, ..Settings::default() }
}

/// An ensemble in avoidance with round-trip samples, whose paths have the given windows as near as
/// whole losses bring them.
fn warmed(law: &str, settings: Settings, start: &[(f64, f64)]) -> AnyController {
    let mut ensemble = controller(law, settings, start.len());
    warm(&mut ensemble, start);
    ensemble
}

fn warm(ensemble: &mut impl CongestionController, start: &[(f64, f64)]) {
    for (me, (srtt, losses)) in start.iter().enumerate() {
        ensemble.on_ack(me, &acked(1.0, *srtt, Phase::Open));
        for _ in 0..*losses as u32 {
            ensemble.on_congestion(me, Cause::FastRetransmit);
            ensemble.on_recovered(me);
            ensemble.on_ack(me, &acked(2.0, *srtt, Phase::Open));
        }
    }
}

/// Round trip and number of losses of the paths of a connection.
fn start(number: core::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::vec((0.001..0.5, 0.0..4.0), number)
}

/// RFC 5681 in its shortest form, as the oracle for a single path.
struct NewReno {
    cwnd: f64,
    ssthresh: f64,
}

impl NewReno {
    fn step(&mut self, event: &Event) {
        match *event {
            Event::Ack(segments) => {
                let segments = segments.min(2.0);
                let exponential = segments.min((self.ssthresh - self.cwnd).max(0.0));
                self.cwnd += exponential;
                let left = segments - exponential;
                if left > 0.0 {
                    self.cwnd += left * (1.0 / self.cwnd);
                }
            }
            Event::Loss => {
                self.ssthresh = (self.cwnd / 2.0).max(2.0);
                self.cwnd = self.ssthresh;
            }
            Event::Timeout => {
                self.ssthresh = (self.cwnd / 2.0).max(2.0);
                self.cwnd = 1.0;
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Event {
    Ack(f64),
    Loss,
    Timeout,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        12 => (0.1..4.0).prop_map(Event::Ack),
        1 => Just(Event::Loss),
        1 => Just(Event::Timeout),
    ]
}

proptest! {
    #[test]
    fn one_path_alone_is_exactly_newreno_under_every_law(
        events in prop::collection::vec(event(), 1..200), srtt in 0.001..1.0,
    ) {
        for (name, _) in registered() {
            let mut ensemble = controller(&name, Settings::default(), 1);
            let mut reno = NewReno { cwnd: 10.0, ssthresh: f64::INFINITY };
            for event in &events {
                reno.step(event);
                match event {
                    Event::Ack(segments) => ensemble.on_ack(0, &acked(*segments, srtt, Phase::Open)),
                    Event::Loss => {
                        ensemble.on_congestion(0, Cause::FastRetransmit);
                        ensemble.on_recovered(0);
                    }
                    Event::Timeout => ensemble.on_congestion(0, Cause::Timeout),
                }
                let window = ensemble.window(0);
                prop_assert_eq!((window.cwnd, window.ssthresh), (reno.cwnd, reno.ssthresh), "{}", name);
            }
        }
    }

    #[test]
    fn the_formulas_themselves_reduce_to_newreno_on_one_path(path in path()) {
        for (name, law) in registered() {
            let law = formulas(law);
            let alone = [path];
            let growth = law.growth_of(0, &alone) * path.cwnd;
            prop_assert!((growth - 1.0).abs() < 1e-12, "{name}: growth · w = {growth}");
            prop_assert!((law.backoff_of(0, &alone) / path.cwnd - 0.5).abs() < 1e-12, "{name}");
        }
    }

    #[test]
    fn the_order_of_paths_changes_nothing(
        (paths, order) in paths(2..=5).prop_flat_map(|paths| {
            let order: Vec<usize> = (0..paths.len()).collect();
            (Just(paths), Just(order).prop_shuffle())
        }),
    ) {
        let shuffled: Vec<Path> = order.iter().map(|old| paths[*old]).collect();
        // The first path of `hacker` differs from the others.
        for (name, law) in registered().into_iter().filter(|(name, _)| name != "hacker") {
            let law = formulas(law);
            for (new, old) in order.iter().enumerate() {
                let (growth, was) = (law.growth_of(new, &shuffled), law.growth_of(*old, &paths));
                prop_assert!(close(growth, was), "{name}: growth {was} becomes {growth}");
                prop_assert!(close(law.backoff_of(new, &shuffled), law.backoff_of(*old, &paths)), "{name}");
            }
        }
    }

    #[test]
    fn slowing_all_round_trips_alike_leaves_every_formula_unchanged(
        paths in paths(1..=5), factor in 0.01..100.0,
    ) {
        let slowed = |path: &Path| Path { srtt: path.srtt * factor, ..*path };
        let scaled: Vec<Path> = paths.iter().map(slowed).collect();
        for (name, law) in registered() {
            let law = formulas(law);
            for me in 0..paths.len() {
                prop_assert!(close(law.growth_of(me, &paths), law.growth_of(me, &scaled)), "{name}");
                prop_assert!(close(law.backoff_of(me, &paths), law.backoff_of(me, &scaled)), "{name}");
            }
        }
    }

    #[test]
    fn lia_never_grows_faster_than_tcp_nor_than_without_its_cap(paths in paths(1..=5)) {
        for me in 0..paths.len() {
            let (capped, uncapped) = (law("lia").growth_of(me, &paths), law("lia:uncapped").growth_of(me, &paths));
            prop_assert!(capped > 0.0 && capped <= 1.0 / paths[me].cwnd);
            prop_assert_eq!(capped, uncapped.min(1.0 / paths[me].cwnd));
        }
    }

    #[test]
    fn lias_cap_never_binds_when_round_trips_are_equal(paths in paths(1..=5), srtt in 0.001..1.0) {
        let equal: Vec<Path> = paths.iter().map(|path| Path { srtt, ..*path }).collect();
        for me in 0..equal.len() {
            prop_assert!(close(law("lia").growth_of(me, &equal), law("lia:uncapped").growth_of(me, &equal)));
        }
    }

    #[test]
    fn phi_of_one_is_linked_increases_without_the_cap(
        paths in paths(1..=5),
    ) {
        for me in 0..paths.len() {
            prop_assert!(close(law("phi:1").growth_of(me, &paths), law("lia:uncapped").growth_of(me, &paths)));
        }
    }

    #[test]
    fn olias_alphas_sum_to_zero_and_its_growth_stays_within_bounds(paths in paths(2..=5)) {
        let n = paths.len() as f64;
        let x = rates(&paths);
        for name in ["olia", "olia:draft"] {
            let mut sum = 0.0;
            for (me, path) in paths.iter().enumerate() {
                let scaled = law(name).growth_of(me, &paths) * path.cwnd;
                prop_assert!(scaled >= -1.0 / n - 1e-12 && scaled <= 1.0 + 1.0 / n + 1e-12, "{scaled}");
                sum += scaled - (path.rate() / x) * (path.rate() / x);
            }
            prop_assert!(sum.abs() < 1e-9, "{name}: the alphas sum to {sum}");
        }
    }

    #[test]
    fn balia_stays_within_its_bounds(paths in paths(1..=5)) {
        let fastest = paths.iter().map(Path::rate).fold(0.0, f64::max);
        for (me, path) in paths.iter().enumerate() {
            let most = if path.rate() == fastest { 1.0 } else { 0.25 };
            let scaled = law("balia").growth_of(me, &paths) * path.cwnd;
            prop_assert!(scaled > 0.0 && scaled <= most + 1e-12, "{scaled} of {most}");
            let kept = law("balia").backoff_of(me, &paths) / path.cwnd;
            prop_assert!((0.25 - 1e-12..=0.5 + 1e-12).contains(&kept), "keeps {kept}");
        }
    }

    #[test]
    fn ewtcp_is_reno_at_a_fixed_fraction(paths in paths(1..=5)) {
        let n = paths.len() as f64;
        for (me, path) in paths.iter().enumerate() {
            prop_assert!(close(law("ewtcp").growth_of(me, &paths) * path.cwnd, 1.0 / (n * n)));
            prop_assert!(close(law("ewtcp:literal").growth_of(me, &paths) * path.cwnd, 1.0 / n.sqrt()));
        }
    }

    #[test]
    fn coupled_and_semicoupled_grow_alike_on_all_paths(paths in paths(1..=5)) {
        let total: f64 = paths.iter().map(|path| path.cwnd).sum();
        for me in 0..paths.len() {
            prop_assert!(close(law("fully-coupled").growth_of(me, &paths) * total, 1.0));
            let n = paths.len() as f64;
            prop_assert!(close(law("semicoupled").growth_of(me, &paths) * total, 1.0 / n));
        }
    }

    #[test]
    fn coupled_gives_up_half_the_total_down_to_the_floor(
        start in start(2..=4), floor in 1.0..4.0, timeout in any::<bool>(),
    ) {
        let settings = Settings { min_ssthresh: Some(floor), ..avoidance() };
        let mut ensemble = warmed("fully-coupled", settings, &start);
        let windows: Vec<f64> = (0..start.len()).map(|me| ensemble.window(me).cwnd).collect();
        let expected = (windows[0] - windows.iter().sum::<f64>() / 2.0).max(floor);
        ensemble.on_congestion(0, if timeout { Cause::Timeout } else { Cause::FastRetransmit });
        prop_assert!(close(ensemble.window(0).ssthresh, expected));
        for (me, window) in windows.iter().enumerate().skip(1) {
            prop_assert_eq!(ensemble.window(me).cwnd, *window);
        }
    }

    #[test]
    fn no_window_grows_in_recovery_or_when_it_was_not_the_limit(
        start in start(1..=4), segments in 0.1..10.0, me in any::<prop::sample::Index>(),
    ) {
        for (name, _) in registered() {
            let mut ensemble = warmed(&name, avoidance(), &start);
            let me = me.index(start.len());
            let windows = |ensemble: &AnyController| -> Vec<_> {
                (0..start.len()).map(|path| ensemble.window(path)).collect()
            };
            let before = windows(&ensemble);
            let idle = Acked { cwnd_limited: false, ..acked(segments, start[me].0, Phase::Open) };
            ensemble.on_ack(me, &idle);
            prop_assert_eq!(&windows(&ensemble), &before, "{} when not limited", name);
            ensemble.on_ack(me, &acked(segments, start[me].0, Phase::Recovery));
            prop_assert_eq!(&windows(&ensemble), &before, "{} in recovery", name);
        }
    }

    #[test]
    fn a_path_that_left_leaves_no_term_in_any_sum(start in start(2..=4), segments in 0.1..2.0) {
        for (name, law) in registered() {
            law.visit(Leaving { name: &name, start: &start, segments })?;
        }
    }

    #[test]
    fn a_path_that_joins_counts_from_its_first_round_trip_sample(
        start in start(2..=4), srtt in 0.001..0.5,
    ) {
        let last = start.len() - 1;
        for (name, law) in registered() {
            let mut ensemble = warmed(&name, avoidance(), &start);
            ensemble.set_member(last, false);
            let absent = ensemble.clone();
            ensemble.set_member(last, true);
            prop_assert_eq!(ensemble.window(last).cwnd, Settings::default().initial_window);

            let (mut joined, mut without) = (ensemble.clone(), absent);
            joined.on_ack(0, &acked(1.0, start[0].0, Phase::Open));
            without.on_ack(0, &acked(1.0, start[0].0, Phase::Open));
            prop_assert_eq!(joined.window(0), without.window(0), "{} before the sample", name);

            law.visit(Joining { name: &name, start: &start, srtt })?;
        }
    }
}

#[test]
fn a_coupled_path_falls_to_the_floor_of_its_law_unless_another_is_asked_for() {
    let floor = |law: &str, min_ssthresh: Option<f64>| {
        let settings = Settings { min_ssthresh, initial_window: 2.0, ..Settings::default() };
        let mut control = controller(law, settings, 2);
        for path in 0..2 {
            control.on_ack(path, &Acked { cwnd_limited: false, ..acked(1.0, 0.1, Phase::Open) });
        }
        control.on_congestion(0, Cause::FastRetransmit);
        control.window(0).ssthresh
    };
    for law in ["lia", "ewtcp", "semicoupled", "fully-coupled", "phi:1"] {
        assert_eq!(floor(law, None), 2.0, "{law}");
        assert_eq!(floor(law, Some(1.0)), 1.0, "{law}");
    }
    for law in ["olia", "olia:draft", "balia"] {
        assert_eq!(floor(law, None), 1.0, "{law}");
        assert_eq!(floor(law, Some(2.0)), 2.0, "{law}");
    }
    assert_eq!(floor("uncoupled", Some(1.0)), 2.0);
}

#[test]
fn with_growth_per_ack_an_ack_of_many_segments_grows_a_window_as_one_of_one() {
    for law in ["reno", "lia", "lia+hystart", "cubic", "compound", "wvegas"] {
        for initial_ssthresh in [2.0, f64::INFINITY] {
            let settings = Settings { initial_ssthresh, ..Settings::default() };
            let mut one = controller(law, settings, 2);
            let mut many = controller(law, Settings { growth_per_ack: true, ..settings }, 2);
            for _ in 0..50 {
                one.on_ack(0, &acked(1.0, 0.1, Phase::Open));
                many.on_ack(0, &acked(2.0, 0.1, Phase::Open));
            }
            assert_eq!(one.window(0), many.window(0), "{law}");
        }
    }
}

/// The last path leaves, and the first one continues.
struct Leaving<'a> {
    name: &'a str,
    start: &'a [(f64, f64)],
    segments: f64,
}

impl LawVisitor for Leaving<'_> {
    type Output = Result<(), TestCaseError>;

    fn visit<L: Law + 'static>(self, law: L) -> Self::Output {
        let Leaving { name, start, segments } = self;
        let last = start.len() - 1;
        let mut shell = Shell::new(law.clone(), avoidance(), start.len());
        warm(&mut shell, start);
        shell.set_member(last, false);
        let mut views = shell.views()[..last].to_vec();
        let ack = acked(segments, start[0].0, Phase::Open);
        law.note_acked(&mut views[0].note, &ack);
        let growth = if last == 1 { 1.0 / views[0].cwnd } else { law.growth(0, &views) };
        let expected = (views[0].cwnd + segments * growth).max(1.0);
        shell.on_ack(0, &ack);
        prop_assert!(close(shell.window(0).cwnd, expected), "{name}: growth");

        let halved = law.backoff(0, &shell.views()[..last]);
        let alone = last == 1 || !law.coupled();
        let expected =
            if alone { (expected / 2.0).max(2.0) } else { halved.max(law.min_ssthresh()) };
        shell.on_congestion(0, Cause::FastRetransmit);
        prop_assert!(close(shell.window(0).ssthresh, expected), "{name}: backoff");
        Ok(())
    }
}

/// The last path leaves, joins again and has its first sample.
struct Joining<'a> {
    name: &'a str,
    start: &'a [(f64, f64)],
    srtt: f64,
}

impl LawVisitor for Joining<'_> {
    type Output = Result<(), TestCaseError>;

    fn visit<L: Law + 'static>(self, law: L) -> Self::Output {
        let last = self.start.len() - 1;
        let mut shell = Shell::new(law.clone(), avoidance(), self.start.len());
        warm(&mut shell, self.start);
        shell.set_member(last, false);
        shell.set_member(last, true);
        let ack = acked(1.0, self.srtt, Phase::Open);
        shell.on_ack(last, &ack);
        let mut fresh = L::Note::default();
        law.note_acked(&mut fresh, &ack);
        let view = shell.views()[last];
        prop_assert!(view.usable && view.note == fresh, "{}: a stale note", self.name);
        Ok(())
    }
}
