//! Analysis of captures: columns of subflows and of connections.

use crate::tables::Dicts;
use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use tables::{Samples, Scalar, Sink};
use units::{Span, Time};
use wire::capture::{Capture, Direction, Error, Part};

#[pyfunction]
pub(crate) fn read_capture(
    py: Python<'_>,
    path: PathBuf,
    bin_s: f64,
    from_s: f64,
    to_s: Option<f64>,
    delays: bool,
) -> PyResult<Bound<'_, PyDict>> {
    let file = File::open(&path)?;
    let (from, to) = (Span::from_seconds(from_s), to_s.map(Span::from_seconds));
    let part = Part { from, to, delays };
    let read = py.detach(|| wire::capture::read(file, Span::from_seconds(bin_s), part));
    let capture = read.map_err(|error| match error {
        Error::NotACapture => PyValueError::new_err("it is neither pcapng nor pcap"),
        Error::Unreadable => PyValueError::new_err("it cannot be read"),
    })?;
    let all = PyDict::new(py);
    all.set_item("packets", capture.packets)?;
    all.set_item("other_packets", capture.others)?;
    all.set_item("malformed_packets", capture.malformed)?;
    all.set_item("first_s", capture.first.seconds())?;
    all.set_item("duration_s", capture.last.since(capture.first).seconds())?;
    all.set_item("broken", capture.broken.as_ref().map(ToString::to_string))?;
    let names: BTreeMap<String, &String> =
        capture.names.iter().map(|(address, name)| (address.to_string(), name)).collect();
    all.set_item("names", names)?;
    let mut to = Dicts::into(&all);
    tables::captured_flows(to.at("flows")?, &capture.connections)?;
    subflows(to.at("paths")?, &capture)?;
    series(to.at("series")?, &capture)?;
    if delays {
        let rows = capture.subflows.iter().map(|row| kept(py, row.main(), capture.first));
        all.set_item("delays", rows.collect::<PyResult<Vec<_>>>()?)?;
    }
    Ok(all)
}

/// Delays and retransmissions of a direction, in seconds since the first packet of the capture.
fn kept<'py>(py: Python<'py>, of: &Direction, first: Time) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    let sent: Vec<f64> = of.delays.iter().map(|(at, _)| at.since(first).seconds()).collect();
    let took: Vec<f64> = of.delays.iter().map(|(_, took)| took.seconds()).collect();
    let again: Vec<f64> = of.repeats.iter().map(|at| at.since(first).seconds()).collect();
    row.set_item("sent_s", sent.into_pyarray(py))?;
    row.set_item("rtt_s", took.into_pyarray(py))?;
    row.set_item("repeated_s", again.into_pyarray(py))?;
    Ok(row)
}

fn subflows(to: &mut Dicts<'_>, capture: &Capture) -> PyResult<()> {
    let mut flows = vec![0u32; capture.subflows.len()];
    for (number, connection) in (0..).zip(&capture.connections) {
        for &subflow in &connection.subflows {
            flows[subflow] = number;
        }
    }
    tables::captured_paths(to, &capture.subflows, &flows, capture.first)
}

/// IP bytes of data packets, one row for each bin, one column for each subflow.
fn series(to: &mut Dicts<'_>, capture: &Capture) -> PyResult<()> {
    let bins = capture.subflows.iter().map(|row| row.main().binned.len()).max().unwrap_or(0);
    let mut bytes = vec![0.0; bins * capture.subflows.len()];
    for (column, row) in capture.subflows.iter().enumerate() {
        for (bin, count) in row.main().binned.iter().enumerate() {
            bytes[bin * capture.subflows.len() + column] = *count as f64;
        }
    }
    let times: Vec<f64> = (0..bins).map(|bin| bin as f64 * capture.bin.seconds()).collect();
    tables::captured_bins(to, Samples { of: &(times, bytes), rows: bins })?;
    to.scalar("bin_s", Scalar::Number(capture.bin.seconds()))
}
