//! Couple+ (Xue et al., "Migrating Unfairness Among Subflows in MPTCP With Network Coding for
//! Wired–Wireless Networks", IEEE TVT 2017, §IV): coding hides losses from congestion control, and
//! with them congestion. The receiver still reports missing segments, and the sender classifies the
//! losses.
//!
//! ```text
//!             loss flag: twnd = 7/8 cwnd
//!   normal ─────────────────────────────► transient: min(cwnd, twnd)
//!      ▲                                   │   │
//!      │ decoded, or rtt short after ΔT    │   │ not decoded after ΔT and rtt ≥ 2 min, or the
//!      │ packets: max(cwnd, twnd)          │   │ receive buffer is full, or duplicate ACKs, or
//!      ├───────────────────────────────────┘   │ a timeout
//!      └── congestion: min(cwnd, twnd) / 2 ◄───┘
//! ```
//!
//! Windows grow as in LIA (RTT Compensator) in all states, also on paths without coding.

use crate::kind::{Choice, Described, Kind};
use crate::laws::Lia;
use crate::scheme::Scheme;
use crate::{
    Acked, Cause, CongestionController, Decoding, Settings, Shell, Span, Verdicts, Window,
};
use alloc::boxed::Box;

/// The round trip of congestion over the smallest of the uncongested state (§IV-C).
const RTT_FACTOR: u64 = 2;

/// Readings of what the paper leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CouplePlus {
    /// Congestion: not decoded in time *and* a long round trip (the detailed text of §IV-C).
    Published,
    /// Congestion: not decoded in time, whatever the round trip (the summary of §IV-C).
    DecodeOnly,
    /// Ours. Congestion: more losses than the redundancy is for, and a long round trip; see
    /// `burst`.
    Counted,
    /// As published; `twnd` begins at 3/4 of the window.
    ThreeQuarters,
    /// As published; `twnd` begins at 19/20 of the window.
    NineteenTwentieths,
}

impl CouplePlus {
    /// The paper's "a little smaller": `twnd` over `cwnd` when the transient state begins.
    fn factor(self) -> f64 {
        match self {
            CouplePlus::Published | CouplePlus::DecodeOnly | CouplePlus::Counted => 0.875,
            CouplePlus::ThreeQuarters => 0.75,
            CouplePlus::NineteenTwentieths => 0.95,
        }
    }
}

/// LIA over all paths, and the state of loss classification of each.
#[derive(Clone, Debug)]
pub(crate) struct CouplePlusControl {
    reading: CouplePlus,
    min_window: f64,
    /// For a path in the transient state, LIA has `twnd` as the window: it is the smaller one.
    lia: Shell<Lia>,
    paths: Box<[Path]>,
}

#[derive(Clone, Copy, Debug)]
struct Path {
    transient: Option<Transient>,
    /// Smallest round trip outside the transient state.
    min_rtt: Span,
    verdicts: Verdicts,
}

/// The transient state, in which the cause of the losses is not known.
#[derive(Clone, Copy, Debug)]
struct Transient {
    /// `cwnd − twnd`: constant, because both windows grow by the same steps.
    held: f64,
    /// The transient counter: packets sent after the first that could not be decoded, received or
    /// lost.
    counter: u32,
    /// Packets reported lost since then.
    lost: u32,
}

impl Default for Path {
    fn default() -> Self {
        Path { transient: None, min_rtt: Span(u64::MAX), verdicts: Verdicts::default() }
    }
}

impl CouplePlusControl {
    pub(crate) fn new(reading: CouplePlus, settings: Settings, paths: usize) -> Self {
        CouplePlusControl {
            reading,
            min_window: settings.min_window,
            lia: Shell::new(Lia::Capped, settings, paths),
            paths: alloc::vec![Path::default(); paths].into(),
        }
    }

    /// The loss flag is set: the path enters the transient state and sends a little less.
    fn ask(&mut self, path: usize, lost: u32) {
        let Window { cwnd, ssthresh } = self.lia.window(path);
        let twnd = (self.reading.factor() * cwnd).max(self.min_window);
        self.lia.restart(path, Window { cwnd: twnd, ssthresh });
        let side = &mut self.paths[path];
        side.transient = Some(Transient { held: cwnd - twnd, counter: 0, lost });
        side.verdicts.asked += 1;
    }

