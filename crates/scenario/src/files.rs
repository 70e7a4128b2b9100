//! Files named in a scenario: their text is embedded in the scenario's text.

use crate::error::Error;
use crate::movements;
use crate::report::BadLine;
use crate::size::check_size;
use crate::{opportunities, trace};
use toml_edit::{DocumentMut, Item, TableLike};

/// Gives the text of a file, or says why not.
type Read<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

/// A table of a scenario that may name a file in place of a text.
struct Kind {
    /// What has it: the lists or tables of a scenario.
    owners: &'static [&'static str],
    /// Its key there, after those of tables around it.
    within: &'static str,
    /// Its key for the text.
    inside: &'static str,
    right: &'static str,
    check: fn(&str) -> Result<(), BadLine>,
}

const TRACE: Kind = Kind {
    owners: &["link"],
    within: "trace",
    inside: "rows",
    right: trace::RIGHT,
    check: |text| trace::parse(text).map(|_| ()),
};

const OPPORTUNITIES: Kind = Kind {
    owners: &["link"],
    within: "opportunities",
    inside: "times",
    right: opportunities::RIGHT,
    check: |text| opportunities::parse(text).map(|_| ()),
};

const MOVEMENTS: Kind = Kind {
    owners: &["node", "area"],
    within: "moves.trace",
    inside: "text",
    right: movements::RIGHT,
    check: |text| {
        let bad = |bad: movements::Malformed| BadLine { line: bad.line, why: bad.what };
        movements::parse(text).map(|_| ()).map_err(bad)
    },
};

const KINDS: [Kind; 3] = [TRACE, OPPORTUNITIES, MOVEMENTS];

impl Kind {
    /// The key of the table, if `key` is that of its file: `link.ap1.trace` of
    /// `link.ap1.trace.file`.
    fn owner<'k>(&self, key: &'k str) -> Option<&'k str> {
        let owner = key.strip_suffix(".file")?;
        let (list, _) = owner.split_once('.')?;
        let before = owner.strip_suffix(self.within)?;
        (self.owners.contains(&list) && before.ends_with('.')).then_some(owner)
    }

    /// The text of a file, checked. `place` names what has the file's name.
    fn text(&self, file: &str, place: &str, read: &Read<'_>) -> Result<String, Error> {
        let text = read(file).map_err(|why| {
            Error::new(format!("{place}: the trace {file} cannot be read: {why}"))
        })?;
        (self.check)(&text).map_err(|BadLine { line, why }| {
            Error::new(format!("{place}: the trace {file} is wrong in line {line}: {why}"))
                .help(self.right)
        })?;
        Ok(text)
    }
}

/// The scenario with the files of its traces, opportunities, movements and laws embedded; `None` if
/// it names no files.
///
/// `read` gives the text of a file.
///
/// # Errors
///
/// If the text is too large, or `read` fails: its message, at the line that names the file.
pub fn with_files(text: &str, name: &str, read: &Read<'_>) -> Result<Option<String>, Error> {
    check_size(text, name)?;
    let Ok(mut document) = text.parse::<DocumentMut>() else {
        return Ok(None); // its errors are reported when it is read
    };
    let mut found = false;
    for kind in &KINDS {
        for owner in kind.owners.iter().copied() {
            for table in tables(document.get_mut(owner)) {
                found |= embed(table, kind, name, read)?;
            }
        }
    }
    for flow in tables(document.get_mut("flow")) {
        found |= embed_law(flow, name, read)?;
    }
    Ok(found.then(|| document.to_string()))
}

/// Key and value of an override that gives the text of the file that the override of `key` names by
/// `value`; `None` if that is no file of a trace, of opportunities or of movements.
///
/// # Errors
/// `read` fails, or the text is no such thing.
pub(crate) fn in_place(
    key: &str,
    value: &str,
    read: &Read<'_>,
) -> Result<Option<(String, String)>, Error> {
    let Some((kind, owner)) = KINDS.iter().find_map(|kind| Some((kind, kind.owner(key)?))) else {
        return Ok(None);
    };
    let file = value.trim_matches(['"', '\'']);
    let text = kind.text(file, &format!("override `{key}`"), read)?;
    Ok(Some((format!("{owner}.{}", kind.inside), quoted(&text))))
}

