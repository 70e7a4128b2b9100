//! Next hops of packets: from an oracle, by association with access points, or from a routing
//! protocol in every node.

use super::association::Association;
use super::common::Tables;
use super::reachability::{Reachability, Table};
use crate::dot11::LEAST_SUCCESS;
use crate::routing::{
    Action, Aodv, AodvSettings, Message, NextHop, Node, Olsr, OlsrSettings, PacketHeader,
    RoutingProtocol,
};
use crate::shared::Ends;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use units::Time;

/// The routing of an ad-hoc network.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Routing {
    /// The shortest route at the current positions, known to all stations without messages.
    Oracle,
    /// One hop between a station and the access point with the strongest signal; needs `access`.
    Association,
    /// Ad hoc on-demand distance vector routing (RFC 3561).
    Aodv,
    /// Optimized link state routing (RFC 3626).
    Olsr,
}

pub(super) enum Routers {
    /// Tables for the current positions, by the numbers of the stations at which links end; `None`
    /// until they are needed.
    Oracle(Vec<Option<Arc<Table>>>),
    Association {
        /// Stations that are access points.
        access_points: Vec<usize>,
        stations: Vec<Association>,
    },
    Protocols {
        /// The router of each node: a virtual call costs little compared with the work for a frame.
        routers: Vec<Box<dyn RoutingProtocol + Send>>,
        timers: Vec<Time>,
    },
}

/// Calls a router, and records its timer and its actions.
fn run_router(
    node: Node,
    timer: &mut Time,
    router: &mut Box<dyn RoutingProtocol + Send>,
    out: &mut Vec<(Node, Action)>,
    call: impl FnOnce(&mut (dyn RoutingProtocol + Send), &mut Vec<Action>),
) {
    let mut actions = Vec::new();
    call(router.as_mut(), &mut actions);
    *timer = router.next_timer();
    out.extend(actions.into_iter().map(|action| (node, action)));
}

