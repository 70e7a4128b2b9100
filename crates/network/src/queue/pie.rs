//! Proportional integral controller enhanced: drops on arrival, by a delay kept near a reference.
//!
//! Source: Pan, Natarajan, Baker and White, RFC 8033 §4 and §5.1 (symbols `QDELAY_REF`, `T_UPDATE`,
//! `MAX_BURST`, `alpha`, `beta`, `drop_prob`, `burst_allowance`). The delay is not estimated from a
//! departure rate: a link knows when its transmitter will have sent the backlog. That time is
//! constant between arrivals, so the timer's updates can be computed exactly at the next arrival.
//! Derandomisation (§5.4) is left out.

use super::{Arrival, ArrivalKind, JudgeArrival, Kind, ROOM, Verdict};
use crate::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Described, InvalidParameter, Packets, Rate, Span, Time, ValidRange, WholePackets};

/// PIE (RFC 8033), with the parameters that it recommends.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pie {
    /// Reference delay (QDELAY_REF).
    #[serde(rename(serialize = "target_s"))]
    pub target: Span,
    /// Time between two updates of the drop probability (T_UPDATE).
    #[serde(rename(serialize = "update_s"))]
    #[schemars(extend("range" = UPDATE.right))]
    pub update: Span,
    /// Duration of bursts that pass without drops (MAX_BURST).
    #[serde(rename(serialize = "burst_s"))]
    pub burst: Span,
    /// Weight of the deviation of the delay from `target`, in 1/s.
    #[schemars(extend("range" = WEIGHT.right))]
    pub alpha: f64,
    /// Weight of the change of the delay since the last update, in 1/s.
    #[schemars(extend("range" = WEIGHT.right))]
    pub beta: f64,
    /// Whether packets of flows that use ECN are marked while the probability is at most 0.1.
    pub ecn: bool,
    /// Capacity of the queue in packets.
    #[serde(rename(serialize = "limit_packets"), serialize_with = "Packets::whole")]
    #[schemars(with = "WholePackets", extend("range" = ROOM.right))]
    pub limit: Packets,
}

/// A shorter timer would dominate the run.
const UPDATE: ValidRange<Span> =
    ValidRange { holds: |update| *update >= Span::millis(1), right: "it is at least 1 ms" };

const WEIGHT: ValidRange<f64> = ValidRange {
    holds: |weight| (0.0..=1e6).contains(weight),
    right: "it is a weight in 1/s, not below 0",
};

impl Default for Pie {
    fn default() -> Self {
        Pie {
            target: Span::millis(15),
            update: Span::millis(15),
            burst: Span::millis(150),
            alpha: 0.125,
            beta: 1.25,
            ecn: false,
            limit: Packets(1000.0),
        }
    }
}

impl Kind for Pie {
    const DESCRIBED: Described = Described {
        names: &["pie"],
        summary: "Proportional integral controller enhanced.",
        source: "RFC 8033",
    };

    const FOR_HOSTS: bool = false;

    fn check(&self) -> Result<(), InvalidParameter> {
        UPDATE.check("update", &self.update)?;
        WEIGHT.check("alpha", &self.alpha)?;
        WEIGHT.check("beta", &self.beta)?;
        ROOM.check("limit", &self.limit)
    }

    fn short(limit: u64, ecn: bool) -> Self {
        Pie { burst: Span::millis(20), ecn, limit: Packets(limit as f64), ..Pie::default() }
    }
}

impl ArrivalKind for Pie {
    type State = Box<PieQueue>;

    fn start(&self, _: Option<Rate>) -> Box<PieQueue> {
        Box::new(PieQueue {
            pie: self.clone(),
            limit: self.limit.0 as u64,
            drop_prob: 0.0,
            qdelay_old: 0.0,
            burst_allowance: self.burst,
            next_update: Time::ZERO + self.update,
        })
    }
}

/// Above this probability packets are dropped instead of marked (RFC 8033 §5.1).
const MARK_ECNTH: f64 = 0.1;

/// A PIE queue's state.
#[derive(Debug)]
pub(crate) struct PieQueue {
    pie: Pie,
    /// Most packets in the queue.
    limit: u64,
    drop_prob: f64,
    qdelay_old: f64,
    burst_allowance: Span,
    next_update: Time,
}

