//! One router: its answers to sequences of calls.

use super::bench::*;
use crate::routing::aodv::table::newer;
use crate::routing::aodv::{Hello, Message, Rreq};
use crate::routing::{self, Action, NextHop, RoutingProtocol};
use units::{Span, Time};

#[test]
fn messages_are_as_long_as_in_the_rfc() {
    let hello = Message::Hello(Hello { sequence: 1, lifetime: Span::millis(2000) });
    let messages =
        [Message::Rreq(rreq(1, 3, None)), rrep(3, 1, 0, 9), rerr(&[(1, 1), (2, 2)]), hello];
    let bytes = messages.map(|message| routing::Message::from(message).bytes());
    assert_eq!(bytes, [28 + 24, 28 + 20, 28 + 20, 28 + 20]);
}

#[test]
fn sequence_numbers_compare_in_signed_arithmetic() {
    assert!(newer(1, 0) && !newer(0, 1) && !newer(7, 7));
    assert!(newer(0, u32::MAX) && !newer(u32::MAX, 0));
    assert!(newer(0x7fff_ffff, 0) && !newer(0x8000_0001, 0));
}

#[test]
fn rings_grow_and_wait_as_in_the_rfc() {
    let mut bench = quiet();
    let first = bench.send(0, 7);
    let mut sent: Vec<_> = first.into_iter().map(|action| (0, action)).collect();
    sent.extend(bench.wait(30_000));
    let rreqs: Vec<_> = sent.iter().filter_map(|(t, a)| sent_rreq(a).map(|r| (*t, r))).collect();
    let ttls: Vec<_> = rreqs.iter().map(|(time, rreq)| (*time, rreq.ttl)).collect();
    // 80 ms · (TTL + 2) for each ring, then 2.8 s, 5.6 s and 11.2 s.
    let expected = [(0, 1), (240, 3), (640, 5), (1200, 7), (1920, 35), (4720, 35), (10_320, 35)];
    assert_eq!(ttls, expected);
    assert_eq!(sent.last(), Some(&(21_520, Action::DropBuffered { to: 7 })));
    assert_eq!(sent.len(), 8);
    for (number, (_, rreq)) in (1..).zip(&rreqs) {
        assert_eq!((rreq.id, rreq.originator_sequence, rreq.hops), (number, number, 0));
        assert_eq!((rreq.destination_sequence, rreq.originator), (None, ME));
    }
    assert_eq!(bench.router.next_timer(), Time::NEVER);
}

#[test]
fn after_a_loss_the_rings_begin_beyond_the_last_hop_count() {
    for (hops, ttls) in [(1, [3, 5]), (4, [6, 35]), (5, [7, 35]), (6, [35, 35])] {
        let mut bench = quiet();
        bench.update(0, 7, 1, 20, hops);
        bench.broken(10, 1);
        let first = sent_rreq(&bench.send(20, 7)[0]).unwrap();
        assert_eq!((first.ttl, first.destination_sequence), (ttls[0], Some(21)));
        let later = bench.wait(20 + 2800);
        assert_eq!(later.iter().find_map(|(_, action)| sent_rreq(action)).unwrap().ttl, ttls[1]);
    }
}

#[test]
fn a_lost_route_is_forgotten_after_the_delete_period_but_for_its_sequence_number() {
    let mut bench = quiet();
    bench.update(0, 7, 1, 20, 4);
    // Its lifetime is 6 s, DELETE_PERIOD 15 s.
    assert_eq!((bench.route_to(5999, 7), bench.route_to(6000, 7)), (Some(1), None));
    let first = sent_rreq(&bench.send(21_000, 7)[0]).unwrap();
    assert_eq!((first.ttl, first.destination_sequence), (1, Some(21)));
}

#[test]
fn an_intermediate_node_answers_only_if_its_sequence_number_is_fresh_enough() {
    let mut bench = quiet();
    bench.update(0, 7, 1, 20, 4);
    for (id, asked, answers) in
        [(1, None, true), (2, Some(19), true), (3, Some(20), true), (4, Some(21), false)]
    {
        let out = bench.hear(100, 2, Message::Rreq(rreq(id, 7, asked)));
        let Some((to, rrep)) = answered(&out) else {
            assert!(!answers);
            let forwarded = sent_rreq(&out[0]).unwrap();
            assert_eq!((forwarded.ttl, forwarded.hops), (4, 2));
            assert_eq!(forwarded.destination_sequence, Some(21));
            continue;
        };
        assert!(answers && out.len() == 1);
        assert_eq!((to, rrep.hops, rrep.destination_sequence), (2, 4, 20));
        assert_eq!((rrep.originator, rrep.lifetime), (9, Span::millis(5900)));
    }
    let out =
        bench.hear(100, 2, Message::Rreq(Rreq { destination_only: true, ..rreq(5, 7, None) }));
    assert_eq!(sent_rreq(&out[0]).unwrap().destination_sequence, Some(20), "what it knows");
    let direct = bench.hear(100, 3, Message::Rreq(rreq(6, 2, None)));
    assert!(answered(&direct).is_none(), "of a neighbour that was only heard it has no number");
}

