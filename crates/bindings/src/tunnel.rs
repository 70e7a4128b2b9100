//! The two sides of a tunnel as classes that run once, in the calling thread.

use crate::quic::json;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use std::net::SocketAddr;
use std::path::PathBuf;
use tunnel::{Carriage, Connect, ConnectOptions, Error, Listen, ListenOptions};
use units::Rate;

/// The options of both sides, from a mapping with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Carried {
    over: String,
    controller: String,
    redundancy: Option<f64>,
    up_to: f64,
    window: u8,
    rate: Option<String>,
    timeout_s: f64,
    datagram: usize,
    streams: usize,
    spare: Vec<usize>,
}

impl Carried {
    fn carriage(self) -> PyResult<Carriage> {
        let rate = |text: String| match text.parse::<Rate>() {
            Ok(Rate(bps)) => Ok(bps),
            Err(error) => Err(PyValueError::new_err(format!("rate: {error}"))),
        };
        let Carried { controller, redundancy, up_to, window, timeout_s, datagram, .. } = self;
        Ok(Carriage {
            over: self.over,
            rate_bps: self.rate.map(rate).transpose()?,
            streams: self.streams,
            spare: self.spare,
            controller,
            redundancy,
            up_to,
            window,
            timeout_s,
            datagram,
        })
    }
}

fn address(field: &str, text: &str) -> PyResult<SocketAddr> {
    let shape = "give ADDRESS:PORT, as in 127.0.0.1:1080 or [::1]:1080";
    text.parse().map_err(|_| {
        PyValueError::new_err(format!("{field}: {text:?} is no address with a port; {shape}"))
    })
}

#[pyclass(frozen, module = "anabranch._core")]
pub(crate) struct TunnelListen(Listen);

#[pymethods]
impl TunnelListen {
    #[new]
    #[pyo3(signature = (key, peers, listen, carried, *, allow=Vec::new(), metrics=None))]
    fn new(
        key: PathBuf,
        peers: PathBuf,
        listen: Vec<String>,
        carried: Carried,
        allow: Vec<String>,
        metrics: Option<&str>,
    ) -> PyResult<Self> {
        let addresses = listen.iter().map(|text| address("listen", text));
        let options = ListenOptions {
            key,
            peers,
            addresses: addresses.collect::<PyResult<_>>()?,
            allow,
            metrics: metrics.map(|text| address("metrics", text)).transpose()?,
            carriage: carried.carriage()?,
        };
        Ok(Self(Listen::new(&options).map_err(raised)?))
    }

    #[getter]
    fn addresses(&self) -> Vec<String> {
        self.0.addresses().iter().map(SocketAddr::to_string).collect()
    }

    #[getter]
    fn public_key(&self) -> String {
        self.0.public_key()
    }

    fn run(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.run()).map_err(raised)
    }

    fn stop(&self) {
        self.0.stop();
    }

    fn status(&self) -> PyResult<String> {
        json(&self.0.status())
    }

    fn log(&self) -> Vec<String> {
        self.0.log()
    }
}

#[pyclass(frozen, module = "anabranch._core")]
pub(crate) struct TunnelConnect(Connect);

#[pymethods]
impl TunnelConnect {
    #[new]
    #[pyo3(signature = (key, peer, paths, carried, *, socks=None, forwards=Vec::new(), transparent=Vec::new(), metrics=None))]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword of the Python function")]
    fn new(
        key: PathBuf,
        peer: String,
        paths: Vec<String>,
        carried: Carried,
        socks: Option<&str>,
        forwards: Vec<String>,
        transparent: Vec<String>,
        metrics: Option<&str>,
    ) -> PyResult<Self> {
        let transparent = transparent.iter().map(|text| address("transparent", text));
        let options = ConnectOptions {
            key,
            peer,
            paths,
            socks: socks.map(|text| address("socks", text)).transpose()?,
            forwards,
            transparent: transparent.collect::<PyResult<_>>()?,
            metrics: metrics.map(|text| address("metrics", text)).transpose()?,
            carriage: carried.carriage()?,
        };
        Ok(Self(Connect::new(&options).map_err(raised)?))
    }

    #[getter]
    fn addresses(&self) -> Vec<String> {
        self.0.addresses().iter().map(SocketAddr::to_string).collect()
    }

    fn run(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.run()).map_err(raised)
    }

    fn stop(&self) {
        self.0.stop();
    }

    fn status(&self) -> PyResult<String> {
        json(&self.0.status())
    }

    fn log(&self) -> Vec<String> {
        self.0.log()
    }
}

#[pyfunction]
pub(crate) fn tunnel_key(file: PathBuf, make: bool) -> PyResult<String> {
    let key = if make { tunnel::new_key(&file) } else { tunnel::public_key(&file) };
    key.map_err(raised)
}

fn raised(error: Error) -> PyErr {
    match error {
        Error::Wrong { .. } => PyValueError::new_err(error.to_string()),
        Error::Failed(_) => PyOSError::new_err(error.to_string()),
    }
}
