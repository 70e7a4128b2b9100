//! What the test harnesses of this crate share.
#![allow(dead_code, reason = "each harness is a crate of its own and uses a part")]

use control::{
    Acked, AnyLaw, Cause, CongestionController, Phase, Settings, Shell, Window, described,
};
use proptest::prelude::*;

/// Values of φ from near 0 to the largest.
const PHIS: [&str; 5] = ["0.1", "0.5", "1", "1.5", "2"];

/// Every registered law under each of its options, with the text that names it.
pub(crate) fn registered() -> Vec<(String, AnyLaw)> {
    let mut laws = Vec::new();
    for law in described() {
        let name = law.names[0];
        let options = law.options.iter().map(|(option, _)| *option).chain(PHIS);
        let texts = std::iter::once(name.to_owned()).chain(options.map(|o| format!("{name}:{o}")));
        let before = laws.len();
        laws.extend(texts.filter_map(|text| text.parse().ok().map(|law| (text, law))));
        assert!(laws.len() > before, "no way to name `{name}` is known to this harness");
    }
    laws
}

/// An acknowledgement that arrived while the window was full.
pub(crate) fn acked(segments: f64, srtt: f64, phase: Phase) -> Acked {
    Acked { segments, srtt, cwnd_limited: true, phase, ..Acked::default() }
}

/// A TCP on each path.
pub(crate) fn tcps(settings: Settings, paths: usize) -> Shell {
    Shell::new("uncoupled".parse().expect("a law"), settings, paths)
}

/// The windows of all paths.
pub(crate) fn windows(control: &impl CongestionController, paths: usize) -> Vec<Window> {
    (0..paths).map(|path| control.window(path)).collect()
}

/// What schemes are told of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Ack { segments: f64, limited: bool },
    Loss,
    Mark,
    Timeout,
    TimeoutAgain,
    Spurious,
    Restart,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        12 => (0.1..4.0, prop::bool::weighted(0.9))
            .prop_map(|(segments, limited)| Event::Ack { segments, limited }),
        2 => Just(Event::Loss),
        1 => Just(Event::Mark),
        1 => Just(Event::Timeout),
        1 => Just(Event::TimeoutAgain),
        1 => Just(Event::Spurious),
        1 => Just(Event::Restart),
    ]
}

/// Histories of a few paths: which path, when after the last event in seconds, with which round trip, and what.
pub(crate) fn history(
    rests: core::ops::Range<f64>,
    srtts: core::ops::Range<f64>,
) -> impl Strategy<Value = Vec<(usize, f64, f64, Event)>> {
    prop::collection::vec((0_usize..4, rests, srtts, event()), 1..200)
}

/// Tells of an event at a time; an ACK comes first, which says that time.
pub(crate) fn tell(
    control: &mut impl CongestionController,
    path: usize,
    seconds: f64,
    srtt: f64,
    event: Event,
) {
    let now_ns = (seconds * 1e9) as u64;
    let (una, nxt, rtt_ns) = (now_ns, now_ns + 1, (srtt * 1e9) as u64);
    let ack = Acked { now_ns, una, nxt, rtt_ns, ..acked(1.0, srtt, Phase::Open) };
    control.on_ack(path, &Acked { cwnd_limited: false, ..ack });
    match event {
        Event::Ack { segments, limited } => {
            control.on_ack(path, &Acked { segments, cwnd_limited: limited, ..ack });
        }
        Event::Loss => {
            control.on_congestion(path, Cause::FastRetransmit);
            control.on_ack(path, &Acked { phase: Phase::Recovery, ..ack });
            control.on_recovered(path);
        }
        Event::Mark => control.on_congestion(path, Cause::Mark),
        Event::Timeout => control.on_congestion(path, Cause::Timeout),
        Event::TimeoutAgain => control.on_congestion(path, Cause::TimeoutAgain),
        Event::Spurious => {
            control.on_congestion(path, Cause::FastRetransmit);
            control.undo(path);
        }
        Event::Restart => {
            let Window { cwnd, ssthresh } = control.window(path);
            control.restart(path, Window { cwnd: cwnd.min(4.0), ssthresh });
        }
    }
}

/// Settings as a scenario may have them.
pub(crate) fn settings() -> impl Strategy<Value = Settings> {
    let ssthresh = prop_oneof![Just(f64::INFINITY), Just(1.0), 4.0..100.0];
    (1.0..4.0, 1.0..4.0, 0.0..20.0, ssthresh, any::<bool>()).prop_map(
        |(min_window, min_ssthresh, above, initial_ssthresh, carry_over)| Settings {
            min_window,
            min_ssthresh,
            initial_window: min_window + above,
            initial_ssthresh,
            carry_over,
            base: 0,
        },
    )
}
