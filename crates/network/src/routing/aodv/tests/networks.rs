//! Routers on graphs.

use super::bench::Altered;
use crate::routing::aodv::{Aodv, AodvSettings, Message};
use crate::routing::testing::Ether;
use crate::routing::{self, Action, Node, RoutingProtocol};
use proptest::prelude::*;
use units::{Span, Time};

/// Duration of a discovery that fails: rings of TTL 1, 3, 5 and 7, then three RREQs to the whole
/// network.
const IN_VAIN: Span = Span::millis(240 + 400 + 560 + 720 + 2800 * (1 + 2 + 4));

fn routers(count: Node, settings: AodvSettings) -> Vec<Aodv> {
    (0..count).map(|node| Aodv::new(node, settings)).collect()
}

fn ether(count: Node, links: &[(Node, Node)]) -> Ether<Aodv> {
    let mut ether = Ether::new(routers(count, AodvSettings::default()), links.iter().copied());
    ether.log = Some(Vec::new());
    ether
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::millis(millis)
}

fn count(ether: &Ether<Aodv>, wanted: impl Fn(&Message) -> bool) -> usize {
    let log = ether.log.iter().flatten();
    let messages = log.filter_map(|(_, _, action)| match action {
        Action::Broadcast(routing::Message::Aodv(message)) => Some(message),
        Action::Unicast { message: routing::Message::Aodv(message), .. } => Some(message),
        _ => None,
    });
    messages.filter(|message| wanted(message)).count()
}

/// Packets between the ends of a line, one every 100 ms from `start` to `end`.
fn stream<P: RoutingProtocol>(ether: &mut Ether<P>, from: Node, to: Node, start: u64, end: u64) {
    for millis in (start..end).step_by(100) {
        ether.run_until(at(millis));
        ether.send(from, to);
    }
    ether.run_until(at(end));
}

/// Two different nodes out of `nodes`.
fn two(nodes: Node, (a, b): (u16, u16)) -> (Node, Node) {
    let source = a % nodes;
    (source, (source + 1 + b % (nodes - 1)) % nodes)
}

/// Hops of the first packet.
fn probe_hops(ether: &Ether<Aodv>) -> usize {
    ether.delivered[0].1.way.len() - 1
}

fn graph() -> impl Strategy<Value = (Node, Vec<(Node, Node)>)> {
    (2..12u16).prop_flat_map(|nodes| {
        let link = any::<(u16, u16)>().prop_map(move |pair| two(nodes, pair));
        (Just(nodes), prop::collection::vec(link, 0..2 * usize::from(nodes)))
    })
}

