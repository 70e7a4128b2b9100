//! Invariants of every kind of queue.

use super::*;
use crate::testing::{Lcg, TestPacket};
use proptest::prelude::*;
use units::Span;

/// Parses the text after `queue = ` in a scenario.
fn read(text: &str) -> Result<Queue, String> {
    #[derive(Debug, Deserialize)]
    struct Link {
        queue: Queue,
    }
    let link = toml::from_str(&format!("queue = {text}"));
    link.map(|Link { queue }| queue).map_err(|error| error.to_string())
}

#[test]
fn every_kind_has_a_name_of_its_own_and_says_what_it_is() {
    for (index, name) in NAMES.iter().enumerate() {
        assert_eq!(NAMES.iter().position(|other| other == name), Some(index), "{name} twice");
    }
    for kind in Queue::KINDS {
        assert!(kind.summary.ends_with('.') && !kind.source.is_empty(), "{kind:?}");
    }
}

#[test]
fn the_short_queue_of_every_kind_can_be() {
    let queues = Queue::short(20, true);
    assert_eq!(queues.len(), NAMES.len());
    for (queue, name) in queues.iter().zip(NAMES) {
        assert_eq!(queue.name(), *name);
        assert_eq!(queue.check(), Ok(()));
    }
}

#[test]
fn a_kind_is_read_by_its_name_and_written_with_its_name_and_units() {
    assert_eq!(read("'unlimited'"), Ok(Queue::Unlimited));
    assert_eq!(serde_json::to_value(Queue::Unlimited).unwrap(), serde_json::Value::Null);
    let queue = read("{ codel = { target = '2 ms' } }").unwrap();
    let expected = Codel { target: units::Span::millis(2), ..Codel::default() };
    assert_eq!(queue, Queue::Codel(expected));
    let written = serde_json::json!({
        "kind": "codel", "target_s": 0.002, "interval_s": 0.1, "ecn": false, "limit_packets": 1000,
    });
    assert_eq!(serde_json::to_value(queue).unwrap(), written);
}

#[test]
fn an_unknown_kind_or_parameter_is_answered_with_those_that_there_are() {
    let error = read("{ cdel = {} }").unwrap_err();
    assert!(error.contains("unknown variant `cdel`") && error.contains("`fq-codel`"), "{error}");
    let error = read("'red'").unwrap_err();
    assert!(error.contains("red") || error.contains("table"), "{error}");
    let error = read("{ codel = { targte = '5 ms' } }").unwrap_err();
    assert!(error.contains("unknown field `targte`") && error.contains("`target`"), "{error}");
}

#[test]
fn a_wrong_parameter_is_named_below_its_kind() {
    let error = read(
        "{ red = { min = '9 packets', max = '4 packets', max_p = 0.1, limit = '50 packets' } }",
    )
    .unwrap()
    .check()
    .unwrap_err();
    assert_eq!((error.key.as_str(), error.right), ("red.max", "min is below max"));
    assert_eq!(read("{ droptail = {} }").unwrap().check().unwrap_err().key, "droptail");
}

proptest! {
    #[test]
    fn a_queue_that_is_asked_only_when_it_must_be_decides_as_if_it_were_always_asked(
        arrivals in prop::collection::vec((0u64..40, 0u64..3_000_000), 1..200),
        whole: bool,
        independent: bool,
    ) {
        let red = Red {
            min: Packets(9.5),
            max: Packets(20.0),
            max_p: 0.5,
            gentle: true,
            weight: if whole { 1.0 } else { 0.5 },
            spacing: if independent { Spacing::Independent } else { Spacing::Count },
            ecn: true,
            limit: Packets(30.0),
        };
        for queue in Queue::short(20, true).into_iter().chain([Queue::Red(red)]) {
            let start = || match queue.start::<TestPacket>(Some(Rate(10_000_000))) {
                State::Arrival(started) => Some(started),
                _ => None,
            };
            let (Some(mut always), Some(mut seldom)) = (start(), start()) else { continue };
            let (mut now, unasked) = (Time::ZERO, u64::from(seldom.unasked()));
            let [mut all, mut some] = [Lcg(1), Lcg(1)];
            let mut accepted = false;
            for (packets, gap) in &arrivals {
                let last = now;
                now = now + Span(*gap);
                let idle_since = if *packets > 0 { Time::NEVER } else { last };
                let backlog = Backlog { packets: *packets, bytes: 1500 * packets, idle_since };
                let arrival = || Arrival { now, bytes: 1500, ecn_capable: true, backlog };
                let verdict = match *packets < unasked {
                    true => {
                        accepted = true;
                        Verdict::Accept
                    }
                    false => {
                        if std::mem::take(&mut accepted) {
                            seldom.accepted_unasked();
                        }
                        seldom.judge(arrival, &mut some)
                    }
                };
                prop_assert_eq!(verdict, always.judge(arrival, &mut all), "{:?}", queue);
            }
        }
    }
}
