//! Nodes: what is right in them, and what a plan has of them.

use crate::error::Error;
use crate::movements::{self, Move as Leg};
use crate::schema::{Area, Highway, Moves, Node, Scenario, Waypoint};
use crate::validate::{Placed, about, at, unique};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use units::Span;

/// The ground of a plan, in metres.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanArea {
    /// To the east.
    #[serde(rename = "width_m")]
    pub width: f64,
    /// To the north.
    #[serde(rename = "height_m")]
    pub height: f64,
    /// How often it is looked where moving nodes are.
    #[serde(rename = "step_s")]
    pub step: Span,
}

/// A node of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanNode {
    /// Its name, with its number in the group.
    pub name: String,
    /// The group that it belongs to, or its name.
    pub group: String,
    /// Which of the group, from 0.
    pub member: u32,
    /// How many the group has.
    #[serde(skip)]
    pub members: u32,
    /// Where it is and goes.
    pub moves: PlanMoves,
}

/// Where a node of a plan is and goes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum PlanMoves {
    /// It stands.
    At {
        /// Where, in metres.
        #[serde(rename = "place_m")]
        place: (f64, f64),
    },
    /// It stands at a random place.
    Scattered,
    /// Random waypoint.
    Waypoint(Waypoint),
    /// A car of a platoon, with its lane.
    Highway(Highway),
    /// From a place, at times, to places, at speeds in m/s.
    Trace {
        /// Where it is at first.
        #[serde(rename = "place_m")]
        start: (f64, f64),
        /// Where it goes.
        legs: Vec<Leg>,
    },
}

/// Most nodes of a scenario.
const MOST_NODES: u64 = 10_000;

/// Fastest that anything moves, in m/s.
const FASTEST: f64 = 1_000.0;

/// Legs of all nodes together: at 40 B each, 400 MB.
const MOST_LEGS: f64 = 1e7;

/// The names of the nodes that `name` stands for: of a group those of its members.
pub(crate) fn members(scenario: &Scenario, name: &str) -> Vec<String> {
    let known = scenario.node.iter().find(|node| node.name.text == name);
    match known.map_or(1, |node| node.count) {
        1 => vec![name.into()],
        count => (1..=count).map(|member| format!("{name}-{member}")).collect(),
    }
}

/// Which of the plan's nodes is called so, if one is.
pub(crate) fn position(scenario: &Scenario, name: &str) -> Option<usize> {
    let member = name.rsplit_once('-').and_then(|(group, number)| {
        let plain = !number.starts_with(['0', '+']);
        number.parse::<u32>().ok().filter(|_| plain).map(|number| (group, number))
    });
    let mut before = 0;
    for node in &scenario.node {
        match (node.count, member) {
            (1, _) if node.name.text == name => return Some(before),
            (2.., Some((group, number))) if node.name.text == group && number <= node.count => {
                return Some(before + number as usize - 1);
            }
            _ => before += node.count as usize,
        }
    }
    None
}

/// The group and its size, if a name is one that a member would have, and there is none.
pub(crate) fn beyond<'a>(scenario: &'a Scenario, name: &str) -> Option<&'a Node> {
    let (group, number) = name.rsplit_once('-')?;
    number.parse::<u64>().ok()?;
    let node = scenario.node.iter().find(|node| node.count > 1 && node.name.text == group)?;
    let known = scenario.node.iter().any(|node| node.name.text == name);
    (!known && position(scenario, name).is_none()).then_some(node)
}

/// The number of nodes of the file that come before one.
fn number(scenario: &Scenario, node: &Node) -> usize {
    let before = scenario.node.iter().take_while(|other| other.name.text != node.name.text);
    before.map(|node| node.count as usize).sum()
}

/// How a node moves, unless it has a place.
fn moves<'a>(scenario: &'a Scenario, node: &'a Node) -> &'a Moves {
    let general = scenario.area.as_ref().map_or(&Moves::Still, |area| &area.moves);
    node.moves.as_ref().unwrap_or(general)
}

