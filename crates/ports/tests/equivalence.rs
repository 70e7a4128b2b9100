//! The laws in C compared with the readable ones, over their whole domain.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use control::{
    Acked, AnyController, AnyLaw, AnyScheme, Cause, CongestionController, Settings, Span, Time,
};
use ports::{Judged, PATHS, PORTS, Port, Ported, Step, View, Views};
use proptest::prelude::*;

/// The notes of Coupled CUBIC: y of either sign, W_est, W_max and cwnd_prior, times.
fn notes() -> impl Strategy<Value = [u64; 4]> {
    let sized =
        |bits: u32| (0..bits, any::<u64>()).prop_map(|(b, x)| (1 << b) | (x & ((1 << b) - 1)));
    let y =
        (sized(49), any::<bool>()).prop_map(|(y, below)| if below { y.wrapping_neg() } else { y });
    let large = (sized(31), sized(24)).prop_map(|(most, prior)| prior << 32 | most);
    (y, sized(56), large, any::<u64>()).prop_map(|(y, reno, large, times)| [y, reno, large, times])
}

/// As many paths and notes as the law sees.
fn fitted(port: &Port, views: &Views) -> Views {
    let mut views = *views;
    views.paths = views.paths.min(port.most_paths() as u32);
    views.me %= views.paths;
    let (seen, unseen) = views.path.split_at_mut(views.paths as usize);
    unseen.fill(View::default());
    seen.iter_mut().for_each(|view| view.notes[port.notes()..].fill(0));
    views
}

fn views() -> impl Strategy<Value = Views> {
    let number =
        |bits: u32| (0..bits, any::<u32>()).prop_map(move |(b, x)| (1 << b) | (x & ((1 << b) - 1)));
    let l = || prop_oneof![Just(0), number(24)];
    let view = (number(24), number(31), l(), l(), notes()).prop_map(
        |(cwnd, srtt, since_loss, between_losses, notes)| View {
            cwnd,
            srtt,
            since_loss,
            between_losses,
            notes,
        },
    );
    (prop::collection::vec(view, 2..=PATHS), any::<prop::sample::Index>(), any::<bool>()).prop_map(
        |(mut paths, me, twins)| {
            if twins {
                paths[1] = paths[0]; // ties decide OLIA's sets
            }
            let mut views = Views {
                paths: paths.len() as u32,
                me: me.index(paths.len()) as u32,
                ..Views::default()
            };
            views.path[..paths.len()].copy_from_slice(&paths);
            views
        },
    )
}

#[test]
fn the_registry_knows_which_laws_have_a_port_and_no_others() {
    let registered = AnyLaw::listed().into_iter().chain(AnyScheme::listed());
    let registered = registered.map(|law| law.described);
    let mut registered: Vec<_> =
        registered.filter(|law| law.ported).map(|law| law.names[0]).collect();
    let mut ported: Vec<_> = PORTS.iter().map(Port::name).collect();
    registered.sort_unstable();
    ported.sort_unstable();
    assert_eq!(registered, ported);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn growth_in_c_is_that_of_the_readable_law_within_the_bound_of_the_arithmetic(views in views()) {
        for port in PORTS.iter() {
            let views = fitted(port, &views);
            let step = Step { views, growth: port.growth(&views), ..Step::default() };
            let expected = port.readable_growth(&step);
            prop_assert!(
                port.is_readable(&step),
                "{port:?}: {} instead of {expected} at {views:?}", step.growth
            );
        }
    }

    #[test]
    fn backoff_in_c_is_that_of_the_readable_law_rounded_down(views in views()) {
        for port in PORTS.iter() {
            let views = fitted(port, &views);
            let expected = port.readable_backoff(&views);
            let got = port.backoff(&views) as f64;
            let slack = 1e-8 * expected.abs().max(f64::from(views.path[views.me as usize].cwnd));
            prop_assert!(
                got <= expected + slack && got > expected - 1.0 - slack,
                "{port:?}: {got} instead of {expected} at {views:?}"
            );
        }
    }

    #[test]
    fn no_fraction_of_a_window_is_ever_lost(
        cwnd in 1u32..1 << 20,
        growths in prop::collection::vec((-(1i64 << 33)..1i64 << 33, 0u32..64), 1..100),
    ) {
        let (mut window, mut credit) = (cwnd, 0);
        let mut exact = i128::from(cwnd) << 32;
        for (growth, acked) in growths {
            exact += i128::from(growth) * i128::from(acked);
            (window, credit) = Port::grow(window, credit, growth, acked);
            prop_assert!((0..1i64 << 32).contains(&credit));
            if exact < 1i128 << 32 {
                exact = 1i128 << 32; // the floor of one segment
                prop_assert_eq!((window, credit), (1, 0));
            }
            prop_assert_eq!((i128::from(window) << 32) + i128::from(credit), exact);
        }
    }
}

#[test]
fn every_law_has_the_same_floor_of_ssthresh_in_c() {
    for port in PORTS.iter() {
        let Ok(readable) = port.name().parse::<AnyLaw>() else {
            assert_eq!((port.name(), port.min_ssthresh()), ("coupled-cubic", 2));
            continue;
        };
        let floor = port.coupled().then(|| f64::from(port.min_ssthresh()));
        assert_eq!(floor, readable.min_ssthresh(), "{port:?}");
    }
}

