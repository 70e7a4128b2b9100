//! Settings of links from a plan.

use network::{Change, LinkSettings, Opportunities};
use scenario::{PlanLink, PlanOpportunities, schema};

/// The network's settings of a link of the plan.
pub fn link_settings(link: &PlanLink) -> LinkSettings {
    LinkSettings {
        rate: link.rate,
        opportunities: link.opportunities.as_ref().and_then(opportunities),
        delay: link.delay,
        queue: link.queue.clone(),
        loss: link.loss,
        reorder: link.reorder,
        duplicate: link.duplicate,
        jitter: link.jitter,
    }
}

fn opportunities(planned: &PlanOpportunities) -> Option<Opportunities> {
    Opportunities::new(planned.times_ms.clone(), planned.start)
}

/// The network's form of a change of a link in the plan.
pub fn link_change(planned: &schema::LinkChange) -> Change {
    Change { rate: planned.rate, delay: planned.delay, loss: planned.loss, up: planned.up }
}
