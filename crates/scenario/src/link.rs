//! Validates links and expands them into the plan.

use crate::change::LinkChange;
use crate::loss::{Loss, LossKeys};
use crate::name::Name;
use crate::node::Nodes;
use crate::opportunities::{Opportunities, PlanOpportunities};
use crate::queue::{DEFAULT_QUEUE, check_queue};
use crate::reorder::ReorderKeys;
use crate::report::{Located, WrongKey};
use crate::trace::Trace;
use network::{Queue, Reorder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use units::{PROBABILITY, Rate, Span};

/// A link in one direction: a queue, a transmitter and a line.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Name by which paths refer to it.
    pub name: Name,
    /// Rate of the transmitter; without it and without `opportunities` the link is a pure delay.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Times at which the transmitter may send, instead of a rate.
    #[serde(default)]
    pub opportunities: Option<Opportunities>,
    /// Propagation delay, one way.
    #[serde(default)]
    pub delay: Span,
    /// The queue before the transmitter; by default drop-tail of 1000 packets.
    #[serde(default)]
    pub queue: Option<Queue>,
    /// Random loss.
    #[serde(default)]
    pub loss: Option<Loss>,
    /// Packets that are held back at the end of the line, so that others overtake them.
    #[serde(default)]
    pub reorder: Option<Reorder>,
    /// Probability that a packet is delivered twice.
    #[serde(default)]
    #[schemars(extend("range" = PROBABILITY.right))]
    pub duplicate: f64,
    /// Largest random extra delay of a packet. The extra delay is uniform from 0, and packets keep
    /// their order. It models random processing time, which prevents phase effects (Floyd and
    /// Jacobson 1992).
    #[serde(default)]
    pub jitter: Span,
    /// Whether every user whose path crosses the link has a private copy of it, like an access
    /// line.
    #[serde(default)]
    pub per_user: bool,
    /// Node at which the link begins. With `from` and `to`, paths are checked for gaps.
    #[serde(default)]
    pub from: Option<Name>,
    /// Node at which the link ends.
    #[serde(default)]
    pub to: Option<Name>,
    /// The medium, bus or cell that carries the link from the station `from` to the station `to`.
    /// On a medium with `routing`, the link may cross other stations. Rates, queues and losses are
    /// those of the medium and its stations; `delay` is added after the medium. If an end is a
    /// group of nodes, each user of a flow has its own node: the first user has the first node, and
    /// so on. Users of `arrivals` take the nodes in turn.
    #[serde(default)]
    pub medium: Option<Name>,
    /// Changes during the run.
    #[serde(default)]
    pub change: Vec<LinkChange>,
    /// Recorded or computed rate, delay and loss over time.
    #[serde(default)]
    pub trace: Option<Trace>,
}

/// The ends of a link on a shared medium. With routing an end may be any of several stations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Attachment {
    /// Index of the medium.
    pub medium: usize,
    /// Indices of the sending stations in it.
    pub from: Vec<usize>,
    /// Indices of the receiving stations in it.
    pub to: Vec<usize>,
}

/// A link of a plan.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlanLink {
    /// Its name; an implied link back is called "class/path/back".
    pub name: String,
    /// Rate, or the mean rate of its opportunities; `None` for a pure delay.
    #[serde(rename = "rate_bps")]
    pub rate: Option<Rate>,
    /// Times at which it may send; null if it may send at any time.
    pub opportunities: Option<PlanOpportunities>,
    /// Propagation delay.
    #[serde(rename = "delay_s")]
    pub delay: Span,
    /// The queue; null if it has no limit.
    #[schemars(with = "Option<Queue>")]
    pub queue: Queue,
    /// Random loss.
    #[serde(flatten, serialize_with = "LossKeys::write")]
    #[schemars(with = "LossKeys")]
    pub loss: Option<network::Loss>,
    /// Packets that are held back.
    #[serde(flatten, serialize_with = "ReorderKeys::write")]
    #[schemars(with = "ReorderKeys")]
    pub reorder: Option<Reorder>,
    /// Probability that a packet is delivered twice.
    pub duplicate: f64,
    /// Largest random extra delay of a packet; packets keep their order.
    #[serde(rename = "jitter_s")]
    pub jitter: Span,
    /// Whether every user has a private copy of the link.
    pub per_user: bool,
    /// Its ends on a shared medium, for each user in turn. A link with attachments has neither rate
    /// nor impairments of its own.
    #[schemars(extend("formerly" = "air"))] // for readers of older results
    pub attachments: Vec<Attachment>,
    /// Changes in order of time.
    pub changes: Vec<LinkChange>,
}

