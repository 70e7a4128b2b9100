//! An outcome as a dictionary of tables.

use crate::tables::{self, Samples};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use scenario::Plan;
use simulator::{Outcome, Series};
use topology::{NodeSeries, StationResult};

pub(crate) fn to_dict<'py>(
    py: Python<'py>,
    plan: &Plan,
    outcome: &Outcome,
) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("seed", outcome.seed)?;
    all.set_item("digest", format!("{:016x}", outcome.digest))?;
    all.set_item("events", outcome.events)?;
    all.set_item("packet_hops", outcome.packet_hops)?;
    all.set_item("simulated_s", outcome.simulated_s)?;
    all.set_item("conservation", conservation(py, outcome)?)?;
    all.set_item("flows", tables::flows(py, &outcome.flows, plan)?)?;
    all.set_item("paths", tables::paths(py, &outcome.paths)?)?;
    all.set_item("coding", tables::coding(py, &outcome.coding)?)?;
    all.set_item("links", tables::links(py, &outcome.links, plan)?)?;
    all.set_item("stations", stations(py, plan, &outcome.stations)?)?;
    all.set_item("ways", tables::ways(py, &outcome.ways, plan)?)?;
    all.set_item("routes", tables::routes(py, &outcome.routes, &route_names(plan, outcome))?)?;
    all.set_item("classes", tables::classes(py, &outcome.classes, plan)?)?;
    all.set_item("series", outcome.series.as_deref().map(|s| series(py, s)).transpose()?)?;
    let events = outcome.events_log.as_deref();
    let rows = events.map(|log| tables::events_log(py, &log.events, outcome, plan));
    all.set_item("events_log", rows.transpose()?)?;
    if let Some(ended) = events.and_then(|log| log.ended) {
        all.set_item("events_log_until_s", ended.seconds())?;
    }
    Ok(all)
}

fn conservation<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    let counts = outcome.conservation;
    table.set_item("sent", counts.sent)?;
    table.set_item("copied", counts.copied)?;
    table.set_item("delivered", counts.delivered)?;
    table.set_item("dropped", counts.dropped)?;
    table.set_item("in_flight", counts.in_flight)?;
    Ok(table)
}

/// The table of the stations of media, the same for simulator and emulator.
pub(crate) fn stations<'py>(
    py: Python<'py>,
    plan: &Plan,
    rows: &[StationResult],
) -> PyResult<Bound<'py, PyDict>> {
    let names = plan.media.iter().flat_map(|medium| {
        medium.stations.iter().map(|station| (medium.name.as_str(), station.name.as_str()))
    });
    tables::stations(py, rows, &names.collect::<Vec<_>>())
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

fn series<'py>(py: Python<'py>, series: &Series) -> PyResult<Bound<'py, PyDict>> {
    let rows = series.t_s.len();
    let all = PyDict::new(py);
    all.set_item("t_s", series.t_s.clone().into_pyarray(py))?;
    all.set_item("paths", tables::path_series(py, Samples { of: &series.paths, rows })?)?;
    all.set_item("internals", tables::internals(py, &series.internals)?)?;
    all.set_item("flows", tables::flow_series(py, Samples { of: series, rows })?)?;
    all.set_item("links", tables::link_series(py, Samples { of: &series.links, rows })?)?;
    let stations = Samples { of: &series.links.stations, rows };
    all.set_item("stations", tables::station_series(py, stations)?)?;
    all.set_item("nodes", node_series(py, &series.nodes, rows)?)?;
    Ok(all)
}

/// Positions of nodes, and their traffic.
fn node_series<'py>(py: Python<'py>, of: &NodeSeries, rows: usize) -> PyResult<Bound<'py, PyDict>> {
    let table = tables::places(py, Samples { of, rows })?;
    table.set_item("hops", tables::hops(py, Samples { of: &of.hops, rows })?)?;
    Ok(table)
}
