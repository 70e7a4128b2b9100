//! A log of what a controller was told and answered.

use crate::event::Event;
use alloc::vec::Vec;
use control::{Span, Window};

/// What a path showed before a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Its window.
    pub window: Window,
    /// Its smoothed round trip; zero before the first sample.
    pub srtt: Span,
}

/// One step of a controller: what happened, what it saw of all paths, and the window that it
/// answered.
#[derive(Clone, Debug)]
pub struct Step {
    /// The number of the path.
    pub path: usize,
    /// What happened on it.
    pub event: Event,
    /// The paths before the event, `None` for those that were no members.
    pub views: Vec<Option<View>>,
    /// The window of `path` after the event.
    pub window: Window,
}

/// The first `most` steps.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    steps: Vec<Step>,
    most: usize,
    missed: u64,
}

impl Log {
    pub(crate) fn new(most: usize) -> Self {
        Log { steps: Vec::new(), most, missed: 0 }
    }

    pub(crate) fn keep(&mut self, step: Step) {
        match self.steps.len() < self.most {
            true => self.steps.push(step),
            false => self.missed += 1,
        }
    }

    pub(crate) fn take(&mut self) -> (Vec<Step>, u64) {
        (core::mem::take(&mut self.steps), core::mem::take(&mut self.missed))
    }
}