proptest! {
    #[test]
    fn packets_arrive_exactly_where_there_is_a_way(
        (nodes, links) in graph(),
        packets in prop::collection::vec((any::<u16>(), any::<u16>(), 0..3000u64), 1..8),
        hello in any::<bool>(),
        gratuitous_rrep in any::<bool>(),
    ) {
        let settings = AodvSettings { hello, gratuitous_rrep, ..AodvSettings::default() };
        let mut ether = Ether::new(routers(nodes, settings), links);
        let (mut reachable, mut sent) = (0, 0);
        for (source, destination, pause) in packets {
            let (source, destination) = two(nodes, (source, destination));
            ether.send(source, destination);
            sent += 1;
            reachable += usize::from(ether.distances(source)[usize::from(destination)].is_some());
            let end = ether.now + Span::millis(pause);
            ether.run_until(end);
        }
        let end = ether.now + IN_VAIN + Span::millis(1000);
        ether.run_until(end);
        // A route may expire on a later hop, milliseconds before it does at the source. A RERR
        // reports this to the source.
        let late: Vec<_> = ether.dropped.extract_if(.., |probe| !probe.way.is_empty()).collect();
        prop_assert!(late.len() <= 1);
        for probe in late {
            ether.send(probe.source, probe.destination);
            let end = ether.now + IN_VAIN;
            ether.run_until(end);
        }
        prop_assert_eq!(ether.delivered.len(), reachable);
        prop_assert_eq!(ether.dropped.len(), sent - reachable);
    }

    #[test]
    fn the_first_route_of_a_quiet_network_comes_within_its_ring(
        (nodes, links) in graph(), pair in (any::<u16>(), any::<u16>()),
    ) {
        let (source, destination) = two(nodes, pair);
        let mut ether = Ether::new(routers(nodes, AodvSettings::default()), links);
        ether.send(source, destination);
        ether.run_until(at(60_000));
        let distance = ether.distances(source)[usize::from(destination)];
        let Some(distance) = distance else {
            prop_assert_eq!(ether.dropped.len(), 1);
            return Ok(());
        };
        let hops = probe_hops(&ether);
        prop_assert!(hops >= distance);
        // A RREQ that arrives over the longer way first is not repeated farther, so that a wider
        // ring may be needed.
        let rings = [(1, 0), (3, 240), (5, 640), (7, 1200), (35, 1920)];
        let arrived = ether.delivered[0].0;
        let ring = rings.into_iter().rev().find(|(_, waited)| arrived >= at(*waited));
        let (ttl, waited) = ring.unwrap();
        prop_assert!(distance <= ttl && hops <= ttl);
        // 1 ms to a neighbour and at most 10 ms more for a broadcast, there, back and there.
        let taken = arrived.since(at(waited));
        prop_assert!(taken >= Span::millis(3 * hops as u64), "{taken}");
        prop_assert!(taken <= Span::millis(13 * hops as u64), "{taken}");
    }

    #[test]
    fn traffic_recovers_from_a_broken_link_within_one_discovery(
        (nodes, links) in graph(), pair in (any::<u16>(), any::<u16>()),
    ) {
        let (source, destination) = two(nodes, pair);
        let settings = AodvSettings::default();
        let mut ether = Ether::new(routers(nodes, settings), links.iter().copied());
        stream(&mut ether, source, destination, 0, 5000);
        let Some((_, probe)) = ether.delivered.last() else { return Ok(()) };
        let hops = probe.way.len() - 1;
        let broken = (probe.way[hops / 2], *probe.way.get(hops / 2 + 1).unwrap_or(&destination));
        let same = |(a, b): (Node, Node)| (a, b) == broken || (b, a) == broken;
        ether.relink(links.iter().copied().filter(|link| !same(*link)));
        let before = ether.delivered.len();
        stream(&mut ether, source, destination, 5000, 10_000);
        if ether.distances(source)[usize::from(destination)].is_none() {
            prop_assert_eq!(ether.delivered.len(), before);
            return Ok(());
        }
        // 10 ms until the MAC gives up, 11 ms a hop for the RERR, the rings up to the last, 13 ms a
        // hop there and back.
        let longest = u64::from(nodes);
        let rings = 240 + 400 + 560 + 720;
        let latest = at(5000 + 10 + 11 * longest + rings + 13 * longest);
        prop_assert!(ether.delivered.get(before).is_some_and(|(when, _)| *when <= latest));
        // From then on every packet arrives.
        let late = ether.delivered.iter().filter(|(when, _)| *when > latest).count();
        prop_assert!(late as u64 >= (10_000 - latest.0 / 1_000_000) / 100 - 1, "{}", late);
    }
}

#[test]
fn what_cannot_be_reached_is_abandoned_when_the_last_ring_has_been_waited_for() {
    let mut ether = ether(4, &[(0, 1), (1, 2)]);
    ether.send(0, 3);
    ether.run_until(Time::ZERO + (IN_VAIN - Span(1)));
    assert!(ether.dropped.is_empty());
    ether.run_until(Time::ZERO + IN_VAIN);
    assert_eq!(ether.dropped.len(), 1);
}

