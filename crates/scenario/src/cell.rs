//! Buses and cells: what is right in them, and what a plan has of them.

use crate::air::{MOST_STATIONS, check_radio};
use crate::error::{Error, list};
use crate::queue::check_host_queue;
use crate::report::{Located, WrongKey, unique};
use crate::schema::{Bus, Cell, CellUser};
use crate::station::PlanStation;
use crate::topology::Topology;
use network::{BusSettings, CellSettings, DropTail, Fading, Queue};
use units::Span;

/// The queue of a device on a bus, as ns-3 has it.
const BUS_QUEUE: Queue = Queue::DropTail(DropTail::of(100));

/// The queue of a user of a cell.
const CELL_QUEUE: Queue = Queue::DropTail(DropTail::of(300));

/// Path loss at one metre in dB: free space at 2 GHz.
const LOSS_AT_1M_DB: f64 = 38.5;

/// Most users of a cell.
const MOST_USERS: usize = 1000;

/// Checks the buses and cells of a scenario.
pub(crate) fn check(scenario: Topology<'_>) -> Result<(), Located> {
    scenario.bus.iter().try_for_each(|bus| check_bus(scenario, bus))?;
    scenario.cell.iter().try_for_each(|cell| check_cell(scenario, cell))
}

fn check_bus(scenario: Topology<'_>, bus: &Bus) -> Result<(), Located> {
    let name = &bus.name.text;
    match scenario.links.stations(name, &bus.nodes).len() {
        2..=MOST_STATIONS => {}
        0 | 1 => {
            let error = Error::new(format!("bus `{name}` has no stations"));
            let help = format!("write links with `medium = \"{name}\"`, `from` and `to`");
            return Err(Located::at(&bus.name, error.help(help)));
        }
        many => {
            let error = Error::new(format!("bus `{name}` has {many} stations"));
            return Err(Located::at(&bus.name, error.help("a bus has at most 1000")));
        }
    }
    let queue = bus.queue.as_ref().map_or(Ok(()), check_host_queue);
    queue.map_err(|wrong| wrong.of("bus", name))
}

fn check_cell(scenario: Topology<'_>, cell: &Cell) -> Result<(), Located> {
    let name = &cell.name.text;
    let wrong = |field: &str, value: String, right: &str| {
        let error = Error::new(format!("cell `{name}`: {field} is {value}")).help(right);
        Err(Located::key(format!("cell.{name}.{field}"), error))
    };
    let group = scenario.links.nodes.members(&cell.base.text).len();
    if group != 1 {
        let what = format!("`{}`, a group of {group}", cell.base.text);
        return wrong("base", what, "it is one node: a cell has one base station");
    }
    let users = scenario.links.stations(name, &[]);
    if users.len() < 2 || users.len() > MOST_USERS {
        let error = Error::new(format!("cell `{name}` has {} stations", users.len()));
        let help =
            format!("write links with `medium = \"{name}\"` between `base` and at most 999 users");
        return Err(Located::at(&cell.name, error.help(help)));
    }
    for (field, blocks) in [("blocks", Some(cell.blocks)), ("blocks_up", cell.blocks_up)] {
        if let Some(blocks) = blocks.filter(|blocks| !(1..=500).contains(blocks)) {
            return wrong(field, blocks.to_string(), "it lies from 1 to 500; 100 are 20 MHz");
        }
    }
    if !(0.0..1.0).contains(&cell.overhead) {
        return wrong("overhead", cell.overhead.to_string(), "a part, from 0 to below 1");
    }
    if cell.averaging < Span::millis(1) {
        return wrong("averaging", cell.averaging.to_string(), "it is at least 1 ms");
    }
    if let Some(radio) = &cell.radio {
        check_radio(radio)
            .or_else(|(field, value)| wrong(field, value, "a number that a radio has"))?;
    }
    check_users(cell, &users)?;
    let told = |user: &String| {
        cell.snr_db.is_some() || find(cell, user).is_some_and(|own| own.snr_db.is_some())
    };
    let unknown = users.iter().find(|user| **user != cell.base.text && !told(user));
    let placed = |name: &str| {
        let nodes = scenario.links.nodes.all.iter();
        nodes
            .flat_map(|node| scenario.links.nodes.members(&node.name.text))
            .any(|node| node == name)
    };
    match unknown.filter(|user| cell.radio.is_none() || !placed(user) || !placed(&cell.base.text)) {
        Some(user) => {
            let right = "give `snr_db`, for all or for this user, or `radio` and a [[node]] for it and the base";
            wrong("snr_db", format!("not said of `{user}`"), right)
        }
        None => Ok(()),
    }
}

