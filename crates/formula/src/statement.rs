//! The statements of a law: the content of each line, before names are looked up.
//!
//! ```text
//! law NAME [: summary]
//! source: where it is published
//! param NAME = NUMBER [in INTERVAL] [: meaning]
//! note NAME = EXPRESSION [: meaning]
//! on ack: NAME = EXPRESSION
//! on loss: NAME = EXPRESSION
//! steady NAME = EXPRESSION
//! NAME = EXPRESSION
//! with NAME = VALUE
//! ```
//!
//! A line that is indented further than the first one continues the one before it. `;` ends a
//! statement as a line does. `#` begins a comment.

use crate::error::Mistake;
use crate::expression::{Expression, expression};
use crate::tokens::name_bytes;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// A name and its place.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

/// A parsed statement.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    Law(Named, String),
    Source(String),
    Parameter(Named, Setting, Interval, String),
    Note(Named, Expression, String),
    On(Event, Named, Expression),
    Steady(Named, Expression),
    Definition(Named, Expression),
    With(Named, Setting),
}

/// An event that updates a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// New data was acknowledged.
    Ack,
    /// A congestion event began.
    Loss,
}

/// The text after `=` where an expression is not allowed.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

impl Setting {
    /// Its value as a number.
    pub(crate) fn number(&self) -> Result<f64, Mistake> {
        let number = self.text.parse().ok().filter(|value: &f64| value.is_finite());
        number.ok_or_else(|| {
            let message = format!("`{}` is no number: write one, such as 0.5", self.text);
            Mistake::new(message, self.span.clone())
        })
    }
}

/// The allowed values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The smallest value, and whether it belongs to the interval.
    pub least: (f64, bool),
    /// The largest value, and whether it belongs to the interval.
    pub most: (f64, bool),
}

impl Interval {
    /// All numbers.
    pub const ALL: Interval =
        Interval { least: (f64::NEG_INFINITY, false), most: (f64::INFINITY, false) };

    /// Whether the interval contains `value`.
    pub fn holds(&self, value: f64) -> bool {
        let above = if self.least.1 { value >= self.least.0 } else { value > self.least.0 };
        let below = if self.most.1 { value <= self.most.0 } else { value < self.most.0 };
        above && below
    }
}

impl core::fmt::Display for Interval {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Interval { least, most } = self;
        let open = if least.1 { '[' } else { '(' };
        let close = if most.1 { ']' } else { ')' };
        write!(f, "{open}{}, {}{close}", least.0, most.0)
    }
}

/// The statements of a text, in order.
pub(crate) fn statements(text: &str) -> Result<Vec<Statement>, Mistake> {
    let mut all = Vec::new();
    for lines in lines(text) {
        let mut rest = lines;
        while !text[rest.clone()].trim().is_empty() {
            let end = end_of_statement(text, rest.clone());
            let piece = trimmed(text, rest.start..end);
            if !piece.is_empty() {
                all.push(statement(text, piece)?);
            }
            rest = (end + 1).min(rest.end)..rest.end;
        }
    }
    Ok(all)
}

/// Ranges of the lines, each with its continuation lines; lines with only a comment are left out.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    let (mut start, mut first) = (0, 0);
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        match all.last_mut() {
            Some(last) if indent > first => last.end = range.end,
            _ => {
                first = if all.is_empty() { indent } else { first.min(indent) };
                all.push(range);
            }
        }
    }
    all
}

/// The end of the statement that begins at `range.start`: before a `;` outside comments and free
/// text.
fn end_of_statement(text: &str, range: Range<usize>) -> usize {
    let words = ["law", "source", "param", "note"];
    let begin = text[range.clone()].trim_start();
    let free = words.contains(&&begin[..name_bytes(begin)]);
    let mut comment = false;
    for (at, c) in text[range.clone()].char_indices() {
        match c {
            '\n' => comment = false,
            '#' => comment = true,
            ':' if free && !comment => return range.end,
            ';' if !comment => return range.start + at,
            _ => {}
        }
    }
    range.end
}

/// The range up to a comment.
fn uncommented(text: &str, range: Range<usize>) -> Range<usize> {
    let end = text[range.clone()].find('#').map_or(range.end, |at| range.start + at);
    range.start..end
}

/// The range without surrounding blanks.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let inside = &text[range.clone()];
    let start = range.start + (inside.len() - inside.trim_start().len());
    start..start + inside.trim().len()
}

fn statement(text: &str, range: Range<usize>) -> Result<Statement, Mistake> {
    let first = range.start..range.start + name_bytes(&text[range.clone()]);
    let after = match &text[first.clone()] {
        "law" | "source" | "param" | "note" | "with" => uncommented(text, first.end..range.end),
        _ => first.end..range.end, // comments may stand between the words of an expression
    };
    let after = trimmed(text, after);
    match &text[first.clone()] {
        "law" => {
            let (name, summary) = apart(text, after);
            Ok(Statement::Law(law_name(text, name)?, free_text(text, summary)?))
        }
        "source" => Ok(Statement::Source(free_text(text, after)?)),
        "param" => parameter(text, after),
        "note" => {
            let (name, rest) = equated(text, after)?;
            let (value, meaning) = apart(text, rest);
            let value = expression(text, value)?;
            Ok(Statement::Note(name, value, free_text(text, meaning)?))
        }
        "on" => on(text, after),
        "steady" => {
            let (name, rest) = equated(text, after)?;
            Ok(Statement::Steady(name, expression(text, rest)?))
        }
        "with" => {
            let (name, rest) = equated(text, after)?;
            let setting = trimmed(text, rest);
            Ok(Statement::With(name, Setting { text: text[setting.clone()].into(), span: setting }))
        }
        "" => {
            let message = "a statement begins with a name, such as `growth = 1/w`";
            Err(Mistake::new(message, first.start..first.start + 1))
        }
        _ => {
            let (name, rest) = equated(text, range)?;
            Ok(Statement::Definition(name, expression(text, rest)?))
        }
    }
}

