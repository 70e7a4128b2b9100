//! Files over multipath QUIC: a server and a fetch as classes that run once, in the calling thread.

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;
use std::path::PathBuf;
use transfer::{Error, Fetch, FetchOptions, Identity, ServeOptions, Server, Trust};

#[pyclass(frozen, module = "anabranch._core")]
pub(crate) struct QuicServer {
    server: Server,
    fingerprint: String,
}

#[pymethods]
impl QuicServer {
    #[new]
    #[pyo3(signature = (root, listen, *, controller, identity=None, qlog=None))]
    fn new(
        root: PathBuf,
        listen: &str,
        controller: String,
        identity: Option<PathBuf>,
        qlog: Option<PathBuf>,
    ) -> PyResult<Self> {
        let shape = "give ADDRESS:PORT, as in 0.0.0.0:4433 or [::]:4433";
        let listen = listen.parse().map_err(|_| {
            PyValueError::new_err(format!("listen: {listen:?} is no address with a port; {shape}"))
        })?;
        let identity = match identity {
            Some(folder) => Identity::kept_in(&folder),
            None => Identity::new(),
        }
        .map_err(raised)?;
        let options = ServeOptions { root, listen, controller, qlog };
        let server = Server::new(&options, &identity).map_err(raised)?;
        Ok(Self { server, fingerprint: identity.fingerprint() })
    }

    #[getter]
    fn address(&self) -> String {
        self.server.address().to_string()
    }

    #[getter]
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn run(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.server.run()).map_err(raised)
    }

    fn stop(&self) {
        self.server.stop();
    }

    fn served(&self) -> PyResult<String> {
        json(&self.server.served())
    }
}

#[pyclass(frozen, module = "anabranch._core")]
pub(crate) struct QuicFetch(Fetch);

#[pymethods]
impl QuicFetch {
    #[new]
    #[pyo3(signature = (target, output, *, fingerprint, via=Vec::new(), to=Vec::new(), port=0, resume=false, duration_s=None, warm_up_s=0.0, qlog=None))]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword of the Python function")]
    fn new(
        target: String,
        output: Option<PathBuf>,
        fingerprint: Option<&str>,
        via: Vec<String>,
        to: Vec<String>,
        port: u16,
        resume: bool,
        duration_s: Option<f64>,
        warm_up_s: f64,
        qlog: Option<PathBuf>,
    ) -> PyResult<Self> {
        let trust = match fingerprint {
            Some(text) => Trust::fingerprint(text).map_err(raised)?,
            None => Trust::Anybody,
        };
        let options = FetchOptions {
            target,
            output,
            via,
            to,
            port,
            trust,
            resume,
            duration_s,
            warm_up_s,
            qlog,
        };
        Ok(Self(Fetch::new(&options).map_err(raised)?))
    }

    fn run(&self, py: Python<'_>) -> PyResult<String> {
        json(&py.detach(|| self.0.run()).map_err(raised)?)
    }

    fn stop(&self) {
        self.0.stop();
    }

    fn progress(&self) -> (u64, u64, usize) {
        let now = self.0.progress();
        let open = now.lanes.iter().filter(|lane| lane.open).count();
        (now.received_bytes, now.size_bytes, open)
    }
}

#[pyfunction]
pub(crate) fn quic_fingerprint(identity: PathBuf) -> PyResult<String> {
    Ok(Identity::kept_in(&identity).map_err(raised)?.fingerprint())
}

pub(crate) fn json<T: Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn raised(error: Error) -> PyErr {
    match error {
        Error::Wrong { .. } => PyValueError::new_err(error.to_string()),
        Error::Failed(_) => PyOSError::new_err(error.to_string()),
    }
}
