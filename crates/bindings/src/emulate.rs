//! The emulator as a class that runs once, in the calling thread.

use crate::read;
use crate::recording::{Written, open};
use crate::tables::Dicts;
use emulator::{Device, Own, Reason, Report, Series, Settings, Side, Watch};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use scenario::Plan;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tables::{Samples, Sink};
use units::Span;

/// File descriptor, class, path, and whether it is the sender's side.
type Given = (RawFd, usize, usize, bool);

#[pyclass(frozen, module = "anabranch._core")]
pub(crate) struct Emulator {
    plan: Plan,
    watch: Watch,
    capture: Option<Written>,
    /// What has not run yet.
    ready: Mutex<Option<emulator::Emulator>>,
}

#[pymethods]
impl Emulator {
    #[new]
    #[pyo3(signature = (text, devices, *, first_port, seed=1, name="<scenario>", overrides=Vec::new(), controller=None, series=false, pcap=None, keep_bytes=None))]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword of the Python function")]
    fn new(
        text: &str,
        devices: Vec<Given>,
        first_port: u16,
        seed: u64,
        name: &str,
        overrides: Vec<String>,
        controller: Option<&str>,
        series: bool,
        pcap: Option<PathBuf>,
        keep_bytes: Option<usize>,
    ) -> PyResult<Self> {
        let plan = read(text, name, &overrides, controller)?;
        let devices = devices.into_iter().map(device).collect::<io::Result<Vec<_>>>()?;
        let settings = Settings { first_port, seed, series };
        let mut ready = emulator::Emulator::new(&plan, devices, settings)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let mut capture = None;
        if let Some((written, out)) = open(pcap)? {
            ready.record(&plan, out, keep_bytes.unwrap_or(usize::MAX))?;
            capture = Some(written);
        }
        Ok(Emulator { plan, watch: Watch::default(), capture, ready: Mutex::new(Some(ready)) })
    }

    #[pyo3(signature = (seconds=None))]
    fn run<'py>(&self, py: Python<'py>, seconds: Option<f64>) -> PyResult<Bound<'py, PyDict>> {
        let possible = |seconds: f64| seconds > 0.0 && seconds < 1e9;
        if let Some(seconds) = seconds.filter(|seconds| !possible(*seconds)) {
            let text = format!("seconds is {seconds}; it must be above 0 and below 1e9");
            return Err(PyValueError::new_err(text));
        }
        let ready = self.ready.lock().ok().and_then(|mut ready| ready.take());
        let ready = ready.ok_or_else(|| PyRuntimeError::new_err("an Emulator runs once"))?;
        let report = py.detach(|| ready.run(&self.watch, seconds.map(Span::from_seconds)))?;
        to_dict(py, &self.plan, &report)
    }

    fn unwritten(&self) -> Option<PyErr> {
        self.capture.as_ref().and_then(Written::failure)
    }

    fn stop(&self) {
        self.watch.stop();
    }

    fn elapsed_s(&self) -> f64 {
        self.watch.elapsed_s()
    }
}

#[pyclass(frozen, module = "anabranch._core")]
pub(crate) struct Spinner(Mutex<emulator::Spinner>);

#[pymethods]
impl Spinner {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Self> {
        Ok(Spinner(Mutex::new(py.detach(emulator::Spinner::start)?)))
    }

    #[getter]
    fn thread_id(&self) -> i32 {
        self.inner().thread_id()
    }

    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.inner().stop());
    }
}

impl Spinner {
    fn inner(&self) -> MutexGuard<'_, emulator::Spinner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn device((fd, class, path, is_sender): Given) -> io::Result<Device> {
    let side = if is_sender { Side::Sender } else { Side::Receiver };
    Ok(Device { fd: duplicate(fd)?, class, path, side })
}

/// A new descriptor for the open file of `fd`; the caller keeps its own.
#[expect(unsafe_code, reason = "Python hands descriptors over as numbers")]
pub(crate) fn duplicate(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{fd} is no file descriptor"),
        ));
    }
    // SAFETY: the number is not -1. It is only used within the call, while the interpreter is held,
    // to be duplicated; that fails if it is not open.
    unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned()
}

fn to_dict<'py>(py: Python<'py>, plan: &Plan, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    let to = &mut Dicts::into(&all);
    tables::links(to.at("links")?, &report.links, plan)?;
    tables::stations(to.at("stations")?, &report.stations, &tables::station_names(plan))?;
    tables::emulated_paths(to.at("paths")?, &report.paths, plan)?;
    match report.series.as_deref() {
        Some(own) => series(to, own)?,
        None => to.missing("series")?,
    }
    all.set_item("emulator", own(py, &report.own)?)?;
    Ok(all)
}

fn series(to: &mut Dicts<'_>, series: &Series) -> PyResult<()> {
    let rows = series.t_s.len();
    to.times(&series.t_s)?;
    let paths = Samples { of: &series.arrived_bytes, rows };
    tables::emulated_path_series(to.at("series.paths")?, paths)?;
    tables::link_series(to.at("series.links")?, Samples { of: &series.links, rows })?;
    let stations = Samples { of: &series.links.stations, rows };
    tables::station_series(to.at("series.stations")?, stations)
}

fn own<'py>(py: Python<'py>, own: &Own) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    table.set_item("lateness_p50_s", own.lateness.p50_s)?;
    table.set_item("lateness_p99_s", own.lateness.p99_s)?;
    table.set_item("lateness_p999_s", own.lateness.p999_s)?;
    table.set_item("lateness_max_s", own.lateness.max_s)?;
    table.set_item("waiting_p50_s", own.waiting.p50_s)?;
    table.set_item("waiting_p99_s", own.waiting.p99_s)?;
    table.set_item("waiting_p999_s", own.waiting.p999_s)?;
    table.set_item("waiting_max_s", own.waiting.max_s)?;
    table.set_item("cpu_fraction", own.processor.used)?;
    table.set_item("cpu_wait_fraction", own.processor.waited)?;
    table.set_item("forwarded_packets", own.conservation.written)?;
    table.set_item("largest_packet_bytes", own.largest_packet_bytes)?;
    table.set_item("elapsed_s", own.elapsed_s)?;
    let drops = PyDict::new(py);
    for reason in Reason::ALL {
        drops.set_item(reason.word(), own.drops.get(reason))?;
    }
    table.set_item("drops", drops)?;
    let conservation = PyDict::new(py);
    conservation.set_item("read", own.conservation.read)?;
    conservation.set_item("copied", own.conservation.copied)?;
    conservation.set_item("written", own.conservation.written)?;
    conservation.set_item("dropped", own.conservation.dropped)?;
    conservation.set_item("in_flight", own.conservation.in_flight)?;
    table.set_item("conservation", conservation)?;
    Ok(table)
}
