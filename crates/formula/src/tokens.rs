//! The tokens of an expression.

use crate::error::Mistake;
use alloc::format;
use alloc::vec::Vec;
use core::ops::Range;

/// A token of an expression; names and numbers are read again from the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token {
    Number(f64),
    Name,
    Plus,
    Minus,
    Times,
    Over,
    Power,
    Open,
    Close,
    Comma,
    Less,
    LessEqual,
    More,
    MoreEqual,
    Equal,
    Unequal,
    End,
}

/// A token and its place.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) token: Token,
    pub(crate) span: Range<usize>,
}

/// Punctuation, longer signs first.
const SIGNS: [(&str, Token); 18] = [
    ("**", Token::Power),
    ("<=", Token::LessEqual),
    (">=", Token::MoreEqual),
    ("==", Token::Equal),
    ("!=", Token::Unequal),
    ("≤", Token::LessEqual),
    ("≥", Token::MoreEqual),
    ("·", Token::Times),
    ("+", Token::Plus),
    ("-", Token::Minus),
    ("*", Token::Times),
    ("/", Token::Over),
    ("^", Token::Power),
    ("(", Token::Open),
    (")", Token::Close),
    (",", Token::Comma),
    ("<", Token::Less),
    (">", Token::More),
];

/// The tokens of `text[range]`, followed by [`Token::End`]. Blanks, line breaks and comments
/// separate tokens.
pub(crate) fn tokens(text: &str, range: Range<usize>) -> Result<Vec<Placed>, Mistake> {
    let mut all = Vec::new();
    let (mut at, end) = (range.start, range.end);
    while let Some(first) = text[at..end].chars().next() {
        let rest = &text[at..end];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if first == '#' {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let (token, length) =
            one(rest).map_err(|(why, length)| Mistake::new(why, at..at + length))?;
        all.push(Placed { token, span: at..at + length });
        at += length;
    }
    all.push(Placed { token: Token::End, span: end..end });
    Ok(all)
}

/// The first token of a text, and its length in bytes.
fn one(rest: &str) -> Result<(Token, usize), (alloc::string::String, usize)> {
    let first = rest.chars().next().unwrap_or(' ');
    if first.is_alphabetic() || first == '_' {
        return Ok((Token::Name, name_bytes(rest)));
    }
    if first.is_ascii_digit() || first == '.' {
        let length = number_bytes(rest);
        let value: Result<f64, _> = rest[..length].parse();
        return match value {
            Ok(value) if value.is_finite() => Ok((Token::Number(value), length)),
            _ => Err((format!("`{}` is no number", &rest[..length]), length)),
        };
    }
    let sign = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign));
    sign.map(|(sign, token)| (*token, sign.len())).ok_or_else(|| match first {
        '=' => ("`=` compares nothing: write `==`".into(), 1),
        _ => (format!("`{first}` means nothing in an expression"), first.len_utf8()),
    })
}

/// Length in bytes of the name at the beginning of `text`.
pub(crate) fn name_bytes(text: &str) -> usize {
    let ends = |c: char| !(c.is_alphanumeric() || c == '_');
    text.find(ends).unwrap_or(text.len())
}

/// Length in bytes of a number at the beginning: `12`, `0.5`, `1e-6`.
fn number_bytes(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let signed = matches!(bytes[at], b'+' | b'-') && matches!(bytes[at - 1], b'e' | b'E');
        if !(bytes[at].is_ascii_alphanumeric() || bytes[at] == b'.' || at > 0 && signed) {
            break;
        }
        at += 1;
    }
    at
}

/// A name followed by the letter of a path, and the letter: `w_s` is `w` of `s`.
pub(crate) fn subscript(name: &str) -> Option<(&str, char)> {
    let (base, letter) = name.rsplit_once('_')?;
    let mut letters = letter.chars();
    let only = letters.next().filter(|c| c.is_ascii_lowercase())?;
    (letters.next().is_none() && !base.is_empty()).then_some((base, only))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_names_and_signs_are_told_apart() {
        let text = "w_r^2*1e-6 <= .5 # and so on";
        let found = tokens(text, 0..text.len()).unwrap();
        let found: Vec<Token> = found.into_iter().map(|placed| placed.token).collect();
        use Token::{End, LessEqual, Name, Number, Power, Times};
        let expected = [Name, Power, Number(2.0), Times, Number(1e-6), LessEqual, Number(0.5), End];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_no_number_is_named() {
        for text in ["1.2.3", "1e999", "2x", "3e"] {
            let mistake = tokens(text, 0..text.len()).unwrap_err();
            assert_eq!(
                (mistake.message, mistake.span),
                (format!("`{text}` is no number"), 0..text.len())
            );
        }
    }
}
