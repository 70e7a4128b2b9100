//! Paths of flows: the links that data crosses, and those that acknowledgements cross.

use crate::coding::check_coding;
use crate::error::{Error, existing, missing};
use crate::link::{Link, Links, PlanLink};
use crate::name::Name;
use crate::protocol::Protocol;
use crate::report::{Located, WrongKey};
use crate::topology::{Pick, Topology};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transport::Options;
use transport::coded::Coding;
use units::Span;

/// A path: the links that data crosses, and the links that ACKs cross on the way back.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Links from sender to receiver, in order.
    pub links: Vec<Name>,
    /// Links from receiver to sender; by default one link with the same delay, without rate limit
    /// or loss.
    #[serde(default)]
    pub back: Option<Vec<Name>>,
    /// The channel of the path on a medium with several channels: a number from 1, "each" for one
    /// path on every channel, or "turn" to assign channels to users in turn.
    #[serde(default)]
    pub channel: Option<Channel>,
    /// When the path joins the connection; by default from the start.
    #[serde(default)]
    pub join: Option<Span>,
    /// When the path leaves the connection; by default never.
    #[serde(default)]
    #[schemars(extend("range" = LEAVE))]
    pub leave: Option<Span>,
    /// Whether the path is a backup, used only while no other path works (RFC 8684 §3.3.8).
    #[serde(default)]
    pub backup: bool,
    /// Whether its packets in both directions are lower effort (RFC 8622): a `strict-priority`
    /// queue sends them only while no other packet waits.
    #[serde(default)]
    pub lower_effort: bool,
    /// Network coding: the path carries random linear combinations of the segments that TCP sends.
    #[serde(default)]
    pub coding: Option<Coding>,
}

const LEAVE: &str = "`join` is before `leave`";

/// A choice of channels.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(untagged)]
pub enum Channel {
    /// The channel with this number, from 1.
    Number(u32),
    /// Several channels.
    Word(ChannelWord),
}

/// A choice of several channels.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum ChannelWord {
    /// One path on every channel.
    Each,
    /// Users take the channels in turn: the first user has the first channel, the second user the
    /// second, and so on; after the last channel the first follows again.
    Turn,
}

/// A path of a class.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlanPath {
    /// Indices of the links that data crosses, at least one.
    pub links: Vec<usize>,
    /// Indices of the links that ACKs cross.
    pub back: Vec<usize>,
    /// Further routes, each as `links` and `back`; packets take all routes in turn.
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
    /// Whether its packets are lower effort.
    pub lower_effort: bool,
    /// Network coding, if it is coded.
    pub coding: Option<Coding>,
}

/// What a path has to know of its flow.
pub(crate) struct Carried<'a> {
    /// Name of the flow.
    pub(crate) flow: &'a str,
    /// Users that are there from the start.
    pub(crate) users: usize,
    pub(crate) protocol: Protocol,
    /// Whether the receiver sends every packet back.
    pub(crate) echo: bool,
    pub(crate) striped: bool,
    pub(crate) options: &'a Options,
}

impl Path {
    /// All links, in both directions.
    fn names(&self) -> impl Iterator<Item = &Name> {
        self.links.iter().chain(self.back.iter().flatten())
    }

    /// Whether it exists from the start to the end of its connection.
    pub(crate) fn stays(&self) -> bool {
        self.join.is_none() && self.leave.is_none() && !self.backup
    }

    /// Whether it leaves its connection.
    pub(crate) fn leaves(&self) -> bool {
        self.leave.is_some()
    }

    /// The numbers of channels of the media that it crosses, where there are several.
    fn choices(&self, topology: Topology<'_>) -> Vec<u32> {
        let links = self.names().filter_map(|name| topology.links.find(name));
        links.map(|link| topology.channels(link)).filter(|channels| *channels > 1).collect()
    }

    /// The channels of its copies: one path for each channel that it takes.
    pub(crate) fn picks(&self, topology: Topology<'_>) -> Vec<Pick> {
        match self.channel {
            None => vec![Pick::Number(1)],
            Some(Channel::Number(number)) => vec![Pick::Number(number)],
            Some(Channel::Word(ChannelWord::Turn)) => vec![Pick::Turn],
            Some(Channel::Word(ChannelWord::Each)) => {
                let most = self.choices(topology).into_iter().max().unwrap_or(1);
                (1..=most).map(Pick::Number).collect()
            }
        }
    }

