//! The tables of a run, and where they are in its result.

use crate::declared::{self as tables, Samples};
use crate::sink::{Scalar, Sink};
use scenario::Plan;
use simulator::{Outcome, Series};

/// Gives the outcome of a run to a sink.
///
/// # Errors
/// Those of the sink.
pub fn outcome<S: Sink>(to: &mut S, plan: &Plan, outcome: &Outcome) -> Result<(), S::Error> {
    to.scalar("seed", Scalar::Count(outcome.seed))?;
    to.scalar("digest", Scalar::Text(format!("{:016x}", outcome.digest)))?;
    to.scalar("events", Scalar::Count(outcome.events))?;
    to.scalar("packet_hops", Scalar::Count(outcome.packet_hops))?;
    to.scalar("simulated_s", Scalar::Number(outcome.simulated_s))?;
    conservation(to.at("conservation")?, outcome)?;
    tables::flows(to.at("flows")?, &outcome.flows, plan)?;
    tables::paths(to.at("paths")?, &outcome.paths)?;
    tables::coding(to.at("coding")?, &outcome.coding)?;
    tables::links(to.at("links")?, &outcome.links, plan)?;
    tables::stations(to.at("stations")?, &outcome.stations, &station_names(plan))?;
    tables::ways(to.at("ways")?, &outcome.ways, plan)?;
    tables::routes(to.at("routes")?, &outcome.routes, &route_names(plan, outcome))?;
    tables::classes(to.at("classes")?, &outcome.classes, plan)?;
    match outcome.series.as_deref() {
        Some(own) => series(to, own)?,
        None => to.missing("series")?,
    }
    let Some(log) = outcome.events_log.as_deref() else {
        return to.missing("events_log");
    };
    tables::events_log(to.at("events_log")?, &log.events, outcome, plan)?;
    match log.ended {
        Some(ended) => to.at("")?.scalar("events_log_until_s", Scalar::Number(ended.seconds())),
        None => Ok(()),
    }
}

fn conservation<S: Sink>(to: &mut S, outcome: &Outcome) -> Result<(), S::Error> {
    let counts = outcome.conservation;
    to.scalar("sent", Scalar::Count(counts.sent))?;
    to.scalar("copied", Scalar::Count(counts.copied))?;
    to.scalar("delivered", Scalar::Count(counts.delivered))?;
    to.scalar("dropped", Scalar::Count(counts.dropped))?;
    to.scalar("in_flight", Scalar::Count(counts.in_flight))
}

fn series<S: Sink>(to: &mut S, series: &Series) -> Result<(), S::Error> {
    let Series { nodes, links, .. } = series;
    let rows = series.t_s.len();
    to.times(&series.t_s)?;
    tables::path_series(to.at("series.paths")?, Samples { of: &series.paths, rows })?;
    tables::internals(to.at("series.internals")?, &series.internals)?;
    tables::flow_series(to.at("series.flows")?, Samples { of: series, rows })?;
    tables::link_series(to.at("series.links")?, Samples { of: links, rows })?;
    let stations = Samples { of: &links.stations, rows };
    tables::station_series(to.at("series.stations")?, stations)?;
    tables::places(to.at("series.nodes")?, Samples { of: nodes, rows })?;
    tables::hops(to.at("series.nodes.hops")?, Samples { of: &nodes.hops, rows })
}

/// For each row of the table of stations the names of the medium and of the station.
pub fn station_names(plan: &Plan) -> Vec<(&str, &str)> {
    let media = plan.media.iter().flat_map(|medium| {
        medium.stations.iter().map(|station| (medium.name.as_str(), station.name.as_str()))
    });
    media.collect()
}

/// The names of the stations of each route.
fn route_names(plan: &Plan, outcome: &Outcome) -> Vec<String> {
    let names = outcome.routes.iter().map(|row| {
        let medium = outcome.ways[row.way as usize].medium;
        let stations = &plan.media[medium as usize].stations;
        let names = row.nodes.iter().map(|node| stations[usize::from(*node)].name.as_str());
        names.collect::<Vec<_>>().join(" > ")
    });
    names.collect()
}