impl PlanLink {
    /// A link with a delay only.
    pub(crate) fn pure_delay(name: String, delay: Span) -> Self {
        PlanLink {
            name,
            rate: None,
            opportunities: None,
            delay,
            queue: Queue::Unlimited,
            loss: None,
            reorder: None,
            duplicate: 0.0,
            jitter: Span::ZERO,
            per_user: false,
            attachments: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// Mean rate from `start` to `end`, changes included, in bit/s; `NaN` without a rate or a time.
    /// With opportunities, the rate of the opportunities within that time.
    pub fn mean_rate_bps(&self, start: Span, end: Span) -> f64 {
        if let Some(opportunities) = &self.opportunities {
            return opportunities.rate_bps(start, end);
        }
        let Some(mut rate) = self.rate else {
            return f64::NAN;
        };
        let (mut bits, mut since) = (0.0, start);
        for change in self.changes.iter().filter(|change| change.at < end) {
            if let Some(new) = change.rate {
                let until = change.at.max(since);
                bits += rate.0 as f64 * (until.seconds() - since.seconds());
                (rate, since) = (new, until);
            }
        }
        bits += rate.0 as f64 * (end.seconds() - since.seconds());
        bits / (end.seconds() - start.seconds())
    }
}

impl Link {
    /// Whether it has a transmitter; without one it is a pure delay.
    fn transmits(&self) -> bool {
        self.rate.is_some() || self.opportunities.is_some()
    }

    /// The changes of its trace.
    fn traced(&self, duration: Span) -> impl Iterator<Item = LinkChange> {
        self.trace.iter().flat_map(move |trace| trace.changes(duration))
    }

    /// A key that it must not have as a part of a medium, if it has one.
    pub(crate) fn own_key(&self) -> Option<&'static str> {
        let keys = [
            ("rate", self.rate.is_some()),
            ("opportunities", self.opportunities.is_some()),
            ("queue", self.queue.is_some()),
            ("loss", self.loss.is_some()),
            ("reorder", self.reorder.is_some()),
            ("duplicate", self.duplicate != 0.0),
            ("jitter", self.jitter > Span::ZERO),
            ("per_user", self.per_user),
            ("change", !self.change.is_empty()),
            ("trace", self.trace.is_some()),
        ];
        keys.into_iter().find(|(_, set)| *set).map(|(key, _)| key)
    }

    /// Whether it delays packets, at the start and after every change.
    pub(crate) fn takes_time(&self, duration: Span) -> bool {
        let stays = |change: LinkChange| change.delay != Some(Span::ZERO);
        let always = || self.change.iter().cloned().chain(self.traced(duration)).all(stays);
        self.transmits() || self.medium.is_some() || (self.delay > Span::ZERO && always())
    }

    /// Checks the link with this number of copies, without its medium.
    pub(crate) fn check(&self, duration: Span, copies: u64) -> Result<(), Located> {
        let own = || {
            self.check_impairments()?;
            self.check_transmitter()?;
            self.check_changes()?;
            self.check_trace(duration, copies)?;
            self.check_queue()?;
            self.check_ends()
        };
        own().map_err(|wrong| wrong.of("link", &self.name.text))
    }

    fn check_impairments(&self) -> Result<(), WrongKey> {
        let reorder = self.reorder.map_or(Ok(()), |own| own.check());
        reorder.map_err(|wrong| wrong.inside("reorder"))?;
        PROBABILITY.check("duplicate", &self.duplicate)?;
        let departing = self.queue.as_ref().is_some_and(Queue::decides_on_departure);
        let copies = self.reorder.is_some() || self.duplicate > 0.0;
        if self.jitter > Span::ZERO && (departing || copies) {
            let right = "a link with CoDel, FQ-CoDel, `reorder` or `duplicate` cannot have jitter: put \
                         it on a link after this one";
            return Err(WrongKey::value("jitter", self.jitter, right));
        }
        self.loss.as_ref().map_or(Ok(()), Loss::check)
    }

    fn check_transmitter(&self) -> Result<(), WrongKey> {
        let Some(opportunities) = &self.opportunities else {
            return Ok(());
        };
        if self.rate.is_some() {
            let right = "a link has a `rate` or `opportunities`: leave one out";
            return Err(WrongKey::value("opportunities", "set, and so is `rate`", right));
        }
        if let Some(index) = self.change.iter().position(|change| change.rate.is_some()) {
            let right = "a link with opportunities has no rate to change: leave one out";
            let key = format!("change.{index}.rate");
            return Err(WrongKey::value(&key, "set, and so is `opportunities`", right));
        }
        opportunities.check()
    }

    fn check_changes(&self) -> Result<(), WrongKey> {
        for (index, change) in self.change.iter().enumerate() {
            change.check(&format!("change.{index}"), self.rate.is_some())?;
        }
        Ok(())
    }

    fn check_trace(&self, duration: Span, copies: u64) -> Result<(), WrongKey> {
        let Some(trace) = &self.trace else {
            return Ok(());
        };
        trace.check(duration, if self.per_user { copies } else { 1 })?;
        match self.rate.is_none() && self.traced(duration).any(|change| change.rate.is_some()) {
            true => {
                let right = "give the link a rate, which holds until the first row, and no \
                             opportunities";
                Err(WrongKey::new("trace", "its trace has rates, but the link has no rate", right))
            }
            false => Ok(()),
        }
    }

    fn check_queue(&self) -> Result<(), WrongKey> {
        let Some(queue) = &self.queue else {
            return Ok(());
        };
        if !self.transmits() && self.medium.is_none() {
            let right = "a link without a rate only delays: give it a `rate`, or leave `queue` out";
            return Err(WrongKey::value("queue", "set, but the link has no rate", right));
        }
        check_queue(queue)
    }

    /// Checks that it leads to another node; the stations of a link on a medium are checked.
    fn check_ends(&self) -> Result<(), WrongKey> {
        match (&self.from, &self.to) {
            (Some(from), Some(to)) if from.text == to.text && self.medium.is_none() => {
                let what = format!("it ends at node `{}`, where it begins", to.text);
                Err(WrongKey::new("to", what, "name another node"))
            }
            _ => Ok(()),
        }
    }

    /// The plan's link called `name`, with its attachments if it is a part of a medium.
    pub(crate) fn expand(
        &self,
        name: String,
        attachments: Vec<Attachment>,
        duration: Span,
    ) -> PlanLink {
        let mut changes = self.change.clone();
        changes.extend(self.traced(duration));
        changes.sort_by_key(|change| change.at);
        let opportunities = self.opportunities.as_ref().and_then(Opportunities::expand);
        let worth = opportunities.as_ref().map(PlanOpportunities::mean_rate);
        PlanLink {
            name,
            rate: self.rate.or(worth),
            opportunities,
            queue: match &self.queue {
                Some(queue) => queue.clone(),
                None if !self.transmits() => Queue::Unlimited,
                None => DEFAULT_QUEUE,
            },
            loss: self.loss.as_ref().map(Loss::expand),
            reorder: self.reorder,
            duplicate: self.duplicate,
            jitter: self.jitter,
            per_user: self.per_user || attachments.len() > 1,
            attachments,
            changes,
            delay: self.delay,
        }
    }
}

/// The links of a scenario, and the nodes at their ends.
#[derive(Clone, Copy)]
pub(crate) struct Links<'a> {
    pub(crate) nodes: Nodes<'a>,
    pub(crate) all: &'a [Link],
}

impl<'a> Links<'a> {
    pub(crate) fn find(self, name: &Name) -> Option<&'a Link> {
        self.all.iter().find(|link| link.name.text == name.text)
    }

    /// The links that are parts of the medium called `medium`.
    pub(crate) fn on(self, medium: &str) -> impl Iterator<Item = &'a Link> {
        let of = move |link: &&Link| link.medium.as_ref().is_some_and(|name| name.text == medium);
        self.all.iter().filter(of)
    }

    /// The stations of a medium, in the order in which links name them; then `others`.
    pub(crate) fn stations(self, medium: &str, others: &[Name]) -> Vec<String> {
        let ends = self.on(medium).flat_map(|link| [&link.from, &link.to]).flatten();
        let (mut names, mut known) = (Vec::new(), BTreeSet::new());
        for name in ends.chain(others).filter(|name| known.insert(name.text.clone())) {
            names.extend(self.nodes.members(&name.text));
        }
        known.clear(); // members may be named besides their group
        names.retain(|name| known.insert(name.clone()));
        names
    }
}
