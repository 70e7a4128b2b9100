//! What may stand in a scenario file.
//!
//! The doc comments here are the reference that users read: the schema, the reference page and the
//! Python dataclasses are generated from them.

use control::{ControllerSpec, UnknownController};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transport::OptionTable;
use units::{Bytes, Rate, Span};

pub use network::Queue;

mod air;
mod ground;
mod opportunities;
mod shared;

pub use air::{Medium, Radio, RateControl, Routing, Standard, Station};
pub use ground::{Area, Highway, Movements, Moves, Node, Waypoint};
pub use opportunities::Opportunities;
pub use shared::{Bus, Cell, CellScheduler, CellUser, Fading};

/// A name, and where it stands in the file.
#[derive(Clone, Debug, Default)]
pub struct Name {
    /// The name.
    pub text: String,
    /// The bytes of the file that hold it.
    pub span: core::ops::Range<usize>,
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = toml::Spanned::<String>::deserialize(deserializer)?;
        Ok(Name { span: spanned.span(), text: spanned.into_inner() })
    }
}

impl JsonSchema for Name {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Name".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

/// The name of a congestion controller, parsed, and where it stands in the file.
#[derive(Clone, Debug)]
pub struct Controller {
    /// The controller, or why there is none of that name.
    pub spec: Result<ControllerSpec, UnknownController>,
    /// The bytes of the file that hold the name.
    pub span: core::ops::Range<usize>,
}

impl<'de> Deserialize<'de> for Controller {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Name { text, span } = Name::deserialize(deserializer)?;
        Ok(Controller { spec: text.parse(), span })
    }
}

impl JsonSchema for Controller {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Name::schema_name()
    }
    fn inline_schema() -> bool {
        Name::inline_schema()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Name::json_schema(generator)
    }
}

/// A scenario: links, groups of flows, and how long to watch them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Short name, used in file names and tables.
    pub name: String,
    /// One line for people.
    #[serde(default)]
    pub title: String,
    /// Where the set-up is published.
    #[serde(default)]
    pub source: String,
    /// When the run ends.
    pub duration: Span,
    /// Until then nothing is measured.
    #[serde(default)]
    pub warmup: Span,
    /// How often windows, round-trip times and queues are sampled.
    #[serde(default = "default_sample")]
    pub sample: Span,
    /// Transport options of all flows.
    #[serde(default)]
    pub transport: OptionTable,
    /// The links, each in one direction.
    #[serde(default)]
    pub link: Vec<Link>,
    /// Channels of IEEE 802.11 that stations share.
    #[serde(default)]
    pub medium: Vec<Medium>,
    /// Buses that stations share.
    #[serde(default)]
    pub bus: Vec<Bus>,
    /// Cells of base stations.
    #[serde(default)]
    pub cell: Vec<Cell>,
    /// The ground on which nodes are and move.
    #[serde(default)]
    pub area: Option<Area>,
    /// Nodes that have a place, move, or are several; others are named by links alone.
    #[serde(default)]
    pub node: Vec<Node>,
    /// Groups of identical flows.
    #[serde(default)]
    pub flow: Vec<Flow>,
    /// What the source leaves open, the value taken and the reason.
    #[serde(default)]
    pub choice: Vec<Choice>,
}

fn default_sample() -> Span {
    Span::millis(100)
}

/// A link in one direction: queue, transmitter, line.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Name by which paths refer to it.
    pub name: Name,
    /// Rate of the transmitter; without it and without `opportunities` the link is a pure delay.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// When the transmitter may send, in place of a rate.
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
    /// Probability that a packet comes out twice.
    #[serde(default)]
    pub duplicate: f64,
    /// Packets come out later by a random time up to this, evenly, and keep their order: the random
    /// processing time that keeps phases from locking (Floyd and Jacobson 1992).
    #[serde(default)]
    pub jitter: Span,
    /// Whether every user whose path crosses it has a private copy, as of an access line.
    #[serde(default)]
    pub per_user: bool,
    /// Node at which it begins; with `to`, paths are checked for gaps.
    #[serde(default)]
    pub from: Option<Name>,
    /// Node at which it ends.
    #[serde(default)]
    pub to: Option<Name>,
    /// The medium, bus or cell that it is a part of: from the station `from` to the station `to`,
    /// on a medium with `routing` over as many others as it takes. Rates, queues and losses are
    /// those of the medium and its stations; `delay` follows. If an end is a group of nodes, each
    /// user of a flow has the link of its own node: the first user that of the first node; users of
    /// `arrivals` take the nodes in turn.
    #[serde(default)]
    pub medium: Option<Name>,
    /// Changes while the run lasts.
    #[serde(default)]
    pub change: Vec<LinkChange>,
    /// Rate, delay and loss over time, as they were recorded or computed.
    #[serde(default)]
    pub trace: Option<Trace>,
}

