//! Media: what is right in them, and what a plan has of them.

use crate::error::{Error, list};
use crate::link::Link;
use crate::name::Name;
use crate::node::Node;
use crate::queue::{DEFAULT_QUEUE, check_host_queue};
use crate::report::{Located, unique};
use crate::schema::{Medium, Radio, Station};
use crate::station::PlanStation;
use crate::topology::Topology;
use network::adhoc::Routing;
use network::{Place, RateControl, WifiSettings};
use units::{Rate, Span};

/// Packets that a driver takes, unless told.
const DEFAULT_RING: u32 = 64;

/// The same where packets are routed: what the driver has taken can go nowhere else.
const ROUTED_RING: u32 = 2;

/// Most channels of a medium.
const MOST_CHANNELS: u32 = 64;

/// Most stations of a medium or a bus.
pub(crate) const MOST_STATIONS: usize = 1000;

/// Most pairs of stations of all channels: each has a path loss, and with routing a quality, in 24
/// B together.
const MOST_PAIRS: usize = 16_000_000;

fn own_rates(medium: &Medium) -> Vec<Rate> {
    medium.standard.rates(medium.wide, medium.short_guard, medium.streams)
}

/// The rate of the standard that a person means, who writes 72.2 for 72.222….
fn meant(medium: &Medium, rate: Rate) -> Option<Rate> {
    let tenths = |rate: Rate| (rate.0 + 50_000) / 100_000;
    own_rates(medium).into_iter().find(|own| tenths(*own) == tenths(rate))
}

/// Checks the media of a scenario.
pub(crate) fn check(scenario: Topology<'_>) -> Result<(), Located> {
    let mut pairs = 0;
    for (index, medium) in scenario.medium.iter().enumerate() {
        check_medium(scenario, medium)?;
        let stations = scenario.links.stations(&medium.name.text, &medium.nodes).len();
        pairs += stations * stations * medium.channels as usize;
        if pairs > MOST_PAIRS {
            let name = &medium.name.text;
            let message = format!(
                "medium `{name}`: channels is {}, with {stations} stations each",
                medium.channels
            );
            let right = "stations × stations × channels of all media are at most 16,000,000";
            return Err(Located::key(
                format!("medium.{name}.channels"),
                Error::new(message).help(right),
            ));
        }
        check_range(scenario, medium)?;
        let mut others = scenario.medium[..index].iter();
        if let Some(other) = others.find(|other| overlap(medium, other)) {
            let (name, other) = (&medium.name.text, &other.name.text);
            let message = format!("media `{other}` and `{name}` are on channels that overlap");
            let right = "give their links one medium, or put them on channels apart: 1, 6 and 11, or 36, 40, 44 …";
            return Err(Located::key(
                format!("medium.{name}.channel"),
                Error::new(message).help(right),
            ));
        }
    }
    Ok(())
}

/// Whether two media are on channels that overlap. Channels are numbered by 5 MHz in both bands.
fn overlap(one: &Medium, other: &Medium) -> bool {
    let (Some(a), Some(b)) = (one.channel, other.channel) else {
        return false;
    };
    let five_ghz = |medium: &Medium| medium.standard.five_ghz();
    let width = |medium: &Medium| match (medium.wide, five_ghz(medium)) {
        (true, _) => 40,
        (false, true) => 20,
        (false, false) => 25, // 22 MHz of DSSS
    };
    five_ghz(one) == five_ghz(other) && 10 * a.abs_diff(b) < width(one) + width(other)
}

