//! Runs replications while Python continues: the interpreter is released, and is checked for
//! interrupts at intervals.

use crate::memory::{self, Allowance};
use crate::outside::{Failure, PythonControllers};
use crate::recording::open;
use crate::tables::Dicts;
use crate::{MemoryEnded, ScenarioError, read};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use scenario::Plan;
use simulator::{Observe, Outcome, Progress, QlogForm, Recording, record, replicate, run};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::mpsc;
use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use units::{Span, Time};

/// Interval of progress reports and checks for interrupts.
const BREATH: Duration = Duration::from_millis(50);

#[pyfunction]
#[pyo3(signature = (text, seeds, *, name="<scenario>", overrides=Vec::new(), controller=None, outside=None, threads=0, series=false, events=false, pcap=None, qlog=None, qlog_form="0.3", until_s=None, keep_bytes=None, progress=None, unwritten=None))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword of the Python function")]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    text: &str,
    seeds: Vec<u64>,
    name: &str,
    overrides: Vec<String>,
    controller: Option<&str>,
    outside: Option<(String, Py<PyAny>)>,
    threads: usize,
    series: bool,
    events: bool,
    pcap: Option<PathBuf>,
    qlog: Option<PathBuf>,
    qlog_form: &str,
    until_s: Option<f64>,
    keep_bytes: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
    unwritten: Option<Bound<'py, PyDict>>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let plan = read(text, name, &overrides, controller)?;
    simulator::check(&plan).map_err(ScenarioError::new_err)?;
    if let (Some((class, _)), Some(quic)) = (&outside, plan.quic()) {
        return Err(ScenarioError::new_err(format!(
            "flow `{}` is QUIC, and `{class}` is a class of Python; QUIC takes controllers by name \
             and laws in text",
            quic.name
        )));
    }
    let outside = outside.map(|(name, class)| Classes { name, class, failure: Arc::default() });
    let failure = outside.as_ref().map(|classes| classes.failure.clone());
    let wanted = Observe { series, events: events.then_some(usize::MAX) };
    let allowance = memory::check(&plan, wanted, seeds.len(), threads)?;
    let observe = Observe { events: events.then_some(allowance.entries), ..wanted };
    let work = Work { plan: &plan, seeds, observe, threads, outside };
    let qlog_form = form(qlog_form)?;
    let until = until_s.map(|until| Time::from(Span::from_seconds(until)));
    let (mut files, mut outs) = (Vec::new(), [None, None]);
    for (file, place) in [pcap, qlog].into_iter().zip(&mut outs) {
        if let Some((written, out)) = open(file)? {
            files.push(written);
            *place = Some(out);
        }
    }
    let [pcap, qlog] = outs;
    let recording = Recording { pcap, qlog, qlog_form, until, keep: keep_bytes };
    let watched = watched(py, work, recording, &allowance, progress, failure.as_deref());
    if let Some(error) = failure.and_then(|failure| failure.take(py)) {
        return Err(error);
    }
    let Watched { outcomes, memory_ended } = watched?;
    for file in &files {
        match (file.failure(), &unwritten) {
            (Some(error), Some(told)) => told.set_item(file.path(), error)?,
            (Some(error), None) => return Err(error),
            (None, _) => {}
        }
    }
    // Each is dropped as soon as it has been converted.
    let runs = outcomes.into_iter().map(|outcome| {
        let run = PyDict::new(py);
        tables::outcome(&mut Dicts::into(&run), &plan, &outcome).map(|()| run)
    });
    let runs = runs.collect::<PyResult<Vec<_>>>()?;
    match memory_ended {
        Some(why) => Err(MemoryEnded::new_err((why, PyList::new(py, runs)?.unbind()))),
        None => Ok(runs),
    }
}

/// The version and serialization of a qlog, by the name that Python has for it.
fn form(name: &str) -> PyResult<QlogForm> {
    match name {
        "0.3" => Ok(QlogForm::Older),
        "draft" => Ok(QlogForm::Draft),
        "draft-sequence" => Ok(QlogForm::DraftSequence),
        _ => Err(PyValueError::new_err(format!(
            "qlog_form is {name:?}; write 0.3, draft or draft-sequence"
        ))),
    }
}

