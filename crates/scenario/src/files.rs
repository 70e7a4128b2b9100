//! Files named in a scenario: their text is embedded in the scenario's text.

use crate::error::Error;
use crate::movements;
use crate::report::BadLine;
use crate::size::check_size;
use crate::{opportunities, trace};
use toml_edit::{DocumentMut, Item, TableLike};

/// The scenario with the files of its traces, opportunities, movements and laws embedded; `None` if
/// it names no files.
///
/// `read` gives the text of a file.
///
/// # Errors
///
/// If the text is too large, or `read` fails: its message, at the line that names the file.
pub fn with_files(
    text: &str,
    name: &str,
    read: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Option<String>, Error> {
    check_size(text, name)?;
    let Ok(mut document) = text.parse::<DocumentMut>() else {
        return Ok(None); // its errors are reported when it is read
    };
    let mut found = false;
    for link in tables(document.get_mut("link")) {
        found |= embed(link, ("trace", "rows", trace::RIGHT), name, read, &|rows| {
            trace::parse(rows).map(|_| ())
        })?;
        let times = ("opportunities", "times", opportunities::RIGHT);
        found |= embed(link, times, name, read, &|times| opportunities::parse(times).map(|_| ()))?;
    }
    for node in tables(document.get_mut("node")) {
        found |= embed_moves(node, name, read)?;
    }
    if let Some(area) = document.get_mut("area").and_then(Item::as_table_like_mut) {
        found |= embed_moves(area, name, read)?;
    }
    for flow in tables(document.get_mut("flow")) {
        found |= embed_law(flow, name, read)?;
    }
    Ok(found.then(|| document.to_string()))
}

/// Embeds the law of a flow's controller, if it is a law in a file.
fn embed_law(
    flow: &mut dyn TableLike,
    name: &str,
    read: &dyn Fn(&str) -> Result<String, String>,
) -> Result<bool, Error> {
    let controller = flow.get("controller").and_then(Item::as_str).map(str::to_owned);
    let Some(law) = controller.as_deref().and_then(control::law_file) else {
        return Ok(false);
    };
    let text = law.text(read).map_err(|why| Error::new(format!("{name}: {why}")))?;
    flow.insert("controller", Item::Value(on_one_line(&text)));
    Ok(true)
}

/// Embeds the movements of a node, or of all nodes.
fn embed_moves(
    owner: &mut dyn TableLike,
    name: &str,
    read: &dyn Fn(&str) -> Result<String, String>,
) -> Result<bool, Error> {
    let Some(moves) = owner.get_mut("moves").and_then(Item::as_table_like_mut) else {
        return Ok(false);
    };
    embed(moves, ("trace", "text", movements::RIGHT), name, read, &|text| {
        let bad = |bad: movements::Malformed| BadLine { line: bad.line, why: bad.what };
        movements::parse(text).map(|_| ()).map_err(bad)
    })
}

/// Reads and checks the file in `table` of a link, and puts its text in its place as the string
/// `inside`. Returns whether there was a file.
fn embed(
    link: &mut dyn TableLike,
    (table, inside, right): (&str, &str, &str),
    name: &str,
    read: &dyn Fn(&str) -> Result<String, String>,
    parse: &dyn Fn(&str) -> Result<(), BadLine>,
) -> Result<bool, Error> {
    let Some(trace) = link.get_mut(table).and_then(Item::as_table_like_mut) else {
        return Ok(false);
    };
    let file = trace.get("file").and_then(Item::as_str).map(str::to_owned);
    let Some(file) = file.filter(|_| trace.get(inside).is_none()) else {
        return Ok(false);
    };
    let text = read(&file)
        .map_err(|why| Error::new(format!("{name}: the trace {file} cannot be read: {why}")))?;
    parse(&text).map_err(|BadLine { line, why }| {
        Error::new(format!("{name}: the trace {file} is wrong in line {line}: {why}")).help(right)
    })?;
    trace.remove("file");
    trace.insert(inside, Item::Value(on_one_line(&text)));
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

/// The tables of a list, in either notation.
fn tables(item: Option<&mut Item>) -> Vec<&mut dyn TableLike> {
    match item {
        Some(Item::ArrayOfTables(tables)) => {
            tables.iter_mut().map(|table| table as &mut dyn TableLike).collect()
        }
        Some(Item::Value(toml_edit::Value::Array(values))) => {
            let tables = values.iter_mut().filter_map(|value| value.as_inline_table_mut());
            tables.map(|table| table as &mut dyn TableLike).collect()
        }
        _ => Vec::new(),
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
}
