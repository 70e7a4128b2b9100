//! Builds the shared media of a plan.

use network::{Ends, Kind, Packet, Position, Rng, SharedMedium, Station, Trajectory};
use scenario::{PlanMedium, PlanStation};
use units::Time;

/// A medium of a plan with these links, and its nodes at their first positions.
pub(crate) fn build<P: Packet>(
    planned: &PlanMedium,
    links: &[Ends],
    nodes: &[Trajectory],
    rng: &mut dyn Rng,
) -> Box<dyn SharedMedium<P>> {
    let station = |own: &PlanStation| {
        let position = position(own, nodes, Time::ZERO);
        Station { position, ..own.settings.clone() }
    };
    let stations: Vec<_> = planned.stations.iter().map(station).collect();
    planned.kind.build(&stations, links, rng)
}

/// The position of a station at a time.
pub(crate) fn position(station: &PlanStation, nodes: &[Trajectory], now: Time) -> Position {
    match station.node {
        Some(node) => nodes[node].at(now),
        None => station.settings.position,
    }
}
