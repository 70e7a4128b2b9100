//! The plan: a scenario with every default filled in and every reference resolved.

use crate::coding;
use crate::error::Error;
use crate::ground::{self, PlanArea, PlanNode};
use crate::locate::locate;
use crate::opportunities::{self, PlanOpportunities};
use crate::overrides::{self, Override};
use crate::schema::{self, Choice, LossPlace, Pauses, Protocol, Reorder, Scenario, Sizes};
use crate::sharing::{self, Air, Pick, PlanMedium};
use crate::trace;
use crate::validate::{self, About};
use control::ControllerSpec;
use core::ops::Range;
use network::{DropTail, Queue};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use transport::Options;
use units::{Bytes, Rate, Span};

/// A validated scenario. Links and paths are indices; classes stand for `count` identical users.
///
/// It is written in SI units, which stand in the names.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Plan {
    /// The scenario's name.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Where the set-up is published.
    pub source: String,
    /// When the run ends.
    #[serde(rename = "duration_s")]
    pub duration: Span,
    /// Until then nothing is measured; before `duration`.
    #[serde(rename = "warmup_s")]
    pub warmup: Span,
    /// Sampling interval; not zero.
    #[serde(rename = "sample_s")]
    pub sample: Span,
    /// The links, named ones first, then the implied ways back.
    pub links: Vec<PlanLink>,
    /// What stations share, and some links are parts of: media, buses, cells.
    pub media: Vec<PlanMedium>,
    /// The ground, if nodes are on one.
    pub area: Option<PlanArea>,
    /// Nodes that have a place or move.
    pub nodes: Vec<PlanNode>,
    /// The groups of flows.
    pub classes: Vec<Class>,
    /// What the source leaves open.
    pub choices: Vec<Choice>,
    /// What is allowed and probably not meant, one sentence each.
    pub warnings: Vec<String>,
}

/// A link of a plan.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlanLink {
    /// Its name; of an implied way back, "class/path/back".
    pub name: String,
    /// Rate, with opportunities what they are worth; `None` for a pure delay.
    #[serde(rename = "rate_bps")]
    pub rate: Option<Rate>,
    /// When it may send, if not always.
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
    pub loss: Option<PlanLoss>,
    /// Packets that are held back.
    #[serde(flatten, serialize_with = "ReorderKeys::write")]
    #[schemars(with = "ReorderKeys")]
    pub reorder: Option<Reorder>,
    /// Probability that a packet comes out twice.
    pub duplicate: f64,
    /// Most by which packets come out later at random; they keep their order.
    #[serde(rename = "jitter_s")]
    pub jitter: Span,
    /// Whether every user has a copy of its own.
    pub per_user: bool,
    /// Where on a medium it is for each user in turn, if it is a part of one; then it has nothing
    /// else of its own.
    pub air: Vec<Air>,
    /// Changes in order of time.
    pub changes: Vec<schema::LinkChange>,
}

impl PlanLink {
    /// Mean rate from `start` to `end`, changes included, in bit/s; `NaN` without a rate or a time.
    /// With opportunities, what those within that time carry.
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

/// Random loss of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanLoss {
    /// In the long run.
    pub probability: f64,
    /// Where it strikes.
    pub place: LossPlace,
    /// The chain of a good and a bad state, if there is one.
    pub chain: Option<Chain>,
}

/// Random loss as it is written, among the keys of its link.
#[derive(Serialize, JsonSchema)]
struct LossKeys {
    /// Probability that a packet is lost, in the long run.
    loss: f64,
    /// Where random loss strikes, if there is any.
    loss_place: Option<LossPlace>,
    /// The chain of a good and a bad state, if there is one.
    loss_chain: Option<Chain>,
}

impl LossKeys {
    fn write<S: Serializer>(loss: &Option<PlanLoss>, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = LossKeys {
            loss: loss.map_or(0.0, |loss| loss.probability),
            loss_place: loss.map(|loss| loss.place),
            loss_chain: loss.and_then(|loss| loss.chain),
        };
        keys.serialize(serializer)
    }
}

