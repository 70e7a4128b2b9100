//! Reads the text of a scenario into its plan.

use crate::error::Error;
use crate::flow::Class;
use crate::locate::locate;
use crate::overrides::{self, Override, replaced};
use crate::protocol::Protocol;
use crate::report::{Located, Subject};
use crate::scenario::{Plan, Scenario};
use crate::shape::Shape;
use crate::size::check_size;
use control::{ControllerSpec, Outside};
use core::ops::Range;
use std::sync::Arc;

impl Plan {
    /// Whether it can be simulated; if not, why: a controller that only the kernel has.
    pub fn simulated(&self) -> Result<(), String> {
        for class in &self.classes {
            if let Some(name) = class.controller.linux() {
                return Err(format!(
                    "flow `{}`: linux:{name} is the running kernel's own, and is not simulated; \
                     `anabranch linux run` runs it",
                    class.name
                ));
            }
        }
        Ok(())
    }

    /// The first flow over QUIC, if there is one.
    pub fn quic(&self) -> Option<&Class> {
        self.classes.iter().find(|class| class.protocol == Protocol::Quic)
    }

    /// The plan with controllers from outside in every flow that is the subject. If none is, these
    /// are the flows with several paths or, if no flow has several, all flows over TCP.
    pub fn with_outside(mut self, outside: Arc<dyn Outside>) -> Self {
        let tcp = self.classes.iter_mut().filter(|class| class.protocol == Protocol::Tcp);
        let mut tcp: Vec<&mut Class> = tcp.collect();
        let said: Vec<_> = tcp.iter().map(|class| (class.subject, class.paths.len())).collect();
        for index in replaced(&said) {
            tcp[index].controller = ControllerSpec::outside(outside.clone());
        }
        self
    }

    /// Reads a scenario from `text`; `name` is the file's name in errors.
    ///
    /// # Errors
    /// Any error in the file or in an override, with its place.
    pub fn read(text: &str, name: &str, overrides: &[Override]) -> Result<Plan, Error> {
        check_size(text, name)?;
        let edited = overrides::apply(text, name, overrides)?;
        let text = edited.as_deref().unwrap_or(text);
        if text.trim().is_empty() {
            return Err(Error::new(format!("{name} is empty"))
                .help("a scenario has at least `name`, `duration`, a [[link]] and a [[flow]]"));
        }
        let mut respelled = None;
        let scenario = toml::from_str(text).or_else(|error| {
            let mut shape = Shape::of(text, &schemars::schema_for!(Scenario));
            let right = match shape.respell(text) {
                Some(right) => respelled.insert(right).as_str(),
                None => return Err(misshapen(error, shape, name, text, overrides)),
            };
            toml::from_str(right).map_err(|error| {
                let shape = Shape::of(right, &schemars::schema_for!(Scenario));
                misshapen(error, shape, name, right, overrides)
            })
        });
        let scenario: Scenario = scenario?;
        let text = respelled.as_deref().unwrap_or(text);
        scenario.check().map_err(|Located { error, subject }| {
            let span = match subject {
                Subject::Bytes(span) => Some(span),
                Subject::Key(key) => locate(text, &key),
            };
            place(error, span, name, text, overrides)
        })?;
        Ok(scenario.expand())
    }

    /// The class called `name`.
    pub fn class(&self, name: &str) -> Option<&Class> {
        self.classes.iter().find(|class| class.name == name)
    }

    /// The plan as JSON, for theory, reports and provenance.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// The error for a text that is not a scenario.
fn misshapen(
    error: toml::de::Error,
    shape: Shape,
    name: &str,
    text: &str,
    overrides: &[Override],
) -> Error {
    let span = error.span().unwrap_or_default();
    let (error, span) = match shape.at(&span) {
        Some(mistake) => (mistake.error, mistake.span),
        None => (Error::new(error.message().trim_end()), span),
    };
    place(error, Some(span), name, text, overrides)
}

/// Adds the place of an error: in an override, or in the file, whose text includes the overrides.
fn place(
    mut error: Error,
    span: Option<Range<usize>>,
    name: &str,
    text: &str,
    overrides: &[Override],
) -> Error {
    let span = span.unwrap_or(0..0);
    let covers = |change: &&Override| {
        locate(text, &change.key).is_some_and(|own| own.start <= span.start && span.end <= own.end)
    };
    match overrides.iter().rev().find(covers) {
        Some(Override { key, value }) if !span.is_empty() => {
            error.message = format!("override `{key}={value}`: {}", error.message);
            error
        }
        _ if overrides.is_empty() => error.at(name, text, span),
        _ => error.at(&format!("{name} with overrides"), text, span),
    }
}