/// The tables of users: each is a station of the cell, with a signal that can be.
fn check_users(cell: &Cell, stations: &[String]) -> Result<(), Located> {
    let name = &cell.name.text;
    unique("user", cell.user.iter().map(|user| &user.name))?;
    for user in &cell.user {
        if user.name.text == cell.base.text || !stations.contains(&user.name.text) {
            let error = Error::new(format!("cell `{name}`: `{}` is no user of it", user.name.text));
            let all = stations.iter().filter(|user| **user != cell.base.text);
            let help = format!("its users are {}", list(all.map(String::as_str)));
            return Err(Located::at(&user.name, error.help(help)));
        }
    }
    for user in &cell.user {
        let of = format!("user.{}.", user.name.text);
        check_signal(user.snr_db, user.fading, user.queue.as_ref())
            .map_err(|wrong| wrong.prefixed(&of).of("cell", name))?;
    }
    check_signal(cell.snr_db, cell.fading, cell.queue.as_ref())
        .map_err(|wrong| wrong.of("cell", name))
}

fn find<'a>(cell: &'a Cell, name: &str) -> Option<&'a CellUser> {
    cell.user.iter().find(|user| user.name.text == name)
}

fn check_signal(
    snr_db: Option<f64>,
    fading: Option<Fading>,
    queue: Option<&Queue>,
) -> Result<(), WrongKey> {
    if let Some(snr) = snr_db.filter(|snr| !(-50.0..=100.0).contains(snr)) {
        return Err(WrongKey::value("snr_db", snr, "dB, from -50 to 100"));
    }
    if let Some(fading) = fading {
        if !(0.0..=30.0).contains(&fading.deviation_db) {
            let deviation = fading.deviation_db;
            return Err(WrongKey::value("fading.deviation_db", deviation, "dB, from 0 to 30"));
        }
        if fading.coherence < Span::millis(1) {
            let coherence = fading.coherence;
            return Err(WrongKey::value("fading.coherence", coherence, "it is at least 1 ms"));
        }
    }
    queue.map_or(Ok(()), check_host_queue)
}

pub(crate) fn expand_bus(
    scenario: Topology<'_>,
    bus: &Bus,
    stations: &[String],
) -> (BusSettings, Vec<PlanStation>) {
    let queue = bus.queue.clone().unwrap_or(BUS_QUEUE);
    let station = |name: &String| PlanStation::bare(scenario.links, name, queue.clone());
    let kind = BusSettings { rate: bus.rate, delay: bus.delay };
    (kind, stations.iter().map(station).collect())
}

pub(crate) fn expand_cell(
    scenario: Topology<'_>,
    cell: &Cell,
    stations: &[String],
) -> (CellSettings, Vec<PlanStation>) {
    let station = |name: &String| {
        let queue = find(cell, name).and_then(|own| own.queue.as_ref()).or(cell.queue.as_ref());
        PlanStation::bare(scenario.links, name, queue.cloned().unwrap_or(CELL_QUEUE))
    };
    let user = |name: &String| {
        let own = find(cell, name);
        network::CellUser {
            snr_db: own.and_then(|own| own.snr_db).or(cell.snr_db),
            fading: own.and_then(|own| own.fading).or(cell.fading),
        }
    };
    let kind = CellSettings {
        blocks: cell.blocks,
        blocks_up: cell.blocks_up.unwrap_or(cell.blocks),
        scheduler: cell.scheduler,
        averaging: cell.averaging,
        overhead: cell.overhead,
        radio: cell.radio.map(|radio| radio.expand(LOSS_AT_1M_DB)),
        users: stations.iter().skip(1).map(user).collect(),
    };
    (kind, stations.iter().map(station).collect())
}