/// Reordering as it is written, among the keys of its link.
#[derive(Serialize, JsonSchema)]
struct ReorderKeys {
    /// Probability that a packet is held back.
    reorder: f64,
    /// For how long.
    reorder_delay_s: Option<Span>,
}

impl ReorderKeys {
    fn write<S: Serializer>(reorder: &Option<Reorder>, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = ReorderKeys {
            reorder: reorder.as_ref().map_or(0.0, |reorder| reorder.probability),
            reorder_delay_s: reorder.as_ref().map(|reorder| reorder.delay),
        };
        keys.serialize(serializer)
    }
}

/// A chain of two states with loss in each (Gilbert and Elliott).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Chain {
    /// Probability of going from good to bad (p).
    pub to_bad: f64,
    /// Probability of going from bad to good (r): one over the mean burst.
    pub to_good: f64,
    /// Loss in the good state.
    pub good: f64,
    /// Loss in the bad state.
    pub bad: f64,
}

fn write_text<S: Serializer>(spec: &ControllerSpec, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(spec)
}

/// A group of identical flows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Number of users, at least 1.
    pub count: u32,
    /// Its congestion control.
    #[serde(serialize_with = "write_text")]
    #[schemars(with = "String")]
    pub controller: ControllerSpec,
    /// Start of the first user at the earliest.
    #[serde(rename = "start_s")]
    pub start: Span,
    /// Users start uniformly within this span.
    #[serde(rename = "spread_s")]
    pub spread: Span,
    /// Bytes to send, if the flow ends; their mean, if there are `sizes`.
    #[serde(rename = "transfer_bytes")]
    pub transfer: Option<Bytes>,
    /// How bytes to send differ from user to user.
    #[serde(serialize_with = "SizesKeys::write")]
    #[schemars(with = "Option<SizesKeys>")]
    pub sizes: Option<Sizes>,
    /// Rate of the application, if it is limited.
    #[serde(rename = "app_rate_bps")]
    pub app_rate: Option<Rate>,
    /// Pauses of the application.
    pub pauses: Option<Pauses>,
    /// Which transport carries it; UDP has `app_rate` and one path.
    pub protocol: Protocol,
    /// Whether the receiver sends every packet back.
    pub echo: bool,
    /// That it is to be TCP-fair.
    pub fair: Option<schema::Fair>,
    /// The path on which schemes with a base flow begin as a TCP, an index into `paths`.
    pub base: usize,
    /// The paths of each user, at least one.
    pub paths: Vec<PlanPath>,
    /// Transport options.
    #[serde(flatten)]
    pub transport: Options,
}

/// Sizes of transfers as they are written.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum SizesKeys {
    /// Exponentially.
    Exponential,
    /// By Pareto's law.
    Pareto {
        /// Its shape.
        shape: f64,
    },
    /// Lognormally.
    Lognormal {
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
}

impl SizesKeys {
    fn write<S: Serializer>(sizes: &Option<Sizes>, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = sizes.map(|sizes| match sizes {
            Sizes::Exponential => SizesKeys::Exponential,
            Sizes::Pareto(shape) => SizesKeys::Pareto { shape },
            Sizes::Lognormal(sigma) => SizesKeys::Lognormal { sigma },
        });
        keys.serialize(serializer)
    }
}

/// A path of a class.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlanPath {
    /// Indices of the links that data crosses, at least one.
    pub links: Vec<usize>,
    /// Indices of the links that ACKs cross.
    pub back: Vec<usize>,
    /// Further ways, as `links` and `back`, that its packets take in turn with these.
    pub turns: Vec<(Vec<usize>, Vec<usize>)>,
    /// Propagation delay of `links` and `back` together.
    #[serde(rename = "base_rtt_s")]
    pub base_rtt: Span,
    /// When it joins; zero means with the connection.
    #[serde(rename = "join_s")]
    pub join: Span,
    /// When it leaves.
    #[serde(rename = "leave_s")]
    pub leave: Option<Span>,
    /// Whether it is a backup.
    pub backup: bool,
    /// Network coding, if it is coded.
    pub coding: Option<schema::Coding>,
}

