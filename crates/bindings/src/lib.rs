//! `anabranch._core`: the functions that Python calls. They compute nothing themselves: they
//! convert arguments, release the interpreter, call Rust and convert results. Signatures and
//! meanings are in `python/anabranch/_core.pyi`.

mod capture;
#[cfg(target_os = "linux")]
mod driver;
#[cfg(target_os = "linux")]
mod emulate;
mod explorer;
mod fairness;
mod host;
#[cfg(all(target_os = "linux", feature = "kernel"))]
mod kernel;
mod laws;
mod memory;
mod names;
mod outside;
mod proof;
#[cfg(target_os = "linux")]
mod quic;
mod recording;
mod sharing;
mod simulate;
mod tables;
#[cfg(target_os = "linux")]
mod tunnel;
mod written;

use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use scenario::{Override, Plan};
use std::path::{Path, PathBuf};

pyo3::create_exception!(
    _core,
    ScenarioError,
    PyValueError,
    "A scenario or its overrides are wrong."
);

pyo3::create_exception!(
    _core,
    MemoryEnded,
    PyMemoryError,
    "Replications were ended lest memory ends: why, and those that had finished."
);

/// The module.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add("MemoryEnded", module.py().get_type::<MemoryEnded>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("SOURCES", env!("AB_RUN_SOURCES"))?;
    module.add("COUPLED_PATHS", ports::PATHS)?;
    module.add("MOST_SCENARIO_BYTES", scenario::MOST_BYTES)?;
    module.add_function(wrap_pyfunction!(plan, module)?)?;
    module.add_function(wrap_pyfunction!(with_file, module)?)?;
    module.add_function(wrap_pyfunction!(with_files, module)?)?;
    module.add_function(wrap_pyfunction!(with_overrides, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(plan_schema, module)?)?;
    module.add_function(wrap_pyfunction!(tables::declared, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(explorer::answered, module)?)?;
    module.add_function(wrap_pyfunction!(capture::read_capture, module)?)?;
    module.add_function(wrap_pyfunction!(names::find_name, module)?)?;
    module.add_function(wrap_pyfunction!(names::offer, module)?)?;
    module.add_function(wrap_pyfunction!(names::controller, module)?)?;
    module.add_function(wrap_pyfunction!(names::controller_name, module)?)?;
    module.add_function(wrap_pyfunction!(names::seconds, module)?)?;
    module.add_function(wrap_pyfunction!(names::bits_per_second, module)?)?;
    module.add_class::<host::PyHost>()?;
    module.add_class::<outside::PathView>()?;
    module.add_function(wrap_pyfunction!(written::law, module)?)?;
    module.add_function(wrap_pyfunction!(written::law_c, module)?)?;
    module.add_function(wrap_pyfunction!(written::slopes, module)?)?;
    module.add_function(wrap_pyfunction!(proof::prove, module)?)?;
    module.add_function(wrap_pyfunction!(laws::controllers, module)?)?;
    module.add_function(wrap_pyfunction!(laws::schedulers, module)?)?;
    module.add_function(wrap_pyfunction!(laws::queues, module)?)?;
    module.add_function(wrap_pyfunction!(laws::media, module)?)?;
    module.add_function(wrap_pyfunction!(laws::slow_starts, module)?)?;
    module.add_function(wrap_pyfunction!(sharing::detectors, module)?)?;
    module.add_function(wrap_pyfunction!(sharing::detect, module)?)?;
    module.add_function(wrap_pyfunction!(laws::drift, module)?)?;
    module.add_function(wrap_pyfunction!(laws::growth, module)?)?;
    module.add_function(wrap_pyfunction!(laws::backoff, module)?)?;
    module.add_function(wrap_pyfunction!(laws::window_after_loss, module)?)?;
    module.add_function(wrap_pyfunction!(laws::red_drop_probability, module)?)?;
    module.add_function(wrap_pyfunction!(fairness::p1, module)?)?;
    module.add_function(wrap_pyfunction!(fairness::p2, module)?)?;
    module.add_function(wrap_pyfunction!(fairness::harm, module)?)?;
    #[cfg(target_os = "linux")]
    add_sockets(module)?;
    #[cfg(all(target_os = "linux", feature = "kernel"))]
    add_kernel(module)?;
    Ok(())
}

/// What needs devices and sockets of Linux.
#[cfg(target_os = "linux")]
fn add_sockets(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<emulate::Emulator>()?;
    module.add_class::<emulate::Spinner>()?;
    module.add_class::<driver::WireSenders>()?;
    module.add_class::<quic::QuicServer>()?;
    module.add_class::<quic::QuicFetch>()?;
    module.add_function(wrap_pyfunction!(quic::quic_fingerprint, module)?)?;
    module.add_class::<tunnel::TunnelListen>()?;
    module.add_class::<tunnel::TunnelConnect>()?;
    module.add_function(wrap_pyfunction!(tunnel::tunnel_key, module)?)?;
    Ok(())
}

#[cfg(all(target_os = "linux", feature = "kernel"))]
fn add_kernel(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<kernel::KernelController>()?;
    module.add_class::<kernel::KernelCoupler>()?;
    module.add_class::<kernel::KernelReader>()?;
    module.add_class::<kernel::KernelSampler>()?;
    module.add_function(wrap_pyfunction!(kernel::kernel_programs, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::kernel_sources, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::kernel_source_files, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::kernel_loaded, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::kernel_counters, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::kernel_unload, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::kernel_assign, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::kernel_unassign, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::kernel_assigned, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::kernel_subflows, module)?)
}

#[pyfunction]
#[pyo3(signature = (text, name="<scenario>", *, overrides=Vec::new(), controller=None))]
fn plan(
    text: &str,
    name: &str,
    overrides: Vec<String>,
    controller: Option<&str>,
) -> PyResult<String> {
    Ok(read(text, name, &overrides, controller)?.to_json().to_string())
}

/// The text with the controller and the overrides written into it.
#[pyfunction]
#[pyo3(signature = (text, name="<scenario>", *, overrides=Vec::new(), controller=None))]
fn with_overrides(
    text: &str,
    name: &str,
    overrides: Vec<String>,
    controller: Option<&str>,
) -> PyResult<String> {
    let changes = changes(text, name, &overrides, controller)?;
    scenario::with_overrides(text, name, &changes).map_err(wrong)
}

/// The scenario with the files of its traces, opportunities, movements and laws inside it; they are
/// found from `folder`.
#[pyfunction]
fn with_files(text: &str, name: &str, folder: PathBuf) -> PyResult<String> {
    let read = |file: &str| read_text(&folder.join(file));
    let embedded = scenario::with_files(text, name, &read).map_err(wrong)?;
    Ok(embedded.unwrap_or_else(|| text.to_owned()))
}

/// An override of a trace's file as one of its text.
#[pyfunction]
fn with_file(change: &str) -> PyResult<String> {
    let change: Override = change.parse().map_err(wrong)?;
    let Override { key, value } = change.with_file(&from_here).map_err(wrong)?;
    Ok(format!("{key}={value}"))
}

/// The text of a file.
fn read_text(file: &Path) -> Result<String, String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not text".to_owned())
}

/// The text of a file whose path is relative to the folder of this process.
fn from_here(file: &str) -> Result<String, String> {
    read_text(Path::new(file))
}

/// The text of a controller in a scenario.
fn source(controller: &str) -> Result<String, String> {
    names::spec(controller).map(|spec| spec.source().to_owned())
}

#[pyfunction]
fn schema() -> String {
    scenario::json_schema()
}

#[pyfunction]
fn plan_schema() -> String {
    scenario::plan_schema()
}

fn read(text: &str, name: &str, overrides: &[String], controller: Option<&str>) -> PyResult<Plan> {
    Plan::read(text, name, &changes(text, name, overrides, controller)?).map_err(wrong)
}

fn changes(
    text: &str,
    name: &str,
    overrides: &[String],
    controller: Option<&str>,
) -> PyResult<Vec<Override>> {
    scenario::changes(text, name, controller, overrides, &source, &from_here).map_err(wrong)
}

fn wrong(error: scenario::Error) -> PyErr {
    ScenarioError::new_err(error.to_string())
}
