//! A group without a connection: slots, floors and copies.

use anabranch_noq::{ControllerSpec, Group, Path, Refused};
use noq_proto::congestion::{Controller, ControllerFactory};
use std::sync::Arc;
use std::time::{Duration, Instant};

const MTU: u16 = 1200;

fn built(group: &Arc<Group>, now: Instant) -> Box<dyn Controller> {
    Arc::clone(group).build(now, MTU)
}

fn slots(group: &Group) -> Vec<usize> {
    group.report().iter().map(|path| path.slot).collect()
}

fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "an instant has no zero; only spans count")]
    Instant::now()
}

fn lose(path: &mut Box<dyn Controller>, now: Instant, persistent: bool) {
    path.on_congestion_event(now, now, persistent, false, u64::from(MTU), 1);
}

#[test]
fn a_path_takes_the_lowest_free_slot_and_gives_it_back_when_it_is_dropped() {
    let (group, now) = (Group::named("lia").unwrap(), now());
    let [first, second] = [built(&group, now), built(&group, now)];
    assert_eq!(slots(&group), [0, 1]);
    drop(first);
    assert_eq!(slots(&group), [1]);
    let third = built(&group, now);
    assert_eq!(slots(&group), [0, 1]);
    drop((second, third));
    assert!(slots(&group).is_empty());
}

#[test]
fn a_path_beyond_the_slots_is_controlled_alone() {
    let now = now();
    let group = Group::with_paths(&"olia".parse().unwrap(), Default::default(), 2).unwrap();
    let mut paths: Vec<_> = (0..4).map(|_| built(&group, now)).collect();
    assert_eq!(slots(&group), [0, 1]);
    lose(&mut paths[3], now + Duration::from_secs(1), false);
    assert_eq!(paths[3].window(), 5 * u64::from(MTU));
    assert_eq!(paths[0].window(), 10 * u64::from(MTU));
}

#[test]
fn a_copy_of_a_migrating_path_takes_its_slot_over_and_is_no_sibling() {
    let (group, now) = (Group::named("balia").unwrap(), now());
    let original = built(&group, now);
    let mut copy = original.clone_box();
    assert_eq!(slots(&group), [0]);
    drop(original);
    lose(&mut copy, now + Duration::from_secs(1), false);
    assert_eq!(copy.window(), 5 * u64::from(MTU));
    assert_eq!(group.windows()[0].1.cwnd, 5.0);
}

#[test]
fn the_original_has_its_window_again_when_the_migration_fails() {
    let (group, now) = (Group::named("lia").unwrap(), now());
    let mut original = built(&group, now);
    let mut copy = original.clone_box();
    lose(&mut copy, now + Duration::from_secs(1), false);
    lose(&mut original, now + Duration::from_secs(1), true); // it does not speak for the path
    assert_eq!(original.window(), 10 * u64::from(MTU));
    drop(copy);
    assert_eq!(group.windows()[0].1.cwnd, 10.0);
    lose(&mut original, now + Duration::from_secs(2), false);
    assert_eq!(original.window(), 5 * u64::from(MTU));
}

#[test]
fn a_second_copy_of_an_old_controller_gives_its_path_no_more_than_its_first_copy_had() {
    let start = now();
    let at = |us: u64| start + Duration::from_micros(us);
    let mut tried = 0;
    for spec in ControllerSpec::all() {
        let Ok(group) = Group::new(&spec, Default::default()) else {
            continue;
        };
        let (original, _sibling) = (built(&group, start), built(&group, start));
        let first = original.clone_box().into_any().downcast::<Path>();
        let mut first = first.expect("groups build paths");
        for pn in 0..40_u64 {
            let sent = 1_000 * pn;
            first.on_packet_sent(at(sent), MTU, pn);
            let (now, srtt) = (at(sent + 20_000), Duration::from_millis(20));
            first.acknowledged(now, at(sent), MTU.into(), pn, false, srtt);
            first.on_end_acks(now, 10 * u64::from(MTU), false, Some(pn));
        }
        let most = first.window().max(original.window());
        let second = original.clone_box();
        assert!(second.window() <= most, "{spec}: {} and {most}", second.window());
        tried += 1;
    }
    assert!(tried > 20, "{tried}");
}

