//! Tests that valid next hops never form a loop, for arbitrary movements and losses.

use super::bench::Altered;
use crate::Rng;
use crate::routing::aodv::{Aodv, AodvSettings, Message, Rrep, Rreq};
use crate::routing::testing::Ether;
use crate::routing::{Node, RoutingProtocol};
use crate::testing::Lcg;
use proptest::prelude::*;
use units::{Span, Time};

/// A small network in which links come and go all the time, and packets as well.
#[derive(Clone, Copy, Debug)]
struct Turmoil {
    seed: u64,
    nodes: Node,
    settings: AodvSettings,
    /// Probability that a broadcast is lost.
    loss: f64,
    /// Largest delay of a broadcast: with a long one, RERRs arrive late.
    jitter: Span,
    /// Mean time between changes of a link.
    change: Span,
    /// Mean time between packets.
    packet: Span,
    end: Time,
}

/// Timers ten times as short as the RFC's, so that much happens in a short time.
fn hasty() -> AodvSettings {
    AodvSettings {
        active_route_timeout: Span::millis(300),
        delete_factor: 2,
        hello_interval: Span::millis(100),
        node_traversal_time: Span::millis(15),
        ..AodvSettings::default()
    }
}

fn any_settings() -> impl Strategy<Value = AodvSettings> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), prop::bool::weighted(0.2));
    // Loops are absent even if no route is remembered.
    let delete_factor = prop_oneof![Just(0u32), Just(1), Just(5)];
    (flags, delete_factor).prop_map(|((slow, hello, gratuitous_rrep, destination_only), k)| {
        let timers = if slow { AodvSettings::default() } else { hasty() };
        AodvSettings { hello, gratuitous_rrep, destination_only, delete_factor: k, ..timers }
    })
}

fn any_turmoil() -> impl Strategy<Value = Turmoil> {
    let parts = (any::<u64>(), 3..9u16, any_settings(), 0..4u32, 1..9u32, any::<bool>());
    parts.prop_map(|(seed, nodes, settings, tenths, pace, late)| {
        // A route lives for several packets and several changes.
        let life = settings.active_route_timeout.0;
        Turmoil {
            seed,
            nodes,
            settings,
            loss: f64::from(tenths) / 10.0,
            jitter: if late { Span(life / 10) } else { Span::millis(10) },
            change: Span(life / u64::from(pace)),
            packet: Span(life / 20),
            end: Time(80 * life),
        }
    })
}

/// The valid next hops towards `destination`, up to the first node that comes again.
fn way<P: RoutingProtocol>(ether: &Ether<P>, from: Node, destination: Node) -> (Vec<Node>, bool) {
    let mut way = vec![from];
    let mut at = from;
    while at != destination {
        let Some(next) = ether.routers[usize::from(at)].route_to(ether.now, destination) else {
            break;
        };
        let again = way.contains(&next);
        way.push(next);
        if again {
            return (way, true);
        }
        at = next;
    }
    (way, false)
}

/// Observations of a network whose links change all the time.
#[derive(Debug, Default)]
struct Observed {
    /// The first loop.
    looped: Option<(Time, Vec<Node>)>,
    /// Routes of two hops and more, counted after every event.
    routes: u64,
    delivered: usize,
}

impl Turmoil {
    fn run<P: RoutingProtocol>(self, router: impl Fn(Node) -> P) -> Observed {
        let mut rng = Lcg(self.seed);
        let pairs: Vec<_> =
            (0..self.nodes).flat_map(|a| (a + 1..self.nodes).map(move |b| (a, b))).collect();
        let mut links: Vec<bool> = pairs.iter().map(|_| rng.uniform() < 0.4).collect();
        let chosen = |links: &[bool]| {
            let there = pairs.iter().zip(links).filter(|(_, there)| **there);
            there.map(|(pair, _)| *pair).collect::<Vec<_>>()
        };
        let mut ether = Ether::new((0..self.nodes).map(router).collect(), chosen(&links));
        (ether.loss, ether.jitter) = (self.loss, self.jitter);
        let mut seen = Observed::default();
        let pick = |rng: &mut Lcg, of: usize| (rng.uniform() * of as f64) as usize;
        let gap = |rng: &mut Lcg, mean: Span| Span((2.0 * rng.uniform() * mean.0 as f64) as u64);
        let (mut change, mut packet) = (Time::ZERO, Time::ZERO);
        while ether.now < self.end && seen.looped.is_none() {
            let until = change.min(packet);
            while let Some(node) = ether.step(until) {
                look(&ether, node, &mut seen);
            }
            if change <= until {
                let link = pick(&mut rng, links.len());
                links[link] = !links[link];
                ether.relink(chosen(&links));
                change = until + gap(&mut rng, self.change);
            }
            if packet <= until {
                // Few destinations, so that their routes get old.
                let source = pick(&mut rng, self.nodes.into()) as Node;
                let destination = pick(&mut rng, 2) as Node;
                if source != destination {
                    ether.send(source, destination);
                }
                packet = until + gap(&mut rng, self.packet);
            }
        }
        seen.delivered = ether.delivered.len();
        seen
    }
}

/// Looks for a loop through `node`, the only node whose table has changed.
fn look<P: RoutingProtocol>(ether: &Ether<P>, node: Node, seen: &mut Observed) {
    for destination in 0..ether.routers.len() as Node {
        if destination == node {
            let known = ether.routers[usize::from(node)].route_to(ether.now, node);
            assert_eq!(known, None, "a route to itself");
            continue;
        }
        let (way, looped) = way(ether, node, destination);
        seen.routes += u64::from(way.len() > 2);
        if looped && seen.looped.is_none() {
            seen.looped = Some((ether.now, way));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn routes_never_make_a_loop_whatever_moves(turmoil in any_turmoil()) {
        let seen = turmoil.run(|node| Aodv::new(node, turmoil.settings));
        prop_assert_eq!(seen.looped, None);
    }
}

/// A router that takes every received message for the newest: sequence numbers have no effect.
fn gullible(count: u32, message: &Message) -> Message {
    match message.clone() {
        Message::Rreq(rreq) => Message::Rreq(Rreq {
            originator_sequence: 1000 * count,
            destination_sequence: None,
            ..rreq
        }),
        Message::Rrep(rrep) => Message::Rrep(Rrep { destination_sequence: 1000 * count, ..rrep }),
        other => other,
    }
}

fn turmoil(seed: u64) -> Turmoil {
    let settings = hasty();
    let (change, packet, jitter) = (Span::millis(100), Span::millis(15), Span::millis(10));
    Turmoil {
        seed,
        nodes: 7,
        settings,
        loss: 0.1,
        jitter,
        change,
        packet,
        end: Time(24_000_000_000),
    }
}

#[test]
fn without_sequence_numbers_routes_do_make_loops() {
    let seen = (0..10).map(|seed| {
        let router = |node| Altered { hear: gullible, ..Altered::new(node, hasty()) };
        turmoil(seed).run(router)
    });
    assert!(seen.filter(|seen| seen.looped.is_some()).count() >= 5);
}

#[test]
fn turmoil_has_routes_that_could_make_loops() {
    let seen = turmoil(1).run(|node| Aodv::new(node, hasty()));
    assert!(seen.routes > 5_000 && seen.delivered > 300, "{seen:?}");
}
