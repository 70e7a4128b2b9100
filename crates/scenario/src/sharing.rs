//! What stations share: media, buses and cells. Which of their stations a link leads between, and
//! what a plan has of them.

use crate::air;
use crate::cell;
use crate::error::{Error, list};
use crate::link::{Air, Link};
use crate::name::Name;
use crate::report::{Located, unique};
use crate::schema::{Bus, Cell, Medium};
use crate::station::PlanStation;
use crate::topology::{Pick, Topology};
use network::MediumSettings;
use schemars::JsonSchema;
use serde::Serialize;
use units::Span;

/// What stations of a plan share, with its stations.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanMedium {
    /// What it is.
    #[serde(flatten)]
    pub kind: MediumSettings,
    /// Its name; of one of several channels with its number, as "air/2".
    pub name: String,
    /// Its stations, in the order in which links name them.
    pub stations: Vec<PlanStation>,
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

    fn stations(&self, scenario: Topology<'_>) -> Vec<String> {
        match self {
            Shared::Medium(own) => scenario.links.stations(&own.name.text, &own.nodes),
            Shared::Bus(own) => scenario.links.stations(&own.name.text, &own.nodes),
            Shared::Cell(own) => {
                let mut all = scenario.links.stations(&own.name.text, &[]);
                all.retain(|station| *station != own.base.text);
                all.insert(0, own.base.text.clone());
                all
            }
        }
    }
}

/// All that is shared, media first, then buses and cells, in the order of the file.
fn all(scenario: Topology<'_>) -> impl Iterator<Item = (&Name, Shared<'_>)> {
    let media = scenario.medium.iter().map(|own| (&own.name, Shared::Medium(own)));
    let buses = scenario.bus.iter().map(|own| (&own.name, Shared::Bus(own)));
    media.chain(buses).chain(scenario.cell.iter().map(|own| (&own.name, Shared::Cell(own))))
}

/// What is called so, and the index of its first channel among the media of a plan.
fn find<'a>(scenario: Topology<'a>, name: &str) -> Option<(usize, Shared<'a>)> {
    let mut index = 0;
    for (own, shared) in all(scenario) {
        if own.text == name {
            return Some((index, shared));
        }
        index += shared.channels() as usize;
    }
    None
}

/// Checks what is shared, and the links on it.
fn check(scenario: Topology<'_>) -> Result<(), Located> {
    unique("medium", all(scenario).map(|(name, _)| name))?;
    scenario.medium.iter().try_for_each(|medium| air::check_routing(scenario, medium))?;
    for link in scenario.links.all.iter().filter(|link| link.medium.is_some()) {
        check_link(scenario, link)?;
    }
    air::check(scenario)?;
    cell::check(scenario)
}

