//! A plan as JSON in SI units, for theory, reports and provenance.

use crate::air::PlanWifi;
use crate::cell::{PlanBus, PlanCell};
use crate::ground::{PlanMoves, PlanNode};
use crate::plan::{Class, Plan, PlanLink, PlanPath, PlanQueue};
use crate::schema::Sizes;
use crate::sharing::{Air, PlanKind, PlanMedium};
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
            "area": self.area.map(|area| json!({
                "width_m": area.width, "height_m": area.height, "step_s": area.step.seconds(),
            })),
            "nodes": self.nodes.iter().map(node).collect::<Vec<_>>(),
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
        "air": link.air.iter().map(air).collect::<Vec<_>>(),
        "changes": changes.collect::<Vec<_>>(),
    })
}

fn air(air: &Air) -> Value {
    json!({ "medium": air.medium, "from": air.from, "to": air.to })
}

fn medium(medium: &PlanMedium) -> Value {
    let stations = medium.stations.iter().map(|station| {
        json!({
            "name": station.name,
            "node": station.node,
            "queue": queue(&station.queue),
            "ring_packets": station.ring,
            "rate_bps": station.rate.map(|rate| rate.0),
            "place_m": [station.place.0, station.place.1],
            "residual_loss": station.residual_loss,
            "noise_s": station.noise.map(|gap| gap.seconds()),
        })
    });
    let mut all = match &medium.kind {
        PlanKind::Wifi(own) => wifi(own),
        PlanKind::Bus(own) => bus(own),
        PlanKind::Cell(own) => cell(own),
    };
    all["name"] = json!(medium.name);
    all["stations"] = stations.collect();
    all
}

fn wifi(own: &PlanWifi) -> Value {
    json!({
        "kind": "wifi",
        "standard": own.standard,
        "wide": own.wide,
        "short_guard": own.short_guard,
        "streams": own.streams,
        "rate_bps": own.rate.0,
        "control": own.control,
        "broadcast_bps": own.broadcast.0,
        "attempts": own.attempts,
        "ack_timeout_s": own.ack_timeout.map(|timeout| timeout.seconds()),
        "radio": own.radio,
        "routing": own.routing,
    })
}

fn bus(own: &PlanBus) -> Value {
    json!({ "kind": "bus", "rate_bps": own.rate.0, "delay_s": own.delay.seconds() })
}

fn cell(own: &PlanCell) -> Value {
    let users = own.users.iter().map(|(snr_db, fading)| {
        json!({
            "snr_db": snr_db,
            "deviation_db": fading.map(|fading| fading.deviation_db),
            "coherence_s": fading.map(|fading| fading.coherence.seconds()),
        })
    });
    json!({
        "kind": "cell",
        "blocks": own.blocks.0,
        "blocks_up": own.blocks.1,
        "scheduler": own.scheduler,
        "averaging_s": own.averaging.seconds(),
        "overhead": own.overhead,
        "radio": own.radio,
        "users": users.collect::<Vec<_>>(),
    })
}

fn node(node: &PlanNode) -> Value {
    let span = |(least, most): (units::Span, units::Span)| [least.seconds(), most.seconds()];
    let moves = match &node.moves {
        PlanMoves::At(x, y) => json!({ "kind": "at", "place_m": [x, y] }),
        PlanMoves::Scattered => json!({ "kind": "scattered" }),
        PlanMoves::Waypoint(own) => json!({
            "kind": "waypoint",
            "speed_mps": own.speed,
            "pause_s": span(own.pause),
            "stationary": own.stationary,
        }),
        PlanMoves::Highway(own) => json!({
            "kind": "highway",
            "speed_mps": own.speed,
            "gap_m": own.gap,
            "hold_s": own.hold.seconds(),
            "reaction_s": own.reaction.seconds(),
            "start_m": own.start,
            "lane_m": own.lane,
        }),
        PlanMoves::Trace { start, legs } => json!({
            "kind": "trace",
            "place_m": start,
            "legs": legs.iter().map(|(at, to, speed)| json!({
                "at_s": at.seconds(), "to_m": to, "speed_mps": speed,
            })).collect::<Vec<_>>(),
        }),
    };
    json!({ "name": node.name, "group": node.group, "member": node.member, "moves": moves })
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
        "echo": class.echo,
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
