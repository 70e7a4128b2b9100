//! BBR in its first published version: a model of the path instead of a window that losses move.
//!
//! Source: Cardwell, Cheng, Gunn, Hassas Yeganeh and Jacobson 2016, in the detail of
//! draft-cardwell-iccrg-bbr-congestion-control-00 (its names, in lower case). BBR serves as a
//! competitor. It has no drift: it does not weigh growth per acknowledged segment against a loss
//! probability.
//!
//! The phase in which `PROBE_BW` begins is random in the draft; here it follows from the
//! nanoseconds of the clock, since a controller draws no random numbers. A host is taken to send
//! single segments: its quantum does not grow with the rate. `bbr:linux` has what the kernel adds
//! (`bbr_linux.rs`), and there the quantum grows.

use super::bbr_linux::{self, Aggregation};
use super::each::{Each, Single};
use super::filter::MaxFilter;
use crate::kind::{Choice, Described, Kind};
use crate::scheme::Scheme;
use crate::{Acked, Cause, Delivered, Needs, Phase, SegmentRate, Settings, Span, Window};

/// `BBRHighGain`: 2 / ln 2.
const HIGH_GAIN: f64 = 2.885_390_081_777_927;
/// `PROBE_BW`: one round faster, one slower, six at the rate.
const GAIN_CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Rounds over which the maximum of the delivery rate is taken (`BtlBwFilterLen`).
const BTL_BW_ROUNDS: u64 = 10;
/// Seconds over which the minimum of the round trip is taken (`RTpropFilterLen`).
const RTPROP_WINDOW: f64 = 10.0;
/// `ProbeRTTDuration` in seconds.
const PROBE_RTT_DURATION: f64 = 0.2;
/// `BBRMinPipeCwnd` in segments.
const MIN_PIPE_CWND: f64 = 4.0;
/// Segments that a host may send at once beyond the model (three times the quantum of one segment).
const QUANTA: f64 = 3.0;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw { index: usize, since: f64 },
    ProbeRtt { until: Option<f64>, round_done: bool },
}

/// BBR on one path.
#[derive(Clone, Debug)]
pub(crate) struct BbrControl {
    settings: Settings,
    mode: Mode,
    cwnd: f64,
    /// `None` before the first round-trip sample.
    pacing_rate: Option<SegmentRate>,
    btl_bw: MaxFilter,
    rtprop: f64,
    rtprop_stamp: f64,
    rtprop_expired: bool,
    round_count: u64,
    round_start: bool,
    next_round_delivered: f64,
    full_bw: f64,
    full_bw_count: u32,
    filled_pipe: bool,
    /// Saved when recovery or `PROBE_RTT` begins.
    prior_cwnd: f64,
    /// In the first round of recovery, BBR sends at most what was delivered.
    packet_conservation: bool,
    conservation_begins: bool,
    /// `PROBE_RTT` limits samples until this many segments are delivered.
    probed_until: f64,
    phase: Phase,
    /// Of `bbr:linux`.
    aggregation: Option<Aggregation>,
}

impl BbrControl {
    pub(crate) fn new(settings: Settings, version: Bbr) -> Self {
        BbrControl {
            cwnd: settings.initial_window,
            settings,
            mode: Mode::Startup,
            pacing_rate: None,
            btl_bw: MaxFilter::default(),
            rtprop: f64::INFINITY,
            rtprop_stamp: 0.0,
            rtprop_expired: false,
            round_count: 0,
            round_start: false,
            next_round_delivered: 0.0,
            full_bw: 0.0,
            full_bw_count: 0,
            filled_pipe: false,
            prior_cwnd: 0.0,
            packet_conservation: false,
            conservation_begins: false,
            probed_until: 0.0,
            phase: Phase::Open,
            aggregation: (version == Bbr::Linux).then(Aggregation::default),
        }
    }

    fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (1.0 / HIGH_GAIN, HIGH_GAIN),
            Mode::ProbeBw { index, .. } => (GAIN_CYCLE[index], 2.0),
            Mode::ProbeRtt { .. } => (1.0, 1.0),
        }
    }

    /// `BBRInflight(gain)` in segments.
    fn inflight(&self, gain: f64) -> f64 {
        if self.rtprop.is_infinite() {
            return self.settings.initial_window;
        }
        let product = gain * self.btl_bw.max() * self.rtprop;
        match self.aggregation {
            None => product + QUANTA,
            Some(_) => self.quantized(product),
        }
    }

    /// In Linux: a window with room for what is handed down at once.
    fn quantized(&self, window: f64) -> f64 {
        let paced = self.pacing_rate.map_or(0.0, |rate| rate.0);
        bbr_linux::quantized(window, paced, matches!(self.mode, Mode::ProbeBw { index: 0, .. }))
    }

    /// The window that [`BbrControl::set_cwnd`] heads for.
    fn target(&mut self, sample: &Delivered) -> f64 {
        let (_, gain) = self.gains();
        let rate = self.btl_bw.max();
        let Some(aggregation) = &mut self.aggregation else {
            return self.inflight(gain);
        };
        let now = sample.now.seconds();
        aggregation.on_ack(now, sample.segments, rate, self.cwnd, self.round_start);
        if !self.filled_pipe || self.rtprop.is_infinite() {
            return self.inflight(gain);
        }
        let extra = aggregation.window(rate);
        self.quantized(gain * rate * self.rtprop + extra)
    }

    /// `BBRUpdateBtlBw`.
    fn update_btl_bw(&mut self, sample: &Delivered) {
        if self.conservation_begins {
            self.conservation_begins = false; // conservation lasts for a round, which begins now
            self.next_round_delivered = sample.total;
        }
        self.round_start = sample.prior.is_some_and(|prior| prior >= self.next_round_delivered);
        if self.round_start {
            self.next_round_delivered = sample.total;
            self.round_count += 1;
            self.packet_conservation = false;
        }
        // The small window of PROBE_RTT limits what was sent in it (`BBRHandleProbeRTT`).
        if matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.probed_until = sample.total + sample.pipe;
        }
        let limited = sample.app_limited || sample.total <= self.probed_until;
        let counts = sample.rate.0 >= self.btl_bw.max() || !limited;
        if sample.rate.0 > 0.0 && counts {
            self.btl_bw.update(self.round_count, sample.rate.0, BTL_BW_ROUNDS);
        }
    }

    /// `BBRCheckCyclePhase`.
    fn check_cycle_phase(&mut self, sample: &Delivered) {
        let Mode::ProbeBw { index, since } = self.mode else {
            return;
        };
        let gain = GAIN_CYCLE[index];
        let full_length = sample.now.seconds() - since > self.rtprop;
        let in_flight = sample.pipe + sample.segments; // before this ACK
        let next = if gain == 1.0 {
            full_length
        } else if gain > 1.0 {
            full_length && (sample.lost > 0.0 || in_flight >= self.inflight(gain))
        } else {
            full_length || in_flight <= self.inflight(1.0)
        };
        if next {
            self.mode = Mode::ProbeBw {
                index: (index + 1) % GAIN_CYCLE.len(),
                since: sample.now.seconds(),
            };
        }
    }

    /// `BBRCheckFullPipe`.
    fn check_full_pipe(&mut self, sample: &Delivered) {
        if self.filled_pipe || !self.round_start || sample.app_limited {
            return;
        }
        if self.btl_bw.max() >= 1.25 * self.full_bw {
            self.full_bw = self.btl_bw.max();
            self.full_bw_count = 0;
            return;
        }
        self.full_bw_count += 1;
        self.filled_pipe = self.full_bw_count >= 3;
    }

    /// `BBRCheckDrain`.
    fn check_drain(&mut self, sample: &Delivered) {
        if self.mode == Mode::Startup && self.filled_pipe {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && sample.pipe <= self.inflight(1.0) {
            self.enter_probe_bw(sample.now.seconds());
        }
    }

    /// Starts anywhere in the cycle except in its slower phase.
    fn enter_probe_bw(&mut self, now: f64) {
        let draw = (now * 1e9) as u64 % 7;
        let index = if draw == 0 { 0 } else { draw as usize + 1 };
        self.mode = Mode::ProbeBw { index, since: now };
    }

    /// `BBRUpdateRTprop`.
    fn update_rtprop(&mut self, sample: &Delivered) {
        self.rtprop_expired = sample.now.seconds() > self.rtprop_stamp + RTPROP_WINDOW;
        if sample.rtt.seconds() > 0.0
            && (sample.rtt.seconds() <= self.rtprop || self.rtprop_expired)
        {
            self.rtprop = sample.rtt.seconds();
            self.rtprop_stamp = sample.now.seconds();
        }
    }

    /// `BBRCheckProbeRTT`.
    fn check_probe_rtt(&mut self, sample: &Delivered) {
        if self.rtprop_expired && !matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.save_cwnd();
            self.mode = Mode::ProbeRtt { until: None, round_done: false };
        }
        let Mode::ProbeRtt { until, round_done } = self.mode else {
            return;
        };
        match until {
            None if sample.pipe <= MIN_PIPE_CWND => {
                let until = Some(sample.now.seconds() + PROBE_RTT_DURATION);
                self.mode = Mode::ProbeRtt { until, round_done: false };
                self.next_round_delivered = sample.total;
            }
            Some(end) if (round_done || self.round_start) && sample.now.seconds() > end => {
                self.rtprop_stamp = sample.now.seconds();
                self.cwnd = self.cwnd.max(self.prior_cwnd);
                match self.filled_pipe {
                    true => self.enter_probe_bw(sample.now.seconds()),
                    false => self.mode = Mode::Startup,
                }
            }
            Some(_) if self.round_start => self.mode = Mode::ProbeRtt { until, round_done: true },
            _ => {}
        }
    }

    /// `BBRSaveCwnd`.
    fn save_cwnd(&mut self) {
        let undisturbed = self.phase == Phase::Open && !matches!(self.mode, Mode::ProbeRtt { .. });
        self.prior_cwnd = if undisturbed { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    /// `BBRSetPacingRate`.
    fn set_pacing_rate(&mut self, sample: &Delivered) {
        let (gain, _) = self.gains();
        if self.pacing_rate.is_none() && sample.srtt > Span::ZERO {
            let rate = HIGH_GAIN * self.cwnd / sample.srtt.seconds();
            self.pacing_rate = Some(SegmentRate(rate));
        }
        if self.btl_bw.max() == 0.0 {
            return;
        }
        let margin = if self.aggregation.is_some() { bbr_linux::MARGIN } else { 1.0 };
        let rate = SegmentRate(margin * gain * self.btl_bw.max());
        if self.filled_pipe || self.pacing_rate.is_none_or(|old| rate > old) {
            self.pacing_rate = Some(rate);
        }
    }

    /// `BBRSetCwnd`.
    fn set_cwnd(&mut self, sample: &Delivered) {
        let target = self.target(sample);
        if sample.lost > 0.0 && sample.phase != Phase::Open {
            self.cwnd = (self.cwnd - sample.lost).max(1.0);
        }
        if self.packet_conservation && sample.phase == Phase::Recovery {
            self.cwnd = self.cwnd.max(sample.pipe + sample.segments);
        } else if self.filled_pipe {
            self.cwnd = (self.cwnd + sample.segments).min(target);
        } else if self.cwnd < target || sample.total < self.settings.initial_window {
            self.cwnd += sample.segments;
        }
        self.cwnd = self.cwnd.max(match sample.phase {
            Phase::Open => MIN_PIPE_CWND,
            _ => self.settings.min_window,
        });
        if matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.cwnd = self.cwnd.min(MIN_PIPE_CWND);
        }
    }
}