    /// The losses were noise: both windows become the larger one again.
    fn acquit(&mut self, path: usize) {
        let Some(Transient { held, .. }) = self.paths[path].transient.take() else {
            return;
        };
        let Window { cwnd, ssthresh } = self.lia.window(path);
        self.lia.restart(path, Window { cwnd: cwnd + held, ssthresh });
        self.paths[path].verdicts.noise += 1;
    }

    /// Ends the transient state because the losses were congestion: the path keeps the reduced
    /// window `twnd`, and LIA then backs off from it.
    fn convict(&mut self, path: usize) {
        let side = &mut self.paths[path];
        side.verdicts.congestion += u64::from(side.transient.take().is_some());
    }

    /// Whether the round trip is long enough for congestion: packets were not decoded in time.
    fn late(&self, path: usize, rtt: Span) -> bool {
        let Span(least) = self.paths[path].min_rtt;
        self.reading == CouplePlus::DecodeOnly || rtt.0 >= least.saturating_mul(RTT_FACTOR)
    }
}

/// Whether more packets are lost than noise explains. The redundancy of a path is for a loss of 1 −
/// 1/R = 1/ΔT, so `m = counter/ΔT` of the packets sent since are expected to be lost: one in a
/// cycle. A Poisson variable with that mean exceeds `m + 2 √m` once in fifty times.
fn burst(transient: Transient, cycle: u32) -> bool {
    let expected = f64::from(transient.counter.max(cycle)) / f64::from(cycle);
    f64::from(transient.lost) > expected + 2.0 * libm::sqrt(expected)
}

impl CongestionController for CouplePlusControl {
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        let side = &mut self.paths[path];
        if side.transient.is_none() && ack.rtt > Span::ZERO {
            side.min_rtt = side.min_rtt.min(ack.rtt);
        }
        self.lia.on_ack(path, ack);
    }

    fn on_decoding(&mut self, path: usize, decoding: &Decoding) -> bool {
        let Decoding { lost, newly_lost, advanced, rtt, cycle, full } = *decoding;
        let Some(transient) = &mut self.paths[path].transient else {
            if lost > 0 {
                self.ask(path, newly_lost);
            }
            return false;
        };
        if lost == 0 {
            self.acquit(path);
            return false;
        }
        if advanced {
            transient.counter = transient.counter.saturating_add(1 + newly_lost);
        }
        transient.lost = transient.lost.saturating_add(newly_lost);
        if self.reading == CouplePlus::Counted {
            let burst = burst(*transient, cycle);
            return full || burst && self.late(path, rtt);
        }
        let over = transient.counter >= cycle;
        if full || over && self.late(path, rtt) {
            return true; // `on_congestion` follows
        }
        if over {
            self.acquit(path);
        }
        false
    }

    fn on_congestion(&mut self, path: usize, cause: Cause) {
        self.convict(path);
        self.lia.on_congestion(path, cause);
    }

    fn on_recovered(&mut self, path: usize) {
        self.lia.on_recovered(path);
    }

    fn set_member(&mut self, path: usize, member: bool) {
        let verdicts = self.paths[path].verdicts;
        self.paths[path] = Path { verdicts, ..Path::default() };
        self.lia.set_member(path, member);
    }

    fn undo(&mut self, path: usize) {
        self.lia.undo(path);
    }

    fn restart(&mut self, path: usize, window: Window) {
        self.paths[path].transient = None;
        self.lia.restart(path, window);
    }

    fn window(&self, path: usize) -> Window {
        self.lia.window(path)
    }

    fn verdicts(&self, path: usize) -> Verdicts {
        self.paths[path].verdicts
    }
}

