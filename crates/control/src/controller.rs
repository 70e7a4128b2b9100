//! The contract between a connection and its congestion control: events of the paths in, windows
//! of the paths out.

use crate::rate::SegmentRate;
use crate::tfrc::Feedback;
use units::{Span, Time};

/// An acknowledgement of new data on one path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acked {
    /// Newly acknowledged data in segments (not necessarily whole).
    pub segments: f64,
    /// Smoothed round-trip time; zero while there is no sample.
    pub srtt: Span,
    /// Whether the window was what limited sending; otherwise it must not grow.
    pub cwnd_limited: bool,
    /// Which part of loss recovery the path is in.
    pub phase: Phase,
    /// When the ACK arrived.
    pub now: Time,
    /// The newest round-trip sample; zero while there is none.
    pub rtt: Span,
    /// First byte of the path that is not acknowledged yet.
    pub una: u64,
    /// Next byte of the path to send for the first time. A round trip that begins now has ended
    /// when `una` has reached this.
    pub nxt: u64,
}

/// The delivery-rate sample of an acknowledgement of any kind, for controllers that need it (Cheng
/// et al., draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivered {
    /// When the acknowledgement arrived.
    pub now: Time,
    /// The round-trip sample of this acknowledgement; zero if it has none.
    pub rtt: Span,
    /// Smoothed round-trip time.
    pub srtt: Span,
    /// Segments newly delivered, in order or not.
    pub segments: f64,
    /// Segments delivered on the path so far (`C.delivered`).
    pub total: f64,
    /// The same when the newest delivered packet was sent (`P.delivered`); `None` if it is not
    /// known which packet was delivered.
    pub prior: Option<f64>,
    /// Delivery rate; zero if there is no sample.
    pub rate: SegmentRate,
    /// Whether the application limited the sample.
    pub app_limited: bool,
    /// Segments in flight now.
    pub pipe: f64,
    /// Segments found lost by this acknowledgement.
    pub lost: f64,
    /// Which part of loss recovery the path is in.
    pub phase: Phase,
}

/// The state of a path in loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// No loss outstanding.
    #[default]
    Open,
    /// Fast recovery: proportional rate reduction governs sending, the window does not grow.
    Recovery,
    /// After a timeout: slow start from one segment.
    Loss,
}

/// The report in an acknowledgement of a coded path on losses that coding may still repair (Xue et
/// al., TVT 2017, §IV-A).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decoding {
    /// Degrees of freedom missing now; at 0, everything that arrived is decoded.
    pub lost: u32,
    /// Increase of `lost` since the last acknowledgement.
    pub newly_lost: u32,
    /// Whether it acknowledges something new.
    pub advanced: bool,
    /// The newest round-trip sample.
    pub rtt: Span,
    /// `ΔT`: packets from one redundant packet to the next, r/(r − 1) rounded up.
    pub cycle: u32,
    /// Whether the connection's receive window leaves hardly any room to send.
    pub full: bool,
}

/// Counts of a controller that classifies losses as noise or congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Losses that it began to classify (transient states entered).
    pub asked: u64,
    /// Losses found to be noise.
    pub noise: u64,
    /// Losses found to be congestion.
    pub congestion: u64,
}

/// The cause of a congestion event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Loss inferred from acknowledgements: fast recovery begins.
    FastRetransmit,
    /// The first retransmission timeout of a segment.
    Timeout,
    /// The same segment timed out again.
    TimeoutAgain,
    /// The receiver echoes a mark (ECN): the window is reduced as for a loss, without recovery.
    Mark,
}

/// The window of one path in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window; its whole part may be in flight.
    pub cwnd: f64,
    /// Slow-start threshold; infinite before the first congestion event.
    pub ssthresh: f64,
}

/// The needs of a controller from the endpoints of its connection, beyond ACKs and losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// One-way delays: [`CongestionController::on_delay`].
    pub delays: bool,
    /// Samples of the delivery rate, [`CongestionController::on_delivered`]; it answers with a
    /// pacing rate.
    pub rates: bool,
    /// It controls by rate alone: loss recovery must not reduce what it sends.
    pub rate_based: bool,
    /// TFRC: the receiver reports instead of acknowledging every segment; see
    /// [`CongestionController::on_feedback`] and [`CongestionController::on_silence`].
    pub reports: bool,
    /// An event of one path may move the windows of others: the transport then reads all of them,
    /// and calls [`CongestionController::on_stalled`].
    pub siblings: bool,
}

impl Needs {
    /// ACKs and losses are enough.
    pub const NONE: Needs =
        Needs { delays: false, rates: false, rate_based: false, reports: false, siblings: false };
}

/// A callback that takes the name and the value of a quantity.
pub type See<'a> = &'a mut dyn FnMut(&str, f64);

