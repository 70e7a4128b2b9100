//! Media: what is right in them, and what a plan has of them.

use crate::error::{Error, list};
use crate::plan::{DEFAULT_QUEUE, PlanQueue, expand_queue};
use crate::schema::{Link, Medium, Name, Queue, Radio, RateControl, Scenario, Standard, Station};
use crate::validate::{Placed, about, at, check_queue, unique};
use units::{Rate, Span};

/// A channel of a plan with its stations.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanMedium {
    /// Its name.
    pub name: String,
    /// The amendment.
    pub standard: Standard,
    /// A channel of 40 MHz.
    pub wide: bool,
    /// A guard interval of 400 ns.
    pub short_guard: bool,
    /// Spatial streams.
    pub streams: u32,
    /// At which rate data is sent, one of the standard's.
    pub rate: Rate,
    /// How stations choose the rate of a packet.
    pub control: RateControl,
    /// Attempts, at least 1.
    pub attempts: u32,
    /// How long a sender waits for an acknowledgement, if not as long as the standard says.
    pub ack_timeout: Option<Span>,
    /// Propagation, with the loss at one metre.
    pub radio: Option<Radio>,
    /// Its stations in the order in which links name them.
    pub stations: Vec<PlanStation>,
}

/// A station of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanStation {
    /// The node that it is.
    pub name: String,
    /// The queueing discipline of its host.
    pub queue: PlanQueue,
    /// Packets that the driver takes from it.
    pub ring: u32,
    /// Rate at which it sends, if not that of the medium.
    pub rate: Option<Rate>,
    /// Where it is, in metres.
    pub place: (f64, f64),
    /// Probability that a packet is lost whatever the attempts.
    pub residual_loss: f64,
    /// Mean time between bursts of noise.
    pub noise: Option<Span>,
}

/// Where on a medium a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Air {
    /// Index of the medium.
    pub medium: usize,
    /// Index of the sending station in it.
    pub from: usize,
    /// Index of the receiving station in it.
    pub to: usize,
}

/// Packets that a driver takes, unless told.
const DEFAULT_RING: u32 = 64;

/// Most stations of a medium: each pair of them has a path loss.
const MOST_STATIONS: usize = 1000;

impl Standard {
    fn high_throughput(self) -> bool {
        matches!(self, Standard::N2 | Standard::N5)
    }

    /// Path loss at one metre in dB: 40.0 at 2.4 GHz, 46.7 at 5.
    fn loss_at_1m_db(self) -> f64 {
        if matches!(self, Standard::A | Standard::N5) { 46.7 } else { 40.0 }
    }
}

/// The rates of a medium in bit/s, from slowest to fastest.
pub fn rates(standard: Standard, wide: bool, short_guard: bool, streams: u32) -> Vec<u64> {
    if !standard.high_throughput() {
        return match standard {
            Standard::B | Standard::BShort => vec![1_000_000, 2_000_000, 5_500_000, 11_000_000],
            _ => [6, 9, 12, 18, 24, 36, 48, 54].map(|mbps| mbps * 1_000_000).into(),
        };
    }
    let symbol_ns = if short_guard { 3_600 } else { 4_000 };
    let bits = |one: u64| u64::from(streams) * if wide { one * 54 / 26 } else { one };
    [26, 52, 78, 104, 156, 208, 234, 260].map(|one| bits(one) * 1_000_000_000 / symbol_ns).into()
}

fn own_rates(medium: &Medium) -> Vec<u64> {
    rates(medium.standard, medium.wide, medium.short_guard, medium.streams)
}

/// The rate of the standard that a person means, who writes 72.2 for 72.222….
fn meant(medium: &Medium, rate: Rate) -> Option<Rate> {
    let tenths = |rate: u64| (rate + 50_000) / 100_000;
    own_rates(medium).into_iter().find(|own| tenths(*own) == tenths(rate.0)).map(Rate)
}

/// Checks the media of a scenario, and the links on them.
pub(crate) fn check(scenario: &Scenario) -> Result<(), Placed> {
    unique("medium", scenario.medium.iter().map(|medium| &medium.name))?;
    for link in scenario.link.iter().filter(|link| link.medium.is_some()) {
        check_link(scenario, link)?;
    }
    for (index, medium) in scenario.medium.iter().enumerate() {
        check_medium(scenario, medium)?;
        check_range(scenario, medium)?;
        let mut others = scenario.medium[..index].iter();
        if let Some(other) = others.find(|other| overlap(medium, other)) {
            let (name, other) = (&medium.name.text, &other.name.text);
            let message = format!("media `{other}` and `{name}` are on channels that overlap");
            let right = "give their links one medium, or put them on channels apart: 1, 6 and 11, or 36, 40, 44 …";
            return Err(about(format!("medium.{name}.channel"), Error::new(message).help(right)));
        }
    }
    Ok(())
}

