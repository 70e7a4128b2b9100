//! Bounded proofs about laws.

use crate::ScenarioError;
use formula::TextLaw;
use proof::{Answer, Claim, FixedPoint, Question, Verdict};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[pyfunction]
#[pyo3(signature = (text, claim, *, within, paths, losses, rtts_s, floor, boxes))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword of the Python function")]
pub(crate) fn prove<'py>(
    py: Python<'py>,
    text: &str,
    claim: &str,
    within: f64,
    paths: usize,
    losses: (f64, f64),
    rtts_s: (f64, f64),
    floor: f64,
    boxes: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let law = TextLaw::read(text).map_err(|wrong| ScenarioError::new_err(wrong.to_string()))?;
    let claim = match claim {
        "tcp-share" => Claim::TcpShare,
        "do-no-harm" => Claim::DoNoHarm,
        "best-path" => Claim::BestPath,
        other => return Err(PyValueError::new_err(format!("there is no claim `{other}`"))),
    };
    let question = Question { claim, within, paths, losses, rtts: rtts_s, floor, boxes };
    if let Some(fault) = question.fault() {
        return Err(PyValueError::new_err(fault));
    }
    let mut interrupt = None;
    let answer = py.detach(|| {
        proof::prove(&law, &question, &mut || {
            interrupt = Python::attach(|py| py.check_signals()).err();
            interrupt.is_none()
        })
    });
    if let Some(interrupt) = interrupt {
        return Err(interrupt);
    }
    let too_large = || PyValueError::new_err("the law has too many parts for a proof");
    row(py, &answer.ok_or_else(too_large)?)
}

fn row<'py>(py: Python<'py>, answer: &Answer) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    let verdict = match answer.verdict {
        Verdict::Proved => "proved",
        Verdict::Disproved => "disproved",
        Verdict::Open => "open",
    };
    row.set_item("verdict", verdict)?;
    row.set_item("boxes", answer.boxes)?;
    row.set_item("computed", answer.computed)?;
    row.set_item("doubt", answer.doubt.as_ref())?;
    for (name, found) in [("witness", &answer.witness), ("nearest", &answer.nearest)] {
        let found = found.as_ref().map(|found| point(py, found)).transpose()?;
        row.set_item(name, found)?;
    }
    row.set_item("open_boxes", answer.open.as_ref().map_or(0, |open| open.boxes))?;
    row.set_item("open_share", answer.open.as_ref().map_or(0.0, |open| open.share))?;
    let ranges = answer.open.iter().flat_map(|open| open.ranges.clone());
    row.set_item("open_ranges", ranges.collect::<Vec<_>>())?;
    Ok(row)
}

fn point<'py>(py: Python<'py>, found: &FixedPoint) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("windows", &found.windows)?;
    row.set_item("rtts_s", &found.rtts)?;
    row.set_item("losses", &found.losses)?;
    row.set_item("at_floor", &found.at_floor)?;
    row.set_item("path", found.path)?;
    row.set_item("ratio", found.ratio)?;
    row.set_item("certain", found.certain)?;
    Ok(row)
}
