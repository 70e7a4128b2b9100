//! Who says where packets go: an oracle, the access point that a station belongs to, or a protocol in every node.

use super::Way;
use super::association::Belonging;
use super::links::Links;
use crate::dot11::LEAST_SUCCESS;
use crate::routing::{
    Action, Aodv, AodvSettings, Hop, Message, Node, Olsr, OlsrSettings, Protocol, Transit,
};
use std::collections::BTreeMap;
use units::Time;

/// How packets find their way.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Routing {
    /// The shortest way as the places of the moment have it, known to all without a message.
    #[default]
    Oracle,
    /// One hop, to or from the access point that a station hears best.
    Association {
        /// Stations that are access points.
        points: Vec<usize>,
    },
    /// Ad hoc on-demand distance vector routing (RFC 3561).
    Aodv(AodvSettings),
    /// Optimized link state routing (RFC 3626).
    Olsr(OlsrSettings),
}

/// For each set of ends the neighbours towards it.
type Tables = BTreeMap<Vec<usize>, Vec<(Option<Node>, f64)>>;

pub(super) enum Guide {
    /// For each set of ends the table of next hops, while nobody moves.
    Oracle(Tables),
    Association {
        /// Stations that are access points.
        points: Vec<usize>,
        stations: Vec<Belonging>,
    },
    Protocols {
        /// A router of each node: a call through a pointer costs nothing beside a frame on the air.
        routers: Vec<Box<dyn Protocol + Send>>,
        timers: Vec<Time>,
    },
}

/// Runs a router and keeps its timer and its answers.
fn told(
    node: Node,
    timer: &mut Time,
    router: &mut Box<dyn Protocol + Send>,
    out: &mut Vec<(Node, Action)>,
    call: impl FnOnce(&mut (dyn Protocol + Send), &mut Vec<Action>),
) {
    let mut actions = Vec::new();
    call(router.as_mut(), &mut actions);
    *timer = router.next_timer();
    out.extend(actions.into_iter().map(|action| (node, action)));
}

impl Guide {
    pub(super) fn new(routing: Routing, links: &Links) -> Self {
        let nodes = links.nodes();
        match routing {
            Routing::Oracle => Guide::Oracle(BTreeMap::new()),
            Routing::Association { points } => {
                let stations = vec![Belonging::default(); nodes];
                let mut guide = Guide::Association { points, stations };
                guide.moved(Time::ZERO, links);
                guide
            }
            Routing::Aodv(settings) => {
                Guide::routers(nodes, |node| Box::new(Aodv::new(node, settings)))
            }
            Routing::Olsr(settings) => {
                Guide::routers(nodes, |node| Box::new(Olsr::new(node, settings)))
            }
        }
    }

    fn routers(nodes: usize, router: impl Fn(Node) -> Box<dyn Protocol + Send>) -> Self {
        let routers: Vec<_> = (0..nodes as Node).map(router).collect();
        let timers = routers.iter().map(|router| router.next_timer()).collect();
        Guide::Protocols { routers, timers }
    }

    /// At which of the ends of a way a packet begins.
    pub(super) fn entry(&mut self, now: Time, way: &Way, links: &Links) -> Option<Node> {
        if let [only] = *way.from {
            return Some(only as Node);
        }
        match self {
            Guide::Oracle(tables) => {
                let table = table(tables, &way.to, links);
                let near = way.from.iter().min_by(|a, b| table[**a].1.total_cmp(&table[**b].1));
                near.filter(|node| table[**node].1 < f64::INFINITY).map(|node| *node as Node)
            }
            Guide::Association { stations, .. } => stations[way.to[0]].now(now),
            Guide::Protocols { .. } => None, // its addresses are of single nodes
        }
    }

    pub(super) fn next_hop(
        &mut self,
        now: Time,
        node: Node,
        transit: Transit,
        way: &Way,
        links: &Links,
        out: &mut Vec<(Node, Action)>,
    ) -> Hop {
        match self {
            Guide::Oracle(tables) => {
                let next = table(tables, &way.to, links)[usize::from(node)].0;
                next.map_or(Hop::Unreachable, Hop::To)
            }
            Guide::Association { points, stations } => {
                let to = transit.destination;
                if points.contains(&usize::from(node)) {
                    let here = stations[usize::from(to)].now(now) == Some(node);
                    return if here { Hop::To(to) } else { Hop::Unreachable };
                }
                stations[usize::from(node)].now(now).map_or(Hop::Wait, Hop::To)
            }
            Guide::Protocols { routers, timers } => {
                let at = usize::from(node);
                let mut hop = Hop::Unreachable;
                told(node, &mut timers[at], &mut routers[at], out, |router, out| {
                    hop = router.next_hop(now, transit, out);
                });
                hop
            }
        }
    }