impl Single for BbrControl {
    /// BBR acts in [`BbrControl::on_delivered`]; only the end of recovery from a timeout is found
    /// here.
    fn on_ack(&mut self, ack: &Acked) {
        if self.phase == Phase::Loss && ack.phase == Phase::Open {
            self.on_recovered();
        }
    }

    fn on_congestion(&mut self, cause: Cause) {
        if cause == Cause::Mark {
            return; // this version ignores ECN
        }
        self.save_cwnd();
        match cause {
            Cause::Timeout | Cause::TimeoutAgain => {
                self.phase = Phase::Loss;
                self.cwnd = self.settings.min_window;
                self.packet_conservation = false;
            }
            _ => {
                self.phase = Phase::Recovery;
                (self.packet_conservation, self.conservation_begins) = (true, true);
                // the next sample adds what is in flight
                self.cwnd = self.settings.min_window;
            }
        }
    }

    fn on_recovered(&mut self) {
        self.phase = Phase::Open;
        self.packet_conservation = false;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    fn undo(&mut self) {
        self.on_recovered();
    }

    /// BBR sends at the rate of its model: it takes no window from outside.
    fn restart(&mut self, _window: Window) {}

    fn window(&self) -> Window {
        Window { cwnd: self.cwnd, ssthresh: f64::INFINITY }
    }

    fn on_delivered(&mut self, sample: &Delivered) {
        self.update_btl_bw(sample);
        self.check_cycle_phase(sample);
        self.check_full_pipe(sample);
        self.check_drain(sample);
        self.update_rtprop(sample);
        self.check_probe_rtt(sample);
        self.set_pacing_rate(sample);
        self.set_cwnd(sample);
    }

    fn pacing(&self) -> Option<SegmentRate> {
        self.pacing_rate
    }
}

/// Which BBR of version 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bbr {
    /// That of the draft.
    Draft,
    /// As Linux has it.
    Linux,
}

impl Kind for Bbr {
    const DESCRIBED: Described = Described {
        names: &["bbr"],
        summary: "BBR version 1 on each path independently, paced at the delivery rate; used as a competitor.",
        formula: "pacing = gain · max delivery rate; window = 2 · max rate · min rtt",
        source: "Cardwell et al. 2016; Internet-Draft of 2017",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(Bbr::Draft);
    const CHOICES: &'static [Choice<Self>] = &[Choice::word(
        "linux",
        Bbr::Linux,
        "as in Linux 6.18: larger windows, for segmentation offload and ACKs that come together",
    )];
}

impl Scheme for Bbr {
    type Control = Each<BbrControl>;

