//! `anabranch._core.Host`: our endpoints in packets, driven by Python.

use host::{Host, Id, Read, Settings};
use pyo3::exceptions::{PyConnectionError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use units::{Bytes, Span, Time};
use wire::packet::Endpoint;

/// A host; connections are named by numbers.
#[pyclass(module = "anabranch._core", name = "Host", unsendable)]
pub(crate) struct PyHost {
    host: Host,
    ids: BTreeMap<u64, Id>,
    next: u64,
}

fn end(text: &str) -> PyResult<Endpoint> {
    let read: SocketAddrV4 = text.parse().map_err(|_| {
        PyValueError::new_err(format!(
            "{text:?} is not an IPv4 address with a port, such as 10.0.0.1:80"
        ))
    })?;
    Ok(Endpoint { address: *read.ip(), port: read.port() })
}

fn shown(end: Endpoint) -> String {
    SocketAddrV4::new(end.address, end.port).to_string()
}

fn at(now_s: f64) -> Time {
    Time((now_s.max(0.0) * 1e9) as u64)
}

/// The state of a subflow as Python has it: slot, this end, the peer's, cwnd and ssthresh in
/// segments, srtt in seconds, retransmissions, timeouts, bytes received.
type Subflow = (usize, String, String, f64, f64, f64, u64, u64, u64);

impl PyHost {
    fn id(&self, connection: u64) -> PyResult<Id> {
        self.ids.get(&connection).copied().ok_or_else(|| {
            PyValueError::new_err(format!("connection {connection} is not one of this host"))
        })
    }

    fn name(&mut self, id: Id) -> u64 {
        self.next += 1;
        self.ids.insert(self.next, id);
        self.next
    }
}

#[pymethods]
impl PyHost {
    #[new]
    #[pyo3(signature = (controller, random, *, multipath=true, checksums=false, subflows=8, mtu=1500,
        receive_buffer=6_291_456, send_buffer=4_194_304, user_timeout_s=180.0, keep_alive_s=None,
        time_wait_s=60.0))]
    #[expect(clippy::too_many_arguments, reason = "settings by name")]
    fn new(
        controller: &str,
        random: Py<PyAny>,
        multipath: bool,
        checksums: bool,
        subflows: usize,
        mtu: u16,
        receive_buffer: u64,
        send_buffer: usize,
        user_timeout_s: f64,
        keep_alive_s: Option<f64>,
        time_wait_s: f64,
    ) -> PyResult<Self> {
        let controller = crate::names::parsed(controller)?;
        let span = |seconds: f64| Span((seconds * 1e9) as u64);
        let mut settings = Settings::new(controller);
        settings.options.receive_buffer = Bytes(receive_buffer);
        let settings = Settings {
            multipath,
            checksums,
            subflows,
            mtu,
            send_buffer,
            user_timeout: span(user_timeout_s),
            keep_alive: keep_alive_s.map(span),
            time_wait: span(time_wait_s),
            ..settings
        };
        let draw = move || {
            Python::attach(|py| random.call0(py)?.extract::<u64>(py))
                .expect("`random` returns whole numbers below 2**64")
        };
        let host = Host::new(settings, draw).map_err(|wrong| {
            let text = format!("{} is {}: {}", wrong.key, wrong.value, wrong.right);
            PyValueError::new_err(text)
        })?;
        Ok(PyHost { host, ids: BTreeMap::new(), next: 0 })
    }

    fn listen(&mut self, port: u16) {
        self.host.listen(port);
    }

    fn accept(&mut self) -> Option<u64> {
        let id = self.host.accept()?;
        Some(self.name(id))
    }

    fn connect(&mut self, now_s: f64, local: &str, remote: &str) -> PyResult<u64> {
        let begun = self.host.connect(at(now_s), end(local)?, end(remote)?);
        let id = begun.map_err(|error| PyOSError::new_err(format!("{local}: {error}")))?;
        Ok(self.name(id))
    }

    #[pyo3(signature = (now_s, connection, local, remote, ids, backup=false))]
    fn join(
        &mut self,
        now_s: f64,
        connection: u64,
        local: &str,
        remote: &str,
        ids: [u8; 2],
        backup: bool,
    ) -> PyResult<usize> {
        let (id, ends) = (self.id(connection)?, (end(local)?, end(remote)?));
        let joined = self.host.join(at(now_s), id, ends, ids, backup);
        joined.map_err(|error| PyOSError::new_err(format!("{local}: {error}")))
    }

    fn write(&mut self, now_s: f64, connection: u64, data: &[u8]) -> PyResult<usize> {
        let id = self.id(connection)?;
        Ok(self.host.write(at(now_s), id, data))
    }

    fn read<'py>(
        &mut self,
        py: Python<'py>,
        now_s: f64,
        connection: u64,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let id = self.id(connection)?;
        let mut buffer = vec![0; 65_536];
        match self.host.read(at(now_s), id, &mut buffer) {
            Ok(Read::Bytes(count)) => Ok(Some(PyBytes::new(py, &buffer[..count]))),
            Ok(Read::Nothing) => Ok(None),
            Ok(Read::End) => Ok(Some(PyBytes::new(py, &[]))),
            Err(failure) => Err(PyConnectionError::new_err(failure.to_string())),
        }
    }

    fn close(&mut self, now_s: f64, connection: u64) -> PyResult<()> {
        let id = self.id(connection)?;
        self.host.close(at(now_s), id);
        Ok(())
    }

    fn abort(&mut self, now_s: f64, connection: u64) -> PyResult<()> {
        let id = self.id(connection)?;
        self.host.abort(at(now_s), id);
        Ok(())
    }

    fn state(&self, connection: u64) -> PyResult<&'static str> {
        let id = self.id(connection)?;
        Ok(match self.host.is_over(id) {
            true => "over",
            false if self.host.failure(id).is_some() => "failed",
            false if !self.host.is_established(id) => "opening",
            false if self.host.is_multipath(id) => "multipath",
            false => "plain",
        })
    }

    fn unacknowledged(&self, connection: u64) -> PyResult<u64> {
        Ok(self.host.unacknowledged(self.id(connection)?))
    }

    fn subflows(&self, connection: u64) -> PyResult<Vec<Subflow>> {
        let id = self.id(connection)?;
        let told = self.host.subflows(id).into_iter().map(|(path, local, remote, it)| {
            let (srtt, taken) = (it.srtt.seconds(), self.host.taken(id, path));
            let (local, remote) = (shown(local), shown(remote));
            (path, local, remote, it.cwnd, it.ssthresh, srtt, it.retransmits, it.timeouts, taken)
        });
        Ok(told.collect())
    }

    fn on_packet(&mut self, now_s: f64, packet: &[u8]) {
        self.host.on_packet(at(now_s), packet);
    }

    fn poll<'py>(&mut self, py: Python<'py>, now_s: f64) -> Option<Bound<'py, PyBytes>> {
        self.host.poll(at(now_s)).map(|packet| PyBytes::new(py, &packet))
    }

    fn next_deadline_s(&self) -> f64 {
        match self.host.next_deadline() {
            Time::NEVER => f64::INFINITY,
            Time(nanos) => nanos as f64 / 1e9,
        }
    }

    fn on_deadline(&mut self, now_s: f64) {
        self.host.on_deadline(at(now_s));
    }

    fn __len__(&self) -> usize {
        self.host.len()
    }
}
