//! Limits on the size of a scenario. They are checked before parsing, so that a file that is not a
//! scenario is refused at once.

use crate::error::Error;

/// Most bytes of a scenario, with the traces inside it.
pub const MOST_BYTES: usize = 100 << 20;

/// Most bytes outside quoted strings, which contain the traces.
const MOST_WRITTEN: usize = 8 << 20;

/// Most keys, tables and entries of lists. Parsing takes about 2 us for each.
const MOST_ENTRIES: usize = 200_000;

/// Refuses a text that is too large to be a scenario.
pub(crate) fn check_size(text: &str, name: &str) -> Result<(), Error> {
    if text.len() <= MOST_ENTRIES {
        return Ok(()); // each entry needs at least one character, so a short text needs no count
    }
    let too_large = |what: String, right: String| Err(Error::new(what).help(right));
    if text.len() > MOST_BYTES {
        let what = format!("{name} has {} MiB", text.len() >> 20);
        let right = format!("a scenario has at most {} MiB, its traces included", MOST_BYTES >> 20);
        return too_large(what, right);
    }
    let Written { bytes, entries } = written(text.as_bytes());
    if entries > MOST_ENTRIES {
        let what = format!("{name} has {entries} keys, tables and entries of lists");
        let right = format!(
            "a scenario has at most {MOST_ENTRIES}: write identical users as one [[flow]] with a \
             `count`, and changes over time as a trace in a file"
        );
        return too_large(what, right);
    }
    if bytes > MOST_WRITTEN {
        let what = format!("{name} has {} MiB outside of quoted texts", bytes >> 20);
        return too_large(
            what,
            format!("a scenario has at most {} MiB outside of them", MOST_WRITTEN >> 20),
        );
    }
    Ok(())
}

/// The text outside of quotes and comments.
struct Written {
    bytes: usize,
    /// Signs that stand before or behind a key, a table or an entry.
    entries: usize,
}

fn written(text: &[u8]) -> Written {
    let mut found = Written { bytes: 0, entries: 0 };
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' | b'\'' => at = end_of_text(text, at, *byte),
            b'#' => at = text[at..].iter().position(|b| *b == b'\n').map_or(text.len(), |n| at + n),
            _ => {
                found.entries += usize::from(matches!(byte, b'[' | b'{' | b'=' | b','));
                at += 1;
            }
        }
        found.bytes += 1;
    }
    found
}

/// The end of the string that starts at `begin` with this quote, or with three of them.
fn end_of_text(text: &[u8], begin: usize, quote: u8) -> usize {
    let three = [quote; 3];
    let long = text[begin..].starts_with(&three);
    let mut at = begin + if long { 3 } else { 1 };
    while let Some(byte) = text.get(at) {
        match *byte {
            b'\\' if quote == b'"' => at += 1,
            b'\n' if !long => return at,
            _ if long && text[at..].starts_with(&three) => return at + 3,
            own if own == quote && !long => return at + 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_quotes_and_comments_is_not_counted() {
        let entries = |text: &str| written(text.as_bytes()).entries;
        assert_eq!(entries("a = [1, 2] # [[[,,,\n"), 3);
        assert_eq!(entries("a = \"[,[\\\"[\" \nb = '[[' "), 2);
        assert_eq!(entries("a = \"\"\"[\n\"[\\\"\"\"\"\nb = '''[[\n'''"), 2);
        assert_eq!(entries("a = \"never ended [[\nb = 1"), 2);
        assert_eq!(entries("a = \"\"\"never ended [["), 1);
        assert_eq!(written(b"\"xxxxxxxxxxxxxxxx\"").bytes, 1);
    }

    #[test]
    fn a_million_tables_are_refused_without_being_parsed() {
        let tables = check_size(&"[[link]]\n".repeat(1_000_000), "x.toml").unwrap_err();
        assert!(tables.message.contains("x.toml has 2000000 keys"), "{tables}");
        let inline = format!("link = [{}]", "{},".repeat(1_000_000));
        assert!(check_size(&inline, "x.toml").is_err());
        assert!(check_size(&"\n".repeat(10 << 20), "x.toml").is_err());
        let trace = format!("rows = \"{}\"", "0,[1]\\n".repeat(1_000_000));
        assert_eq!(check_size(&trace, "x.toml"), Ok(()));
    }
}
