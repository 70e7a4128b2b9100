//! Every registered law under arbitrary legal histories of one to four paths.
//!
//! One enum holds all reports that a transport may make. A small model of loss recovery, one state
//! for each path, turns arbitrary operations into legal ones and checks the invariants after each.

mod common;

use anabranch_control::{
    Acked, AnyController, Cause, CongestionController, Phase, Settings, Span, Window,
};
use common::{controller, registered};
use proptest::prelude::*;

/// The reports that a transport may make on a path.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Ack { segments: f64, srtt: f64, cwnd_limited: bool },
    FastRetransmit,
    Timeout,
    TimeoutAgain,
    Recovered,
    Leave,
    Join,
}

/// The model's state of a path.
#[derive(Clone, Copy, Debug)]
struct Modelled {
    member: bool,
    phase: Phase,
    /// Decreases of ssthresh since the path was last open.
    decreases: u32,
}

struct Harness {
    name: String,
    floor: f64,
    ensemble: AnyController,
    paths: Vec<Modelled>,
}

impl Harness {
    fn new(name: &str, settings: Settings, paths: usize) -> Self {
        let open = Modelled { member: true, phase: Phase::Open, decreases: 0 };
        Harness {
            name: name.to_owned(),
            floor: settings.min_window,
            ensemble: controller(name, settings, paths),
            paths: vec![open; paths],
        }
    }

    fn windows(&self) -> Vec<Window> {
        (0..self.paths.len()).map(|path| self.ensemble.window(path)).collect()
    }

    /// Whether a transport could report this now: losses begin an event only when none is under
    /// way, a timer that fires again does so in loss, and only members report anything.
    fn legal(&self, path: usize, operation: Operation) -> bool {
        let Modelled { member, phase, .. } = self.paths[path];
        match operation {
            Operation::Join => !member,
            Operation::FastRetransmit | Operation::Timeout => member && phase == Phase::Open,
            // In recovery too: a timeout there belongs to the event that recovery began with.
            Operation::TimeoutAgain => member && phase != Phase::Open,
            Operation::Recovered => member && phase != Phase::Open,
            Operation::Ack { .. } | Operation::Leave => member,
        }
    }

    /// Reports the operation to the ensemble and follows it in the model.
    fn apply(&mut self, path: usize, operation: Operation) {
        let model = &mut self.paths[path];
        let ensemble = &mut self.ensemble;
        match operation {
            Operation::Ack { segments, srtt, cwnd_limited } => {
                let phase = model.phase;
                let srtt = Span::from_seconds(srtt);
                let ack = Acked { segments, srtt, cwnd_limited, phase, ..Acked::default() };
                ensemble.on_ack(path, &ack);
            }
            Operation::FastRetransmit => {
                ensemble.on_congestion(path, Cause::FastRetransmit);
                model.phase = Phase::Recovery;
            }
            Operation::Timeout => {
                ensemble.on_congestion(path, Cause::Timeout);
                model.phase = Phase::Loss;
            }
            Operation::TimeoutAgain => {
                ensemble.on_congestion(path, Cause::TimeoutAgain);
                model.phase = Phase::Loss;
            }
            Operation::Recovered => {
                if model.phase == Phase::Recovery {
                    ensemble.on_recovered(path);
                }
                (model.phase, model.decreases) = (Phase::Open, 0);
            }
            Operation::Leave | Operation::Join => {
                let member = matches!(operation, Operation::Join);
                ensemble.set_member(path, member);
                *model = Modelled { member, phase: Phase::Open, decreases: 0 };
            }
        }
    }

