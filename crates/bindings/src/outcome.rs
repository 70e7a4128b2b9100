//! An outcome as a dictionary of columns.

use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use scenario::Plan;
use simulator::{Outcome, Series};
use topology::{HopSeries, LinkResult, LinkSeries, NodeSeries, StationResult, StationSeries};

/// Sets `name: column` for each named field of the rows, as a NumPy array.
macro_rules! columns {
    ($py:ident, $table:ident, $rows:expr, $($name:ident: $value:expr),* $(,)?) => {
        $( $table.set_item(stringify!($name), $rows.iter().map($value).collect::<Vec<_>>().into_pyarray($py))?; )*
    };
}
pub(crate) use columns;

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
    all.set_item("flows", flows(py, plan, outcome)?)?;
    all.set_item("paths", paths(py, outcome)?)?;
    all.set_item("coding", coding(py, outcome)?)?;
    all.set_item("links", links(py, plan, &outcome.links)?)?;
    all.set_item("stations", stations(py, plan, &outcome.stations)?)?;
    all.set_item("ways", ways(py, plan, outcome)?)?;
    all.set_item("routes", routes(py, plan, outcome)?)?;
    all.set_item("classes", classes(py, plan, outcome)?)?;
    all.set_item("series", outcome.series.as_deref().map(|s| series(py, s)).transpose()?)?;
    all.set_item("events_log", events(py, plan, outcome)?)?;
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

fn flows<'py>(py: Python<'py>, plan: &Plan, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    let names = outcome.flows.iter().map(|row| plan.classes[row.class as usize].name.as_str());
    table.set_item("class", PyList::new(py, names.collect::<Vec<_>>())?)?;
    columns!(py, table, outcome.flows,
        user: |row| row.user,
        throughput_bps: |row| row.throughput_bps,
        goodput_bps: |row| row.goodput_bps,
        start_s: |row| row.start_s,
        completed_s: |row| row.completed_s,
        fct_s: |row| row.fct_s,
        held_bytes: |row| row.held_bytes,
        held_max_bytes: |row| row.held_max_bytes,
    );
    Ok(table)
}

fn paths<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    columns!(py, table, outcome.paths,
        flow: |row| row.flow,
        path: |row| row.path,
        throughput_bps: |row| row.throughput_bps,
        goodput_bps: |row| row.goodput_bps,
        sent_packets: |row| row.sent_packets,
        lost_packets: |row| row.lost_packets,
        loss: |row| row.lost_packets as f64 / row.sent_packets as f64,
        echoed_packets: |row| row.echoed_packets,
        retransmits: |row| row.retransmits,
        timeouts: |row| row.timeouts,
        recoveries: |row| row.recoveries,
        marks: |row| row.marks,
        undone: |row| row.undone,
        probes: |row| row.probes,
        cwnd_segments: |row| row.cwnd_segments,
        srtt_s: |row| row.srtt_s,
        rto_s: |row| row.rto_s,
    );
    Ok(table)
}

fn coding<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    columns!(py, table, outcome.coding,
        flow: |row| row.flow,
        path: |row| row.path,
        arrived_packets: |row| row.arrived_packets,
        innovative_packets: |row| row.innovative_packets,
        decoded_segments: |row| row.decoded_segments,
        decoding_delay_s: |row| row.decoding_delay_s,
        asked: |row| row.asked,
        noise: |row| row.noise,
        congestion: |row| row.congestion,
    );
    Ok(table)
}

/// The table of links, the same for every world.
pub(crate) fn links<'py>(
    py: Python<'py>,
    plan: &Plan,
    rows: &[LinkResult],
) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    let names = plan.links.iter().map(|link| link.name.as_str());
    table.set_item("name", PyList::new(py, names.collect::<Vec<_>>())?)?;
    columns!(py, table, rows,
        copies: |row| row.copies,
        arrived_packets: |row| row.arrived_packets,
        dropped_packets: |row| row.dropped_packets,
        lost_packets: |row| row.lost_packets,
        marked_packets: |row| row.marked_packets,
        loss: |row| (row.dropped_packets + row.lost_packets) as f64 / row.arrived_packets as f64,
        throughput_bps: |row| row.throughput_bps,
        utilisation: |row| row.utilisation,
        queue_packets: |row| row.queue_packets,
        queue_delay_p50_s: |row| row.queue_delay_s[0],
        queue_delay_p95_s: |row| row.queue_delay_s[1],
        queue_delay_p99_s: |row| row.queue_delay_s[2],
    );
    Ok(table)
}

