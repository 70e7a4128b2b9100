//! Names and times in commands, by the rules of scenario files.

use crate::ScenarioError;
use control::{ControllerKind, ControllerSpec, Law, LawVisitor, UnknownController, law_file};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::cell::RefCell;
use std::collections::VecDeque;
use units::{QuantityError, Rate, Span, name};

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
    let row = PyDict::new(py);
    row.set_item("text", spec.to_string())?;
    row.set_item("source", spec.source())?;
    row.set_item("kind", spec.described().map(|described| described.names[0]))?;
    row.set_item("formula", spec.formula())?;
    let law = !matches!(
        spec.kind(),
        ControllerKind::Scheme(_)
            | ControllerKind::KernelScheme(_)
            | ControllerKind::WhenShared(..)
            | ControllerKind::Linux(_)
            | ControllerKind::Noq(_)
    );
    row.set_item("law", law)?;
    row.set_item("steady", spec.visit_law(Steady).is_some())?;
    row.set_item("detector", spec.detector().map(|kind| kind.described().names[0]))?;
    row.set_item("written", spec.written().is_some())?;
    row.set_item("min_ssthresh", spec.min_ssthresh())?;
    row.set_item("set_valued", spec.set_valued())?;
    row.set_item("ported", spec.ported())?;
    row.set_item("linux", spec.linux())?;
    row.set_item("noq", spec.noq())?;
    row.set_item("reports", spec.needs().reports)?;
    row.set_item(
        "port",
        matches!(
            spec.kind(),
            ControllerKind::Kernel(_)
                | ControllerKind::KernelScheme(_)
                | ControllerKind::KernelWritten(_)
        ),
    )?;
    Ok(row)
}

/// Asks whether there is a law.
struct Steady;

impl LawVisitor for Steady {
    type Output = ();

    fn visit<L: Law + 'static>(self, _law: L) {}
}

#[pyfunction]
pub(crate) fn controller_name(text: &str) -> PyResult<String> {
    Ok(parsed(text)?.to_string())
}

/// The controller of a text, which is a name, a law, or the file of a law: `lia`, the text of a
/// law, or `my.law:beta=0.3`, relative to the current directory.
pub(crate) fn parsed(text: &str) -> PyResult<ControllerSpec> {
    spec(text).map_err(ScenarioError::new_err)
}

/// The same, with the error as text.
pub(crate) fn spec(text: &str) -> Result<ControllerSpec, String> {
    let wrong = |no: UnknownController| no.to_string();
    let Some(law) = law_file(text) else {
        return remembered(text).map_err(wrong);
    };
    let read = |file: &str| std::fs::read_to_string(file).map_err(|error| error.to_string());
    law.text(&read)?.parse().map_err(wrong)
}

thread_local! {
    /// The last parsed texts with their controllers: theory needs one law a thousand times.
    static LAST: RefCell<VecDeque<(String, ControllerSpec)>> = const { RefCell::new(VecDeque::new()) };
}

/// Number of texts kept by a thread.
const REMEMBERED: usize = 8;

/// Parses a text, or returns the stored result.
fn remembered(text: &str) -> Result<ControllerSpec, UnknownController> {
    LAST.with_borrow_mut(|last| {
        if let Some((_, known)) = last.iter().find(|(own, _)| own == text) {
            return Ok(known.clone());
        }
        let spec: ControllerSpec = text.parse()?;
        last.truncate(REMEMBERED - 1);
        last.push_front((text.to_owned(), spec.clone()));
        Ok(spec)
    })
}

#[pyfunction]
pub(crate) fn seconds(text: &str) -> PyResult<f64> {
    let span = text.parse::<Span>();
    let span = span.map_err(|no: QuantityError| PyValueError::new_err(no.to_string()))?;
    Ok(span.seconds())
}

#[pyfunction]
pub(crate) fn bits_per_second(text: &str) -> PyResult<u64> {
    let rate = text.parse::<Rate>();
    rate.map(|rate| rate.0).map_err(|no: QuantityError| PyValueError::new_err(no.to_string()))
}
