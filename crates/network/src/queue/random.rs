//! Random drops from the upper part of the room, with one probability.
//!
//! Source: the queue `RandomQueue` of htsim (Raiciu, Wischik and Handley), with which LIA was
//! designed. Once the free room is smaller than a part of the queue, each arrival is dropped with a
//! constant probability. So flows do not all lose at once as they do at a full drop-tail queue.
//! htsim counts bytes and includes the packet in transmission; here only waiting packets are
//! counted. In csg-htsim the probability is 0.1; here it is a parameter.

use super::{Arrival, ArrivalKind, JudgeArrival, Kind, ROOM, Verdict};
use crate::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Described, InvalidParameter, PROBABILITY, Packets, Rate, WholePackets, ensure};

/// Drops arrivals with a constant probability while at least `threshold` packets wait (htsim's
/// RandomQueue).
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Random {
    /// Number of waiting packets from which arrivals are dropped with `probability`.
    #[serde(rename(serialize = "threshold_packets"), serialize_with = "Packets::whole")]
    #[schemars(with = "WholePackets", extend("range" = WITHIN_LIMIT))]
    pub threshold: Packets,
    /// Drop probability from `threshold` on.
    #[serde(default = "probability")]
    #[schemars(extend("range" = PROBABILITY.right))]
    pub probability: f64,
    /// Capacity of the queue in packets.
    #[serde(rename(serialize = "limit_packets"), serialize_with = "Packets::whole")]
    #[schemars(with = "WholePackets", extend("range" = ROOM.right))]
    pub limit: Packets,
}

const WITHIN_LIMIT: &str = "it is at most `limit`";

fn probability() -> f64 {
    0.1
}

impl Kind for Random {
    const DESCRIBED: Described = Described {
        names: &["random"],
        summary: "Drops with a constant probability above a threshold.",
        source: "htsim, RandomQueue",
    };

    fn check(&self) -> Result<(), InvalidParameter> {
        let Random { threshold, probability, limit } = *self;
        ROOM.check("limit", &limit)?;
        let order = format!("{threshold}, above limit ({limit})");
        ensure(threshold.0 <= limit.0, "threshold", order, WITHIN_LIMIT)?;
        PROBABILITY.check("probability", &probability)
    }

    fn short(limit: u64, _: bool) -> Self {
        let threshold = Packets((limit / 2) as f64);
        Random { threshold, probability: 0.2, limit: Packets(limit as f64) }
    }
}

impl ArrivalKind for Random {
    type State = RandomQueue;

    fn start(&self, _: Option<Rate>) -> RandomQueue {
        RandomQueue {
            threshold: self.threshold.0 as u64,
            probability: self.probability,
            limit: self.limit.0 as u64,
        }
    }
}

/// The parameters in whole packets, which are the only state.
#[derive(Debug)]
pub(crate) struct RandomQueue {
    threshold: u64,
    probability: f64,
    limit: u64,
}

impl JudgeArrival for RandomQueue {
    fn unasked(&self) -> u32 {
        u32::try_from(self.threshold.min(self.limit)).unwrap_or(u32::MAX)
    }

    fn judge(&mut self, arrival: Arrival, rng: &mut impl Rng) -> Verdict {
        let waiting = arrival.backlog.packets;
        let early = waiting >= self.threshold && rng.uniform() < self.probability;
        if early || waiting >= self.limit { Verdict::Drop } else { Verdict::Accept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{Backlog, Queue};
    use crate::testing::{Lcg, TestPacket};
    use crate::{Link, LinkSettings};
    use units::Time;

    fn random(probability: f64) -> Random {
        Random { threshold: Packets(20.0), probability, limit: Packets(50.0) }
    }

    /// Verdicts on 100,000 arrivals that find `packets` waiting: for each whether it is dropped.
    fn drops(packets: u64) -> Vec<bool> {
        let (mut queue, mut rng) = (random(0.1).start(None), Lcg(7));
        let backlog = Backlog { packets, bytes: 1500 * packets, idle_since: Time::NEVER };
        let arrival = Arrival { now: Time::ZERO, bytes: 1500, ecn_capable: true, backlog };
        (0..100_000).map(|_| queue.judge(arrival, &mut rng) == Verdict::Drop).collect()
    }

    #[test]
    fn nothing_is_dropped_below_the_threshold_and_everything_at_the_limit() {
        assert!(drops(19).iter().all(|drop| !drop));
        assert!(drops(50).iter().all(|drop| *drop));
    }

    #[test]
    fn in_between_the_gaps_are_geometric_whatever_the_backlog() {
        for packets in [20, 35, 49] {
            let drops = drops(packets);
            let at: Vec<usize> = (0..drops.len()).filter(|i| drops[*i]).collect();
            let gaps: Vec<f64> = at.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let square = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>();
            // 1/p and (1 − p)/p²
            assert!((mean - 10.0).abs() < 0.3, "{mean}");
            assert!((square / gaps.len() as f64 - 90.0).abs() < 6.0, "{square}");
        }
    }

    /// Mean backlog and share of drops when `load` times the capacity is offered for 20 s.
    fn overload(load: f64, probability: f64) -> (f64, f64) {
        let queue = Queue::Random(random(probability));
        let rate = Some(Rate(12_000_000)); // 1000 packets of 1500 B a second
        let mut link = Link::new(LinkSettings { rate, queue, ..LinkSettings::default() });
        let mut rng = Lcg(11);
        let (gap, arrivals) = (1e6 / load, (20_000.0 * load) as u64);
        let mut waiting = 0.0;
        for number in 0..arrivals {
            let now = Time((number as f64 * gap) as u64);
            while link.due() <= now {
                link.deliver();
            }
            waiting += link.backlog(now).packets as f64;
            link.offer(now, TestPacket::of(1500), &mut rng);
        }
        let drops = link.counters().queue_drops as f64;
        (waiting / arrivals as f64, drops / arrivals as f64)
    }

    #[test]
    fn an_overload_that_the_probability_can_shed_stands_at_the_threshold_and_others_at_the_limit() {
        // Load 1.2: with p = 0.25, 0.9 of the capacity is taken above the threshold; with 0.1,
        // 1.08.
        for (probability, stands) in [(0.25, 20.0), (0.1, 50.0)] {
            let (waiting, dropped) = overload(1.2, probability);
            assert!((waiting - stands).abs() < 2.5, "{waiting}");
            assert!((dropped - (1.0 - 1.0 / 1.2)).abs() < 0.01, "{dropped}");
        }
    }
}
