//! Every controller under any legal history: windows are finite and at least the floor.
#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use control::tfrc::Feedback;
use control::{Acked, Cause, CongestionController, Delivered, Needs, Phase, SegmentRate, Window};
use libfuzzer_sys::fuzz_target;
use simulator::Controller;
use units::{Span, Time};

#[derive(Arbitrary, Debug)]
enum Step {
    Ack {
        path: u8,
        segments: u8,
        rtt_ms: u16,
        limited: bool,
    },
    Delivered {
        path: u8,
        segments: u8,
        rtt_ms: u16,
        rate: u16,
        lost: u8,
    },
    Congestion {
        path: u8,
        kind: u8,
    },
    Recovered {
        path: u8,
    },
    Member {
        path: u8,
        joins: bool,
    },
    Undo {
        path: u8,
    },
    Restart {
        path: u8,
        cwnd: u8,
        ssthresh: u8,
    },
    /// A TFRC report with arbitrary content.
    Feedback {
        path: u8,
        rtt_ms: u16,
        sample_ms: u16,
        received: u32,
        events: u8,
        intervals: [u64; 9],
        limited: bool,
    },
    Silence {
        path: u8,
        idle: bool,
    },
}

/// A transport's state of a path, so that only legal histories are reported.
#[derive(Clone, Copy)]
struct Path {
    member: bool,
    phase: Phase,
    una: u64,
    total: f64,
    /// Whether a reduction can be undone.
    reduced: bool,
}

struct Harness {
    name: String,
    control: Controller,
    needs: Needs,
    paths: Vec<Path>,
    floor: f64,
    now: Time,
}

fuzz_target!(|bytes: &[u8]| {
    let _ = play(&mut Unstructured::new(bytes));
});

fn play(bytes: &mut Unstructured<'_>) -> Result<()> {
    let paths = bytes.int_in_range(1..=4)?;
    let settings = fuzz::windows(bytes)?;
    let spec = fuzz::controller(bytes)?;
    let (control, needs) = (Controller::new(&spec, settings, paths), spec.needs());
    let name = spec.to_string();
    let open = Path { member: true, phase: Phase::Open, una: 0, total: 0.0, reduced: false };
    // After a timeout the kernel continues with one segment, whatever the settings.
    let floor = if name.starts_with("kernel:") { 1.0 } else { settings.min_window };
    let paths = vec![open; paths];
    let mut harness = Harness { name, control, needs, paths, floor, now: Time(1) };
    while !bytes.is_empty() {
        harness.step(Step::arbitrary(bytes)?);
    }
    Ok(())
}

impl Harness {
    fn step(&mut self, step: Step) {
        self.now = self.now + Span::millis(1);
        let count = self.paths.len();
        match step {
            Step::Ack { path, segments, rtt_ms, limited } => {
                self.ack(usize::from(path) % count, segments, rtt_ms, limited);
            }
            Step::Delivered { path, segments, rtt_ms, rate, lost } => {
                self.delivered(usize::from(path) % count, segments, rtt_ms, rate, lost);
            }
            Step::Congestion { path, kind } => self.congestion(usize::from(path) % count, kind),
            Step::Recovered { path } => self.recovered(usize::from(path) % count),
            Step::Member { path, joins } => self.member(usize::from(path) % count, joins),
            Step::Undo { path } => self.undo(usize::from(path) % count),
            Step::Restart { path, cwnd, ssthresh } => {
                let (cwnd, ssthresh) =
                    (self.floor + f64::from(cwnd), self.floor + f64::from(ssthresh));
                self.control.restart(usize::from(path) % count, Window { cwnd, ssthresh });
            }
            Step::Feedback { path, rtt_ms, sample_ms, received, events, intervals, limited } => {
                let report = Feedback {
                    now: self.now,
                    rtt: Span::millis(rtt_ms.max(1).into()),
                    sample: Span::millis(sample_ms.max(1).into()),
                    received: SegmentRate(f64::from(received)),
                    events: u64::from(events),
                    intervals: &intervals[..=usize::from(events).min(8)],
                    limited,
                };
                self.control.on_feedback(usize::from(path) % count, &report);
            }
            Step::Silence { path, idle } => {
                self.control.on_silence(usize::from(path) % count, self.now, idle);
            }
        }
        for path in 0..count {
            let Window { cwnd, ssthresh } = self.control.window(path);
            let name = &self.name;
            // A background flow may have to wait for its turn.
            let waits = self.needs.reports
                || cwnd == 0.0 && (name.starts_with("multi-priority") || name == "mtcp");
            assert!(
                cwnd.is_finite() && (waits || cwnd >= self.floor),
                "{name}: cwnd {cwnd} on {path}"
            );
            assert!(ssthresh > 0.0, "{name}: ssthresh {ssthresh} on {path}");
            let pacing = self.control.pacing(path);
            assert!(
                pacing.is_none_or(|rate| rate.0.is_finite() && rate.0 > 0.0),
                "{name}: {pacing:?}"
            );
        }
    }