    /// Checks the path with this number of a flow.
    pub(crate) fn check(
        &self,
        index: usize,
        topology: Topology<'_>,
        duration: Span,
        carried: &Carried<'_>,
    ) -> Result<(), Located> {
        let placed =
            |wrong: WrongKey| wrong.below(&format!("path.{index}")).of("flow", carried.flow);
        self.check_links().map_err(placed)?;
        self.check_channel(topology).map_err(placed)?;
        self.check_users(topology, carried.users).map_err(placed)?;
        check_crossed_once(carried.flow, &self.links)?;
        check_gaps(topology.links, carried.flow, &self.links)?;
        match &self.back {
            Some(back) => {
                check_crossed_once(carried.flow, back)?;
                check_gaps(topology.links, carried.flow, back)?;
            }
            None => self.check_way_back(topology.links, carried).map_err(placed)?,
        }
        self.check_round_trip(topology.links, duration, carried.flow)?;
        let Carried { protocol, striped, options, .. } = *carried;
        let coding = self.coding.as_ref();
        coding.map_or(Ok(()), |own| check_coding(own, protocol, striped, options)).map_err(placed)
    }

    fn check_links(&self) -> Result<(), WrongKey> {
        for (key, links) in [("links", Some(&self.links)), ("back", self.back.as_ref())] {
            if links.is_some_and(Vec::is_empty) {
                let what = format!("`{key}` of a path is empty");
                return Err(WrongKey::new(key, what, "name at least one link"));
            }
        }
        let joins = self.join.unwrap_or_default();
        match self.leave.filter(|leave| *leave <= joins) {
            Some(leave) => {
                let what = format!("a path leaves at {leave} and joins at {joins}");
                Err(WrongKey::new("leave", what, LEAVE))
            }
            None => Ok(()),
        }
    }

    fn check_channel(&self, topology: Topology<'_>) -> Result<(), WrongKey> {
        let choices = self.choices(topology);
        let most = choices.iter().copied().max().unwrap_or(1);
        if let Some(Channel::Number(number)) = self.channel
            && !(1..=most).contains(&number)
        {
            let right = format!("the media of the path have channels 1 to {most}");
            return Err(WrongKey::value("channel", number, right));
        }
        match choices.iter().any(|channels| *channels < most) {
            true => {
                let what = "its links are on media with different numbers of channels";
                let right =
                    "all media of a path that have several channels have the same number of them";
                Err(WrongKey::new("links", what, right))
            }
            false => Ok(()),
        }
    }

    /// Checks that each user has its own node at the ends of its links.
    fn check_users(&self, topology: Topology<'_>, users: usize) -> Result<(), WrongKey> {
        for link in self.names().filter_map(|name| topology.links.find(name)) {
            let nodes = topology.users(link);
            if nodes > 1 && users > nodes {
                let what = format!(
                    "it has {users} users, and an end of link `{}` has {nodes} nodes",
                    link.name.text
                );
                let right = format!(
                    "each user needs a node of its own: at most {nodes} users, or more nodes"
                );
                return Err(WrongKey::new("links", what, right));
            }
        }
        Ok(())
    }

    /// Checks that a path over a medium with answers has links for the way back.
    fn check_way_back(&self, links: Links<'_>, carried: &Carried<'_>) -> Result<(), WrongKey> {
        let answers = carried.protocol != Protocol::Udp || carried.echo;
        let mut crossed = self.links.iter().filter_map(|name| links.find(name));
        match answers && crossed.any(|link| link.medium.is_some()) {
            true => {
                let what = "a path over a medium has no `back`";
                let right =
                    "name its links back: acknowledgements and echoes share the medium with data";
                Err(WrongKey::new("links", what, right))
            }
            false => Ok(()),
        }
    }

    /// Checks that a round trip takes time, at the start and after every change: otherwise a run
    /// stays at one instant for ever.
    fn check_round_trip(
        &self,
        links: Links<'_>,
        duration: Span,
        flow: &str,
    ) -> Result<(), Located> {
        let mut crossed = self.names().filter_map(|name| links.find(name));
        if crossed.any(|link| link.takes_time(duration)) {
            return Ok(());
        }
        let what = format!(
            "flow `{flow}`: no link of a path has a rate, or a delay that stays above zero"
        );
        let help = "give one of its links a `rate` or a `delay`, and no `change` to \"0 s\"";
        Err(Located::at(&self.links[0], Error::new(what).help(help)))
    }