impl Routers {
    pub(super) fn new(
        routing: Routing,
        access_points: Vec<usize>,
        reach: &dyn Reachability,
    ) -> Self {
        let nodes = reach.nodes();
        match routing {
            Routing::Oracle => Routers::Oracle(Vec::new()),
            Routing::Association => {
                let stations = vec![Association::default(); nodes];
                let mut routers = Routers::Association { access_points, stations };
                routers.on_moved(Time::ZERO, reach);
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

    fn protocols(nodes: usize, router: impl Fn(Node) -> Box<dyn RoutingProtocol + Send>) -> Self {
        let routers: Vec<_> = (0..nodes as Node).map(router).collect();
        let timers = routers.iter().map(|router| router.next_timer()).collect();
        Routers::Protocols { routers, timers }
    }

    /// The station at which a packet of a link enters the network. `target` is the number of the
    /// stations at which the link ends.
    pub(super) fn source_station(
        &mut self,
        now: Time,
        ends: &Ends,
        target: usize,
        view: &dyn Tables,
    ) -> Option<Node> {
        if let [only] = *ends.from {
            return Some(only as Node);
        }
        match self {
            Routers::Oracle(tables) => {
                let table = table(tables, (target, &ends.to), view);
                let near = ends.from.iter().min_by(|a, b| table[**a].1.total_cmp(&table[**b].1));
                near.filter(|node| table[**node].1 < f64::INFINITY).map(|node| *node as Node)
            }
            Routers::Association { stations, .. } => stations[ends.to[0]].access_point(now),
            Routers::Protocols { .. } => None, // routing protocols have no gateways
        }
    }

    /// The next hop of a packet at `node`, and the actions of the node's router. `target` has the
    /// stations at which its link ends, with their number.
    pub(super) fn next_hop(
        &mut self,
        now: Time,
        node: Node,
        header: PacketHeader,
        target: (usize, &[usize]),
        view: &dyn Tables,
    ) -> (NextHop, Vec<(Node, Action)>) {
        let mut actions = Vec::new();
        let hop = match self {
            Routers::Oracle(tables) => {
                let next = table(tables, target, view)[usize::from(node)].0;
                next.map_or(NextHop::Unreachable, NextHop::To)
            }
            Routers::Association { access_points, stations } => {
                let to = header.destination;
                if !access_points.contains(&usize::from(node)) {
                    stations[usize::from(node)]
                        .access_point(now)
                        .map_or(NextHop::Buffer, NextHop::To)
                } else if stations[usize::from(to)].access_point(now) == Some(node) {
                    NextHop::To(to)
                } else {
                    NextHop::Unreachable
                }
            }
            Routers::Protocols { routers, timers } => {
                let at = usize::from(node);
                let mut hop = NextHop::Unreachable;
                run_router(node, &mut timers[at], &mut routers[at], &mut actions, |router, out| {
                    hop = router.next_hop(now, header, out);
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

    /// A packet arrived at its destination.
    pub(super) fn on_delivered(&mut self, now: Time, at: Node, packet: PacketHeader) {
        if let Routers::Protocols { routers, timers } = self {
            let at = usize::from(at);
            routers[at].on_delivered(now, packet);
            timers[at] = routers[at].next_timer();
        }
    }

    pub(super) fn on_message_lost(
        &mut self,
        now: Time,
        at: Node,
        neighbour: Node,
        message: &Message,
    ) {
        if let Routers::Protocols { routers, .. } = self {
            routers[usize::from(at)].on_message_lost(now, neighbour, message);
        }
    }

    pub(super) fn on_link_break(
        &mut self,
        now: Time,
        at: Node,
        neighbour: Node,
        out: &mut Vec<(Node, Action)>,
    ) {
        if let Routers::Protocols { routers, timers } = self {
            let (timer, router) = (&mut timers[usize::from(at)], &mut routers[usize::from(at)]);
            run_router(at, timer, router, out, |router, out| {
                router.on_link_break(now, neighbour, out)
            });
        }
    }

    /// The stations moved.
    pub(super) fn on_moved(&mut self, now: Time, reach: &dyn Reachability) {
        match self {
            Routers::Oracle(tables) => tables.clear(),
            Routers::Association { access_points, stations } => {
                for (station, own) in stations.iter_mut().enumerate() {
                    if access_points.contains(&station) {
                        continue;
                    }
                    let reached = |point: &&usize| {
                        reach.success(station, **point).min(reach.success(**point, station))
                            >= LEAST_SUCCESS
                    };
                    let heard = access_points.iter().filter(reached);
                    let db = |point: &usize| (*point as Node, reach.snr_db(*point, station));
                    own.update(now, heard.map(db));
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
                stations.iter().map(Association::completes_at).min().unwrap_or(Time::NEVER)
            }
            Routers::Protocols { timers, .. } => {
                timers.iter().copied().min().unwrap_or(Time::NEVER)
            }
        }
    }

    /// Runs the timer of one node whose timer is due; `None` without such a node.
    pub(super) fn on_timer(&mut self, now: Time) -> Option<Vec<(Node, Action)>> {
        match self {
            Routers::Oracle(_) => None,
            Routers::Association { access_points, stations } => {
                let node = stations.iter().position(|own| own.completes_at() <= now)?;
                stations[node].complete();
                let release = |to: &usize| (node as Node, Action::SendBuffered { to: *to as Node });
                Some(access_points.iter().map(release).collect())
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

/// The oracle's routing table towards a target: a number and its stations.
fn table<'a>(
    tables: &'a mut Vec<Option<Arc<Table>>>,
    (number, ends): (usize, &[usize]),
    view: &dyn Tables,
) -> &'a Table {
    if tables.len() <= number {
        tables.resize(number + 1, None);
    }
    tables[number].get_or_insert_with(|| view.table(ends))
}
