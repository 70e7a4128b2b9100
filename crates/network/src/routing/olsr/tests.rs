//! Many routers on a graph. Tests of a single router are in `single`.

mod single;

use super::message::{LinkType, NeighbourType};
use super::*;
use crate::routing::testing::Ether;
use proptest::prelude::*;

type Links = Vec<(Node, Node)>;

/// HELLOs: asymmetric, symmetric, 2-hop neighbours, MPRs; then a TC. The rest is for messages under
/// way.
const CONVERGED: Span = Span::millis(4 * 2_000 + 5_000 + 500);
/// After both ends of a link know that it has broken: 2-hop neighbours, MPRs, a TC.
const REPORTED: Span = Span::millis(2 * 2_000 + 5_000 + 500);
/// After a link broke without a report: it expires, then as above.
const SILENT: Span = Span::millis(6_000 + 2 * 2_000 + 5_000 + 500);
/// After the last of many reports of the MAC: L_LOST_LINK_time is over, then one more HELLO.
const STILL: Span = Span::millis(6_000 + 3 * 2_000 + 5_000 + 500);

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::millis(ms)
}

fn ether(nodes: Node, links: impl IntoIterator<Item = (Node, Node)>) -> Ether<Olsr> {
    let router = |node| Olsr::new(node, OlsrSettings::default());
    Ether::new((0..nodes).map(router).collect(), links)
}

fn chain(nodes: Node) -> Links {
    (1..nodes).map(|node| (node - 1, node)).collect()
}

fn clique(nodes: Node) -> Links {
    (0..nodes).flat_map(|b| (0..b).map(move |a| (a, b))).collect()
}

/// Columns and rows; adjacent nodes are linked.
fn grid(side: Node) -> Links {
    let right = (0..side * side).filter(|at| at % side + 1 < side).map(|at| (at, at + 1));
    let down = (0..side * (side - 1)).map(|at| (at, at + side));
    right.chain(down).collect()
}

/// Nodes and any links between them.
fn graph() -> impl Strategy<Value = (Node, Links)> {
    (2..12u16, 0.1..0.6f64).prop_flat_map(|(nodes, density)| {
        let all = clique(nodes);
        let there = proptest::collection::vec(proptest::bool::weighted(density), all.len());
        there.prop_map(move |there| {
            let links = all.iter().zip(there).filter(|(_, there)| *there);
            (nodes, links.map(|(link, _)| *link).collect())
        })
    })
}

fn wait(ether: &mut Ether<impl RoutingProtocol>, span: Span) {
    let end = ether.now + span;
    ether.run_until(end);
}

/// Hops from one node to another over the next hops that each knows.
fn walk(ether: &Ether<impl RoutingProtocol>, from: Node, to: Node) -> Option<usize> {
    let (mut at, mut hops) = (from, 0);
    while at != to {
        let next = ether.routers[usize::from(at)].route_to(ether.now, to)?;
        hops += 1;
        if !ether.adjacent(at, next) || hops > ether.routers.len() {
            return None;
        }
        at = next;
    }
    Some(hops)
}

/// Pairs whose route differs from that of breadth-first search.
fn wrong(ether: &Ether<impl RoutingProtocol>) -> Vec<(Node, Node)> {
    let nodes = 0..ether.routers.len() as Node;
    let mut wrong = Vec::new();
    for from in nodes.clone() {
        let distances = ether.distances(from);
        for to in nodes.clone().filter(|to| *to != from) {
            let known = ether.routers[usize::from(from)].route_to(ether.now, to).is_some();
            let hops = distances[usize::from(to)];
            if walk(ether, from, to) != hops || known != hops.is_some() {
                wrong.push((from, to));
            }
        }
    }
    wrong
}

/// Sends a packet from each node to each other; returns how many arrive.
fn send_all(ether: &mut Ether<Olsr>) -> usize {
    let nodes = 0..ether.routers.len() as Node;
    ether.delivered.clear();
    for from in nodes.clone() {
        for to in nodes.clone().filter(|to| *to != from) {
            ether.send(from, to);
        }
    }
    wait(ether, Span::millis(100));
    ether.delivered.len()
}

/// Number of pairs that breadth-first search connects.
fn connected(ether: &Ether<Olsr>) -> usize {
    let reached = |from| ether.distances(from).iter().flatten().count() - 1;
    (0..ether.routers.len() as Node).map(reached).sum()
}

