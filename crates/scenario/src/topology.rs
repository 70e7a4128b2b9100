//! Links and shared media of a scenario, for the paths that cross them.

use crate::error::{Error, existing, missing};
use crate::link::{Attachment, Link, Links};
use crate::media::{Media, MediumTable, described_media};
use crate::name::Name;
use crate::report::{Located, WrongKey, unique};
use crate::station::PlanStation;
use network::MediumSettings;
use schemars::JsonSchema;
use serde::Serialize;

/// A shared medium of a plan, with its stations.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanMedium {
    /// Its kind, with the parameters of the kind.
    #[serde(flatten)]
    pub kind: MediumSettings,
    /// Its name; on a medium with several channels it ends with the number of the channel, as in
    /// "air/2".
    pub name: String,
    /// Its stations, in the order in which links name them.
    pub stations: Vec<PlanStation>,
}

/// Links and shared media of a scenario.
#[derive(Clone, Copy)]
pub(crate) struct Topology<'a> {
    pub(crate) links: Links<'a>,
    pub(crate) media: Media<'a>,
}

/// A choice of one channel, or of one for each user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    Number(u32),
    Turn,
}

impl<'a> Topology<'a> {
    /// The shared medium of a link, and the index of its first channel among the media of a plan.
    fn shared(self, link: &Link) -> Option<(usize, &'a dyn MediumTable)> {
        let name = link.medium.as_ref()?;
        let mut index = 0;
        for own in self.media.all() {
            if own.name().text == name.text {
                return Some((index, own));
            }
            index += own.channels() as usize;
        }
        None
    }

    /// Checks shared media, and the links on them.
    pub(crate) fn check(self) -> Result<(), Located> {
        unique("medium", self.media.all().map(MediumTable::name))?;
        self.media.all().try_for_each(|own| own.check_any_of(self.links))?;
        for link in self.links.all {
            if let Some(medium) = &link.medium {
                self.check_link(link, medium)?;
            }
        }
        self.media.check(self.links)
    }

    fn check_link(self, link: &Link, medium: &Name) -> Result<(), Located> {
        let name = &link.name.text;
        let wrong = |key: &str, what: &str, right: &str| {
            Err(WrongKey::new(key, what, right).of("link", name))
        };
        let Some((_, own)) = self.shared(link) else {
            let names: Vec<_> = self.media.all().map(|own| own.name().text.as_str()).collect();
            let names = || names.iter().copied();
            let missing = missing("medium", &medium.text, names());
            let error = Error::new(format!("link `{name}`: {missing}"));
            let help = match names().len() {
                0 => media_tables(),
                _ => existing("media", names()),
            };
            return Err(Located::at(medium, error.help(help)));
        };
        let (Some(from), Some(to)) = (&link.from, &link.to) else {
            return wrong(
                "medium",
                "`medium` is set without `from` and `to`",
                "name two of its stations with them",
            );
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
            let what = format!("`{key}` is set, and the link is on a medium");
            let right = "leave it out: the medium and its stations have rates, queues and losses";
            return wrong(key, &what, right);
        }
        self.check_ends(own, from, to).map_err(|wrong| wrong.of("link", name))
    }

    /// Checks that no other link has the name of a link on one of its channels.
    fn check_channel_names(self, link: &Link, channels: u32) -> Result<(), Located> {
        let of_channel = |other: &&Link| -> Option<u32> {
            let number = other.name.text.strip_prefix(&link.name.text)?.strip_prefix('/')?;
            number.parse().ok().filter(|number| (1..=channels).contains(number))
        };
        let mut links = self.links.all.iter();
        match links.find(|other| channels > 1 && of_channel(other).is_some()) {
            Some(other) => {
                let (own, other) = (&link.name.text, &other.name);
                let what = format!(
                    "link `{}` has the name that link `{own}` has on a channel",
                    other.text
                );
                let error = Error::new(what).help("give one of them another name");
                Err(Located::at(other, error))
            }
            None => Ok(()),
        }
    }

    /// Checks the ends of a link against its medium.
    fn check_ends(self, own: &dyn MediumTable, from: &Name, to: &Name) -> Result<(), WrongKey> {
        own.check_ends(from, to)?;
        match (self.several(own, from), self.several(own, to)) {
            (one, other) if one == 1 || other == 1 || one == other => Ok(()),
            (one, other) => {
                let what = format!("it leads from {one} nodes to {other}");
                let right =
                    "one of its ends is a single node, or both have the same number of nodes";
                Err(WrongKey::new("to", what, right))
            }
        }
    }

    /// Number of nodes that an end of a link stands for, each for another user.
    fn several(self, own: &dyn MediumTable, end: &Name) -> usize {
        match own.any_of() == Some(end.text.as_str()) {
            true => 1,
            false => self.links.nodes.members(&end.text).len(),
        }
    }

    /// Number of channels of a link.
    pub(crate) fn channels(self, link: &Link) -> u32 {
        self.shared(link).map_or(1, |(_, own)| own.channels())
    }

    /// The name of a link on a channel.
    pub(crate) fn link_name(self, link: &Link, pick: Pick) -> String {
        match pick {
            Pick::Number(channel) if self.channels(link) > 1 => {
                format!("{}/{channel}", link.name.text)
            }
            _ => link.name.text.clone(),
        }
    }

    /// Number of users of a flow with their own link, from or to their own node.
    pub(crate) fn users(self, link: &Link) -> usize {
        let Some((_, own)) = self.shared(link) else {
            return 1;
        };
        let several = |end: &Option<Name>| end.as_ref().map_or(1, |end| self.several(own, end));
        several(&link.from).max(several(&link.to))
    }

    /// The ends of a link on its medium, for each user in turn; empty without a medium.
    pub(crate) fn attachments(self, link: &Link, pick: Pick) -> Vec<Attachment> {
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
        let of = |user: usize| {
            let channel = match pick {
                Pick::Number(number) => (number as usize).min(channels) - 1,
                Pick::Turn => user % channels,
            };
            let (from, to) = (of_user(&begins, from, user), of_user(&ends, to, user));
            Attachment { medium: first + channel, from, to }
        };
        (0..count).map(of).collect()
    }

    /// The shared media of a plan, after the checks.
    pub(crate) fn expand(self) -> Vec<PlanMedium> {
        let mut media = Vec::new();
        for own in self.media.all() {
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

/// Help for a scenario without a medium.
fn media_tables() -> String {
    let tables = described_media().into_iter().map(|own| format!("[[{}]]", own.names[0]));
    let tables: Vec<_> = tables.collect();
    format!("the scenario has no medium: add one of {}", tables.join(", "))
}
