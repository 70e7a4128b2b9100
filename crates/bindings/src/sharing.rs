//! Detection of shared bottlenecks over samples of any origin, and the list of detectors.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sharing::{AnyDetector, Detection, Sample, Traced, follow};
use units::{Span, Time};

#[pyfunction]
pub(crate) fn detectors(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let rows = AnyDetector::ALL.iter().map(|kind| {
        let described = kind.described();
        let row = PyDict::new(py);
        row.set_item("name", described.names[0])?;
        row.set_item("aliases", &described.names[1..])?;
        row.set_item("summary", described.summary)?;
        row.set_item("formula", described.formula)?;
        row.set_item("source", described.source)?;
        Ok(row)
    });
    rows.collect()
}

type Vector<'py> = PyReadonlyArray1<'py, f64>;

/// What a detector says over time, a row for each change and one at the end.
#[derive(Default)]
struct Said {
    times: Vec<f64>,
    groups: Vec<f64>,
    confidence: Vec<f64>,
}

impl Said {
    fn add(&mut self, at: Time, detection: &Detection, paths: usize) {
        self.times.push(at.seconds());
        self.groups.extend((0..paths).map(|path| detection.group(path) as f64));
        for a in 0..paths {
            self.confidence.extend((0..paths).map(|b| detection.confidence(a, b)));
        }
    }
}

type Answer<'py> =
    (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

#[pyfunction]
pub(crate) fn detect<'py>(
    py: Python<'py>,
    detector: &str,
    sent_s: Vec<Vector<'py>>,
    delay_s: Vec<Vector<'py>>,
    rtt_s: Vec<Vector<'py>>,
    lost_s: Vec<Vector<'py>>,
) -> PyResult<Answer<'py>> {
    let kind = AnyDetector::named(detector).ok_or_else(|| {
        let names = AnyDetector::ALL.iter().map(|kind| kind.described().names[0]);
        let names: Vec<&str> = names.collect();
        let near = units::name::offer(detector, names.iter().copied());
        let all = names.join(", ");
        PyValueError::new_err(format!("there is no detector {detector:?}{near}; there are {all}"))
    })?;
    let paths = sent_s.len();
    if [delay_s.len(), rtt_s.len(), lost_s.len()] != [paths; 3] {
        return Err(PyValueError::new_err("sent, delay, rtt and lost are of different paths"));
    }
    let mut traced: Vec<Traced> = Vec::new();
    for path in 0..paths {
        let (sent, delay, rtt) =
            (sent_s[path].as_slice()?, delay_s[path].as_slice()?, rtt_s[path].as_slice()?);
        if sent.len() != delay.len() || sent.len() != rtt.len() {
            return Err(PyValueError::new_err(format!(
                "path {path}: sent, delay and rtt differ in length"
            )));
        }
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite() && *value >= 0.0);
        let lost = lost_s[path].as_slice()?;
        if ![sent, delay, rtt, lost].into_iter().all(finite) {
            return Err(PyValueError::new_err(format!(
                "path {path}: times are finite and not negative"
            )));
        }
        let samples = sent.iter().zip(delay).zip(rtt).map(|((sent, delay), rtt)| {
            let [delay, rtt] = [*delay, *rtt].map(Span::from_seconds);
            Sample { sent: Time::ZERO + Span::from_seconds(*sent), delay, rtt }
        });
        let lost = lost.iter().map(|at| Time::ZERO + Span::from_seconds(*at));
        traced.push(Traced { samples: samples.collect(), lost: lost.collect() });
    }
    let said = py.detach(|| {
        let mut said = Said::default();
        follow(kind, &traced, |at, detection| said.add(at, detection, paths));
        said
    });
    Ok((
        said.times.into_pyarray(py),
        said.groups.into_pyarray(py),
        said.confidence.into_pyarray(py),
    ))
}
