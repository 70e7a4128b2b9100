//! Helpers of this crate's test harnesses.
#![allow(dead_code, reason = "each harness is a crate of its own and uses a part")]

use anabranch_control::{
    Acked, AnyController, AnyLaw, Cause, CongestionController, ControllerSpec, Law, LawVisitor,
    PathView, Phase, Settings, Span, Time, Window,
};
use proptest::prelude::*;

/// Every registered law under each of its options, with the text that names it.
pub(crate) fn registered() -> Vec<(String, AnyLaw)> {
    let texts = AnyLaw::listed().into_iter().flat_map(|law| law.texts().collect::<Vec<_>>());
    texts.map(|text| (text.clone(), text.parse().expect("a law"))).collect()
}

/// The controller of this name.
pub(crate) fn controller(name: &str, settings: Settings, paths: usize) -> AnyController {
    let spec: ControllerSpec = name.parse().expect("a controller");
    AnyController::new(&spec, settings, paths).expect("it is not the kernel's")
}

/// A usable path, as a running connection may have it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) cwnd: f64,
    pub(crate) srtt: f64,
    /// Segments acknowledged since the last loss, and between the last two.
    pub(crate) since_loss: f64,
    pub(crate) between_losses: f64,
}

impl Path {
    pub(crate) fn rate(&self) -> f64 {
        self.cwnd / self.srtt
    }

    /// The law's view of the path.
    fn view<L: Law>(&self, law: &L) -> PathView<L::Note> {
        let Path { cwnd, srtt, since_loss, between_losses } = *self;
        let rtt_ns = (srtt * 1e9) as u64;
        let acked = |segments| Acked {
            segments,
            srtt: Span::from_seconds(srtt),
            rtt: Span(rtt_ns),
            ..Acked::default()
        };
        let mut note = L::Note::default();
        law.note_acked(&mut note, &acked(between_losses));
        law.note_lost(&mut note);
        law.note_acked(&mut note, &acked(since_loss));
        PathView { cwnd, srtt, note, usable: true }
    }
}

/// The formulas of a law, whatever its type of notes.
pub(crate) trait Formulas {
    fn growth_of(&self, me: usize, paths: &[Path]) -> f64;
    fn backoff_of(&self, me: usize, paths: &[Path]) -> f64;
}

impl<L: Law> Formulas for L {
    fn growth_of(&self, me: usize, paths: &[Path]) -> f64 {
        let views: Vec<_> = paths.iter().map(|path| path.view(self)).collect();
        self.growth(me, &views)
    }

    fn backoff_of(&self, me: usize, paths: &[Path]) -> f64 {
        let views: Vec<_> = paths.iter().map(|path| path.view(self)).collect();
        self.backoff(me, &views)
    }
}

/// The formulas of `law`.
pub(crate) fn formulas(law: AnyLaw) -> Box<dyn Formulas> {
    struct Boxed;
    impl LawVisitor for Boxed {
        type Output = Box<dyn Formulas>;
        fn visit<L: Law + 'static>(self, law: L) -> Box<dyn Formulas> {
            Box::new(law)
        }
    }
    law.visit(Boxed)
}

/// An acknowledgement that arrived while the window was full.
pub(crate) fn acked(segments: f64, srtt: f64, phase: Phase) -> Acked {
    let srtt = Span::from_seconds(srtt);
    Acked { segments, srtt, cwnd_limited: true, phase, ..Acked::default() }
}

/// A TCP on each path.
pub(crate) fn tcps(settings: Settings, paths: usize) -> AnyController {
    controller("uncoupled", settings, paths)
}

/// The windows of all paths.
pub(crate) fn windows(control: &impl CongestionController, paths: usize) -> Vec<Window> {
    (0..paths).map(|path| control.window(path)).collect()
}

/// Events of schemes.
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

/// Histories of a few paths: the path, the seconds since the last event, the round trip, and the
/// event.
pub(crate) fn history(
    rests: core::ops::Range<f64>,
    srtts: core::ops::Range<f64>,
) -> impl Strategy<Value = Vec<(usize, f64, f64, Event)>> {
    prop::collection::vec((0_usize..4, rests, srtts, event()), 1..200)
}

/// Reports an event at a time; an ACK before it carries that time.
pub(crate) fn tell(
    control: &mut impl CongestionController,
    path: usize,
    seconds: f64,
    srtt: f64,
    event: Event,
) {
    let now_ns = (seconds * 1e9) as u64;
    let (una, nxt, rtt_ns) = (now_ns, now_ns + 1, (srtt * 1e9) as u64);
    let ack =
        Acked { now: Time(now_ns), una, nxt, rtt: Span(rtt_ns), ..acked(1.0, srtt, Phase::Open) };
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
    let floor = prop::option::of(1.0..4.0);
    let ssthresh = prop_oneof![Just(f64::INFINITY), Just(1.0), 4.0..100.0];
    (1.0..4.0, floor, 0.0..20.0, ssthresh, any::<(bool, bool)>()).prop_map(
        |(min_window, min_ssthresh, above, initial_ssthresh, (carry_over, growth_per_ack))| {
            Settings {
                min_window,
                min_ssthresh,
                initial_window: min_window + above,
                initial_ssthresh,
                carry_over,
                growth_per_ack,
                base: 0,
            }
        },
    )
}
