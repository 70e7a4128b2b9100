//! Laws written as text.

use crate::ScenarioError;
use crate::laws::alike;
use crate::names::parsed;
use control::{ControllerSpec, TextLaw};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

type Vector<'py> = PyReadonlyArray1<'py, f64>;

#[pyfunction]
pub(crate) fn law<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let law = TextLaw::read(text).map_err(|wrong| ScenarioError::new_err(wrong.to_string()))?;
    let spec = text.parse::<ControllerSpec>();
    let spec = spec.map_err(|wrong| ScenarioError::new_err(wrong.to_string()))?;
    let row = PyDict::new(py);
    row.set_item("text", law.text())?;
    row.set_item("name", law.name())?;
    row.set_item("label", spec.to_string())?;
    row.set_item("summary", law.summary())?;
    row.set_item("source", law.source())?;
    let parameters = law.parameters().iter();
    let parameters = parameters.map(|own| {
        (own.name.clone(), own.value, own.default, own.range.to_string(), own.meaning.clone())
    });
    row.set_item("parameters", parameters.collect::<Vec<_>>())?;
    let notes = law.notes().iter();
    let notes = notes.map(|own| (own.name.clone(), own.initial, own.meaning.clone()));
    row.set_item("notes", notes.collect::<Vec<_>>())?;
    let quantities = law.quantities().iter().map(|own| own.name.clone());
    row.set_item("quantities", quantities.collect::<Vec<_>>())?;
    row.set_item("couples", law.couples())?;
    row.set_item("jumps", law.jumps())?;
    row.set_item("min_ssthresh", law.min_ssthresh())?;
    Ok(row)
}

#[pyfunction]
#[pyo3(signature = (text, file=None))]
pub(crate) fn law_c<'py>(
    py: Python<'py>,
    text: &str,
    file: Option<&str>,
) -> PyResult<Bound<'py, PyDict>> {
    let wrong = |wrong: formula::LawError| ScenarioError::new_err(wrong.to_string());
    let law = TextLaw::read(text).map_err(wrong)?.integer().map_err(wrong)?;
    let row = PyDict::new(py);
    row.set_item("c", file.map_or_else(|| law.c(), |file| law.c_of_file(file)))?;
    row.set_item("relative", law.relative_bound())?;
    row.set_item("positive", law.is_positive())?;
    Ok(row)
}

/// Growth and backoff with their derivatives; `None` for a law not written as text.
type Slopes<'py> = Option<(
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
)>;

#[pyfunction]
pub(crate) fn slopes<'py>(
    py: Python<'py>,
    controller: &str,
    windows: Vector<'py>,
    rtts_s: Vector<'py>,
    losses: Vector<'py>,
) -> PyResult<Slopes<'py>> {
    let spec = parsed(controller)?;
    let Some(law) = spec.written() else {
        return Ok(None);
    };
    let [w, rtt, p] = alike(&[windows, rtts_s, losses])?;
    let found = law.slopes(&w, &rtt, &p);
    let matrix = |rows: &[Vec<f64>]| {
        PyArray2::from_vec2(py, rows).map_err(|wrong| PyValueError::new_err(wrong.to_string()))
    };
    let by = (matrix(&found.by_growth)?, matrix(&found.by_backoff)?);
    let (growth, backoff) = (found.growth, found.backoff);
    Ok(Some((PyArray1::from_vec(py, growth), PyArray1::from_vec(py, backoff), by.0, by.1)))
}
