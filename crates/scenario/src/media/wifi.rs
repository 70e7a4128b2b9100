//! Channels of IEEE 802.11.

use super::example::Alternatives;
use super::{MOST_STATIONS, MediumTable};
use crate::error::{Error, list};
use crate::link::Links;
use crate::name::Name;
use crate::queue::DEFAULT_QUEUE;
use crate::radio::Radio;
use crate::report::{Located, WrongKey, unique};
use crate::station::{PlanStation, Station};
use network::adhoc::Routing;
use network::dot11::AfterCollision;
use network::{MediumSettings, Position, RateControl, Standard, WifiSettings};
use schemars::JsonSchema;
use serde::Deserialize;
use units::{Described, Rate, Span, ValidRange};

/// A channel of IEEE 802.11. Its stations are the nodes at the ends of its links, and the nodes in
/// `nodes`; each station has one queue.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Medium {
    /// Name by which links refer to it.
    pub name: Name,
    /// The amendment of the standard.
    pub standard: Standard,
    /// Rate at which data is sent, or the highest rate if stations choose it; by default the
    /// fastest.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// How stations choose the rate of a packet.
    #[serde(default)]
    pub control: RateControl,
    /// Rate of broadcasts of routing protocols. By default it is the data rate if that is fixed, so
    /// that stations that receive broadcasts also receive data; otherwise it is the slowest rate.
    #[serde(default)]
    pub broadcast: Option<Rate>,
    /// Attempts to send a packet before it is dropped.
    #[serde(default = "attempts")]
    #[schemars(extend("range" = ATTEMPTS.right))]
    pub attempts: u32,
    /// How long a sender waits for an acknowledgement to begin; by default the time of the
    /// standard.
    #[serde(default)]
    #[schemars(extend("range" = ACK_TIMEOUT.right))]
    pub ack_timeout: Option<Span>,
    /// How long the other stations wait after transmissions that began together.
    #[serde(default)]
    pub after_collision: AfterCollision,
    /// Number of its channel: media on channels that overlap are refused, as they would disturb
    /// each other.
    #[serde(default)]
    pub channel: Option<u32>,
    /// A channel of 40 MHz instead of 20; only n.
    #[serde(default)]
    pub wide: bool,
    /// A guard interval of 400 ns instead of 800; only n.
    #[serde(default)]
    pub short_guard: bool,
    /// Spatial streams, 1 to 4; only n.
    #[serde(default = "one")]
    #[schemars(extend("range" = STREAMS.right))]
    pub streams: u32,
    /// Propagation. Without it all stations sense each other, and only collisions are errors.
    #[serde(default)]
    pub radio: Option<Radio>,
    /// Stations that differ from the default.
    #[serde(default)]
    pub station: Vec<Station>,
    /// Further stations, which are not ends of links and only forward packets of others.
    #[serde(default)]
    pub nodes: Vec<Name>,
    /// Routing of packets from station to station; without it a link is one hop.
    #[serde(default)]
    pub routing: Option<Routing>,
    /// The node or group whose nodes are access points. As an end of a link, its name stands for
    /// the access point that the other station reaches.
    #[serde(default)]
    pub access: Option<Name>,
    /// Number of such channels, which are orthogonal and numbered from 1. Every node has a station
    /// on each.
    #[serde(default = "one")]
    #[schemars(extend("range" = CHANNELS.right))]
    pub channels: u32,
}

const ATTEMPTS: ValidRange<u32> =
    ValidRange { holds: |attempts| (1..=255).contains(attempts), right: "it lies from 1 to 255" };

const ACK_TIMEOUT: ValidRange<Span> = ValidRange {
    holds: |wait| (Span(10_000)..=Span::millis(10)).contains(wait),
    right: "it lies from 10 us to 10 ms",
};

const STREAMS: ValidRange<u32> =
    ValidRange { holds: |streams| (1..=4).contains(streams), right: "it lies from 1 to 4" };

const CHANNELS: ValidRange<u32> =
    ValidRange { holds: |channels| (1..=64).contains(channels), right: "it lies from 1 to 64" };

fn attempts() -> u32 {
    7
}

fn one() -> u32 {
    1
}

/// Default number of packets that a driver takes.
const DEFAULT_RING: u32 = 64;

/// The default with routing: a packet that the driver has taken cannot change its next hop.
const ROUTED_RING: u32 = 2;

/// Most pairs of stations of all channels: a pair has a path loss and, with routing, a quality;
/// together 24 B.
const MOST_PAIRS: usize = 16_000_000;