fn check_medium(scenario: Topology<'_>, medium: &Medium) -> Result<(), Located> {
    let name = &medium.name.text;
    let wrong = |field: &str, value: String, right: &str| {
        let error = Error::new(format!("medium `{name}`: {field} is {value}")).help(right);
        Err(Located::key(format!("medium.{name}.{field}"), error))
    };
    if !(1..=MOST_CHANNELS).contains(&medium.channels) {
        return wrong("channels", medium.channels.to_string(), "it lies from 1 to 64");
    }
    if medium.attempts == 0 || medium.attempts > 255 {
        return wrong("attempts", medium.attempts.to_string(), "it lies from 1 to 255");
    }
    let waits = Span::from_seconds(1e-5)..=Span::from_seconds(1e-2);
    if let Some(timeout) = medium.ack_timeout.filter(|timeout| !waits.contains(timeout)) {
        return wrong("ack_timeout", timeout.to_string(), "it lies from 10 us to 10 ms");
    }
    if !(1..=4).contains(&medium.streams) {
        return wrong("streams", medium.streams.to_string(), "it lies from 1 to 4");
    }
    let plain = !medium.wide && !medium.short_guard && medium.streams == 1;
    if !medium.standard.high_throughput() && !plain {
        let right = "`wide`, `short_guard` and `streams` are of n-2.4 and n-5";
        return wrong("standard", format!("{:?}", medium.standard).to_lowercase(), right);
    }
    let known = || {
        let all = own_rates(medium).into_iter().map(|rate| rate.to_string());
        format!("its rates are {}", all.collect::<Vec<_>>().join(", "))
    };
    for (field, rate) in [("rate", medium.rate), ("broadcast", medium.broadcast)] {
        if let Some(rate) = rate.filter(|rate| meant(medium, *rate).is_none()) {
            return wrong(field, rate.to_string(), &known());
        }
    }
    if medium.control == RateControl::Ideal && medium.radio.is_none() {
        return wrong(
            "control",
            "ideal".into(),
            "it needs `radio`, which says how strong signals are",
        );
    }
    if let Some(radio) = &medium.radio {
        check_radio(radio)
            .or_else(|(field, value)| wrong(field, value, "a number that a radio has"))?;
    }
    unique("station", medium.station.iter().map(|station| &station.name))?;
    let stations = scenario.links.stations(&medium.name.text, &medium.nodes);
    if stations.len() > MOST_STATIONS {
        return wrong("station", format!("one of {}", stations.len()), "a medium has at most 1000");
    }
    if stations.is_empty() {
        let error = Error::new(format!("medium `{name}` has no stations"));
        let help = format!("write links with `medium = \"{name}\"`, `from` and `to`");
        return Err(Located::at(&medium.name, error.help(help)));
    }
    for station in &medium.station {
        check_station(scenario, medium, station, &stations, &known)?;
    }
    Ok(())
}

/// Whether routing, access points and the links go together.
pub(crate) fn check_routing(scenario: Topology<'_>, medium: &Medium) -> Result<(), Located> {
    let name = &medium.name.text;
    let wrong = |field: &str, what: String, right: &str| {
        let error = Error::new(format!("medium `{name}`: {what}")).help(right);
        Err(Located::key(format!("medium.{name}.{field}"), error))
    };
    let finds_any = matches!(medium.routing, Some(Routing::Oracle | Routing::Association));
    match &medium.access {
        Some(_) if !finds_any => {
            let right = "its routing is \"association\" or \"oracle\": protocols know addresses of single nodes";
            wrong("access", "it has `access` points".into(), right)
        }
        None if medium.routing == Some(Routing::Association) => {
            let right = "name the node or group whose nodes are access points";
            wrong("routing", "association without `access`".into(), right)
        }
        _ => {
            let known = scenario.links.stations(name, &medium.nodes);
            let own =
                medium.access.iter().flat_map(|access| scenario.links.nodes.members(&access.text));
            match own.into_iter().find(|node| !known.contains(node)) {
                Some(node) => wrong("access", format!("`{node}` is no station of it"), "name one"),
                None => check_points(scenario, medium),
            }
        }
    }
}