    pub(super) fn on_message(
        &mut self,
        now: Time,
        at: Node,
        from: Node,
        message: &Message,
        out: &mut Vec<(Node, Action)>,
    ) {
        if let Guide::Protocols { routers, timers } = self {
            let (timer, router) = (&mut timers[usize::from(at)], &mut routers[usize::from(at)]);
            told(at, timer, router, out, |router, out| router.on_message(now, from, message, out));
        }
    }

    /// A packet has come to its destination.
    pub(super) fn on_arrival(&mut self, now: Time, at: Node, packet: Transit) {
        if let Guide::Protocols { routers, timers } = self {
            let at = usize::from(at);
            routers[at].on_arrival(now, packet);
            timers[at] = routers[at].next_timer();
        }
    }

    pub(super) fn on_unheard(&mut self, now: Time, at: Node, neighbour: Node, message: &Message) {
        if let Guide::Protocols { routers, .. } = self {
            routers[usize::from(at)].on_unheard(now, neighbour, message);
        }
    }

    pub(super) fn on_broken(
        &mut self,
        now: Time,
        at: Node,
        neighbour: Node,
        out: &mut Vec<(Node, Action)>,
    ) {
        if let Guide::Protocols { routers, timers } = self {
            let (timer, router) = (&mut timers[usize::from(at)], &mut routers[usize::from(at)]);
            told(at, timer, router, out, |router, out| router.on_broken(now, neighbour, out));
        }
    }

    /// The stations are elsewhere.
    pub(super) fn moved(&mut self, now: Time, links: &Links) {
        match self {
            Guide::Oracle(tables) => tables.clear(),
            Guide::Association { points, stations } => {
                for (station, own) in stations.iter_mut().enumerate() {
                    if points.contains(&station) {
                        continue;
                    }
                    let reached = |point: &&usize| {
                        links.success(station, **point).min(links.success(**point, station))
                            >= LEAST_SUCCESS
                    };
                    let heard = points.iter().filter(reached);
                    let db = |point: &usize| (*point as Node, links.heard_db(*point, station));
                    own.look(now, heard.map(db));
                }
            }
            Guide::Protocols { .. } => {}
        }
    }

    pub(super) fn handovers(&self, station: usize) -> u64 {
        match self {
            Guide::Association { stations, .. } => stations[station].changes,
            _ => 0,
        }
    }

    pub(super) fn next_timer(&self) -> Time {
        match self {
            Guide::Oracle(_) => Time::NEVER,
            Guide::Association { stations, .. } => {
                stations.iter().map(Belonging::due).min().unwrap_or(Time::NEVER)
            }
            Guide::Protocols { timers, .. } => timers.iter().copied().min().unwrap_or(Time::NEVER),
        }
    }

    /// Lets a node do what is due, if one has something to do.
    pub(super) fn on_timer(&mut self, now: Time) -> Option<Vec<(Node, Action)>> {
        match self {
            Guide::Oracle(_) => None,
            Guide::Association { points, stations } => {
                let node = stations.iter().position(|own| own.due() <= now)?;
                stations[node].arrived();
                let release = |to: &usize| (node as Node, Action::Release { to: *to as Node });
                Some(points.iter().map(release).collect())
            }
            Guide::Protocols { routers, timers } => {
                let node = timers.iter().position(|at| *at <= now)?;
                let mut out = Vec::new();
                let (timer, router) = (&mut timers[node], &mut routers[node]);
                told(node as Node, timer, router, &mut out, |router, out| {
                    router.on_timer(now, out)
                });
                Some(out)
            }
        }
    }
}

/// The table of next hops towards one of `ends`.
fn table<'a>(tables: &'a mut Tables, ends: &[usize], links: &Links) -> &'a [(Option<Node>, f64)] {
    if !tables.contains_key(ends) {
        tables.insert(ends.to_vec(), links.towards(ends));
    }
    &tables[ends]
}