/// Embeds the law of a flow's controller, if it is a law in a file.
fn embed_law(flow: &mut dyn TableLike, name: &str, read: &Read<'_>) -> Result<bool, Error> {
    let controller = flow.get("controller").and_then(Item::as_str).map(str::to_owned);
    let Some(law) = controller.as_deref().and_then(control::law_file) else {
        return Ok(false);
    };
    let text = law.text(read).map_err(|why| Error::new(format!("{name}: {why}")))?;
    flow.insert("controller", Item::Value(on_one_line(&text)));
    Ok(true)
}

/// Puts the text of the file that a table of `owner` names in its place. Returns whether it names
/// one.
fn embed(
    owner: &mut dyn TableLike,
    kind: &Kind,
    name: &str,
    read: &Read<'_>,
) -> Result<bool, Error> {
    let mut table = owner;
    for key in kind.within.split('.') {
        match table.get_mut(key).and_then(Item::as_table_like_mut) {
            Some(inner) => table = inner,
            None => return Ok(false),
        }
    }
    let file = table.get("file").and_then(Item::as_str).map(str::to_owned);
    let Some(file) = file.filter(|_| table.get(kind.inside).is_none()) else {
        return Ok(false);
    };
    let text = kind.text(&file, name, read)?;
    table.remove("file");
    table.insert(kind.inside, Item::Value(on_one_line(&text)));
    Ok(true)
}

/// A text as a TOML string without a line break.
pub fn quoted(text: &str) -> String {
    on_one_line(text).to_string()
}

/// A string without a line break in the file, so that the lines of later errors stay right.
pub(crate) fn on_one_line(text: &str) -> toml_edit::Value {
    let escaped: String = text
        .chars()
        .map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            '\n' => "\\n".into(),
            c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
            c => c.into(),
        })
        .collect();
    format!("\"{escaped}\"").parse().unwrap_or_else(|_| text.into())
}

/// The tables of a list, in either notation, or the one table that there is.
fn tables(item: Option<&mut Item>) -> Vec<&mut dyn TableLike> {
    match item {
        Some(Item::ArrayOfTables(tables)) => {
            tables.iter_mut().map(|table| table as &mut dyn TableLike).collect()
        }
        Some(Item::Value(toml_edit::Value::Array(values))) => {
            let tables = values.iter_mut().filter_map(|value| value.as_inline_table_mut());
            tables.map(|table| table as &mut dyn TableLike).collect()
        }
        Some(item) => item.as_table_like_mut().into_iter().collect(),
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_file_come_in_without_moving_a_line() {
        let text =
            "[[link]]\nname = 'a'\ntrace = { file = 'f' }\n[[link]]\n[link.trace]\nfile = 'f'\nend";
        let text = format!("{text} = 1\n");
        let rows = "\u{feff}t_s,loss\n0,0.5 # \"so\" \\ \u{e9}\t\n";
        let within = with_files(&text, "x", &|_| Ok(rows.into())).unwrap().unwrap();
        assert_eq!(within.lines().count(), text.lines().count());
        let document: DocumentMut = within.parse().unwrap();
        assert_eq!(document["link"][1]["trace"]["rows"].as_str(), Some(rows));
        assert_eq!(trace::parse(rows).unwrap()[0].loss, Some(0.5));
        let both = "[[link]]\ntrace = { file = 'f', rows = 'r' }\n";
        assert_eq!(with_files(both, "x", &|_| Ok(rows.into())), Ok(None));
    }

    #[test]
    fn an_override_may_name_a_file_where_a_scenario_may() {
        let read = |file: &str| if file == "f" { Ok("0\n3\n".into()) } else { Err("no".into()) };
        let text = |key: &str| in_place(key, "'f'", &read);
        let (key, value) = text("link.lte.opportunities.file").unwrap().unwrap();
        assert_eq!((&*key, &*value), ("link.lte.opportunities.times", "\"0\\n3\\n\""));
        for key in ["flow.lte.opportunities.file", "link.lte.file"] {
            assert_eq!(text(key), Ok(None));
        }
        let wrong = text("link.lte.trace.file").unwrap_err().to_string();
        assert!(wrong.contains("override `link.lte.trace.file`: the trace f is wrong in line 1"));
        assert!(text("node.0.moves.trace.file").unwrap_err().to_string().contains("line 1"));
        let none = in_place("link.lte.trace.file", "g", &read).unwrap_err().to_string();
        assert!(none.contains("the trace g cannot be read: no"), "{none}");
    }
}
