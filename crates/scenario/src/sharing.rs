//! What stations share: media, buses and cells. Which of their stations a link leads between, and
//! what a plan has of them.

use crate::air::{self, PlanWifi};
use crate::cell::{self, PlanBus, PlanCell};
use crate::error::{Error, list};
use crate::ground::{beyond, members, position};
use crate::schema::{Bus, Cell, Channel, ChannelWord, Flow, Link, Medium, Name, Path, Scenario};
use crate::validate::{Placed, about, at, unique};
use network::Queue;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use units::{Rate, Span};

/// What stations of a plan share, with its stations.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanMedium {
    /// What it is.
    #[serde(flatten)]
    pub kind: PlanKind,
    /// Its name; of one of several channels with its number, as "air/2".
    pub name: String,
    /// Its stations, in the order in which links name them.
    pub stations: Vec<PlanStation>,
}

/// What it is that stations share.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum PlanKind {
    /// A channel of IEEE 802.11.
    Wifi(PlanWifi),
    /// A bus.
    Bus(PlanBus),
    /// A cell.
    Cell(PlanCell),
}

/// A station of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanStation {
    /// The node that it is.
    pub name: String,
    /// Index of it among the plan's nodes, if it is one of them; otherwise it is where `place`
    /// says.
    pub node: Option<usize>,
    /// The queueing discipline of its host, in a cell of each direction; null if it has no limit.
    #[schemars(with = "Option<Queue>")]
    pub queue: Queue,
    /// Packets that the driver takes from it.
    #[serde(rename = "ring_packets")]
    pub ring: u32,
    /// Rate at which it sends, if not that of the medium.
    #[serde(rename = "rate_bps")]
    pub rate: Option<Rate>,
    /// Where it is, in metres.
    #[serde(rename = "place_m")]
    pub place: (f64, f64),
    /// Probability that a packet is lost whatever the attempts.
    pub residual_loss: f64,
    /// Mean time between bursts of noise.
    #[serde(rename = "noise_s")]
    pub noise: Option<Span>,
}

/// Where on a medium a link is. With routing an end may be any of several stations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Air {
    /// Index of the medium.
    pub medium: usize,
    /// Indices of the sending stations in it.
    pub from: Vec<usize>,
    /// Indices of the receiving stations in it.
    pub to: Vec<usize>,
}

impl PlanStation {
    /// A station of which nothing is said but its queue.
    pub(crate) fn bare(scenario: &Scenario, name: &str, queue: Queue) -> Self {
        PlanStation {
            name: name.into(),
            node: position(scenario, name),
            queue,
            ring: 1,
            rate: None,
            place: (0.0, 0.0),
            residual_loss: 0.0,
            noise: None,
        }
    }
}

/// What is shared, by name.
enum Shared<'a> {
    Medium(&'a Medium),
    Bus(&'a Bus),
    Cell(&'a Cell),
}

impl Shared<'_> {
    fn channels(&self) -> u32 {
        if let Shared::Medium(medium) = self { medium.channels } else { 1 }
    }

    /// The node or group of which any member will do, as an end of a link.
    fn any_of(&self) -> Option<&str> {
        match self {
            Shared::Medium(medium) => Some(medium.access.as_ref()?.text.as_str()),
            _ => None,
        }
    }

    fn stations(&self, scenario: &Scenario) -> Vec<String> {
        match self {
            Shared::Medium(own) => stations(scenario, &own.name.text, &own.nodes),
            Shared::Bus(own) => stations(scenario, &own.name.text, &own.nodes),
            Shared::Cell(own) => {
                let mut all = stations(scenario, &own.name.text, &[]);
                all.retain(|station| *station != own.base.text);
                all.insert(0, own.base.text.clone());
                all
            }
        }
    }
}

/// All that is shared, media first, then buses and cells, in the order of the file.
fn all(scenario: &Scenario) -> impl Iterator<Item = (&Name, Shared<'_>)> {
    let media = scenario.medium.iter().map(|own| (&own.name, Shared::Medium(own)));
    let buses = scenario.bus.iter().map(|own| (&own.name, Shared::Bus(own)));
    media.chain(buses).chain(scenario.cell.iter().map(|own| (&own.name, Shared::Cell(own))))
}

/// What is called so, and the index of its first channel among the media of a plan.
fn find<'a>(scenario: &'a Scenario, name: &str) -> Option<(usize, Shared<'a>)> {
    let mut index = 0;
    for (own, shared) in all(scenario) {
        if own.text == name {
            return Some((index, shared));
        }
        index += shared.channels() as usize;
    }
    None
}

