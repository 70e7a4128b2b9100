//! Locates a dotted key in the text of a scenario, for the place of an error.

use core::ops::Range;
use toml_edit::{Document, Item, TableLike};
use units::name::find;

/// The bytes of the key and its value, or of the nearest table around a missing key. Keys are those
/// of overrides: `link.ap1.queue.red.max`, `flow.0.count`.
pub(crate) fn locate(text: &str, key: &str) -> Option<Range<usize>> {
    let document: Document<&str> = Document::parse(text).ok()?;
    let mut item = document.as_item().clone();
    let mut found = None;
    for step in key.split('.') {
        let Some((span, inner)) = enter(&item, step) else {
            break;
        };
        found = span.or(found);
        item = inner;
    }
    found
}

/// The child `step` of `item`, and its place.
fn enter(item: &Item, step: &str) -> Option<(Option<Range<usize>>, Item)> {
    if let Some(tables) = item.as_array_of_tables() {
        let table = tables.get(entry(step, tables.iter().map(|table| name_of(table)))?)?;
        return Some((table.span(), Item::Table(table.clone())));
    }
    if let Some(values) = item.as_array() {
        let tables = values.iter().map(toml_edit::Value::as_inline_table);
        let value = values.get(entry(step, tables.map(|it| it.map_or("", |it| name_of(it))))?)?;
        return Some((value.span(), Item::Value(value.clone())));
    }
    let (key, value) = item.as_table_like()?.get_key_value(step)?;
    let span = match (key.span(), value.span()) {
        // The span of a table is its header; a list of tables has no span.
        (Some(key), Some(value)) if value.start >= key.end => Some(key.start..value.end),
        (key, value) => value.or(key),
    };
    Some((span, value.clone()))
}

/// The name of an entry of a list; empty without a name.
pub(crate) fn name_of(table: &dyn TableLike) -> &str {
    table.get("name").and_then(Item::as_str).unwrap_or_default()
}

/// The entry of a list with the name `step` in any spelling, or with this number from 0.
pub(crate) fn entry<'a>(step: &str, names: impl Iterator<Item = &'a str>) -> Option<usize> {
    let names: Vec<&str> = names.collect();
    match find(step, names.iter().copied().filter(|name| !name.is_empty())) {
        Some(found) => names.iter().position(|name| *name == found),
        None => step.parse().ok().filter(|number| *number < names.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_in_tables_lists_and_inline_tables() {
        let text = "duration = \"1 s\"\n[[link]]\nname = \"a\"\nqueue = { red = { min = 3 } }\n\
                    [[flow]]\nname = \"f\"\ncount = 0\npath = [{ links = [] }]\n";
        let at = |key: &str| locate(text, key).map(|span| &text[span]);
        assert_eq!(at("duration"), Some("duration = \"1 s\""));
        assert_eq!(at("link.a.queue.red.min"), Some("min = 3"));
        assert_eq!(at("flow.f.count"), Some("count = 0"));
        assert_eq!(at("flow.0.path.0.links"), Some("links = []"));
        assert_eq!(at("flow.f.start"), Some("[[flow]]"));
        assert_eq!(at("warmup"), None);
    }
}
