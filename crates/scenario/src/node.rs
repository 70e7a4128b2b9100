//! Nodes: fixed, moving, or in groups.

use crate::area::Area;
use crate::error::Error;
use crate::movements::{self, Move as Leg};
use crate::moves::{Highway, INSIDE, Moves, Waypoint};
use crate::name::Name;
use crate::report::{Located, WrongKey, unique};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use units::{Span, ValidRange};

/// A node, or a group of `count` nodes, which are called NAME-1, NAME-2 and so on.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Name by which media and links refer to it.
    pub name: Name,
    /// Number of nodes.
    #[serde(default = "one")]
    #[schemars(extend("range" = COUNT.right))]
    pub count: u32,
    /// Position in metres to the east. A node without `x` and `y`, or `places`, moves or stands at
    /// a random position.
    #[serde(default)]
    #[schemars(extend("range" = INSIDE))]
    pub x: Option<f64>,
    /// Position in metres to the north.
    #[serde(default)]
    #[schemars(extend("range" = INSIDE))]
    pub y: Option<f64>,
    /// Position of each node of the group: metres to the east and to the north.
    #[serde(default)]
    #[schemars(extend("range" = INSIDE))]
    pub places: Option<Vec<(f64, f64)>>,
    /// How the node moves; by default as `moves` of the area.
    #[serde(default)]
    pub moves: Option<Moves>,
}

const COUNT: ValidRange<u32> = ValidRange { holds: |count| *count > 0, right: "it is at least 1" };

fn one() -> u32 {
    1
}

/// A node of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanNode {
    /// Its name, with its number in the group.
    pub name: String,
    /// Name of its group, or its own name if it is single.
    pub group: String,
    /// Its number in the group, from 0.
    pub member: u32,
    /// Number of nodes in the group.
    #[serde(skip)]
    pub members: u32,
    /// Its position and movement.
    pub moves: PlanMoves,
}

/// Position and movement of a node of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum PlanMoves {
    /// A node at a fixed position.
    At {
        /// The position, in metres.
        #[serde(rename = "place_m")]
        place: (f64, f64),
    },
    /// A node that stands at a random position.
    Scattered,
    /// Random waypoint.
    Waypoint(Waypoint),
    /// A car of a platoon, with its lane.
    Highway(Highway),
    /// Given movements from an initial position.
    Trace {
        /// The initial position, in metres.
        #[serde(rename = "place_m")]
        start: (f64, f64),
        /// The movements, in order of time.
        legs: Vec<Leg>,
    },
}

/// Most nodes of a scenario.
const MOST_NODES: u64 = 10_000;

/// Most legs of all nodes together: at 40 B each, 400 MB.
const MOST_LEGS: f64 = 1e7;

/// The nodes of a scenario, and the area on which they are.
#[derive(Clone, Copy)]
pub(crate) struct Nodes<'a> {
    pub(crate) area: Option<&'a Area>,
    pub(crate) all: &'a [Node],
}

impl<'a> Nodes<'a> {
    /// The node names that `name` stands for: for a group, the names of its members.
    pub(crate) fn members(self, name: &str) -> Vec<String> {
        match self.all.iter().find(|node| node.name.text == name).map_or(1, |node| node.count) {
            1 => vec![name.into()],
            count => (1..=count).map(|member| format!("{name}-{member}")).collect(),
        }
    }

