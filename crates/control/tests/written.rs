//! Comparison of laws written as text with the same laws in Rust, bit by bit.

mod common;

use anabranch_control::{
    AnyController, Cause, CongestionController, ControllerSpec, Law, LawVisitor, PathView, Phase,
    Settings,
};
use common::{acked, windows};
use proptest::prelude::*;

/// Each shipped text with its settings, and the same law in Rust.
const TWINS: [(&str, &str, &str); 11] = [
    (include_str!("../../../python/anabranch/laws/reno.law"), "", "reno"),
    (include_str!("../../../python/anabranch/laws/ewtcp.law"), "", "ewtcp"),
    (include_str!("../../../python/anabranch/laws/semicoupled.law"), "", "semicoupled"),
    (include_str!("../../../python/anabranch/laws/fully-coupled.law"), "", "fully-coupled"),
    (include_str!("../../../python/anabranch/laws/phi.law"), "with phi = 0.5", "phi:0.5"),
    (include_str!("../../../python/anabranch/laws/phi.law"), "with phi = 1.3", "phi:1.3"),
    (include_str!("../../../python/anabranch/laws/lia.law"), "", "lia"),
    (
        include_str!("../../../python/anabranch/laws/lia.law"),
        "with slow_start = hystart",
        "lia+hystart",
    ),
    (include_str!("../../../python/anabranch/laws/olia.law"), "", "olia"),
    (include_str!("../../../python/anabranch/laws/olia.law"), "with draft = 1", "olia:draft"),
    (include_str!("../../../python/anabranch/laws/balia.law"), "", "balia"),
];

fn parsed(text: &str) -> ControllerSpec {
    text.parse().unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn written(text: &str, with: &str) -> ControllerSpec {
    parsed(&format!("{text}\n{with}\n"))
}

/// Growth and backoff of every path after a history of losses.
struct Formulas<'a>(&'a [(f64, f64, f64, f64)]);

impl LawVisitor for Formulas<'_> {
    type Output = Vec<(u64, u64)>;

    fn visit<L: Law + 'static>(self, law: L) -> Vec<(u64, u64)> {
        let view = |&(cwnd, srtt, between, since): &(f64, f64, f64, f64)| {
            let mut note = law.new_note();
            law.note_acked(&mut note, &acked(between, srtt, Phase::Open));
            law.note_lost(&mut note);
            law.note_acked(&mut note, &acked(since, srtt, Phase::Open));
            PathView { cwnd, srtt, note, usable: true }
        };
        let paths: Vec<_> = self.0.iter().map(view).collect();
        let bits = |me| (law.growth(me, &paths).to_bits(), law.backoff(me, &paths).to_bits());
        (0..paths.len()).map(bits).collect()
    }
}

fn path() -> impl Strategy<Value = (f64, f64, f64, f64)> {
    (1.0..1000.0, 0.0005..1.0, prop_oneof![Just(0.0), 1.0..1e5], prop_oneof![Just(0.0), 1.0..1e5])
}

proptest! {
    #[test]
    fn a_law_as_text_has_the_formulas_of_the_law_in_rust_bit_by_bit(
        paths in prop::collection::vec(path(), 1..6), twins in any::<bool>(),
    ) {
        let mut paths = paths;
        if twins && paths.len() > 1 {
            paths[1] = paths[0];
        }
        for (text, with, name) in TWINS {
            let text = written(text, with).visit_law(Formulas(&paths));
            prop_assert_eq!(text, parsed(name).visit_law(Formulas(&paths)), "{} {:?}", name, paths);
        }
    }

    #[test]
    fn a_law_as_text_moves_windows_as_the_law_in_rust_does(
        events in prop::collection::vec((0_usize..3, 0.1..4.0, 0.001..0.5, 0_u8..20), 1..300),
    ) {
        for (text, with, name) in TWINS {
            let control = |spec: &ControllerSpec| {
                AnyController::new(spec, Settings::default(), 3).expect("no law of the kernel")
            };
            let mut both = [control(&written(text, with)), control(&parsed(name))];
            for (path, segments, srtt, what) in &events {
                let seen = both.each_mut().map(|control| {
                    control.on_ack(*path, &acked(*segments, *srtt, Phase::Open));
                    match what {
                        0 => control.on_congestion(*path, Cause::Timeout),
                        1 | 2 => {
                            control.on_congestion(*path, Cause::FastRetransmit);
                            control.on_recovered(*path);
                        }
                        3 => control.undo(*path),
                        _ => {}
                    }
                    windows(control, 3)
                });
                prop_assert_eq!(&seen[0], &seen[1], "{}", name);
            }
        }
    }
}

#[test]
fn the_label_names_what_differs_from_the_defaults() {
    let lia = TWINS[6].0;
    for (with, label) in [("", "lia"), ("with slow_start = HyStart", "lia+hystart")] {
        assert_eq!(written(lia, with).to_string(), label);
    }
    let olia = TWINS[8].0;
    assert_eq!(written(olia, "with draft = 1").to_string(), "olia:draft=1");
    assert_eq!(written(olia, "with draft = 0").to_string(), "olia");
    let spec = written(olia, "with draft = 1");
    assert_eq!(parsed(spec.source()), spec);
}