    fn ack(&mut self, me: usize, segments: u8, rtt_ms: u16, cwnd_limited: bool) {
        let path = &mut self.paths[me];
        if !path.member {
            return;
        }
        path.una += u64::from(segments) * 1000 + 1;
        let ack = Acked {
            segments: f64::from(segments) + 0.001,
            srtt: Span::millis(rtt_ms.into()),
            cwnd_limited,
            phase: path.phase,
            now: self.now,
            rtt: Span::millis(rtt_ms.into()),
            una: path.una,
            nxt: path.una + 20_000,
        };
        self.control.on_delay(me, Span(u64::from(rtt_ms) * 400_000));
        self.control.on_ack(me, &ack);
    }

    fn delivered(&mut self, me: usize, segments: u8, rtt_ms: u16, rate: u16, lost: u8) {
        let path = &mut self.paths[me];
        if !path.member {
            return;
        }
        let prior = path.total;
        path.total += f64::from(segments);
        let delivered = Delivered {
            now: self.now,
            rtt: Span::millis(rtt_ms.into()),
            srtt: Span::millis(rtt_ms.into()),
            segments: f64::from(segments),
            total: path.total,
            prior: (!segments.is_multiple_of(5)).then_some(prior),
            rate: SegmentRate(f64::from(rate)),
            app_limited: rate.is_multiple_of(7),
            pipe: f64::from(lost),
            lost: f64::from(lost),
            phase: path.phase,
        };
        self.control.on_delivered(me, &delivered);
    }

    fn congestion(&mut self, me: usize, kind: u8) {
        let path = &mut self.paths[me];
        let open = path.phase == Phase::Open;
        let (cause, phase) = match kind % 4 {
            0 if open => (Cause::FastRetransmit, Phase::Recovery),
            1 if open => (Cause::Mark, Phase::Open),
            _ if open => (Cause::Timeout, Phase::Loss),
            _ => (Cause::TimeoutAgain, Phase::Loss),
        };
        if path.member {
            path.phase = phase;
            path.reduced = cause != Cause::Mark;
            self.control.on_congestion(me, cause);
        }
    }

    fn recovered(&mut self, me: usize) {
        let path = &mut self.paths[me];
        if path.member && path.phase == Phase::Recovery {
            self.control.on_recovered(me);
        }
        path.phase = Phase::Open;
    }

    fn member(&mut self, me: usize, joins: bool) {
        if self.paths[me].member != joins {
            self.control.set_member(me, joins);
            let Path { una, total, .. } = self.paths[me];
            self.paths[me] = Path { member: joins, phase: Phase::Open, una, total, reduced: false };
        }
    }

    fn undo(&mut self, me: usize) {
        let path = &mut self.paths[me];
        if path.member && std::mem::take(&mut path.reduced) {
            path.phase = Phase::Open;
            self.control.undo(me);
        }
    }
}
