//! The shared media of a plan, with their links and counters.

use crate::Stream;
use crate::media::{build, position};
use crate::nodes::trajectories;
use network::routing::Node;
use network::{
    Counters, Ends, HopCounters, Outcome, Packet, Position, Route, RoutingCounters, SharedMedium,
    StationCounters, Trajectory,
};
use scenario::{Plan, PlanMedium, PlanStation};
use units::{Span, Time};

/// A medium link: a link of the plan on a shared medium, of all users or of one.
#[derive(Clone, Copy, Debug)]
struct MediumLink {
    /// Index of the medium.
    medium: u32,
    /// Number of the link in its medium.
    own: u32,
    /// Index of the link in the plan.
    planned: u32,
}

/// A medium with its random stream.
struct MediumEntry<P> {
    medium: Box<dyn SharedMedium<P>>,
    stream: Stream,
    /// Numbers of its links among all medium links.
    links: Vec<u32>,
    /// Ends of its links.
    ends: Vec<Ends>,
    stations: Vec<PlanStation>,
    /// When the positions of its stations are updated next; never if none of them moves.
    moves_at: Time,
}

/// Counters of one medium link since the start, and packets on it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkState {
    /// Index of the link in the plan.
    pub(crate) planned: usize,
    /// Its counters.
    pub(crate) counters: Counters,
    /// Packets that were accepted and have not left yet.
    pub(crate) inside: u64,
}

/// Routing on one medium link since the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoutedLink {
    /// Number of the medium link.
    pub(crate) link: u32,
    /// Index of the link in the plan.
    pub(crate) planned: u32,
    /// Index of the medium.
    pub(crate) medium: u32,
    /// The number of the user, if the link is per user.
    pub(crate) user: u32,
    /// Its counters; zero without routing.
    pub(crate) counters: RoutingCounters,
    /// Whether the current positions allow a route, whether routing has found it or not.
    pub(crate) connected: bool,
}

/// The shared media of a plan. Medium links are numbered over all media.
pub struct SharedMedia<P> {
    media: Vec<MediumEntry<P>>,
    links: Vec<MediumLink>,
    /// For each link of the plan its first medium link, and the number of its medium links.
    of_planned: Vec<(u32, u32)>,
    states: Vec<LinkState>,
    /// Trajectories of the nodes of the plan.
    nodes: Vec<Trajectory>,
    /// Period with which positions are updated.
    step: Span,
}

impl<P> Default for SharedMedia<P> {
    fn default() -> Self {
        SharedMedia {
            media: Vec::new(),
            links: Vec::new(),
            of_planned: Vec::new(),
            states: Vec::new(),
            nodes: Vec::new(),
            step: Span::ZERO,
        }
    }
}

impl<P: Packet> SharedMedia<P> {
    /// The shared media of `plan` in the run with `seed`.
    pub fn new(plan: &Plan, seed: u64) -> Self {
        let mut all = SharedMedia {
            nodes: trajectories(plan, seed),
            step: plan.area.map_or(Span::ZERO, |area| area.step),
            ..SharedMedia::default()
        };
        // For each medium the numbers of its links among all, and their ends.
        let mut own: Vec<(Vec<u32>, Vec<Ends>)> = vec![Default::default(); plan.media.len()];
        for (planned, link) in plan.links.iter().enumerate() {
            all.of_planned.push((all.links.len() as u32, link.attachments.len() as u32));
            for attachment in &link.attachments {
                let (links, ends) = &mut own[attachment.medium];
                let (medium, own) = (attachment.medium as u32, links.len() as u32);
                links.push(all.links.len() as u32);
                ends.push(Ends { from: attachment.from.clone(), to: attachment.to.clone() });
                all.links.push(MediumLink { medium, own, planned: planned as u32 });
                all.states.push(LinkState { planned, ..LinkState::default() });
            }
        }
        for (planned, (links, ends)) in plan.media.iter().zip(own) {
            let mut stream = Stream::new(seed, "medium", &planned.name, 0);
            let mut medium = build(planned, &ends, &all.nodes, &mut stream);
            let alike = |other: &&PlanMedium| {
                (&other.kind, &other.stations) == (&planned.kind, &planned.stations)
            };
            if let Some(first) = plan.media[..all.media.len()].iter().position(|it| alike(&it))
                && let Some(common) = all.media[first].medium.common()
            {
                medium.share(&common);
            }
            let stations = planned.stations.clone();
            let moves = |own: &PlanStation| own.node.is_some_and(|it| !all.nodes[it].is_fixed());
            let moves_at = match stations.iter().any(moves) {
                true => Time::ZERO + all.step,
                false => Time::NEVER,
            };
            all.media.push(MediumEntry { medium, stream, links, ends, stations, moves_at });
        }
        all
    }

    /// Number of media.
    pub fn count(&self) -> u32 {
        self.media.len() as u32
    }

    /// The medium link of a user on a link of the plan, if that is over a medium.
    pub fn medium_link(&self, planned: usize, user: u32) -> Option<u32> {
        let (first, count) = self.of_planned[planned];
        (count > 0).then(|| first + user % count)
    }

    /// The medium of a medium link.
    pub fn medium_of(&self, link: u32) -> u32 {
        self.links[link as usize].medium
    }

    /// When `medium` must be woken next.
    pub fn next_wake(&self, medium: u32) -> Time {
        let MediumEntry { medium, moves_at, .. } = &self.media[medium as usize];
        medium.next_wake().min(*moves_at)
    }

