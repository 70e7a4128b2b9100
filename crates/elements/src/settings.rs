//! Links of a plan as links of a network.

use network::{Change, LinkSettings, Loss, LossPlace, Queue, Red, RedSettings, Spacing};
use scenario::{PlanLink, PlanQueue, schema};

/// What a link of the plan is to a network.
pub fn link_settings(link: &PlanLink) -> LinkSettings {
    LinkSettings {
        rate: link.rate,
        delay: link.delay,
        queue: queue(link),
        loss: link.loss.map(|(probability, place)| Loss {
            probability,
            place: match place {
                schema::LossPlace::Before => LossPlace::Before,
                schema::LossPlace::After => LossPlace::After,
            },
        }),
    }
}

/// What a change of the plan is to a link.
pub fn change(planned: &schema::LinkChange) -> Change {
    Change { rate: planned.rate, delay: planned.delay, loss: planned.loss, up: planned.up }
}

/// Packet whose transmission time is RED's unit of idle time.
const TYPICAL_PACKET_BITS: f64 = 8.0 * 1500.0;

fn queue(link: &PlanLink) -> Queue {
    match link.queue {
        PlanQueue::Unlimited => Queue::Unlimited,
        PlanQueue::DropTail { packets, bytes } => Queue::DropTail {
            packets: packets.unwrap_or(u64::MAX),
            bytes: bytes.unwrap_or(u64::MAX),
        },
        PlanQueue::Red { min, max, max_p, gentle, weight, spacing, limit } => {
            let rate = link.rate.map_or(f64::INFINITY, |rate| rate.0 as f64);
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
                limit,
                packet_time: TYPICAL_PACKET_BITS / rate,
            })))
        }
    }
}
