//! What the types cannot check: references, ranges, and times that make no sense together.

use crate::coding;
use crate::error::{Error, list};
use crate::ground;
use crate::opportunities;
use crate::schema::{self, Flow, Link, Name, Protocol, Queue, Scenario, Sizes};
use crate::sharing;
use crate::trace;
use core::ops::Range;
use transport::{OptionTable, Options, WrongParameter};
use units::{Bytes, Span};

/// Of what happens again and again whatever the traffic: shorter ones are work without end.
const SHORTEST: Span = Span::millis(1);

/// Paths of all flows together: at 2 kB each, 20 GB.
const MOST_PATHS: u64 = 10_000_000;

/// What an error is about: bytes of the file, or a dotted key, which may be left out there.
pub(crate) enum About {
    Span(Range<usize>),
    Key(String),
}

pub(crate) type Placed = (Error, About);

pub(crate) fn at(name: &Name, error: Error) -> Placed {
    (error, About::Span(name.span.clone()))
}

pub(crate) fn about(key: impl Into<String>, error: Error) -> Placed {
    (error, About::Key(key.into()))
}

/// Checks a scenario that parsed.
pub(crate) fn check(scenario: &Scenario) -> Result<(), Placed> {
    times(scenario)?;
    check_transport("the scenario", &scenario.transport.over(&OptionTable::default()))
        .map_err(|(field, error)| about(format!("transport.{field}"), error))?;
    unique("link", scenario.link.iter().map(|link| &link.name))?;
    unique("flow", scenario.flow.iter().map(|flow| &flow.name))?;
    for link in &scenario.link {
        check_link(link, scenario)?;
    }
    ground::check(scenario)?;
    sharing::check(scenario)?;
    if scenario.flow.is_empty() {
        let error = Error::new("the scenario has no [[flow]]");
        return Err(about("flow", error.help("add at least one [[flow]] with a path")));
    }
    if scenario.flow.iter().all(|flow| flow.count == 0) {
        let error = Error::new("no flow has a user: each has a `count` of zero");
        return Err(about("flow", error.help("give a flow a `count` of 1 or more")));
    }
    let paths = |flow: &Flow| users(scenario, flow) * sharing::paths(scenario, flow) as u64;
    let total: u64 = scenario.flow.iter().map(paths).sum();
    if total > MOST_PATHS {
        let message = format!("the flows have {total} paths in all (count times paths)");
        let help = format!("at most {MOST_PATHS} fit into the memory of a large machine");
        let most = scenario.flow.iter().max_by_key(|flow| paths(flow)).map(|flow| &flow.name.text);
        let key = format!("flow.{}.count", most.map_or("", String::as_str));
        return Err(about(key, Error::new(message).help(help)));
    }
    for flow in &scenario.flow {
        check_flow(scenario, flow)?;
        check_controller(flow)?;
    }
    Ok(())
}

fn check_controller(flow: &Flow) -> Result<(), Placed> {
    let wrong = |problem: String, help: &'static str| {
        let message = format!("flow `{}`: controller: {problem}", flow.name.text);
        (Error::new(message).help(help), About::Span(flow.controller.span.clone()))
    };
    let spec = flow.controller.spec.as_ref().map_err(|unknown| {
        wrong(unknown.to_string(), "`anabranch list controllers` shows all of them")
    })?;
    if spec.needs().reports && flow.path.iter().any(|path| path.coding.is_some()) {
        return Err(wrong(
            format!("`{spec}` works with reports, and a path is coded"),
            "coded paths acknowledge what is seen: take one with a window",
        ));
    }
    Ok(())
}

/// How many users a flow has.
fn users(scenario: &Scenario, flow: &Flow) -> u64 {
    let come = |rate: f64| (rate * (scenario.duration - flow.start).seconds()).round() as u64;
    flow.arrivals.map_or(u64::from(flow.count), come)
}

