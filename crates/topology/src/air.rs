//! What stations of a plan share: which links are lanes of it, and what is counted on each.

use crate::Stream;
use crate::ground::trajectories;
use crate::media::{Shared, build, place, snr_db};
use network::adhoc::{Passed, Route, Sent, Tally};
use network::routing::Node;
use network::{Counters, Outcome, Packet, Place, StationCounters, Trajectory};
use scenario::{Plan, PlanStation};
use units::{Span, Time};

/// A link that is a part of a medium, or a user's own one.
#[derive(Clone, Copy, Debug)]
struct Lane {
    /// Index of the medium, and its lane there.
    medium: u32,
    lane: u32,
    /// The link of the plan that it is.
    planned: u32,
}

/// A medium with its randomness.
struct Channel<F> {
    shared: Shared<F>,
    stream: Stream,
    /// The number of each of its lanes among all.
    lanes: Vec<u32>,
    /// From which station to which each leads, or from the first and to the first of several.
    ends: Vec<(Node, Node)>,
    stations: Vec<PlanStation>,
    /// When it is looked next where its stations are, if any of them moves.
    look: Time,
}

/// What came out of a medium.
#[derive(Clone, Copy, Debug)]
pub enum Aired<F> {
    /// A packet goes on from the end of a lane.
    Out(F),
    /// The sender of a lane is done with a packet, which is `lost` if it never comes out.
    Done {
        /// Number of the lane.
        lane: u32,
        /// The packet.
        frame: F,
        /// Whether it never comes out.
        lost: bool,
    },
    /// A packet whose sender was done with it never comes out.
    Lost(F),
}

/// What routing did for one lane, over all of a run.
#[derive(Clone, Copy, Debug)]
pub struct Routed {
    /// Number of the lane.
    pub lane: u32,
    /// The link of the plan that it is.
    pub planned: u32,
    /// The medium.
    pub medium: u32,
    /// Which user's it is, if users have links of their own.
    pub user: u32,
    /// What was counted.
    pub tally: Tally,
    /// Whether places allow a way now, whatever routing knows.
    pub connected: bool,
}

/// What stations of a plan share.
pub struct Air<F> {
    channels: Vec<Channel<F>>,
    lanes: Vec<Lane>,
    /// For each link of the plan its first lane, and how many it has.
    of_link: Vec<(u32, u32)>,
    /// What has happened on each lane since the start.
    counts: Vec<Counters>,
    /// Packets in each lane.
    inside: Vec<u64>,
    /// Where the nodes of the plan are.
    ground: Vec<Trajectory>,
    /// How often that is looked at.
    step: Span,
}

impl<F> Default for Air<F> {
    fn default() -> Self {
        Air {
            channels: Vec::new(),
            lanes: Vec::new(),
            of_link: Vec::new(),
            counts: Vec::new(),
            inside: Vec::new(),
            ground: Vec::new(),
            step: Span::ZERO,
        }
    }
}

impl<F: Packet> Air<F> {
    /// What stations of `plan` share in the run with `seed`.
    pub fn new(plan: &Plan, seed: u64) -> Self {
        let mut air = Air {
            ground: trajectories(plan, seed),
            step: plan.area.map_or(Span::ZERO, |area| area.step),
            ..Air::default()
        };
        let mut ways = vec![Vec::new(); plan.media.len()];
        let mut own = vec![Vec::new(); plan.media.len()];
        for (planned, link) in plan.links.iter().enumerate() {
            air.of_link.push((air.lanes.len() as u32, link.air.len() as u32));
            for ends in &link.air {
                own[ends.medium].push(air.lanes.len() as u32);
                let (medium, lane) = (ends.medium as u32, ways[ends.medium].len() as u32);
                air.lanes.push(Lane { medium, lane, planned: planned as u32 });
                ways[ends.medium].push(ends.clone());
            }
        }
        for ((planned, ways), lanes) in plan.media.iter().zip(ways).zip(own) {
            let mut stream = Stream::new(seed, "medium", &planned.name, 0);
            let shared = build(planned, &ways, &air.ground, &mut stream);
            let stations = planned.stations.clone();
            let moves = |own: &PlanStation| own.node.is_some_and(|it| !air.ground[it].is_still());
            let look = match stations.iter().any(moves) {
                true => Time::ZERO + air.step,
                false => Time::NEVER,
            };
            let ends = ways.iter().map(|way| (way.from[0] as Node, way.to[0] as Node)).collect();
            air.channels.push(Channel { shared, stream, lanes, ends, stations, look });
        }
        air.counts = vec![Counters::default(); air.lanes.len()];
        air.inside = vec![0; air.lanes.len()];
        air
    }

