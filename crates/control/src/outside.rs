//! Controllers defined outside this crate: by a program that uses it, or in Python.

use crate::tfrc::Feedback;
use crate::{
    Acked, Cause, CongestionController, Decoding, Delivered, Needs, See, SegmentRate, Settings,
    Span, Time, Verdicts, Window,
};
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::cell::OnceCell;
use core::fmt::{self, Debug};

/// A factory of controllers from outside, one for each connection; in a plan it stands in place of
/// a name.
///
/// ```
/// use anabranch_control::{
///     Acked, AnyController, Cause, CongestionController, ControllerSpec, Outside, Settings,
///     Window,
/// };
/// use std::sync::Arc;
///
/// #[derive(Debug)]
/// struct Fixed(f64);
///
/// impl Outside for Fixed {
///     fn name(&self) -> &str {
///         "fixed"
///     }
///     fn control(&self, _: Settings, _: usize) -> Box<dyn CongestionController + Send> {
///         Box::new(Fixed(self.0))
///     }
/// }
///
/// impl CongestionController for Fixed {
///     fn on_ack(&mut self, _: usize, _: &Acked) {}
///     fn on_congestion(&mut self, _: usize, _: Cause) {}
///     fn on_recovered(&mut self, _: usize) {}
///     fn set_member(&mut self, _: usize, _: bool) {}
///     fn undo(&mut self, _: usize) {}
///     fn restart(&mut self, _: usize, _: Window) {}
///     fn window(&self, _: usize) -> Window {
///         Window { cwnd: self.0, ssthresh: self.0 }
///     }
/// }
///
/// let spec = ControllerSpec::outside(Arc::new(Fixed(40.0)));
/// let control = AnyController::new(&spec, Settings::default(), 2).unwrap();
/// assert_eq!((spec.to_string().as_str(), control.window(1).cwnd), ("fixed", 40.0));
/// ```
pub trait Outside: Debug + Send + Sync {
    /// The name in results.
    fn name(&self) -> &str;

    /// The needs of its controllers from the endpoints beyond ACKs and losses.
    fn needs(&self) -> Needs {
        Needs::NONE
    }

    /// The controller of a connection with `paths` paths. All are members, and none has a
    /// round-trip sample yet.
    fn control(&self, settings: Settings, paths: usize) -> Box<dyn CongestionController + Send>;
}

/// A controller from outside for one connection. The controller is built at its first use. A clone
/// builds a new controller without state: connections of a class are copies of one that has not
/// begun.
pub struct OutsideControl {
    outside: Arc<dyn Outside>,
    settings: Settings,
    paths: usize,
    control: OnceCell<Box<dyn CongestionController + Send>>,
}

impl OutsideControl {
    pub(crate) fn new(outside: Arc<dyn Outside>, settings: Settings, paths: usize) -> Self {
        OutsideControl { outside, settings, paths, control: OnceCell::new() }
    }

    fn control(&self) -> &(dyn CongestionController + Send) {
        &**self.control.get_or_init(|| self.outside.control(self.settings, self.paths))
    }

    fn control_mut(&mut self) -> &mut (dyn CongestionController + Send) {
        let OutsideControl { outside, settings, paths, control } = self;
        control.get_or_init(|| outside.control(*settings, *paths));
        &mut **control.get_mut().expect("it was made just now")
    }
}

impl Clone for OutsideControl {
    fn clone(&self) -> Self {
        OutsideControl::new(self.outside.clone(), self.settings, self.paths)
    }
}

impl Debug for OutsideControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OutsideControl({:?})", self.outside)
    }
}

impl CongestionController for OutsideControl {
    fn needs(&self) -> Needs {
        self.outside.needs()
    }
    fn timer(&self) -> Time {
        self.control().timer()
    }
    fn on_timer(&mut self, now: Time) {
        self.control_mut().on_timer(now);
    }
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        self.control_mut().on_ack(path, ack);
    }
    fn on_congestion(&mut self, path: usize, cause: Cause) {
        self.control_mut().on_congestion(path, cause);
    }
    fn on_recovered(&mut self, path: usize) {
        self.control_mut().on_recovered(path);
    }
    fn set_member(&mut self, path: usize, member: bool) {
        self.control_mut().set_member(path, member);
    }
    fn undo(&mut self, path: usize) {
        self.control_mut().undo(path);
    }
    fn restart(&mut self, path: usize, window: Window) {
        self.control_mut().restart(path, window);
    }
    fn window(&self, path: usize) -> Window {
        self.control().window(path)
    }
    fn on_delivered(&mut self, path: usize, delivered: &Delivered) {
        self.control_mut().on_delivered(path, delivered);
    }
    fn on_delay(&mut self, path: usize, delay: Span) {
        self.control_mut().on_delay(path, delay);
    }
    fn on_stalled(&mut self) {
        self.control_mut().on_stalled();
    }
    fn on_decoding(&mut self, path: usize, decoding: &Decoding) -> bool {
        self.control_mut().on_decoding(path, decoding)
    }
    fn verdicts(&self, path: usize) -> Verdicts {
        self.control().verdicts(path)
    }
    fn observe(&self, path: usize, see: See<'_>) {
        self.control().observe(path, see);
    }
    fn on_feedback(&mut self, path: usize, feedback: &Feedback<'_>) {
        self.control_mut().on_feedback(path, feedback);
    }
    fn on_silence(&mut self, path: usize, now: Time, idle: bool) {
        self.control_mut().on_silence(path, now, idle);
    }
    fn pacing(&self, path: usize) -> Option<SegmentRate> {
        self.control().pacing(path)
    }
}
