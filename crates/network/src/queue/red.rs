//! Random early detection.
//!
//! Source: Floyd and Jacobson 1993 (symbols `min_th`, `max_th`, `max_p`, `w_q`, `avg`, `count`);
//! the gentle form as in Floyd 2000. With `gentle`, (25, 50, 0.1) is exactly the two-slope curve of
//! Khalili draft-04 §3. The queue length excludes the packet in transmission and the arriving one.

use super::{Arrival, ArrivalKind, Backlog, JudgeArrival, Kind, Verdict};
use crate::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{
    Described, InvalidParameter, Packets, Rate, Span, Time, ValidRange, WholePackets, ensure,
};

/// RED (Floyd and Jacobson 1993).
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Red {
    /// Average queue below which nothing is dropped (min_th).
    #[serde(rename(serialize = "min_packets"))]
    pub min: Packets,
    /// Average queue at which the drop probability is `max_p` (max_th).
    #[serde(rename(serialize = "max_packets"))]
    #[schemars(extend("range" = ABOVE_MIN))]
    pub max: Packets,
    /// Drop probability at `max`.
    #[schemars(extend("range" = PART.right))]
    pub max_p: f64,
    /// Whether the drop probability rises from `max_p` at `max` to 1 at twice `max`, instead of
    /// jumping to 1 at `max`.
    #[serde(default = "gentle")]
    pub gentle: bool,
    /// Weight of a new sample in the average (w_q); 1 uses the current queue.
    #[serde(default = "weight")]
    #[schemars(extend("range" = PART.right))]
    pub weight: f64,
    /// How drops are spread over arrivals.
    #[serde(default)]
    pub spacing: Spacing,
    /// Whether packets of flows that use ECN are marked instead of dropped early.
    #[serde(default)]
    pub ecn: bool,
    /// Capacity of the queue in packets.
    #[serde(rename(serialize = "limit_packets"), serialize_with = "Packets::whole")]
    #[schemars(with = "WholePackets", extend("range" = BEYOND_MIN))]
    pub limit: Packets,
}

const ABOVE_MIN: &str = "min is below max";

const PART: ValidRange<f64> = ValidRange {
    holds: |part| *part > 0.0 && *part <= 1.0,
    right: "it lies above 0 and at most at 1",
};

const BEYOND_MIN: &str = "it is at least 1 packet and at least `min`, below which RED never drops";

fn gentle() -> bool {
    true
}

fn weight() -> f64 {
    0.002
}

/// How RED spreads its drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Spacing {
    /// Drops of different arrivals are independent.
    Independent,
    /// Drops are spaced evenly, by counting arrivals since the last drop (the published RED).
    #[default]
    Count,
}

impl Red {
    /// The drop probability at average queue length `avg` in packets.
    #[inline] // runs for every packet that is judged
    pub fn curve(&self, avg: f64) -> f64 {
        let Red { min: Packets(min_th), max: Packets(max_th), max_p, gentle, .. } = *self;
        if avg < min_th {
            0.0
        } else if avg < max_th {
            max_p * (avg - min_th) / (max_th - min_th)
        } else if gentle && avg < 2.0 * max_th {
            max_p + (1.0 - max_p) * (avg - max_th) / max_th
        } else {
            1.0
        }
    }

    /// An average below this, which is below `min_th`, can be taken for zero. It cannot grow while
    /// the queue is empty, and vanishes in the sum with the first packet that waits, of which
    /// `w_q` enters the average.
    fn negligible(&self) -> f64 {
        (self.weight * f64::EPSILON / 256.0).min(self.min.0)
    }
}

impl Kind for Red {
    const DESCRIBED: Described = Described {
        names: &["red"],
        summary: "Random early detection.",
        source: "Floyd and Jacobson 1993; Floyd 2000",
    };

    const FOR_HOSTS: bool = false;

    fn check(&self) -> Result<(), InvalidParameter> {
        let Red { min: Packets(min), max: Packets(max), max_p, weight, limit, .. } = *self;
        let order = format_args!("{max}, not above min ({min})").to_string();
        ensure(min < max, "max", order, ABOVE_MIN)?;
        PART.check("max_p", &max_p)?;
        PART.check("weight", &weight)?;
        ensure(limit.0 >= 1.0 && limit.0 >= min, "limit", limit, BEYOND_MIN)
    }

