//! Controllers that are Python classes.

use control::{
    Acked, Cause, CongestionController, Delivered, Needs, Outside, Phase, SegmentRate, Settings,
    Window,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use units::{Span, Time};

/// See `PathView` in `_core.pyi`.
#[pyclass]
#[derive(Clone, Debug, Default)]
pub(crate) struct PathView {
    #[pyo3(get)]
    index: usize,
    #[pyo3(get, set)]
    window: f64,
    #[pyo3(get, set)]
    ssthresh: f64,
    #[pyo3(get, set)]
    pacing_rate: Option<f64>,
    #[pyo3(get)]
    floor: f64,
    #[pyo3(get)]
    now: f64,
    #[pyo3(get)]
    acked: f64,
    #[pyo3(get)]
    srtt: f64,
    #[pyo3(get)]
    min_rtt: f64,
    #[pyo3(get)]
    last_rtt: f64,
    #[pyo3(get)]
    one_way_delay: f64,
    #[pyo3(get)]
    delivery_rate: f64,
    #[pyo3(get)]
    delivered: f64,
    #[pyo3(get)]
    in_flight: f64,
    #[pyo3(get)]
    app_limited: bool,
    #[pyo3(get)]
    in_recovery: bool,
    #[pyo3(get)]
    after_timeout: bool,
    #[pyo3(get)]
    member: bool,
}

#[pymethods]
impl PathView {
    fn __repr__(&self) -> String {
        let PathView { index, window, ssthresh, srtt, now, .. } = self;
        format!(
            "<PathView {index}: window {window}, ssthresh {ssthresh}, srtt {srtt} s, at {now} s>"
        )
    }
}

/// The error of the first controller that failed, and its simulated time.
#[derive(Debug, Default)]
pub(crate) struct Failure(Mutex<Option<(PyErr, f64)>>);

impl Failure {
    fn note(&self, error: PyErr, now: f64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((error, now));
    }

    /// Whether a controller has failed.
    pub(crate) fn is_there(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The error, with the simulated time as a note to its traceback.
    pub(crate) fn take(&self, py: Python<'_>) -> Option<PyErr> {
        let (error, now) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let note = format!("in a controller, at {now:.9} s of simulated time");
        error.value(py).call_method1("add_note", (note,)).ok(); // without it the error is still there
        Some(error)
    }
}

/// Builds a controller for each connection of a run.
#[derive(Debug)]
pub(crate) struct PythonControllers {
    name: String,
    /// Called with the list of paths and a stream of random numbers.
    class: Py<PyAny>,
    seed: u64,
    /// Number of connections so far.
    made: AtomicU64,
    failure: Arc<Failure>,
}

impl PythonControllers {
    pub(crate) fn new(name: String, class: Py<PyAny>, seed: u64, failure: Arc<Failure>) -> Self {
        PythonControllers { name, class, seed, made: AtomicU64::new(0), failure }
    }

    /// The object of a connection, with the views of its paths.
    fn made(&self, py: Python<'_>, views: &[Py<PathView>]) -> PyResult<Py<PyAny>> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let paths = PyList::new(py, views.iter().map(|view| view.clone_ref(py)))?;
        let seed = format!("anabranch controller {} {number}", self.seed);
        let random = py.import("random")?.call_method1("Random", (seed,))?;
        self.class.call1(py, (paths, random))
    }
}

impl Outside for PythonControllers {
    fn name(&self) -> &str {
        &self.name
    }

    fn needs(&self) -> Needs {
        Needs { delays: true, rates: true, siblings: true, ..Needs::NONE }
    }

    fn control(&self, settings: Settings, paths: usize) -> Box<dyn CongestionController + Send> {
        let first = |index| PathView {
            index,
            window: settings.initial_window,
            ssthresh: settings.initial_ssthresh,
            floor: settings.min_window,
            min_rtt: f64::INFINITY,
            member: true,
            ..PathView::default()
        };
        let shown: Vec<PathView> = (0..paths).map(first).collect();
        let (views, object) = Python::attach(|py| {
            let views = shown.iter().map(|view| Py::new(py, view.clone()));
            let made = views.collect::<PyResult<Vec<_>>>();
            let object = made.and_then(|views| Ok((self.made(py, &views)?, views)));
            match object {
                Ok((object, views)) => (views, Some(object)),
                Err(error) => {
                    self.failure.note(error, 0.0);
                    (Vec::new(), None)
                }
            }
        });
        let windows = shown.iter().map(|view| (view.window, view.ssthresh)).collect();
        let mut control = PythonController {
            object,
            views,
            before: shown.clone(),
            windows,
            pacing: vec![None; paths],
            shown,
            timer: Time::NEVER,
            settings,
            failure: self.failure.clone(),
        };
        control.told("__init__", 0, None);
        Box::new(control)
    }
}

/// A controller that is a Python object, over the paths of a connection.
#[derive(Debug)]
struct PythonController {
    /// `None` if its construction failed.
    object: Option<Py<PyAny>>,
    views: Vec<Py<PathView>>,
    /// The views of each path at the next call.
    shown: Vec<PathView>,
    /// Windows before the last congestion event of each path.
    before: Vec<PathView>,
    /// Window and ssthresh of each path, as last set by the object.
    windows: Vec<(f64, f64)>,
    pacing: Vec<Option<SegmentRate>>,
    timer: Time,
    settings: Settings,
    failure: Arc<Failure>,
}

impl PythonController {
    /// Calls a method of the object for a path, and applies the values that it sets. After a
    /// failure no method is called, and windows stay.
    fn told(&mut self, method: &str, path: usize, now: Option<Time>) {
        if self.failure.is_there() {
            return;
        }
        if let Some(now) = now {
            self.shown.iter_mut().for_each(|view| view.now = now.seconds());
        }
        let now = self.shown[path].now;
        let done = Python::attach(|py| self.call(py, method, path));
        if let Err(error) = done {
            self.failure.note(error, now);
        }
    }

    fn call(&mut self, py: Python<'_>, method: &str, path: usize) -> PyResult<()> {
        let Some(object) = &self.object else {
            return Ok(());
        };
        for (view, (shown, (window, ssthresh))) in
            self.views.iter().zip(self.shown.iter().zip(&self.windows))
        {
            let mut view = view.borrow_mut(py);
            let pacing_rate = view.pacing_rate;
            *view = PathView { window: *window, ssthresh: *ssthresh, pacing_rate, ..shown.clone() };
        }
        match method {
            "__init__" => {}
            "on_timer" => drop(object.call_method1(py, method, (self.shown[path].now,))?),
            _ => drop(object.call_method1(py, method, (&self.views[path],))?),
        }
        self.take_over(py, method)
    }

    /// Applies windows, pacing rates and the timer.
    fn take_over(&mut self, py: Python<'_>, method: &str) -> PyResult<()> {
        let floor = self.settings.min_window;
        for (path, view) in self.views.iter().enumerate() {
            let view = view.borrow(py);
            let PathView { window, ssthresh, pacing_rate, .. } = *view;
            let wrong = |what: &str, value: f64, right: &str| {
                let text = format!("path {path}: {what} is {value} after {method}; it is {right}");
                Err(PyValueError::new_err(text))
            };
            if !(window.is_finite() && window >= floor) {
                return wrong("window", window, &format!("a number of segments, at least {floor}"));
            }
            if ssthresh.is_nan() || ssthresh <= 0.0 {
                return wrong("ssthresh", ssthresh, "above 0 segments");
            }
            if let Some(rate) = pacing_rate.filter(|rate| !(rate.is_finite() && *rate > 0.0)) {
                return wrong("pacing_rate", rate, "None, or above 0 segments per second");
            }
            self.windows[path] = (window, ssthresh);
            self.pacing[path] = pacing_rate.map(SegmentRate);
        }
        let Some(object) = &self.object else {
            return Ok(());
        };
        let timer: Option<f64> = object.getattr(py, "timer")?.extract(py)?;
        let now = self.shown.first().map_or(0.0, |view| view.now);
        let moment = Time::from(Span::from_seconds(now));
        self.timer = match timer {
            None => Time::NEVER,
            Some(at) if at >= 0.0 && at.is_finite() => Time::from(Span::from_seconds(at)),
            Some(at) => {
                let text =
                    format!("timer is {at} after {method}; it is None, or simulated seconds");
                return Err(PyValueError::new_err(text));
            }
        };
        if method == "on_timer" && self.timer <= moment {
            let text =
                format!("timer is {now} s, which is now, after on_timer; it is later, or None");
            return Err(PyValueError::new_err(text));
        }
        Ok(())
    }
}

impl CongestionController for PythonController {
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        let view = &mut self.shown[path];
        view.acked = ack.segments;
        view.srtt = ack.srtt.seconds();
        view.last_rtt = ack.rtt.seconds();
        if ack.rtt > Span::ZERO {
            view.min_rtt = view.min_rtt.min(view.last_rtt);
        }
        view.app_limited = !ack.cwnd_limited;
        view.in_recovery = ack.phase == Phase::Recovery;
        view.after_timeout = ack.phase == Phase::Loss;
        self.told("on_ack", path, Some(ack.now));
    }

    fn on_congestion(&mut self, path: usize, cause: Cause) {
        if cause != Cause::TimeoutAgain {
            let (window, ssthresh) = self.windows[path];
            self.before[path] = PathView { window, ssthresh, ..PathView::default() };
        }
        match cause {
            Cause::FastRetransmit | Cause::Mark => self.told("on_loss", path, None),
            Cause::Timeout => self.told("on_timeout", path, None),
            Cause::TimeoutAgain => self.windows[path].0 = self.settings.min_window,
        }
    }

    fn on_recovered(&mut self, path: usize) {
        self.shown[path].in_recovery = false;
    }

    fn set_member(&mut self, path: usize, member: bool) {
        let Settings { initial_window, initial_ssthresh, .. } = self.settings;
        self.windows[path] = (initial_window, initial_ssthresh);
        let index = self.shown[path].index;
        let now = self.shown[path].now;
        let (floor, min_rtt) = (self.settings.min_window, f64::INFINITY);
        self.shown[path] = PathView { index, floor, now, min_rtt, member, ..PathView::default() };
        let (window, ssthresh) = self.windows[path];
        self.before[path] = PathView { window, ssthresh, ..PathView::default() };
        self.pacing[path] = None;
        if let Some(view) = self.views.get(path) {
            Python::attach(|py| view.borrow_mut(py).pacing_rate = None);
        }
    }

    fn undo(&mut self, path: usize) {
        let PathView { window, ssthresh, .. } = self.before[path];
        let now = self.windows[path];
        self.windows[path] = (now.0.max(window), now.1.max(ssthresh));
    }

    fn restart(&mut self, path: usize, window: Window) {
        self.windows[path] = (window.cwnd.max(self.settings.min_window), window.ssthresh);
    }

    fn window(&self, path: usize) -> Window {
        let (cwnd, ssthresh) = self.windows[path];
        Window { cwnd, ssthresh }
    }

    fn on_delivered(&mut self, path: usize, delivered: &Delivered) {
        let view = &mut self.shown[path];
        view.delivery_rate = delivered.rate.0;
        view.delivered = delivered.total;
        view.in_flight = delivered.pipe;
        view.app_limited |= delivered.app_limited;
    }

    fn on_delay(&mut self, path: usize, delay: Span) {
        self.shown[path].one_way_delay = delay.seconds();
    }

    fn timer(&self) -> Time {
        self.timer
    }

    fn on_timer(&mut self, now: Time) {
        self.timer = Time::NEVER;
        if let Some(object) = &self.object {
            let cleared = Python::attach(|py| object.setattr(py, "timer", py.None()));
            if let Err(error) = cleared {
                self.failure.note(error, now.seconds());
            }
        }
        self.told("on_timer", 0, Some(now));
    }

    fn pacing(&self, path: usize) -> Option<SegmentRate> {
        self.pacing[path]
    }
}
