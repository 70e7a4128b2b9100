//! Our endpoints as the senders of a plan's users, on the wall clock: a class that runs once, in
//! the calling thread.

use crate::outside::{Failure, PythonControllers};
use crate::{emulate, read};
use driver::{Driver, Endpoints, Sockets, UserState};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::net::Ipv4Addr;
use std::os::fd::{OwnedFd, RawFd};
use std::sync::Arc;
use units::{InvalidParameter, Span};

/// Index of the class, sockets of its senders' paths and of its receivers' if they are here too,
/// addresses of its paths, address of its servers, start of each user in seconds, bytes of its send
/// buffer.
type Given = (usize, Vec<RawFd>, Option<Vec<RawFd>>, Vec<String>, String, Vec<f64>, usize);

/// Path, cwnd and ssthresh in segments, srtt and RTO in seconds, counts of retransmissions,
/// timeouts, recoveries, marks, undone reductions and probes, and whether it has room but no data.
type Path = (usize, f64, f64, f64, f64, [u64; 6], bool);

/// Class, user, paths, bytes received if that is here, when the transfer was complete, and what
/// went wrong.
type State = (usize, usize, Vec<Path>, Option<u64>, Option<f64>, String);

#[pyclass(frozen, module = "anabranch._core")]
pub(crate) struct WireSenders {
    driver: Driver,
    failure: Arc<Failure>,
}

#[pymethods]
impl WireSenders {
    #[new]
    #[pyo3(signature = (text, classes, *, first_port, seed=1, name="<scenario>", overrides=Vec::new(), controller=None, outside=None))]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword of the Python function")]
    fn new(
        text: &str,
        classes: Vec<Given>,
        first_port: u16,
        seed: u64,
        name: &str,
        overrides: Vec<String>,
        controller: Option<&str>,
        outside: Option<(String, Py<PyAny>)>,
    ) -> PyResult<Self> {
        let mut plan = read(text, name, &overrides, controller)?;
        let failure = Arc::<Failure>::default();
        if let Some((name, class)) = outside {
            let made = PythonControllers::new(name, class, seed, failure.clone());
            plan = plan.with_outside(Arc::new(made));
        }
        let given = classes.into_iter().map(|given| endpoints(given, first_port));
        let given = given.collect::<PyResult<Vec<_>>>()?;
        let driver = Driver::new(&plan, given, seed).map_err(|wrong| {
            let InvalidParameter { key, value, right } = wrong;
            PyValueError::new_err(format!("{key} is {value}: {right}"))
        })?;
        Ok(WireSenders { driver, failure })
    }

    fn run<'py>(&self, py: Python<'py>, elapsed_s: f64) -> PyResult<Bound<'py, PyDict>> {
        let report = py.detach(|| self.driver.run(Span::from_seconds(elapsed_s.max(0.0))))?;
        let told = PyDict::new(py);
        told.set_item("lateness_p99_s", report.lateness.p99_s)?;
        told.set_item("lateness_max_s", report.lateness.max_s)?;
        told.set_item("waiting_p99_s", report.waiting.p99_s)?;
        told.set_item("waiting_max_s", report.waiting.max_s)?;
        told.set_item("cpu_fraction", report.used)?;
        told.set_item("cpu_wait_fraction", report.waited)?;
        told.set_item("sent_packets", report.sent)?;
        told.set_item("arrived_packets", report.arrived)?;
        told.set_item("unsent_packets", report.unsent)?;
        Ok(told)
    }

    fn stop(&self) {
        self.driver.stop();
    }

    fn states(&self, py: Python<'_>) -> PyResult<Vec<State>> {
        // Without the interpreter: a controller in Python waits for it while it holds the lock.
        let states = py.detach(|| self.driver.states());
        match self.failure.take(py) {
            Some(error) => Err(error),
            None => Ok(states.into_iter().map(state).collect()),
        }
    }
}

fn endpoints(given: Given, first_port: u16) -> PyResult<(Endpoints, Sockets)> {
    let (class, senders, receivers, addresses, server, starts, send_buffer) = given;
    let addresses = addresses.iter().map(|it| address(it)).collect::<PyResult<Vec<_>>>()?;
    let server = address(&server)?;
    let starts = starts.into_iter().map(Span::from_seconds).collect();
    let sockets = Sockets {
        senders: duplicates(senders)?,
        receivers: receivers.map(duplicates).transpose()?,
    };
    Ok((Endpoints { class, addresses, server, first_port, starts, send_buffer }, sockets))
}

fn duplicates(files: Vec<RawFd>) -> PyResult<Vec<OwnedFd>> {
    Ok(files.into_iter().map(emulate::duplicate).collect::<Result<_, _>>()?)
}

fn address(text: &str) -> PyResult<Ipv4Addr> {
    text.parse().map_err(|_| PyValueError::new_err(format!("{text:?} is no IPv4 address")))
}

fn state(state: UserState) -> State {
    let path = |(path, it, starved): (usize, transport::PathReport, bool)| {
        let counts = [it.retransmits, it.timeouts, it.recoveries, it.marks, it.undone, it.probes];
        (path, it.cwnd, it.ssthresh, it.srtt.seconds(), it.rto.seconds(), counts, starved)
    };
    let paths = state.paths.into_iter().map(path).collect();
    let completed = state.completed.map(|at| at.seconds());
    (state.class, state.user, paths, state.received, completed, state.trouble)
}
