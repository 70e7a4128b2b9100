use super::*;
use crate::dot11::{ModeChoice, PhyKind};
use crate::testing::{Lcg, TestPacket as Sample};
use crate::{DropTail, Radio};
use proptest::prelude::*;

fn settings() -> ChannelSettings {
    let plain = ChannelSettings::new(PhyKind::G { protected: false }, ModeChoice::Fixed(0));
    ChannelSettings { radio: Some(Radio::default()), ..plain }
}

/// Distance in metres at which a full packet is received with certainty; at twice this it is never
/// received.
const NEAR: f64 = 60.0;

fn stations(positions: &[(f64, f64)], queue: u64) -> Vec<Station> {
    let station = |(x, y): &(f64, f64)| Station {
        position: Position { x: *x, y: *y },
        queue: Queue::DropTail(DropTail::of(queue)),
        ring: 2,
        ..Station::default()
    };
    positions.iter().map(station).collect()
}

fn chain(nodes: usize) -> Vec<(f64, f64)> {
    (0..nodes).map(|node| (node as f64 * NEAR, 0.0)).collect()
}

fn ends(from: &[usize], to: &[usize]) -> Ends {
    Ends { from: from.to_vec(), to: to.to_vec() }
}

struct Run {
    net: Adhoc<Sample>,
    rng: Lcg,
    now: Time,
    offered: u64,
    refused: u64,
    arrived: Vec<(Time, u32, Sample)>,
    left: u64,
    lost: u64,
}

impl Run {
    fn new(positions: &[(f64, f64)], routing: Routing, links: Vec<Ends>) -> Self {
        let mut rng = Lcg(3);
        // The first two are access points, for the test of association.
        let settings = AdhocSettings { channel: settings(), routing, access: vec![0, 1] };
        let net = Adhoc::new(settings, &stations(positions, 20), links, &mut rng);
        let (now, arrived) = (Time::ZERO, Vec::new());
        Run { net, rng, now, offered: 0, refused: 0, arrived, left: 0, lost: 0 }
    }

    fn offer(&mut self, link: u32, number: u32) {
        let packet = Sample { number, ..Sample::of(1000) };
        self.offered += 1;
        self.refused += u64::from(!self.net.offer(self.now, link, packet, &mut self.rng));
        self.collect();
    }

    fn set_positions(&mut self, positions: &[(f64, f64)]) {
        let positions: Vec<_> = positions.iter().map(|(x, y)| Position { x: *x, y: *y }).collect();
        self.net.set_positions(self.now, &positions);
    }

    fn collect(&mut self) {
        for outcome in self.net.outcomes().drain(..) {
            match outcome {
                Outcome::Arrived { link, packet, .. } => {
                    self.arrived.push((self.now, link, packet))
                }
                Outcome::Left { lost, .. } => {
                    self.left += 1;
                    self.lost += u64::from(lost);
                }
                Outcome::Lost { .. } => self.lost += 1,
            }
        }
    }

    fn run_until(&mut self, end: Time) {
        while self.net.next_wake() <= end {
            self.now = self.net.next_wake();
            self.net.wake(self.now, &mut self.rng);
            self.collect();
        }
        self.now = end;
    }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::millis(ms)
}

#[test]
fn packets_go_along_a_chain_in_order_and_the_route_is_known() {
    let mut run = Run::new(&chain(4), Routing::Oracle, vec![ends(&[0], &[3])]);
    (0..10).for_each(|number| run.offer(0, number));
    run.run_until(at(200));
    let numbers: Vec<_> = run.arrived.iter().map(|(_, _, packet)| packet.number).collect();
    assert_eq!(numbers, (0..10).collect::<Vec<_>>());
    let routes = run.net.routes();
    assert_eq!(routes.len(), 1);
    assert_eq!((routes[0].nodes.as_slice(), routes[0].packets), (&[0, 1, 2, 3][..], 10));
    assert_eq!((run.left, run.net.routing_counters(0).changes), (10, 0));
    let hops = run.net.hop_counters();
    assert!(hops.iter().all(|(from, to, hop)| (*to, hop.packets) == (Some(from + 1), 10)));
}

#[test]
fn a_destination_out_of_range_is_unreachable() {
    let positions = [(0.0, 0.0), (NEAR, 0.0), (10.0 * NEAR, 0.0)];
    let mut run = Run::new(&positions, Routing::Oracle, vec![ends(&[0], &[2]), ends(&[0], &[1])]);
    run.offer(0, 1);
    run.run_until(at(100));
    assert_eq!((run.net.routing_counters(0).unreachable, run.lost, run.left), (1, 1, 1));
    assert_eq!([0, 1].map(|link| run.net.connected(link)), [Some(false), Some(true)]);
}

#[test]
fn the_route_follows_nodes_that_move() {
    let mut positions =
        vec![(0.0, 0.0), (NEAR, NEAR / 2.0), (NEAR, 30.0 * NEAR), (2.0 * NEAR, 0.0)];
    let mut run = Run::new(&positions, Routing::Oracle, vec![ends(&[0], &[3])]);
    run.offer(0, 1);
    run.run_until(at(50));
    (positions[1].1, positions[2].1) = (30.0 * NEAR, -NEAR / 2.0);
    run.set_positions(&positions);
    run.offer(0, 2);
    run.run_until(at(100));
    let mut links: Vec<_> = run.net.routes().into_iter().map(|route| route.nodes).collect();
    links.sort();
    assert_eq!(links, [[0, 1, 3], [0, 2, 3]]);
    assert_eq!(run.net.routing_counters(0).changes, 1);
}