    fn short(limit: u64, ecn: bool) -> Self {
        let limit = limit as f64;
        Red {
            min: Packets(limit / 4.0),
            max: Packets(limit / 2.0),
            max_p: 0.1,
            gentle: true,
            weight: 0.25,
            spacing: Spacing::Count,
            ecn,
            limit: Packets(limit),
        }
    }
}

/// Bits of the packet whose transmission time is the unit of idle time.
const TYPICAL_PACKET_BITS: f64 = 8.0 * 1500.0;

impl ArrivalKind for Red {
    type State = Box<RedQueue>;

    fn start(&self, rate: Option<Rate>) -> Box<RedQueue> {
        let rate = rate.map_or(f64::INFINITY, |rate| rate.0 as f64);
        Box::new(RedQueue {
            red: self.clone(),
            limit: self.limit.0 as u64,
            packet_time: TYPICAL_PACKET_BITS / rate,
            avg: 0.0,
            negligible: self.negligible(),
            count: 0.0,
            step: match self.spacing {
                Spacing::Independent => 0.0,
                Spacing::Count => 1.0,
            },
            decayed_until: Time::ZERO,
            known: Box::default(),
            last_decay: (Span::ZERO, 1.0),
        })
    }
}

/// A RED queue's state.
#[derive(Debug)]
pub(crate) struct RedQueue {
    red: Red,
    /// Most packets in the queue.
    limit: u64,
    /// Mean time in seconds to send a typical packet, for the decay of the average while idle.
    packet_time: f64,
    /// Average queue length in packets.
    avg: f64,
    /// Averages below this change nothing if they are taken for zero.
    negligible: f64,
    /// Arrivals since the last early drop while the average was above `min_th`; zero if drops are
    /// independent.
    count: f64,
    /// By how much such an arrival raises `count`.
    step: f64,
    /// The idle period that ended at or before this time has been accounted for.
    decayed_until: Time,
    /// If the average is the present queue: the drop probability (p_b) for each number of waiting
    /// packets, up to [`KEPT`] and below `limit`; filled at the first packet that may be dropped.
    known: Box<[f64]>,
    /// The last idle time and the factor by which the average decayed in it. Packets that come at
    /// a constant rate leave the same time between them.
    last_decay: (Span, f64),
}

/// Most drop probabilities that a queue keeps, which take 8 KB.
const KEPT: u64 = 1024;

impl JudgeArrival for Box<RedQueue> {
    /// Zero if the average depends on earlier arrivals. At `min_th` itself nothing is dropped.
    fn unasked(&self) -> u32 {
        let harmless = (self.red.min.0 as u64).saturating_add(1);
        match self.red.weight < 1.0 {
            true => 0,
            false => u32::try_from(self.limit.min(harmless)).unwrap_or(u32::MAX),
        }
    }

    /// The average was at most `min_th`.
    fn accepted_unasked(&mut self) {
        self.count = 0.0;
    }

    #[inline(always)] // runs for every hop into a queue
    fn judge(&mut self, arrival: Arrival, rng: &mut impl Rng) -> Verdict {
        let p_b = match self.known.get(arrival.backlog.packets as usize) {
            Some(p_b) => *p_b,
            None => match self.probability(arrival.now, arrival.backlog) {
                Some(p_b) => p_b,
                None => {
                    self.count = 0.0;
                    return Verdict::Drop;
                }
            },
        };
        if p_b <= 0.0 {
            self.count = 0.0;
            return Verdict::Accept;
        }
        // Floyd and Jacobson §4: with p_a = p_b / (1 − count · p_b) gaps are uniform, so that the
        // long-run drop fraction is about 2 p_b / (1 + p_b). Nothing is drawn if p_a is at least 1,
        // or the denominator not above 0.
        let rest = 1.0 - self.count * p_b;
        if p_b < rest && rng.uniform() >= p_b / rest {
            self.count += self.step;
            return Verdict::Accept;
        }
        self.count = 0.0;
        // RFC 3168 §7: marks instead of dropping while the curve is below 1.
        let mark = self.red.ecn && arrival.ecn_capable && p_b < 1.0;
        if mark { Verdict::Mark } else { Verdict::Drop }
    }
}

