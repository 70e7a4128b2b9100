//! The laws and RED's curve, for theory; and lists of other kinds.

use crate::names::parsed;
use control::{
    Acked, AnyLaw, AnyScheme, AnySlowStart, Cause, CongestionController, Law, LawVisitor, Listed,
    PathView, Settings, Shell, Span,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use units::{Described, Packets};

type Vector<'py> = PyReadonlyArray1<'py, f64>;

#[pyfunction]
pub(crate) fn controllers(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let laws = AnyLaw::listed().into_iter().map(|law| describe(py, &law, true));
    laws.chain(AnyScheme::listed().into_iter().map(|other| describe(py, &other, false))).collect()
}

#[pyfunction]
pub(crate) fn slow_starts(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    AnySlowStart::listed().into_iter().map(|kind| describe(py, &kind, false)).collect()
}

fn describe<'py>(py: Python<'py>, kind: &Listed, law: bool) -> PyResult<Bound<'py, PyDict>> {
    let described = kind.described;
    let row = PyDict::new(py);
    row.set_item("name", described.names[0])?;
    row.set_item("aliases", [&described.names[1..], described.aliases].concat())?;
    row.set_item("options", &kind.options)?;
    row.set_item("examples", kind.texts().collect::<Vec<_>>())?;
    row.set_item("summary", described.summary)?;
    row.set_item("formula", described.formula)?;
    row.set_item("source", described.source)?;
    row.set_item("set_valued", described.set_valued)?;
    row.set_item("kernel", described.ported)?;
    row.set_item("law", law)?;
    Ok(row)
}

#[pyfunction]
pub(crate) fn schedulers(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    transport::Scheduler::DESCRIBED.iter().map(|kind| shown(py, kind)).collect()
}

#[pyfunction]
pub(crate) fn queues(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    network::Queue::KINDS.iter().map(|kind| shown(py, kind)).collect()
}

#[pyfunction]
pub(crate) fn media(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    scenario::described_media().iter().map(|kind| shown(py, kind)).collect()
}

fn shown<'py>(py: Python<'py>, kind: &Described) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("name", kind.names[0])?;
    row.set_item("aliases", &kind.names[1..])?;
    row.set_item("summary", kind.summary)?;
    row.set_item("source", kind.source)?;
    Ok(row)
}

#[pyfunction]
pub(crate) fn drift<'py>(
    py: Python<'py>,
    controller: &str,
    windows: Vector<'py>,
    rtts_s: Vector<'py>,
    losses: Vector<'py>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    each(py, controller, &[windows, rtts_s, losses], Formula::Drift)
}

#[pyfunction]
pub(crate) fn growth<'py>(
    py: Python<'py>,
    controller: &str,
    windows: Vector<'py>,
    rtts_s: Vector<'py>,
    losses: Vector<'py>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    each(py, controller, &[windows, rtts_s, losses], Formula::Growth)
}

#[pyfunction]
pub(crate) fn backoff<'py>(
    py: Python<'py>,
    controller: &str,
    windows: Vector<'py>,
    rtts_s: Vector<'py>,
    losses: Vector<'py>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    each(py, controller, &[windows, rtts_s, losses], Formula::Backoff)
}

#[pyfunction]
pub(crate) fn window_after_loss(controller: &str, cwnd: f64, paths: usize) -> PyResult<f64> {
    if paths == 0 {
        return Err(PyValueError::new_err("paths is 0; a connection has at least one"));
    }
    let settings = Settings { initial_window: cwnd, initial_ssthresh: cwnd, ..Settings::default() };
    visit(controller, AfterLoss { settings, paths })
}

/// The window of the first path after a loss, with the shell's floors.
struct AfterLoss {
    settings: Settings,
    paths: usize,
}

impl LawVisitor for AfterLoss {
    type Output = f64;

    fn visit<L: Law + 'static>(self, law: L) -> f64 {
        let mut shell = Shell::new(law, self.settings, self.paths);
        for path in 0..self.paths {
            let sample = Acked { srtt: Span::millis(100), ..Acked::default() };
            shell.on_ack(path, &sample);
        }
        shell.on_congestion(0, Cause::FastRetransmit);
        shell.on_recovered(0);
        shell.window(0).cwnd
    }
}

/// Runs `visitor` on the law of a controller; as mathematics, `kernel:olia` is OLIA.
fn visit<V: LawVisitor>(controller: &str, visitor: V) -> PyResult<V::Output> {
    let found = parsed(controller)?.visit_law(visitor);
    found.ok_or_else(|| {
        let why = format!("`{controller}` is not a law: it has no growth per ACK");
        PyValueError::new_err(why)
    })
}

enum Formula {
    Growth,
    Backoff,
    Drift,
}

/// Evaluates `formula` on every path, with these windows, round-trip times and losses, and notes in
/// their steady state.
fn each<'py>(
    py: Python<'py>,
    controller: &str,
    given: &[Vector<'py>; 3],
    formula: Formula,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let [windows, rtts, losses] = alike(given)?;
    Ok(visit(controller, Steady { windows, rtts, losses, formula })?.into_pyarray(py))
}

/// Windows, round trips and losses, all of the same length.
pub(crate) fn alike(given: &[Vector<'_>; 3]) -> PyResult<[Vec<f64>; 3]> {
    let [windows, rtts, losses] = given.each_ref().map(|vector| vector.as_array().to_vec());
    if windows.len() != rtts.len() || windows.len() != losses.len() {
        return Err(PyValueError::new_err(format!(
            "windows, rtts_s and losses have {}, {} and {} entries; they must have as many",
            windows.len(),
            rtts.len(),
            losses.len()
        )));
    }
    Ok([windows, rtts, losses])
}

/// Paths in the steady state.
struct Steady {
    windows: Vec<f64>,
    rtts: Vec<f64>,
    losses: Vec<f64>,
    formula: Formula,
}

impl LawVisitor for Steady {
    type Output = Vec<f64>;

    fn visit<L: Law + 'static>(self, law: L) -> Vec<f64> {
        let view = |me: usize| PathView {
            cwnd: self.windows[me],
            srtt: self.rtts[me],
            note: law.steady_note(self.losses[me], self.rtts[me]),
            usable: true,
        };
        let paths: Vec<_> = (0..self.windows.len()).map(view).collect();
        let value = |me: usize| match self.formula {
            Formula::Growth => law.growth(me, &paths),
            Formula::Backoff => law.backoff(me, &paths),
            Formula::Drift => control::drift(&law, me, &paths, self.losses[me]),
        };
        (0..paths.len()).map(value).collect()
    }
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
    network::queue::Red {
        min: Packets(min_th),
        max: Packets(max_th),
        max_p,
        gentle,
        weight: 1.0,
        spacing: network::queue::Spacing::Independent,
        ecn: false,
        limit: Packets(f64::INFINITY),
    }
    .curve(average_packets)
}