fn check_link(scenario: Topology<'_>, link: &Link) -> Result<(), Located> {
    let name = &link.name.text;
    let wrong = |field: &str, what: &str, right: &str| {
        let error = Error::new(format!("link `{name}`: {what}")).help(right);
        Err(Located::key(format!("link.{name}.{field}"), error))
    };
    let medium = link.medium.clone().unwrap_or_default();
    if find(scenario, &medium.text).is_none() {
        let error = Error::new(format!("link `{name}`: there is no medium `{}`", medium.text));
        let media = scenario.medium.iter().map(|known| &known.name);
        let all = media.chain(scenario.bus.iter().map(|known| &known.name));
        let all = list(
            all.chain(scenario.cell.iter().map(|known| &known.name)).map(|it| it.text.as_str()),
        );
        return Err(Located::at(&medium, error.help(format!("the media are {all}"))));
    }
    let (Some(from), Some(to)) = (&link.from, &link.to) else {
        return wrong("medium", "`medium` without `from` and `to`", "they name its stations");
    };
    let ends = scenario.links.nodes.members(&from.text);
    if scenario.links.nodes.members(&to.text).iter().any(|end| ends.contains(end)) {
        return wrong("to", "it ends at a station where it begins", "name another station");
    }
    for end in [from, to] {
        if let Some(group) = scenario.links.nodes.beyond(&end.text) {
            let message = format!("link `{name}`: there is no node `{}`", end.text);
            let right = format!("group `{}` has {} nodes", group.name.text, group.count);
            return Err(Located::at(end, Error::new(message).help(right)));
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
fn check_channel_names(scenario: Topology<'_>, link: &Link) -> Result<(), Located> {
    let channels = link.medium.as_ref().and_then(|name| find(scenario, &name.text));
    let channels = channels.map_or(1, |(_, own)| own.channels());
    let of_channel = |other: &&Link| -> Option<u32> {
        let number = other.name.text.strip_prefix(&link.name.text)?.strip_prefix('/')?;
        number.parse().ok().filter(|number| (1..=channels).contains(number))
    };
    match scenario.links.all.iter().find(|other| channels > 1 && of_channel(other).is_some()) {
        Some(other) => {
            let (own, other) = (&link.name.text, &other.name);
            let message = format!("link `{}` is called as link `{own}` on a channel", other.text);
            Err(Located::at(other, Error::new(message).help("give one of them another name")))
        }
        None => Ok(()),
    }
}

/// Whether the ends of a link go together with what it is a part of.
fn check_ends(
    scenario: Topology<'_>,
    link: &Link,
    shared: &str,
    from: &Name,
    to: &Name,
) -> Result<(), Located> {
    let wrong = |field: &str, what: String, right: &str| {
        let error = Error::new(format!("link `{}`: {what}", link.name.text)).help(right);
        Err(Located::key(format!("link.{}.{field}", link.name.text), error))
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
        false => scenario.links.nodes.members(&end.text).len(),
    };
    match (several(from), several(to)) {
        (one, other) if one == 1 || other == 1 || one == other => Ok(()),
        (one, other) => {
            let what = format!("it leads from {one} nodes to {other}");
            wrong("to", what, "one of its ends is a single node, or both have as many")
        }
    }
}

impl Topology<'_> {
    /// Checks what is shared, and the links on it.
    pub(crate) fn check(self) -> Result<(), Located> {
        check(self)
    }

    fn shared(&self, link: &Link) -> Option<(usize, Shared<'_>)> {
        link.medium.as_ref().and_then(|name| find(*self, &name.text))
    }

    /// How many channels a link has.
    pub(crate) fn channels(self, link: &Link) -> u32 {
        self.shared(link).map_or(1, |(_, own)| own.channels())
    }

    /// What a link is called on a channel.
    pub(crate) fn link_name(self, link: &Link, pick: Pick) -> String {
        match pick {
            Pick::Number(channel) if self.channels(link) > 1 => {
                format!("{}/{channel}", link.name.text)
            }
            _ => link.name.text.clone(),
        }
    }

    /// How many users of a flow have a link of their own, from or to their own node.
    pub(crate) fn users(self, link: &Link) -> usize {
        let Some((_, own)) = self.shared(link) else {
            return 1;
        };
        let several = |end: &Option<Name>| match end {
            Some(end) if own.any_of() != Some(end.text.as_str()) => {
                self.links.nodes.members(&end.text).len()
            }
            _ => 1,
        };
        several(&link.from).max(several(&link.to))
    }

    /// Where a link is for each user in turn; nowhere, if it is no part of anything shared.
    pub(crate) fn places(self, link: &Link, pick: Pick) -> Vec<Air> {
        let (Some((first, own)), Some(from), Some(to)) = (self.shared(link), &link.from, &link.to)
        else {
            return Vec::new();
        };
        let stations = own.stations(self);
        let numbers = |end: &Name| -> Vec<usize> {
            let all = self.links.nodes.members(&end.text);
            let number = |name| stations.iter().position(|station| station == name);
            all.iter().filter_map(number).collect()
        };
        let (begins, ends) = (numbers(from), numbers(to));
        let of_user = |all: &[usize], end: &Name, user: usize| -> Vec<usize> {
            match own.any_of() == Some(end.text.as_str()) {
                true => all.to_vec(),
                false => all.get(user % all.len().max(1)).copied().into_iter().collect(),
            }
        };
        let (users, channels) = (self.users(link), own.channels() as usize);
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

    /// What stations share in a plan.
    pub(crate) fn expand(self) -> Vec<PlanMedium> {
        expand(self)
    }
}

/// What stations share in a scenario that has been checked.
fn expand(scenario: Topology<'_>) -> Vec<PlanMedium> {
    let mut media = Vec::new();
    for (name, own) in all(scenario) {
        let stations = own.stations(scenario);
        let (kind, stations) = match &own {
            Shared::Medium(medium) => {
                let planned = |name: &String| air::expand_station(scenario, medium, name);
                let planned: Vec<_> = stations.iter().map(planned).collect();
                let wifi = air::expand_wifi(scenario, medium, &stations);
                (MediumSettings::Wifi(wifi), planned)
            }
            Shared::Bus(bus) => {
                let (bus, stations) = cell::expand_bus(scenario, bus, &stations);
                (MediumSettings::Bus(bus), stations)
            }
            Shared::Cell(cell) => {
                let (cell, stations) = cell::expand_cell(scenario, cell, &stations);
                (MediumSettings::Cell(cell), stations)
            }
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
