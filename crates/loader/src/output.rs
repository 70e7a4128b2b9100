//! Text, tables and JSON on standard output, and JSON in files.

use kernel::Refused;
use serde::Serialize;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Writes lines to standard output.
pub(crate) fn say(text: &str) -> Result<(), Refused> {
    let mut out = io::stdout().lock();
    let written = writeln!(out, "{text}").and_then(|()| out.flush());
    written.map_err(|error| Refused(format!("standard output: {error}")))
}

/// Writes JSON into a file, never half of it, or to standard output if it is `-`.
pub(crate) fn write_json(
    file: &Path,
    content: &impl Serialize,
    dense: bool,
) -> Result<(), Refused> {
    let text = match dense {
        true => serde_json::to_string(content),
        false => serde_json::to_string_pretty(content),
    };
    let text = text.map_err(|error| Refused(error.to_string()))?;
    if file == Path::new("-") {
        return say(&text);
    }
    let mut part = file.as_os_str().to_owned();
    part.push(".part");
    let written = fs::write(&part, text + "\n").and_then(|()| fs::rename(&part, file));
    written.map_err(|error| Refused(format!("{}: {error}", file.display())))
}

/// A table whose first `left` columns are text, the others numbers.
pub(crate) fn table(title: &str, head: &[&str], rows: &[Vec<String>], left: usize) -> String {
    let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
    let lines = || std::iter::once(&head).chain(rows);
    let width = |column: usize| {
        lines().map(|row| row.get(column).map_or(0, |cell| cell.chars().count())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = title.to_owned();
    for row in lines() {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            line += "  ";
            line += &match column < left {
                true => format!("{cell:<width$}"),
                false => format!("{cell:>width$}"),
            };
        }
        text += "\n";
        text += line.trim_end();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_left_and_numbers_right() {
        let rows = [["ab_lia", "7"], ["–", "1000"]].map(|row| row.map(str::to_owned).to_vec());
        let text = "Controllers\n  name    acks\n  ab_lia     7\n  –       1000";
        assert_eq!(table("Controllers", &["name", "acks"], &rows, 1), text);
    }
}
