//! The controller of one connection at work: every call to it goes through one function, so that
//! a log misses none.

use crate::event::Event;
use crate::log::{Log, Step, View};
use alloc::boxed::Box;
use alloc::vec::Vec;
use control::{AnyController, CongestionController, ControllerSpec, Settings, Span, Window};

/// The controller of one connection, the paths that are members, and a log if one is wanted.
#[derive(Clone, Debug)]
pub struct Engine {
    control: AnyController,
    /// Smoothed round trip of each path that is a member.
    members: Box<[Option<Span>]>,
    /// A law with the standard slow start: it has neither pacing nor timers, and no event of one
    /// path moves the window of another.
    plain: bool,
    siblings: bool,
    rates: bool,
    log: Option<Box<Log>>,
}

impl Engine {
    /// The controller that `spec` names, for up to `paths` paths, of which none is a member yet.
    /// `None` if it runs in the kernel alone.
    pub fn new(spec: &ControllerSpec, settings: Settings, paths: usize) -> Option<Self> {
        let mut control = AnyController::new(spec, settings, paths)?;
        (0..paths).for_each(|path| control.set_member(path, false));
        Some(Engine {
            members: alloc::vec![None; paths].into(),
            plain: matches!(control, AnyController::Law(_)),
            siblings: control.needs().siblings,
            rates: control.needs().rates,
            log: None,
            control,
        })
    }

    /// Paths that it can hold.
    pub fn paths(&self) -> usize {
        self.members.len()
    }

    /// Whether `path` is a member.
    pub fn is_member(&self, path: usize) -> bool {
        self.members[path].is_some()
    }

    /// The last smoothed round trip of `path`; zero if it has none.
    pub fn srtt(&self, path: usize) -> Span {
        self.members[path].unwrap_or(Span::ZERO)
    }

    /// Whether an event of one path may move the windows of others.
    pub fn moves_siblings(&self) -> bool {
        self.siblings
    }

    /// Whether it has to be told the delivery rate.
    pub fn needs_rates(&self) -> bool {
        self.rates
    }

    /// The window of `path`.
    pub fn window(&self, path: usize) -> Window {
        self.control.window(path)
    }

    /// Segments per second at which `path` sends, if its controller paces.
    pub fn pacing(&self, path: usize) -> Option<f64> {
        if self.plain { None } else { self.control.pacing(path).map(|rate| rate.0) }
    }

    /// The window of `path` after `event`.
    #[inline]
    pub fn step(&mut self, path: usize, event: Event) -> Window {
        if self.log.is_some() {
            return self.logged(path, event);
        }
        self.tell(path, event)
    }

    #[inline]
    fn tell(&mut self, path: usize, event: Event) -> Window {
        match event {
            Event::Ack(ack) => {
                self.members[path] = Some(ack.srtt);
                if !self.plain && self.control.timer() <= ack.now {
                    self.control.on_timer(ack.now);
                }
                return self.control.grow(path, || ack);
            }
            Event::Join => {
                self.members[path] = Some(Span::ZERO);
                self.control.set_member(path, true);
            }
            Event::Leave => {
                self.members[path] = None;
                self.control.set_member(path, false);
            }
            Event::Delivered(delivered) => self.control.on_delivered(path, &delivered),
            Event::Congestion(cause) => self.control.on_congestion(path, cause),
            Event::Recovered => self.control.on_recovered(path),
            Event::Undo => self.control.undo(path),
            Event::Restart(window) => self.control.restart(path, window),
        }
        self.control.window(path)
    }

    #[cold]
    fn logged(&mut self, path: usize, event: Event) -> Window {
        let views = self.views();
        let window = self.tell(path, event);
        if let Some(log) = &mut self.log {
            log.keep(Step { path, event, views, window });
        }
        window
    }

    /// Window and round trip of every path, `None` for those that are no members.
    pub(crate) fn views(&self) -> Vec<Option<View>> {
        let view = |(path, srtt): (usize, &Option<Span>)| {
            srtt.map(|srtt| View { window: self.control.window(path), srtt })
        };
        self.members.iter().enumerate().map(view).collect()
    }

    /// Logs the steps from now on, the first `most` of them.
    pub fn record(&mut self, most: usize) {
        self.log = Some(Box::new(Log::new(most)));
    }

    /// The steps since [`Engine::record`] or since the last call, in order, and how many more
    /// there were than the log holds.
    pub fn take_steps(&mut self) -> (Vec<Step>, u64) {
        self.log.as_mut().map_or((Vec::new(), 0), |log| log.take())
    }

    /// The controller's internal quantities of `path`; see [`CongestionController::observe`].
    pub fn observe(&self, path: usize, see: control::See<'_>) {
        self.control.observe(path, see);
    }
}
