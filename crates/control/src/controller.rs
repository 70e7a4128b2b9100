//! The contract between a connection and its congestion control: events of the paths in, windows
//! of the paths out.

use crate::tfrc::Feedback;

/// An acknowledgement of new data on one path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acked {
    /// Newly acknowledged data in segments (not necessarily whole).
    pub segments: f64,
    /// Smoothed round-trip time in seconds; zero while there is no sample.
    pub srtt: f64,
    /// Whether the window was what limited sending; otherwise it must not grow.
    pub cwnd_limited: bool,
    /// Which part of loss recovery the path is in.
    pub phase: Phase,
    /// Nanoseconds since the beginning of time. Whole numbers, here and below, because most controllers do
    /// not look at them.
    pub now_ns: u64,
    /// The newest round-trip sample in nanoseconds.
    pub rtt_ns: u64,
    /// First byte of the path that is not acknowledged yet.
    pub una: u64,
    /// Next byte of the path to send for the first time. A round trip that begins now has ended when
    /// `una` has reached this.
    pub nxt: u64,
}

impl Acked {
    /// Seconds since the beginning of time.
    pub fn now(&self) -> f64 {
        self.now_ns as f64 / 1e9
    }

    /// The newest round-trip sample in seconds.
    pub fn rtt(&self) -> f64 {
        self.rtt_ns as f64 / 1e9
    }
}

/// What an acknowledgement of any kind says about the rate at which a path delivers; for controllers
/// that ask for it (Cheng et al., draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivered {
    /// Seconds since the beginning of time.
    pub now: f64,
    /// The round-trip sample of this acknowledgement in seconds; zero if it has none.
    pub rtt: f64,
    /// Smoothed round-trip time in seconds.
    pub srtt: f64,
    /// Segments newly delivered, in order or not.
    pub segments: f64,
    /// Segments delivered on the path so far (`C.delivered`).
    pub total: f64,
    /// The same when the newest delivered packet was sent (`P.delivered`); none if it is not known which was
    /// delivered.
    pub prior: Option<f64>,
    /// Delivery rate in segments per second; zero if there is no sample.
    pub rate: f64,
    /// Whether the application limited the sample.
    pub app_limited: bool,
    /// Segments in flight now.
    pub pipe: f64,
    /// Segments found lost by this acknowledgement.
    pub lost: f64,
    /// Which part of loss recovery the path is in.
    pub phase: Phase,
}

/// Where a path stands in loss recovery.
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

/// What an acknowledgement of a coded path says about losses that coding may still repair (Xue et al., TVT
/// 2017, §IV-A).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decoding {
    /// Degrees of freedom that are missing now: with none, everything that arrived is decoded.
    pub lost: u32,
    /// By how many more than the last acknowledgement said.
    pub newly_lost: u32,
    /// Whether it acknowledges something new.
    pub advanced: bool,
    /// The newest round-trip sample in nanoseconds.
    pub rtt_ns: u64,
    /// `ΔT`: packets from one redundant packet to the next, r/(r − 1) rounded up.
    pub cycle: u32,
    /// Whether the connection's receive window leaves hardly anything to send.
    pub full: bool,
}

/// How often a controller that asks for the reason of a loss found which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Times that it began to ask (transient states entered).
    pub asked: u64,
    /// Found to be noise.
    pub noise: u64,
    /// Found to be congestion.
    pub congestion: u64,
}

/// What began a congestion event.
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

/// Congestion control of one connection over all of its paths.
///
/// Paths are indices from 0. A transport reports what happened on a path and then reads the
/// windows of that path, and of its siblings if the ensemble may have moved them.
pub trait CongestionController {
    /// New data was acknowledged on `path`.
    fn on_ack(&mut self, path: usize, ack: &Acked);

    /// The same, where what is told is put together only for those that look at it.
    fn on_ack_of(&mut self, path: usize, ack: impl Fn() -> Acked)
    where
        Self: Sized,
    {
        self.on_ack(path, &ack());
    }

    /// A congestion event began on `path`.
    fn on_congestion(&mut self, path: usize, cause: Cause);

    /// Fast recovery ended on `path`.
    fn on_recovered(&mut self, path: usize);

    /// `path` joined (`true`) or left (`false`) the connection.
    fn set_member(&mut self, path: usize, member: bool);

    /// The last congestion event on `path` was none (it was found to be spurious): what it reduced is
    /// restored.
    fn undo(&mut self, path: usize);

    /// `path` goes on with this window: it was idle, or is penalised.
    fn restart(&mut self, path: usize, window: Window);

    /// The window of `path` now.
    fn window(&self, path: usize) -> Window;

    /// Data of `path` was delivered. Only those that work with rates are told: the others have windows
    /// that move with [`CongestionController::on_ack`].
    fn on_delivered(&mut self, _path: usize, _delivered: &Delivered) {}

    /// New data on `path`, of which [`CongestionController::on_ack`] will tell, was under way for `delay` seconds, up to an
    /// offset of the clocks: only differences mean anything. Only those that ask are told.
    fn on_delay(&mut self, _path: usize, _delay: f64) {}

    /// Whether one-way delays are asked for.
    fn reads_delay(&self) -> bool {
        false
    }

    /// Whether what happens on one path may move the windows of others at once: the transport then reads all
    /// of them.
    fn moves_siblings(&self) -> bool {
        false
    }

    /// No path has anything outstanding, there is data, and no window lets it out: if that is for want of an
    /// event, this is one.
    fn on_stalled(&mut self) {}

    /// An acknowledgement of the coded `path` came, of which [`CongestionController::on_ack`] has told if it was of new data.
    /// Returns whether it is a congestion event: recovery then begins, and tells of it.
    fn on_decoding(&mut self, _path: usize, _decoding: &Decoding) -> bool {
        false
    }

    /// What was found about losses of `path`, by those that ask.
    fn verdicts(&self, _path: usize) -> Verdicts {
        Verdicts::default()
    }

    /// The receiver of `path` reports. Only those that ask for it are told, and of nothing else.
    fn on_feedback(&mut self, _path: usize, _feedback: &Feedback<'_>) {}

    /// For those that are told by reports: none came on `path` until `now`, in seconds, for longer than one may
    /// take; `idle`: nothing was sent meanwhile.
    fn on_silence(&mut self, _path: usize, _now: f64, _idle: bool) {}

    /// The rate in segments per second at which `path` sends, if it is paced.
    fn pacing(&self, _path: usize) -> Option<f64> {
        None
    }
}
