//! Properties of Compound TCP, for arbitrary histories.

mod common;

use anabranch_control::{Acked, AnyController, CongestionController, Phase, Settings, Span};
use common::{Event, acked, controller, history, settings, tcps, tell, windows};
use proptest::prelude::*;

fn compound(settings: Settings, paths: usize) -> AnyController {
    controller("compound", settings, paths)
}

proptest! {
    #[test]
    fn in_windows_below_38_packets_every_path_is_reno_whatever_happens(
        settings in settings(), history in history(0.0..0.3, 0.01..0.5),
    ) {
        let (mut compound, mut reno, mut now) = (compound(settings, 4), tcps(settings, 4), 0.0);
        for (path, rest, srtt, event) in history {
            now += rest;
            tell(&mut compound, path, now, srtt, event);
            tell(&mut reno, path, now, srtt, event);
            if windows(&reno, 4).iter().any(|window| window.cwnd >= 36.0) {
                break;
            }
            prop_assert_eq!(windows(&compound, 4), windows(&reno, 4), "after {:?}", event);
        }
    }

    #[test]
    fn windows_stay_above_the_floor_and_fall_to_half_at_a_loss(
        settings in settings(), above in 0.0..500.0, history in history(0.0..0.2, 0.01..0.5),
        moves in prop::collection::vec(0_usize..30, 200),
    ) {
        let settings = Settings { initial_window: settings.initial_window + above, ..settings };
        let (mut compound, mut now, floor) = (compound(settings, 4), 0.0, settings.min_window);
        for ((path, rest, srtt, event), moves) in history.into_iter().zip(moves) {
            now += rest;
            // The ACK before the event may end a round, at which the delay window gives way.
            tell(&mut compound, path, now, srtt, Event::Ack { segments: 0.0, limited: false });
            let before = windows(&compound, 4);
            tell(&mut compound, path, now, srtt, event);
            for (other, (after, before)) in windows(&compound, 4).iter().zip(&before).enumerate() {
                prop_assert!(after.cwnd.is_finite() && after.cwnd >= floor, "{event:?}: {after:?}");
                prop_assert!(after.ssthresh >= floor.min(1.0));
                prop_assert!(other == path || after == before, "{event:?}: {other} was moved");
            }
            if let Event::Loss | Event::Mark = event {
                let (after, before) = (compound.window(path).cwnd, before[path].cwnd);
                prop_assert!(after >= before / 4.0, "{before} {after}");
                prop_assert!(after <= (before / 2.0).max(2.0).max(floor) + 1e-9, "{before} {after}");
            }
            if moves < 2 {
                compound.set_member(path, moves == 0);
                compound.set_member(path, true);
            }
        }
    }

    #[test]
    fn without_a_queue_a_round_trip_adds_what_the_paper_has_and_with_one_takes_the_queue_away(
        win in 40.0..2000.0_f64, rtts in (0.02..0.3, 1.0..4.0_f64),
    ) {
        let settings =
            Settings { initial_window: win, initial_ssthresh: 1.0, ..Settings::default() };
        let mut one = compound(settings, 1);
        let (base, longer) = rtts;
        let mut round = |rtt: f64, number: u64| {
            let (rtt_ns, una, nxt) = ((rtt * 1e9) as u64, number, number + 1);
            one.on_ack(0, &Acked { rtt: Span(rtt_ns), una, nxt, ..acked(0.0, rtt, Phase::Open) });
            one.window(0).cwnd
        };
        let grown = round(base, 1);
        prop_assert!((grown - win - ((win * win.sqrt()).sqrt() / 8.0 - 1.0)).abs() < 1e-9, "{win} {grown}");
        let diff = grown * (1.0 - 1.0 / longer);
        let after = round(base * longer, 2);
        if diff >= 30.001 {
            prop_assert!((after - (grown - diff).max(win)).abs() < 1e-3, "{grown} {diff} {after}");
        } else if diff < 29.999 {
            prop_assert!(after > grown);
        }
    }
}
