//! Collects the declarations of a text; every name is declared once.

use crate::error::{Mistake, offer};
use crate::expression::{Expression, KEYWORDS};
use crate::graph::MOST_NODES;
use crate::prelude;
use crate::statement::{Event, Interval, Named, Setting, Statement, statements};
use crate::tokens::subscript;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The declarations of a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declared {
    own: usize,
    pub(crate) name: Option<String>,
    pub(crate) summary: String,
    pub(crate) source: String,
    pub(crate) parameters: Vec<Declaration<Given>>,
    pub(crate) notes: Vec<Declaration<Expression>>,
    pub(crate) definitions: Vec<Declaration<Expression>>,
    pub(crate) on: Vec<(Event, Named, Expression)>,
    pub(crate) steady: Vec<(Named, Expression)>,
    pub(crate) slow_start: Option<Setting>,
    pub(crate) coupling: Option<Setting>,
    pub(crate) kernel: bool,
}

/// A declared name with its meaning.
#[derive(Clone, Debug)]
pub(crate) struct Declaration<T> {
    pub(crate) name: Named,
    pub(crate) value: T,
    pub(crate) meaning: String,
}

/// A parameter of a law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Given {
    pub(crate) default: f64,
    pub(crate) value: f64,
    pub(crate) range: Interval,
}

/// Most names of a law.
const MOST_NAMES: usize = 64;

/// Most notes of a law: the room for notes of each path.
pub const MOST_NOTES: usize = 8;

/// Names with a meaning in every law.
pub(crate) const SYMBOLS: [&str; 10] =
    ["w", "rtt", "x", "n", "w_tot", "l", "rtt_min", "acked", "rtt_last", "p"];

/// The definitions that make a law, and the one that only the shell reads.
pub(crate) const GROWTH: &str = "growth";
pub(crate) const BACKOFF: &str = "backoff";
pub(crate) const MIN_SSTHRESH: &str = "min_ssthresh";

/// Names of settings that are not parameters.
pub(crate) const SLOW_START: &str = "slow_start";
pub(crate) const COUPLING: &str = "coupling";
pub(crate) const ARITHMETIC: &str = "arithmetic";

/// The declarations in `text`. From byte `own` on the text is the prelude's, which may declare
/// names that laws may not.
pub(crate) fn collect(text: &str, own: usize) -> Result<Declared, Mistake> {
    let mut all = Declared { own, ..Declared::default() };
    let mut settings = Vec::new();
    for statement in statements(text)? {
        all.take(statement, &mut settings)?;
    }
    for (name, setting) in settings {
        all.set(&name, setting)?;
    }
    Ok(all)
}

impl Declared {
    fn take(
        &mut self,
        statement: Statement,
        with: &mut Vec<(Named, Setting)>,
    ) -> Result<(), Mistake> {
        match statement {
            Statement::Law(name, _) if self.name.is_some() => {
                return Err(Mistake::new("the law has a name already", name.span));
            }
            Statement::Law(name, summary) => (self.name, self.summary) = (Some(name.text), summary),
            Statement::Source(source) => self.source = source,
            Statement::Parameter(name, default, range, meaning) => {
                self.declare(&name)?;
                let default = in_range(&name.text, &default, &range)?;
                let value = Given { default, value: default, range };
                self.parameters.push(Declaration { name, value, meaning });
            }
            Statement::Note(name, value, meaning) => {
                self.declare(&name)?;
                if self.notes.len() == MOST_NOTES {
                    let message = format!("the law has more than {MOST_NOTES} notes");
                    return Err(Mistake::new(message, name.span));
                }
                self.notes.push(Declaration { name, value, meaning });
            }
            Statement::Definition(name, value) => {
                self.declare(&name)?;
                self.definitions.push(Declaration { name, value, meaning: String::new() });
            }
            Statement::On(event, name, value) => {
                self.own_note(&name)?;
                if self.on.len() == MOST_NAMES {
                    let message = format!("the law has more than {MOST_NAMES} updates of notes");
                    return Err(Mistake::new(message, name.span));
                }
                self.on.push((event, name, value));
            }
            Statement::Steady(name, value) => {
                self.own_note(&name)?;
                self.steady.push((name, value));
            }
            Statement::With(name, setting) => with.push((name, setting)),
        }
        Ok(())
    }

