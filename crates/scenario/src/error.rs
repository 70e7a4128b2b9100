//! Errors with their place in the text.

use core::fmt;
use core::ops::Range;
use units::name::offer;

/// What is wrong with a scenario, where, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong, naming the field and the value.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
    place: Option<Box<Place>>,
}

/// The file's name and text, and the bytes concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    name: String,
    text: String,
    span: Range<usize>,
}

impl Error {
    /// An error without a place.
    pub fn new(message: impl Into<String>) -> Self {
        Error { message: message.into(), help: None, place: None }
    }

    /// Adds the help: a right value.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the place: bytes `span` of `text`, which was read from `name`.
    pub fn at(mut self, name: &str, text: &str, span: Range<usize>) -> Self {
        self.place = Some(Box::new(Place { name: name.into(), text: text.into(), span }));
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        if let Some(place) = &self.place {
            let Place { name, text, span } = &**place;
            let start = floor_boundary(text, span.start);
            let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
            let line = text[line_start..].lines().next().unwrap_or("");
            let number = text[..start].matches('\n').count() + 1;
            let column = text[line_start..start].chars().count();
            let marked = text[start..floor_boundary(text, span.end)].lines().next().unwrap_or("");
            let gutter = " ".repeat(number.to_string().len());
            write!(f, "\n{gutter}--> {name}:{number}:{}", column + 1)?;
            write!(f, "\n{gutter} |\n{number} | {line}\n{gutter} | ")?;
            write!(f, "{}{}", " ".repeat(column), "^".repeat(marked.chars().count().max(1)))?;
        }
        if let Some(help) = &self.help {
            write!(f, "\nhelp: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// The nearest character boundary at or before `at`.
fn floor_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}

/// "`a`, `b` and `c`"; empty without names.
pub(crate) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// The error for an unknown name `text` of `kind`, with similar known names.
pub(crate) fn missing<'a>(
    kind: &str,
    text: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> String {
    format!("there is no {kind} `{text}`{}", offer(text, known))
}

/// The known names: "the links are `a` and `b`", or that the scenario has no links.
pub(crate) fn existing<'a>(several: &str, known: impl Iterator<Item = &'a str>) -> String {
    match list(known).as_str() {
        "" => format!("the scenario has no {several}"),
        names => format!("the {several} are {names}"),
    }
}
