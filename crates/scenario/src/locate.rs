//! Where a dotted key stands in the text of a scenario, so that an error can point at it.

use core::ops::Range;
use toml_edit::{Document, Item, TableLike};

/// The bytes of the key and its value, or of the nearest table around a key that is left out. Keys
/// are those of overrides: `link.ap1.queue.red.max`, `flow.0.count`.
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

/// The child of `item` that `step` names, and where it stands.
fn enter(item: &Item, step: &str) -> Option<(Option<Range<usize>>, Item)> {
    if let Some(tables) = item.as_array_of_tables() {
        let named = tables.iter().position(|table| is_called(table, step));
        let table = tables.get(named.or(step.parse().ok())?)?;
        return Some((table.span(), Item::Table(table.clone())));
    }
    if let Some(values) = item.as_array() {
        let named = |value: &toml_edit::Value| {
            value.as_inline_table().is_some_and(|table| is_called(table, step))
        };
        let value = values.get(values.iter().position(named).or(step.parse().ok())?)?;
        return Some((value.span(), Item::Value(value.clone())));
    }
    let (key, value) = item.as_table_like()?.get_key_value(step)?;
    let span = match (key.span(), value.span()) {
        // The span of a table is its header; of a list of tables there is none.
        (Some(key), Some(value)) if value.start >= key.end => Some(key.start..value.end),
        (key, value) => value.or(key),
    };
    Some((span, value.clone()))
}

fn is_called(table: &dyn TableLike, name: &str) -> bool {
    table.get("name").and_then(Item::as_str) == Some(name)
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
