//! Names and times that commands take, by the rules of scenario files.

use crate::ScenarioError;
use control::{ControllerSpec, UnknownController};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use units::{QuantityError, Span, name};

#[pyfunction]
pub(crate) fn find_name(text: &str, known: Vec<String>) -> Option<String> {
    name::find(text, known.iter().map(String::as_str)).map(str::to_owned)
}

#[pyfunction]
pub(crate) fn near_names(text: &str, known: Vec<String>) -> Vec<String> {
    let near = name::near(text, known.iter().map(String::as_str));
    near.into_iter().map(str::to_owned).collect()
}

#[pyfunction]
pub(crate) fn controller_name(text: &str) -> PyResult<String> {
    let known = text.parse::<ControllerSpec>();
    let known = known.map_err(|no: UnknownController| ScenarioError::new_err(no.to_string()))?;
    Ok(known.to_string())
}

#[pyfunction]
pub(crate) fn seconds(text: &str) -> PyResult<f64> {
    let span = text.parse::<Span>();
    let span = span.map_err(|no: QuantityError| PyValueError::new_err(no.to_string()))?;
    Ok(span.seconds())
}