impl Plan {
    /// Reads a scenario from `text`; `name` is the file's, for errors.
    ///
    /// # Errors
    /// Anything wrong with the file or an override, with its place.
    pub fn read(text: &str, name: &str, overrides: &[Override]) -> Result<Plan, Error> {
        let edited = overrides::apply(text, name, overrides)?;
        let text = edited.as_deref().unwrap_or(text);
        if text.trim().is_empty() {
            return Err(Error::new(format!("{name} is empty"))
                .help("a scenario has at least `name`, `duration`, a [[link]] and a [[flow]]"));
        }
        let scenario: Scenario = toml::from_str(text).map_err(|error| {
            place(Error::new(error.message().trim_end()), error.span(), name, text, overrides)
        })?;
        validate::check(&scenario).map_err(|(error, about)| {
            let span = match about {
                About::Span(span) => Some(span),
                About::Key(key) => locate(text, &key),
            };
            place(error, span, name, text, overrides)
        })?;
        Ok(expand(&scenario))
    }

    /// The class called `name`.
    pub fn class(&self, name: &str) -> Option<&Class> {
        self.classes.iter().find(|class| class.name == name)
    }

    /// The plan as JSON, for theory, reports and provenance.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Says where an error is: in an override, or in the file, whose text has the overrides in it.
fn place(
    mut error: Error,
    span: Option<Range<usize>>,
    name: &str,
    text: &str,
    overrides: &[Override],
) -> Error {
    let span = span.unwrap_or(0..0);
    let covers = |change: &&Override| {
        locate(text, &change.key).is_some_and(|own| own.start <= span.start && span.end <= own.end)
    };
    match overrides.iter().rev().find(covers) {
        Some(Override { key, value }) if !span.is_empty() => {
            error.message = format!("override `{key}={value}`: {}", error.message);
            error
        }
        _ if overrides.is_empty() => error.at(name, text, span),
        _ => error.at(&format!("{name} with overrides"), text, span),
    }
}

/// Resolves names and fills in defaults; the scenario has been checked.
fn expand(scenario: &Scenario) -> Plan {
    let mut links: Vec<PlanLink> = {
        let links = scenario.link.iter().filter(|link| sharing::single(scenario, link));
        links.map(|link| expand_link(scenario, link, Pick::Number(1))).collect()
    };
    let mut classes = Vec::new();
    for flow in scenario.flow.iter().filter(|flow| flow.count > 0) {
        let picks = |path| sharing::picks(scenario, path).into_iter().map(move |pick| (path, pick));
        let paths = flow.path.iter().flat_map(picks).enumerate();
        let mut paths: Vec<PlanPath> = paths
            .map(|(i, (path, pick))| expand_path(scenario, flow, i, path, pick, &mut links))
            .collect();
        if flow.striped {
            let others = paths.drain(1..).map(|path| (path.links, path.back)).collect();
            paths[0].turns = others;
        }
        let lasts = scenario.duration - flow.start;
        let (count, spread) = match flow.arrivals {
            Some(rate) => ((rate * lasts.seconds()).round().max(1.0) as u32, lasts),
            None => (flow.count, flow.spread),
        };
        classes.push(Class {
            name: flow.name.text.clone(),
            count,
            controller: flow.controller.spec.clone().expect("the controller was checked"),
            paths,
            start: flow.start,
            spread,
            transfer: flow.transfer,
            sizes: flow.sizes,
            app_rate: flow.app_rate,
            pauses: flow.pauses,
            protocol: flow.protocol,
            echo: flow.echo,
            fair: flow.fair,
            base: flow.base as usize,
            transport: flow.transport.over(&scenario.transport),
        });
    }
    Plan {
        name: scenario.name.clone(),
        title: scenario.title.clone(),
        source: scenario.source.clone(),
        duration: scenario.duration,
        warmup: scenario.warmup,
        sample: scenario.sample,
        links,
        media: sharing::expand(scenario),
        area: ground::expand_area(scenario),
        nodes: ground::expand(scenario),
        classes,
        choices: scenario.choice.clone(),
        warnings: coding::warnings(scenario),
    }
}

fn expand_link(scenario: &Scenario, link: &schema::Link, pick: Pick) -> PlanLink {
    let mut changes = link.change.clone();
    changes.extend(link.trace.iter().flat_map(|trace| trace::changes(trace, scenario.duration)));
    changes.sort_by_key(|change| change.at);
    let opportunities = opportunities::expand(link);
    let air = sharing::places(scenario, link, pick);
    PlanLink {
        name: name_of(scenario, link, pick),
        rate: opportunities::rate(link, opportunities.as_ref()),
        opportunities,
        delay: link.delay,
        queue: match &link.queue {
            Some(queue) => queue.clone(),
            None if !link.transmits() => Queue::Unlimited,
            None => DEFAULT_QUEUE,
        },
        loss: link.loss.as_ref().map(expand_loss),
        reorder: link.reorder.clone(),
        duplicate: link.duplicate,
        jitter: link.jitter,
        per_user: link.per_user || air.len() > 1,
        air,
        changes,
    }
}

/// The chain whose stationary loss is `probability`: it is bad for a share of
/// `(probability − good) / (bad − good)` of all packets.
fn expand_loss(loss: &schema::Loss) -> PlanLoss {
    let schema::Loss { probability, burst, good, bad, place } = *loss;
    let chain = burst.map(|burst| {
        let share = (probability - good) / (bad - good);
        let to_good = 1.0 / burst;
        Chain { to_bad: to_good * share / (1.0 - share), to_good, good, bad }
    });
    PlanLoss { probability, place, chain }
}

/// Of a link with a rate, and of a station.
pub(crate) const DEFAULT_QUEUE: Queue = Queue::DropTail(DropTail::of(1000));

/// What a link is called on a channel.
fn name_of(scenario: &Scenario, link: &schema::Link, pick: Pick) -> String {
    match pick {
        Pick::Number(channel) if !sharing::single(scenario, link) => {
            format!("{}/{channel}", link.name.text)
        }
        _ => link.name.text.clone(),
    }
}

/// The index of a link; on a medium of several channels it is there as soon as a path takes it.
fn find_link(
    scenario: &Scenario,
    name: &schema::Name,
    pick: Pick,
    links: &mut Vec<PlanLink>,
) -> usize {
    let Some(link) = scenario.link.iter().find(|link| link.name.text == name.text) else {
        return 0; // every link exists: that has been checked
    };
    let name = name_of(scenario, link, pick);
    links.iter().position(|link| link.name == name).unwrap_or_else(|| {
        links.push(expand_link(scenario, link, pick));
        links.len() - 1
    })
}

fn expand_path(
    scenario: &Scenario,
    flow: &schema::Flow,
    index: usize,
    path: &schema::Path,
    pick: Pick,
    links: &mut Vec<PlanLink>,
) -> PlanPath {
    let mut find = |name: &schema::Name| find_link(scenario, name, pick, links);
    let forward: Vec<usize> = path.links.iter().map(&mut find).collect();
    let back = match &path.back {
        Some(names) => names.iter().map(find).collect(),
        None => {
            let delay = forward.iter().map(|link| links[*link].delay);
            links.push(PlanLink {
                name: format!("{}/{index}/back", flow.name.text),
                rate: None,
                opportunities: None,
                delay: delay.fold(Span::ZERO, |sum, delay| sum + delay),
                queue: Queue::Unlimited,
                loss: None,
                reorder: None,
                duplicate: 0.0,
                jitter: Span::ZERO,
                per_user: false,
                air: Vec::new(),
                changes: Vec::new(),
            });
            vec![links.len() - 1]
        }
    };
    let delays = forward.iter().chain(&back).map(|link| links[*link].delay);
    PlanPath {
        base_rtt: delays.fold(Span::ZERO, |sum, delay| sum + delay),
        links: forward,
        back,
        turns: Vec::new(),
        join: path.join.unwrap_or_default(),
        leave: path.leave,
        backup: path.backup,
        coding: path.coding,
    }
}
