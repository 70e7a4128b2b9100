//! Groups of identical flows.

use crate::application::{Pauses, Sizes, SizesKeys};
use crate::coding::coding_warning;
use crate::controller::Controller;
use crate::error::Error;
use crate::fair::Fair;
use crate::name::Name;
use crate::path::{Carried, Channel, ChannelWord, LaidLinks, Path, PlanPath};
use crate::protocol::Protocol;
use crate::quic;
use crate::report::{Located, Subject, WrongKey};
use crate::topology::Topology;
use control::ControllerSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use transport::{OptionTable, Options};
use units::{Bytes, Rate, Span, ValidRange};

/// A group of identical flows; tables and theory call it a class of users.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Name of the class.
    pub name: Name,
    /// Number of users. A flow with 0 users is left out.
    #[serde(default = "one", deserialize_with = "users")]
    #[schemars(extend("range" = COUNT))]
    pub count: u32,
    /// The congestion controller: a name from `anabranch list controllers`, the file of a law such
    /// as "my.law:beta=0.3", or the text of a law.
    #[serde(default = "reno")]
    pub controller: Controller,
    /// Whether a command that is given a controller replaces that of this flow, and of other flows
    /// with `subject` only. If no flow has it, flows with several paths are meant, or else all.
    #[serde(default)]
    pub subject: bool,
    /// The paths of each user; one for plain TCP.
    #[serde(default)]
    pub path: Vec<Path>,
    /// The path, counted from 0, on which `multi-priority` and `hacker-switching` run TCP at the
    /// start; other controllers ignore it.
    #[serde(default)]
    pub base: u32,
    /// Whether the flow is one TCP connection whose packets and ACKs take the paths in turn, which
    /// may reorder them.
    #[serde(default)]
    pub striped: bool,
    /// Start time of the users.
    #[serde(default)]
    #[schemars(extend("range" = START))]
    pub start: Span,
    /// Each user starts at a random time within this span after `start`.
    #[serde(default)]
    #[schemars(extend("range" = START))]
    pub spread: Span,
    /// Arrival rate in users per second from `start` to the end of the run; replaces `count` and
    /// `spread`. The number of users is the mean of a Poisson process, and they start at its random
    /// times.
    #[serde(default)]
    #[schemars(extend("range" = ARRIVALS))]
    pub arrivals: Option<f64>,
    /// Bytes to send. A flow without `transfer` and `app_rate` never ends.
    #[serde(default)]
    #[schemars(extend("range" = TRANSFER.right))]
    pub transfer: Option<Bytes>,
    /// Distribution of the bytes to send over users; `transfer` is its mean.
    #[serde(default)]
    pub sizes: Option<Sizes>,
    /// Rate at which the application writes payload.
    #[serde(default)]
    pub app_rate: Option<Rate>,
    /// Pauses of an application with `app_rate`.
    #[serde(default)]
    pub pauses: Option<Pauses>,
    /// Transport protocol of the flow.
    #[serde(default)]
    pub protocol: Protocol,
    /// Requires that the flow is TCP-fair. `anabranch run` checks this with further runs, in which
    /// one TCP replaces the flow or the flow is absent.
    #[serde(default)]
    pub fair: Option<Fair>,
    /// Whether the receiver sends every packet back (RFC 862); UDP only.
    #[serde(default)]
    pub echo: bool,
    /// Transport options of this group; they override those of the scenario.
    #[serde(default)]
    pub transport: OptionTable,
}

const COUNT: &str = "it is a whole number from 0 to 4294967295";

const START: &str = "start + spread is below duration";

const ARRIVALS: &str = "a number of users per second above 0";

const TRANSFER: ValidRange<Bytes> = ValidRange {
    holds: |bytes| bytes.0 > 0,
    right: "above zero: leave it out for a flow that never ends",
};

fn one() -> u32 {
    1
}

fn users<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let count = i64::deserialize(deserializer)?;
    let wrong = || {
        let message = format!("count is {count}; {COUNT}");
        serde::de::Error::custom(message)
    };
    u32::try_from(count).map_err(|_| wrong())
}

fn reno() -> Controller {
    Controller { spec: "reno".parse(), span: 0..0 }
}