#[test]
fn a_copy_goes_on_with_its_own_window_when_another_copy_is_given_up() {
    let (group, start) = (Group::named("lia").unwrap(), now());
    let original = built(&group, start);
    let mut copy = original.clone_box();
    lose(&mut copy, start + Duration::from_secs(1), false);
    let other = original.clone_box();
    assert_eq!(other.window(), 10 * u64::from(MTU));
    drop(other);
    assert_eq!(group.windows()[0].1.cwnd, 5.0);
    drop((original, copy));
    assert!(slots(&group).is_empty());
}

#[test]
fn recovery_from_a_loss_that_the_controller_was_not_told_of_does_not_end_in_it() {
    let start = now();
    let at = |s: u64| start + Duration::from_secs(s);
    for name in ["lia", "balia", "cubic", "nice"] {
        let group = Group::named(name).unwrap();
        let mut original: Box<Path> = built(&group, start).into_any().downcast().unwrap();
        let copy = original.clone_box();
        original.on_congestion_event(at(1), at(1), false, false, u64::from(MTU), 1);
        drop(copy); // the migration failed, and the original speaks again
        assert_eq!(original.window(), 10 * u64::from(MTU), "{name}");
        original.acknowledged(at(3), at(2), 0, 9, true, Duration::from_millis(20));
        assert_eq!(group.windows()[0].1.cwnd, 10.0, "{name}");
    }
}

#[test]
fn persistent_congestion_leaves_two_packets_and_no_window_is_smaller() {
    let (group, start) = (Group::named("lia").unwrap(), now());
    let mut path = built(&group, start);
    for second in 1..10 {
        lose(&mut path, start + Duration::from_secs(second), second == 1);
        assert_eq!(path.window(), 2 * u64::from(MTU));
    }
}

#[test]
fn losses_and_marks_of_one_round_trip_reduce_once_and_a_spurious_one_is_undone() {
    let (group, start) = (Group::named("reno").unwrap(), now());
    let mut path = built(&group, start);
    let found = start + Duration::from_millis(100);
    let sent = start + Duration::from_millis(40);
    for ecn in [false, true, false] {
        path.on_congestion_event(found, sent, false, ecn, 1200, 7);
        assert_eq!(path.window(), 5 * u64::from(MTU));
    }
    path.on_spurious_congestion_event();
    assert_eq!(path.window(), 10 * u64::from(MTU));
    path.on_spurious_congestion_event();
    let later = found + Duration::from_millis(1);
    path.on_congestion_event(later, later, false, true, 0, 9);
    assert_eq!(path.window(), 5 * u64::from(MTU));
    path.on_spurious_congestion_event(); // a mark is not undone
    assert_eq!(path.window(), 5 * u64::from(MTU));
}

#[test]
fn the_return_of_a_lost_acknowledgement_does_not_undo_an_older_loss() {
    let (group, start) = (Group::named("reno").unwrap(), now());
    let mut path = built(&group, start);
    let later = start + Duration::from_secs(1);
    lose(&mut path, later, false);
    path.on_packet_lost(0, 8, later + Duration::from_secs(9));
    path.on_spurious_congestion_event();
    assert_eq!(path.window(), 5 * u64::from(MTU));
}

#[test]
fn larger_packets_leave_the_window_its_bytes() {
    let (group, start) = (Group::named("lia").unwrap(), now());
    let mut path = built(&group, start);
    path.on_mtu_update(1452);
    let bytes = group.report()[0].cwnd * 1452.0;
    assert!((bytes - 12_000.0).abs() < 1e-9, "{bytes}");
    assert_eq!(path.window(), 8 * 1452); // whole packets
}

#[test]
fn a_controller_that_needs_more_than_noq_tells_is_refused_by_name() {
    for (text, part) in [
        ("lia+sbd", "`lia+sbd` needs one-way delays"),
        ("multi-priority", "`multi-priority` needs one-way delays"),
        ("tfrc", "`tfrc` needs the reports of a TFRC receiver"),
        ("kernel:lia", "`kernel:lia` runs in the kernel alone"),
        ("noq:cubic", "`noq:cubic` is noq's own"),
        ("oila", "did you mean `olia`?"),
    ] {
        let refused = Group::named(text).expect_err(text).to_string();
        assert!(refused.contains(part), "{refused}");
    }
    let small = anabranch_noq::Settings { initial_window: 0.5, ..Default::default() };
    let refused = Group::new(&"lia".parse().unwrap(), small).unwrap_err();
    assert!(matches!(refused, Refused::Setting { field: "initial_window", .. }), "{refused}");
    let refused = Group::with_paths(&"lia".parse().unwrap(), Default::default(), 0).unwrap_err();
    assert_eq!(refused, Refused::Paths(0));
}