/// The table of the stations of media, the same for every world.
pub(crate) fn stations<'py>(
    py: Python<'py>,
    plan: &Plan,
    rows: &[StationResult],
) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    let all = || {
        let media = plan.media.iter();
        media.flat_map(|medium| medium.stations.iter().map(move |station| (medium, station)))
    };
    let media: Vec<_> = all().map(|(medium, _)| medium.name.as_str()).collect();
    let names: Vec<_> = all().map(|(_, station)| station.name.as_str()).collect();
    table.set_item("medium", PyList::new(py, media)?)?;
    table.set_item("name", PyList::new(py, names)?)?;
    columns!(py, table, rows,
        offered_packets: |row| row.offered_packets,
        dropped_packets: |row| row.dropped_packets,
        attempts: |row| row.attempts,
        unanswered: |row| row.unanswered,
        failed_packets: |row| row.failed_packets,
        acknowledged_packets: |row| row.acknowledged_packets,
        airtime: |row| row.airtime,
        queue_packets: |row| row.queue_packets,
        empty: |row| row.empty,
        handovers: |row| row.handovers,
    );
    Ok(table)
}

/// The table of links over media where places matter.
fn ways<'py>(py: Python<'py>, plan: &Plan, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    let names = outcome.ways.iter().map(|row| plan.links[row.link as usize].name.as_str());
    table.set_item("link", PyList::new(py, names.collect::<Vec<_>>())?)?;
    let media = outcome.ways.iter().map(|row| plan.media[row.medium as usize].name.as_str());
    table.set_item("medium", PyList::new(py, media.collect::<Vec<_>>())?)?;
    columns!(py, table, outcome.ways,
        user: |row| row.user,
        connected: |row| row.connected,
        unreachable_packets: |row| row.unreachable_packets,
        route_changes: |row| row.route_changes,
    );
    Ok(table)
}

/// The routes that packets took, with the names of the stations.
fn routes<'py>(py: Python<'py>, plan: &Plan, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    let nodes = outcome.routes.iter().map(|row| {
        let medium = outcome.ways[row.way as usize].medium;
        let stations = &plan.media[medium as usize].stations;
        let names = row.nodes.iter().map(|node| stations[usize::from(*node)].name.as_str());
        names.collect::<Vec<_>>().join(" > ")
    });
    table.set_item("nodes", PyList::new(py, nodes.collect::<Vec<_>>())?)?;
    columns!(py, table, outcome.routes,
        way: |row| row.way,
        packets: |row| row.packets,
        first_s: |row| row.first_s,
        last_s: |row| row.last_s,
    );
    Ok(table)
}

fn classes<'py>(py: Python<'py>, plan: &Plan, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    let names = plan.classes.iter().map(|class| class.name.as_str());
    table.set_item("name", PyList::new(py, names.collect::<Vec<_>>())?)?;
    columns!(py, table, outcome.classes,
        rtt_mean_s: |row| row.rtt_mean_s,
        rtt_p50_s: |row| row.rtt_s[0],
        rtt_p95_s: |row| row.rtt_s[1],
        rtt_p99_s: |row| row.rtt_s[2],
        cwnd_p05_segments: |row| row.cwnd_segments[0],
        cwnd_p50_segments: |row| row.cwnd_segments[1],
        cwnd_p95_segments: |row| row.cwnd_segments[2],
        completed_flows: |row| row.completed_flows,
        fct_mean_s: |row| row.fct_mean_s,
        fct_p50_s: |row| row.fct_s[0],
        fct_p95_s: |row| row.fct_s[1],
        fct_p99_s: |row| row.fct_s[2],
    );
    Ok(table)
}