/// Checks the area and the nodes of a scenario.
pub(crate) fn check(scenario: &Scenario) -> Result<(), Placed> {
    unique("node", scenario.node.iter().map(|node| &node.name))?;
    if let Some(area) = &scenario.area {
        check_area(area)?;
        check_moves(scenario, area, &area.moves, "area.moves")?;
    }
    let all: u64 = scenario.node.iter().map(|node| u64::from(node.count)).sum();
    if all > MOST_NODES {
        let message = format!("the scenario has {all} nodes");
        let right = format!("it has at most {MOST_NODES}");
        return Err(about("node", Error::new(message).help(right)));
    }
    let general = scenario.area.as_ref().and_then(|area| told(&area.moves));
    for node in &scenario.node {
        check_node(scenario, node)?;
        check_start(scenario, node, general.as_deref())?;
    }
    let mut names = BTreeSet::new();
    for name in scenario.node.iter().flat_map(|node| members(scenario, &node.name.text)) {
        if names.contains(&name) {
            let message = format!("two nodes are called `{name}`");
            return Err(about("node", Error::new(message).help("give a group another name")));
        }
        names.insert(name);
    }
    check_legs(scenario)
}

/// What a trace says of all nodes; nothing, if it is none or wrong.
fn told(moves: &Moves) -> Option<Vec<movements::Moves>> {
    match moves {
        Moves::Trace(own) => movements::parse(own.text.as_deref()?).ok(),
        _ => None,
    }
}

/// Whether all that nodes will do fits into memory.
fn check_legs(scenario: &Scenario) -> Result<(), Placed> {
    let Some(area) = &scenario.area else {
        return Ok(());
    };
    let mut all = 0.0;
    for node in scenario.node.iter().filter(|node| place(node, 0).is_none()) {
        let legs = legs(area, moves(scenario, node), scenario.duration.seconds());
        all += legs * f64::from(node.count);
        if all > MOST_LEGS {
            let name = &node.name.text;
            let what = format!("node `{name}`: with it, nodes change their way {all:.1e} times");
            let right = "at most 1e7 times in a run: fewer nodes, a larger area, longer pauses, or less time";
            return Err(at(&node.name, Error::new(what).help(right)));
        }
    }
    Ok(())
}

/// About how many legs a node has in so many seconds.
fn legs(area: &Area, moves: &Moves, seconds: f64) -> f64 {
    match moves {
        Moves::Waypoint(own) => {
            // A way is at least a third of the longer side on average, and each is followed by a
            // pause.
            let way = area.width.max(area.height) / 3.0;
            let (least, most) = own.speed;
            let slowness = match most > least {
                true => libm::log(most / least) / (most - least),
                false => 1.0 / most,
            };
            let pause = (own.pause.0.seconds() + own.pause.1.seconds()) / 2.0;
            2.0 * seconds / (way * slowness + pause)
        }
        Moves::Highway(own) => seconds / own.hold.seconds() + seconds * own.speed.1 / area.width,
        Moves::Still | Moves::Trace(_) => 1.0,
    }
}

fn check_area(area: &Area) -> Result<(), Placed> {
    for (field, value) in [("width", area.width), ("height", area.height)] {
        if !(1.0..=1e6).contains(&value) {
            let error = Error::new(format!("area: {field} is {value}"));
            return Err(about(format!("area.{field}"), error.help("metres, from 1 to 1000000")));
        }
    }
    if !(Span::millis(1)..=Span::millis(10_000)).contains(&area.step) {
        let error = Error::new(format!("area: step is {}", area.step));
        return Err(about("area.step", error.help("it lies from 1 ms to 10 s")));
    }
    Ok(())
}