/// A group of identical flows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Number of users, at least 1.
    pub count: u32,
    /// Its congestion control.
    #[serde(flatten, serialize_with = "ControllerKeys::write")]
    #[schemars(with = "ControllerKeys")]
    pub controller: ControllerSpec,
    /// Whether a controller that a command is given replaces this one.
    pub subject: bool,
    /// Earliest start of a user.
    #[serde(rename = "start_s")]
    pub start: Span,
    /// Users start uniformly within this span.
    #[serde(rename = "spread_s")]
    pub spread: Span,
    /// Bytes to send, if the flow ends; their mean, if there are `sizes`.
    #[serde(rename = "transfer_bytes")]
    pub transfer: Option<Bytes>,
    /// Distribution of the bytes to send over users.
    #[serde(serialize_with = "SizesKeys::write")]
    #[schemars(with = "Option<SizesKeys>")]
    pub sizes: Option<Sizes>,
    /// Rate of the application, if it is limited.
    #[serde(rename = "app_rate_bps")]
    pub app_rate: Option<Rate>,
    /// Pauses of the application.
    pub pauses: Option<Pauses>,
    /// Transport protocol; UDP has `app_rate` and one path.
    pub protocol: Protocol,
    /// Whether the receiver sends every packet back.
    pub echo: bool,
    /// The requirement that the flow is TCP-fair, if there is one.
    pub fair: Option<Fair>,
    /// Index in `paths` of the base path, on which schemes with a base flow run TCP at the start.
    pub base: usize,
    /// The paths of each user, at least one.
    pub paths: Vec<PlanPath>,
    /// Transport options.
    #[serde(flatten)]
    pub transport: Options,
}

/// A controller in a plan.
#[derive(Serialize, JsonSchema)]
struct ControllerKeys {
    /// The congestion controller, by its name in results.
    controller: String,
    /// The text of the law, if the controller is a law given as text.
    law: Option<String>,
}

impl ControllerKeys {
    fn write<S: Serializer>(spec: &ControllerSpec, serializer: S) -> Result<S::Ok, S::Error> {
        let law = spec.written().map(|law| law.text().to_owned());
        ControllerKeys { controller: spec.to_string(), law }.serialize(serializer)
    }
}

impl Flow {
    /// Number of its users in a run of this duration.
    pub(crate) fn users(&self, duration: Span) -> u64 {
        let come = |rate: f64| (rate * (duration - self.start).seconds()).round() as u64;
        self.arrivals.map_or(u64::from(self.count), come)
    }

    /// Number of paths of each user.
    pub(crate) fn paths(&self, topology: Topology<'_>) -> usize {
        self.path.iter().map(|path| path.picks(topology).len()).sum()
    }

    /// Checks the flow; `general` are the transport options of the scenario.
    pub(crate) fn check(
        &self,
        topology: Topology<'_>,
        duration: Span,
        general: &OptionTable,
    ) -> Result<(), Located> {
        let placed = |wrong: WrongKey| wrong.of("flow", &self.name.text);
        self.check_own(topology, duration).map_err(placed)?;
        let options = self.transport.over(general);
        let carried = Carried {
            flow: &self.name.text,
            users: self.count as usize, // users of `arrivals` take the nodes in turn
            protocol: self.protocol,
            echo: self.echo,
            striped: self.striped,
            options: &options,
        };
        for (index, path) in self.path.iter().enumerate() {
            path.check(index, topology, duration, &carried)?;
        }
        if self.striped && !self.path.iter().all(Path::stays) {
            let what = "the flow is striped, but one of its paths joins, leaves or is a backup";
            let right = "one TCP uses all paths of a striped flow from its start to its end";
            return Err(placed(WrongKey::new("striped", what, right)));
        }
        let wrong = |wrong: WrongKey| placed(wrong.below("transport"));
        check_options(&options).map_err(wrong)?;
        if self.protocol == Protocol::Quic {
            let count = self.paths(topology);
            quic::check(&self.path, count, &self.transport, &options).map_err(placed)?;
        }
        self.check_controller()
    }

