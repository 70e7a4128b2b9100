//! What paths cross: links, and the media, buses and cells that some of them are parts of.

use crate::bus::Bus;
use crate::cell::Cell;
use crate::error::{Error, list};
use crate::link::{Air, Link, Links};
use crate::medium::Medium;
use crate::name::Name;
use crate::report::{Located, WrongKey, unique};
use crate::station::PlanStation;
use network::MediumSettings;
use schemars::JsonSchema;
use serde::Serialize;

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

/// Links, and what stations share, of a scenario.
#[derive(Clone, Copy)]
pub(crate) struct Topology<'a> {
    pub(crate) links: Links<'a>,
    pub(crate) media: &'a [Medium],
    pub(crate) buses: &'a [Bus],
    pub(crate) cells: &'a [Cell],
}

/// A choice of one channel, or of one for each user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    Number(u32),
    Turn,
}

/// What is shared, by name.
enum Shared<'a> {
    Medium(&'a Medium),
    Bus(&'a Bus),
    Cell(&'a Cell),
}

impl Shared<'_> {
    fn name(&self) -> &Name {
        match self {
            Shared::Medium(own) => &own.name,
            Shared::Bus(own) => &own.name,
            Shared::Cell(own) => &own.name,
        }
    }

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

    fn stations(&self, links: Links<'_>) -> Vec<String> {
        match self {
            Shared::Medium(own) => own.stations(links),
            Shared::Bus(own) => own.stations(links),
            Shared::Cell(own) => own.stations(links),
        }
    }

    fn expand(&self, links: Links<'_>, stations: &[String]) -> MediumSettings {
        match self {
            Shared::Medium(own) => MediumSettings::Wifi(own.expand(links, stations)),
            Shared::Bus(own) => MediumSettings::Bus(own.expand()),
            Shared::Cell(own) => MediumSettings::Cell(own.expand(stations)),
        }
    }

    fn expand_station(&self, links: Links<'_>, name: &str) -> PlanStation {
        match self {
            Shared::Medium(own) => own.expand_station(links, name),
            Shared::Bus(own) => own.expand_station(links, name),
            Shared::Cell(own) => own.expand_station(links, name),
        }
    }
}

/// Most pairs of stations of all channels: each has a path loss, and with routing a quality, in 24
/// B together.
const MOST_PAIRS: usize = 16_000_000;

impl<'a> Topology<'a> {
    /// All that is shared, media first, then buses and cells, in the order of the file.
    fn all(self) -> impl Iterator<Item = Shared<'a>> {
        let (media, buses) = (self.media.iter(), self.buses.iter());
        let wired = buses.map(Shared::Bus).chain(self.cells.iter().map(Shared::Cell));
        media.map(Shared::Medium).chain(wired)
    }

    /// What a link is a part of, and the index of its first channel among the media of a plan.
    fn shared(self, link: &Link) -> Option<(usize, Shared<'a>)> {
        let name = link.medium.as_ref()?;
        let mut index = 0;
        for shared in self.all() {
            if shared.name().text == name.text {
                return Some((index, shared));
            }
            index += shared.channels() as usize;
        }
        None
    }

    /// Checks what is shared, and the links on it.
    pub(crate) fn check(self) -> Result<(), Located> {
        let (media, buses, cells) = (self.media.iter(), self.buses.iter(), self.cells.iter());
        let names = media.clone().map(|own| &own.name).chain(buses.clone().map(|own| &own.name));
        unique("medium", names.chain(cells.clone().map(|own| &own.name)))?;
        media.clone().try_for_each(|medium| medium.check_routing(self.links))?;
        for link in self.links.all {
            if let Some(medium) = &link.medium {
                self.check_link(link, medium)?;
            }
        }
        self.check_media()?;
        buses.clone().try_for_each(|bus| bus.check(self.links))?;
        cells.clone().try_for_each(|cell| cell.check(self.links))
    }

    fn check_media(self) -> Result<(), Located> {
        let mut pairs = 0;
        for (index, medium) in self.media.iter().enumerate() {
            let name = &medium.name.text;
            medium.check(self.links)?;
            let stations = medium.stations(self.links).len();
            pairs += stations * stations * medium.channels as usize;
            if pairs > MOST_PAIRS {
                let what = format!("{}, with {stations} stations each", medium.channels);
                let right = "stations × stations × channels of all media are at most 16,000,000";
                return Err(WrongKey::value("channels", what, right).of("medium", name));
            }
            medium.check_range(self.links)?;
            if let Some(other) = self.media[..index].iter().find(|other| medium.overlaps(other)) {
                let other = &other.name.text;
                let what = format!("media `{other}` and `{name}` are on channels that overlap");
                let right = "give their links one medium, or put them on channels apart: 1, 6 and \
                             11, or 36, 40, 44 …";
                let error = Error::new(what).help(right);
                return Err(Located::key(format!("medium.{name}.channel"), error));
            }
        }
        Ok(())
    }

    fn check_link(self, link: &Link, medium: &Name) -> Result<(), Located> {
        let name = &link.name.text;
        let wrong = |key: &str, what: &str, right: &str| {
            Err(WrongKey::new(key, what, right).of("link", name))
        };
        let Some((_, own)) = self.shared(link) else {
            let error = Error::new(format!("link `{name}`: there is no medium `{}`", medium.text));
            let all: Vec<_> = self.all().map(|own| own.name().text.clone()).collect();
            let help = format!("the media are {}", list(all.iter().map(String::as_str)));
            return Err(Located::at(medium, error.help(help)));
        };
        let (Some(from), Some(to)) = (&link.from, &link.to) else {
            return wrong("medium", "`medium` without `from` and `to`", "they name its stations");
        };
        let ends = self.links.nodes.members(&from.text);
        if self.links.nodes.members(&to.text).iter().any(|end| ends.contains(end)) {
            return wrong("to", "it ends at a station where it begins", "name another station");
        }
        for end in [from, to] {
            if let Some(group) = self.links.nodes.beyond(&end.text) {
                let error = Error::new(format!("link `{name}`: there is no node `{}`", end.text));
                let right = format!("group `{}` has {} nodes", group.name.text, group.count);
                return Err(Located::at(end, error.help(right)));
            }
        }
        self.check_channel_names(link, own.channels())?;
        if let Some(key) = link.own_key() {
            let what = format!("`{key}` is set, and it is a part of a medium");
            let right = "rates, queues and losses are those of the medium and its stations";
            return wrong(key, &what, right);
        }
        self.check_ends(&own, from, to).map_err(|wrong| wrong.of("link", name))
    }

    /// Whether no other link is called as a link is on one of its channels.
    fn check_channel_names(self, link: &Link, channels: u32) -> Result<(), Located> {
        let of_channel = |other: &&Link| -> Option<u32> {
            let number = other.name.text.strip_prefix(&link.name.text)?.strip_prefix('/')?;
            number.parse().ok().filter(|number| (1..=channels).contains(number))
        };
        let mut links = self.links.all.iter();
        match links.find(|other| channels > 1 && of_channel(other).is_some()) {
            Some(other) => {
                let (own, other) = (&link.name.text, &other.name);
                let what = format!("link `{}` is called as link `{own}` on a channel", other.text);
                let error = Error::new(what).help("give one of them another name");
                Err(Located::at(other, error))
            }
            None => Ok(()),
        }
    }

    /// Whether the ends of a link go together with what it is a part of.
    fn check_ends(self, own: &Shared<'_>, from: &Name, to: &Name) -> Result<(), WrongKey> {
        if let Shared::Cell(cell) = own
            && from.text != cell.base.text
            && to.text != cell.base.text
        {
            let what = format!("neither end is the base station `{}`", cell.base.text);
            let right = "users reach each other through the base station: write two links";
            return Err(WrongKey::new("from", what, right));
        }
        match (self.several(own, from), self.several(own, to)) {
            (one, other) if one == 1 || other == 1 || one == other => Ok(()),
            (one, other) => {
                let what = format!("it leads from {one} nodes to {other}");
                let right = "one of its ends is a single node, or both have as many";
                Err(WrongKey::new("to", what, right))
            }
        }
    }

    /// How many nodes an end of a link stands for, each for another user.
    fn several(self, own: &Shared<'_>, end: &Name) -> usize {
        match own.any_of() == Some(end.text.as_str()) {
            true => 1,
            false => self.links.nodes.members(&end.text).len(),
        }
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
        let several = |end: &Option<Name>| end.as_ref().map_or(1, |end| self.several(&own, end));
        several(&link.from).max(several(&link.to))
    }

    /// Where a link is for each user in turn; nowhere, if it is no part of anything shared.
    pub(crate) fn places(self, link: &Link, pick: Pick) -> Vec<Air> {
        let (Some((first, own)), Some(from), Some(to)) = (self.shared(link), &link.from, &link.to)
        else {
            return Vec::new();
        };
        let stations = own.stations(self.links);
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

    /// What stations share in a scenario that has been checked.
    pub(crate) fn expand(self) -> Vec<PlanMedium> {
        let mut media = Vec::new();
        for own in self.all() {
            let names = own.stations(self.links);
            let kind = own.expand(self.links, &names);
            let stations: Vec<_> =
                names.iter().map(|name| own.expand_station(self.links, name)).collect();
            for channel in 1..=own.channels() {
                let name = match own.channels() {
                    1 => own.name().text.clone(),
                    _ => format!("{}/{channel}", own.name().text),
                };
                media.push(PlanMedium { kind: kind.clone(), name, stations: stations.clone() });
            }
        }
        media
    }
}