fn relays(ether: &Ether<Olsr>, node: usize) -> Vec<Node> {
    ether.routers[node].neighbours.mprs()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn after_four_hellos_and_a_tc_all_that_are_connected_are_routed_by_shortest_ways(
        (nodes, links) in graph(),
    ) {
        let mut ether = ether(nodes, links);
        wait(&mut ether, CONVERGED);
        prop_assert_eq!(wrong(&ether), []);
        prop_assert_eq!(send_all(&mut ether), connected(&ether));
        for (_, probe) in &ether.delivered {
            let hops = ether.distances(probe.source)[usize::from(probe.destination)];
            prop_assert_eq!(Some(probe.way.len() - 1), hops);
        }
        // The routes stay right.
        wait(&mut ether, Span::millis(40_000));
        prop_assert_eq!(wrong(&ether), []);
    }

    #[test]
    fn relays_of_a_node_cover_its_strict_two_hop_neighbours((nodes, links) in graph()) {
        let mut ether = ether(nodes, links);
        wait(&mut ether, CONVERGED);
        for node in 0..nodes {
            let relays = relays(&ether, usize::from(node));
            for (far, hops) in (0..nodes).zip(ether.distances(node)) {
                let covered = relays.iter().any(|relay| ether.adjacent(*relay, far));
                prop_assert!(hops != Some(2) || covered, "{node} does not cover {far}");
            }
        }
    }

    #[test]
    fn a_break_that_both_ends_report_is_repaired_by_two_hellos_and_a_tc(
        (nodes, mut links) in graph(),
        which: prop::sample::Index,
    ) {
        prop_assume!(!links.is_empty());
        let mut ether = ether(nodes, links.clone());
        wait(&mut ether, CONVERGED);
        let (a, b) = links.swap_remove(which.index(links.len()));
        ether.relink(links);
        ether.send(a, b);
        ether.send(b, a);
        wait(&mut ether, REPORTED);
        prop_assert_eq!(wrong(&ether), []);
        prop_assert_eq!(send_all(&mut ether), connected(&ether));
    }

    #[test]
    fn a_silent_break_is_repaired_by_a_hold_time_two_hellos_and_a_tc(
        (nodes, mut links) in graph(),
        which: prop::sample::Index,
    ) {
        prop_assume!(!links.is_empty());
        let mut ether = ether(nodes, links.clone());
        wait(&mut ether, CONVERGED);
        links.swap_remove(which.index(links.len()));
        ether.relink(links);
        wait(&mut ether, SILENT);
        prop_assert_eq!(wrong(&ether), []);
        prop_assert_eq!(send_all(&mut ether), connected(&ether));
    }

    #[test]
    fn when_what_moves_stands_still_all_is_right_again(
        scenes in proptest::collection::vec(graph(), 8),
        pause in 300u64..4_000,
    ) {
        let mut ether = ether(11, []);
        for (_, links) in scenes {
            ether.relink(links);
            send_all(&mut ether);
            wait(&mut ether, Span::millis(pause));
        }
        wait(&mut ether, STILL);
        prop_assert_eq!(wrong(&ether), []);
        prop_assert_eq!(send_all(&mut ether), connected(&ether));
    }

    #[test]
    fn packets_take_the_next_hop_of_the_table((nodes, links) in graph(), at in 0..20_000u64) {
        let mut ether = ether(nodes, links);
        wait(&mut ether, Span::millis(20_000));
        ether.relink([]);
        wait(&mut ether, Span::millis(at));
        let now = ether.now;
        for node in 0..nodes {
            for destination in (0..nodes).filter(|to| *to != node) {
                let router = &mut ether.routers[usize::from(node)];
                let known = router.route_to(now, destination);
                let packet = PacketHeader { source: node, destination, previous: None };
                let hop = router.next_hop(now, packet, &mut Vec::new());
                prop_assert_eq!(hop, known.map_or(NextHop::Unreachable, NextHop::To));
            }
        }
    }
}

/// When all routes are right for the first time, to 100 ms.
fn converges(ether: &mut Ether<Olsr>) -> Time {
    while !wrong(ether).is_empty() {
        assert!(ether.now < ms(60_000), "never");
        wait(ether, Span::millis(100));
    }
    ether.now
}

#[test]
fn two_hellos_are_enough_on_a_clique_and_a_grid_converges_within_the_bound() {
    let after = |nodes, links: Links| converges(&mut ether(nodes, links));
    assert!(after(8, clique(8)) < ms(4_100)); // 3.5 s
    assert!(after(10, chain(10)) < Time::ZERO + CONVERGED); // 9.8 s
    assert!(after(36, grid(6)) < Time::ZERO + CONVERGED); // 10.0 s
}

#[test]
fn on_a_clique_there_are_no_mprs_and_no_tcs() {
    let routers = (0..8).map(|node| Counted::new(node, false)).collect();
    let mut ether = Ether::new(routers, clique(8));
    wait(&mut ether, Span::millis(60_000));
    assert!(ether.routers.iter().all(|router| router.olsr.neighbours.mprs().is_empty()));
    assert!(ether.routers.iter().all(|router| router.tcs == 0 && router.own_tcs == 0));
    assert_eq!(wrong(&ether), []);
}

