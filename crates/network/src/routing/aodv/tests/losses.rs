//! One router: links that break, RERRs, HELLOs, limits, the blacklist.

use super::bench::*;
use crate::routing::aodv::{AodvSettings, Hello, Message, Rreq};
use crate::routing::{Action, NextHop, Node, RoutingProtocol};
use units::{Span, Time};

/// A router with a route to 7, sequence number 20, over node 1, which has answered RREQs that came
/// over these neighbours.
fn with_precursors(precursors: &[Node]) -> Bench {
    let mut bench = quiet();
    bench.update(0, 7, 1, 20, 4);
    for (originator, precursor) in (100..).zip(precursors) {
        let rreq = Rreq { originator, ..rreq(1, 7, None) };
        assert!(answered(&bench.hear(0, *precursor, Message::Rreq(rreq))).is_some());
    }
    bench
}

fn hello(sequence: u32) -> Message {
    Message::Hello(Hello { sequence, lifetime: Span::millis(2000) })
}

#[test]
fn a_rerr_goes_to_precursors_alone() {
    assert_eq!(with_precursors(&[]).broken(10, 1), []);
    let rerr = rerr(&[(7, 21)]);
    assert_eq!(with_precursors(&[2]).broken(10, 1), [unicast(2, rerr.clone())]);
    assert_eq!(with_precursors(&[2, 3]).broken(10, 1), [broadcast(rerr)]);
    assert_eq!(with_precursors(&[2, 3]).broken(10, 4), [], "no route leads over node 4");
}

#[test]
fn precursors_receive_one_rerr() {
    let mut bench = with_precursors(&[2]);
    assert_eq!(bench.broken(10, 1).len(), 1);
    bench.update(20, 7, 1, 21, 4);
    assert_eq!(bench.broken(30, 1), []);
}

#[test]
fn a_rerr_ends_routes_over_its_sender_that_are_older_and_goes_on() {
    let mut bench = with_precursors(&[2]);
    for (from, sequence) in [(5, 30), (1, 20), (1, 19)] {
        assert_eq!(bench.hear(10, from, rerr(&[(7, sequence), (ME, 99)])), []);
        assert_eq!(bench.route_to(10, 7), Some(1));
    }
    let out = bench.hear(10, 1, rerr(&[(7, 25), (8, 3)]));
    assert_eq!(out, [unicast(2, rerr(&[(7, 25)]))]);
    assert_eq!((bench.route_to(10, 7), bench.sequence(10, 7)), (None, Some(25)));
}

#[test]
fn a_packet_without_a_route_is_answered_by_a_rerr_to_whom_it_came_from() {
    let mut bench = quiet();
    bench.update(0, 7, 1, 20, 4);
    bench.broken(10, 1);
    for now in [20, 30] {
        let out = [unicast(6, rerr(&[(7, 21)]))];
        assert_eq!(bench.route(now, 9, 7, 6), (NextHop::Unreachable, out.into()));
    }
    assert_eq!(bench.sequence(40, 7), Some(21), "incremented once");
    // The packet's own source searches instead.
    assert_eq!(bench.send(40, 7).len(), 1);
    assert_eq!(bench.route(50, 9, 7, 6).0, NextHop::Unreachable);
}

#[test]
fn no_second_has_more_than_ten_rerrs() {
    let mut bench = quiet();
    bench.update(0, 7, 1, 20, 4);
    bench.broken(10, 1);
    let sent: Vec<u64> =
        (20..3020).step_by(20).filter(|now| !bench.route(*now, 9, 7, 6).1.is_empty()).collect();
    assert!(sent.windows(11).all(|eleven| eleven[10] - eleven[0] >= 1000), "{sent:?}");
    assert_eq!(sent.len(), 30);
}

