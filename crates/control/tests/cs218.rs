//! Properties of CS218_ALGO, for arbitrary histories.

mod common;

use anabranch_control::{Acked, AnyController, Cause, CongestionController, Phase, Settings, Span};
use common::{Event, acked, controller, history, settings, tcps, tell, windows};
use proptest::prelude::*;

fn cs218(name: &str, settings: Settings, paths: usize) -> AnyController {
    controller(name, settings, paths)
}

fn lia(settings: Settings, paths: usize) -> AnyController {
    controller("lia", settings, paths)
}

const NAMES: [&str; 3] = ["cs218", "cs218:capped", "cs218:acks-0"];

proptest! {
    #[test]
    fn one_path_is_exactly_reno_whatever_happens(
        settings in settings(), history in history(0.0..0.3, 0.01..0.5),
    ) {
        for name in NAMES {
            let (mut one, mut reno) = (cs218(name, settings, 1), tcps(settings, 1));
            for (_, rest, srtt, event) in &history {
                tell(&mut one, 0, *rest, *srtt, *event);
                tell(&mut reno, 0, *rest, *srtt, *event);
                prop_assert_eq!(one.window(0), reno.window(0), "after {:?}", event);
            }
        }
    }

    #[test]
    fn it_is_exactly_lia_while_no_path_has_six_acknowledgements_between_losses(
        settings in settings(), history in history(0.0..0.3, 0.01..0.5),
    ) {
        let (mut control, mut plain) = (cs218("cs218", settings, 4), lia(settings, 4));
        let mut acks = [0; 4];
        for (path, _, srtt, event) in history {
            // `tell` reports one acknowledgement before the event, and up to one after.
            if acks[path] > 3 {
                for control in [&mut control as &mut dyn CongestionController, &mut plain] {
                    control.on_congestion(path, Cause::Mark);
                }
                acks[path] = 0;
            }
            match event {
                Event::Spurious => continue, // restores the count from before
                Event::Ack { .. } | Event::Restart => acks[path] += 2,
                _ => acks[path] = 1,
            }
            tell(&mut control, path, 0.0, srtt, event);
            tell(&mut plain, path, 0.0, srtt, event);
            prop_assert_eq!(windows(&control, 4), windows(&plain, 4), "after {:?}", event);
        }
    }

    #[test]
    fn it_is_lia_where_the_last_round_trip_is_much_longer_than_the_best(
        settings in settings(), history in history(0.0..0.3, 0.01..0.5),
    ) {
        for name in NAMES {
            let (mut control, mut plain) = (cs218(name, settings, 4), lia(settings, 4));
            let short = Acked { segments: 0.0, rtt: Span(1), ..acked(0.0, 0.1, Phase::Open) };
            for path in 0..4 {
                control.on_ack(path, &short);
                plain.on_ack(path, &short);
            }
            for (path, _, srtt, event) in &history {
                tell(&mut control, *path, 0.0, *srtt, *event);
                tell(&mut plain, *path, 0.0, *srtt, *event);
            }
            for path in 0..4 {
                let (cwnd, lias) = (control.window(path).cwnd, plain.window(path).cwnd);
                prop_assert!((cwnd / lias - 1.0).abs() < 1e-4, "{name}: {cwnd} {lias}");
            }
        }
    }

    #[test]
    fn from_the_same_windows_it_grows_at_least_as_lia_at_most_twice_and_within_the_cap_as_tcp(
        paths in prop::collection::vec((2.0..200.0, 0.01..0.5), 2..5), last in 0.5..4.0_f64, segments in 0.1..2.0_f64,
    ) {
        let settings = Settings { initial_ssthresh: 1.0, ..Settings::default() };
        let grown = |control: &mut dyn CongestionController| {
            for (path, (cwnd, srtt)) in paths.iter().enumerate() {
                let rtt_ns = (srtt * 1e9) as u64;
                let ack = Acked { rtt: Span(rtt_ns), ..acked(0.0, *srtt, Phase::Open) };
                (0..5).for_each(|_| control.on_ack(path, &ack));
                control.restart(path, anabranch_control::Window { cwnd: *cwnd, ssthresh: 1.0 });
            }
            let rtt_ns = (paths[0].1 * last * 1e9) as u64;
            control.on_ack(0, &Acked { rtt: Span(rtt_ns), ..acked(segments, paths[0].1, Phase::Open) });
            control.window(0).cwnd - paths[0].0
        };
        let lias = grown(&mut lia(settings, paths.len()));
        let [boosted, capped] = ["cs218", "cs218:capped"]
            .map(|name| grown(&mut cs218(name, settings, paths.len())));
        // Increments are differences of windows, which are up to 200.
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        // Round trips are whole nanoseconds, in the law and here.
        let whole = |seconds: f64| (seconds * 1e9) as u64 as f64;
        let ratio = (whole(paths[0].1) / whole(paths[0].1 * last)).min(1.0);
        prop_assert!((boosted / (1.0 + ratio) - lias).abs() < 1e-9, "{boosted} {lias}");
        prop_assert!(near(capped, boosted.min(segments / paths[0].0)), "{capped} {boosted}");
        prop_assert!(capped >= lias - 1e-12);
    }

    #[test]
    fn a_loss_is_that_of_lia(settings in settings(), history in history(0.0..0.3, 0.01..0.5)) {
        let mut control = cs218("cs218", settings, 4);
        for (path, _, srtt, event) in history {
            tell(&mut control, path, 0.0, srtt, event);
            let mut lost = control.clone();
            let before = lost.window(path);
            lost.on_congestion(path, Cause::FastRetransmit);
            let floor = settings.min_window.max(settings.min_ssthresh.unwrap_or(2.0));
            // A path is alone until others have answered, and then has the floor of a TCP.
            let most = (before.cwnd / 2.0).max(floor.max(2.0));
            let after = lost.window(path);
            prop_assert!(after.cwnd >= (before.cwnd / 2.0).max(floor.min(2.0)) && after.cwnd <= most);
            prop_assert_eq!(after.cwnd, after.ssthresh);
        }
    }
}
