//! The controllers in the running kernel.

use crate::names::parsed;
use kernel::{
    Controller, Counters, Coupler, ErrorKind, Fault, Operator, Place, Program, Reader, Sampled,
    Sampler, Settings, Subflow,
};
use numpy::IntoPyArray;
use ports::{Judged, Port, Step};
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyOSError, PyPermissionError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The words of the package's own commands.
const OPERATOR: Operator = Operator { words: "anabranch linux" };

/// The kernel's answer as the Python exception of its kind.
fn raised(error: kernel::Error) -> PyErr {
    let text = format!("{error:#}");
    match error.kind() {
        ErrorKind::AlreadyExists => PyFileExistsError::new_err(text),
        ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
        ErrorKind::PermissionDenied => PyPermissionError::new_err(text),
        _ => PyOSError::new_err(text),
    }
}

fn known(name: &str) -> PyResult<&'static Program> {
    kernel::program(name).ok_or_else(|| {
        let laws: Vec<&str> = kernel::PROGRAMS.iter().map(Program::law).collect();
        PyValueError::new_err(format!(
            "there is no controller `{name}` for the kernel; there are {}",
            laws.join(", ")
        ))
    })
}

fn counted<'py>(py: Python<'py>, counters: &Counters) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    counters.named().iter().try_for_each(|(name, count)| table.set_item(name, count))?;
    Ok(table)
}

fn closed() -> PyErr {
    PyValueError::new_err("the controller was closed or pinned")
}

/// See `KernelController` in `_core.pyi`.
#[pyclass(frozen)]
pub(crate) struct KernelController {
    program: Program,
    controller: Mutex<Option<Controller>>,
    /// With `sbd`, from the first pass on.
    coupler: Mutex<Option<Coupler>>,
}

impl KernelController {
    fn with<T>(&self, ask: impl FnOnce(&Controller) -> Result<T, kernel::Error>) -> PyResult<T> {
        let controller = self.controller.lock().unwrap_or_else(PoisonError::into_inner);
        match &*controller {
            Some(controller) => ask(controller).map_err(raised),
            None => Err(closed()),
        }
    }

    fn take(&self) -> Option<Controller> {
        self.controller.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[pymethods]
impl KernelController {
    #[new]
    #[pyo3(signature = (
        name=None, *, kernel_name=None, min_ssthresh=None, skips=0.0, record=false, fault=None, sbd=false, object=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword of the Python function")]
    fn new(
        name: Option<&str>,
        kernel_name: Option<String>,
        min_ssthresh: Option<NonZeroU32>,
        skips: f64,
        record: bool,
        fault: Option<&str>,
        sbd: bool,
        object: Option<Vec<u8>>,
    ) -> PyResult<Self> {
        let program = match object {
            Some(object) => compiled(name, kernel_name.clone(), object)?,
            None => known(name.unwrap_or_default())?.clone(),
        };
        let fault = fault.map_or(Ok(Fault::Sound), str::parse).map_err(PyValueError::new_err)?;
        let settings = Settings { name: kernel_name, min_ssthresh, skips, record, fault, sbd };
        let controller = Controller::load(&program, &settings).map_err(raised)?;
        Ok(KernelController {
            program,
            controller: Mutex::new(Some(controller)),
            coupler: Mutex::new(None),
        })
    }

    /// See `KernelController.replace` in `_core.pyi`.
    #[staticmethod]
    #[pyo3(signature = (name=None, *, kernel_name=None, min_ssthresh=None, sbd=false, object=None))]
    fn replace(
        name: Option<&str>,
        kernel_name: Option<String>,
        min_ssthresh: Option<NonZeroU32>,
        sbd: bool,
        object: Option<Vec<u8>>,
    ) -> PyResult<()> {
        let program = match object {
            Some(object) => compiled(name, kernel_name.clone(), object)?,
            None => known(name.unwrap_or_default())?.clone(),
        };
        let settings = Settings { name: kernel_name, min_ssthresh, sbd, ..Settings::default() };
        Controller::replace(&program, &settings).map_err(raised)
    }

    #[getter]
    fn kernel_name(&self) -> PyResult<String> {
        self.with(|controller| Ok(controller.kernel_name().to_owned()))
    }

    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        counted(py, &self.with(Controller::counters)?)
    }

    fn cost<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let cost = self.with(|controller| Ok(controller.cost()))?;
        let table = PyDict::new(py);
        for (name, [calls, ns]) in cost.callbacks {
            table.set_item(name, (calls, ns))?;
        }
        Ok(table)
    }