fn series<'py>(py: Python<'py>, series: &Series) -> PyResult<Bound<'py, PyDict>> {
    let rows = series.t_s.len();
    let all = PyDict::new(py);
    all.set_item("t_s", series.t_s.clone().into_pyarray(py))?;
    let paths = PyDict::new(py);
    paths.set_item("cwnd_segments", matrix(py, &series.paths.cwnd_segments, rows)?)?;
    paths.set_item("ssthresh_segments", matrix(py, &series.paths.ssthresh_segments, rows)?)?;
    paths.set_item("srtt_s", matrix(py, &series.paths.srtt_s, rows)?)?;
    paths.set_item("arrived_bytes", matrix(py, &series.paths.arrived_bytes, rows)?)?;
    paths.set_item("taken_bytes", matrix(py, &series.paths.taken_bytes, rows)?)?;
    paths.set_item("rto_s", matrix(py, &series.paths.rto_s, rows)?)?;
    paths.set_item("sent_packets", matrix(py, &series.paths.sent_packets, rows)?)?;
    all.set_item("paths", paths)?;
    let flows = PyDict::new(py);
    flows.set_item("held_bytes", matrix(py, &series.held_bytes, rows)?)?;
    all.set_item("flows", flows)?;
    all.set_item("links", link_series(py, &series.links, rows)?)?;
    all.set_item("stations", station_series(py, &series.links.stations, rows)?)?;
    all.set_item("nodes", node_series(py, &series.nodes, rows)?)?;
    Ok(all)
}

/// Where nodes are, and what they send.
fn node_series<'py>(
    py: Python<'py>,
    series: &NodeSeries,
    rows: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let nodes = PyDict::new(py);
    nodes.set_item("x_m", matrix(py, &series.x_m, rows)?)?;
    nodes.set_item("y_m", matrix(py, &series.y_m, rows)?)?;
    let hops = PyDict::new(py);
    let HopSeries { sample, medium, from, to, bytes, messages } = &series.hops;
    hops.set_item("sample", sample.clone().into_pyarray(py))?;
    hops.set_item("medium", medium.clone().into_pyarray(py))?;
    hops.set_item("from", from.clone().into_pyarray(py))?;
    hops.set_item("to", to.clone().into_pyarray(py))?;
    hops.set_item("bytes", bytes.clone().into_pyarray(py))?;
    hops.set_item("messages", messages.clone().into_pyarray(py))?;
    nodes.set_item("hops", hops)?;
    Ok(nodes)
}

/// The matrices over links, the same for every world.
pub(crate) fn link_series<'py>(
    py: Python<'py>,
    series: &LinkSeries,
    rows: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let links = PyDict::new(py);
    links.set_item("queue_packets", matrix(py, &series.queue_packets, rows)?)?;
    links.set_item("dropped_packets", matrix(py, &series.dropped_packets, rows)?)?;
    Ok(links)
}

/// The matrices over stations, the same for every world.
pub(crate) fn station_series<'py>(
    py: Python<'py>,
    series: &StationSeries,
    rows: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let stations = PyDict::new(py);
    stations.set_item("queue_packets", matrix(py, &series.queue_packets, rows)?)?;
    stations.set_item("attempts", matrix(py, &series.attempts, rows)?)?;
    stations.set_item("unanswered", matrix(py, &series.unanswered, rows)?)?;
    stations.set_item("failed_packets", matrix(py, &series.failed_packets, rows)?)?;
    Ok(stations)
}

/// Values that are stored row by row as a matrix of so many rows.
pub(crate) fn matrix<'py>(
    py: Python<'py>,
    values: &[f64],
    rows: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let columns = values.len().checked_div(rows).unwrap_or(0);
    values.to_vec().into_pyarray(py).reshape([rows, columns])
}

/// The trace as columns; `None` if it was not asked for.
fn events<'py>(
    py: Python<'py>,
    plan: &Plan,
    outcome: &Outcome,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(log) = outcome.events_log.as_deref() else {
        return Ok(None);
    };
    let table = PyDict::new(py);
    table
        .set_item("t_s", log.iter().map(|e| e.at.seconds()).collect::<Vec<_>>().into_pyarray(py))?;
    table.set_item("kind", PyList::new(py, log.iter().map(|event| event.kind.word()))?)?;
    columns!(py, table, log,
        flow: |event| outcome.paths[event.path as usize].flow,
        path: |event| outcome.paths[event.path as usize].path,
    );
    let link = |event: &simulator::Event| {
        event.link.map(|link| plan.links[outcome.planned[link as usize] as usize].name.as_str())
    };
    table.set_item("link", PyList::new(py, log.iter().map(link))?)?;
    Ok(Some(table))
}
