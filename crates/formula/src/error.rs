//! Errors in the text of a law, with their place.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

/// An error, and its bytes in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) message: String,
    pub(crate) span: Range<usize>,
}

impl Mistake {
    pub(crate) fn new(message: impl Into<String>, span: Range<usize>) -> Self {
        Mistake { message: message.into(), span }
    }
}

/// The error of a text that is not a law: the place with a caret below it, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LawError {
    /// What is wrong and what would be right, in one line.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The line with a caret below it; a long line may be cut.
    excerpt: String,
}

/// Most characters of a line that an error shows.
const MOST_SHOWN: usize = 100;

impl LawError {
    pub(crate) fn new(text: &str, mistake: Mistake) -> Self {
        let Mistake { message, span } = mistake;
        let boundary = |at: usize| (0..=at.min(text.len())).rfind(|at| text.is_char_boundary(*at));
        let [start, end] = [span.start, span.end].map(|at| boundary(at).unwrap_or(0));
        let line_start = text[..start].rfind('\n').map_or(0, |end| end + 1);
        let shown = text[line_start..].lines().next().unwrap_or_default();
        let line = text[..line_start].matches('\n').count() + 1;
        let before = text[line_start..start].chars().count();
        let marked = text[start..end.max(start)].lines().next();
        let marked = marked.map_or(1, |marked| marked.chars().count().max(1));
        // A long line is shown starting a little before the mistake.
        let skipped = if before > MOST_SHOWN / 2 { before - MOST_SHOWN / 4 } else { 0 };
        let part: String = shown.chars().skip(skipped).take(MOST_SHOWN).collect();
        let (indent, carets) = (before - skipped, marked.min(MOST_SHOWN / 2));
        let excerpt = format!("    {part}\n    {:indent$}{:^<carets$}", "", "");
        // Quoted text in the message may have several lines.
        let words = |c: char| c.is_whitespace() || c.is_control();
        let message: Vec<&str> = message.split(words).filter(|word| !word.is_empty()).collect();
        LawError { message: message.join(" "), line, column: before + 1, excerpt }
    }

    /// The error as text, with the name of the file before the place.
    pub fn in_file(&self, name: &str) -> String {
        format!("{name}:{}:{}: {}\n{}", self.line, self.column, self.message, self.excerpt)
    }
}

impl fmt::Display for LawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LawError { message, line, column, excerpt } = self;
        write!(f, "the law, line {line}, character {column}: {message}\n{excerpt}")
    }
}

impl core::error::Error for LawError {}

/// ` did you mean `…`?`, or an empty text.
pub(crate) fn offer<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    units::name::offer(name, known).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_below_the_mistake_whatever_the_width_of_characters() {
        let text = "a = 1\nβ = α + oops";
        let at = text.find("oops").unwrap();
        let error = LawError::new(text, Mistake::new("no", at..at + 4));
        let expected = "my.law:2:9: no\n    β = α + oops\n            ^^^^";
        assert_eq!(error.in_file("my.law"), expected);
    }

    #[test]
    fn a_mistake_far_to_the_right_is_still_shown() {
        let text = format!("{}oops", "1 + ".repeat(1000));
        let error = LawError::new(&text, Mistake::new("no", 4000..4004));
        assert!(error.to_string().contains("oops"), "{error}");
        assert_eq!(error.column, 4001);
    }
}