    /// The names of all nodes.
    pub(crate) fn names(self) -> impl Iterator<Item = String> + 'a {
        self.all.iter().flat_map(move |node| self.members(&node.name.text))
    }

    /// The index of the node called `name` in the plan, if there is one.
    pub(crate) fn position(self, name: &str) -> Option<usize> {
        let member = name.rsplit_once('-').and_then(|(group, number)| {
            let plain = !number.starts_with(['0', '+']);
            number.parse::<u32>().ok().filter(|_| plain).map(|number| (group, number))
        });
        let mut before = 0;
        for node in self.all {
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

    /// If `name` looks like a member of a group but is out of range: the group.
    pub(crate) fn beyond(self, name: &str) -> Option<&'a Node> {
        let (group, number) = name.rsplit_once('-')?;
        number.parse::<u64>().ok()?;
        let node = self.all.iter().find(|node| node.count > 1 && node.name.text == group)?;
        let known = self.all.iter().any(|node| node.name.text == name);
        (!known && self.position(name).is_none()).then_some(node)
    }

    fn count(self) -> usize {
        self.all.iter().map(|node| node.count as usize).sum()
    }

    /// Number of the plan's nodes before this node of the file.
    fn before(self, node: &Node) -> usize {
        let before = self.all.iter().take_while(|other| other.name.text != node.name.text);
        before.map(|node| node.count as usize).sum()
    }

    /// The movement of a node without a fixed position.
    fn moves(self, node: &'a Node) -> &'a Moves {
        node.moves.as_ref().unwrap_or(self.area.map_or(&Moves::Still, |area| &area.moves))
    }

    /// Checks the area and the nodes of a run of this duration.
    pub(crate) fn check(self, duration: Span) -> Result<(), Located> {
        unique("node", self.all.iter().map(|node| &node.name))?;
        if let Some(area) = self.area {
            area.check(self.count())?;
        }
        let count: u64 = self.all.iter().map(|node| u64::from(node.count)).sum();
        if count > MOST_NODES {
            let error = Error::new(format!("the scenario has {count} nodes"));
            return Err(Located::key("node", error.help(format!("it has at most {MOST_NODES}"))));
        }
        let general = self.area.and_then(|area| area.moves.traced());
        for node in self.all {
            self.check_node(node)?;
            self.check_trace(node, general.as_deref())?;
        }
        let mut names = BTreeSet::new();
        if let Some(name) = self.names().find(|name| !names.insert(name.clone())) {
            let error = Error::new(format!("two nodes are called `{name}`"));
            return Err(Located::key("node", error.help("give a group another name")));
        }
        self.check_legs(duration)
    }

    /// Checks that all legs of all nodes fit into memory.
    fn check_legs(self, duration: Span) -> Result<(), Located> {
        let Some(area) = self.area else {
            return Ok(());
        };
        let mut all = 0.0;
        for node in self.all.iter().filter(|node| node.place(0).is_none()) {
            let legs = self.moves(node).legs(area.ground(), duration.seconds());
            all += legs * f64::from(node.count);
            if all > MOST_LEGS {
                let name = &node.name.text;
                let what = format!(
                    "node `{name}`: up to this node, nodes change direction {all:.1e} times"
                );
                let right = "at most 1e7 times fit into memory: take fewer nodes, a larger area, \
                             longer pauses, or less time";
                return Err(Located::at(&node.name, Error::new(what).help(right)));
            }
        }
        Ok(())
    }

    fn check_node(self, node: &Node) -> Result<(), Located> {
        let name = &node.name.text;
        COUNT
            .check("count", &node.count)
            .map_err(|wrong| WrongKey::from(wrong).of("node", name))?;
        let Some(area) = self.area else {
            let error = Error::new(format!("node `{name}`: there is no area"));
            let right = "write [area] with `width` and `height`, in metres";
            return Err(Located::at(&node.name, error.help(right)));
        };
        node.check_places(area).map_err(|wrong| wrong.of("node", name))?;
        if let Some(own) = &node.moves {
            let key = format!("node.{name}.moves");
            own.check(area.ground(), self.count()).map_err(|wrong| wrong.within(&key))?;
        }
        if let Moves::Highway(own) = self.moves(node)
            && node.place(0).is_none()
            && own.gap * f64::from(node.count) > area.width
        {
            let what = format!("{} cars with gaps of {} m", node.count, own.gap);
            let right = format!(
                "the cars and their gaps fit on a road of {} m, which is a ring",
                area.width
            );
            return Err(WrongKey::new("count", what, right).of("node", name));
        }
        Ok(())
    }

    /// Checks that a node that follows a trace has an initial position there, and stays inside the
    /// area.
    fn check_trace(self, node: &Node, general: Option<&[movements::Moves]>) -> Result<(), Located> {
        let own = node.moves.as_ref().map(Moves::traced);
        let all = own.as_ref().map_or(general, Option::as_deref);
        let (Some(area), Some(all), None) = (self.area, all, node.place(0)) else {
            return Ok(()); // errors in the file are reported at the file
        };
        let first = self.before(node);
        for (member, name) in self.members(&node.name.text).iter().enumerate() {
            let own = find(all, first + member);
            let wrong = |what: String, right: &str| {
                let error = Error::new(format!("node `{name}`: {what}")).help(right);
                Err(Located::at(&node.name, error))
            };
            let Some(start) = own.and_then(|moves| moves.start) else {
                let what =
                    format!("the movements set no initial position for node {}", first + member);
                return wrong(what, "nodes are numbered from 0 in the order of the scenario");
            };
            let places = own.into_iter().flat_map(|moves| moves.legs.iter().map(|leg| leg.to));
            let mut places = [start].into_iter().chain(places);
            if let Some((x, y)) = places.find(|place| !area.ground().contains(*place)) {
                let what = format!("its movements lead to ({x}, {y}), outside the area");
                return wrong(what, &format!("it is {} m by {} m", area.width, area.height));
            }
        }
        Ok(())
    }

    /// The nodes of the plan, after the checks.
    pub(crate) fn expand(self) -> Vec<PlanNode> {
        let general = self.area.and_then(|area| area.moves.traced());
        let of_group = |node: &'a Node| {
            let own = node.moves.as_ref().map(Moves::traced);
            let all = own.as_ref().map_or(general.as_deref(), Option::as_deref);
            let all = all.unwrap_or_default();
            let first = self.before(node);
            let names = self.members(&node.name.text).into_iter().zip(0..);
            let planned = names.map(|(name, member)| PlanNode {
                name,
                group: node.name.text.clone(),
                member,
                members: node.count,
                moves: self.expand_moves(node, member, find(all, first + member as usize)),
            });
            planned.collect::<Vec<_>>()
        };
        self.all.iter().flat_map(of_group).collect()
    }

    fn expand_moves(
        self,
        node: &Node,
        member: u32,
        traced: Option<&movements::Moves>,
    ) -> PlanMoves {
        if let Some(place) = node.place(member) {
            return PlanMoves::At { place };
        }
        match self.moves(node) {
            Moves::Still => PlanMoves::Scattered,
            Moves::Waypoint(own) => PlanMoves::Waypoint(*own),
            Moves::Highway(own) => {
                let middle = self.area.map_or(0.0, |area| area.height / 2.0);
                PlanMoves::Highway(Highway { lane: own.lane.or(Some(middle)), ..*own })
            }
            Moves::Trace(_) => PlanMoves::Trace {
                start: traced.and_then(|own| own.start).unwrap_or_default(),
                legs: traced.map(|own| own.legs.clone()).unwrap_or_default(),
            },
        }
    }
}