#[test]
fn no_second_has_more_than_ten_rreqs_and_the_others_wait() {
    let mut bench = quiet();
    let mut sent = Vec::new();
    for node in 1..=15 {
        sent.extend(bench.send(0, node).iter().map(|_| 0));
    }
    assert_eq!(sent.len(), 10);
    let later = bench.wait(200_000);
    sent.extend(later.iter().filter(|(_, a)| sent_rreq(a).is_some()).map(|(time, _)| *time));
    assert!(sent.windows(11).all(|eleven| eleven[10] - eleven[0] >= 1000), "{sent:?}");
    assert_eq!(sent.len(), 15 * 7, "every search has all its rings");
    let ends = later.iter().filter(|(_, action)| matches!(action, Action::DropBuffered { .. }));
    assert_eq!(ends.count(), 15);
}

#[test]
fn silence_of_a_neighbour_that_said_hello_breaks_its_link() {
    let mut bench = with_precursors(&[2]);
    bench.hear(100, 1, hello(5));
    bench.hear(1100, 1, hello(5));
    assert_eq!(bench.wait(3099), []);
    // ALLOWED_HELLO_LOSS · HELLO_INTERVAL.
    let out = bench.wait(3100);
    assert_eq!(out, [(3100, unicast(2, rerr(&[(7, 21)])))]);
    assert_eq!(bench.route_to(3100, 7), None);
    assert_eq!(bench.router.next_timer(), Time::NEVER);
}

#[test]
fn any_packet_of_a_neighbour_stands_for_a_hello() {
    let mut bench = with_precursors(&[2]);
    bench.hear(100, 1, hello(5));
    bench.route(2000, 1, 2, 1);
    assert_eq!(bench.wait(3999), []);
    assert_eq!(bench.wait(4000).len(), 1);
}

#[test]
fn a_neighbour_that_never_said_hello_may_be_silent() {
    let mut bench = with_precursors(&[2]);
    assert_eq!(bench.wait(5000), []);
    assert_eq!(bench.route_to(5000, 7), Some(1));
}

#[test]
fn hellos_are_sent_only_on_an_active_route_and_not_beside_other_broadcasts() {
    let mut bench = bench(AodvSettings::default());
    bench.hear(0, 3, hello(1));
    assert_eq!(bench.wait(1500), [], "a HELLO makes no active route");
    bench.update(1500, 7, 1, 20, 4);
    // The route lives for 6 s.
    let sent = bench.wait(60_000);
    assert_eq!(sent, [2500, 3500, 4500, 5500, 6500].map(|now| (now, broadcast(hello(0)))));
    bench.update(70_000, 7, 1, 30, 4);
    bench.hear(70_600, 2, Message::Rreq(rreq(2, 8, None)));
    assert_eq!(bench.wait(71_599), [], "it repeated the RREQ at 70.6 s");
    assert_eq!(bench.wait(71_600), [(71_600, broadcast(hello(0)))]);
}

#[test]
fn a_hello_of_an_older_number_makes_a_route_that_answers_no_rreq() {
    let mut bench = quiet();
    bench.hear(0, 3, hello(5));
    assert!(answered(&bench.hear(1, 2, Message::Rreq(rreq(1, 3, None)))).is_some());
    bench.broken(2, 3);
    bench.hear(3, 3, hello(5));
    assert_eq!((bench.route_to(3, 3), bench.sequence(3, 3)), (Some(3), Some(6)));
    assert!(answered(&bench.hear(4, 2, Message::Rreq(rreq(2, 3, None)))).is_none());
    bench.broken(5, 3);
    assert_eq!(bench.sequence(5, 3), Some(6), "the number was not the neighbour's");
}

#[test]
fn rreqs_over_a_one_way_link_are_ignored_for_the_blacklist_timeout() {
    let ask = |bench: &mut Bench, now, id| bench.hear(now, 2, Message::Rreq(rreq(id, ME, None)));
    let mut bench = quiet();
    assert!(answered(&ask(&mut bench, 0, 1)).is_some());
    bench.unheard(20, 2, rrep(ME, 1, 0, 1));
    // BLACKLIST_TIMEOUT: 2 · 2.8 s.
    assert_eq!(ask(&mut bench, 5619, 2), []);
    assert!(answered(&ask(&mut bench, 5620, 2)).is_some());
    // A packet lost by collision does not show that the link is unidirectional.
    bench.broken(5621, 2);
    assert!(answered(&ask(&mut bench, 5622, 3)).is_some());
}