    /// How many media there are.
    pub fn media(&self) -> u32 {
        self.channels.len() as u32
    }

    /// The lane that a link of the plan is for a user.
    pub fn lane_of(&self, planned: usize, user: u32) -> Option<u32> {
        let (first, count) = self.of_link[planned];
        (count > 0).then(|| first + user % count)
    }

    /// The medium of a lane.
    pub fn medium_of(&self, lane: u32) -> u32 {
        self.lanes[lane as usize].medium
    }

    /// When `medium` is to be woken next.
    pub fn next_wake(&self, medium: u32) -> Time {
        let Channel { shared, look, .. } = &self.channels[medium as usize];
        let next = match shared {
            Shared::Medium(medium) => medium.next_wake(),
            Shared::Adhoc(adhoc) => adhoc.next_wake(),
            Shared::Bus(bus) => bus.next_wake(),
            Shared::Cell(cell, _) => cell.next_wake(),
        };
        next.min(*look)
    }

    /// A packet comes to a lane; returns whether its station has room for it.
    pub fn offer(&mut self, now: Time, lane: u32, frame: F) -> bool {
        let Lane { medium, lane: own, .. } = self.lanes[lane as usize];
        let Channel { shared, stream, .. } = &mut self.channels[medium as usize];
        let taken = match shared {
            Shared::Medium(medium) => medium.offer(now, own, frame, stream),
            Shared::Adhoc(adhoc) => adhoc.offer(now, own, frame, stream),
            Shared::Bus(bus) => bus.offer(now, own, frame, stream),
            Shared::Cell(cell, _) => cell.offer(now, own, frame, stream),
        };
        let counts = &mut self.counts[lane as usize];
        counts.arrived += 1;
        counts.queue_drops += u64::from(!taken);
        self.inside[lane as usize] += u64::from(taken);
        taken
    }

    /// Does what is due on `medium` at `now`, and says what came of it.
    pub fn wake(&mut self, now: Time, medium: u32, aired: &mut Vec<Aired<F>>) {
        let Air { channels, counts, inside, ground, step, .. } = self;
        let Channel { shared, stream, lanes, stations, look, .. } = &mut channels[medium as usize];
        if *look <= now {
            *look = *look + *step;
            let places = stations.iter().map(|own| place(own, ground, now));
            move_to(shared, now, places);
        }
        let mut note = |passed: Passed<F>| aired.push(book(passed, lanes, counts, inside));
        match shared {
            Shared::Medium(medium) => {
                medium.wake(now, stream);
                medium.outcomes().map(passed).for_each(note);
            }
            Shared::Adhoc(adhoc) => {
                adhoc.wake(now, stream);
                adhoc.passed().for_each(&mut note);
            }
            Shared::Bus(bus) => {
                bus.wake(now, stream);
                bus.outcomes().map(passed).for_each(note);
            }
            Shared::Cell(cell, _) => {
                cell.wake(now, stream);
                cell.outcomes().map(passed).for_each(note);
            }
        }
    }

    /// Packets inside all media.
    pub fn carried(&self) -> u64 {
        self.inside.iter().sum()
    }

    /// For each lane: the link of the plan, what has happened there, and packets in it.
    pub fn lanes(&self) -> impl Iterator<Item = (usize, Counters, u64)> {
        let rows = self.lanes.iter().zip(&self.counts).zip(&self.inside);
        rows.map(|((lane, counts), inside)| (lane.planned as usize, *counts, *inside))
    }

    /// For each station of each medium what it has counted, and packets in its queue.
    pub fn stations(&self) -> impl Iterator<Item = (StationCounters, u32)> {
        self.channels.iter().flat_map(|channel| {
            let row = |station| match &channel.shared {
                Shared::Medium(medium) => (medium.counters(station), medium.backlog(station)),
                Shared::Adhoc(adhoc) => (adhoc.counters(station), adhoc.backlog(station)),
                Shared::Bus(bus) => (bus.counters(station), bus.backlog(station)),
                Shared::Cell(cell, _) => (cell.counters(station), cell.backlog(station)),
            };
            (0..channel.stations.len()).map(row)
        })
    }

    /// Where the nodes of the plan are at a time.
    pub fn places(&self, now: Time) -> impl Iterator<Item = Place> {
        self.ground.iter().map(move |node| node.at(now))
    }

