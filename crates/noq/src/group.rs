//! The paths of one connection, which share a controller.

use adapter::{
    ControllerSpec, Engine, FLOOR, Offered, Rates, Refused, Settings, Slots, Step, Window,
};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Paths of a group unless it is told otherwise.
pub const DEFAULT_PATHS: usize = 8;

/// The congestion control of one connection over all of its paths.
///
/// Give each connection a group of its own, as the factory of its `TransportConfig`. Paths of
/// connections that share a group are coupled as if they were of one connection.
///
/// If a connection has more paths than the group has slots, each path beyond is controlled alone,
/// and it is coupled with none. A path that migrates keeps its slot.
#[derive(Debug)]
pub struct Group {
    spec: ControllerSpec,
    settings: Settings,
    paths: usize,
    /// An event of one path may move the windows of others.
    siblings: bool,
    /// The controller is told delivery rates.
    rates: bool,
    /// Held for one step of the controller, never while noq is called.
    slots: Mutex<Slots>,
    /// Zero of the controller's time: when the first path was made.
    base: OnceLock<Instant>,
}

/// A path of a group for observers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathReport {
    /// The path's number in the group; a number is given again when its path has gone.
    pub slot: usize,
    /// Its congestion window in segments, with the fraction.
    pub cwnd: f64,
    /// Its slow-start threshold in segments; infinite before the first congestion event.
    pub ssthresh: f64,
    /// Its smoothed round trip; zero before the first sample.
    pub srtt: Duration,
}

impl Group {
    /// A group of up to [`DEFAULT_PATHS`] paths under `controller`: a name such as `lia`, `olia`
    /// or `balia`, or the text of a law.
    ///
    /// # Errors
    /// If there is no such controller, if noq does not tell what it needs, or if a setting is
    /// outside its range.
    pub fn named(controller: &str) -> Result<Arc<Group>, Refused> {
        Group::new(&controller.parse()?, Settings::default())
    }

    /// A group of up to [`DEFAULT_PATHS`] paths. Windows of the settings are in packets; QUIC's
    /// smallest window of two is kept (RFC 9002 §7.2).
    ///
    /// # Errors
    /// As [`Group::named`].
    pub fn new(spec: &ControllerSpec, settings: Settings) -> Result<Arc<Group>, Refused> {
        Group::with_paths(spec, settings, DEFAULT_PATHS)
    }

    /// A group of up to `paths` paths, from 1 to [`MOST_PATHS`](crate::MOST_PATHS).
    ///
    /// # Errors
    /// As [`Group::named`].
    pub fn with_paths(
        spec: &ControllerSpec,
        settings: Settings,
        paths: usize,
    ) -> Result<Arc<Group>, Refused> {
        Refused::unless_fit(spec, &settings, paths, Offered::RATES)?;
        let settings = Settings { min_window: settings.min_window.max(FLOOR), ..settings };
        let engine = Engine::new(spec, settings, paths).expect("it was found fit");
        Ok(Arc::new(Group {
            spec: spec.clone(),
            settings,
            paths,
            siblings: engine.moves_siblings(),
            rates: engine.needs_rates(),
            slots: Mutex::new(Slots::new(engine)),
            base: OnceLock::new(),
        }))
    }

    /// The controller.
    pub fn spec(&self) -> &ControllerSpec {
        &self.spec
    }

    /// The settings in force, for [`replay`](crate::replay).
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Paths that it can hold.
    pub fn paths(&self) -> usize {
        self.paths
    }

    /// Every path that is a member, by its slot.
    pub fn report(&self) -> Vec<PathReport> {
        let path = |report: adapter::Report| PathReport {
            slot: report.slot,
            cwnd: report.window.cwnd,
            ssthresh: report.window.ssthresh,
            srtt: Duration::from_nanos(report.srtt.0),
        };
        self.lock().report().into_iter().map(path).collect()
    }

    /// The window of every path that is a member, with its slot.
    pub fn windows(&self) -> Vec<(usize, Window)> {
        self.lock().report().into_iter().map(|path| (path.slot, path.window)).collect()
    }

    /// Logs what the controller is told from now on and what it answers, the first `most` steps.
    /// Called before the connection begins, the log [`replay`](crate::replay)s. A step takes some
    /// hundred bytes.
    pub fn record(&self, most: usize) {
        self.lock().engine_mut().record(most);
    }

    /// The steps since [`Group::record`] or since the last call, and how many more there were than
    /// the log holds.
    pub fn take_steps(&self) -> (Vec<Step>, u64) {
        self.lock().engine_mut().take_steps()
    }

    /// A group of one path with the same controller: for a path that finds no slot.
    pub(crate) fn alone(&self) -> Arc<Group> {
        let spec = &self.spec;
        Group::with_paths(spec, self.settings, 1).expect("it was built with more paths")
    }

    pub(crate) fn moves_siblings(&self) -> bool {
        self.siblings
    }

    /// What a path measures for the controller.
    pub(crate) fn rates(&self) -> Option<Box<Rates>> {
        self.rates.then(Box::default)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Slots> {
        // A panic of a controller leaves windows that are old, not wrong.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn base(&self, now: Instant) -> Instant {
        *self.base.get_or_init(|| now)
    }
}