    /// Refuses updates of notes declared after the text: the kernel counts those notes itself.
    fn own_note(&self, name: &Named) -> Result<(), Mistake> {
        let Named { text, span } = name;
        match prelude::NOTES.contains(&text.as_str()) && span.start < self.own {
            true => {
                let message = format!("`{text}` belongs to the symbols `l` and `rtt_min`");
                Err(Mistake::new(format!("{message}: declare a note of your own"), span.clone()))
            }
            false => Ok(()),
        }
    }

    /// Checks that `name` is free and allowed.
    fn declare(&self, name: &Named) -> Result<(), Mistake> {
        let Named { text, span } = name;
        let wrong = |message: String| Err(Mistake::new(message, span.clone()));
        if SYMBOLS.contains(&text.as_str()) && span.start < self.own {
            return wrong(format!("`{text}` means something already: choose another name"));
        }
        if prelude::NOTES.contains(&text.as_str()) && span.start < self.own {
            return wrong(format!("`{text}` belongs to the symbols `l` and `rtt_min`"));
        }
        if [SLOW_START, ARITHMETIC].contains(&text.as_str()) {
            return wrong(format!("`{text}` is a setting of every law: choose another name"));
        }
        if KEYWORDS.contains(&text.as_str()) || prelude::FUNCTIONS.contains(&text.as_str()) {
            return wrong(format!("`{text}` is a word of the language: choose another name"));
        }
        if let Some((base, letter)) = subscript(text) {
            let message = format!("`{text}` would be `{base}` of path `{letter}`");
            return wrong(format!("{message}: a name may not end in `_` and one letter"));
        }
        if self.names().any(|known| known == text) {
            return wrong(format!("`{text}` is declared already"));
        }
        if self.names().count() == MOST_NAMES {
            return wrong(format!("the law has more than {MOST_NAMES} names"));
        }
        Ok(())
    }

    /// All names declared by the law.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let parameters = self.parameters.iter().map(|one| &one.name);
        let notes = self.notes.iter().map(|one| &one.name);
        let definitions = self.definitions.iter().map(|one| &one.name);
        parameters.chain(notes).chain(definitions).map(|name| name.text.as_str())
    }

    /// Sets a parameter, the slow start, the coupling or the arithmetic.
    fn set(&mut self, name: &Named, setting: Setting) -> Result<(), Mistake> {
        if name.text == SLOW_START {
            self.slow_start = Some(setting);
            return Ok(());
        }
        if name.text == COUPLING {
            self.coupling = Some(setting);
            return Ok(());
        }
        if name.text == ARITHMETIC {
            self.kernel = setting.text == "kernel";
            let message = format!("{ARITHMETIC} is {}; it is real or kernel", setting.text);
            let known = self.kernel || setting.text == "real";
            return known.then_some(()).ok_or_else(|| Mistake::new(message, setting.span));
        }
        let Some(own) = self.parameters.iter_mut().find(|own| own.name.text == name.text) else {
            let known: Vec<&str> =
                self.parameters.iter().map(|own| own.name.text.as_str()).collect();
            let help = match (offer(&name.text, known.iter().copied()), known.as_slice()) {
                (none, []) if none.is_empty() => "; the law has none".into(),
                (none, _) if none.is_empty() => format!("; there are {}", known.join(", ")),
                (near, _) => near,
            };
            let message = format!("the law has no parameter `{}`{help}", name.text);
            return Err(Mistake::new(message, name.span.clone()));
        };
        own.value.value = in_range(&name.text, &setting, &own.value.range)?;
        Ok(())
    }
}

/// The value of a parameter, if it is in range.
fn in_range(name: &str, setting: &Setting, range: &Interval) -> Result<f64, Mistake> {
    let value = setting.number()?;
    match range.holds(value) {
        true => Ok(value),
        false => {
            let message = format!("{name} is {value}; it lies in {range}");
            Err(Mistake::new(message, setting.span.clone()))
        }
    }
}

const _: () = assert!(MOST_NAMES < MOST_NODES);