impl RedQueue {
    /// The drop probability (p_b) at an arrival; `None` if the queue is full.
    #[inline(always)] // runs for every hop into such a queue
    fn probability(&mut self, now: Time, backlog: Backlog) -> Option<f64> {
        let avg = match self.red.weight < 1.0 {
            true => self.average(now, backlog),
            false => self.present(backlog),
        };
        if backlog.packets >= self.limit {
            return None;
        }
        // Mostly; the curve is the same, with divisions.
        if avg < self.red.min.0 { Some(0.0) } else { Some(self.red.curve(avg)) }
    }

    /// The average at an arrival, if it depends on earlier ones. Floyd and Jacobson §4: after an
    /// idle time it decays as if small packets had arrived.
    #[inline(always)] // runs for every hop into such a queue
    fn average(&mut self, now: Time, backlog: Backlog) -> f64 {
        let (w_q, queue) = (self.red.weight, backlog.packets as i64 as f64);
        let idle_from = backlog.idle_since.max(self.decayed_until);
        // Zero stays zero: a path that is empty for long needs no power.
        if backlog.packets == 0 && now > idle_from && self.avg > 0.0 {
            self.decay(now.since(idle_from));
        }
        self.decayed_until = now;
        self.avg += w_q * (queue - self.avg);
        self.avg
    }

    /// The average after an idle time.
    #[inline(never)] // keeps the code of busy queues short
    fn decay(&mut self, idle: Span) {
        if self.last_decay.0 != idle {
            let missed = idle.seconds() / self.packet_time;
            self.last_decay = (idle, libm::pow(1.0 - self.red.weight, missed));
        }
        self.avg *= self.last_decay.1;
        if self.avg < self.negligible {
            self.avg = 0.0;
        }
    }

