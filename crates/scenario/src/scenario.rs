//! The scenario file as a whole, and its plan.

use crate::area::{Area, PlanArea};
use crate::error::Error;
use crate::flow::{Class, Flow, check_options};
use crate::link::{Link, Links, PlanLink};
use crate::media::{self, Media, MediumTable, media};
use crate::node::{Node, Nodes, PlanNode};
use crate::path::LaidLinks;
use crate::report::{Located, WrongKey, unique};
use crate::topology::{PlanMedium, Topology};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transport::OptionTable;
use units::{Span, ValidRange};

/// Declares the scenario file, with the lists of tables of shared media in the place of `..media`.
macro_rules! scenario {
    (
        $(#[$attribute:meta])*
        pub struct Scenario {
            $($(#[$before_attribute:meta])* pub $before:ident: $before_type:ty,)*
            ..media,
            $($(#[$after_attribute:meta])* pub $after:ident: $after_type:ty,)*
        }
        $($key:ident: $file:ident::$table:ident,)*
    ) => {
        $(#[$attribute])*
        pub struct Scenario {
            $($(#[$before_attribute])* pub $before: $before_type,)*
            $(
                #[doc = concat!("See `media/", stringify!($file), ".rs`.")]
                #[schemars(description = media::$table::described().summary)]
                #[serde(default)]
                pub $key: Vec<media::$table>,
            )*
            $($(#[$after_attribute])* pub $after: $after_type,)*
        }

        impl Scenario {
            fn media(&self) -> Media<'_> {
                Media { $($key: &self.$key,)* }
            }
        }
    };
}

media!(scenario! {
    /// A scenario: links, groups of flows, and the duration of the run.
    #[derive(Clone, Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    pub struct Scenario {
        /// Short name, used in file names and tables.
        pub name: String,
        /// Title in one line, for human readers.
        #[serde(default)]
        pub title: String,
        /// Publication that describes the set-up.
        #[serde(default)]
        pub source: String,
        /// When the run ends.
        #[schemars(extend("range" = DURATION.right))]
        pub duration: Span,
        /// End of the warm-up: nothing before it is measured.
        #[serde(default)]
        #[schemars(extend("range" = WARMUP))]
        pub warmup: Span,
        /// Sampling interval of windows, round-trip times and queues.
        #[serde(default = "default_sample")]
        #[schemars(extend("range" = SAMPLE.right))]
        pub sample: Span,
        /// Transport options of all flows.
        #[serde(default)]
        pub transport: OptionTable,
        /// The links, each in one direction.
        #[serde(default)]
        pub link: Vec<Link>,
        ..media,
        /// The area in which nodes are placed and move.
        #[serde(default)]
        pub area: Option<Area>,
        /// Nodes with a position or movement, and groups of nodes. Other nodes need no entry: links
        /// name them.
        #[serde(default)]
        pub node: Vec<Node>,
        /// Groups of identical flows.
        #[serde(default)]
        pub flow: Vec<Flow>,
        /// Parameters that the source leaves open, each with the chosen value and the reason.
        #[serde(default)]
        pub choice: Vec<Choice>,
    }
});

const DURATION: ValidRange<Span> =
    ValidRange { holds: |time| *time > Span::ZERO, right: "it is above zero, such as \"60 s\"" };

const WARMUP: &str = "it is below `duration`";

const SAMPLE: ValidRange<Span> =
    ValidRange { holds: |time| *time > Span::ZERO, right: "it is above zero, such as \"100 ms\"" };

fn default_sample() -> Span {
    Span::millis(100)
}

/// A parameter that the source leaves open.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The parameter.
    pub what: String,
    /// The chosen value.
    pub value: String,
    /// The reason for it.
    pub why: String,
}

/// A validated scenario. Links and paths are indices; classes stand for `count` identical users.
///
/// It is written in SI units; the names of the keys contain the units.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Plan {
    /// The scenario's name.
    pub name: String,
    /// Title in one line, for human readers.
    pub title: String,
    /// Publication that describes the set-up.
    pub source: String,
    /// When the run ends.
    #[serde(rename = "duration_s")]
    pub duration: Span,
    /// End of the warm-up, before `duration`: measurement begins then.
    #[serde(rename = "warmup_s")]
    pub warmup: Span,
    /// Sampling interval; not zero.
    #[serde(rename = "sample_s")]
    pub sample: Span,
    /// The links: first the named links, then the implied links back.
    pub links: Vec<PlanLink>,
    /// The shared media: channels of 802.11, buses and cells.
    pub media: Vec<PlanMedium>,
    /// The area in which nodes are placed, if there is one.
    pub area: Option<PlanArea>,
    /// Nodes with a position or movement.
    pub nodes: Vec<PlanNode>,
    /// The groups of flows.
    pub classes: Vec<Class>,
    /// Parameters that the source leaves open.
    pub choices: Vec<Choice>,
    /// Warnings about settings that are valid but probably unintended, one sentence each.
    pub warnings: Vec<String>,
}

/// Most paths of all flows together: at 2 kB each, 20 GB.
const MOST_PATHS: u64 = 10_000_000;

impl Scenario {
    fn nodes(&self) -> Nodes<'_> {
        Nodes { area: self.area.as_ref(), all: &self.node }
    }

    fn topology(&self) -> Topology<'_> {
        let links = Links { nodes: self.nodes(), all: &self.link };
        Topology { links, media: self.media() }
    }

    /// Checks that the types cannot make: references, ranges, and times that contradict each other.
    pub(crate) fn check(&self) -> Result<(), Located> {
        self.check_times().map_err(WrongKey::of_file)?;
        let options = self.transport.over(&OptionTable::default());
        check_options(&options).map_err(|wrong| {
            let error = Error::new(format!("the scenario: {}", wrong.what)).help(wrong.right);
            Located::key(format!("transport.{}", wrong.key), error)
        })?;
        unique("link", self.link.iter().map(|link| &link.name))?;
        unique("flow", self.flow.iter().map(|flow| &flow.name))?;
        let copies: u64 = self.flow.iter().map(|flow| flow.users(self.duration)).sum();
        self.link.iter().try_for_each(|link| link.check(self.duration, copies.max(1)))?;
        self.nodes().check(self.duration)?;
        self.topology().check()?;
        self.check_users()?;
        let check = |flow: &Flow| flow.check(self.topology(), self.duration, &self.transport);
        self.flow.iter().try_for_each(check)
    }

    fn check_times(&self) -> Result<(), WrongKey> {
        let Scenario { duration, warmup, sample, .. } = self;
        DURATION.check("duration", duration)?;
        if warmup >= duration {
            let what = format!("warmup ({warmup}) is not before the end of the run ({duration})");
            let right = format!("{WARMUP}: shorten `warmup` or lengthen `duration`");
            return Err(WrongKey::new("warmup", what, right));
        }
        SAMPLE.check("sample", sample).map_err(WrongKey::from)
    }

    fn check_users(&self) -> Result<(), Located> {
        if self.flow.is_empty() {
            let error = Error::new("the scenario has no [[flow]]");
            return Err(Located::key("flow", error.help("add at least one [[flow]] with a path")));
        }
        if self.flow.iter().all(|flow| flow.count == 0) {
            let error = Error::new("no flow has a user: each has a `count` of zero");
            return Err(Located::key("flow", error.help("give a flow a `count` of 1 or more")));
        }
        let topology = self.topology();
        let paths = |flow: &Flow| flow.users(self.duration) * flow.paths(topology) as u64;
        let total: u64 = self.flow.iter().map(paths).sum();
        if total <= MOST_PATHS {
            return Ok(());
        }
        let error = Error::new(format!("the flows have {total} paths in all (count times paths)"));
        let help = format!("at most {MOST_PATHS} fit into the memory of a large machine");
        let most = self.flow.iter().max_by_key(|flow| paths(flow)).map(|flow| &flow.name.text);
        let key = format!("flow.{}.count", most.map_or("", String::as_str));
        Err(Located::key(key, error.help(help)))
    }

    /// Resolves names and fills in defaults, after the checks.
    pub(crate) fn expand(&self) -> Plan {
        let topology = self.topology();
        let mut laid = LaidLinks::new(topology, self.duration);
        let flows = || self.flow.iter().filter(|flow| flow.count > 0);
        let classes: Vec<_> = flows()
            .map(|flow| flow.expand(topology, self.duration, &self.transport, &mut laid))
            .collect();
        let coded = flows().flat_map(|flow| flow.warnings(topology));
        let early = classes.iter().flat_map(Class::early_timeouts);
        let warnings = coded.chain(early).collect();
        Plan {
            name: self.name.clone(),
            title: self.title.clone(),
            source: self.source.clone(),
            duration: self.duration,
            warmup: self.warmup,
            sample: self.sample,
            links: laid.links,
            media: topology.expand(),
            area: self.area.as_ref().map(Area::expand),
            nodes: self.nodes().expand(),
            classes,
            choices: self.choice.clone(),
            warnings,
        }
    }
}
