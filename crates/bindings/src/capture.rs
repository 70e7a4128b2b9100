//! Captures that are read: columns of subflows and of connections.

use crate::outcome::{columns, matrix};
use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::fs::File;
use std::path::PathBuf;
use units::Span;
use wire::capture::{Capture, Error, Subflow};

#[pyfunction]
pub(crate) fn read_capture(
    py: Python<'_>,
    path: PathBuf,
    bin_s: f64,
) -> PyResult<Bound<'_, PyDict>> {
    let file = File::open(&path)?;
    let read = py.detach(|| wire::capture::read(file, Span::from_seconds(bin_s)));
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
    all.set_item("flows", connections(py, &capture)?)?;
    all.set_item("paths", subflows(py, &capture)?)?;
    all.set_item("series", series(py, &capture)?)?;
    Ok(all)
}

fn connections<'py>(py: Python<'py>, capture: &Capture) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    let tokens =
        capture.connections.iter().map(|row| row.token.map(|token| format!("{token:08x}")));
    table.set_item("token", PyList::new(py, tokens)?)?;
    columns!(py, table, capture.connections,
        subflows: |row| row.subflows.len() as u64,
        acked_bytes: |row| row.acked_bytes,
        joins_proved: |row| row.proofs.0,
        joins_disproved: |row| row.proofs.1,
        addresses_announced: |row| row.announced,
        addresses_withdrawn: |row| row.withdrawn,
    );
    Ok(table)
}

fn subflows<'py>(py: Python<'py>, capture: &Capture) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    let mut flows = vec![0u32; capture.subflows.len()];
    for (number, connection) in (0..).zip(&capture.connections) {
        for &subflow in &connection.subflows {
            flows[subflow] = number;
        }
    }
    table.set_item("flow", flows.into_pyarray(py))?;
    let names = |end: fn(&Subflow) -> String| PyList::new(py, capture.subflows.iter().map(end));
    table.set_item("initiator", names(|row| row.initiator.to_string())?)?;
    table.set_item("responder", names(|row| row.responder.to_string())?)?;
    let first = capture.first;
    columns!(py, table, capture.subflows,
        multipath: |row| row.multipath,
        upward: |row| row.forth.payload_bytes >= row.back.payload_bytes,
        start_s: |row| row.first.since(first).seconds(),
        end_s: |row| row.last.since(first).seconds(),
        sent_packets: |row| row.main().data_packets,
        data_ip_bytes: |row| row.main().data_ip_bytes,
        payload_bytes: |row| row.main().payload_bytes,
        retransmits: |row| row.main().again_packets,
        retransmitted_bytes: |row| row.main().again_bytes,
        acked_bytes: |row| row.main().acked_bytes,
        rtt_s: |row| row.main().rtt_s,
    );
    Ok(table)
}

/// IP bytes of data packets, one row for each bin, one column for each subflow.
fn series<'py>(py: Python<'py>, capture: &Capture) -> PyResult<Bound<'py, PyDict>> {
    let bins = capture.subflows.iter().map(|row| row.main().binned.len()).max().unwrap_or(0);
    let mut bytes = vec![0.0; bins * capture.subflows.len()];
    for (column, row) in capture.subflows.iter().enumerate() {
        for (bin, count) in row.main().binned.iter().enumerate() {
            bytes[bin * capture.subflows.len() + column] = *count as f64;
        }
    }
    let all = PyDict::new(py);
    let times: Vec<f64> = (0..bins).map(|bin| bin as f64 * capture.bin.seconds()).collect();
    all.set_item("bin_s", capture.bin.seconds())?;
    all.set_item("t_s", times.into_pyarray(py))?;
    all.set_item("data_ip_bytes", matrix(py, &bytes, bins)?)?;
    Ok(all)
}