impl Kind for CouplePlus {
    const DESCRIBED: Described = Described {
        names: &["couple-plus"],
        aliases: &["couple+"],
        summary: "Couple+: LIA that determines why a coded path lost packets before it backs off; plain LIA on other paths.",
        formula: "loss flag: twnd = 7/8 w; decoded within r/(r − 1) packets: w; if not, and rtt ≥ 2 minRTT: min(w, twnd)/2",
        source: "Xue et al., TVT 2017, §IV",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(CouplePlus::Published);
    const CHOICES: &'static [Choice<Self>] = &[
        Choice::word(
            "decode-only",
            CouplePlus::DecodeOnly,
            "packets not decoded within a cycle mean congestion, however short the round trip",
        ),
        Choice::word(
            "counted",
            CouplePlus::Counted,
            "ours: more losses than the redundancy covers mean congestion",
        ),
        Choice::word(
            "twnd-3/4",
            CouplePlus::ThreeQuarters,
            "the transient window begins at 3/4 of the window",
        ),
        Choice::word(
            "twnd-19/20",
            CouplePlus::NineteenTwentieths,
            "the transient window begins at 19/20 of the window",
        ),
    ];
}

impl Scheme for CouplePlus {
    type Control = CouplePlusControl;

    fn control(self, settings: Settings, paths: usize) -> CouplePlusControl {
        CouplePlusControl::new(self, settings, paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Phase;

    const MS: u64 = 1_000_000;

    /// Two paths of `cwnd` segments in avoidance, with a round trip of 60 ms.
    fn control(reading: CouplePlus, cwnd: f64) -> CouplePlusControl {
        let settings =
            Settings { initial_window: cwnd, initial_ssthresh: 1.0, ..Settings::default() };
        let mut control = CouplePlusControl::new(reading, settings, 2);
        for path in [0, 1] {
            control.on_ack(path, &Acked { segments: 0.0, ..acked(60) });
        }
        control
    }

    fn acked(rtt_ms: u64) -> Acked {
        let (rtt, phase) = (Span(rtt_ms * MS), Phase::Open);
        Acked { segments: 1.0, srtt: rtt, rtt, cwnd_limited: true, phase, ..Acked::default() }
    }

    fn flagged(lost: u32, newly_lost: u32, rtt_ms: u64) -> Decoding {
        let rtt_ns = rtt_ms * MS;
        Decoding { lost, newly_lost, advanced: true, rtt: Span(rtt_ns), cycle: 5, full: false }
    }

    #[test]
    fn a_loss_that_is_decoded_within_a_cycle_costs_nothing_in_the_end() {
        let mut control = control(CouplePlus::Published, 16.0);
        assert!(!control.on_decoding(1, &flagged(1, 1, 60)));
        assert_eq!(control.window(1).cwnd, 14.0);
        assert!(!control.on_decoding(1, &flagged(1, 0, 200)));
        assert!(!control.on_decoding(1, &flagged(0, 0, 200)));
        assert_eq!(control.window(1).cwnd, 16.0);
        assert_eq!(control.verdicts(1), Verdicts { asked: 1, noise: 1, congestion: 0 });
        assert_eq!(control.verdicts(0), Verdicts::default());
    }

    #[test]
    fn both_windows_grow_by_the_increment_of_lia_while_it_is_asked() {
        let (mut control, mut plain) =
            (control(CouplePlus::Published, 16.0), control(CouplePlus::Published, 16.0));
        control.on_decoding(1, &flagged(1, 1, 60));
        plain.restart(1, Window { cwnd: 14.0, ssthresh: 1.0 });
        for _ in 0..10 {
            control.on_ack(1, &acked(60));
            plain.on_ack(1, &acked(60));
        }
        let grown = plain.window(1).cwnd;
        assert_eq!(control.window(1).cwnd, grown);
        control.on_decoding(1, &flagged(0, 0, 60));
        assert_eq!(control.window(1).cwnd, grown + 2.0);
    }

    #[test]
    fn every_combination_of_signs_has_the_verdict_of_the_text() {
        // Inputs: decoded, whole cycle, long round trip, buffer full. Outputs: the verdicts as
        // published and decode-only.
        for case in 0..16 {
            let [decoded, over, long, full] = [1, 2, 4, 8].map(|bit| case & bit != 0);
            for reading in [CouplePlus::Published, CouplePlus::DecodeOnly] {
                let mut control = control(reading, 16.0);
                control.on_decoding(1, &flagged(1, 1, 60));
                let last = Decoding {
                    lost: u32::from(!decoded),
                    full,
                    rtt: Span(if long { 120 } else { 119 } * MS),
                    ..flagged(1, if over { 4 } else { 3 }, 60)
                };
                let late = over && (long || reading == CouplePlus::DecodeOnly);
                let congestion = !decoded && (full || late);
                assert_eq!(control.on_decoding(1, &last), congestion, "{case} {reading:?}");
                let noise = decoded || over && !congestion;
                assert_eq!(control.verdicts(1).noise, u64::from(noise), "{case} {reading:?}");
            }
        }
    }

    #[test]
    fn the_counter_adds_one_for_an_acknowledgement_and_one_for_each_packet_that_it_reports_lost() {
        let mut control = control(CouplePlus::Published, 16.0);
        control.on_decoding(1, &flagged(1, 1, 200));
        assert!(!control.on_decoding(1, &flagged(1, 0, 200))); // 1
        assert!(!control.on_decoding(1, &flagged(3, 2, 200))); // 4
        let again = Decoding { advanced: false, ..flagged(3, 0, 200) };
        assert!(!control.on_decoding(1, &again)); // still 4
        assert!(control.on_decoding(1, &flagged(3, 0, 200))); // 5
    }

    #[test]
    fn congestion_halves_the_transient_window_once_and_so_do_duplicate_acks_and_timeouts() {
        for cause in [Cause::FastRetransmit, Cause::Timeout] {
            let mut control = control(CouplePlus::Published, 16.0);
            control.on_decoding(1, &flagged(1, 1, 60));
            control.on_congestion(1, cause);
            let cwnd = if cause == Cause::Timeout { 1.0 } else { 7.0 };
            assert_eq!(control.window(1), Window { cwnd, ssthresh: 7.0 });
            assert_eq!(control.verdicts(1).congestion, 1);
            // Outside the transient state a loss has LIA's answer and is not a verdict.
            control.on_congestion(0, cause);
            assert_eq!(control.verdicts(0).congestion, 0);
            assert_eq!(control.window(0).ssthresh, 8.0);
        }
    }

    #[test]
    fn counted_it_takes_what_the_redundancy_is_there_for_as_noise_and_a_burst_as_congestion() {
        let congestion = |first: u32, then: &[u32]| {
            let mut control = control(CouplePlus::Counted, 16.0);
            control.on_decoding(1, &flagged(first, first, 200));
            then.iter().any(|lost| control.on_decoding(1, &flagged(9, *lost, 200)))
        };
        // three lost in a cycle of five: with a mean of one, within 1 + 2
        assert!(!congestion(1, &[1, 1]));
        assert!(congestion(1, &[1, 2])); // four lost
        assert!(congestion(4, &[0]));
        // One in five over a long time: 40 of 200 are within 40 + 2 √40, 60 of 200 are not.
        assert!(!congestion(1, &[1, 0, 0, 0].repeat(40)));
        assert!(congestion(1, &[1, 0].repeat(60)));
        // With a short round trip it waits for more losses.
        let mut control = control(CouplePlus::Counted, 16.0);
        control.on_decoding(1, &flagged(4, 4, 60));
        assert!(!control.on_decoding(1, &flagged(4, 0, 60)));
        assert!(control.on_decoding(1, &flagged(4, 0, 120)));
    }

    #[test]
    fn without_coding_it_is_lia() {
        let mut control = control(CouplePlus::Published, 16.0);
        let settings =
            Settings { initial_window: 16.0, initial_ssthresh: 1.0, ..Settings::default() };
        let mut lia = Shell::new(Lia::Capped, settings, 2);
        for path in [0, 1] {
            lia.on_ack(path, &Acked { segments: 0.0, ..acked(60) });
        }
        for step in 0..200_usize {
            let path = step % 2;
            let ack = acked(60 + 20 * path as u64);
            control.on_ack(path, &ack);
            lia.on_ack(path, &ack);
            if step % 37 == 36 {
                control.on_congestion(path, Cause::FastRetransmit);
                lia.on_congestion(path, Cause::FastRetransmit);
            }
        }
        for path in [0, 1] {
            assert_eq!(control.window(path), lia.window(path));
        }
    }
}