/// The stations of what is called so, in the order in which links name them; then `others`.
pub(crate) fn stations(scenario: &Scenario, shared: &str, others: &[Name]) -> Vec<String> {
    let own = |link: &&Link| link.medium.as_ref().is_some_and(|name| name.text == shared);
    let links = scenario.link.iter().filter(own);
    let ends = links.flat_map(|link| [&link.from, &link.to]).flatten();
    let (mut names, mut known) = (Vec::new(), BTreeSet::new());
    for name in ends.chain(others).filter(|name| known.insert(name.text.clone())) {
        names.extend(members(scenario, &name.text));
    }
    known.clear(); // a member may be named beside its group
    names.retain(|name| known.insert(name.clone()));
    names
}

/// Checks what is shared, and the links on it.
pub(crate) fn check(scenario: &Scenario) -> Result<(), Placed> {
    unique("medium", all(scenario).map(|(name, _)| name))?;
    scenario.medium.iter().try_for_each(|medium| air::check_routing(scenario, medium))?;
    for link in scenario.link.iter().filter(|link| link.medium.is_some()) {
        check_link(scenario, link)?;
    }
    air::check(scenario)?;
    cell::check(scenario)
}

fn check_link(scenario: &Scenario, link: &Link) -> Result<(), Placed> {
    let name = &link.name.text;
    let wrong = |field: &str, what: &str, right: &str| {
        let error = Error::new(format!("link `{name}`: {what}")).help(right);
        Err(about(format!("link.{name}.{field}"), error))
    };
    let medium = link.medium.clone().unwrap_or_default();
    if find(scenario, &medium.text).is_none() {
        let error = Error::new(format!("link `{name}`: there is no medium `{}`", medium.text));
        let media = scenario.medium.iter().map(|known| &known.name);
        let all = media.chain(scenario.bus.iter().map(|known| &known.name));
        let all = list(
            all.chain(scenario.cell.iter().map(|known| &known.name)).map(|it| it.text.as_str()),
        );
        return Err(at(&medium, error.help(format!("the media are {all}"))));
    }
    let (Some(from), Some(to)) = (&link.from, &link.to) else {
        return wrong("medium", "`medium` without `from` and `to`", "they name its stations");
    };
    let ends = members(scenario, &from.text);
    if members(scenario, &to.text).iter().any(|end| ends.contains(end)) {
        return wrong("to", "it ends at a station where it begins", "name another station");
    }
    for end in [from, to] {
        if let Some(group) = beyond(scenario, &end.text) {
            let message = format!("link `{name}`: there is no node `{}`", end.text);
            let right = format!("group `{}` has {} nodes", group.name.text, group.count);
            return Err(at(end, Error::new(message).help(right)));
        }
    }
    check_channel_names(scenario, link)?;
    let own = [
        ("rate", link.rate.is_some()),
        ("opportunities", link.opportunities.is_some()),
        ("queue", link.queue.is_some()),
        ("loss", link.loss.is_some()),
        ("reorder", link.reorder.is_some()),
        ("duplicate", link.duplicate != 0.0),
        ("jitter", link.jitter > Span::ZERO),
        ("per_user", link.per_user),
        ("change", !link.change.is_empty()),
        ("trace", link.trace.is_some()),
    ];
    if let Some((field, _)) = own.into_iter().find(|(_, set)| *set) {
        let what = format!("`{field}` is set, and it is a part of a medium");
        let right = "rates, queues and losses are those of the medium and its stations";
        return wrong(field, &what, right);
    }
    check_ends(scenario, link, &medium.text, from, to)
}