/// Whether two media are on channels that overlap. Channels are numbered by 5 MHz in both bands.
fn overlap(one: &Medium, other: &Medium) -> bool {
    let (Some(a), Some(b)) = (one.channel, other.channel) else {
        return false;
    };
    let five_ghz = |medium: &Medium| matches!(medium.standard, Standard::A | Standard::N5);
    let width = |medium: &Medium| match (medium.wide, five_ghz(medium)) {
        (true, _) => 40,
        (false, true) => 20,
        (false, false) => 25, // 22 MHz of DSSS
    };
    five_ghz(one) == five_ghz(other) && 10 * a.abs_diff(b) < width(one) + width(other)
}

fn check_medium(scenario: &Scenario, medium: &Medium) -> Result<(), Placed> {
    let name = &medium.name.text;
    let wrong = |field: &str, value: String, right: &str| {
        let error = Error::new(format!("medium `{name}`: {field} is {value}")).help(right);
        Err(about(format!("medium.{name}.{field}"), error))
    };
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
        let all = own_rates(medium).into_iter().map(|rate| Rate(rate).to_string());
        format!("its rates are {}", all.collect::<Vec<_>>().join(", "))
    };
    if let Some(rate) = medium.rate.filter(|rate| meant(medium, *rate).is_none()) {
        return wrong("rate", rate.to_string(), &known());
    }
    if medium.control == RateControl::Ideal && medium.radio.is_none() {
        return wrong(
            "control",
            "ideal".into(),
            "it needs `radio`, which says how strong signals are",
        );
    }
    check_radio(medium)
        .or_else(|(field, value)| wrong(field, value, "a number that a radio has"))?;
    unique("station", medium.station.iter().map(|station| &station.name))?;
    let stations = stations(scenario, name);
    if stations.len() > MOST_STATIONS {
        return wrong("station", format!("one of {}", stations.len()), "a medium has at most 1000");
    }
    if stations.is_empty() {
        let error = Error::new(format!("medium `{name}` has no stations"));
        let help = format!("write links with `medium = \"{name}\"`, `from` and `to`");
        return Err(at(&medium.name, error.help(help)));
    }
    for station in &medium.station {
        check_station(medium, station, &stations, &known)?;
    }
    Ok(())
}

fn check_radio(medium: &Medium) -> Result<(), (&'static str, String)> {
    let Some(radio) = &medium.radio else {
        return Ok(());
    };
    let loss = radio.loss_at_1m_db.unwrap_or(medium.standard.loss_at_1m_db());
    for (field, value, least, most) in [
        ("radio.power_dbm", radio.power_dbm, -50.0, 60.0),
        ("radio.loss_at_1m_db", loss, 0.0, 150.0),
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
fn check_range(scenario: &Scenario, medium: &Medium) -> Result<(), Placed> {
    let Some(radio) = &medium.radio else {
        return Ok(());
    };
    let place = |node: &Option<Name>| {
        let own =
            |station: &&Station| node.as_ref().is_some_and(|node| node.text == station.name.text);
        medium.station.iter().find(own).map_or((0.0, 0.0), |station| (station.x, station.y))
    };
    let of_medium =
        |link: &&Link| link.medium.as_ref().is_some_and(|own| own.text == medium.name.text);
    for link in scenario.link.iter().filter(of_medium) {
        let ((x1, y1), (x2, y2)) = (place(&link.from), place(&link.to));
        let metres = libm::hypot(x1 - x2, y1 - y2).max(1.0);
        let loss = radio.loss_at_1m_db.unwrap_or(medium.standard.loss_at_1m_db());
        let dbm = radio.power_dbm - loss - 10.0 * radio.exponent * libm::log10(metres);
        if dbm < radio.noise_dbm || dbm < radio.sense_dbm {
            let message = format!(
                "link `{}`: its stations are {metres:.0} m apart, out of range: {dbm:.1} dBm arrive, with noise of {} \
                 dBm and a threshold of {} dBm",
                link.name.text, radio.noise_dbm, radio.sense_dbm
            );
            return Err(at(
                &link.name,
                Error::new(message).help("bring them nearer, or raise the power"),
            ));
        }
    }
    Ok(())
}

fn check_station(
    medium: &Medium,
    station: &Station,
    stations: &[&str],
    known: &dyn Fn() -> String,
) -> Result<(), Placed> {
    let (of, name) = (&medium.name.text, &station.name.text);
    if !stations.contains(&name.as_str()) {
        let error =
            Error::new(format!("medium `{of}`: no link begins or ends at station `{name}`"));
        let all = list(stations.iter().copied());
        return Err(at(&station.name, error.help(format!("its stations are {all}"))));
    }
    let wrong = |field: &str, value: String, right: &str| {
        let error = Error::new(format!("station `{name}` of medium `{of}`: {field} is {value}"));
        Err(about(format!("medium.{of}.station.{name}.{field}"), error.help(right)))
    };
    if let Some(rate) = station.rate.filter(|rate| meant(medium, *rate).is_none()) {
        return wrong("rate", rate.to_string(), &known());
    }
    if !(1.0..=1e6).contains(&station.ring.0) {
        return wrong("ring", station.ring.to_string(), "it is at least 1 packet");
    }
    if let Some(queue) = &station.queue {
        check_queue(queue).or_else(|(field, value, right)| wrong(&field, value, right))?;
        if matches!(queue, Queue::Red(_) | Queue::Pie(_)) {
            let right = "a host has droptail, codel, fq-codel or \"unlimited\"";
            return wrong("queue", "one of a router".into(), right);
        }
    }
    if !(0.0..=1.0).contains(&station.residual_loss) {
        return wrong("residual_loss", station.residual_loss.to_string(), "it lies from 0 to 1");
    }
    if station.noise == Some(Span::ZERO) {
        return wrong("noise", "0 s".into(), "it is the mean time between two bursts");
    }
    for (field, value) in [("x", station.x), ("y", station.y)] {
        if !(-1e6..=1e6).contains(&value) {
            return wrong(field, value.to_string(), "a place within 1000 km, in metres");
        }
    }
    Ok(())
}

fn check_link(scenario: &Scenario, link: &Link) -> Result<(), Placed> {
    let name = &link.name.text;
    let wrong = |field: &str, what: &str, right: &str| {
        let error = Error::new(format!("link `{name}`: {what}")).help(right);
        Err(about(format!("link.{name}.{field}"), error))
    };
    let medium = link.medium.clone().unwrap_or_default();
    if !scenario.medium.iter().any(|known| known.name.text == medium.text) {
        let error = Error::new(format!("link `{name}`: there is no medium `{}`", medium.text));
        let all = list(scenario.medium.iter().map(|known| known.name.text.as_str()));
        return Err(at(&medium, error.help(format!("the media are {all}"))));
    }
    let (Some(from), Some(to)) = (&link.from, &link.to) else {
        return wrong("medium", "`medium` without `from` and `to`", "they name its stations");
    };
    if from.text == to.text {
        return wrong("to", "it ends at the station where it begins", "name another station");
    }
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
    Ok(())
}

/// The stations of the medium that is called so, in the order in which links name them.
fn stations<'a>(scenario: &'a Scenario, medium: &str) -> Vec<&'a str> {
    let own = |link: &&Link| link.medium.as_ref().is_some_and(|name| name.text == medium);
    let mut names: Vec<&str> = Vec::new();
    for link in scenario.link.iter().filter(own) {
        for name in [&link.from, &link.to].into_iter().flatten() {
            if !names.contains(&name.text.as_str()) {
                names.push(&name.text);
            }
        }
    }
    names
}

