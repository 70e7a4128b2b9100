//! `anabranch._core`: what Python calls. Nothing is computed here: arguments are converted, the
//! interpreter is released, Rust is called, results are converted. Signatures and meanings are in
//! `python/anabranch/_core.pyi`.

mod capture;
#[cfg(target_os = "linux")]
mod emulate;
#[cfg(all(target_os = "linux", feature = "kernel"))]
mod kernel;
mod laws;
mod memory;
mod names;
mod outcome;
mod recording;
mod simulate;
mod tables;

use control::ControllerSpec;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use scenario::{Override, Plan};
use std::path::PathBuf;

pyo3::create_exception!(
    _core,
    ScenarioError,
    PyValueError,
    "A scenario or its overrides are wrong."
);

/// The module.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("COUPLED_PATHS", ports::PATHS)?;
    module.add_function(wrap_pyfunction!(plan, module)?)?;
    module.add_function(wrap_pyfunction!(with_traces, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(plan_schema, module)?)?;
    module.add_function(wrap_pyfunction!(tables::tables, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(capture::read_capture, module)?)?;
    module.add_function(wrap_pyfunction!(names::find_name, module)?)?;
    module.add_function(wrap_pyfunction!(names::near_names, module)?)?;
    module.add_function(wrap_pyfunction!(names::controller_name, module)?)?;
    module.add_function(wrap_pyfunction!(names::seconds, module)?)?;
    module.add_function(wrap_pyfunction!(laws::controllers, module)?)?;
    module.add_function(wrap_pyfunction!(laws::schedulers, module)?)?;
    module.add_function(wrap_pyfunction!(laws::queues, module)?)?;
    module.add_function(wrap_pyfunction!(laws::media, module)?)?;
    module.add_function(wrap_pyfunction!(laws::slow_starts, module)?)?;
    module.add_function(wrap_pyfunction!(laws::drift, module)?)?;
    module.add_function(wrap_pyfunction!(laws::growth, module)?)?;
    module.add_function(wrap_pyfunction!(laws::backoff, module)?)?;
    module.add_function(wrap_pyfunction!(laws::window_after_loss, module)?)?;
    module.add_function(wrap_pyfunction!(laws::red_drop_probability, module)?)?;
    #[cfg(target_os = "linux")]
    module.add_class::<emulate::Emulator>()?;
    #[cfg(target_os = "linux")]
    module.add_class::<emulate::Spinner>()?;
    #[cfg(all(target_os = "linux", feature = "kernel"))]
    add_kernel(module)?;
    Ok(())
}

#[cfg(all(target_os = "linux", feature = "kernel"))]
fn add_kernel(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<kernel::KernelController>()?;
    module.add_function(wrap_pyfunction!(kernel::kernel_programs, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::kernel_sources, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::kernel_loaded, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::kernel_counters, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::kernel_unload, module)?)?;
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

/// The scenario with the files of its traces and opportunities inside it; they are found from
/// `folder`.
#[pyfunction]
fn with_traces(text: &str, name: &str, folder: PathBuf) -> PyResult<String> {
    let read = |file: &str| {
        let bytes = std::fs::read(folder.join(file)).map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|_| "it is not text".to_owned())
    };
    let embedded = scenario::with_traces(text, name, &read);
    let embedded = embedded.map_err(|error| ScenarioError::new_err(error.to_string()))?;
    Ok(embedded.unwrap_or_else(|| text.to_owned()))
}

#[pyfunction]
fn schema() -> String {
    scenario::json_schema()
}

#[pyfunction]
fn plan_schema() -> String {
    scenario::plan_schema()
}

/// Reads a scenario; overrides come after the controller, so that they win.
fn read(text: &str, name: &str, overrides: &[String], controller: Option<&str>) -> PyResult<Plan> {
    let wrong = |error: scenario::Error| ScenarioError::new_err(error.to_string());
    let mut all = Vec::new();
    if let Some(controller) = controller {
        controller
            .parse::<ControllerSpec>()
            .map_err(|unknown| ScenarioError::new_err(unknown.to_string()))?;
        all = scenario::with_controller(text, name, controller).map_err(wrong)?;
    }
    for change in overrides {
        all.push(change.parse::<Override>().map_err(wrong)?);
    }
    Plan::read(text, name, &all).map_err(wrong)
}