/// Input and output of an attached controller on the real kernel, step by step:
/// tools/record_traces.py.
fn recorded(law: &str) -> Vec<Step> {
    let file = format!("{}/tests/traces/{law}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().filter(|line| !line.starts_with('#')).map(|line| line.parse().unwrap()).collect()
}

/// The laws with a recorded trace.
fn coupled() -> impl Iterator<Item = &'static Port> {
    PORTS.iter().filter(|port| port.coupled())
}

#[test]
fn a_trace_of_the_kernel_holds_in_every_bit_natively_and_within_the_bound_by_the_readable_law() {
    for port in coupled() {
        let steps = recorded(port.name());
        let sockets: std::collections::BTreeSet<u32> = steps.iter().map(|s| s.socket).collect();
        let broke = steps.iter().map(|s| s.breaks).max() > steps.iter().map(|s| s.breaks).min();
        assert!(steps.len() > 300 && sockets.len() >= 2 && broke, "{port:?}");
        assert_eq!(port.judge(&steps), Judged::default(), "{port:?}");
    }
}

/// A trace of a controller with a fault in each of its steps.
fn planted(port: &Port, fault: impl FnMut(&mut Step)) -> Judged {
    let mut steps = recorded(port.name());
    steps.iter_mut().for_each(fault);
    port.judge(&steps)
}

#[test]
fn a_dropped_remainder_is_caught() {
    for port in coupled() {
        let judged = planted(port, |step| step.after_credit = 0);
        assert!(judged.native > 100, "{port:?}: {judged:?}");
    }
}

#[test]
fn two_swapped_round_trip_times_are_caught() {
    for port in coupled() {
        let judged = planted(port, |step| {
            let [a, b, ..] = &mut step.views.path;
            core::mem::swap(&mut a.srtt, &mut b.srtt);
            *step = port.replay(step);
        });
        assert!(judged.misread > 100 && judged.native == 0, "{port:?}: {judged:?}");
    }
}

#[test]
fn a_credit_that_is_reset_between_acks_is_caught() {
    for port in coupled() {
        let judged = planted(port, |step| {
            step.before_credit = 0;
            *step = port.replay(step);
        });
        assert!(judged.broken > 100 && judged.native == 0, "{port:?}: {judged:?}");
    }
}

proptest! {
    #[test]
    fn a_step_survives_its_way_through_a_file(views in views(), acked in 0u32..100, credit in any::<i64>()) {
        let (srtt, socket, breaks) = (acked + 1, u32::MAX - acked, acked);
        let step = Step {
            views, acked, before_credit: credit, growth: -3, srtt, socket, breaks, ..Step::default()
        };
        prop_assert_eq!(step.to_string().parse::<Step>(), Ok(step));
    }

    #[test]
    fn no_line_makes_the_reader_of_steps_panic(line in ".*") {
        let _ = line.parse::<Step>();
    }
}

/// The mean window of each path over 20,000 ACKs of a connection, one path losing every 97th and
/// the other every 400th.
fn mean_windows(mut control: impl CongestionController) -> [f64; 2] {
    let mut sums = [0.0; 2];
    let mut acks = [0u32; 2];
    for turn in 0..20_000_u64 {
        let path = usize::from(turn % 3 == 0);
        let acked = Acked {
            segments: 1.0,
            srtt: Span::millis([90, 140][path]),
            cwnd_limited: true,
            now: Time(turn * 4_000_000),
            ..Acked::default()
        };
        control.on_ack(path, &acked);
        acks[path] += 1;
        if acks[path] % [97, 400][path] == 0 {
            control.on_congestion(path, Cause::FastRetransmit);
            control.on_recovered(path);
        }
        (0..2).for_each(|path| sums[path] += control.window(path).cwnd);
    }
    sums.map(|sum| sum / 20_000.0)
}

#[test]
fn the_kernels_shell_keeps_the_windows_of_the_readable_one() {
    let settings = Settings { initial_ssthresh: 10.0, ..Settings::default() };
    for port in PORTS.iter() {
        let spec = port.name().parse().unwrap();
        let readable = mean_windows(AnyController::new(&spec, settings, 2).unwrap());
        let ported = mean_windows(Ported::new(port.clone(), settings, 2));
        for (readable, ported) in readable.into_iter().zip(ported) {
            // whole segments: half a segment less on average, and as much again where a window is
            // halved
            assert!((readable - ported).abs() < 1.5, "{port:?}: {ported}, readable {readable}");
        }
    }
}

#[test]
fn a_window_that_falls_below_its_threshold_by_a_fraction_gains_no_segment_in_slow_start() {
    let settings = Settings { initial_window: 8.0, initial_ssthresh: 8.0, ..Settings::default() };
    let mut control = Ported::new(Port::of("olia"), settings, 2);
    let acked = |cwnd_limited| Acked {
        segments: 1.0,
        srtt: Span::millis(100),
        cwnd_limited,
        ..Acked::default()
    };
    (0..40).for_each(|_| control.on_ack(1, &acked(false)));
    control.on_congestion(1, Cause::FastRetransmit);
    control.on_recovered(1); // at 4 segments and the better quality: OLIA takes from the other
    let windows = (0..2000).map(|turn| {
        control.on_ack(1, &acked(false));
        control.on_ack(0, &acked(turn % 2 == 0));
        control.window(0).cwnd
    });
    let mean = windows.sum::<f64>() / 2000.0;
    assert!(mean < 7.8, "{mean}: with the fraction kept it stays at 8");
}