/// Whether no other link is called as a link is on one of its channels.
fn check_channel_names(scenario: &Scenario, link: &Link) -> Result<(), Placed> {
    let channels = link.medium.as_ref().and_then(|name| find(scenario, &name.text));
    let channels = channels.map_or(1, |(_, own)| own.channels());
    let of_channel = |other: &&Link| -> Option<u32> {
        let number = other.name.text.strip_prefix(&link.name.text)?.strip_prefix('/')?;
        number.parse().ok().filter(|number| (1..=channels).contains(number))
    };
    match scenario.link.iter().find(|other| channels > 1 && of_channel(other).is_some()) {
        Some(other) => {
            let (own, other) = (&link.name.text, &other.name);
            let message = format!("link `{}` is called as link `{own}` on a channel", other.text);
            Err(at(other, Error::new(message).help("give one of them another name")))
        }
        None => Ok(()),
    }
}

/// Whether the ends of a link go together with what it is a part of.
fn check_ends(
    scenario: &Scenario,
    link: &Link,
    shared: &str,
    from: &Name,
    to: &Name,
) -> Result<(), Placed> {
    let wrong = |field: &str, what: String, right: &str| {
        let error = Error::new(format!("link `{}`: {what}", link.name.text)).help(right);
        Err(about(format!("link.{}.{field}", link.name.text), error))
    };
    let Some((_, own)) = find(scenario, shared) else {
        return Ok(());
    };
    if let Shared::Cell(cell) = own
        && from.text != cell.base.text
        && to.text != cell.base.text
    {
        let what = format!("neither end is the base station `{}`", cell.base.text);
        return wrong(
            "from",
            what,
            "users reach each other through the base station: write two links",
        );
    }
    let several = |end: &Name| match own.any_of() == Some(end.text.as_str()) {
        true => 1,
        false => members(scenario, &end.text).len(),
    };
    match (several(from), several(to)) {
        (one, other) if one == 1 || other == 1 || one == other => Ok(()),
        (one, other) => {
            let what = format!("it leads from {one} nodes to {other}");
            wrong("to", what, "one of its ends is a single node, or both have as many")
        }
    }
}

/// A choice of one channel, or of one for each user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    Number(u32),
    Turn,
}

/// The channels of the media that a path crosses, of each link that has several.
fn choices(scenario: &Scenario, path: &Path) -> Vec<u32> {
    let links = path.links.iter().chain(path.back.iter().flatten());
    let media = links.filter_map(|name| {
        let link = scenario.link.iter().find(|link| link.name.text == name.text)?;
        Some(find(scenario, &link.medium.as_ref()?.text)?.1.channels())
    });
    media.filter(|channels| *channels > 1).collect()
}

/// The channels that a path can choose among.
fn channels(scenario: &Scenario, path: &Path) -> u32 {
    choices(scenario, path).into_iter().max().unwrap_or(1)
}

/// The paths that one path of the file is.
pub(crate) fn picks(scenario: &Scenario, path: &Path) -> Vec<Pick> {
    match path.channel {
        None => vec![Pick::Number(1)],
        Some(Channel::Number(number)) => vec![Pick::Number(number)],
        Some(Channel::Word(ChannelWord::Turn)) => vec![Pick::Turn],
        Some(Channel::Word(ChannelWord::Each)) => {
            (1..=channels(scenario, path)).map(Pick::Number).collect()
        }
    }
}

/// How many paths the users of a flow have.
pub(crate) fn paths(scenario: &Scenario, flow: &Flow) -> usize {
    flow.path.iter().map(|path| picks(scenario, path).len()).sum()
}