    fn steps(&self) -> PyResult<Vec<String>> {
        let steps = self.with(Controller::steps)?;
        Ok(steps.iter().map(ToString::to_string).collect())
    }

    /// See `KernelController.judge` in `_core.pyi`.
    fn judge<'py>(&self, py: Python<'py>, steps: Vec<String>) -> PyResult<Bound<'py, PyDict>> {
        let mut controller = self.controller.lock().unwrap_or_else(PoisonError::into_inner);
        let controller = controller.as_mut().ok_or_else(closed)?;
        let parsed: Result<Vec<Step>, String> = steps.iter().map(|line| line.parse()).collect();
        let steps = parsed.map_err(PyValueError::new_err)?;
        let mut bytecode = 0;
        for step in &steps {
            let again = controller.replay(step).map_err(raised)?;
            bytecode += usize::from(Step { backoff: 0, ..again } != *step);
        }
        let port = self.program.port.as_ref().ok_or_else(|| {
            PyValueError::new_err("a law that was written in C has no text to be judged by")
        })?;
        let Judged { native, readable, misread, broken } = port.judge(&steps);
        let table = PyDict::new(py);
        table.set_item("bytecode", bytecode)?;
        table.set_item("native", native)?;
        table.set_item("readable", readable)?;
        table.set_item("misread", misread)?;
        table.set_item("broken", broken)?;
        Ok(table)
    }

    /// See `KernelController.couple` in `_core.pyi`.
    fn couple(&self, py: Python<'_>) -> PyResult<Vec<Vec<u32>>> {
        py.detach(|| {
            let mut coupler = self.coupler.lock().unwrap_or_else(PoisonError::into_inner);
            if coupler.is_none() {
                let mut controller = self.controller.lock().unwrap_or_else(PoisonError::into_inner);
                let controller = controller.as_mut().ok_or_else(closed)?;
                *coupler = Some(Coupler::new(controller).map_err(raised)?);
            }
            coupler.as_mut().map_or(Ok(Vec::new()), |coupler| coupler.pass().map_err(raised))
        })
    }

    fn pin(&self) -> PyResult<()> {
        match self.take() {
            Some(controller) => controller.pin(&self.program).map_err(raised),
            None => Err(closed()),
        }
    }

    fn close(&self) {
        *self.coupler.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.take();
    }
}

/// The controller of a law, from its compiled C, and its text if it has one.
fn compiled(text: Option<&str>, kernel_name: Option<String>, object: Vec<u8>) -> PyResult<Program> {
    let port = text.map(port_of).transpose()?;
    let kernel_name = kernel_name
        .ok_or_else(|| PyValueError::new_err("an object is loaded under a `kernel_name`"))?;
    Ok(Program::compiled(port, kernel_name, object))
}

/// The port of a law written as text.
fn port_of(text: &str) -> PyResult<Port> {
    let spec = parsed(text)?;
    let law = spec.written().ok_or_else(|| {
        PyValueError::new_err(format!(
            "`{spec}` is not written as text, and has an object of its own"
        ))
    })?;
    Port::written(law).map_err(|wrong| PyValueError::new_err(wrong.to_string()))
}

/// See `KernelCoupler` in `_core.pyi`.
#[pyclass(frozen)]
pub(crate) struct KernelCoupler(Mutex<Coupler>);

