//! Properties of DWC, for arbitrary histories. DWC is a scheme and not a law, so the tests of laws
//! do not cover it.

mod common;

use anabranch_control::{AnyController, Cause, CongestionController, Settings, Window};
use common::{Event, controller, history, settings, tcps, tell, windows};
use proptest::prelude::*;

fn dwc(name: &str, settings: Settings, paths: usize) -> AnyController {
    controller(name, settings, paths)
}

proptest! {
    #[test]
    fn one_path_is_exactly_reno_whatever_happens(
        settings in settings(), history in history(0.0..0.3, 0.01..0.5),
    ) {
        let (mut dwc, mut reno, mut now) = (dwc("dwc", settings, 1), tcps(settings, 1), 0.0);
        for (_, rest, srtt, event) in history {
            now += rest;
            tell(&mut dwc, 0, now, srtt, event);
            tell(&mut reno, 0, now, srtt, event);
            prop_assert_eq!(dwc.window(0), reno.window(0), "after {:?}", event);
        }
    }

    #[test]
    fn paths_that_never_lose_together_nor_wait_longer_are_each_exactly_reno(
        settings in settings(), history in history(0.11..0.3, 0.1..0.10001),
    ) {
        let (mut dwc, mut reno, mut now) = (dwc("dwc", settings, 4), tcps(settings, 4), 0.0);
        for (path, rest, _, event) in history {
            now += rest;
            tell(&mut dwc, path, now, 0.1, event);
            tell(&mut reno, path, now, 0.1, event);
            prop_assert_eq!(windows(&dwc, 4), windows(&reno, 4), "after {:?} on {}", event, path);
        }
    }

    #[test]
    fn windows_stay_above_the_floor_fall_only_at_an_event_and_to_no_less_than_half(
        settings in settings(), history in history(0.0..0.2, 0.01..0.5), losses in any::<bool>(),
        moves in prop::collection::vec(0_usize..30, 200),
    ) {
        let name = if losses { "dwc:losses" } else { "dwc" };
        let (mut dwc, mut now, floor) = (dwc(name, settings, 4), 0.0, settings.min_window);
        for ((path, rest, srtt, event), moves) in history.into_iter().zip(moves) {
            now += rest;
            let before = windows(&dwc, 4);
            tell(&mut dwc, path, now, srtt, event);
            for (other, (after, before)) in windows(&dwc, 4).iter().zip(&before).enumerate() {
                prop_assert!(after.cwnd.is_finite() && after.cwnd >= floor && after.ssthresh >= floor.min(1.0));
                let least = match event {
                    Event::Ack { .. } => before.cwnd,
                    Event::Timeout | Event::TimeoutAgain | Event::Restart if other == path => floor,
                    _ => before.cwnd / 2.0,
                };
                prop_assert!(after.cwnd >= least.max(floor), "{event:?} on {path}: {before:?}, {after:?}");
            }
            if moves < 2 {
                dwc.set_member(path, moves == 0);
                dwc.set_member(path, true);
            }
        }
    }

    #[test]
    fn the_order_of_paths_changes_nothing(
        settings in settings(), history in history(0.001..0.2, 0.01..0.5),
        order in Just(vec![0_usize, 1, 2, 3]).prop_shuffle(),
    ) {
        let (mut one, mut other, mut now) = (dwc("dwc", settings, 4), dwc("dwc", settings, 4), 0.0);
        for (path, rest, srtt, event) in history {
            now += rest;
            tell(&mut one, path, now, srtt, event);
            tell(&mut other, order[path], now, srtt, event);
            for (path, window) in windows(&one, 4).iter().enumerate() {
                // Sums of windows are rounded in the order of the paths.
                let cwnd = other.window(order[path]).cwnd;
                prop_assert!((window.cwnd / cwnd - 1.0).abs() < 1e-9, "{window:?}, {cwnd}");
            }
        }
    }
}

/// Two paths in avoidance, of 16 segments each, that have just lost together.
fn group() -> AnyController {
    let settings = Settings { initial_window: 32.0, initial_ssthresh: 1.0, ..Settings::default() };
    let mut group = dwc("dwc", settings, 2);
    let nothing = Event::Ack { segments: 1.0, limited: false };
    (0..2).for_each(|path| tell(&mut group, path, 0.5, 0.1, nothing));
    tell(&mut group, 0, 1.0, 0.1, Event::Loss);
    tell(&mut group, 1, 1.05, 0.1, Event::Loss);
    tell(&mut group, 0, 1.2, 0.1, nothing);
    group
}

#[test]
fn a_spurious_event_is_taken_back_on_all_members() {
    let mut group = group();
    group.on_congestion(0, Cause::Timeout);
    assert_eq!([0, 1].map(|path| group.window(path).cwnd), [1.0, 8.0]);
    group.undo(0);
    assert_eq!([0, 1].map(|path| group.window(path).cwnd), [16.0, 16.0]);
}

#[test]
fn a_sibling_that_returns_from_a_timeout_goes_on_with_its_slow_start() {
    let mut group = group();
    tell(&mut group, 0, 2.0, 0.1, Event::Timeout);
    assert_eq!(group.window(0), Window { cwnd: 1.0, ssthresh: 8.0 });
    tell(&mut group, 1, 3.0, 0.1, Event::Loss);
    assert_eq!(group.window(0), Window { cwnd: 1.0, ssthresh: 4.0 });
}

#[test]
fn the_first_slow_start_of_a_member_ends_when_it_finds_itself_in_a_group() {
    for (name, ends) in [("dwc", true), ("dwc:losses", false)] {
        let mut control = dwc(name, Settings::default(), 2);
        let nothing = Event::Ack { segments: 1.0, limited: false };
        for (round, srtt) in (1..).zip([0.2, 0.1, 0.12, 0.15, 0.18]) {
            tell(&mut control, 1, 0.1 * f64::from(round), srtt, nothing);
        }
        tell(&mut control, 0, 0.55, 0.1, Event::Loss); // beside a delay that is high and rises
        assert!(control.window(1).ssthresh.is_infinite());
        tell(&mut control, 0, 1.0, 0.1, nothing);
        assert_eq!(control.window(1).ssthresh == control.window(1).cwnd, ends, "{name}");
    }
}