impl Node {
    /// Position of a member of the group, if the file gives it.
    pub(crate) fn place(&self, member: u32) -> Option<(f64, f64)> {
        let of_group = || self.places.as_ref()?.get(member as usize).copied();
        self.x.zip(self.y).or_else(of_group)
    }

    fn check_places(&self, area: &Area) -> Result<(), WrongKey> {
        if self.x.is_some() != self.y.is_some() {
            return Err(WrongKey::new("x", "one of `x` and `y` is missing", "give both or none"));
        }
        if self.x.is_some() && self.places.is_some() {
            let what = "it has `x`, `y` and `places`";
            return Err(WrongKey::new("places", what, "leave one out"));
        }
        let Some(places) = self.x.zip(self.y).map(|place| vec![place]).or(self.places.clone())
        else {
            return Ok(());
        };
        if self.moves.is_some() {
            let right = "leave out `moves`, or the place";
            return Err(WrongKey::new("moves", "it has both a place and `moves`", right));
        }
        if places.len() != self.count as usize {
            let what = format!("it has {} nodes and {} places", self.count, places.len());
            let right = "give each node a place, or none: nodes without places are put at random";
            return Err(WrongKey::new("places", what, right));
        }
        for (x, y) in places {
            for (axis, value, most) in [("x", x, area.width), ("y", y, area.height)] {
                if !(0.0..=most).contains(&value) {
                    let what = format!("{axis} is {value}, outside the area");
                    let key = if self.places.is_some() { "places" } else { axis };
                    return Err(WrongKey::new(key, what, format!("{INSIDE}, from 0 to {most} m")));
                }
            }
        }
        Ok(())
    }
}

/// The moves of a node in a trace.
fn find(all: &[movements::Moves], node: usize) -> Option<&movements::Moves> {
    all.binary_search_by_key(&node, |moves| moves.node).ok().map(|at| &all[at])
}