    /// Checks the flow's own keys.
    fn check_own(&self, topology: Topology<'_>, duration: Span) -> Result<(), WrongKey> {
        if self.path.is_empty() {
            let right = "add a [[flow.path]] with `links`";
            return Err(WrongKey::new("path", "it has no path", right));
        }
        if self.transfer.is_some() && self.app_rate.is_some() {
            let what = "both `transfer` and `app_rate` are set";
            return Err(WrongKey::new("transfer", what, "choose one of them"));
        }
        TRANSFER.check("transfer", &self.transfer)?;
        self.check_arrivals(duration)?;
        self.check_sizes()?;
        self.check_pauses()?;
        self.check_protocol()?;
        self.check_base(topology)?;
        let one_user = self.count == 1 && self.arrivals.is_none();
        self.fair.map_or(Ok(()), |fair| fair.check(one_user))?;
        let latest = self.start + self.spread;
        match latest >= duration {
            true => {
                let what = format!("it may start at {latest}, and the run ends at {duration}");
                Err(WrongKey::new("start", what, START))
            }
            false => Ok(()),
        }
    }

    fn check_arrivals(&self, duration: Span) -> Result<(), WrongKey> {
        let Some(rate) = self.arrivals else {
            return Ok(());
        };
        let most = f64::from(u32::MAX) / duration.seconds();
        if !(rate > 0.0 && rate < most) {
            return Err(WrongKey::value("arrivals", rate, ARRIVALS));
        }
        match self.count != 1 || self.spread != Span::ZERO {
            true => {
                let what = "`arrivals` is set, and so is `count` or `spread`";
                let right = "`arrivals` sets how many users come, and when: leave the others out";
                Err(WrongKey::new("arrivals", what, right))
            }
            false => Ok(()),
        }
    }

    fn check_sizes(&self) -> Result<(), WrongKey> {
        if self.sizes.is_some() && self.transfer.is_none() {
            let right = "give their mean as `transfer`";
            return Err(WrongKey::new("sizes", "`sizes` is set without `transfer`", right));
        }
        self.sizes.as_ref().map_or(Ok(()), Sizes::check)
    }

    fn check_pauses(&self) -> Result<(), WrongKey> {
        if self.pauses.is_some() && self.app_rate.is_none() {
            let right =
                "give the rate at which the application writes between pauses as `app_rate`";
            return Err(WrongKey::new("pauses", "`pauses` is set without `app_rate`", right));
        }
        self.pauses.as_ref().map_or(Ok(()), Pauses::check).map_err(WrongKey::from)
    }

    fn check_protocol(&self) -> Result<(), WrongKey> {
        if self.protocol == Protocol::Quic && self.striped {
            let right = "QUIC puts data on the first path with room: leave `striped` out";
            return Err(WrongKey::new("striped", "it is QUIC, and striped", right));
        }
        if self.protocol != Protocol::Udp {
            return match self.echo {
                true => {
                    let name = if self.protocol == Protocol::Tcp { "TCP" } else { "QUIC" };
                    let what = format!("`echo` is set, but the flow is {name}");
                    Err(WrongKey::new("echo", what, "only UDP packets are sent back"))
                }
                false => Ok(()),
            };
        }
        if self.subject {
            let right = "it has no congestion control: leave `subject` out";
            return Err(WrongKey::new("subject", "it is UDP, and is the subject", right));
        }
        if self.app_rate.is_none() {
            let right = "give the rate at which it sends as `app_rate`";
            return Err(WrongKey::new("app_rate", "it is UDP, and has no `app_rate`", right));
        }
        if self.path.len() > 1 {
            let right = "UDP has one path: write a flow for each";
            return Err(WrongKey::new("path", "it is UDP, and has several paths", right));
        }
        let each = Some(Channel::Word(ChannelWord::Each));
        match self.path.iter().any(|path| path.channel == each) {
            true => {
                let right = "UDP has one path: give a number or \"turn\" as `channel`";
                Err(WrongKey::new("path", "it is UDP, and has a path on each channel", right))
            }
            false => Ok(()),
        }
    }

    /// Checks that the base path exists.
    fn check_base(&self, topology: Topology<'_>) -> Result<(), WrongKey> {
        let paths = if self.striped { 1 } else { self.paths(topology) };
        if (self.base as usize) < paths {
            return Ok(());
        }
        let right = match paths {
            1 => "it has one path, which is path 0".to_string(),
            _ => format!("its paths are 0 to {}", paths - 1),
        };
        Err(WrongKey::new("base", format!("base is path {}", self.base), right))
    }

