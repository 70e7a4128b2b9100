//! Where packets go next: as an oracle says, to the access point of a station, or as a protocol in
//! every node says.

use super::association::Association;
use super::reachability::Reachability;
use crate::dot11::LEAST_SUCCESS;
use crate::routing::{
    Action, Aodv, AodvSettings, Hop, Message, Node, Olsr, OlsrSettings, Protocol, Transit,
};
use crate::shared::Ends;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::Time;

/// How packets find their way in an ad-hoc network.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Routing {
    /// The shortest way as the places of the moment have it, known to all without a message.
    Oracle,
    /// One hop, from or to the access point that a station hears best; needs `access`.
    Association,
    /// Ad hoc on-demand distance vector routing (RFC 3561).
    Aodv,
    /// Optimized link state routing (RFC 3626).
    Olsr,
}

/// For each set of ends the neighbours towards it.
type Tables = BTreeMap<Vec<usize>, Vec<(Option<Node>, f64)>>;

pub(super) enum Routers {
    /// For each set of ends the table of next hops, while nobody moves.
    Oracle(Tables),
    Association {
        /// Stations that are access points.
        points: Vec<usize>,
        stations: Vec<Association>,
    },
    Protocols {
        /// A router of each node: a call through a pointer costs nothing beside a frame on the air.
        routers: Vec<Box<dyn Protocol + Send>>,
        timers: Vec<Time>,
    },
}