/// `ack: NAME = EXPRESSION`.
fn on(text: &str, range: Range<usize>) -> Result<Statement, Mistake> {
    let (event, rest) = name(text, range)?;
    let event = match event.text.as_str() {
        "ack" => Event::Ack,
        "loss" => Event::Loss,
        other => {
            let message = format!("there is no event `{other}`; there are `ack` and `loss`");
            return Err(Mistake::new(message, event.span));
        }
    };
    let rest = after(text, rest, ':', "`on ack: since = since + acked`")?;
    let (name, rest) = equated(text, rest)?;
    Ok(Statement::On(event, name, expression(text, rest)?))
}

/// `NAME = NUMBER [in INTERVAL] [: meaning]`.
fn parameter(text: &str, range: Range<usize>) -> Result<Statement, Mistake> {
    let (name, rest) = equated(text, range)?;
    let (value, meaning) = apart(text, rest);
    let words = &text[value.clone()];
    let (number, interval) = match words.find(" in ") {
        Some(at) => (value.start..value.start + at, Some(value.start + at + 4..value.end)),
        None => (value, None),
    };
    let number = trimmed(text, number);
    let default = Setting { text: text[number.clone()].into(), span: number };
    let interval =
        interval.map_or(Ok(Interval::ALL), |range| interval_at(text, trimmed(text, range)))?;
    Ok(Statement::Parameter(name, default, interval, free_text(text, meaning)?))
}

/// `(0, 1]`.
fn interval_at(text: &str, range: Range<usize>) -> Result<Interval, Mistake> {
    let words = &text[range.clone()];
    let parse = || {
        let least = words.chars().next().filter(|c| "[(".contains(*c))? == '[';
        let most = words.chars().last().filter(|c| "])".contains(*c))? == ']';
        let (a, b) = words.get(1..words.len() - 1)?.split_once(',')?;
        let (a, b): (f64, f64) = (a.trim().parse().ok()?, b.trim().parse().ok()?);
        (a < b || a == b && least && most)
            .then_some(Interval { least: (a, least), most: (b, most) })
    };
    parse().ok_or_else(|| {
        let message = format!("`{words}` is no interval: write one such as (0, 1], or [1, inf)");
        Mistake::new(message, range.clone())
    })
}

/// The ranges before a `:` and from the `:` on.
fn apart(text: &str, range: Range<usize>) -> (Range<usize>, Range<usize>) {
    let at = text[range.clone()].find(':').map_or(range.end, |at| range.start + at);
    (trimmed(text, range.start..at), at..range.end)
}

/// The text after a `:`, with runs of blanks and line breaks as one blank; empty without a `:`.
fn free_text(text: &str, range: Range<usize>) -> Result<String, Mistake> {
    let range = trimmed(text, range);
    if range.is_empty() {
        return Ok(String::new());
    }
    let rest = after(text, range, ':', "`: ` and what it means")?;
    let words: Vec<&str> = text[rest].split_whitespace().collect();
    Ok(words.join(" "))
}

/// The range after the sign with which it must begin.
fn after(
    text: &str,
    range: Range<usize>,
    sign: char,
    example: &str,
) -> Result<Range<usize>, Mistake> {
    let range = trimmed(text, range);
    match text[range.clone()].starts_with(sign) {
        true => Ok(trimmed(text, range.start + sign.len_utf8()..range.end)),
        false => {
            let end = range.start + text[range.clone()].chars().next().map_or(0, char::len_utf8);
            Err(Mistake::new(
                format!("`{sign}` is missing here, as in {example}"),
                range.start..end,
            ))
        }
    }
}

/// The name of a law: like a file's name, it may have hyphens.
fn law_name(text: &str, range: Range<usize>) -> Result<Named, Mistake> {
    let name = &text[range.clone()];
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(fits) {
        return Ok(Named { text: name.to_owned(), span: range });
    }
    let message = "a law is called by letters, digits and hyphens, such as `law gentle`";
    Err(Mistake::new(message, range))
}

/// A name, and the range after it.
fn name(text: &str, range: Range<usize>) -> Result<(Named, Range<usize>), Mistake> {
    let range = trimmed(text, range);
    let length = name_bytes(&text[range.clone()]);
    if length == 0 || !text[range.clone()].starts_with(|c: char| c.is_alphabetic()) {
        let end = range.start + text[range.clone()].chars().next().map_or(0, char::len_utf8);
        return Err(Mistake::new("a name is missing here", range.start..end));
    }
    let span = range.start..range.start + length;
    Ok((Named { text: text[span.clone()].to_owned(), span: span.clone() }, span.end..range.end))
}

/// `NAME =`, and the range after it.
fn equated(text: &str, range: Range<usize>) -> Result<(Named, Range<usize>), Mistake> {
    let (name, rest) = name(text, range)?;
    let rest = after(text, rest, '=', "`growth = 1/w`")?;
    Ok((name, rest))
}