/// Changes of a link in rows. The first row names the columns: `t_s`, which increases, and some of
/// `rate_bps` (0 is an outage: what waits waits), `delay_s` and `loss`. Each row holds from its
/// time on.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// A file with the rows (CSV), found from where the scenario file is.
    #[serde(default)]
    pub file: Option<String>,
    /// The rows themselves.
    #[serde(default)]
    pub rows: Option<String>,
    /// After how long it begins again; without it the last row holds to the end.
    #[serde(default)]
    pub repeat: Option<Span>,
}

fn yes() -> bool {
    true
}

/// Random loss: of each packet by itself or, with `burst`, by a chain of a good and a bad state
/// (Gilbert 1960, Elliott 1963).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Loss {
    /// Probability for each packet; with `burst` in the long run.
    pub probability: f64,
    /// Packets in a row that find the bad state, on average; without it there is no chain.
    #[serde(default)]
    pub burst: Option<f64>,
    /// Loss in the good state of the chain.
    #[serde(default)]
    pub good: f64,
    /// Loss in the bad state of the chain.
    #[serde(default = "certain")]
    pub bad: f64,
    /// Whether a lost packet has used the transmitter, as on a radio.
    #[serde(default)]
    pub place: LossPlace,
}

fn certain() -> f64 {
    1.0
}

/// Packets that are held back at the end of a link.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// Probability for each packet.
    pub probability: f64,
    /// For how long.
    pub delay: Span,
}

/// Where random loss strikes.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum LossPlace {
    /// Before the queue: a lost packet uses no capacity.
    Before,
    /// On the line: it has used capacity.
    #[default]
    After,
}

/// A change of a link at a time; what is left out stays.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkChange {
    /// When.
    #[serde(rename(serialize = "at_s"))]
    pub at: Span,
    /// New rate.
    #[serde(default, rename(serialize = "rate_bps"))]
    pub rate: Option<Rate>,
    /// New propagation delay.
    #[serde(default, rename(serialize = "delay_s"))]
    pub delay: Option<Span>,
    /// New loss probability, for each packet by itself.
    #[serde(default)]
    pub loss: Option<f64>,
    /// Whether the link carries anything.
    #[serde(default)]
    pub up: Option<bool>,
}

/// A group of identical flows; in tables and theory, a class of users.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Name of the class.
    pub name: Name,
    /// How many users; a flow without users is left out.
    #[serde(default = "one", deserialize_with = "users")]
    pub count: u32,
    /// The congestion controller; see `anabranch list controllers`.
    #[serde(default = "reno")]
    pub controller: Controller,
    /// The paths of each user; one for plain TCP.
    #[serde(default)]
    pub path: Vec<Path>,
    /// The path, counted from 0, on which `multi-priority` and `hacker-switching` begin as a TCP;
    /// others have no use for it.
    #[serde(default)]
    pub base: u32,
    /// One TCP whose packets, and whose ACKs, take the paths in turn, whatever their order then is.
    #[serde(default)]
    pub striped: bool,
    /// When the users start.
    #[serde(default)]
    pub start: Span,
    /// Each user starts at a random time within this span after `start`.
    #[serde(default)]
    pub spread: Span,
    /// Users per second that come at random from `start` to the end of the run, instead of `count`
    /// and `spread`: as many as a Poisson process has on average, at its times.
    #[serde(default)]
    pub arrivals: Option<f64>,
    /// Bytes to send; without it, and without `app_rate`, the flow never ends.
    #[serde(default)]
    pub transfer: Option<Bytes>,
    /// How the bytes to send differ from user to user; `transfer` is their mean.
    #[serde(default)]
    pub sizes: Option<Sizes>,
    /// Rate of payload at which the application writes.
    #[serde(default)]
    pub app_rate: Option<Rate>,
    /// Pauses of an application with `app_rate`.
    #[serde(default)]
    pub pauses: Option<Pauses>,
    /// Which transport carries the flow.
    #[serde(default)]
    pub protocol: Protocol,
    /// That it is to be TCP-fair: `anabranch run` judges it, by further runs with a TCP in its
    /// place and without it.
    #[serde(default)]
    pub fair: Option<Fair>,
    /// Of UDP: the receiver sends every packet back (RFC 862).
    #[serde(default)]
    pub echo: bool,
    /// Transport options of this group; they go before those of the scenario.
    #[serde(default)]
    pub transport: OptionTable,
}