#[test]
fn on_a_chain_the_inner_nodes_are_the_mprs() {
    let mut ether = ether(5, chain(5));
    wait(&mut ether, CONVERGED);
    let all: Vec<Vec<Node>> = (0..5).map(|node| relays(&ether, node)).collect();
    assert_eq!(all, [vec![1], vec![2], vec![1, 3], vec![2], vec![3]]);
    let selectors = ether.routers.iter().map(|router| router.neighbours.selectors());
    let selectors: Vec<Vec<Node>> = selectors.collect();
    assert_eq!(selectors, [vec![], vec![0, 2], vec![1, 3], vec![2, 4], vec![]]);
}

#[test]
fn a_break_is_routed_around_at_once_where_another_way_is_known() {
    let mut ether = ether(4, [(0, 1), (0, 2), (1, 3), (2, 3)]);
    wait(&mut ether, CONVERGED);
    assert_eq!(ether.routers[0].route_to(ether.now, 3), Some(1));
    ether.relink([(0, 2), (1, 3), (2, 3)]);
    ether.send(0, 3); // The packet is lost, and its loss reports the break.
    wait(&mut ether, Span::millis(20));
    assert_eq!(ether.dropped.len(), 1);
    ether.send(0, 3);
    wait(&mut ether, Span::millis(20));
    let ways: Vec<&[Node]> = ether.delivered.iter().map(|(_, probe)| &probe.way[..]).collect();
    assert_eq!(ways, [[0, 2, 3]]);
    // The route over 3 to 1 is not advertised: 1 had not selected 3 as MPR.
    assert_eq!(ether.routers[0].route_to(ether.now, 1), None);
    wait(&mut ether, SILENT);
    assert_eq!(wrong(&ether), []);
}

#[test]
fn a_link_that_the_mac_found_broken_stays_out_of_use_for_the_lost_hold() {
    for (lost_ms, bound_ms) in [(6_000, 6_000 + 2_000), (0, 2_000)] {
        let settings = OlsrSettings { lost_hold: Span::millis(lost_ms), ..OlsrSettings::default() };
        let routers = (0..2).map(|node| Olsr::new(node, settings)).collect();
        let mut ether = Ether::new(routers, [(0, 1)]);
        wait(&mut ether, CONVERGED);
        let now = ether.now;
        ether.routers[0].on_link_break(now, 1, &mut Vec::new()); // A false alarm.
        assert_eq!(ether.routers[0].route_to(now, 1), None);
        wait(&mut ether, Span::millis(lost_ms));
        wait(&mut ether, Span::millis(bound_ms - lost_ms));
        assert_eq!(wrong(&ether), [], "{lost_ms} ms");
    }
}

#[test]
fn an_asymmetric_link_is_not_used() {
    // 0 hears 2, and 2 does not hear 0.
    let mut ether = ether(3, clique(3));
    ether.deafen([(0, 2)]);
    wait(&mut ether, CONVERGED);
    assert_eq!(walk(&ether, 0, 2), Some(2));
    assert_eq!(walk(&ether, 2, 0), Some(2));
    let code = |at: usize, of: Node| {
        let groups = ether.routers[at].neighbours.groups(ether.now);
        Hello::new(3, groups).code_of(of)
    };
    assert_eq!(code(0, 2), Some((LinkType::Asymmetric, NeighbourType::Not)));
    assert_eq!(code(2, 0), None);
    assert_eq!(send_all(&mut ether), 6);
}

#[test]
fn a_link_that_becomes_asymmetric_is_given_up_by_both_ends() {
    let mut ether = ether(3, clique(3));
    wait(&mut ether, CONVERGED);
    ether.deafen([(0, 2)]);
    // The deaf end finds out after the hold time, the other one by the next HELLO.
    wait(&mut ether, Span::millis(6_000));
    assert_eq!(ether.routers[2].route_to(ether.now, 0), Some(1));
    wait(&mut ether, Span::millis(2_100));
    assert_eq!(ether.routers[0].route_to(ether.now, 2), Some(1));
    // The link becomes symmetric again: asymmetric, then symmetric at one end, then at both.
    ether.deafen([]);
    wait(&mut ether, Span::millis(4_100));
    assert_eq!(wrong(&ether), []);
}

#[test]
fn a_node_that_left_is_known_for_no_longer_than_the_hold_time() {
    let mut ether = ether(3, chain(3));
    wait(&mut ether, CONVERGED);
    let router = ether.routers[0].clone();
    let at = |span| ether.now + Span::millis(span);
    assert!(router.route_to(at(1_000), 1).is_some() && router.route_to(at(1_000), 2).is_some());
    assert!(router.route_to(at(6_000), 1).is_none() && router.route_to(at(6_000), 2).is_none());
}