/// The results of replications.
struct Watched {
    outcomes: Vec<Outcome>,
    /// Why memory ended the missing replications.
    memory_ended: Option<String>,
}

/// The replications to run.
struct Work<'a> {
    plan: &'a Plan,
    seeds: Vec<u64>,
    observe: Observe,
    threads: usize,
    /// The Python class of the controllers, in place of those of the plan.
    outside: Option<Classes>,
}

/// A Python class whose objects are controllers.
struct Classes {
    name: String,
    class: Py<PyAny>,
    failure: Arc<Failure>,
}

impl Classes {
    /// The plan of a replication, with these controllers in the flows that
    /// [`scenario::Plan::with_outside`] names.
    fn plan(&self, plan: &Plan, seed: u64) -> Plan {
        let class = Python::attach(|py| self.class.clone_ref(py));
        let made = PythonControllers::new(self.name.clone(), class, seed, self.failure.clone());
        plan.clone().with_outside(Arc::new(made))
    }
}

impl Work<'_> {
    /// Runs each seed. Only a single run is recorded: with several seeds `recording` is unused.
    fn run(&self, recording: Recording, state: &Progress) -> io::Result<Vec<Outcome>> {
        let Work { plan, seeds, observe, threads, outside } = self;
        match (&**seeds, outside) {
            ([seed], None) => {
                let outcome = record(plan, *seed, *observe, recording, state)?;
                Ok(outcome.into_iter().collect())
            }
            ([seed], Some(classes)) => {
                let plan = classes.plan(plan, *seed);
                Ok(record(&plan, *seed, *observe, recording, state)?.into_iter().collect())
            }
            (_, None) => Ok(replicate(plan, seeds, *observe, *threads, state)),
            // In sequence: the interpreter runs one controller at a time.
            (seeds, Some(classes)) => {
                let one = |seed: &u64| run(&classes.plan(plan, *seed), *seed, *observe, state);
                Ok(seeds.iter().filter_map(one).collect())
            }
        }
    }
}

/// Runs while the interpreter is released, reports progress, and checks for interrupts and the end
/// of memory.
fn watched(
    py: Python<'_>,
    work: Work<'_>,
    recording: Recording,
    allowance: &Allowance,
    progress: Option<Bound<'_, PyAny>>,
    failure: Option<&Failure>,
) -> PyResult<Watched> {
    let state = Progress::default();
    let total_s = work.plan.duration.seconds() * work.seeds.len() as f64;
    let (mut interrupted, mut memory_ended) = (None, None);
    let outcomes = std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let receiver = Mutex::new(receiver); // shared with the phases without the interpreter
        let state = &state;
        scope.spawn(move || {
            let outcomes = work.run(recording, state);
            sender.send(outcomes).ok(); // the receiver lives until the scope ends
        });
        loop {
            let wait = || receiver.lock().map_or(Err(Disconnected), |r| r.recv_timeout(BREATH));
            match py.detach(wait) {
                Ok(outcomes) => return outcomes,
                Err(Disconnected) => return Ok(Vec::new()),
                Err(Timeout) => {}
            }
            if memory_ended.is_none() {
                memory_ended = allowance.ends();
            }
            if memory_ended.is_some() || failure.is_some_and(Failure::is_there) {
                state.stop();
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
    let outcomes = outcomes.map_err(|error| match error.kind() {
        ErrorKind::InvalidInput => PyValueError::new_err(error.to_string()),
        _ => error.into(),
    })?;
    match interrupted {
        // An interrupt leaves the finished replications usable; any other error is the caller's.
        Some(error) if !error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) => {
            Err(error)
        }
        Some(error) if outcomes.is_empty() => Err(error),
        _ => Ok(Watched { outcomes, memory_ended }),
    }
}
