//! Independent control of every path, as for subflows of an uncoupled connection.

use crate::{Acked, Cause, CongestionController, Delivered, SegmentRate, Span, Window};
use alloc::boxed::Box;

/// Congestion control of one path without its siblings; [`CongestionController`] documents the
/// calls.
pub(crate) trait Single: Clone {
    fn on_ack(&mut self, ack: &Acked);
    fn on_congestion(&mut self, cause: Cause);
    fn on_recovered(&mut self);
    fn undo(&mut self);
    fn restart(&mut self, window: Window);
    fn window(&self) -> Window;
    fn on_delivered(&mut self, _delivered: &Delivered) {}
    fn on_delay(&mut self, _delay: Span) {}
    fn pacing(&self) -> Option<SegmentRate> {
        None
    }
}

/// One copy of a scheme for each path.
#[derive(Clone, Debug)]
pub(crate) struct Each<S> {
    fresh: S,
    paths: Box<[S]>,
}

impl<S: Single> Each<S> {
    pub(crate) fn new(fresh: S, paths: usize) -> Self {
        Each { paths: alloc::vec![fresh.clone(); paths].into(), fresh }
    }
}

impl<S: Single> CongestionController for Each<S> {
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        self.paths[path].on_ack(ack);
    }

    fn on_congestion(&mut self, path: usize, cause: Cause) {
        self.paths[path].on_congestion(cause);
    }

    fn on_recovered(&mut self, path: usize) {
        self.paths[path].on_recovered();
    }

    fn set_member(&mut self, path: usize, _member: bool) {
        self.paths[path] = self.fresh.clone();
    }

    fn undo(&mut self, path: usize) {
        self.paths[path].undo();
    }

    fn restart(&mut self, path: usize, window: Window) {
        self.paths[path].restart(window);
    }

    fn window(&self, path: usize) -> Window {
        self.paths[path].window()
    }

    fn on_delivered(&mut self, path: usize, delivered: &Delivered) {
        self.paths[path].on_delivered(delivered);
    }

    fn on_delay(&mut self, path: usize, delay: Span) {
        self.paths[path].on_delay(delay);
    }

    fn pacing(&self, path: usize) -> Option<SegmentRate> {
        self.paths[path].pacing()
    }
}
