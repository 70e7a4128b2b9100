//! What a controller allocates after it was built: nothing.

use anabranch_control::tfrc::{Feedback, INTERVALS};
use anabranch_control::{
    Acked, AnyController, Cause, CongestionController, ControllerSpec, Decoding, Delivered, Phase,
    SegmentRate, Settings, Span, Time, Window,
};

const PATHS: usize = 4;

/// Controllers that keep observations or reports in lists that grow; their rarest events allocate.
/// So does a detector of shared bottlenecks (`+sbd`) when it looks, every few seconds.
const KEEP: [&str; 5] = ["mtcp", "dwc", "tfrc", "bilevel-tfrc", "best-path"];

/// Whether `spec` is the controller of this name, with whatever option.
fn named(spec: &ControllerSpec, name: &str) -> bool {
    spec.described().is_some_and(|described| described.names[0] == name)
}

/// Knuth's linear congruential generator: the same events in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % most
    }
}

/// Gives `control` an event of any kind.
fn happen(control: &mut AnyController, random: &mut Random, number: u64) {
    let path = random.below(PATHS as u64) as usize;
    let now = Time(number * 2_000_000);
    let (rtt, srtt) = (Span::millis(20 + random.below(80)), Span::millis(50));
    let phase = [Phase::Open, Phase::Open, Phase::Recovery, Phase::Loss][random.below(4) as usize];
    let cwnd_limited = random.below(8) > 0;
    match random.below(100) {
        0 => control.on_congestion(path, Cause::Timeout),
        1 => control.on_congestion(path, Cause::TimeoutAgain),
        2 => control.on_congestion(path, Cause::Mark),
        3..6 => control.on_congestion(path, Cause::FastRetransmit),
        6..9 => control.on_recovered(path),
        9 => control.undo(path),
        10 => control.set_member(path, random.below(2) > 0),
        11 => control.restart(path, Window { cwnd: 10.0, ssthresh: 20.0 }),
        12 => control.on_stalled(),
        13 => control.on_silence(path, now, random.below(2) > 0),
        14 => control.on_timer(now),
        15..20 => {
            let newly_lost = random.below(3) as u32;
            let decoding = Decoding { newly_lost, lost: newly_lost, rtt, ..Decoding::default() };
            control.on_decoding(path, &decoding);
        }
        20..30 => control.on_feedback(
            path,
            &Feedback {
                now,
                rtt: srtt,
                sample: rtt,
                received: SegmentRate(random.below(1000) as f64),
                events: number / 50,
                intervals: &[100; INTERVALS + 1],
                limited: !cwnd_limited,
            },
        ),
        30..50 => control.on_delivered(
            path,
            &Delivered {
                now,
                rtt,
                srtt,
                segments: 1.0,
                total: number as f64,
                prior: number.checked_sub(20).map(|prior| prior as f64),
                rate: SegmentRate(random.below(1000) as f64),
                app_limited: !cwnd_limited,
                pipe: 10.0,
                lost: random.below(2) as f64,
                phase,
            },
        ),
        _ => {
            control.on_delay(path, rtt);
            let (una, nxt) = (number * 1448, (number + 20) * 1448);
            control.on_ack(
                path,
                &Acked { segments: 1.0, srtt, cwnd_limited, phase, now, rtt, una, nxt },
            );
        }
    }
    let _ = (control.window(path), control.pacing(path), control.verdicts(path), control.timer());
}

/// Allocations of `control` while `events` events happen to it.
fn allocations(control: &mut AnyController, random: &mut Random, events: u64) -> u64 {
    let counted = allocation_counter::measure(|| {
        (0..events).for_each(|number| happen(control, random, number));
    });
    counted.count_total
}

#[test]
fn no_controller_allocates_once_it_is_built_but_those_that_keep_lists() {
    for spec in ControllerSpec::all() {
        let Some(mut control) = AnyController::new(&spec, Settings::default(), PATHS) else {
            continue; // it runs in the kernel
        };
        let found = allocations(&mut control, &mut Random(7), 20_000);
        let allocates = spec.detector().is_some() || KEEP.iter().any(|name| named(&spec, name));
        assert_eq!(found > 0, allocates, "{spec}: {found} allocations");
    }
}

#[test]
fn a_law_written_as_text_does_not_allocate_once_it_is_built() {
    let text = "law mine\ngrowth = min(max_s(w_s/rtt_s^2) / sum_s(x_s)^2, 1/w)\nbackoff = w/2";
    let spec: ControllerSpec = match text.parse() {
        Ok(spec) => spec,
        Err(why) => panic!("{why}"),
    };
    let mut control = AnyController::new(&spec, Settings::default(), PATHS).expect("it runs here");
    assert_eq!(allocations(&mut control, &mut Random(7), 20_000), 0);
}