#[pymethods]
impl KernelCoupler {
    #[new]
    fn new(name: &str) -> PyResult<Self> {
        let coupler = Coupler::pinned(&name_in_kernel(name)?).map_err(raised)?;
        Ok(KernelCoupler(Mutex::new(coupler)))
    }

    fn couple(&self, py: Python<'_>) -> PyResult<Vec<Vec<u32>>> {
        py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).pass().map_err(raised))
    }
}

#[pyfunction]
pub(crate) fn kernel_source_files() -> Vec<(&'static str, &'static str)> {
    kernel::SOURCE_FILES.to_vec()
}

#[pyfunction]
pub(crate) fn kernel_programs() -> Vec<(String, String)> {
    let row = |program: &Program| (program.law().to_owned(), program.kernel_name.to_string());
    kernel::PROGRAMS.iter().map(row).collect()
}

#[pyfunction]
pub(crate) fn kernel_sources() -> &'static str {
    kernel::SOURCES
}

/// The law of a controller in the kernel; for a law written as text, its name there.
fn law_of(kernel_name: &str) -> String {
    kernel::program(kernel_name).map_or(kernel_name, Program::law).to_owned()
}

/// The name in the kernel of a shipped law, or of a law written as text with that name.
fn name_in_kernel(name: &str) -> PyResult<String> {
    match name.starts_with(kernel::WRITTEN) {
        true => Ok(name.to_owned()),
        false => Ok(known(name)?.kernel_name.to_string()),
    }
}

/// See `kernel_loaded` in `_core.pyi`.
#[pyfunction]
pub(crate) fn kernel_loaded(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let table = PyDict::new(py);
    for controller in kernel::loaded().map_err(raised)? {
        table.set_item(law_of(&controller.kernel_name), controller.link)?;
    }
    Ok(table)
}

#[pyfunction]
pub(crate) fn kernel_counters<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
    let kernel_name = name_in_kernel(name)?;
    let mut loaded = kernel::loaded().map_err(raised)?.into_iter();
    let own = loaded.find(|controller| controller.kernel_name == kernel_name);
    let own = own.ok_or_else(|| PyFileNotFoundError::new_err(format!("{name} is not loaded")))?;
    counted(py, &own.counters().map_err(raised)?)
}

#[pyfunction]
pub(crate) fn kernel_unload(name: &str) -> PyResult<()> {
    kernel::unload(&name_in_kernel(name)?).map_err(raised)
}

/// See `kernel_assign` in `_core.pyi`.
#[pyfunction]
#[pyo3(signature = (kernel_name, *, cgroup=None, service=None))]
pub(crate) fn kernel_assign(
    kernel_name: &str,
    cgroup: Option<PathBuf>,
    service: Option<String>,
) -> PyResult<PathBuf> {
    let place = place(cgroup, service)?;
    OPERATOR.assign_loaded(kernel_name, &place).map_err(|why| PyOSError::new_err(why.0))
}

/// See `kernel_unassign` in `_core.pyi`.
#[pyfunction]
#[pyo3(signature = (kernel_name, *, cgroup=None, service=None))]
pub(crate) fn kernel_unassign(
    kernel_name: &str,
    cgroup: Option<PathBuf>,
    service: Option<String>,
) -> PyResult<PathBuf> {
    let place = place(cgroup, service)?;
    OPERATOR.unassign_loaded(kernel_name, &place).map_err(|why| PyOSError::new_err(why.0))
}

fn place(cgroup: Option<PathBuf>, service: Option<String>) -> PyResult<Place> {
    match (cgroup, service) {
        (Some(path), None) => Ok(Place::Cgroup(path)),
        (None, Some(unit)) => Ok(Place::Service(unit)),
        _ => Err(PyValueError::new_err("give a control group or a service, one of the two")),
    }
}

/// See `kernel_assigned` in `_core.pyi`.
#[pyfunction]
pub(crate) fn kernel_assigned() -> PyResult<Vec<(String, String)>> {
    let all = kernel::assigned().map_err(raised)?;
    let there = all.iter().filter(|one| one.cgroup.is_some());
    Ok(there.map(|one| (one.controller.clone(), one.told())).collect())
}