/// Runs a router and keeps its timer and its answers.
fn run_router(
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

impl Routers {
    pub(super) fn new(routing: Routing, points: Vec<usize>, reach: &Reachability) -> Self {
        let nodes = reach.nodes();
        match routing {
            Routing::Oracle => Routers::Oracle(BTreeMap::new()),
            Routing::Association => {
                let stations = vec![Association::default(); nodes];
                let mut routers = Routers::Association { points, stations };
                routers.moved(Time::ZERO, reach);
                routers
            }
            Routing::Aodv => {
                let settings = AodvSettings::default();
                Routers::protocols(nodes, |node| Box::new(Aodv::new(node, settings)))
            }
            Routing::Olsr => {
                let settings = OlsrSettings::default();
                Routers::protocols(nodes, |node| Box::new(Olsr::new(node, settings)))
            }
        }
    }

    fn protocols(nodes: usize, router: impl Fn(Node) -> Box<dyn Protocol + Send>) -> Self {
        let routers: Vec<_> = (0..nodes as Node).map(router).collect();
        let timers = routers.iter().map(|router| router.next_timer()).collect();
        Routers::Protocols { routers, timers }
    }

    /// The station at which a packet of a link begins.
    pub(super) fn entry(&mut self, now: Time, ends: &Ends, reach: &Reachability) -> Option<Node> {
        if let [only] = *ends.from {
            return Some(only as Node);
        }
        match self {
            Routers::Oracle(tables) => {
                let table = table(tables, &ends.to, reach);
                let near = ends.from.iter().min_by(|a, b| table[**a].1.total_cmp(&table[**b].1));
                near.filter(|node| table[**node].1 < f64::INFINITY).map(|node| *node as Node)
            }
            Routers::Association { stations, .. } => stations[ends.to[0]].now(now),
            Routers::Protocols { .. } => None, // its addresses are of single nodes
        }
    }

    /// Where a packet at `node` goes next, and what the router of the node does about it.
    pub(super) fn next_hop(
        &mut self,
        now: Time,
        node: Node,
        transit: Transit,
        ends: &Ends,
        reach: &Reachability,
    ) -> (Hop, Vec<(Node, Action)>) {
        let mut actions = Vec::new();
        let hop = match self {
            Routers::Oracle(tables) => {
                let next = table(tables, &ends.to, reach)[usize::from(node)].0;
                next.map_or(Hop::Unreachable, Hop::To)
            }
            Routers::Association { points, stations } => {
                let to = transit.destination;
                if !points.contains(&usize::from(node)) {
                    stations[usize::from(node)].now(now).map_or(Hop::Wait, Hop::To)
                } else if stations[usize::from(to)].now(now) == Some(node) {
                    Hop::To(to)
                } else {
                    Hop::Unreachable
                }
            }
            Routers::Protocols { routers, timers } => {
                let at = usize::from(node);
                let mut hop = Hop::Unreachable;
                run_router(node, &mut timers[at], &mut routers[at], &mut actions, |router, out| {
                    hop = router.next_hop(now, transit, out);
                });
                hop
            }
        };
        (hop, actions)
    }

    pub(super) fn on_message(
        &mut self,
        now: Time,
        at: Node,
        from: Node,
        message: &Message,
        out: &mut Vec<(Node, Action)>,
    ) {
        if let Routers::Protocols { routers, timers } = self {
            let (timer, router) = (&mut timers[usize::from(at)], &mut routers[usize::from(at)]);
            run_router(at, timer, router, out, |router, out| {
                router.on_message(now, from, message, out)
            });
        }
    }

    /// A packet has come to its destination.
    pub(super) fn on_arrival(&mut self, now: Time, at: Node, packet: Transit) {
        if let Routers::Protocols { routers, timers } = self {
            let at = usize::from(at);
            routers[at].on_arrival(now, packet);
            timers[at] = routers[at].next_timer();
        }
    }

    pub(super) fn on_unheard(&mut self, now: Time, at: Node, neighbour: Node, message: &Message) {
        if let Routers::Protocols { routers, .. } = self {
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
        if let Routers::Protocols { routers, timers } = self {
            let (timer, router) = (&mut timers[usize::from(at)], &mut routers[usize::from(at)]);
            run_router(at, timer, router, out, |router, out| router.on_broken(now, neighbour, out));
        }
    }

    /// The stations are elsewhere.
    pub(super) fn moved(&mut self, now: Time, reach: &Reachability) {
        match self {
            Routers::Oracle(tables) => tables.clear(),
            Routers::Association { points, stations } => {
                for (station, own) in stations.iter_mut().enumerate() {
                    if points.contains(&station) {
                        continue;
                    }
                    let reached = |point: &&usize| {
                        reach.success(station, **point).min(reach.success(**point, station))
                            >= LEAST_SUCCESS
                    };
                    let heard = points.iter().filter(reached);
                    let db = |point: &usize| (*point as Node, reach.heard_db(*point, station));
                    own.hear(now, heard.map(db));
                }
            }
            Routers::Protocols { .. } => {}
        }
    }

    pub(super) fn handovers(&self, station: usize) -> u64 {
        match self {
            Routers::Association { stations, .. } => stations[station].changes,
            _ => 0,
        }
    }

    pub(super) fn next_timer(&self) -> Time {
        match self {
            Routers::Oracle(_) => Time::NEVER,
            Routers::Association { stations, .. } => {
                stations.iter().map(Association::due).min().unwrap_or(Time::NEVER)
            }
            Routers::Protocols { timers, .. } => {
                timers.iter().copied().min().unwrap_or(Time::NEVER)
            }
        }
    }

    /// Lets a node do what is due, if one has something to do.
    pub(super) fn on_timer(&mut self, now: Time) -> Option<Vec<(Node, Action)>> {
        match self {
            Routers::Oracle(_) => None,
            Routers::Association { points, stations } => {
                let node = stations.iter().position(|own| own.due() <= now)?;
                stations[node].arrived();
                let release = |to: &usize| (node as Node, Action::Release { to: *to as Node });
                Some(points.iter().map(release).collect())
            }
            Routers::Protocols { routers, timers } => {
                let node = timers.iter().position(|at| *at <= now)?;
                let mut out = Vec::new();
                let (timer, router) = (&mut timers[node], &mut routers[node]);
                run_router(node as Node, timer, router, &mut out, |router, out| {
                    router.on_timer(now, out)
                });
                Some(out)
            }
        }
    }
}

/// The table of next hops towards one of `ends`.
fn table<'a>(
    tables: &'a mut Tables,
    ends: &[usize],
    reach: &Reachability,
) -> &'a [(Option<Node>, f64)] {
    if !tables.contains_key(ends) {
        tables.insert(ends.to_vec(), reach.towards(ends));
    }
    &tables[ends]
}
