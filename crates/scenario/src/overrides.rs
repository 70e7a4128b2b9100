//! `--set key=value`: changes to the text of a scenario before it is read.

use crate::error::{Error, list};
use crate::files::{in_place, on_one_line, quoted};
use crate::locate::{entry, name_of};
use crate::size::check_size;
use control::law_file;
use toml_edit::{Array, DocumentMut, Item, Value};
use units::name::meant;

/// Most parts of the key of an override. Tables in tables are read and freed by recursion.
const DEEPEST: usize = 32;

/// One override: a dotted path and a value. Links and flows are addressed by name, the entries of
/// other lists by number: `link.ap1.rate`, `flow.multipath.path.0.join`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The dotted path.
    pub key: String,
    /// A TOML value; what is not one is taken as a string, so that `10 Mb/s` needs no quotes.
    pub value: String,
}

impl Override {
    /// The override that gives the text of the file, if this one names the file of a trace, of
    /// opportunities or of movements: `link.lte.trace.file` becomes `link.lte.trace.rows`.
    ///
    /// # Errors
    /// `read`, which gives the text of a file, fails, or the text is no such thing.
    pub fn with_file(self, read: &dyn Fn(&str) -> Result<String, String>) -> Result<Self, Error> {
        let found = in_place(&self.key, &self.value, read)?;
        Ok(found.map_or(self, |(key, value)| Override { key, value }))
    }
}

impl core::str::FromStr for Override {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                Ok(Override { key: key.trim().into(), value: value.trim().into() })
            }
            _ => Err(Error::new(format!("`{text}` is not an override"))
                .help("write key=value, for example link.ap1.rate=\"10 Mb/s\"")),
        }
    }
}

/// The text with the overrides applied; unchanged without overrides.
///
/// # Errors
/// The text is too large or not TOML, or an override leads nowhere.
pub fn with_overrides(text: &str, name: &str, overrides: &[Override]) -> Result<String, Error> {
    check_size(text, name)?;
    Ok(apply(text, name, overrides)?.unwrap_or_else(|| text.to_owned()))
}

/// The text with the overrides applied; `None` without overrides.
pub(crate) fn apply(
    text: &str,
    name: &str,
    overrides: &[Override],
) -> Result<Option<String>, Error> {
    if overrides.is_empty() {
        return Ok(None);
    }
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let place = Error::new(error.message());
        match error.span() {
            Some(span) => place.at(name, text, span),
            None => place,
        }
    })?;
    for change in overrides {
        set(document.as_item_mut(), change)?;
    }
    Ok(Some(document.to_string()))
}

fn set(root: &mut Item, change: &Override) -> Result<(), Error> {
    let deep = change.key.split('.').count();
    if deep > DEEPEST {
        let error = Error::new(format!("the key of an override has {deep} parts"));
        return Err(error.help(format!("a key has at most {DEEPEST}, for example link.ap1.rate")));
    }
    let mut item = root;
    let mut steps = change.key.split('.').peekable();
    while let Some(step) = steps.next() {
        if steps.peek().is_none() {
            let value = change.value.parse::<Value>();
            let value = value.unwrap_or_else(|_| Value::from(change.value.as_str()));
            let Some(table) = item.as_table_like_mut() else {
                let help = match enter(item, step) {
                    Ok(_) => {
                        format!("it is an entry: give one of its keys, {}.KEY=VALUE", change.key)
                    }
                    Err(help) => help,
                };
                return Err(wrong(change, step).help(help));
            };
            table.insert(step, Item::Value(value));
            return Ok(());
        }
        item = enter(item, step).map_err(|help| wrong(change, step).help(help))?;
    }
    Err(wrong(change, ""))
}

fn wrong(change: &Override, step: &str) -> Error {
    Error::new(format!("override `{}`: nothing can be set at `{step}`", change.key))
}

/// The item `step` inside `item`; missing tables are created.
fn enter<'a>(item: &'a mut Item, step: &str) -> Result<&'a mut Item, String> {
    open_list(item);
    if item.is_array_of_tables() {
        return enter_tables(item, step);
    }
    if let Some(array) = item.as_array() {
        return Err(format!("write the whole list of {} entries instead", array.len()));
    }
    match item.as_table_like_mut() {
        Some(table) => Ok(table.entry(step).or_insert(toml_edit::table())),
        None => Err("it is a value, not a table".into()),
    }
}

