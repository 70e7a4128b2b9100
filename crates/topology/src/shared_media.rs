//! The shared media of a plan: which links are parts of them, and what happens on each.

use crate::Stream;
use crate::media::{build, position};
use crate::nodes::trajectories;
use network::routing::Node;
use network::{
    Counters, Ends, HopCounters, Outcome, Packet, Position, Route, RoutingCounters, SharedMedium,
    StationCounters, Trajectory,
};
use scenario::{Plan, PlanStation};
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

/// A medium with its randomness.
struct Entry<P> {
    medium: Box<dyn SharedMedium<P>>,
    stream: Stream,
    /// For each of its links the number among all medium links.
    links: Vec<u32>,
    /// The same links' ends.
    ends: Vec<Ends>,
    stations: Vec<PlanStation>,
    /// When its stations are placed next; never if none of them moves.
    moves_at: Time,
}

/// What was counted on one medium link since the start, and what is there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkState {
    /// Index of the link in the plan.
    pub(crate) planned: usize,
    /// What has happened.
    pub(crate) counters: Counters,
    /// Packets inside.
    pub(crate) inside: u64,
}

/// What routing did for one medium link since the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoutedLink {
    /// Number of the medium link.
    pub(crate) link: u32,
    /// Index of the link in the plan.
    pub(crate) planned: u32,
    /// Index of the medium.
    pub(crate) medium: u32,
    /// Which user's link it is, if users have links of their own.
    pub(crate) user: u32,
    /// What was counted; nothing without routing.
    pub(crate) counters: RoutingCounters,
    /// Whether places allow a route now, whatever routing knows.
    pub(crate) connected: bool,
}