/// Whether the channel of a path exists, and each user of its flow has a node.
pub(crate) fn check_path(
    scenario: &Scenario,
    flow: &Flow,
    path: &Path,
) -> Result<(), (&'static str, String, String)> {
    let most = channels(scenario, path);
    if let Some(Channel::Number(number)) = path.channel
        && !(1..=most).contains(&number)
    {
        let right = format!("the media of the path have channels 1 to {most}");
        return Err(("channel", format!("channel is {number}"), right));
    }
    if choices(scenario, path).iter().any(|channels| *channels < most) {
        let right = "media of one path have as many channels, or one".into();
        return Err(("links", "media with different numbers of channels".into(), right));
    }
    for name in path.links.iter().chain(path.back.iter().flatten()) {
        let Some(link) = scenario.link.iter().find(|link| link.name.text == name.text) else {
            continue;
        };
        let nodes = users(scenario, link);
        let coming = flow.count as usize; // those of `arrivals` take the nodes in turn
        if nodes > 1 && coming > nodes {
            let what = format!(
                "it has {coming} users, and `{}` a group of {nodes} nodes at its end",
                name.text
            );
            let right = format!("each user has a node of its own: at most {nodes}");
            return Err(("links", what, right));
        }
    }
    Ok(())
}

/// How many users of a flow have a link of their own, from or to their own node.
fn users(scenario: &Scenario, link: &Link) -> usize {
    let Some((_, own)) = link.medium.as_ref().and_then(|name| find(scenario, &name.text)) else {
        return 1;
    };
    let several = |end: &Option<Name>| match end {
        Some(end) if own.any_of() != Some(end.text.as_str()) => members(scenario, &end.text).len(),
        _ => 1,
    };
    several(&link.from).max(several(&link.to))
}

/// Whether a link has one channel only, so that all paths take the same.
pub(crate) fn single(scenario: &Scenario, link: &Link) -> bool {
    let shared = link.medium.as_ref().and_then(|name| find(scenario, &name.text));
    shared.is_none_or(|(_, own)| own.channels() == 1)
}

/// Where a link is for each user in turn; nowhere, if it is no part of anything shared.
pub(crate) fn places(scenario: &Scenario, link: &Link, pick: Pick) -> Vec<Air> {
    let shared = link.medium.as_ref().and_then(|name| find(scenario, &name.text));
    let (Some((first, own)), Some(from), Some(to)) = (shared, &link.from, &link.to) else {
        return Vec::new();
    };
    let stations = own.stations(scenario);
    let numbers = |end: &Name| -> Vec<usize> {
        let all = members(scenario, &end.text);
        all.iter().filter_map(|name| stations.iter().position(|station| station == name)).collect()
    };
    let (begins, ends) = (numbers(from), numbers(to));
    let of_user = |all: &[usize], end: &Name, user: usize| -> Vec<usize> {
        match own.any_of() == Some(end.text.as_str()) {
            true => all.to_vec(),
            false => all.get(user % all.len().max(1)).copied().into_iter().collect(),
        }
    };
    let (users, channels) = (users(scenario, link), own.channels() as usize);
    let count = if pick == Pick::Turn && users == 1 { channels } else { users };
    let place = |user: usize| {
        let channel = match pick {
            Pick::Number(number) => (number as usize).min(channels) - 1,
            Pick::Turn => user % channels,
        };
        let (from, to) = (of_user(&begins, from, user), of_user(&ends, to, user));
        Air { medium: first + channel, from, to }
    };
    (0..count).map(place).collect()
}

/// What stations share in a scenario that has been checked.
pub(crate) fn expand(scenario: &Scenario) -> Vec<PlanMedium> {
    let mut media = Vec::new();
    for (name, own) in all(scenario) {
        let stations = own.stations(scenario);
        let (kind, stations) = match &own {
            Shared::Medium(medium) => {
                let planned = |name: &String| air::expand_station(scenario, medium, name);
                let planned: Vec<_> = stations.iter().map(planned).collect();
                let wifi = air::expand_wifi(scenario, medium, &stations);
                (PlanKind::Wifi(wifi), planned)
            }
            Shared::Bus(bus) => cell::expand_bus(scenario, bus, &stations),
            Shared::Cell(cell) => cell::expand_cell(scenario, cell, &stations),
        };
        for channel in 1..=own.channels() {
            let name = match own.channels() {
                1 => name.text.clone(),
                _ => format!("{}/{channel}", name.text),
            };
            media.push(PlanMedium { name, kind: kind.clone(), stations: stations.clone() });
        }
    }
    media
}