#[test]
fn sequence_numbers_wrap_around_without_notice() {
    let links = grid(3);
    let mut ether = ether(9, links.clone());
    for router in &mut ether.routers {
        (router.ansn, router.message_number, router.packet_number) = (65_533, 65_530, 65_530);
    }
    for round in 0..8 {
        // Another link is missing each time, so that TCs change.
        ether.relink(links.iter().copied().filter(|link| *link != links[round]));
        wait(&mut ether, SILENT);
        assert_eq!(wrong(&ether), [], "round {round}");
    }
    assert!(ether.routers.iter().any(|router| router.ansn < 100));
    assert!(ether.routers.iter().all(|router| router.message_number < 10_000));
}

/// A router whose TCs are counted. If it floods, all its neighbours have it as relay.
struct Counted {
    olsr: Olsr,
    /// TCs sent, others' and its own.
    tcs: u64,
    own_tcs: u64,
    bytes: u64,
}

impl Counted {
    fn new(node: Node, floods: bool) -> Self {
        let willingness = if floods { WILL_ALWAYS } else { WILL_DEFAULT };
        let olsr = Olsr::new(node, OlsrSettings { willingness, ..OlsrSettings::default() });
        Counted { olsr, tcs: 0, own_tcs: 0, bytes: 0 }
    }

    fn count(&mut self, out: &[Action]) {
        for action in out {
            let Action::Broadcast(message @ Message::Olsr(packet)) = action else { continue };
            self.bytes += u64::from(message.bytes());
            for message in &packet.messages {
                let tc = matches!(message.body, MessageBody::Tc(_));
                self.tcs += u64::from(tc);
                self.own_tcs += u64::from(tc && message.hops == 0);
            }
        }
    }
}

impl RoutingProtocol for Counted {
    fn next_hop(&mut self, now: Time, packet: PacketHeader, out: &mut Vec<Action>) -> NextHop {
        self.olsr.next_hop(now, packet, out)
    }
    fn on_message(&mut self, now: Time, from: Node, message: &Message, out: &mut Vec<Action>) {
        self.olsr.on_message(now, from, message, out);
        self.count(out);
    }
    fn on_link_break(&mut self, now: Time, neighbour: Node, out: &mut Vec<Action>) {
        self.olsr.on_link_break(now, neighbour, out);
    }
    fn on_timer(&mut self, now: Time, out: &mut Vec<Action>) {
        self.olsr.on_timer(now, out);
        self.count(out);
    }
    fn next_timer(&self) -> Time {
        self.olsr.next_timer()
    }
    fn route_to(&self, now: Time, destination: Node) -> Option<Node> {
        self.olsr.route_to(now, destination)
    }
}

/// 49 nodes on a square of seven by seven that hear each other over a distance of 2.9.
fn dense() -> Links {
    let place = |node: Node| (f64::from(node % 7), f64::from(node / 7));
    let near = |(a, b): &(Node, Node)| {
        let ((ax, ay), (bx, by)) = (place(*a), place(*b));
        (ax - bx) * (ax - bx) + (ay - by) * (ay - by) < 2.9 * 2.9
    };
    clique(49).into_iter().filter(near).collect()
}

/// How often a TC is sent, and bytes per node and second.
fn cost(floods: bool) -> (f64, f64) {
    let routers = (0..49).map(|node| Counted::new(node, floods)).collect();
    let mut ether = Ether::new(routers, dense());
    wait(&mut ether, Span::millis(20_000));
    assert_eq!(wrong(&ether), []);
    for router in &mut ether.routers {
        (router.tcs, router.own_tcs, router.bytes) = (0, 0, 0);
    }
    wait(&mut ether, Span::millis(100_000));
    let sum = |of: fn(&Counted) -> u64| ether.routers.iter().map(of).sum::<u64>() as f64;
    (
        sum(|router| router.tcs) / sum(|router| router.own_tcs),
        sum(|router| router.bytes) / 49.0 / 100.0,
    )
}

#[test]
fn mprs_make_a_tc_cheaper_than_flooding() {
    let (flooded, flooded_bytes) = cost(true);
    let (relayed, relayed_bytes) = cost(false);
    // 49 times against 5 times; 1,162 bytes a second and node against 82, because fewer TCs also
    // list fewer nodes.
    assert!(flooded > 48.9 && flooded < 49.1, "{flooded}");
    assert!(relayed < 6.0, "{relayed}");
    assert!(relayed_bytes < flooded_bytes / 10.0, "{relayed_bytes} {flooded_bytes}");
}