    /// Probability that the links of the data direction lose a packet.
    pub(crate) fn loss(&self, links: Links<'_>) -> f64 {
        let crossed = self.links.iter().filter_map(|name| links.find(name));
        let arrives = crossed.filter_map(|link| Some(1.0 - link.loss.as_ref()?.probability));
        1.0 - arrives.product::<f64>()
    }

    /// A path of a class over channel `pick`; `back` is the name of an implied way back.
    pub(crate) fn expand(&self, pick: Pick, back: String, laid: &mut LaidLinks<'_>) -> PlanPath {
        let forward: Vec<usize> = self.links.iter().map(|name| laid.index(name, pick)).collect();
        let back = match &self.back {
            Some(names) => names.iter().map(|name| laid.index(name, pick)).collect(),
            None => vec![laid.add(PlanLink::pure_delay(back, laid.delay(&forward)))],
        };
        PlanPath {
            base_rtt: laid.delay(&forward) + laid.delay(&back),
            links: forward,
            back,
            turns: Vec::new(),
            join: self.join.unwrap_or_default(),
            leave: self.leave,
            backup: self.backup,
            lower_effort: self.lower_effort,
            coding: self.coding,
        }
    }
}

/// Checks that every link exists, and that each link between nodes begins where the previous one
/// ends.
fn check_gaps(links: Links<'_>, flow: &str, way: &[Name]) -> Result<(), Located> {
    let mut previous: Option<&Link> = None;
    for name in way {
        let Some(link) = links.find(name) else {
            let known = links.all.iter().map(|link| link.name.text.as_str());
            let missing = missing("link", &name.text, known.clone());
            let error = Error::new(format!("flow `{flow}`: {missing}"));
            return Err(Located::at(name, error.help(existing("links", known))));
        };
        let end = previous.and_then(|link| link.to.as_ref());
        if let (Some(before), Some(end), Some(begin)) = (previous, end, &link.from)
            && end.text != begin.text
        {
            let error = Error::new(format!(
                "flow `{flow}`: the path has a gap: `{}` ends at `{}` and `{}` begins at `{}`",
                before.name.text, end.text, name.text, begin.text
            ));
            return Err(Located::at(name, error.help("name the links between the two nodes")));
        }
        previous = Some(link);
    }
    Ok(())
}

/// Checks that a way crosses a link only once. Theory ignores a second crossing, and packets would
/// cross twice.
fn check_crossed_once(flow: &str, way: &[Name]) -> Result<(), Located> {
    let again = |index: &usize| way[..*index].iter().any(|name| name.text == way[*index].text);
    match (0..way.len()).find(again) {
        Some(index) => {
            let name = &way[index];
            let what = format!("flow `{flow}`: a path crosses link `{}` twice", name.text);
            let right = "a path crosses each link once: name it once, or add a second link";
            Err(Located::at(name, Error::new(what).help(right)))
        }
        None => Ok(()),
    }
}

/// The links of a plan as paths take them.
pub(crate) struct LaidLinks<'a> {
    topology: Topology<'a>,
    duration: Span,
    pub(crate) links: Vec<PlanLink>,
}

impl<'a> LaidLinks<'a> {
    /// All links with a single instance, whatever channel a path takes.
    pub(crate) fn new(topology: Topology<'a>, duration: Span) -> Self {
        let mut laid = LaidLinks { topology, duration, links: Vec::new() };
        for link in topology.links.all.iter().filter(|link| topology.channels(link) == 1) {
            laid.lay(link, Pick::Number(1));
        }
        laid
    }

    fn lay(&mut self, link: &Link, pick: Pick) -> usize {
        let attachments = self.topology.attachments(link, pick);
        let name = self.topology.link_name(link, pick);
        self.add(link.expand(name, attachments, self.duration))
    }

    fn add(&mut self, link: PlanLink) -> usize {
        self.links.push(link);
        self.links.len() - 1
    }

    /// The index of a link; a link on one of several channels is added when the first path takes
    /// it.
    fn index(&mut self, name: &Name, pick: Pick) -> usize {
        let Some(link) = self.topology.links.find(name) else {
            return 0; // every link exists: this was checked before
        };
        let name = self.topology.link_name(link, pick);
        let known = self.links.iter().position(|link| link.name == name);
        known.unwrap_or_else(|| self.lay(link, pick))
    }

    fn delay(&self, way: &[usize]) -> Span {
        way.iter().fold(Span::ZERO, |sum, link| sum + self.links[*link].delay)
    }
}
