//! The laws and RED's curve, for theory; and the schedulers, for lists.

use control::{Acked, AnyLaw, Cause, CongestionController, Law, PathView, Scheme, Settings, Shell};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use units::Packets;

type Vector<'py> = PyReadonlyArray1<'py, f64>;

#[pyfunction]
pub(crate) fn controllers(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let describe = |law: control::Described| {
        let row = PyDict::new(py);
        row.set_item("name", law.names[0])?;
        row.set_item("aliases", &law.names[1..])?;
        row.set_item("options", law.options)?;
        row.set_item("summary", law.summary)?;
        row.set_item("formula", law.formula)?;
        row.set_item("source", law.source)?;
        row.set_item("set_valued", law.set_valued)?;
        row.set_item("kernel", ports::PORTS.iter().any(|port| port.law == law.names[0]))?;
        row.set_item("law", law.names[0].parse::<Scheme>().is_err())?;
        Ok(row)
    };
    control::described().into_iter().chain(control::schemes::described()).map(describe).collect()
}

#[pyfunction]
pub(crate) fn schedulers(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let describe = |scheduler: &transport::scheduler::Described| {
        let row = PyDict::new(py);
        row.set_item("name", scheduler.names[0])?;
        row.set_item("aliases", &scheduler.names[1..])?;
        row.set_item("summary", scheduler.summary)?;
        row.set_item("source", scheduler.source)?;
        Ok(row)
    };
    transport::Scheduler::DESCRIBED.iter().map(describe).collect()
}

#[pyfunction]
pub(crate) fn drift<'py>(
    py: Python<'py>,
    controller: &str,
    windows: Vector<'py>,
    rtts_s: Vector<'py>,
    losses: Vector<'py>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    each(py, controller, &[windows, rtts_s, losses], |law, me, paths, loss| {
        control::drift(law, me, paths, loss)
    })
}

#[pyfunction]
pub(crate) fn growth<'py>(
    py: Python<'py>,
    controller: &str,
    windows: Vector<'py>,
    rtts_s: Vector<'py>,
    losses: Vector<'py>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    each(py, controller, &[windows, rtts_s, losses], |law, me, paths, _| law.growth(me, paths))
}

#[pyfunction]
pub(crate) fn backoff<'py>(
    py: Python<'py>,
    controller: &str,
    windows: Vector<'py>,
    rtts_s: Vector<'py>,
    losses: Vector<'py>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    each(py, controller, &[windows, rtts_s, losses], |law, me, paths, _| law.backoff(me, paths))
}

#[pyfunction]
pub(crate) fn window_after_loss(controller: &str, cwnd: f64, paths: usize) -> PyResult<f64> {
    if paths == 0 {
        return Err(PyValueError::new_err("paths is 0; a connection has at least one"));
    }
    let settings = Settings { initial_window: cwnd, initial_ssthresh: cwnd, ..Settings::default() };
    let mut shell = Shell::new(known(controller)?, settings, paths);
    for path in 0..paths {
        let sample = Acked { srtt: 0.1, ..Acked::default() };
        shell.on_ack(path, &sample);
    }
    shell.on_congestion(0, Cause::FastRetransmit);
    shell.on_recovered(0);
    Ok(shell.window(0).cwnd)
}

/// The law of a controller; `kernel:olia` is OLIA, as far as mathematics goes.
fn known(controller: &str) -> PyResult<AnyLaw> {
    let controller = controller.strip_prefix("kernel:").unwrap_or(controller);
    let unknown = |unknown: control::UnknownLaw| PyValueError::new_err(unknown.to_string());
    controller.parse().map_err(unknown)
}

/// Evaluates `formula` on every path, with windows, round-trip times and losses given and notes in
/// their steady state.
fn each<'py>(
    py: Python<'py>,
    controller: &str,
    given: &[Vector<'py>; 3],
    formula: impl Fn(&AnyLaw, usize, &[PathView], f64) -> f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let law = known(controller)?;
    let [windows, rtts, losses] = given.each_ref().map(|vector| vector.as_array());
    if windows.len() != rtts.len() || windows.len() != losses.len() {
        return Err(PyValueError::new_err(format!(
            "windows, rtts_s and losses have {}, {} and {} entries; they must have as many",
            windows.len(),
            rtts.len(),
            losses.len()
        )));
    }
    let view = |me: usize| PathView {
        cwnd: windows[me],
        srtt: rtts[me],
        note: law.steady_note(losses[me]),
        usable: true,
    };
    let paths: Vec<PathView> = (0..windows.len()).map(view).collect();
    let values = (0..paths.len()).map(|me| formula(&law, me, &paths, losses[me]));
    Ok(values.collect::<Vec<_>>().into_pyarray(py))
}

#[pyfunction]
#[pyo3(signature = (average_packets, *, min_th, max_th, max_p, gentle))]
pub(crate) fn red_drop_probability(
    average_packets: f64,
    min_th: f64,
    max_th: f64,
    max_p: f64,
    gentle: bool,
) -> f64 {
    network::Red {
        min: Packets(min_th),
        max: Packets(max_th),
        max_p,
        gentle,
        weight: 1.0,
        spacing: network::Spacing::Independent,
        ecn: false,
        limit: Packets(f64::INFINITY),
    }
    .curve(average_packets)
}