/// Alternatives of standards and rates for tests.
const RATES: &[&str] = &[
    "standard = 'g'\nrate = '6 Mb/s'\nradio = {}",
    "standard = 'g'\nrate = '24 Mb/s'\nradio = {}",
    "standard = 'g-protected'\ncontrol = 'arf'\nradio = {}",
    "standard = 'a'\ncontrol = 'ideal'\nradio = {}",
    "standard = 'n-5'\ncontrol = 'arf'\nradio = {}",
    "standard = 'n-2.4'\nstreams = 2",
    "standard = 'b'\ncontrol = 'arf'",
    "standard = 'b-short'",
];

const COLLISIONS: &[&str] = &["after_collision = 'eifs'", "after_collision = 'difs'"];

const STATIONS: &[&str] = &[
    "",
    "[[medium.station]]\nname = 'n'\nring = '1 packets'",
    "[[medium.station]]\nname = 'n'\nresidual_loss = 0.05",
    "[[medium.station]]\nname = 'n'\nnoise = '50 ms'",
];

impl MediumTable for Medium {
    fn described() -> Described {
        Described {
            names: &["medium"],
            summary: "Channels of IEEE 802.11 that stations share.",
            source: "IEEE 802.11-2012",
        }
    }

    fn examples() -> &'static [(&'static str, Alternatives)] {
        &[
            (
                "base",
                &[
                    RATES,
                    COLLISIONS,
                    &["", "attempts = 1", "attempts = 4"],
                    &["", "channels = 2", "channels = 3"],
                    &[
                        "",
                        "routing = 'oracle'\nnodes = ['points']",
                        "routing = 'oracle'\naccess = 'base'\nnodes = ['points']",
                        "routing = 'association'\naccess = 'base'",
                        "routing = 'aodv'\nnodes = ['points']",
                        "routing = 'olsr'\nnodes = ['points']",
                    ],
                    STATIONS,
                ],
            ),
            (
                "points",
                &[
                    RATES,
                    COLLISIONS,
                    &["", "channels = 2"],
                    &[
                        "routing = 'oracle'\naccess = 'points'",
                        "routing = 'association'\naccess = 'points'",
                    ],
                    STATIONS,
                ],
            ),
        ]
    }

    fn name(&self) -> &Name {
        &self.name
    }

    fn channels(&self) -> u32 {
        self.channels
    }

    fn any_of(&self) -> Option<&str> {
        Some(self.access.as_ref()?.text.as_str())
    }

    fn check_any_of(&self, links: Links<'_>) -> Result<(), Located> {
        let placed = |wrong: WrongKey| wrong.of("medium", &self.name.text);
        let finds_any = matches!(self.routing, Some(Routing::Oracle | Routing::Association));
        if self.access.is_some() && !finds_any {
            let right = "set routing = \"association\" or \"oracle\": the other protocols find single \
                         nodes, not the nearest of several";
            return Err(placed(WrongKey::new(
                "access",
                "it has `access` points, but its routing is another one",
                right,
            )));
        }
        let Some(access) = &self.access else {
            return match self.routing == Some(Routing::Association) {
                true => {
                    let right = "name the node or group whose nodes are access points";
                    Err(placed(WrongKey::new(
                        "routing",
                        "`routing` is \"association\", and there is no `access`",
                        right,
                    )))
                }
                false => Ok(()),
            };
        };
        let (known, points) = (self.stations(links), links.nodes.members(&access.text));
        if let Some(node) = points.iter().find(|node| !known.contains(node)) {
            let what = format!("access: `{node}` is not a station of this medium");
            return Err(placed(WrongKey::new("access", what, "name one of its stations")));
        }
        self.check_points(links, access, &points)
    }

    fn stations(&self, links: Links<'_>) -> Vec<String> {
        links.stations(&self.name.text, &self.nodes)
    }

    fn check(&self, links: Links<'_>) -> Result<(), Located> {
        let name = &self.name.text;
        let placed = |wrong: WrongKey| wrong.of("medium", name);
        self.check_channel().map_err(placed)?;
        self.check_rates().map_err(placed)?;
        unique("station", self.station.iter().map(|station| &station.name))?;
        let stations = self.stations(links);
        if stations.len() > MOST_STATIONS {
            let what = format!("it has {} stations", stations.len());
            return Err(placed(WrongKey::new("station", what, "a medium has at most 1000")));
        }
        if stations.is_empty() {
            let error = Error::new(format!("medium `{name}` has no stations"));
            let help = format!("write links with `medium = \"{name}\"`, `from` and `to`");
            return Err(Located::at(&self.name, error.help(help)));
        }
        let check = |station: &Station| self.check_station(links, station, &stations);
        self.station.iter().try_for_each(check)?;
        self.check_range(links)
    }

    fn check_all(all: &[Self], links: Links<'_>) -> Result<(), Located> {
        let mut pairs = 0;
        for (index, medium) in all.iter().enumerate() {
            medium.check(links)?;
            pairs += medium.check_pairs(links, pairs)?;
            medium.check_overlaps(&all[..index])?;
        }
        Ok(())
    }

    fn expand(&self, links: Links<'_>, stations: &[String]) -> MediumSettings {
        let points = self.access.iter().flat_map(|access| links.nodes.members(&access.text));
        let place = |point: String| stations.iter().position(|station| *station == point);
        let all = self.rates();
        let (slowest, fastest) = (all[0], all[all.len() - 1]); // a standard has rates
        let rate = self.rate.and_then(|rate| self.meant(rate)).unwrap_or(fastest);
        let broadcast = self.broadcast.and_then(|rate| self.meant(rate));
        MediumSettings::Wifi(WifiSettings {
            standard: self.standard,
            wide: self.wide,
            short_guard: self.short_guard,
            streams: self.streams,
            rate,
            control: self.control,
            broadcast: broadcast.unwrap_or(match self.control {
                RateControl::Fixed => rate,
                RateControl::Arf | RateControl::Ideal => slowest,
            }),
            attempts: self.attempts,
            ack_timeout: self.ack_timeout,
            after_collision: self.after_collision,
            radio: self.radio.map(|radio| radio.expand(self.standard.loss_at_1m_db())),
            routing: self.routing,
            access: points.filter_map(place).collect(),
        })
    }

    fn expand_station(&self, links: Links<'_>, name: &str) -> PlanStation {
        let is_it =
            |own: &&Station| links.nodes.members(&own.name.text).iter().any(|it| it == name);
        let ring = if self.routing.is_some() { ROUTED_RING } else { DEFAULT_RING };
        let mut station = PlanStation::bare(links, name, DEFAULT_QUEUE);
        station.settings.ring = ring;
        if let Some(own) = self.station.iter().find(is_it) {
            station.settings = network::Station {
                queue: own.queue.clone().unwrap_or(DEFAULT_QUEUE),
                ring: own.ring.map_or(ring, |ring| ring.0 as u32),
                rate: own.rate.and_then(|rate| self.meant(rate)),
                position: own.position(),
                residual_loss: own.residual_loss,
                noise: own.noise,
            };
        }
        station
    }
}

