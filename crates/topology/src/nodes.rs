//! Trajectories of the nodes of a plan.

use crate::Stream;
use network::{Highway, Position, RandomWaypoint, Trajectory, uniform_position};
use scenario::{Plan, PlanArea, PlanMoves, PlanNode};
use units::Time;

/// The trajectories of the nodes of `plan` in the run with `seed`, in its order. Each node has its
/// own random stream, a platoon one for all of its cars.
pub(crate) fn trajectories(plan: &Plan, seed: u64) -> Vec<Trajectory> {
    let Some(area) = plan.area else {
        return Vec::new();
    };
    let until = Time::from(plan.duration);
    let mut all: Vec<Trajectory> = Vec::new();
    for node in &plan.nodes {
        match &node.moves {
            PlanMoves::Highway(_) if node.member > 0 => {} // added with the leader of its platoon
            PlanMoves::Highway(own) => {
                let road = Highway {
                    length: area.width,
                    speed: own.speed,
                    gap: own.gap,
                    hold: own.hold,
                    reaction: own.reaction,
                    start_m: own.start,
                    y: own.lane.unwrap_or_default(),
                };
                let mut stream = Stream::new(seed, "platoon", &node.group, 0);
                all.extend(road.platoon(node.members as usize, until, &mut stream));
            }
            _ => all.push(trajectory(node, area, until, seed)),
        }
    }
    all
}

/// The trajectory of a node outside a platoon.
fn trajectory(node: &PlanNode, area: PlanArea, until: Time, seed: u64) -> Trajectory {
    let mut stream = Stream::new(seed, "node", &node.group, u64::from(node.member));
    match &node.moves {
        PlanMoves::At { place: (x, y) } => Trajectory::fixed(Position { x: *x, y: *y }),
        PlanMoves::Waypoint(own) => {
            let PlanArea { width, height, .. } = area;
            let (speed, pause, stationary) = (own.speed, own.pause, own.stationary);
            RandomWaypoint { width, height, speed, pause, stationary }
                .trajectory(until, &mut stream)
        }
        PlanMoves::Trace { start, legs } => {
            let position = |(x, y): (f64, f64)| Position { x, y };
            let legs = legs.iter().map(|leg| (Time::from(leg.at), position(leg.to), leg.speed));
            Trajectory::from_setdest(position(*start), &legs.collect::<Vec<_>>())
        }
        PlanMoves::Scattered | PlanMoves::Highway(_) => {
            Trajectory::fixed(uniform_position(area.width, area.height, &mut stream))
        }
    }
}