fn check_node(scenario: &Scenario, node: &Node) -> Result<(), Placed> {
    let name = &node.name.text;
    let wrong = |field: &str, what: String, right: &str| {
        let error = Error::new(format!("node `{name}`: {what}")).help(right);
        Err(about(format!("node.{name}.{field}"), error))
    };
    if node.count == 0 {
        return wrong("count", "count is 0".into(), "it is at least 1");
    }
    let Some(area) = &scenario.area else {
        let right = "write [area] with `width` and `height`, in metres";
        return Err(at(
            &node.name,
            Error::new(format!("node `{name}`: there is no area")).help(right),
        ));
    };
    let places = node.x.zip(node.y).map(|place| vec![place]).or(node.places.clone());
    if node.x.is_some() != node.y.is_some() {
        return wrong("x", "one of `x` and `y` is missing".into(), "give both or none");
    }
    if node.x.is_some() && node.places.is_some() {
        return wrong("places", "it has `x`, `y` and `places`".into(), "leave one out");
    }
    if let Some(places) = &places {
        if node.moves.is_some() {
            let right = "leave out `moves`, or the place";
            return wrong("moves", "it has a place and moves".into(), right);
        }
        if places.len() != node.count as usize {
            let what = format!("it has {} nodes and {} places", node.count, places.len());
            return wrong(
                "places",
                what,
                "as many `places` as nodes, or none: they are put at random",
            );
        }
        for (x, y) in places {
            for (field, value, most) in [("x", *x, area.width), ("y", *y, area.height)] {
                if !(0.0..=most).contains(&value) {
                    let what = format!("{field} is {value}, outside the area");
                    let key = if node.places.is_some() { "places" } else { field };
                    return wrong(key, what, &format!("it lies from 0 to {most} m"));
                }
            }
        }
    }
    if let Some(own) = &node.moves {
        check_moves(scenario, area, own, &format!("node.{name}.moves"))?;
    }
    match moves(scenario, node) {
        Moves::Highway(own) if places.is_none() => {
            let platoon = own.gap * f64::from(node.count);
            if platoon > area.width {
                let what = format!("{} cars with gaps of {} m", node.count, own.gap);
                let right = format!("they fit on a road of {} m, which is a ring", area.width);
                return wrong("count", what, &right);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// A node that moves as a file says has a place there at first, inside the area.
fn check_start(
    scenario: &Scenario,
    node: &Node,
    general: Option<&[movements::Moves]>,
) -> Result<(), Placed> {
    let own = node.moves.as_ref().map(told);
    let all = own.as_ref().map_or(general, Option::as_deref);
    let (Some(area), Some(all), None) = (&scenario.area, all, place(node, 0)) else {
        return Ok(()); // what is wrong with the file is said where the file is
    };
    let first = number(scenario, node);
    for (member, name) in members(scenario, &node.name.text).iter().enumerate() {
        let own = find(all, first + member);
        let wrong = |what: String, right: &str| {
            Err(at(&node.name, Error::new(format!("node `{name}`: {what}")).help(right)))
        };
        let Some(start) = own.and_then(|moves| moves.start) else {
            let what = format!("the movements have no place for node {}", first + member);
            return wrong(what, "nodes are numbered from 0 in the order of the scenario");
        };
        let places = own.into_iter().flat_map(|moves| moves.legs.iter().map(|leg| leg.to));
        for (x, y) in [start].into_iter().chain(places) {
            if !((0.0..=area.width).contains(&x) && (0.0..=area.height).contains(&y)) {
                let what = format!("its movements lead to ({x}, {y}), outside the area");
                return wrong(what, &format!("it is {} m by {} m", area.width, area.height));
            }
        }
    }
    Ok(())
}

/// What a trace says of a node.
fn find(all: &[movements::Moves], node: usize) -> Option<&movements::Moves> {
    all.binary_search_by_key(&node, |moves| moves.node).ok().map(|at| &all[at])
}

/// Where a member of a group stands, if the file says it.
fn place(node: &Node, member: u32) -> Option<(f64, f64)> {
    let of_group = || node.places.as_ref()?.get(member as usize).copied();
    node.x.zip(node.y).or_else(of_group)
}

fn check_moves(scenario: &Scenario, area: &Area, moves: &Moves, key: &str) -> Result<(), Placed> {
    let wrong = |field: &str, what: String, right: &str| {
        let error = Error::new(format!("{key}: {what}")).help(right);
        Err(about(format!("{key}.{field}"), error))
    };
    let speeds = |(least, most): (f64, f64)| least > 0.0 && least <= most && most <= FASTEST;
    match moves {
        Moves::Still => Ok(()),
        Moves::Waypoint(own) => {
            if !speeds(own.speed) {
                let what = format!("speed is [{}, {}]", own.speed.0, own.speed.1);
                let right = "least and greatest in m/s, at most 1000, the least above 0: with 0, nodes come to a halt in the long run";
                return wrong("waypoint.speed", what, right);
            }
            match own.pause.0 <= own.pause.1 {
                true => Ok(()),
                false => {
                    let what = format!("pause is [{}, {}]", own.pause.0, own.pause.1);
                    wrong("waypoint.pause", what, "the shortest, then the longest")
                }
            }
        }
        Moves::Highway(own) => check_highway(area, own)
            .or_else(|(field, what, right)| wrong(&format!("highway.{field}"), what, &right)),
        Moves::Trace(own) => match (&own.file, &own.text) {
            (None, Some(text)) => match movements::parse(text) {
                Ok(all) => {
                    let nodes: usize = scenario.node.iter().map(|node| node.count as usize).sum();
                    match all.iter().find(|moves| moves.node >= nodes) {
                        Some(moves) => {
                            let what = format!("they move node {}", moves.node);
                            wrong(
                                "trace",
                                what,
                                &format!("the scenario has {nodes} nodes, from 0 on"),
                            )
                        }
                        None => Ok(()),
                    }
                }
                Err(bad) => wrong("trace.text", bad.to_string(), movements::RIGHT),
            },
            (Some(file), None) => {
                let right =
                    "a file is read with the scenario file that names it; here, give its `text`";
                wrong("trace.file", format!("file is \"{file}\""), right)
            }
            _ => {
                wrong("trace", "without movements, or with both".into(), "it has `file` or `text`")
            }
        },
    }
}

fn check_highway(area: &Area, own: &Highway) -> Result<(), (&'static str, String, String)> {
    let (least, most) = own.speed;
    if !(0.0 < least && least <= most && most <= FASTEST) {
        let what = format!("speed is [{least}, {most}]");
        return Err(("speed", what, "least and greatest in m/s, above 0 and at most 1000".into()));
    }
    let needed = own.reaction.seconds() * (most - least);
    if !(own.gap > needed && own.gap <= area.width) {
        let right = format!(
            "above reaction × (greatest − least speed) = {needed} m, or a car overtakes the one ahead, and at most the \
             width of the area"
        );
        return Err(("gap", format!("gap is {}", own.gap), right));
    }
    if own.hold < Span::millis(100) {
        return Err(("hold", format!("hold is {}", own.hold), "it is at least 100 ms".into()));
    }
    let lane = own.lane.unwrap_or(0.0);
    for (field, value, most) in [("start", own.start, area.width), ("lane", lane, area.height)] {
        if !(0.0..=most).contains(&value) {
            let what = format!("{field} is {value}, outside the area");
            return Err((field, what, format!("it lies from 0 to {most} m")));
        }
    }
    Ok(())
}

/// The ground of a scenario that has been checked.
pub(crate) fn expand_area(scenario: &Scenario) -> Option<PlanArea> {
    let Area { width, height, step, .. } = *scenario.area.as_ref()?;
    Some(PlanArea { width, height, step })
}

/// The nodes of a scenario that has been checked.
pub(crate) fn expand(scenario: &Scenario) -> Vec<PlanNode> {
    let general = scenario.area.as_ref().and_then(|area| told(&area.moves));
    let of_group = |node: &Node| {
        let own = node.moves.as_ref().map(told);
        let all = own.as_ref().map_or(general.as_deref(), Option::as_deref).unwrap_or_default();
        let first = number(scenario, node);
        let names = members(scenario, &node.name.text).into_iter().zip(0..);
        let planned = names.map(|(name, member)| PlanNode {
            name,
            group: node.name.text.clone(),
            member,
            members: node.count,
            moves: planned(scenario, node, member, find(all, first + member as usize)),
        });
        planned.collect::<Vec<_>>()
    };
    scenario.node.iter().flat_map(of_group).collect()
}

fn planned(
    scenario: &Scenario,
    node: &Node,
    member: u32,
    told: Option<&movements::Moves>,
) -> PlanMoves {
    if let Some((x, y)) = place(node, member) {
        return PlanMoves::At { place: (x, y) };
    }
    match moves(scenario, node) {
        Moves::Still => PlanMoves::Scattered,
        Moves::Waypoint(own) => PlanMoves::Waypoint(*own),
        Moves::Highway(own) => {
            let middle = scenario.area.as_ref().map_or(0.0, |area| area.height / 2.0);
            PlanMoves::Highway(Highway { lane: own.lane.or(Some(middle)), ..*own })
        }
        Moves::Trace(_) => {
            let start = told.and_then(|own| own.start).unwrap_or_default();
            let legs = told.map(|own| own.legs.clone()).unwrap_or_default();
            PlanMoves::Trace { start, legs }
        }
    }
}