    /// A packet arrives at a medium link. Returns whether its first station accepts it.
    pub fn offer(&mut self, now: Time, link: u32, packet: P) -> bool {
        let MediumLink { medium, own, .. } = self.links[link as usize];
        let MediumEntry { medium, stream, .. } = &mut self.media[medium as usize];
        let taken = medium.offer(now, own, packet, stream);
        let LinkState { counters, inside, .. } = &mut self.states[link as usize];
        counters.arrived += 1;
        counters.queue_drops += u64::from(!taken);
        *inside += u64::from(taken);
        taken
    }

    /// Runs the events of `medium` that are due at `now`, and puts its outcomes into `outcomes`,
    /// which is empty, with the medium's own numbers of links. [`SharedMedia::count_arrived`] or
    /// [`SharedMedia::count_left`] must be called for each.
    pub fn wake(&mut self, now: Time, medium: u32, outcomes: &mut Vec<Outcome<P>>) {
        let SharedMedia { media, nodes, step, .. } = self;
        let MediumEntry { medium, stream, stations, moves_at, .. } = &mut media[medium as usize];
        if *moves_at <= now {
            *moves_at = *moves_at + *step;
            let positions: Vec<_> = stations.iter().map(|own| position(own, nodes, now)).collect();
            medium.set_positions(now, &positions);
        }
        medium.wake(now, stream);
        let own = medium.outcomes();
        if !own.is_empty() {
            std::mem::swap(outcomes, own);
        }
    }

    /// Counts a packet that arrived over link `own` of `medium`.
    #[inline]
    pub fn count_arrived(&mut self, medium: u32, own: u32, packet: &P) {
        let link = self.media[medium as usize].links[own as usize];
        let LinkState { counters, inside, .. } = &mut self.states[link as usize];
        counters.carried_bytes += u64::from(packet.bytes());
        *inside -= 1;
    }

    /// Counts a packet that left the queue of link `own` of `medium`, or was lost after it. Returns
    /// the number of the link among all medium links.
    #[inline]
    pub fn count_left(&mut self, medium: u32, own: u32, lost: bool) -> u32 {
        let link = self.media[medium as usize].links[own as usize];
        let LinkState { counters, inside, .. } = &mut self.states[link as usize];
        counters.losses += u64::from(lost);
        *inside -= u64::from(lost);
        link
    }

    /// Packets that are on any medium.
    pub fn packets_inside(&self) -> u64 {
        self.states.iter().map(|state| state.inside).sum()
    }

    /// The state of each medium link.
    pub(crate) fn links(&self) -> impl Iterator<Item = &LinkState> {
        self.states.iter()
    }

    /// Counters and queue length of each station of each medium.
    pub(crate) fn stations(&self) -> impl Iterator<Item = (StationCounters, u32)> {
        self.media.iter().flat_map(|MediumEntry { medium, stations, .. }| {
            let row = |station| (medium.counters(station), medium.backlog(station));
            (0..stations.len()).map(row)
        })
    }

    /// The positions of the nodes of the plan at a time.
    pub fn positions(&self, now: Time) -> impl Iterator<Item = Position> {
        self.nodes.iter().map(move |node| node.at(now))
    }

    /// Routing on each medium link where positions matter, with a routing protocol or without.
    pub(crate) fn routed(&self) -> impl Iterator<Item = RoutedLink> {
        self.links.iter().zip(0..).filter_map(|(own, link)| {
            let MediumLink { medium, own, planned } = *own;
            let shared = &self.media[medium as usize].medium;
            let connected = shared.connected(own)?;
            let counters = shared.multi_hop().map(|routing| routing.routing_counters(own));
            let counters = counters.unwrap_or_default();
            let user = link - self.of_planned[planned as usize].0;
            Some(RoutedLink { link, planned, medium, user, counters, connected })
        })
    }

    /// The routes of packets, with the numbers of medium links.
    pub(crate) fn routes(&self) -> impl Iterator<Item = Route> {
        self.media.iter().flat_map(|MediumEntry { medium, links, .. }| {
            let routes = medium.multi_hop().map(|routing| routing.routes()).unwrap_or_default();
            routes.into_iter().map(|route| Route { link: links[route.link as usize], ..route })
        })
    }

    /// Traffic from each station to each other station since the start, by medium; a broadcast has
    /// no receiver.
    pub(crate) fn hops(&self) -> impl Iterator<Item = (u32, Node, Option<Node>, HopCounters)> {
        self.media.iter().zip(0..).flat_map(|(entry, medium)| {
            let hops = match entry.medium.multi_hop() {
                Some(routing) => routing.hop_counters(),
                None => self.single_hops(entry),
            };
            hops.into_iter().map(move |(from, to, counters)| (medium, from, to, counters))
        })
    }

    /// Traffic over the links of a medium without routing.
    fn single_hops(&self, entry: &MediumEntry<P>) -> Vec<(Node, Option<Node>, HopCounters)> {
        let hops = entry.links.iter().zip(&entry.ends).map(|(link, ends)| {
            let bytes = self.states[*link as usize].counters.carried_bytes;
            let (from, to) = (ends.from[0] as Node, ends.to[0] as Node);
            (from, Some(to), HopCounters { bytes, ..HopCounters::default() })
        });
        hops.collect()
    }

    /// For each station of each medium, how often it changed or lost its access point.
    pub(crate) fn handovers(&self) -> impl Iterator<Item = u64> {
        self.media.iter().flat_map(|MediumEntry { medium, stations, .. }| {
            let routing = medium.multi_hop();
            let of = move |station| routing.map_or(0, |routing| routing.handovers(station));
            (0..stations.len()).map(of)
        })
    }
}