/// Congestion control of one connection over all of its paths.
///
/// Paths are indices from 0; windows are in segments. A transport reports an event on a path and
/// then reads the window of that path. If [`Needs::siblings`] is set, the windows of the other
/// paths may have moved too.
pub trait CongestionController {
    /// The events and samples that this controller needs, beyond ACKs and losses.
    fn needs(&self) -> Needs {
        Needs::NONE
    }

    /// When the timer of this controller expires; by default never. Asked after every event of the
    /// connection if [`Needs::siblings`].
    fn timer(&self) -> Time {
        Time::NEVER
    }

    /// The timer set by [`CongestionController::timer`] expired.
    fn on_timer(&mut self, _now: Time) {}

    /// An ACK of new data arrived on `path`. Duplicate ACKs are not reported.
    fn on_ack(&mut self, path: usize, ack: &Acked);

    /// Calls [`CongestionController::on_ack`] and returns the window of `path` after it, so that an
    /// ACK dispatches on the controller once. `ack` is computed only by controllers that read it.
    fn grow(&mut self, path: usize, ack: impl Fn() -> Acked) -> Window
    where
        Self: Sized,
    {
        self.on_ack(path, &ack());
        self.window(path)
    }

    /// Addresses of what an ACK of `path` reads outside of the controller itself, so that a driver
    /// of many connections can prefetch it; `None` if that is not known.
    fn reads(&self, _path: usize) -> Option<[*const u8; 2]> {
        None
    }

    /// A congestion event began on `path`: the window is reduced at once.
    fn on_congestion(&mut self, path: usize, cause: Cause);

    /// Fast recovery ended on `path`.
    fn on_recovered(&mut self, path: usize);

    /// `path` joined (`true`) or left (`false`) the connection. It joins with the initial window.
    fn set_member(&mut self, path: usize, member: bool);

    /// The last congestion event on `path` was spurious: restore the saved window. At most once for
    /// each event.
    fn undo(&mut self, path: usize);

    /// Continues `path` with this window, after an idle period or a penalty by the scheduler.
    fn restart(&mut self, path: usize, window: Window);

    /// The window of `path` now.
    fn window(&self, path: usize) -> Window;

    /// Calls `see` with the window of each of the first `paths` paths that may have changed since
    /// the last call, so that all of them need one dispatch on the controller.
    fn windows(&mut self, paths: usize, mut see: impl FnMut(usize, Window))
    where
        Self: Sized,
    {
        (0..paths).for_each(|path| see(path, self.window(path)));
    }

    /// An ACK of any kind reports how much was delivered on `path`, and how fast. Called if
    /// [`Needs::rates`].
    fn on_delivered(&mut self, _path: usize, _delivered: &Delivered) {}

    /// The data that the next `on_ack` of `path` acknowledges took `delay` from sender to receiver.
    /// The clocks may differ: only differences of delays mean anything. Called if
    /// [`Needs::delays`].
    fn on_delay(&mut self, _path: usize, _delay: Span) {}

    /// All paths are idle, data is waiting, and no window has room. A controller that waits for an
    /// ACK to reopen a window must do so here. Called if [`Needs::siblings`].
    fn on_stalled(&mut self) {}

    /// An ACK of the coded `path` arrived, after `on_ack` if it acknowledges new data. Returns
    /// whether it is a congestion event: recovery then begins, and `on_congestion` is called.
    fn on_decoding(&mut self, _path: usize, _decoding: &Decoding) -> bool {
        false
    }

    /// Losses on `path` classified so far, by controllers that classify them (see
    /// [`CongestionController::on_decoding`]).
    fn verdicts(&self, _path: usize) -> Verdicts {
        Verdicts::default()
    }

