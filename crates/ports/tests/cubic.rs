//! Coupled CUBIC in whole numbers beside the one of the simulator, over random ACKs and losses.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use control::{Acked, AnyController, Cause, CongestionController, Phase, Settings, Span, Time};
use ports::{Port, Ported};
use proptest::prelude::*;

const PATHS: usize = 3;

/// A path: its round trip, and the ACKs from each congestion event to the next.
#[derive(Clone, Debug)]
struct Path {
    rtt_ms: u64,
    events: Vec<(u32, Cause)>,
}

fn paths() -> impl Strategy<Value = Vec<Path>> {
    let cause = prop_oneof![6 => Just(Cause::FastRetransmit), 2 => Just(Cause::Mark), 1 => Just(Cause::Timeout)];
    let between = prop_oneof![20u32..400, 400u32..20_000];
    let events = prop::collection::vec((between, cause), 3..9);
    let path = (5u64..200, events).prop_map(|(rtt_ms, events)| Path { rtt_ms, events });
    prop::collection::vec(path, 1..=PATHS)
}

/// Both controllers over the same paths, with the ACKs of the readable one's windows; calls `look`
/// with the path and both windows after each.
fn course(paths: &[Path], look: impl FnMut(usize, f64, f64)) {
    course_in(10.0, 60.0, paths, look);
}

/// The same in congestion avoidance from a window on.
fn course_from(window: f64, paths: &[Path], look: impl FnMut(usize, f64, f64)) {
    course_in(window, window, paths, look);
}

fn course_in(
    initial_window: f64,
    initial_ssthresh: f64,
    paths: &[Path],
    mut look: impl FnMut(usize, f64, f64),
) {
    let settings = Settings { initial_window, initial_ssthresh, ..Settings::default() };
    let spec = "coupled-cubic".parse().unwrap();
    let mut real = AnyController::new(&spec, settings, paths.len()).unwrap();
    let mut whole = Ported::new(Port::of("coupled-cubic"), settings, paths.len());
    let mut events: Vec<_> = paths.iter().map(|path| path.events.iter().copied()).collect();
    let mut left: Vec<_> = events.iter_mut().map(|events| events.next().unwrap()).collect();
    let mut next: Vec<f64> = paths.iter().map(|path| path.rtt_ms as f64 * 1e-3).collect();
    loop {
        let path = (0..paths.len()).min_by(|a, b| next[*a].total_cmp(&next[*b])).unwrap();
        let (now, rtt) = (Time((next[path] * 1e9) as u64), Span::millis(paths[path].rtt_ms));
        let ack = Acked {
            segments: 1.0,
            srtt: rtt,
            rtt,
            now,
            cwnd_limited: true,
            phase: Phase::Open,
            ..Acked::default()
        };
        real.on_ack(path, &ack);
        whole.on_ack(path, &ack);
        left[path].0 -= 1;
        if left[path].0 == 0 {
            let cause = left[path].1;
            for control in [&mut real as &mut dyn CongestionController, &mut whole] {
                control.on_congestion(path, cause);
                if cause == Cause::FastRetransmit {
                    control.on_recovered(path);
                }
            }
            match events[path].next() {
                Some(event) => left[path] = event,
                None => return,
            }
        }
        let windows = (real.window(path).cwnd, whole.window(path).cwnd);
        look(path, windows.0, windows.1);
        next[path] += paths[path].rtt_ms as f64 * 1e-3 / windows.0.max(1.0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whole segments: below a window by less than one, at each loss by as much again. A loss just
    /// above or below W_max decides about fast convergence, that is 15 % of W_max, and a stage that
    /// begins a segment higher is that much earlier: so windows differ for a while by more.
    #[test]
    fn its_windows_are_those_of_the_simulated_scheme_over_random_acks_and_losses(paths in paths()) {
        let (mut sums, mut count) = ((0.0, 0.0), 0.0);
        course(&paths, |_, real, whole| {
            let off = (real - whole).abs();
            assert!(off <= 2.0 + 0.4 * real, "{whole} instead of {real}");
            sums = (sums.0 + real, sums.1 + off);
            count += 1.0;
        });
        let (mean, off) = (sums.0 / count, sums.1 / count);
        prop_assert!(off <= 1.0 + 0.15 * mean, "off by {off} at a mean of {mean}");
    }
}

/// Stages that begin at whole windows: nothing but the arithmetic and the carried fraction differs.
#[test]
fn from_a_whole_window_each_stage_stays_within_a_segment_and_a_half() {
    for count in 1..=PATHS {
        let path = |rtt_ms| Path {
            rtt_ms,
            events: vec![(1, Cause::FastRetransmit), (450_000, Cause::FastRetransmit)],
        };
        let paths: Vec<_> = [40, 40, 40].map(path)[..count].to_vec();
        let (mut worst, mut highest, mut reduced) = (0.0_f64, 0.0_f64, vec![false; count]);
        course_from(1000.0, &paths, |path, real, whole| {
            reduced[path] |= real < 800.0;
            if reduced[path] {
                worst = worst.max((real - whole).abs());
                highest = highest.max(real);
            }
        });
        assert!(worst < 1.5 && highest > 900.0, "{count} paths: {worst}, up to {highest}");
    }
}
