//! Runs replications while Python goes on: the interpreter is released, and now and then asked
//! whether the user wants to stop.

use crate::outcome::to_dict;
use crate::read;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simulator::{Observe, Progress, replicate};
use std::sync::Mutex;
use std::sync::mpsc;
use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
use std::time::Duration;

/// How often progress is told and an interrupt is noticed.
const BREATH: Duration = Duration::from_millis(50);

#[pyfunction]
#[pyo3(signature = (text, seeds, *, name="<scenario>", overrides=Vec::new(), controller=None, threads=0, series=false, events=false, progress=None))]
#[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    text: &str,
    seeds: Vec<u64>,
    name: &str,
    overrides: Vec<String>,
    controller: Option<&str>,
    threads: usize,
    series: bool,
    events: bool,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let plan = read(text, name, &overrides, controller)?;
    let observe = Observe { series, events };
    let state = Progress::default();
    let total_s = plan.duration.seconds() * seeds.len() as f64;
    let mut interrupted = None;
    let outcomes = std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let receiver = Mutex::new(receiver); // shared with the moments without the interpreter
        let (plan, state) = (&plan, &state);
        scope.spawn(move || {
            let outcomes = replicate(plan, &seeds, observe, threads, state);
            sender.send(outcomes).ok(); // the receiver lives until the scope ends
        });
        loop {
            let wait = || receiver.lock().map_or(Err(Disconnected), |r| r.recv_timeout(BREATH));
            match py.detach(wait) {
                Ok(outcomes) => return outcomes,
                Err(Disconnected) => return Vec::new(),
                Err(Timeout) => {}
            }
            let told = progress.as_ref().map_or(Ok(()), |progress| {
                progress.call1((state.simulated_s(), total_s)).map(|_| ())
            });
            if let Err(error) = told.and_then(|()| py.check_signals()) {
                interrupted.get_or_insert(error);
                state.stop();
            }
        }
    });
    match interrupted {
        // An interrupt leaves the finished replications usable; any other error is the caller's.
        Some(error) if !error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) => {
            Err(error)
        }
        Some(error) if outcomes.is_empty() => Err(error),
        _ => outcomes.iter().map(|outcome| to_dict(py, &plan, outcome)).collect(),
    }
}