/// Whether links lead from or to access points, and not from one to another.
fn check_points(scenario: Topology<'_>, medium: &Medium) -> Result<(), Located> {
    let Some(access) = &medium.access else {
        return Ok(());
    };
    let points = scenario.links.nodes.members(&access.text);
    let is_point = |end: &Option<Name>| {
        end.as_ref().is_some_and(|end| end.text == access.text || points.contains(&end.text))
    };
    let own = |link: &&Link| link.medium.as_ref().is_some_and(|own| own.text == medium.name.text);
    for link in scenario.links.all.iter().filter(own) {
        let what = match (is_point(&link.from), is_point(&link.to)) {
            (true, true) => "both ends are access points",
            (false, false) if medium.routing == Some(Routing::Association) => {
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

impl Radio {
    /// The radio of a plan; the path loss at one metre is `loss_at_1m_db` unless the scenario gives
    /// another.
    pub(crate) fn expand(self, loss_at_1m_db: f64) -> network::Radio {
        let Radio { power_dbm, exponent, noise_dbm, sense_dbm, .. } = self;
        let loss_at_1m_db = self.loss_at_1m_db.unwrap_or(loss_at_1m_db);
        network::Radio { power_dbm, loss_at_1m_db, exponent, noise_dbm, sense_dbm }
    }
}

/// Whether the numbers of a radio make sense.
pub(crate) fn check_radio(radio: &Radio) -> Result<(), (&'static str, String)> {
    for (field, value, least, most) in [
        ("radio.power_dbm", radio.power_dbm, -50.0, 60.0),
        ("radio.loss_at_1m_db", radio.loss_at_1m_db.unwrap_or_default(), 0.0, 150.0),
        ("radio.exponent", radio.exponent, 1.0, 10.0),
        ("radio.noise_dbm", radio.noise_dbm, -150.0, 0.0),
        ("radio.sense_dbm", radio.sense_dbm, -150.0, 0.0),
    ] {
        if !(least..=most).contains(&value) {
            return Err((field, value.to_string()));
        }
    }
    Ok(())
}

/// Whether who is at the end of a link hears at all what is sent in the slowest mode.
fn check_range(scenario: Topology<'_>, medium: &Medium) -> Result<(), Located> {
    let Some(radio) = &medium.radio else {
        return Ok(());
    };
    if medium.routing.is_some() {
        return Ok(()); // a link is a way over others, which may move
    }
    let of_medium =
        |link: &&Link| link.medium.as_ref().is_some_and(|own| own.text == medium.name.text);
    for link in scenario.links.all.iter().filter(of_medium) {
        let stands = |node: &Option<Name>| {
            let name = node.as_ref().map_or("", |node| node.text.as_str());
            place_of(scenario, medium, name)
        };
        let (Some((x1, y1)), Some((x2, y2))) = (stands(&link.from), stands(&link.to)) else {
            continue; // it moves, or will be put somewhere
        };
        let (from, to) = (Place { x: x1, y: y1 }, Place { x: x2, y: y2 });
        let metres = from.distance(to).max(1.0);
        let dbm = radio.expand(medium.standard.loss_at_1m_db()).received_dbm(from, to);
        if dbm < radio.noise_dbm || dbm < radio.sense_dbm {
            let message = format!(
                "link `{}`: its stations are {metres:.0} m apart, out of range: {dbm:.1} dBm arrive, with noise of {} \
                 dBm and a threshold of {} dBm",
                link.name.text, radio.noise_dbm, radio.sense_dbm
            );
            return Err(Located::at(
                &link.name,
                Error::new(message).help("bring them nearer, or raise the power"),
            ));
        }
    }
    Ok(())
}

/// Where a station is, if that is known before a run.
fn place_of(scenario: Topology<'_>, medium: &Medium, name: &str) -> Option<(f64, f64)> {
    let of_group = |node: &Node| {
        let member =
            scenario.links.nodes.members(&node.name.text).iter().position(|own| own == name)?;
        let place = node.places.as_ref().and_then(|places| places.get(member).copied());
        Some(node.x.zip(node.y).or(place))
    };
    if scenario.links.nodes.all.iter().any(|node| node.count > 1 && node.name.text == name) {
        return None; // each has its own
    }
    match scenario.links.nodes.all.iter().find_map(of_group) {
        Some(place) => place,
        None => {
            let own = medium.station.iter().find(|station| station.name.text == name);
            Some(own.map_or((0.0, 0.0), own_place))
        }
    }
}

fn own_place(station: &Station) -> (f64, f64) {
    (station.x.unwrap_or_default(), station.y.unwrap_or_default())
}

fn check_station(
    scenario: Topology<'_>,
    medium: &Medium,
    station: &Station,
    stations: &[String],
    known: &dyn Fn() -> String,
) -> Result<(), Located> {
    let (of, name) = (&medium.name.text, &station.name.text);
    let members = scenario.links.nodes.members(name);
    if !members.iter().all(|member| stations.contains(member)) {
        let error =
            Error::new(format!("medium `{of}`: no link begins or ends at station `{name}`"));
        let all = list(stations.iter().map(String::as_str));
        return Err(Located::at(&station.name, error.help(format!("its stations are {all}"))));
    }
    let wrong = |field: &str, value: String, right: &str| {
        let error = Error::new(format!("station `{name}` of medium `{of}`: {field} is {value}"));
        Err(Located::key(format!("medium.{of}.station.{name}.{field}"), error.help(right)))
    };
    if let Some(rate) = station.rate.filter(|rate| meant(medium, *rate).is_none()) {
        return wrong("rate", rate.to_string(), &known());
    }
    if let Some(ring) = station.ring.filter(|ring| !(1.0..=1e6).contains(&ring.0)) {
        return wrong("ring", ring.to_string(), "it is at least 1 packet");
    }
    if let Some(queue) = &station.queue {
        check_host_queue(queue).map_err(|bad| {
            let what = format!("station `{name}` of medium `{of}`: {}", bad.what);
            let key = format!("medium.{of}.station.{name}.{}", bad.key);
            Located::key(key, Error::new(what).help(bad.right))
        })?;
    }
    if !(0.0..=1.0).contains(&station.residual_loss) {
        return wrong("residual_loss", station.residual_loss.to_string(), "it lies from 0 to 1");
    }
    if station.noise == Some(Span::ZERO) {
        return wrong("noise", "0 s".into(), "it is the mean time between two bursts");
    }
    let listed = scenario.links.nodes.all.iter().any(|node| node.name.text == *name);
    for (field, value) in [("x", station.x), ("y", station.y)] {
        match value {
            Some(value) if listed => {
                let right = "its place is that of the node of this name: write it there";
                return wrong(field, value.to_string(), right);
            }
            Some(value) if !(-1e6..=1e6).contains(&value) => {
                return wrong(field, value.to_string(), "a place within 1000 km, in metres");
            }
            _ => {}
        }
    }
    Ok(())
}

/// A channel of a medium that has been checked.
pub(crate) fn expand_wifi(
    scenario: Topology<'_>,
    medium: &Medium,
    stations: &[String],
) -> WifiSettings {
    let points = medium.access.iter().flat_map(|access| scenario.links.nodes.members(&access.text));
    let place = |point: String| stations.iter().position(|station| *station == point);
    let all = own_rates(medium);
    let (slowest, fastest) = (all[0], all[all.len() - 1]); // a standard has rates
    let rate = medium.rate.and_then(|rate| meant(medium, rate)).unwrap_or(fastest);
    let broadcast = medium.broadcast.and_then(|rate| meant(medium, rate));
    WifiSettings {
        standard: medium.standard,
        wide: medium.wide,
        short_guard: medium.short_guard,
        streams: medium.streams,
        rate,
        control: medium.control,
        broadcast: broadcast.unwrap_or(match medium.control {
            RateControl::Fixed => rate,
            RateControl::Arf | RateControl::Ideal => slowest,
        }),
        attempts: medium.attempts,
        ack_timeout: medium.ack_timeout,
        after_collision: medium.after_collision,
        radio: medium.radio.map(|radio| radio.expand(medium.standard.loss_at_1m_db())),
        routing: medium.routing,
        access: points.filter_map(place).collect(),
    }
}

/// One of its stations.
pub(crate) fn expand_station(scenario: Topology<'_>, medium: &Medium, name: &str) -> PlanStation {
    let own = medium.station.iter();
    let mut own =
        own.filter(|own| scenario.links.nodes.members(&own.name.text).iter().any(|it| it == name));
    let own = own.next();
    let ring = if medium.routing.is_some() { ROUTED_RING } else { DEFAULT_RING };
    PlanStation {
        queue: own.and_then(|own| own.queue.as_ref()).unwrap_or(&DEFAULT_QUEUE).clone(),
        ring: own.and_then(|own| own.ring).map_or(ring, |ring| ring.0 as u32),
        rate: own.and_then(|own| own.rate).and_then(|rate| meant(medium, rate)),
        place: own.map_or((0.0, 0.0), own_place),
        residual_loss: own.map_or(0.0, |own| own.residual_loss),
        noise: own.and_then(|own| own.noise),
        ..PlanStation::bare(scenario.links, name, DEFAULT_QUEUE)
    }
}