    /// What routing has done for each lane on a medium where places matter, with routing or without.
    pub fn routed(&self) -> impl Iterator<Item = Routed> {
        self.lanes.iter().zip(0..).filter_map(|(own, lane)| {
            let channel = &self.channels[own.medium as usize];
            let (tally, connected) = match &channel.shared {
                Shared::Adhoc(adhoc) => (adhoc.tally(own.lane), adhoc.connected(own.lane)),
                Shared::Medium(medium) if medium.has_radio() => {
                    let (from, to) = channel.ends[own.lane as usize];
                    (Tally::default(), medium.linked(usize::from(from), usize::from(to)))
                }
                _ => return None,
            };
            let Lane { medium, planned, .. } = *own;
            let user = lane - self.of_link[planned as usize].0;
            Some(Routed { lane, planned, medium, user, tally, connected })
        })
    }

    /// The routes that packets of each lane took, and the number of the lane.
    pub fn routes(&self) -> impl Iterator<Item = (u32, Route)> {
        self.channels.iter().flat_map(|channel| {
            let routes = match &channel.shared {
                Shared::Adhoc(adhoc) => Some(adhoc.routes()),
                _ => None,
            };
            routes.into_iter().flatten().map(|route| (channel.lanes[route.way as usize], route))
        })
    }

    /// What each station has sent to each other one since the start, by medium; a broadcast has no receiver.
    pub fn sent(&self) -> impl Iterator<Item = (u32, Node, Option<Node>, Sent)> {
        self.channels.iter().zip(0..).flat_map(|(channel, medium)| {
            let routed = match &channel.shared {
                Shared::Adhoc(adhoc) => Some(adhoc.sent()),
                _ => None,
            };
            let lanes = if routed.is_some() { &[] } else { &channel.lanes[..] };
            let direct = lanes.iter().zip(&channel.ends).map(|(lane, (from, to))| {
                let bytes = self.counts[*lane as usize].carried_bytes;
                (*from, Some(*to), Sent { bytes, ..Sent::default() })
            });
            let all = routed.into_iter().flatten().chain(direct);
            all.map(move |(from, to, sent)| (medium, from, to, sent))
        })
    }

    /// How often a station of a medium has changed its access point or lost it.
    pub fn handovers(&self) -> impl Iterator<Item = u64> {
        self.channels.iter().flat_map(|channel| {
            let of = |station| match &channel.shared {
                Shared::Adhoc(adhoc) => adhoc.handovers(station),
                _ => 0,
            };
            (0..channel.stations.len()).map(of)
        })
    }
}

/// The stations of a medium are now elsewhere.
fn move_to<F: Packet>(shared: &mut Shared<F>, now: Time, places: impl Iterator<Item = Place>) {
    match shared {
        Shared::Medium(medium) => medium.place(places),
        Shared::Adhoc(adhoc) => adhoc.place(now, places),
        Shared::Cell(cell, Some((radio, by_place))) => {
            let mut places = places;
            let base = places.next().unwrap_or_default();
            let users = (1..).zip(places).zip(by_place).filter(|(_, by_place)| **by_place);
            for ((user, place), _) in users {
                cell.set_snr(now, user, snr_db(radio, base, place));
            }
        }
        Shared::Bus(_) | Shared::Cell(_, None) => {}
    }
}

/// What became of a packet, as of one that took several hops.
fn passed<F>(outcome: Outcome<F>) -> Passed<F> {
    match outcome {
        Outcome::Arrived { lane: way, frame, .. } => Passed::Arrived { way, frame },
        Outcome::Left { lane: way, frame, lost } => Passed::Left { way, frame, lost },
    }
}

/// Counts what became of a packet, and gives its lane the number that it has among all.
fn book<F: Packet>(
    passed: Passed<F>,
    lanes: &[u32],
    counts: &mut [Counters],
    inside: &mut [u64],
) -> Aired<F> {
    match passed {
        Passed::Arrived { way, frame } => {
            let lane = lanes[way as usize] as usize;
            counts[lane].carried_bytes += u64::from(frame.bytes());
            inside[lane] -= 1;
            Aired::Out(frame)
        }
        Passed::Left { way, frame, lost } => {
            let lane = lanes[way as usize];
            counts[lane as usize].losses += u64::from(lost);
            inside[lane as usize] -= u64::from(lost);
            Aired::Done { lane, frame, lost }
        }
        Passed::Lost { way, frame } => {
            let lane = lanes[way as usize] as usize;
            counts[lane].losses += 1;
            inside[lane] -= 1;
            Aired::Lost(frame)
        }
    }
}