/// A demand that an ensemble, all paths of one connection, is TCP-fair (Tse 2006, §1.3).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Fair {
    /// Which definition it is to meet.
    #[serde(default)]
    pub definition: Definition,
    /// What it may take beyond that: as a part of a link in the lenient definition, and of the
    /// bound of the stringent one.
    #[serde(default = "default_margin")]
    pub margin: f64,
}

fn default_margin() -> f64 {
    0.05
}

/// A definition of multipath TCP-fairness.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Definition {
    /// On no link more than one TCP in its place would take (Definition 1).
    Lenient,
    /// Besides, all together no more than a TCP on its best path and what nobody else uses
    /// (Definition 2).
    #[default]
    Stringent,
}

/// How sizes of transfers are distributed.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Sizes {
    /// Exponentially.
    Exponential,
    /// By Pareto's law with this shape, above 1: the smaller, the heavier the tail.
    Pareto(f64),
    /// Lognormally, with this standard deviation of the logarithm.
    Lognormal(f64),
}

/// An application that writes and pauses in turn, beginning with writing.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Pauses {
    /// How long it writes, on average.
    #[serde(rename(serialize = "on_s"))]
    pub on: Span,
    /// How long it pauses, on average.
    #[serde(rename(serialize = "off_s"))]
    pub off: Span,
    /// Whether each time is drawn (exponentially) or always the same.
    #[serde(default = "yes")]
    pub random: bool,
}

/// A transport protocol.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// TCP or, over several paths, MPTCP.
    #[default]
    Tcp,
    /// UDP: sent at `app_rate`, whatever becomes of it.
    Udp,
}

fn one() -> u32 {
    1
}

fn users<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let count = i64::deserialize(deserializer)?;
    let wrong = || {
        let message = format!("count is {count}; it is a whole number from 0 to {}", u32::MAX);
        serde::de::Error::custom(message)
    };
    u32::try_from(count).map_err(|_| wrong())
}

fn reno() -> Controller {
    Controller { spec: "reno".parse(), span: 0..0 }
}

/// A path: the links that data crosses, and the way back of the acknowledgements.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Links from sender to receiver, in order.
    pub links: Vec<Name>,
    /// Links from receiver to sender; without it a line of the same delay that is never full.
    #[serde(default)]
    pub back: Option<Vec<Name>>,
    /// Which channel it takes where a medium has several: a number from 1, "each" for a path on
    /// every one of them, or "turn" for users that take them in turn.
    #[serde(default)]
    pub channel: Option<Channel>,
    /// When the path joins the connection; by default from the start.
    #[serde(default)]
    pub join: Option<Span>,
    /// When it leaves.
    #[serde(default)]
    pub leave: Option<Span>,
    /// Whether it is used only while no other path works (RFC 8684 §3.3.8).
    #[serde(default)]
    pub backup: bool,
    /// Network coding: what TCP sends on the path leaves it as random linear combinations of
    /// segments.
    #[serde(default)]
    pub coding: Option<Coding>,
}

/// A choice of channels.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(untagged)]
pub enum Channel {
    /// The one with this number, from 1.
    Number(u32),
    /// As the word says.
    Word(ChannelWord),
}

/// A choice of channels that is no single one.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum ChannelWord {
    /// A path on each.
    Each,
    /// The first user on the first, the second on the second, and so on, round and round.
    Turn,
}

/// Network coding of a path (Sundararajan et al. 2011; Xue et al. 2017).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Coding {
    /// R: combinations sent for each segment. At least 1/(1 − p) makes losses of p good.
    pub redundancy: f64,
    /// W: how many segments, the newest ones, a combination covers.
    #[serde(default = "six")]
    pub window: u8,
}

fn six() -> u8 {
    6
}

/// A parameter that the source leaves open.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The parameter.
    pub what: String,
    /// The value taken.
    pub value: String,
    /// The reason.
    pub why: String,
}