fn times(scenario: &Scenario) -> Result<(), Placed> {
    let Scenario { duration, warmup, sample, .. } = scenario;
    if *duration == Span::ZERO {
        let error = Error::new("duration is zero").help("write, for example, \"60 s\"");
        return Err(about("duration", error));
    }
    if warmup >= duration {
        let message = format!("warmup ({warmup}) is not before the end of the run ({duration})");
        let help = "shorten `warmup` or lengthen `duration`";
        return Err(about("warmup", Error::new(message).help(help)));
    }
    if *sample == Span::ZERO {
        let error = Error::new("sample is zero").help("write, for example, \"100 ms\"");
        return Err(about("sample", error));
    }
    Ok(())
}

pub(crate) fn unique<'a>(kind: &str, names: impl Iterator<Item = &'a Name>) -> Result<(), Placed> {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if name.text.is_empty() || name.text.contains('.') {
            let message = format!("a {kind} is called `{}`", name.text);
            return Err(at(name, Error::new(message).help("a name is not empty and has no dot")));
        }
        if seen.contains(&name.text.as_str()) {
            let message = format!("two {kind}s are called `{}`", name.text);
            return Err(at(name, Error::new(message).help("give one of them another name")));
        }
        seen.push(&name.text);
    }
    Ok(())
}

fn probability(value: f64) -> bool {
    (0.0..=1.0).contains(&value)
}

fn check_link(link: &Link, scenario: &Scenario) -> Result<(), Placed> {
    let duration = scenario.duration;
    let placed = |(field, value, right): Wrong| {
        let name = &link.name.text;
        let error = Error::new(format!("link `{name}`: {field} is {value}")).help(right);
        about(format!("link.{name}.{field}"), error)
    };
    check_faults(link).map_err(placed)?;
    opportunities::check(link).map_err(placed)?;
    check_changes(link).map_err(placed)?;
    if let Some(trace) = &link.trace {
        let all: u64 = scenario.flow.iter().map(|flow| users(scenario, flow)).sum();
        let copies = if link.per_user { all.max(1) } else { 1 };
        trace::check(trace, duration, copies).map_err(placed)?;
        if link.rate.is_none() && traced(link, duration).any(|change| change.rate.is_some()) {
            let right =
                "give the link a rate, which holds until the first row, and no opportunities";
            wrong("trace", "of rates, but the link has none", right).map_err(placed)?;
        }
    }
    if link.queue.is_some() && !link.transmits() && link.medium.is_none() {
        let right = "a pure delay has no queue";
        wrong("queue", "set, but the link has no rate", right).map_err(placed)?;
    }
    link.queue.iter().try_for_each(check_queue).map_err(placed)
}

/// The changes of a link's trace.
fn traced(link: &Link, duration: Span) -> impl Iterator<Item = schema::LinkChange> {
    link.trace.iter().flat_map(move |trace| trace::changes(trace, duration))
}