    /// Passes the controller's internal quantities of `path` to `see`, for observation: a name with
    /// its unit, such as `alpha` or `l_segments`, and a value. Membership of a set is 0 or 1, and
    /// its name begins with `in_`. A quantity may be missing at times.
    fn observe(&self, _path: usize, _see: See<'_>) {}

    /// A TFRC report arrived on `path`. Controllers that use reports ([`Needs::reports`]) get no
    /// `on_ack`.
    fn on_feedback(&mut self, _path: usize, _feedback: &Feedback<'_>) {}

    /// The nofeedback timer of `path` expired at `now` (RFC 5348 §4.4); `idle`: nothing was sent
    /// since the last report. Called if [`Needs::reports`].
    fn on_silence(&mut self, _path: usize, _now: Time, _idle: bool) {}

    /// The rate at which `path` sends, if it is paced.
    fn pacing(&self, _path: usize) -> Option<SegmentRate> {
        None
    }

    /// Calls `see` with [`CongestionController::pacing`] of each of the first `paths` paths, so
    /// that all of them need one dispatch on the controller.
    fn paces(&self, paths: usize, mut see: impl FnMut(usize, Option<SegmentRate>))
    where
        Self: Sized,
    {
        (0..paths).for_each(|path| see(path, self.pacing(path)));
    }
}

/// Implements [`CongestionController`] for an enum of controllers by delegation to its variants.
///
/// The attributes are those of `on_ack` and `grow`; methods in a last block replace defaults.
#[macro_export]
macro_rules! forward {
    (
        $(#[$attribute:meta])*
        impl $(<$generic:ident: $bound:ident>)? CongestionController for $type:ty {
            $($any:ident::$variant:ident $(. $field:ident)?,)*
        }
        $({ $($method:item)* })?
    ) => {
        impl $(<$generic: $bound>)? $crate::CongestionController for $type {
            $($($method)*)?

            $(#[$attribute])*
            fn on_ack(&mut self, path: usize, ack: &$crate::Acked) {
                match self { $($any::$variant(to) => to$(.$field)?.on_ack(path, ack),)* }
            }
            $(#[$attribute])*
            fn grow(&mut self, path: usize, ack: impl Fn() -> $crate::Acked) -> $crate::Window {
                match self { $($any::$variant(to) => to$(.$field)?.grow(path, ack),)* }
            }
            fn reads(&self, path: usize) -> Option<[*const u8; 2]> {
                match self { $($any::$variant(to) => to$(.$field)?.reads(path),)* }
            }
            fn on_congestion(&mut self, path: usize, cause: $crate::Cause) {
                match self { $($any::$variant(to) => to$(.$field)?.on_congestion(path, cause),)* }
            }
            fn on_recovered(&mut self, path: usize) {
                match self { $($any::$variant(to) => to$(.$field)?.on_recovered(path),)* }
            }
            fn set_member(&mut self, path: usize, member: bool) {
                match self { $($any::$variant(to) => to$(.$field)?.set_member(path, member),)* }
            }
            fn undo(&mut self, path: usize) {
                match self { $($any::$variant(to) => to$(.$field)?.undo(path),)* }
            }
            fn restart(&mut self, path: usize, window: $crate::Window) {
                match self { $($any::$variant(to) => to$(.$field)?.restart(path, window),)* }
            }
            fn window(&self, path: usize) -> $crate::Window {
                match self { $($any::$variant(to) => to$(.$field)?.window(path),)* }
            }
            fn windows(&mut self, paths: usize, see: impl FnMut(usize, $crate::Window)) {
                match self { $($any::$variant(to) => to$(.$field)?.windows(paths, see),)* }
            }
            fn on_delivered(&mut self, path: usize, delivered: &$crate::Delivered) {
                match self { $($any::$variant(to) => to$(.$field)?.on_delivered(path, delivered),)* }
            }
            fn on_delay(&mut self, path: usize, delay: $crate::Span) {
                match self { $($any::$variant(to) => to$(.$field)?.on_delay(path, delay),)* }
            }
            fn on_stalled(&mut self) {
                match self { $($any::$variant(to) => to$(.$field)?.on_stalled(),)* }
            }
            fn on_decoding(&mut self, path: usize, decoding: &$crate::Decoding) -> bool {
                match self { $($any::$variant(to) => to$(.$field)?.on_decoding(path, decoding),)* }
            }
            fn verdicts(&self, path: usize) -> $crate::Verdicts {
                match self { $($any::$variant(to) => to$(.$field)?.verdicts(path),)* }
            }
            fn observe(&self, path: usize, see: $crate::See<'_>) {
                match self { $($any::$variant(to) => to$(.$field)?.observe(path, see),)* }
            }
            fn on_feedback(&mut self, path: usize, feedback: &$crate::tfrc::Feedback<'_>) {
                match self { $($any::$variant(to) => to$(.$field)?.on_feedback(path, feedback),)* }
            }
            fn on_silence(&mut self, path: usize, now: $crate::Time, idle: bool) {
                match self { $($any::$variant(to) => to$(.$field)?.on_silence(path, now, idle),)* }
            }
            fn timer(&self) -> $crate::Time {
                match self { $($any::$variant(to) => to$(.$field)?.timer(),)* }
            }
            fn on_timer(&mut self, now: $crate::Time) {
                match self { $($any::$variant(to) => to$(.$field)?.on_timer(now),)* }
            }
            fn pacing(&self, path: usize) -> Option<$crate::SegmentRate> {
                match self { $($any::$variant(to) => to$(.$field)?.pacing(path),)* }
            }
            fn paces(&self, paths: usize, see: impl FnMut(usize, Option<$crate::SegmentRate>)) {
                match self { $($any::$variant(to) => to$(.$field)?.paces(paths, see),)* }
            }
        }
    };
}
pub(crate) use forward;