    fn step(&mut self, path: usize, operation: Operation) -> Result<(), TestCaseError> {
        if !self.legal(path, operation) {
            return Ok(());
        }
        let before = self.windows();
        self.apply(path, operation);
        let after = self.windows();
        for (other, window) in after.iter().enumerate() {
            let name = &self.name;
            prop_assert!(
                window.cwnd.is_finite() && window.cwnd >= self.floor,
                "{name}: {window:?}"
            );
            prop_assert!(window.ssthresh >= self.floor, "{name}: {window:?}");
            prop_assert!(other == path || *window == before[other], "{name}: {other} was moved");
        }
        if !matches!(operation, Operation::Join | Operation::Leave) {
            self.check_event(path, operation, before[path], after[path])?;
        }
        Ok(())
    }

    /// The invariants of the path of the operation.
    fn check_event(
        &mut self,
        path: usize,
        operation: Operation,
        before: Window,
        after: Window,
    ) -> Result<(), TestCaseError> {
        let (name, model) = (&self.name, &mut self.paths[path]);
        model.decreases += u32::from(after.ssthresh != before.ssthresh);
        prop_assert!(model.decreases <= 1, "{name}: two decreases in one congestion event");
        match operation {
            Operation::Ack { segments, cwnd_limited, .. } => {
                prop_assert_eq!(after.ssthresh, before.ssthresh);
                let most = segments.min(if model.phase == Phase::Loss { 1.0 } else { 2.0 });
                let frozen = !cwnd_limited || model.phase == Phase::Recovery;
                let growth = after.cwnd - before.cwnd;
                prop_assert!(!frozen || growth == 0.0, "{name}: grew by {growth}");
                // Only OLIA shrinks a window, by at most 1/(n w) a segment.
                let least = if name.starts_with("olia") { most / before.cwnd } else { 0.0 };
                prop_assert!(growth >= -least - 1e-12, "{name}: shrank by {growth}");
            }
            Operation::FastRetransmit => prop_assert_eq!(after.cwnd, after.ssthresh),
            Operation::Timeout | Operation::TimeoutAgain => {
                prop_assert_eq!(after.cwnd, self.floor);
            }
            Operation::Recovered => {
                prop_assert!(after.cwnd == after.ssthresh || after == before, "{name}: {after:?}");
            }
            Operation::Leave | Operation::Join => {}
        }
        Ok(())
    }
}

fn operation() -> impl Strategy<Value = Operation> {
    let srtt = prop_oneof![Just(1e-9), 0.001..0.5, Just(60.0)];
    let ack = (0.001..50.0, srtt, prop::bool::weighted(0.8));
    prop_oneof![
        20 => ack.prop_map(|(segments, srtt, cwnd_limited)| Operation::Ack {
            segments,
            srtt,
            cwnd_limited
        }),
        2 => Just(Operation::FastRetransmit),
        1 => Just(Operation::Timeout),
        1 => Just(Operation::TimeoutAgain),
        3 => Just(Operation::Recovered),
        1 => Just(Operation::Leave),
        2 => Just(Operation::Join),
    ]
}

fn settings() -> impl Strategy<Value = Settings> {
    let floor = prop::option::of(1.0..4.0);
    let ssthresh = prop_oneof![Just(f64::INFINITY), 4.0..100.0];
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn windows_stay_finite_above_the_floor_and_fall_once_an_event_under_every_law(
        paths in 1_usize..=4,
        settings in settings(),
        operations in prop::collection::vec((0_usize..4, operation()), 1..150),
    ) {
        for (name, _) in registered() {
            let mut harness = Harness::new(&name, settings, paths);
            for (path, operation) in &operations {
                harness.step(path % paths, *operation)?;
            }
        }
    }

    #[test]
    fn the_same_history_gives_the_same_windows_bit_for_bit(
        settings in settings(),
        operations in prop::collection::vec((0_usize..3, operation()), 1..100),
    ) {
        for (name, _) in registered() {
            let run = || {
                let mut harness = Harness::new(&name, settings, 3);
                for (path, operation) in &operations {
                    if harness.legal(*path, *operation) {
                        harness.apply(*path, *operation);
                    }
                }
                harness.windows()
            };
            prop_assert_eq!(run(), run());
        }
    }
}