impl Medium {
    fn rates(&self) -> Vec<Rate> {
        self.standard.rates(self.wide, self.short_guard, self.streams)
    }

    /// The rate of the standard for a rounded one: 72.2 is 72.222….
    fn meant(&self, rate: Rate) -> Option<Rate> {
        let tenths = |rate: Rate| (rate.0 + 50_000) / 100_000;
        self.rates().into_iter().find(|own| tenths(*own) == tenths(rate))
    }

    /// Checks that `key` is one of its rates.
    fn check_rate(&self, key: &str, rate: Option<Rate>) -> Result<(), WrongKey> {
        let Some(rate) = rate.filter(|rate| self.meant(*rate).is_none()) else {
            return Ok(());
        };
        let all: Vec<_> = self.rates().iter().map(Rate::to_string).collect();
        Err(WrongKey::value(key, rate, format!("its rates are {}", all.join(", "))))
    }

    /// Whether it and another network are on overlapping channels; channel numbers are steps of 5
    /// MHz in both bands.
    fn overlaps(&self, other: &Medium) -> bool {
        let (Some(a), Some(b)) = (self.channel, other.channel) else {
            return false;
        };
        let width = |medium: &Medium| match (medium.wide, medium.standard.five_ghz()) {
            (true, _) => 40,
            (false, true) => 20,
            (false, false) => 25, // 22 MHz of DSSS
        };
        self.standard.five_ghz() == other.standard.five_ghz()
            && 10 * a.abs_diff(b) < width(self) + width(other)
    }

    /// Counts the pairs of its stations, on all channels. `others` is the number of pairs of the
    /// media before it.
    fn check_pairs(&self, links: Links<'_>, others: usize) -> Result<usize, Located> {
        let stations = self.stations(links).len();
        let pairs = stations * stations * self.channels as usize;
        match others + pairs <= MOST_PAIRS {
            true => Ok(pairs),
            false => {
                let what =
                    format!("it has {} channels with {stations} stations each", self.channels);
                let right = "stations × stations × channels of all media are at most 16,000,000";
                Err(WrongKey::new("channels", what, right).of("medium", &self.name.text))
            }
        }
    }

    fn check_overlaps(&self, others: &[Medium]) -> Result<(), Located> {
        let Some(other) = others.iter().find(|other| self.overlaps(other)) else {
            return Ok(());
        };
        let (name, other) = (&self.name.text, &other.name.text);
        let what = format!("media `{other}` and `{name}` are on channels that overlap");
        let right = "give their links one medium, or put them on channels apart: 1, 6 and 11, or 36, 40, \
             44 …";
        Err(Located::key(format!("medium.{name}.channel"), Error::new(what).help(right)))
    }

