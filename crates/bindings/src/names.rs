//! Names and times that commands take, by the rules of scenario files.

use crate::ScenarioError;
use control::{AnyLaw, ControllerKind, ControllerSpec, UnknownController};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use units::{QuantityError, Span, name};

#[pyfunction]
pub(crate) fn find_name(text: &str, known: Vec<String>) -> Option<String> {
    name::find(text, known.iter().map(String::as_str)).map(str::to_owned)
}

#[pyfunction]
pub(crate) fn offer(text: &str, known: Vec<String>) -> String {
    name::offer(text, known.iter().map(String::as_str))
}

#[pyfunction]
pub(crate) fn controller<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let spec = parsed(text)?;
    let described = spec.described();
    let row = PyDict::new(py);
    row.set_item("text", spec.to_string())?;
    row.set_item("kind", described.names[0])?;
    row.set_item("formula", described.formula)?;
    row.set_item("law", spec.law().is_some())?;
    row.set_item("min_ssthresh", spec.law().and_then(AnyLaw::min_ssthresh))?;
    row.set_item("set_valued", described.set_valued)?;
    row.set_item("ported", spec.ported())?;
    row.set_item("port", matches!(spec.kind(), ControllerKind::Kernel(_)))?;
    Ok(row)
}

#[pyfunction]
pub(crate) fn controller_name(text: &str) -> PyResult<String> {
    Ok(parsed(text)?.to_string())
}

/// The controller that a text names.
pub(crate) fn parsed(text: &str) -> PyResult<ControllerSpec> {
    text.parse().map_err(|no: UnknownController| ScenarioError::new_err(no.to_string()))
}

#[pyfunction]
pub(crate) fn seconds(text: &str) -> PyResult<f64> {
    let span = text.parse::<Span>();
    let span = span.map_err(|no: QuantityError| PyValueError::new_err(no.to_string()))?;
    Ok(span.seconds())
}