/// Converts an inline list of tables, `[{ … }, { … }]`, to one whose entries can be changed.
fn open_list(item: &mut Item) {
    let inline = |array: &Array| !array.is_empty() && array.iter().all(Value::is_inline_table);
    if item.as_array().is_some_and(inline) {
        *item = match core::mem::take(item).into_array_of_tables() {
            Ok(tables) => Item::ArrayOfTables(tables),
            Err(other) => other,
        };
    }
}

/// An entry of a list of tables, by its `name` or its number from 0.
fn enter_tables<'a>(item: &'a mut Item, step: &str) -> Result<&'a mut Item, String> {
    let Some(tables) = item.as_array_of_tables() else {
        return Err("it is not a list".into());
    };
    let names: Vec<String> = tables.iter().map(|table| name_of(table).to_owned()).collect();
    let names = || names.iter().map(String::as_str);
    match entry(step, names()) {
        Some(index) => Ok(&mut item[index]),
        None if names().all(str::is_empty) => {
            Err(format!("the entries are numbered from 0 to {}", tables.len().saturating_sub(1)))
        }
        None => {
            let all = format!("the entries are {}", list(names()));
            Err(match meant(step, names()) {
                Some(meant) => format!("{meant} {all}"),
                None => all,
            })
        }
    }
}

/// The changes that a caller asks for: `controller` in place of that of [`with_controller`], then
/// `overrides`, which take precedence. `source` gives the text of a controller in a scenario for a
/// name, the text of a law or the file of one; `read` that of a file of a trace.
///
/// # Errors
/// The text is not TOML or too large, an override is not KEY=VALUE, a controller is unknown, or a
/// file cannot be read or has no such content.
pub fn changes(
    text: &str,
    name: &str,
    controller: Option<&str>,
    overrides: &[String],
    source: &dyn Fn(&str) -> Result<String, String>,
    read: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Vec<Override>, Error> {
    let mut all = Vec::new();
    if let Some(controller) = controller {
        all = with_controller(text, name, &source(controller).map_err(Error::new)?)?;
    }
    for change in overrides {
        let mut change: Override = change.parse()?;
        let law = change.value.trim_matches(['"', '\'']).to_owned();
        if change.key.ends_with("controller") && law_file(&law).is_some() {
            change.value = quoted(&source(&law).map_err(Error::new)?);
        }
        all.push(change.with_file(read)?);
    }
    Ok(all)
}

/// Overrides that set `controller` in every flow that is the subject. If none is, these are the
/// flows with several paths or, if no flow has several, all flows.
///
/// # Errors
/// The text is not TOML, or too large.
pub fn with_controller(text: &str, name: &str, controller: &str) -> Result<Vec<Override>, Error> {
    check_size(text, name)?;
    let document: toml::Table = toml::from_str(text).map_err(|error| {
        let place = Error::new(error.message());
        error.span().map_or(place.clone(), |span| place.at(name, text, span))
    })?;
    let flows = document.get("flow").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let said = |flow: &toml::Value| {
        let subject = flow.get("subject").and_then(toml::Value::as_bool).unwrap_or(false);
        (subject, flow.get("path").and_then(toml::Value::as_array).map_or(0, Vec::len))
    };
    let set = |index| Override {
        key: format!("flow.{index}.controller"),
        value: on_one_line(controller).to_string(),
    };
    let said: Vec<_> = flows.iter().map(said).collect();
    Ok(replaced(&said).into_iter().map(set).collect())
}

/// Indices of the flows whose controller is replaced. For each flow `flows` has whether it is the
/// subject, and its number of paths.
pub(crate) fn replaced(flows: &[(bool, usize)]) -> Vec<usize> {
    let any_subject = flows.iter().any(|(subject, _)| *subject);
    let any_multipath = flows.iter().any(|(_, paths)| *paths > 1);
    let chosen = |&index: &usize| match flows[index] {
        (subject, _) if any_subject => subject,
        (_, paths) => !any_multipath || paths > 1,
    };
    (0..flows.len()).filter(chosen).collect()
}
