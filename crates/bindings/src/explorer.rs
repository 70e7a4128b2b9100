//! Answers what the explorer asks, while Python continues.

use page::{Progress, answer, answer_until};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Mutex;
use std::sync::mpsc;
use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
use std::time::Duration;

/// Interval at which Python says whether it still wants the answer.
const BREATH: Duration = Duration::from_millis(100);

/// The answer to a request of the explorer. `wanted` is called while it is made: false, or an
/// exception, ends a run.
#[pyfunction]
#[pyo3(name = "page", signature = (request, wanted=None))]
pub(crate) fn answered<'py>(
    py: Python<'py>,
    request: &str,
    wanted: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let Some(wanted) = wanted else {
        return Ok(PyBytes::new(py, &py.detach(|| answer(request))));
    };
    let progress = Progress::default();
    let mut failed = None;
    let bytes = std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let receiver = Mutex::new(receiver); // shared with the phases without the interpreter
        let progress = &progress;
        scope.spawn(move || sender.send(answer_until(request, progress)).ok());
        loop {
            let wait = || receiver.lock().map_or(Err(Disconnected), |r| r.recv_timeout(BREATH));
            match py.detach(wait) {
                Ok(bytes) => return bytes,
                Err(Disconnected) => return Vec::new(),
                Err(Timeout) => {}
            }
            match wanted.call0().and_then(|found| found.is_truthy()) {
                Ok(true) => {}
                Ok(false) => progress.stop(),
                Err(error) => {
                    progress.stop();
                    failed.get_or_insert(error);
                }
            }
        }
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(PyBytes::new(py, &bytes)),
    }
}