/// A wrong field of a link, its value, and what would be right.
pub(crate) type Wrong = (String, String, &'static str);

pub(crate) fn wrong(field: &str, value: impl ToString, right: &'static str) -> Result<(), Wrong> {
    Err((field.into(), value.to_string(), right))
}

const FROM_0_TO_1: &str = "it lies from 0 to 1";

fn check_faults(link: &Link) -> Result<(), Wrong> {
    if let Some(reorder) = link.reorder.as_ref().filter(|it| !probability(it.probability)) {
        return wrong("reorder.probability", reorder.probability, FROM_0_TO_1);
    }
    if !probability(link.duplicate) {
        return wrong("duplicate", link.duplicate, FROM_0_TO_1);
    }
    let departing = link.queue.as_ref().is_some_and(Queue::decides_on_departure);
    if link.jitter > Span::ZERO && (departing || link.reorder.is_some() || link.duplicate > 0.0) {
        let right = "a link with CoDel, FQ-CoDel, `reorder` or `duplicate` has none: put it on a link after this one";
        return wrong("jitter", link.jitter, right);
    }
    let Some(loss) = &link.loss else {
        return Ok(());
    };
    for (field, value) in
        [("loss.probability", loss.probability), ("loss.good", loss.good), ("loss.bad", loss.bad)]
    {
        if !probability(value) {
            return wrong(field, value, FROM_0_TO_1);
        }
    }
    let Some(burst) = loss.burst else {
        let chain = loss.good != 0.0 || loss.bad != 1.0;
        return match chain {
            true => wrong("loss", "`good` or `bad` without `burst`", "a chain has a `burst`"),
            false => Ok(()),
        };
    };
    if !(1.0..=1e9).contains(&burst) {
        return wrong("loss.burst", burst, "it is at least 1 packet");
    }
    let share = (loss.probability - loss.good) / (loss.bad - loss.good);
    if !(loss.good < loss.bad && (0.0..1.0).contains(&share)) {
        let right =
            "with `burst` it is at least `good` and below `bad`, the losses of the two states";
        return wrong("loss.probability", loss.probability, right);
    }
    if share / (1.0 - share) > burst {
        let right = "with that `probability`, so many packets in a row find the bad state at least: \
                     share / (1 - share), share = (probability - good) / (bad - good)";
        return wrong("loss.burst", burst, right);
    }
    Ok(())
}

fn check_changes(link: &Link) -> Result<(), Wrong> {
    for (index, change) in link.change.iter().enumerate() {
        if let Some(loss) = change.loss.filter(|loss| !probability(*loss)) {
            return wrong(&format!("change.{index}.loss"), loss, FROM_0_TO_1);
        }
        if change.rate.is_some() && link.rate.is_none() {
            let field = format!("change.{index}.rate");
            return wrong(&field, "set, but the link has no rate", "give the link a rate");
        }
    }
    Ok(())
}

/// Checks the parameters of a queue.
pub(crate) fn check_queue(queue: &Queue) -> Result<(), Wrong> {
    queue.check().map_err(|error| {
        let error = error.inside("queue");
        (error.key, error.value, error.right)
    })
}

/// Checks the queue of a host.
pub(crate) fn check_host_queue(queue: &Queue) -> Result<(), Wrong> {
    check_queue(queue)?;
    match queue.kind() {
        Some(kind) if !kind.for_hosts => wrong("queue", "one of a router", Queue::for_hosts()),
        _ => Ok(()),
    }
}

fn check_flow(scenario: &Scenario, flow: &Flow) -> Result<(), Placed> {
    let name = &flow.name.text;
    let wrong = |field: &str, message: &str, right: &str| {
        let error = Error::new(format!("flow `{name}`: {message}")).help(right);
        Err(about(format!("flow.{name}.{field}"), error))
    };
    if flow.path.is_empty() {
        return wrong("path", "it has no path", "add a [[flow.path]] with `links`");
    }
    if flow.transfer.is_some() && flow.app_rate.is_some() {
        return wrong("transfer", "both `transfer` and `app_rate` are set", "choose one of them");
    }
    if flow.transfer == Some(Bytes(0)) {
        return wrong("transfer", "transfer is 0 B", "leave it out for a flow that never ends");
    }
    check_users(scenario, flow).or_else(|(field, message, right)| wrong(field, &message, right))?;
    check_application(flow).or_else(|(field, message, right)| wrong(field, message, right))?;
    check_base(scenario, flow).or_else(|(message, right)| wrong("base", &message, &right))?;
    check_fair(flow).or_else(|(message, right)| wrong("fair", &message, right))?;
    let latest = flow.start + flow.spread;
    if latest >= scenario.duration {
        let message =
            format!("it may start at {latest}, and the run ends at {}", scenario.duration);
        return wrong("start", &message, "start + spread is below duration");
    }
    for (index, path) in flow.path.iter().enumerate() {
        let of_path = |field: &str| format!("path.{index}.{field}");
        for (field, links) in [("links", Some(&path.links)), ("back", path.back.as_ref())] {
            if links.is_some_and(Vec::is_empty) {
                let message = format!("`{field}` of a path is empty");
                return wrong(&of_path(field), &message, "name at least one link");
            }
        }
        let joins = path.join.unwrap_or_default();
        if let Some(leave) = path.leave.filter(|leave| *leave <= joins) {
            let message = format!("a path leaves at {leave} and joins at {joins}");
            return wrong(&of_path("leave"), &message, "`join` is before `leave`");
        }
        sharing::check_path(scenario, flow, path)
            .or_else(|(field, message, right)| wrong(&of_path(field), &message, &right))?;
        check_way(scenario, flow, &path.links)?;
        match &path.back {
            Some(back) => check_way(scenario, flow, back)?,
            None if (flow.protocol == Protocol::Tcp || flow.echo)
                && crosses_air(scenario, path) =>
            {
                let what = "a path over a medium has no `back`";
                let right =
                    "name its links back: acknowledgements and echoes share the medium with data";
                return wrong(&of_path("links"), what, right);
            }
            None => {}
        }
        check_round_trip(scenario, flow, path)?;
        coding::check(scenario, flow, path).or_else(|(field, message, right)| {
            wrong(&of_path(&format!("coding{field}")), &message, right)
        })?;
        let moves = path.join.is_some() || path.leave.is_some() || path.backup;
        if flow.striped && moves {
            let message = "a path of a striped flow joins, leaves or is a backup";
            return wrong("striped", message, "its paths are those of one TCP, from start to end");
        }
    }
    let transport = flow.transport.over(&scenario.transport);
    check_transport(&format!("flow `{name}`"), &transport)
        .map_err(|(field, error)| about(format!("flow.{name}.transport.{field}"), error))
}

/// Whether the path that is to be the base exists.
fn check_base(scenario: &Scenario, flow: &Flow) -> Result<(), (String, String)> {
    let paths = if flow.striped { 1 } else { sharing::paths(scenario, flow) };
    if (flow.base as usize) < paths {
        return Ok(());
    }
    let right = match paths {
        1 => "it has one path, which is path 0".to_string(),
        _ => format!("its paths are 0 to {}", paths - 1),
    };
    Err((format!("base is path {}", flow.base), right))
}

/// Whether arrivals, sizes and what goes with them make sense.
fn check_users(
    scenario: &Scenario,
    flow: &Flow,
) -> Result<(), (&'static str, String, &'static str)> {
    if let Some(rate) = flow.arrivals {
        let most = f64::from(u32::MAX) / scenario.duration.seconds();
        if !(rate > 0.0 && rate < most) {
            return Err((
                "arrivals",
                format!("arrivals is {rate}"),
                "a number of users per second above 0",
            ));
        }
        if flow.count != 1 || flow.spread != Span::ZERO {
            let message = "`arrivals` and `count` or `spread` are set";
            return Err((
                "arrivals",
                message.into(),
                "`arrivals` says how many users come, and when",
            ));
        }
    }
    if flow.sizes.is_some() && flow.transfer.is_none() {
        return Err((
            "sizes",
            "`sizes` without `transfer`".into(),
            "`transfer` is the mean of the sizes",
        ));
    }
    match flow.sizes {
        Some(Sizes::Pareto(shape)) if !(shape > 1.0 && shape.is_finite()) => {
            return Err((
                "sizes",
                format!("sizes.pareto is {shape}"),
                "a shape above 1 has a mean",
            ));
        }
        Some(Sizes::Lognormal(sigma)) if !(sigma > 0.0 && sigma <= 10.0) => {
            return Err((
                "sizes",
                format!("sizes.lognormal is {sigma}"),
                "it lies above 0 and at most at 10",
            ));
        }
        _ => {}
    }
    Ok(())
}

/// Whether what is demanded of an ensemble can be judged.
fn check_fair(flow: &Flow) -> Result<(), (String, &'static str)> {
    let Some(fair) = flow.fair else {
        return Ok(());
    };
    if !(0.0..=1.0).contains(&fair.margin) {
        return Err((format!("fair.margin is {}", fair.margin), "it is a part, from 0 to 1"));
    }
    if flow.count != 1 || flow.arrivals.is_some() {
        let message = "`fair` of a flow that is not one user".to_owned();
        return Err((message, "it is defined for one ensemble: `count = 1`"));
    }
    Ok(())
}

/// Whether rate, pauses and protocol go together.
fn check_application(flow: &Flow) -> Result<(), (&'static str, &'static str, &'static str)> {
    if let Some(pauses) = flow.pauses {
        if flow.app_rate.is_none() {
            return Err((
                "pauses",
                "`pauses` without `app_rate`",
                "give the rate at which it writes",
            ));
        }
        if pauses.on.min(pauses.off) < SHORTEST {
            return Err((
                "pauses",
                "`on` or `off` of its pauses is below 1 ms",
                "both are at least 1 ms",
            ));
        }
    }
    if flow.protocol == Protocol::Udp {
        if flow.app_rate.is_none() {
            return Err(("app_rate", "UDP without `app_rate`", "give the rate at which it sends"));
        }
        if flow.path.len() > 1 {
            return Err(("path", "UDP over several paths", "it has one path"));
        }
        let each = Some(schema::Channel::Word(schema::ChannelWord::Each));
        if flow.path.iter().any(|path| path.channel == each) {
            return Err((
                "path",
                "UDP over each channel",
                "it has one path: give a number or \"turn\"",
            ));
        }
    } else if flow.echo {
        return Err(("echo", "`echo` of a flow of TCP", "UDP's packets are sent back"));
    }
    Ok(())
}

/// Every link exists, and where nodes are given each link begins where the one before it ends.
fn check_way(scenario: &Scenario, flow: &Flow, way: &[Name]) -> Result<(), Placed> {
    let mut previous: Option<&Link> = None;
    for name in way {
        let Some(link) = scenario.link.iter().find(|link| link.name.text == name.text) else {
            let message = format!("flow `{}`: there is no link `{}`", flow.name.text, name.text);
            let known = list(scenario.link.iter().map(|link| link.name.text.as_str()));
            return Err(at(name, Error::new(message).help(format!("the links are {known}"))));
        };
        let end = previous.and_then(|link| link.to.as_ref());
        if let (Some(before), Some(end), Some(begin)) = (previous, end, &link.from)
            && end.text != begin.text
        {
            let message = format!(
                "flow `{}`: the path has a gap: `{}` ends at `{}` and `{}` begins at `{}`",
                flow.name.text, before.name.text, end.text, name.text, begin.text
            );
            return Err(at(name, Error::new(message).help("name the links between the two nodes")));
        }
        previous = Some(link);
    }
    Ok(())
}

/// Whether a link of a path is a part of a medium.
fn crosses_air(scenario: &Scenario, path: &schema::Path) -> bool {
    let air = |link: &&Link| link.medium.is_some();
    let mut air = scenario.link.iter().filter(air);
    air.any(|link| path.links.iter().any(|name| name.text == link.name.text))
}

/// A round trip takes time, now and after every change: otherwise a run never gets beyond an
/// instant.
fn check_round_trip(scenario: &Scenario, flow: &Flow, path: &schema::Path) -> Result<(), Placed> {
    let way = path.links.iter().chain(path.back.iter().flatten());
    let links =
        way.filter_map(|name| scenario.link.iter().find(|link| link.name.text == name.text));
    let takes_time = |link: &Link| {
        let traced: Vec<_> = traced(link, scenario.duration).collect();
        let stays =
            link.change.iter().chain(&traced).all(|change| change.delay != Some(Span::ZERO));
        link.transmits() || link.medium.is_some() || (link.delay > Span::ZERO && stays)
    };
    if links.into_iter().any(takes_time) {
        return Ok(());
    }
    let message = format!(
        "flow `{}`: no link of a path has a rate, or a delay that stays above zero",
        flow.name.text
    );
    let help = "give one of its links a `rate` or a `delay`, and no `change` to \"0 s\"";
    Err(at(&path.links[0], Error::new(message).help(help)))
}

/// The wrong option and what is wrong with it.
fn check_transport(whose: &str, options: &Options) -> Result<(), (&'static str, Error)> {
    options.check().map_err(|WrongParameter { field, value, right }| {
        (field, Error::new(format!("{whose}: transport.{field} is {value}")).help(right))
    })
}