/// The media of a scenario that has been checked.
pub(crate) fn expand(scenario: &Scenario) -> Vec<PlanMedium> {
    let media = scenario.medium.iter().map(|medium| {
        let fastest = own_rates(medium).pop().unwrap_or_default();
        let planned = |name: &&str| plan_station(medium, name);
        PlanMedium {
            name: medium.name.text.clone(),
            standard: medium.standard,
            wide: medium.wide,
            short_guard: medium.short_guard,
            streams: medium.streams,
            rate: medium.rate.and_then(|rate| meant(medium, rate)).unwrap_or(Rate(fastest)),
            control: medium.control,
            attempts: medium.attempts,
            ack_timeout: medium.ack_timeout,
            radio: medium.radio.map(|radio| Radio {
                loss_at_1m_db: radio.loss_at_1m_db.or(Some(medium.standard.loss_at_1m_db())),
                ..radio
            }),
            stations: stations(scenario, &medium.name.text).iter().map(planned).collect(),
        }
    });
    media.collect()
}

fn plan_station(medium: &Medium, name: &str) -> PlanStation {
    let own = medium.station.iter().find(|station| station.name.text == name);
    PlanStation {
        name: name.into(),
        queue: own.and_then(|own| own.queue.as_ref()).map_or(DEFAULT_QUEUE, expand_queue),
        ring: own.map_or(DEFAULT_RING, |own| own.ring.0 as u32),
        rate: own.and_then(|own| own.rate).and_then(|rate| meant(medium, rate)),
        place: own.map_or((0.0, 0.0), |own| (own.x, own.y)),
        residual_loss: own.map_or(0.0, |own| own.residual_loss),
        noise: own.and_then(|own| own.noise),
    }
}

/// Where on its medium a link is, if it is a part of one.
pub(crate) fn place(scenario: &Scenario, link: &Link) -> Option<Air> {
    let name = link.medium.as_ref()?;
    let medium = scenario.medium.iter().position(|known| known.name.text == name.text)?;
    let stations = stations(scenario, &name.text);
    let find = |node: &Option<Name>| {
        stations.iter().position(|station| node.as_ref().is_some_and(|node| node.text == *station))
    };
    Some(Air { medium, from: find(&link.from)?, to: find(&link.to)? })
}