#[test]
fn a_station_belongs_to_the_access_point_that_it_hears_best_and_waits_while_it_changes() {
    let mut positions = [(0.0, 0.0), (3.0 * NEAR, 0.0), (10.0, 0.0)];
    let links = vec![ends(&[2], &[0, 1]), ends(&[0, 1], &[2])];
    let mut run = Run::new(&positions, Routing::Association, links);
    run.offer(0, 1);
    run.offer(1, 2);
    run.run_until(at(50));
    positions[2].0 = 3.0 * NEAR - 10.0;
    run.set_positions(&positions);
    run.offer(0, 3);
    run.offer(1, 4); // station 2 has no access point
    run.run_until(at(149));
    assert_eq!((run.arrived.len(), run.refused), (2, 1));
    run.run_until(at(200));
    run.offer(1, 5);
    run.run_until(at(300));
    let links: Vec<_> = run.net.routes().into_iter().map(|route| route.nodes).collect();
    assert_eq!(links, [[2, 0], [2, 1], [0, 2], [1, 2]]);
    assert_eq!((run.arrived.len(), run.net.handovers(2)), (4, 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_packet_arrives_is_lost_or_is_still_there(
        positions in prop::collection::vec((0.0..200.0f64, 0.0..200.0f64), 3..8),
        offers in prop::collection::vec((0u64..300, 0u32..2), 1..150),
        moves in prop::collection::vec((0u64..300, 0usize..8, 0.0..200.0f64), 0..10),
    ) {
        let links = vec![ends(&[0], &[2]), ends(&[1], &[0])];
        let mut run = Run::new(&positions, Routing::Oracle, links);
        let mut events: Vec<(u64, Option<u32>, usize, f64)> =
            offers.iter().map(|(ms, link)| (*ms, Some(*link), 0, 0.0)).collect();
        events.extend(moves.iter().map(|(ms, node, x)| (*ms, None, *node, *x)));
        events.sort_by_key(|event| event.0);
        let mut positions = positions;
        for (number, (ms, link, node, x)) in events.into_iter().enumerate() {
            run.run_until(at(ms));
            match link {
                Some(link) => run.offer(link, number as u32),
                None => {
                    let node = node % positions.len();
                    positions[node].0 = x;
                    run.set_positions(&positions);
                }
            }
        }
        let inside: u64 = (0..positions.len()).map(|station| u64::from(run.net.backlog(station))).sum();
        let arrived = run.arrived.len() as u64;
        // A delivered packet stays in its last sender's queue until its acknowledgement.
        prop_assert!(arrived + run.lost + run.refused <= run.offered);
        prop_assert!(run.offered <= arrived + run.lost + run.refused + inside);
        run.run_until(at(60_000));
        prop_assert_eq!(run.offered, run.arrived.len() as u64 + run.lost + run.refused);
        prop_assert_eq!(run.net.messages.kept(), 0);
        prop_assert!(run.arrived.iter().all(|(_, link, packet)| packet.bytes == 1000 && *link < 2));
    }
}

proptest! {
    /// Two networks, as two channels have them, run with and without what they may share. Each
    /// moves to the same places, the second one somewhat later.
    #[test]
    fn networks_that_share_what_they_compute_do_what_each_would_by_itself(
        places in prop::collection::vec((0.0..200.0f64, 0.0..200.0f64), 5),
        routing in prop::sample::select(vec![Routing::Oracle, Routing::Aodv, Routing::Association]),
        packets in prop::collection::vec((0u64..4_000, 0usize..2, 0u32..3), 1..60),
    ) {
        let run = |share: bool| {
            let links = || vec![ends(&[2], &[0]), ends(&[3], &[0]), ends(&[0], &[2])];
            let mut all: Vec<Run> = (0..2).map(|_| Run::new(&places, routing, links())).collect();
            if share {
                let common = all[0].net.common().expect("it has something in common");
                all[1].net.share(&common);
                assert!(Arc::ptr_eq(&all[0].net.shared, &all[1].net.shared));
            }
            let (mut sorted, mut reached) = (packets.clone(), Vec::new());
            sorted.sort();
            for (number, (at, network, link)) in (0..).zip(sorted) {
                for (own, net) in (0u64..).zip(&mut all) {
                    net.run_until(Time(at * 1_000_000));
                    let steps = (at + 500 * (1 - own)) / 1_000;
                    let moved: Vec<_> =
                        places.iter().map(|(x, y)| (x + (7 * steps) as f64, y * 1.1)).collect();
                    net.set_positions(&moved);
                }
                all[network].offer(link, number);
                let connected = |net: &Run| [0, 1, 2].map(|link| net.net.connected(link));
                reached.extend(all.iter().map(connected));
            }
            all.iter_mut().for_each(|net| net.run_until(Time(6_000_000_000)));
            let told = |net: &Run| format!("{:?} {} {}", net.arrived, net.left, net.lost);
            (reached, all.iter().map(told).collect::<Vec<_>>())
        };
        prop_assert_eq!(run(true), run(false));
    }
}
