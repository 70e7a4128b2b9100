//! The replay of a log.

use crate::engine::Engine;
use crate::log::{Step, View};
use alloc::vec::Vec;
use control::{ControllerSpec, Settings, Window};
use core::fmt;

/// A step at which the replay differs from the log.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// The number of the step, from 0.
    pub step: usize,
    /// The views that the replay has before the step.
    pub views: Vec<Option<View>>,
    /// The window of the replay after it.
    pub window: Window,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch { step, window, .. } = self;
        write!(f, "step {step}: the replay has another view or window; its window is {window:?}")
    }
}

impl core::error::Error for Mismatch {}

/// Puts `steps`, from the first event of a group on, to a new controller, and compares every view
/// and every window bit for bit.
///
/// # Errors
/// With the first step at which they differ; step 0 if `spec` runs in the kernel alone.
pub fn replay(
    spec: &ControllerSpec,
    settings: Settings,
    paths: usize,
    steps: &[Step],
) -> Result<(), Mismatch> {
    let none = Window { cwnd: f64::NAN, ssthresh: f64::NAN };
    let Some(mut engine) = Engine::new(spec, settings, paths) else {
        return Err(Mismatch { step: 0, views: Vec::new(), window: none });
    };
    for (number, step) in steps.iter().enumerate() {
        let views = engine.views();
        let same_views = views.len() == step.views.len()
            && views.iter().zip(&step.views).all(|(own, theirs)| same(own, theirs));
        if step.path >= paths {
            return Err(Mismatch { step: number, views, window: none });
        }
        let window = engine.step(step.path, step.event);
        if !same_views || bits(window) != bits(step.window) {
            return Err(Mismatch { step: number, views, window });
        }
    }
    Ok(())
}

fn bits(window: Window) -> [u64; 2] {
    [window.cwnd.to_bits(), window.ssthresh.to_bits()]
}

fn same(own: &Option<View>, theirs: &Option<View>) -> bool {
    match (own, theirs) {
        (Some(own), Some(theirs)) => {
            bits(own.window) == bits(theirs.window) && own.srtt == theirs.srtt
        }
        (None, None) => true,
        _ => false,
    }
}