#[test]
fn the_destination_answers_with_the_larger_sequence_number() {
    let mut bench = quiet();
    let number = |bench: &mut Bench, id, asked| {
        let out = bench.hear(0, 2, Message::Rreq(rreq(id, ME, asked)));
        let (to, rrep) = answered(&out).unwrap();
        assert_eq!((to, rrep.hops, rrep.lifetime), (2, 0, Span::millis(6000)));
        rrep.destination_sequence
    };
    assert_eq!(number(&mut bench, 1, None), 0);
    assert_eq!(number(&mut bench, 2, Some(1)), 1);
    assert_eq!(number(&mut bench, 3, Some(1)), 1);
    assert_eq!(number(&mut bench, 4, Some(u32::MAX)), 1);
    bench.router.sequence = u32::MAX - 1;
    assert_eq!(number(&mut bench, 5, Some(u32::MAX)), u32::MAX);
    assert_eq!(number(&mut bench, 6, Some(0)), 0, "rollover");
}

#[test]
fn a_sequence_number_that_rolls_over_is_newer() {
    let mut bench = quiet();
    bench.update(0, 7, 1, u32::MAX, 2);
    bench.update(0, 7, 2, 0, 3);
    assert_eq!(bench.route_to(1, 7), Some(2));
    bench.update(0, 7, 1, u32::MAX, 1);
    assert_eq!(bench.route_to(1, 7), Some(2));
    bench.router.sequence = u32::MAX;
    assert_eq!(sent_rreq(&bench.send(1, 8)[0]).unwrap().originator_sequence, 0);
}

#[test]
fn routes_are_taken_if_they_are_fresher_or_shorter() {
    let mut bench = quiet();
    bench.update(0, 7, 1, 20, 4);
    for (from, sequence, hops, next) in
        [(2, 19, 1, 1), (2, 20, 4, 1), (2, 20, 3, 2), (3, 21, 9, 3), (2, 20, 1, 3)]
    {
        bench.update(0, 7, from, sequence, hops);
        assert_eq!(bench.route_to(1, 7), Some(next), "{sequence} {hops}");
    }
    bench.broken(10, 3);
    assert_eq!((bench.route_to(10, 7), bench.sequence(10, 7)), (None, Some(22)));
    // A route from before the loss would lead back to this node.
    bench.update(20, 7, 2, 21, 1);
    assert_eq!(bench.route_to(20, 7), None);
    bench.update(20, 7, 2, 22, 5);
    assert_eq!(bench.route_to(20, 7), Some(2));
}

#[test]
fn a_route_is_released_by_whatever_message_brings_it() {
    let released = |to| Action::SendBuffered { to };
    let mut bench = quiet();
    bench.send(0, 7);
    let out = bench.hear(5, 1, rrep(7, 20, 2, ME));
    assert_eq!(out, [released(7)]);
    bench.send(5, 9);
    let out = bench.hear(6, 2, Message::Rreq(rreq(1, 5, None)));
    assert_eq!(out[0], released(9), "a reverse route");
    bench.send(6, 3);
    let hello = Hello { sequence: 5, lifetime: Span::millis(2000) };
    assert_eq!(bench.hear(7, 3, Message::Hello(hello)), [released(3)]);
    assert_eq!(bench.wait(1000), [], "no search goes on");
}

#[test]
fn a_rreq_is_processed_once_within_the_path_discovery_time() {
    let mut bench = quiet();
    let message = Message::Rreq(rreq(1, 7, None));
    assert_eq!(bench.hear(0, 2, message.clone()).len(), 1);
    assert_eq!(bench.hear(5599, 3, message.clone()).len(), 0);
    assert_eq!(bench.hear(5600, 3, message.clone()).len(), 1);
    let own = Message::Rreq(Rreq { originator: ME, ..rreq(1, 7, None) });
    assert_eq!(bench.hear(0, 2, own).len(), 0);
    let last = Message::Rreq(Rreq { ttl: 1, ..rreq(2, 7, None) });
    assert_eq!(bench.hear(5600, 2, last).len(), 0, "its TTL ends here");
}

#[test]
fn a_used_route_lives_with_the_routes_to_its_ends_and_neighbours() {
    let mut bench = quiet();
    bench.update(0, 7, 1, 20, 4);
    bench.hear(0, 2, Message::Rreq(rreq(1, 7, None)));
    let mut now = 0;
    while now < 20_000 {
        assert_eq!(bench.route(now, 9, 7, 2), (NextHop::To(1), vec![]));
        now += 1000;
    }
    // ACTIVE_ROUTE_TIMEOUT after the last packet, for the source, the destination, and the hops to
    // both.
    for (node, next) in [(9, 2), (7, 1), (2, 2), (1, 1)] {
        assert_eq!(bench.route_to(21_999, node), Some(next));
        assert_eq!(bench.route_to(22_000, node), None);
    }
}

#[test]
fn a_reverse_route_lives_its_minimal_lifetime() {
    let mut bench = quiet();
    bench.hear(0, 2, Message::Rreq(rreq(1, 7, None)));
    // 2 · 2.8 s − 2 · 2 hops · 40 ms.
    assert_eq!((bench.route_to(5439, 9), bench.route_to(5440, 9)), (Some(2), None));
}
