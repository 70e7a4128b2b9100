//! When each path of a TFRC sender may send its next packet.

use super::times::Times;
use control::{CongestionController, SegmentRate};
use units::{NANOS, Span, Time};

/// The turns of all paths. A path whose rate has not changed keeps its time between two packets.
#[derive(Debug)]
pub(crate) struct Turns {
    /// Packets per second, by path.
    rates: Box<[f64]>,
    /// Time between two packets at that rate, by path.
    intervals: Box<[Span]>,
    starts: Box<[Start]>,
    turns: Times,
}

/// The time from which the turn of a path counts, in a form that needs no branch.
#[derive(Clone, Copy, Debug)]
struct Start {
    at: Time,
    /// All bits of the time between two packets that are added.
    mask: u64,
}

impl Start {
    /// No packet was sent yet: the first one may be sent at once.
    const FRESH: Start = Start { at: Time::ZERO, mask: 0 };
    /// The path does not belong to the connection.
    const GONE: Start = Start { at: Time::NEVER, mask: 0 };

    /// The last packet was sent at `at`.
    fn sent(at: Time) -> Self {
        Start { at, mask: u64::MAX }
    }

    /// The turn after it, with this time between two packets.
    fn turn(self, interval: Span) -> Time {
        self.at + Span(interval.0 & self.mask)
    }
}

impl Turns {
    /// Paths that have not sent yet.
    pub(crate) fn new(paths: usize) -> Self {
        Turns {
            rates: vec![0.0; paths].into(),
            intervals: vec![interval(0.0); paths].into(),
            starts: vec![Start::FRESH; paths].into(),
            turns: Times::new(paths, Time::ZERO),
        }
    }

    /// By path; never for a path that has left.
    pub(crate) fn times(&self) -> &Times {
        &self.turns
    }

    /// Reads all rates from `control`, which may have changed them.
    pub(crate) fn follow_rates(&mut self, control: &impl CongestionController) {
        let (mut changed, mut any) = (0, 0);
        control.paces(self.rates.len(), |me, rate| {
            let rate = per_second(rate);
            let before = std::mem::replace(&mut self.rates[me], rate);
            if before.to_bits() != rate.to_bits() {
                self.intervals[me] = interval(rate);
                (changed, any) = (changed + 1, me);
            }
        });
        match changed {
            0 => {}
            1 => self.turns.set(any, self.starts[any].turn(self.intervals[any])),
            _ => {
                let all = self.starts.iter().zip(&self.intervals);
                self.turns.set_all(all.map(|(start, interval)| start.turn(*interval)));
            }
        }
    }

    /// The rate of `me` in packets per second.
    pub(crate) fn rate(&self, me: usize) -> f64 {
        self.rates[me]
    }

    /// Whether all turns are those that the rates of `control` give.
    pub(crate) fn are_of(&self, control: &impl CongestionController) -> bool {
        self.starts.iter().zip(self.turns.all()).enumerate().all(|(me, (start, turn))| {
            let now = interval(per_second(control.pacing(me)));
            *turn == start.turn(now)
        })
    }

    /// `me` sends a packet.
    pub(crate) fn on_sent(&mut self, now: Time, me: usize) {
        self.set_start(me, Start::sent(now));
    }

    pub(crate) fn leave(&mut self, me: usize) {
        self.set_start(me, Start::GONE);
    }

    pub(crate) fn join(&mut self, me: usize) {
        self.set_start(me, Start::FRESH);
    }

    #[inline(always)] // runs for every packet
    fn set_start(&mut self, me: usize, start: Start) {
        self.starts[me] = start;
        self.turns.set(me, start.turn(self.intervals[me]));
    }
}

/// A rate of control in packets per second.
fn per_second(rate: Option<SegmentRate>) -> f64 {
    rate.map_or(0.0, |rate| rate.0)
}

/// Time between two packets at `rate` per second.
pub(crate) fn interval(rate: f64) -> Span {
    // A turn at rate zero would never come, and a loop at more than one packet per clock tick would
    // not end.
    let seconds = (1.0 / rate).min(1e6);
    // `Span::from_seconds` in one step: below 2⁶³ ns, so that a whole number with a sign holds it.
    let nanoseconds = (seconds * NANOS as f64 + 0.5) as i64;
    debug_assert_eq!(nanoseconds.max(0) as u64, Span::from_seconds(seconds).0);
    Span(nanoseconds.max(1) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Acked, Cause, Window};
    use proptest::prelude::*;

    /// A control that only says its rates.
    struct Rates(Vec<f64>);

    impl CongestionController for Rates {
        fn on_ack(&mut self, _path: usize, _ack: &Acked) {}
        fn on_congestion(&mut self, _path: usize, _cause: Cause) {}
        fn on_recovered(&mut self, _path: usize) {}
        fn set_member(&mut self, _path: usize, _member: bool) {}
        fn undo(&mut self, _path: usize) {}
        fn restart(&mut self, _path: usize, _window: Window) {}
        fn window(&self, _path: usize) -> Window {
            Window { cwnd: 1.0, ssthresh: f64::INFINITY }
        }
        fn pacing(&self, path: usize) -> Option<SegmentRate> {
            Some(SegmentRate(self.0[path])).filter(|rate| rate.0 > 0.0)
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Send,
        Leave,
        Join,
        Rate(f64),
        Scale(f64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let rate = prop_oneof![0.01..1e4_f64, Just(0.0), Just(1e12)];
        prop_oneof![
            Just(Step::Send),
            Just(Step::Leave),
            Just(Step::Join),
            rate.prop_map(Step::Rate),
            (0.5..2.0_f64).prop_map(Step::Scale),
        ]
    }

    proptest! {
        #[test]
        fn a_turn_is_the_time_between_two_packets_after_the_last_one(
            steps in prop::collection::vec((0..5_usize, step()), 0..60),
        ) {
            let mut control = Rates(vec![0.0; 5]);
            let mut turns = Turns::new(5);
            // The last packet of each path, or none, of those that belong to the connection.
            let mut last = [Some(None); 5];
            for (now, (me, step)) in (1..).map(Time).zip(steps) {
                match step {
                    Step::Send => {
                        turns.on_sent(now, me);
                        last[me] = Some(Some(now));
                    }
                    Step::Leave => {
                        turns.leave(me);
                        last[me] = None;
                    }
                    Step::Join => {
                        turns.join(me);
                        last[me] = Some(None);
                    }
                    Step::Rate(rate) => control.0[me] = rate,
                    Step::Scale(by) => control.0.iter_mut().for_each(|rate| *rate *= by),
                }
                turns.follow_rates(&control);
                for (me, last) in last.into_iter().enumerate() {
                    let between = Span::from_seconds((1.0 / control.0[me]).min(1e6)).max(Span(1));
                    let turn = match last {
                        None => Time::NEVER,
                        Some(None) => Time::ZERO,
                        Some(Some(last)) => last + between,
                    };
                    prop_assert_eq!((turns.times().all()[me], turns.rate(me)), (turn, control.0[me]));
                }
                prop_assert!(turns.are_of(&control));
            }
        }
    }
}