impl JudgeArrival for Box<PieQueue> {
    /// RFC 8033 §4.1.
    fn judge(&mut self, arrival: Arrival, rng: &mut impl Rng) -> Verdict {
        let Arrival { now, bytes, ecn_capable, backlog } = arrival;
        while self.next_update <= now {
            let qdelay = backlog.idle_since.since(self.next_update.min(backlog.idle_since));
            self.update(qdelay.seconds());
            self.next_update = self.next_update + self.pie.update;
        }
        if backlog.packets >= self.limit {
            return Verdict::Drop;
        }
        let target = self.pie.target;
        let calm = self.qdelay_old < target.seconds() / 2.0;
        let short = backlog.idle_since.since(now) < Span(target.0 / 2);
        if self.drop_prob == 0.0 && calm && short {
            self.burst_allowance = self.pie.burst;
        }
        let safe = (calm && self.drop_prob < 0.2) || backlog.bytes <= 2 * u64::from(bytes);
        if self.burst_allowance > Span::ZERO || safe || rng.uniform() >= self.drop_prob {
            return Verdict::Accept;
        }
        match self.pie.ecn && ecn_capable && self.drop_prob <= MARK_ECNTH {
            true => Verdict::Mark,
            false => Verdict::Drop,
        }
    }
}

impl PieQueue {
    /// RFC 8033 §4.2 and §5.1, at the end of an interval; `qdelay` is the delay at that time in
    /// seconds.
    fn update(&mut self, qdelay: f64) {
        let Pie { target, alpha, beta, .. } = self.pie;
        let mut p = alpha * (qdelay - target.seconds()) + beta * (qdelay - self.qdelay_old);
        p *= scale(self.drop_prob);
        if self.drop_prob >= 0.1 {
            p = p.min(0.02);
        }
        self.drop_prob = (self.drop_prob + p).clamp(0.0, 1.0);
        if qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.qdelay_old = qdelay;
        self.burst_allowance = self.burst_allowance - self.pie.update;
    }
}

/// Small probabilities change in small steps (RFC 8033 §4.2).
fn scale(drop_prob: f64) -> f64 {
    const STEPS: [(f64, f64); 6] =
        [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
    STEPS.iter().find(|(below, _)| drop_prob < *below).map_or(1.0, |(_, divisor)| 1.0 / divisor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Backlog;
    use crate::testing::Always;

    fn queue() -> Box<PieQueue> {
        Pie { ecn: true, ..Pie::default() }.start(None)
    }

    /// The verdict on an arrival at `ms` that finds a delay of `delay_ms`.
    fn arrival(pie: &mut Box<PieQueue>, ms: u64, delay_ms: u64, ecn_capable: bool) -> Verdict {
        let now = Time(ms * 1_000_000);
        let backlog =
            Backlog { packets: 100, bytes: 150_000, idle_since: now + Span::millis(delay_ms) };
        pie.judge(Arrival { now, bytes: 1500, ecn_capable, backlog }, &mut Always)
    }

    #[test]
    fn a_burst_passes_and_a_standing_queue_is_answered_after_it() {
        let mut pie = queue();
        let first =
            (0..2000).step_by(15).find(|ms| arrival(&mut pie, *ms, 30, false) == Verdict::Drop);
        assert_eq!(first, Some(150));
    }

    #[test]
    fn the_first_updates_are_those_worked_out_by_hand() {
        // 30 ms at the first update: p = (0.125 * 0.015 + 1.25 * 0.03) / 2048; then (0.125 * 0.015)
        // / 128
        let mut pie = queue();
        arrival(&mut pie, 15, 30, false);
        let first = (0.125 * 0.015 + 1.25 * 0.03) / 2048.0;
        assert!((pie.drop_prob - first).abs() < 1e-12);
        arrival(&mut pie, 30, 30, false);
        assert!((pie.drop_prob - first - 0.125 * 0.015 / 128.0).abs() < 1e-12);
    }

    #[test]
    fn an_empty_queue_forgets() {
        let mut pie = queue();
        for ms in (0..20_000).step_by(15) {
            arrival(&mut pie, ms, 60, false);
        }
        assert!(pie.drop_prob > 0.2);
        let now = Time(120_000_000_000);
        let idle = Backlog { packets: 0, bytes: 0, idle_since: Time(21_000_000_000) };
        let arrival = Arrival { now, bytes: 1500, ecn_capable: false, backlog: idle };
        assert_eq!(pie.judge(arrival, &mut Always), Verdict::Accept);
        assert!(pie.drop_prob < 1e-6, "{}", pie.drop_prob);
    }

    #[test]
    fn it_marks_while_the_probability_is_small_and_drops_when_it_is_large() {
        let mut pie = queue();
        let verdicts: Vec<_> =
            (0..20_000).step_by(15).map(|ms| arrival(&mut pie, ms, 40, true)).collect();
        let first_drop = verdicts.iter().position(|v| *v == Verdict::Drop).unwrap();
        assert!(verdicts[..first_drop].contains(&Verdict::Mark));
        assert!(verdicts[first_drop..].iter().all(|v| *v == Verdict::Drop));
    }
}