    fn needs(self) -> Needs {
        Needs { rates: true, rate_based: true, ..Needs::NONE }
    }

    fn control(self, settings: Settings, paths: usize) -> Each<BbrControl> {
        Each::new(BbrControl::new(settings, self), paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SegmentRate, Time};

    /// A path of 1000 segments/s and 50 ms without a queue limit, in steps of one ACK; returns
    /// windows and rates at the end of each second.
    fn run(bbr: &mut BbrControl, seconds: f64) -> alloc::vec::Vec<(f64, f64)> {
        let (rate, base) = (1000.0, 0.05);
        let (mut now, mut total, mut queue) = (0.0, 0.0, 0.0_f64);
        let mut seen = alloc::vec::Vec::new();
        while now < seconds {
            let sending = bbr.pacing().map_or(200.0, |rate| rate.0);
            let pipe = (queue + rate * base).min(bbr.window().cwnd);
            queue = (queue + (sending / rate - 1.0))
                .clamp(0.0, (bbr.window().cwnd - rate * base).max(0.0));
            let delivering = rate.min(pipe / base);
            now += 1.0 / delivering;
            total += 1.0;
            let rtt = base + queue / rate;
            let prior = (total - pipe).max(0.0);
            bbr.on_delivered(&Delivered {
                now: Time::ZERO + Span::from_seconds(now),
                rtt: Span::from_seconds(rtt),
                srtt: Span::from_seconds(rtt),
                segments: 1.0,
                total,
                prior: Some(prior),
                rate: SegmentRate(delivering),
                pipe,
                ..Delivered::default()
            });
            if now >= seen.len() as f64 + 1.0 {
                seen.push((bbr.window().cwnd, bbr.pacing().map_or(0.0, |rate| rate.0)));
            }
        }
        seen
    }

    #[test]
    fn it_finds_the_rate_of_the_bottleneck_and_keeps_twice_the_bdp_as_its_window() {
        let mut bbr = BbrControl::new(Settings::default(), Bbr::Draft);
        run(&mut bbr, 8.0);
        assert!((bbr.btl_bw.max() - 1000.0).abs() < 20.0, "{}", bbr.btl_bw.max());
        assert!((bbr.rtprop - 0.05).abs() < 0.002, "{}", bbr.rtprop);
        assert!(matches!(bbr.mode, Mode::ProbeBw { .. }), "{:?}", bbr.mode);
        assert!((bbr.window().cwnd - 103.0).abs() < 8.0, "{}", bbr.window().cwnd);
    }

    #[test]
    fn startup_paces_at_its_gain_times_the_initial_window_until_it_delivers_more() {
        let mut bbr = BbrControl::new(Settings::default(), Bbr::Draft);
        let first = Delivered {
            now: Time(50_000_000),
            rtt: Span::millis(50),
            srtt: Span::millis(50),
            segments: 1.0,
            total: 1.0,
            prior: Some(0.0),
            rate: SegmentRate(20.0), // the first ACK alone: one segment in a round trip
            pipe: 10.0,
            ..Delivered::default()
        };
        bbr.on_delivered(&first);
        let paced = bbr.pacing().map_or(0.0, |rate| rate.0);
        assert!(paced >= HIGH_GAIN * 10.0 / 0.05, "{paced}");
    }

    #[test]
    fn it_probes_for_the_round_trip_after_ten_seconds_without_a_smaller_one() {
        let mut bbr = BbrControl::new(Settings::default(), Bbr::Draft);
        run(&mut bbr, 5.0);
        bbr.rtprop_stamp = -20.0;
        let sample = Delivered {
            now: Time(5_000_000_000),
            rtt: Span::millis(60),
            pipe: 50.0,
            segments: 1.0,
            ..Delivered::default()
        };
        bbr.on_delivered(&sample);
        assert!(matches!(bbr.mode, Mode::ProbeRtt { .. }));
        assert_eq!(bbr.window().cwnd, MIN_PIPE_CWND);
    }

    #[test]
    fn a_loss_does_not_lower_the_window_for_longer_than_recovery() {
        let mut bbr = BbrControl::new(Settings::default(), Bbr::Draft);
        run(&mut bbr, 8.0);
        let before = bbr.window().cwnd;
        bbr.on_congestion(Cause::FastRetransmit);
        bbr.on_recovered();
        assert_eq!(bbr.window().cwnd, before);
    }

    #[test]
    fn in_linux_the_window_has_room_for_offload_and_acks_that_come_together() {
        let mut bbr = BbrControl::new(Settings::default(), Bbr::Linux);
        run(&mut bbr, 8.0);
        let (product, offload) = (100.0, 6.0);
        let over = bbr.window().cwnd - product - offload;
        assert!((0.0..12.0).contains(&over), "{}", bbr.window().cwnd);
        assert_eq!(bbr.window().cwnd % 2.0, 0.0);
    }
}