#[test]
fn on_a_ring_the_other_way_round_is_found_in_the_first_search() {
    let mut ether = ether(6, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]);
    stream(&mut ether, 0, 2, 0, 5000);
    assert_eq!(ether.delivered.last().unwrap().1.way, [0, 1, 2]);
    let (rreqs, before) = (count(&ether, |m| matches!(m, Message::Rreq(_))), ether.delivered.len());
    ether.relink([(0, 1), (2, 3), (3, 4), (4, 5), (5, 0)]);
    stream(&mut ether, 0, 2, 5000, 10_000);
    // The last hop count was 2, so the search begins with TTL 4. The nodes on the way repeat the
    // RREQ, and node 1 does.
    assert_eq!(count(&ether, |m| matches!(m, Message::Rreq(_))) - rreqs, 5);
    assert_eq!(ether.delivered[before].1.way, [0, 5, 4, 3, 2]);
    assert_eq!(ether.dropped.len(), 1, "what was on its way");
    assert_eq!(ether.delivered.len(), 99);
}

#[test]
fn without_the_macs_reports_hellos_find_the_broken_link() {
    let router = |node| Altered { feedback: false, ..Altered::new(node, AodvSettings::default()) };
    let links = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)];
    let mut ether = Ether::new((0..6).map(router).collect(), links);
    stream(&mut ether, 0, 2, 0, 5000);
    let before = ether.delivered.len();
    ether.relink([(0, 1), (2, 3), (3, 4), (4, 5), (5, 0)]);
    stream(&mut ether, 0, 2, 5000, 15_000);
    // Two HELLO intervals after the last one, then a search of TTL 4, which is 4 hops there and
    // back.
    let back = ether.delivered[before].0;
    assert!(back > at(6000) && back <= at(5000 + 2000 + 2 + 100 + 4 * 13), "{back}");
    assert!(ether.delivered.len() >= 50 + 78, "{}", ether.delivered.len());
}

#[test]
fn a_stream_in_one_direction_keeps_its_route_by_use_and_hellos() {
    let mut ether = ether(4, &[(0, 1), (1, 2), (2, 3)]);
    stream(&mut ether, 0, 3, 0, 30_000);
    assert_eq!(ether.delivered.len(), 300);
    assert_eq!(count(&ether, |message| matches!(message, Message::Rerr(_))), 0);
    let hellos = count(&ether, |message| matches!(message, Message::Hello(_)));
    assert!((110..=120).contains(&hellos), "four nodes, one a second: {hellos}");
    // The last route expires, and the HELLOs end.
    ether.run_until(at(35_000));
    let hellos = count(&ether, |message| matches!(message, Message::Hello(_)));
    ether.run_until(at(90_000));
    assert_eq!(count(&ether, |message| matches!(message, Message::Hello(_))), hellos);
    assert_eq!(ether.routers.iter().map(RoutingProtocol::next_timer).min(), Some(Time::NEVER));
}

#[test]
fn a_link_is_not_taken_for_lost_while_there_are_routes_over_it() {
    // One packet, then nothing: HELLOs go on until the last route expires.
    let mut ether = ether(4, &[(0, 1), (1, 2), (2, 3)]);
    ether.send(0, 3);
    ether.run_until(at(60_000));
    assert_eq!(ether.delivered.len(), 1);
    assert!(count(&ether, |message| matches!(message, Message::Hello(_))) > 4 * 5);
    assert_eq!(count(&ether, |message| matches!(message, Message::Rerr(_))), 0);
}

#[test]
fn two_originators_get_their_rreps_over_a_node_that_learns_nothing_from_the_second() {
    // Nodes 0 and 1 ask for 3 at the same time, over 2. The second ring reaches it.
    let mut ether = ether(4, &[(0, 2), (1, 2), (2, 3)]);
    ether.send(0, 3);
    ether.send(1, 3);
    ether.run_until(at(240 + 50));
    assert_eq!(ether.delivered.len(), 2);
}

#[test]
fn a_gratuitous_rrep_spares_the_destination_a_search() {
    for (gratuitous_rrep, spared) in [(false, false), (true, true)] {
        let settings = AodvSettings { gratuitous_rrep, ..AodvSettings::default() };
        let mut ether = Ether::new(routers(4, settings), [(0, 1), (1, 2), (2, 3)]);
        ether.send(1, 3);
        ether.run_until(at(1000));
        ether.send(0, 3); // Node 1 answers.
        ether.run_until(at(1500));
        assert_eq!(ether.delivered.len(), 2);
        assert_eq!(ether.routers[3].route_to(ether.now, 0).is_some(), spared);
    }
}