/// See `kernel_subflows` in `_core.pyi`.
#[pyfunction]
pub(crate) fn kernel_subflows(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let rows = py.detach(kernel::subflows).map_err(raised)?;
    rows.iter().map(|row| told(py, row)).collect()
}

/// See `KernelReader` in `_core.pyi`.
#[pyclass(frozen)]
pub(crate) struct KernelReader(Mutex<Reader>);

#[pymethods]
impl KernelReader {
    #[new]
    fn new() -> PyResult<Self> {
        Ok(KernelReader(Mutex::new(Reader::new().map_err(raised)?)))
    }

    fn read<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let read = || self.0.lock().unwrap_or_else(PoisonError::into_inner).read();
        let rows = py.detach(read).map_err(raised)?;
        rows.iter().map(|row| told(py, row)).collect()
    }
}

/// See `KernelSampler` in `_core.pyi`.
#[pyclass(frozen)]
pub(crate) struct KernelSampler(Mutex<Sampler>);

#[pymethods]
impl KernelSampler {
    #[new]
    fn new() -> PyResult<Self> {
        Ok(KernelSampler(Mutex::new(Sampler::new().map_err(raised)?)))
    }

    fn look(&self, py: Python<'_>, namespace: u64) -> PyResult<usize> {
        py.detach(|| {
            let mut sampler = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            sampler.look(namespace).map_err(raised)
        })
    }

    fn sampled<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let sampler = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let seconds = |us: u64| us as f64 * 1e-6;
        let row = |own: &Sampled| {
            let table = PyDict::new(py);
            let column = |name, values: Vec<f64>| table.set_item(name, values.into_pyarray(py));
            let of = |values: &[u32]| values.iter().map(|us| seconds((*us).into())).collect();
            let at = |values: &[u64]| values.iter().map(|us| seconds(*us)).collect();
            column("sent_s", at(&own.sent_us))?;
            column("delay_s", of(&own.rtt_us))?;
            column("rtt_s", of(&own.srtt_us))?;
            column("lost_s", at(&own.lost_us))?;
            table.set_item("namespace", own.namespace)?;
            table.set_item("socket", told(py, &own.last)?)?;
            Ok(table)
        };
        sampler.sampled().map(row).collect()
    }
}

/// A socket as Python has it.
fn told<'py>(py: Python<'py>, row: &Subflow) -> PyResult<Bound<'py, PyDict>> {
    let segments = |fixed: i64| fixed as f64 / (1u64 << 32) as f64;
    let table = PyDict::new(py);
    table.set_item("controller", &row.controller)?;
    table.set_item("begun", row.begun)?;
    table.set_item("backup", row.backup)?;
    table.set_item("departed", row.departed)?;
    table.set_item("local", row.local.to_string())?;
    table.set_item("remote", row.remote.to_string())?;
    table.set_item("connection", row.connection)?;
    table.set_item("state", row.state)?;
    table.set_item("ca_state", row.ca_state)?;
    table.set_item("cwnd_segments", f64::from(row.cwnd) + segments(row.credit))?;
    table.set_item(
        "ssthresh_segments",
        match row.ssthresh {
            0x7fff_ffff => f64::INFINITY,
            ssthresh => f64::from(ssthresh),
        },
    )?;
    table.set_item("srtt_s", f64::from(row.srtt_us) * 1e-6)?;
    table.set_item("rate_bps", row.rate_bps())?;
    table.set_item("growth", segments(row.growth))?;
    table.set_item("since_loss", row.since_loss)?;
    table.set_item("between_losses", row.between_losses)?;
    table.set_item("delivered", row.delivered)?;
    table.set_item("losses", row.losses)?;
    table.set_item("missed", row.missed)?;
    table.set_item("repairs", row.repairs)?;
    table.set_item("paths", row.paths)?;
    table.set_item("group", row.group)?;
    Ok(table)
}