/// The shared media of a plan. Medium links are numbered over all media.
pub struct SharedMedia<P> {
    media: Vec<Entry<P>>,
    links: Vec<MediumLink>,
    /// For each link of the plan its first medium link, and how many it has.
    of_planned: Vec<(u32, u32)>,
    states: Vec<LinkState>,
    /// Where the nodes of the plan are.
    nodes: Vec<Trajectory>,
    /// How often stations that move are placed.
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
        // For each medium its links: their numbers among all, and their ends.
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
            let medium = build(planned, &ends, &all.nodes, &mut stream);
            let stations = planned.stations.clone();
            let moves = |own: &PlanStation| own.node.is_some_and(|it| !all.nodes[it].is_fixed());
            let moves_at = match stations.iter().any(moves) {
                true => Time::ZERO + all.step,
                false => Time::NEVER,
            };
            all.media.push(Entry { medium, stream, links, ends, stations, moves_at });
        }
        all
    }

    /// How many media there are.
    pub fn count(&self) -> u32 {
        self.media.len() as u32
    }

    /// The medium link of a user on a link of the plan, if that is a part of a medium.
    pub fn link_of(&self, planned: usize, user: u32) -> Option<u32> {
        let (first, count) = self.of_planned[planned];
        (count > 0).then(|| first + user % count)
    }

    /// The medium of a medium link.
    pub fn medium_of(&self, link: u32) -> u32 {
        self.links[link as usize].medium
    }

    /// When `medium` is to be woken next.
    pub fn next_wake(&self, medium: u32) -> Time {
        let Entry { medium, moves_at, .. } = &self.media[medium as usize];
        medium.next_wake().min(*moves_at)
    }

    /// A packet comes to a medium link. Returns whether its first station takes it.
    pub fn offer(&mut self, now: Time, link: u32, packet: P) -> bool {
        let MediumLink { medium, own, .. } = self.links[link as usize];
        let Entry { medium, stream, .. } = &mut self.media[medium as usize];
        let taken = medium.offer(now, own, packet, stream);
        let LinkState { counters, inside, .. } = &mut self.states[link as usize];
        counters.arrived += 1;
        counters.queue_drops += u64::from(!taken);
        *inside += u64::from(taken);
        taken
    }

    /// Does what is due on `medium` at `now`, and adds its outcomes to `outcomes`, with the numbers
    /// of medium links.
    pub fn wake(&mut self, now: Time, medium: u32, outcomes: &mut Vec<Outcome<P>>) {
        let SharedMedia { media, states, nodes, step, .. } = self;
        let Entry { medium, stream, links, stations, moves_at, .. } = &mut media[medium as usize];
        if *moves_at <= now {
            *moves_at = *moves_at + *step;
            let positions: Vec<_> = stations.iter().map(|own| position(own, nodes, now)).collect();
            medium.set_positions(now, &positions);
        }
        medium.wake(now, stream);
        outcomes.extend(medium.outcomes().map(|outcome| count(outcome, links, states)));
    }

    /// Packets inside all media.
    pub fn carried(&self) -> u64 {
        self.states.iter().map(|state| state.inside).sum()
    }

    /// The state of each medium link.
    pub(crate) fn links(&self) -> impl Iterator<Item = &LinkState> {
        self.states.iter()
    }

    /// For each station of each medium its counters, and the packets in its queue.
    pub(crate) fn stations(&self) -> impl Iterator<Item = (StationCounters, u32)> {
        self.media.iter().flat_map(|Entry { medium, stations, .. }| {
            let row = |station| (medium.counters(station), medium.backlog(station));
            (0..stations.len()).map(row)
        })
    }

    /// Where the nodes of the plan are at a time.
    pub fn positions(&self, now: Time) -> impl Iterator<Item = Position> {
        self.nodes.iter().map(move |node| node.at(now))
    }

    /// What routing has done for each medium link where places matter, with routing or without.
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

    /// The routes that packets took, with the numbers of medium links.
    pub(crate) fn routes(&self) -> impl Iterator<Item = Route> {
        self.media.iter().flat_map(|Entry { medium, links, .. }| {
            let routes = medium.multi_hop().map(|routing| routing.routes()).unwrap_or_default();
            routes.into_iter().map(|route| Route { link: links[route.link as usize], ..route })
        })
    }

    /// What each station has sent to each other one since the start, by medium; a broadcast has no
    /// receiver.
    pub(crate) fn hops(&self) -> impl Iterator<Item = (u32, Node, Option<Node>, HopCounters)> {
        self.media.iter().zip(0..).flat_map(|(entry, medium)| {
            let hops = match entry.medium.multi_hop() {
                Some(routing) => routing.hop_counters(),
                None => self.single_hops(entry),
            };
            hops.into_iter().map(move |(from, to, counters)| (medium, from, to, counters))
        })
    }

    /// What has gone over the links of a medium without routing.
    fn single_hops(&self, entry: &Entry<P>) -> Vec<(Node, Option<Node>, HopCounters)> {
        let hops = entry.links.iter().zip(&entry.ends).map(|(link, ends)| {
            let bytes = self.states[*link as usize].counters.carried_bytes;
            let (from, to) = (ends.from[0] as Node, ends.to[0] as Node);
            (from, Some(to), HopCounters { bytes, ..HopCounters::default() })
        });
        hops.collect()
    }

    /// How often each station of each medium has changed or lost its access point.
    pub(crate) fn handovers(&self) -> impl Iterator<Item = u64> {
        self.media.iter().flat_map(|Entry { medium, stations, .. }| {
            let routing = medium.multi_hop();
            let of = move |station| routing.map_or(0, |routing| routing.handovers(station));
            (0..stations.len()).map(of)
        })
    }
}

/// Counts an outcome of a medium with these links, and gives its link the number among all.
fn count<P: Packet>(outcome: Outcome<P>, links: &[u32], states: &mut [LinkState]) -> Outcome<P> {
    let number = |own: u32| links[own as usize];
    match outcome {
        Outcome::Arrived { link, at, packet } => {
            let link = number(link);
            let LinkState { counters, inside, .. } = &mut states[link as usize];
            counters.carried_bytes += u64::from(packet.bytes());
            *inside -= 1;
            Outcome::Arrived { link, at, packet }
        }
        Outcome::Left { link, packet, lost } => {
            let link = number(link);
            states[link as usize].count_lost(lost);
            Outcome::Left { link, packet, lost }
        }
        Outcome::Lost { link, packet } => {
            let link = number(link);
            states[link as usize].count_lost(true);
            Outcome::Lost { link, packet }
        }
    }
}

impl LinkState {
    fn count_lost(&mut self, lost: bool) {
        self.counters.losses += u64::from(lost);
        self.inside -= u64::from(lost);
    }
}