    /// The average at an arrival, if it is the present queue.
    #[cold] // drop probabilities are kept from now on
    fn present(&mut self, backlog: Backlog) -> f64 {
        if self.known.is_empty() {
            let queues = 0..self.limit.min(KEPT);
            self.known = queues.map(|queue| self.red.curve(queue as f64)).collect();
        }
        backlog.packets as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Lcg;
    use proptest::prelude::{Just, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};

    /// Khalili draft-04 §3 for 10 Mb/s.
    const DRAFT: Red = Red {
        min: Packets(25.0),
        max: Packets(50.0),
        max_p: 0.1,
        gentle: true,
        weight: 1.0,
        spacing: Spacing::Independent,
        ecn: false,
        limit: Packets(200.0),
    };

    /// Before a transmitter of 10 Mb/s: a typical packet takes 1.2 ms.
    fn start(red: &Red) -> Box<RedQueue> {
        red.start(Some(Rate(10_000_000)))
    }

    /// An arrival at `ns` that finds `backlog`.
    fn arrival(ns: u64, ecn_capable: bool, backlog: Backlog) -> Arrival {
        Arrival { now: Time(ns), bytes: 1500, ecn_capable, backlog }
    }

    fn busy(packets: u64) -> Backlog {
        Backlog { packets, bytes: 1500 * packets, idle_since: Time::NEVER }
    }

    /// Fraction of 100,000 arrivals dropped at a constant queue length.
    fn drop_fraction(red: &Red, queue: u64) -> f64 {
        let mut red = start(red);
        let mut rng = Lcg(1);
        let drops = (0..100_000)
            .filter(|i| {
                let arrival = arrival(i * 1_200_000, false, busy(queue));
                red.judge(arrival, &mut rng) != Verdict::Accept
            })
            .count();
        drops as f64 / 100_000.0
    }

    #[test]
    fn the_curve_passes_through_the_points_of_the_draft() {
        let points = [
            (25.0, 0.0),
            (26.0, 0.004),
            (37.5, 0.05),
            (50.0, 0.1),
            (60.0, 0.28),
            (75.0, 0.55),
            (100.0, 1.0),
        ];
        for (q, p) in points {
            assert!((DRAFT.curve(q) - p).abs() < 1e-12, "at {q}");
        }
        assert_eq!(Red { gentle: false, ..DRAFT }.curve(50.0), 1.0);
    }

    #[test]
    fn independent_drops_follow_the_curve_and_count_spacing_nearly_doubles_it() {
        let p_b = 0.02;
        assert!((drop_fraction(&DRAFT, 30) - p_b).abs() < 2e-3);
        let spaced = Red { spacing: Spacing::Count, ..DRAFT };
        let expected = 2.0 * p_b / (1.0 + p_b);
        assert!((drop_fraction(&spaced, 30) - expected).abs() < 2e-3);
    }

    #[test]
    fn a_probability_is_that_of_the_curve_whether_it_is_kept_or_not() {
        struct Draws(f64);
        impl Rng for Draws {
            fn uniform(&mut self) -> f64 {
                self.0
            }
        }
        let kept = KEPT as f64;
        let (min, max) = (Packets(0.5 * kept), Packets(1.5 * kept));
        let red = Red { min, max, max_p: 0.5, limit: Packets(3.0 * kept), ..DRAFT };
        let mut queue = start(&red);
        for packets in 0..3 * KEPT {
            let p_b = red.curve(packets as f64);
            let draws = [p_b.next_down().max(0.0), p_b.min(1.0_f64.next_down())];
            for draw in draws {
                let verdict = queue.judge(arrival(0, false, busy(packets)), &mut Draws(draw));
                assert_eq!(verdict == Verdict::Drop, draw < p_b, "{packets} packets, {draw}");
            }
        }
        let full = arrival(0, false, busy(3 * KEPT));
        assert_eq!(queue.judge(full, &mut Draws(0.9)), Verdict::Drop);
    }

    #[test]
    fn the_average_decays_over_an_idle_time() {
        let mut red = start(&Red { weight: 0.5, ..DRAFT });
        red.judge(arrival(0, false, busy(20)), &mut Lcg(1));
        assert_eq!(red.avg, 10.0);
        let idle = Backlog { packets: 0, bytes: 0, idle_since: Time(0) };
        red.judge(arrival(2_400_000, false, idle), &mut Lcg(1)); // idle for two packet times
        assert!((red.avg - 10.0 / 4.0 / 2.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn a_negligible_average_is_taken_for_zero_and_changes_nothing_else(
            weight in prop_oneof![0.002..0.1_f64, Just(0.9)],
            min in prop_oneof![Just(0.0), 1.0..9.0_f64],
            steps in prop::collection::vec((0..4_u64, 1..40_000_u64), 1..80),
        ) {
            let red = Red { weight, min: Packets(min), max: Packets(50.0), ..DRAFT };
            let (mut queue, mut plain, mut now, mut before) = (start(&red), 0.0, 0, 0);
            for (packets, later) in steps {
                before = if packets == 0 { now } else { before };
                now += later * 1_200_000; // packet times
                if packets == 0 && plain > 0.0 {
                    let missed = (now - before) as f64 / 1e9 / queue.packet_time;
                    plain *= libm::pow(1.0 - weight, missed);
                }
                plain += weight * (packets as f64 - plain);
                let idle_since = Time(if packets == 0 { before } else { u64::MAX });
                let backlog = Backlog { packets, bytes: 1500 * packets, idle_since };
                prop_assert_eq!(queue.probability(Time(now), backlog), Some(red.curve(plain)));
                let same = queue.avg == plain || queue.avg == 0.0 && plain < red.negligible();
                prop_assert!(same, "{} instead of {}", queue.avg, plain);
                before = now;
            }
        }
    }

    #[test]
    fn a_full_queue_drops_whatever_the_average_says() {
        let mut red = start(&Red { weight: 0.002, ..DRAFT });
        assert_eq!(red.judge(arrival(0, false, busy(200)), &mut Lcg(1)), Verdict::Drop);
    }

    #[test]
    fn with_ecn_frames_that_can_be_marked_are_marked_where_others_are_dropped() {
        let ecn = Red { ecn: true, ..DRAFT };
        let verdicts = |capable, queue| {
            let (mut red, mut rng) = (start(&ecn), Lcg(1));
            let at = |i: u64| arrival(i * 1_200_000, capable, busy(queue));
            (0..1000).map(|i| red.judge(at(i), &mut rng)).collect::<Vec<_>>()
        };
        let marked = |verdict: Verdict| match verdict {
            Verdict::Mark => Verdict::Drop,
            other => other,
        };
        assert!(verdicts(true, 40).contains(&Verdict::Mark));
        let translated: Vec<_> = verdicts(true, 40).into_iter().map(marked).collect();
        assert_eq!(translated, verdicts(false, 40));
        assert!(
            !verdicts(true, 120).contains(&Verdict::Mark),
            "beyond twice max_th all are dropped"
        );
    }
}
