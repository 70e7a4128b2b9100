//! Settings of links from a plan.

use network::{Change, GilbertElliott, LinkSettings, Loss, LossModel, Opportunities};
use scenario::{PlanLink, PlanLoss, PlanOpportunities, schema};

/// The network's settings of a link of the plan.
pub fn link_settings(link: &PlanLink) -> LinkSettings {
    LinkSettings {
        rate: link.rate,
        opportunities: link.opportunities.as_ref().and_then(opportunities),
        delay: link.delay,
        queue: link.queue.clone(),
        loss: link.loss.map(loss),
        reorder: link.reorder,
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
    Loss { model, place: planned.place }
}

/// The network's form of a change of a link in the plan.
pub fn link_change(planned: &schema::LinkChange) -> Change {
    Change { rate: planned.rate, delay: planned.delay, loss: planned.loss, up: planned.up }
}
