//! Network coding of paths: what is refused, and what is only unwise.

use crate::schema::{Coding, Flow, Path, Protocol, Scenario};

/// More combinations for a segment than any loss asks for that leaves a path usable.
const MOST_REDUNDANCY: f64 = 10.0;

/// What is wrong: key below `coding`, what it is, what would be right.
type Wrong = (&'static str, String, &'static str);

/// Whether coding of `path` can be.
pub(crate) fn check(scenario: &Scenario, flow: &Flow, path: &Path) -> Result<(), Wrong> {
    let Some(Coding { redundancy, window }) = path.coding else {
        return Ok(());
    };
    if !(1.0..=MOST_REDUNDANCY).contains(&redundancy) {
        let right = "at least 1 (each segment is sent once), at least 1/(1 − p) against a loss of p, at most 10";
        return Err((".redundancy", format!("redundancy is {redundancy}"), right));
    }
    if window == 0 {
        let right = "W is 1 to 255: a combination covers at least the segment for which it is sent";
        return Err((".window", "the coding window is 0 segments".into(), right));
    }
    if flow.protocol == Protocol::Udp || flow.striped {
        let what = if flow.striped { "a striped flow" } else { "a flow of UDP" };
        return Err(("", format!("{what} is coded"), "paths of TCP and MPTCP can be coded"));
    }
    let transport = flow.transport.over(&scenario.transport);
    let modern = [
        (transport.rack, "rack"),
        (transport.tlp, "tlp"),
        (transport.dsack, "dsack"),
        (transport.frto, "frto"),
        (transport.eifel, "eifel"),
        (transport.ecn, "ecn"),
    ];
    match modern.iter().find(|(on, _)| *on) {
        Some((_, name)) => {
            let right = "a coded path acknowledges what was seen, without SACK, marks or copies: leave it off";
            Err(("", format!("a path is coded, and transport.{name} is on"), right))
        }
        None => Ok(()),
    }
}

/// What is allowed and probably not meant.
pub(crate) fn warnings(scenario: &Scenario) -> Vec<String> {
    let mut warnings = Vec::new();
    for flow in scenario.flow.iter().filter(|flow| flow.count > 0) {
        for (index, path) in flow.path.iter().enumerate() {
            let arrives = path.links.iter().filter_map(|name| {
                let link = scenario.link.iter().find(|link| link.name.text == name.text)?;
                Some(1.0 - link.loss.as_ref()?.probability)
            });
            let loss = 1.0 - arrives.product::<f64>();
            let Some(Coding { redundancy, .. }) = path.coding else {
                continue;
            };
            if redundancy * (1.0 - loss) < 1.0 - 1e-9 {
                warnings.push(format!(
                    "flow `{}`, path {index}: redundancy {redundancy} is below 1/(1 − {loss:.3}) = {:.3}: \
                     coding cannot make the loss of its links good, and TCP sees what is left of it",
                    flow.name.text,
                    1.0 / (1.0 - loss),
                ));
            }
        }
    }
    warnings
}