    fn check_controller(&self) -> Result<(), Located> {
        let wrong = |problem: String, help: &'static str| {
            let message = format!("flow `{}`: controller: {problem}", self.name.text);
            let subject = Subject::Bytes(self.controller.span.clone());
            Located { error: Error::new(message).help(help), subject }
        };
        let spec = self.controller.spec.as_ref().map_err(|unknown| {
            wrong(unknown.to_string(), "`anabranch list controllers` shows all of them")
        })?;
        if let Some((problem, help)) = quic::wrong_controller(spec, self.protocol == Protocol::Quic)
        {
            return Err(wrong(problem, help));
        }
        if spec.needs().reports && self.path.iter().any(|path| path.coding.is_some()) {
            return Err(wrong(
                format!("`{spec}` needs reports from the receiver, but a path is coded"),
                "receivers of coded paths send ACKs instead of reports: choose a controller with a window",
            ));
        }
        Ok(())
    }

    /// Warnings about settings that are allowed but probably unintended.
    pub(crate) fn warnings(&self, topology: Topology<'_>) -> Vec<String> {
        let warning = |(index, path): (usize, &Path)| {
            let warning = coding_warning(&path.coding?, path.loss(topology.links))?;
            Some(format!("flow `{}`, path {index}: {warning}", self.name.text))
        };
        self.path.iter().enumerate().filter_map(warning).collect()
    }

    /// The class of a flow that has been checked.
    pub(crate) fn expand(
        &self,
        topology: Topology<'_>,
        duration: Span,
        general: &OptionTable,
        laid: &mut LaidLinks<'_>,
    ) -> Class {
        let picks = |path: &'_ Path| path.picks(topology).into_iter();
        let mut paths = Vec::new();
        for path in &self.path {
            for pick in picks(path) {
                let back = format!("{}/{}/back", self.name.text, paths.len());
                paths.push(path.expand(pick, back, laid));
            }
        }
        if self.striped {
            paths[0].turns = paths.drain(1..).map(|path| (path.links, path.back)).collect();
        }
        let lasts = duration - self.start;
        let (count, spread) = match self.arrivals {
            Some(rate) => ((rate * lasts.seconds()).round().max(1.0) as u32, lasts),
            None => (self.count, self.spread),
        };
        Class {
            name: self.name.text.clone(),
            count,
            controller: self.controller.spec.clone().expect("the controller was checked"),
            paths,
            subject: self.subject,
            start: self.start,
            spread,
            transfer: self.transfer,
            sizes: self.sizes,
            app_rate: self.app_rate,
            pauses: self.pauses,
            protocol: self.protocol,
            echo: self.echo,
            fair: self.fair,
            base: self.base as usize,
            transport: self.transport.over(general),
        }
    }
}

impl Class {
    /// Warnings of paths whose first acknowledgement arrives after the first timeout. RFC 6298
    /// begins with 1 s; connections on such paths are rare, and a real connection would have the
    /// same timeout.
    pub(crate) fn early_timeouts(&self) -> Vec<String> {
        let Options { rto_initial, .. } = self.transport;
        let late = |path: &&PlanPath| path.base_rtt >= rto_initial;
        let tcp = self.protocol == Protocol::Tcp && !self.controller.needs().reports;
        let numbered = self.paths.iter().enumerate().filter(|(_, path)| tcp && late(path));
        let warning = |(index, path): (usize, &PlanPath)| {
            format!(
                "flow `{}`, path {index}: its round trip without queues ({}) is not below \
                 transport.rto_initial ({rto_initial}): the first segments time out before they can \
                 be acknowledged, and slow start begins again with half the window as its \
                 threshold; set transport.rto_initial above it",
                self.name, path.base_rtt
            )
        };
        numbered.map(warning).collect()
    }
}

/// Checks transport options; the key in an error is below `transport`.
pub(crate) fn check_options(options: &Options) -> Result<(), WrongKey> {
    options.check().map_err(|wrong| {
        let what = format!("transport.{} is {}", wrong.key, wrong.value);
        WrongKey::new(&wrong.key, what, wrong.right)
    })
}
