//! A plan as JSON in SI units, for theory, reports and provenance.

use crate::air::PlanMedium;
use crate::plan::{Class, Plan, PlanLink, PlanPath, PlanQueue};
use crate::schema::Sizes;
use serde_json::{Value, json};

impl Plan {
    /// The plan in SI units; units stand in the names.
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "duration_s": self.duration.seconds(),
            "warmup_s": self.warmup.seconds(),
            "sample_s": self.sample.seconds(),
            "links": self.links.iter().map(link).collect::<Vec<_>>(),
            "media": self.media.iter().map(medium).collect::<Vec<_>>(),
            "classes": self.classes.iter().map(|c| class(self, c)).collect::<Vec<_>>(),
            "choices": self.choices,
            "warnings": self.warnings,
        })
    }
}

fn link(link: &PlanLink) -> Value {
    let changes = link.changes.iter().map(|change| {
        json!({
            "at_s": change.at.seconds(),
            "rate_bps": change.rate.map(|rate| rate.0),
            "delay_s": change.delay.map(|delay| delay.seconds()),
            "loss": change.loss,
            "up": change.up,
        })
    });
    json!({
        "name": link.name,
        "rate_bps": link.rate.map(|rate| rate.0),
        "opportunities": link.opportunities.as_ref().map(|own| json!({
            "times_ms": own.times_ms[..], "start_s": own.start.seconds(),
        })),
        "delay_s": link.delay.seconds(),
        "queue": queue(&link.queue),
        "loss": link.loss.map_or(0.0, |loss| loss.probability),
        "loss_place": link.loss.map(|loss| loss.place),
        "loss_chain": link.loss.and_then(|loss| loss.chain).map(|chain| json!({
            "to_bad": chain.to_bad, "to_good": chain.to_good, "good": chain.good, "bad": chain.bad,
        })),
        "reorder": link.reorder.map_or(0.0, |(probability, _)| probability),
        "reorder_delay_s": link.reorder.map(|(_, delay)| delay.seconds()),
        "duplicate": link.duplicate,
        "jitter_s": link.jitter.seconds(),
        "per_user": link.per_user,
        "air": link.air.map(|air| json!({ "medium": air.medium, "from": air.from, "to": air.to })),
        "changes": changes.collect::<Vec<_>>(),
    })
}

fn medium(medium: &PlanMedium) -> Value {
    let stations = medium.stations.iter().map(|station| {
        json!({
            "name": station.name,
            "queue": queue(&station.queue),
            "ring_packets": station.ring,
            "rate_bps": station.rate.map(|rate| rate.0),
            "place_m": [station.place.0, station.place.1],
            "residual_loss": station.residual_loss,
            "noise_s": station.noise.map(|gap| gap.seconds()),
        })
    });
    json!({
        "name": medium.name,
        "standard": medium.standard,
        "wide": medium.wide,
        "short_guard": medium.short_guard,
        "streams": medium.streams,
        "rate_bps": medium.rate.0,
        "control": medium.control,
        "attempts": medium.attempts,
        "ack_timeout_s": medium.ack_timeout.map(|timeout| timeout.seconds()),
        "radio": medium.radio,
        "stations": stations.collect::<Vec<_>>(),
    })
}

fn queue(queue: &PlanQueue) -> Value {
    match queue {
        PlanQueue::Unlimited => Value::Null,
        PlanQueue::DropTail { packets, bytes } => {
            json!({ "kind": "droptail", "limit_packets": packets, "limit_bytes": bytes })
        }
        PlanQueue::Pie(pie) => json!({
            "kind": "pie",
            "target_s": pie.target.seconds(),
            "update_s": pie.update.seconds(),
            "burst_s": pie.burst.seconds(),
            "alpha": pie.alpha,
            "beta": pie.beta,
            "ecn": pie.ecn,
            "limit_packets": pie.limit.0 as u64,
        }),
        PlanQueue::Codel(codel) => json!({
            "kind": "codel",
            "target_s": codel.target.seconds(),
            "interval_s": codel.interval.seconds(),
            "ecn": codel.ecn,
            "limit_packets": codel.limit.0 as u64,
        }),
        PlanQueue::FqCodel(fq) => json!({
            "kind": "fq-codel",
            "target_s": fq.target.seconds(),
            "interval_s": fq.interval.seconds(),
            "ecn": fq.ecn,
            "queues": fq.queues,
            "quantum_bytes": fq.quantum.0,
            "limit_packets": fq.limit.0 as u64,
        }),
        PlanQueue::Red { min, max, max_p, gentle, weight, spacing, ecn, limit } => json!({
            "kind": "red",
            "min_packets": min,
            "max_packets": max,
            "max_p": max_p,
            "gentle": gentle,
            "weight": weight,
            "spacing": spacing,
            "ecn": ecn,
            "limit_packets": limit,
        }),
    }
}

fn sizes(sizes: Sizes) -> Value {
    match sizes {
        Sizes::Exponential => json!({ "kind": "exponential" }),
        Sizes::Pareto(shape) => json!({ "kind": "pareto", "shape": shape }),
        Sizes::Lognormal(sigma) => json!({ "kind": "lognormal", "sigma": sigma }),
    }
}

fn class(plan: &Plan, class: &Class) -> Value {
    let t = &class.transport;
    json!({
        "name": class.name,
        "count": class.count,
        "controller": class.controller,
        "start_s": class.start.seconds(),
        "spread_s": class.spread.seconds(),
        "transfer_bytes": class.transfer.map(|bytes| bytes.0),
        "sizes": class.sizes.map(sizes),
        "app_rate_bps": class.app_rate.map(|rate| rate.0),
        "pauses": class.pauses.map(|it| json!({
            "on_s": it.on.seconds(), "off_s": it.off.seconds(), "random": it.random,
        })),
        "protocol": class.protocol,
        "fair": class.fair,
        "base": class.base,
        "paths": class.paths.iter().map(|p| path(plan, p)).collect::<Vec<_>>(),
        "packet_bytes": t.packet,
        "payload_bytes": t.payload,
        "sack": t.sack,
        "limited_transmit": t.limited_transmit,
        "rack": t.rack,
        "tlp": t.tlp,
        "eifel": t.eifel,
        "dsack": t.dsack,
        "frto": t.frto,
        "ecn": t.ecn,
        "idle": t.idle,
        "delayed_ack_s": t.delayed_ack.seconds(),
        "initial_window": t.initial_window,
        "initial_ssthresh": t.initial_ssthresh,
        "min_window": t.min_window,
        "min_ssthresh": t.min_ssthresh,
        "slow_start_carry_over": t.slow_start_carry_over,
        "rto_min_s": t.rto_min.seconds(),
        "rto_floor": t.rto_floor,
        "rto_max_s": t.rto_max.seconds(),
        "rto_initial_s": t.rto_initial.seconds(),
        "receive_buffer_bytes": t.receive_buffer,
        "small_queue_bytes": t.small_queue,
        "small_queue_time_s": t.small_queue_time.map(|time| time.seconds()),
        "autotune": t.autotune,
        "handshake": t.handshake,
        "opportunistic": t.opportunistic,
        "penalise": t.penalise,
        "scheduler": t.scheduler,
    })
}

fn path(plan: &Plan, path: &PlanPath) -> Value {
    json!({
        "links": path.links,
        "back": path.back,
        "turns": path.turns,
        "base_rtt_s": plan.base_rtt(path).seconds(),
        "join_s": path.join.seconds(),
        "leave_s": path.leave.map(|leave| leave.seconds()),
        "backup": path.backup,
        "coding": path.coding,
    })
}