    fn check_channel(&self) -> Result<(), WrongKey> {
        CHANNELS.check("channels", &self.channels)?;
        ATTEMPTS.check("attempts", &self.attempts)?;
        ACK_TIMEOUT.check("ack_timeout", &self.ack_timeout)?;
        STREAMS.check("streams", &self.streams)?;
        let plain = !self.wide && !self.short_guard && self.streams == 1;
        match self.standard.high_throughput() || plain {
            true => Ok(()),
            false => {
                let standard = format!("{:?}", self.standard).to_lowercase();
                let right = "only n-2.4 and n-5 have `wide`, `short_guard` and `streams`";
                Err(WrongKey::value("standard", standard, right))
            }
        }
    }

    fn check_rates(&self) -> Result<(), WrongKey> {
        self.check_rate("rate", self.rate)?;
        self.check_rate("broadcast", self.broadcast)?;
        if self.control == RateControl::Ideal && self.radio.is_none() {
            let right = "it needs `radio`, which determines signal strengths";
            return Err(WrongKey::value("control", "ideal", right));
        }
        self.radio.as_ref().map_or(Ok(()), Radio::check).map_err(WrongKey::from)
    }

    fn check_station(
        &self,
        links: Links<'_>,
        station: &Station,
        stations: &[String],
    ) -> Result<(), Located> {
        let (of, name) = (&self.name.text, &station.name.text);
        if !links.nodes.members(name).iter().all(|member| stations.contains(member)) {
            let what = format!("medium `{of}`: no link begins or ends at station `{name}`");
            let all = list(stations.iter().map(String::as_str));
            let error = Error::new(what).help(format!("its stations are {all}"));
            return Err(Located::at(&station.name, error));
        }
        let listed = links.nodes.all.iter().any(|node| node.name.text == *name);
        let checked = self.check_rate("rate", station.rate).and_then(|()| station.check(listed));
        checked.map_err(|wrong| {
            let what = format!("station `{name}` of medium `{of}`: {}", wrong.what);
            let key = format!("medium.{of}.station.{name}.{}", wrong.key);
            Located::key(key, Error::new(what).help(wrong.right))
        })
    }

    /// Checks that links lead from or to access points, and not from one to another.
    fn check_points(
        &self,
        links: Links<'_>,
        access: &Name,
        points: &[String],
    ) -> Result<(), Located> {
        let is_point = |end: &Option<Name>| {
            end.as_ref().is_some_and(|end| end.text == access.text || points.contains(&end.text))
        };
        for link in links.on(&self.name.text) {
            let what = match (is_point(&link.from), is_point(&link.to)) {
                (true, true) => "both ends are access points",
                (false, false) if self.routing == Some(Routing::Association) => {
                    "neither end is an access point"
                }
                _ => continue,
            };
            let error = Error::new(format!("link `{}`: {what}", link.name.text));
            let right = format!("it leads from or to `{}`", access.text);
            return Err(Located::at(&link.name, error.help(right)));
        }
        Ok(())
    }

    /// Checks that the station at the end of a link can hear frames of the slowest mode.
    fn check_range(&self, links: Links<'_>) -> Result<(), Located> {
        let Some(radio) = &self.radio else {
            return Ok(());
        };
        if self.routing.is_some() {
            return Ok(()); // a link is a route over other links, whose stations may move
        }
        for link in links.on(&self.name.text) {
            let stands = |node: &Option<Name>| {
                self.place_of(links, node.as_ref().map_or("", |node| node.text.as_str()))
            };
            let (Some(from), Some(to)) = (stands(&link.from), stands(&link.to)) else {
                continue; // the station moves, or its position is drawn
            };
            let metres = from.distance(to).max(1.0);
            let dbm = radio.expand(self.standard.loss_at_1m_db()).received_dbm(from, to);
            if dbm < radio.noise_dbm || dbm < radio.sense_dbm {
                let error = Error::new(format!(
                    "link `{}`: its stations are {metres:.0} m apart, out of range: {dbm:.1} dBm \
                     arrive, with noise of {} dBm and a threshold of {} dBm",
                    link.name.text, radio.noise_dbm, radio.sense_dbm
                ));
                let help = "bring them nearer, or raise the power";
                return Err(Located::at(&link.name, error.help(help)));
            }
        }
        Ok(())
    }

    /// The position of a station, if it is known before a run.
    fn place_of(&self, links: Links<'_>, name: &str) -> Option<Position> {
        let nodes = links.nodes;
        if nodes.all.iter().any(|node| node.count > 1 && node.name.text == name) {
            return None; // each member has its own position
        }
        for node in nodes.all {
            let members = nodes.members(&node.name.text);
            if let Some(member) = members.iter().position(|own| own == name) {
                return node.place(member as u32).map(|(x, y)| Position { x, y });
            }
        }
        let own = self.station.iter().find(|station| station.name.text == name);
        Some(own.map_or(Position::default(), Station::position))
    }
}
