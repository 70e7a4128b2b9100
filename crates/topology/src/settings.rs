//! Links of a plan as links of a network.

use network::{
    Change, CodelSettings, FqCodelSettings, GilbertElliott, LinkSettings, Loss, LossModel,
    LossPlace, Opportunities, Pie, PieSettings, Queue, Red, RedSettings, Reorder, Spacing,
};
use scenario::{PlanLink, PlanLoss, PlanOpportunities, PlanQueue, schema};
use units::Rate;

/// What a link of the plan is to a network.
pub fn link_settings(link: &PlanLink) -> LinkSettings {
    LinkSettings {
        rate: link.rate,
        opportunities: link.opportunities.as_ref().and_then(opportunities),
        delay: link.delay,
        queue: queue(&link.queue, link.rate),
        loss: link.loss.map(loss),
        reorder: link
            .reorder
            .as_ref()
            .map(|own| Reorder { probability: own.probability, delay: own.delay }),
        duplicate: link.duplicate,
        jitter: link.jitter,
    }
}

fn opportunities(planned: &PlanOpportunities) -> Option<Opportunities> {
    Opportunities::new(planned.times_ms.clone(), planned.start)
}

fn loss(planned: PlanLoss) -> Loss {
    let model = match planned.chain {
        None => LossModel::Independent(planned.probability),
        Some(chain) => LossModel::GilbertElliott(GilbertElliott {
            to_bad: chain.to_bad,
            to_good: chain.to_good,
            loss_good: chain.good,
            loss_bad: chain.bad,
            bad: false,
        }),
    };
    let place = match planned.place {
        schema::LossPlace::Before => LossPlace::Before,
        schema::LossPlace::After => LossPlace::After,
    };
    Loss { model, place }
}

/// What a change of the plan is to a link.
pub fn change(planned: &schema::LinkChange) -> Change {
    Change { rate: planned.rate, delay: planned.delay, loss: planned.loss, up: planned.up }
}

/// Packet whose transmission time is RED's unit of idle time.
const TYPICAL_PACKET_BITS: f64 = 8.0 * 1500.0;

/// What a queue of the plan is before a transmitter of some rate.
pub(crate) fn queue(planned: &PlanQueue, rate: Option<Rate>) -> Queue {
    match *planned {
        PlanQueue::Unlimited => Queue::Unlimited,
        PlanQueue::DropTail { packets, bytes } => Queue::DropTail {
            packets: packets.unwrap_or(u64::MAX),
            bytes: bytes.unwrap_or(u64::MAX),
        },
        PlanQueue::Pie(ref pie) => Queue::Pie(Box::new(Pie::new(PieSettings {
            target: pie.target,
            update: pie.update,
            burst: pie.burst,
            alpha: pie.alpha,
            beta: pie.beta,
            ecn: pie.ecn,
            limit: pie.limit.0 as u64,
        }))),
        PlanQueue::Codel(ref codel) => Queue::Codel {
            codel: CodelSettings { target: codel.target, interval: codel.interval, ecn: codel.ecn },
            limit: codel.limit.0 as u64,
        },
        PlanQueue::FqCodel(ref fq) => Queue::FqCodel(FqCodelSettings {
            codel: CodelSettings { target: fq.target, interval: fq.interval, ecn: fq.ecn },
            queues: fq.queues,
            quantum: fq.quantum.0 as u32,
            limit: fq.limit.0 as u64,
        }),
        PlanQueue::Red { min, max, max_p, gentle, weight, spacing, ecn, limit } => {
            let rate = rate.map_or(f64::INFINITY, |rate| rate.0 as f64);
            Queue::Red(Box::new(Red::new(RedSettings {
                min_th: min,
                max_th: max,
                max_p,
                gentle,
                w_q: weight,
                spacing: match spacing {
                    schema::Spacing::Independent => Spacing::Independent,
                    schema::Spacing::Count => Spacing::Count,
                },
                ecn,
                limit,
                packet_time: TYPICAL_PACKET_BITS / rate,
            })))
        }
    }
}
