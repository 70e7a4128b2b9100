//! What every detector keeps whatever samples come, and what the default one finds.

use anabranch_sharing::{AnyDetector, Detection, Sample};
use proptest::prelude::*;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use units::{NANOS, Span, Time};

/// A queue's delay over time, in milliseconds: a random walk that returns to 20 ms within some
/// 50 ms, and stays between 0 and 50 ms.
fn queue(seed: u128, milliseconds: usize) -> Vec<f64> {
    let mut random = Pcg64Mcg::new(seed << 64 | 0x9e37_79b9);
    let mut level = 20.0;
    (0..milliseconds)
        .map(|_| {
            let step = f64::from(random.next_u32()) / f64::from(u32::MAX) - 0.5;
            level = f64::clamp(level + 0.02 * (20.0 - level) + 5.0 * step, 0.0, 50.0);
            level
        })
        .collect()
}

fn at(milliseconds: usize) -> Time {
    Time::ZERO + Span::millis(milliseconds as u64)
}

/// Follows two paths for as long as their queues are given, one packet each `every` ms; the second
/// path comes to its queue `lag` ms later after sending.
fn follow(queues: [&[f64]; 2], every: usize, lag: usize) -> Detection {
    let mut detection = Detection::new(AnyDetector::DEFAULT, 2);
    for now in (0..queues[0].len() - lag).step_by(every) {
        for (path, behind) in [(0, 0), (1, lag)] {
            let delay = Span::from_seconds((100.0 + queues[path][now + behind]) / 1e3);
            detection.on_delay(path, &Sample { sent: at(now), delay, rtt: Span::millis(400) });
        }
        detection.look(at(now + 400));
    }
    detection
}

#[test]
fn paths_over_one_queue_are_found_whatever_the_lag_and_the_spacing_of_their_packets() {
    let common = queue(1, 20_000);
    for (every, lag) in [(3, 0), (7, 90), (20, 180), (60, 40)] {
        let detection = follow([&common; 2], every, lag);
        assert!(detection.confidence(0, 1) > 0.9, "{every} {lag}");
    }
}

#[test]
fn paths_over_two_queues_part_and_come_together_when_a_queue_becomes_common() {
    let (one, other) = (queue(2, 40_000), queue(3, 20_000));
    assert!(follow([&one[..20_000], &other], 5, 0).confidence(0, 1) < 0.1);
    let merged: Vec<f64> = other.iter().chain(&one[20_000..]).copied().collect();
    assert!(follow([&one[..34_000], &merged[..34_000]], 5, 0).confidence(0, 1) > 0.5);
}

#[test]
fn a_constant_delay_and_a_short_time_say_nothing() {
    let constant = vec![5.0; 20_000];
    assert_eq!(follow([&constant; 2], 5, 0).confidence(0, 1), 0.5);
    assert_eq!(follow([&queue(1, 3_000); 2], 5, 0).confidence(0, 1), 0.5);
}

#[test]
fn a_path_that_joined_again_is_unknown_and_one_that_left_is_alone() {
    let mut detection = follow([&queue(1, 20_000); 2], 5, 0);
    detection.set_member(1, false);
    assert_ne!(detection.group(0), detection.group(1));
    detection.set_member(1, true);
    assert_eq!((detection.confidence(0, 1), detection.group(1)), (0.5, 0));
}

/// An event at a path: a delay sent that many milliseconds before now, or a loss.
#[derive(Clone, Debug)]
enum Event {
    Delay(u64, u64, u64),
    Loss,
    Spurious,
    Member(bool),
}

fn events() -> impl Strategy<Value = Vec<(u64, usize, Event)>> {
    let event = prop_oneof![
        20 => (0_u64..2_000, 0_u64..3_000_000, 0_u64..3_000_000)
            .prop_map(|(back, delay, rtt)| Event::Delay(back, delay, rtt)),
        2 => Just(Event::Loss),
        1 => Just(Event::Spurious),
        1 => any::<bool>().prop_map(Event::Member),
    ];
    prop::collection::vec((0_u64..500, 0_usize..3, event), 1..600)
}

proptest! {
    #[test]
    fn every_detector_has_a_confidence_whatever_comes(events in events()) {
        for kind in AnyDetector::ALL {
            let mut detection = Detection::new(*kind, 3);
            let mut now = 0;
            for (later, path, event) in &events {
                now += later * NANOS / 1_000;
                match event {
                    Event::Delay(back, delay, rtt) => {
                        let sent = Time(now.saturating_sub(back * NANOS / 1_000));
                        let [delay, rtt] = [*delay, *rtt].map(|us| Span(us * 1_000));
                        detection.on_delay(*path, &Sample { sent, delay, rtt });
                    }
                    Event::Loss => detection.on_loss(*path, Time(now)),
                    Event::Spurious => detection.on_spurious(*path),
                    Event::Member(member) => detection.set_member(*path, *member),
                }
                detection.look(Time(now));
                for (a, b) in [(0, 1), (0, 2), (1, 2)] {
                    let found = detection.confidence(a, b);
                    prop_assert!((0.0..=1.0).contains(&found), "{kind:?}: {found}");
                    prop_assert_eq!(found, detection.confidence(b, a));
                }
            }
        }
    }
}
