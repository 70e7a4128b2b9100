//! Definitions of who is harmed.

use fairness::{P1_GAIN, P1_HARM, P2_MARGIN, Share, Upgrade};
use pyo3::prelude::*;

#[pyfunction]
#[pyo3(signature = (others_before, others_after, upgraded_before, upgraded_after, *, harm=P1_HARM, gain=P1_GAIN))]
pub(crate) fn p1(
    others_before: f64,
    others_after: f64,
    upgraded_before: f64,
    upgraded_after: f64,
    harm: f64,
    gain: f64,
) -> bool {
    let others = Upgrade { before: others_before, after: others_after };
    fairness::p1(others, Upgrade { before: upgraded_before, after: upgraded_after }, harm, gain)
}

#[pyfunction]
#[pyo3(signature = (multipath, single_path, fair_multipath, fair_single, *, margin=P2_MARGIN))]
pub(crate) fn p2(
    multipath: f64,
    single_path: f64,
    fair_multipath: f64,
    fair_single: f64,
    margin: f64,
) -> bool {
    let multipath = Share { rate: multipath, fair: fair_multipath };
    fairness::p2(multipath, Share { rate: single_path, fair: fair_single }, margin)
}

#[pyfunction]
pub(crate) fn harm(alone: f64, beside: f64) -> f64 {
    fairness::harm(alone, beside)
}
