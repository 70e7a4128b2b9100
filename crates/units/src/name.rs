//! Comparison of names: case, hyphens, underscores and spaces are ignored.
//!
//! This is the only place that compares a name with known names, and that finds the names that were
//! probably meant.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Most suggestions for an unknown name.
const MOST_OFFERED: usize = 3;

/// Least characters of a beginning that is matched with names.
const LEAST_BEGINNING: usize = 3;

/// Whether a character is a separator, which is ignored.
fn separates(c: char) -> bool {
    matches!(c, '-' | '_' | ' ')
}

/// The significant characters of a name.
fn letters(name: &str) -> impl Iterator<Item = char> + Clone {
    name.chars().filter(|c| !separates(*c)).flat_map(char::to_lowercase)
}

/// Whether two spellings are the same name.
pub fn same(a: &str, b: &str) -> bool {
    a == b || letters(a).eq(letters(b))
}

/// The known name that `text` spells. An exact spelling has precedence, and a text that matches two
/// names matches neither.
pub fn find<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut found = None;
    let mut several = false;
    for name in known {
        if name == text {
            return Some(name);
        }
        if same(name, text) {
            several |= found.is_some_and(|other| other != name);
            found = Some(name);
        }
    }
    found.filter(|_| !several)
}

/// The rest of `text` after `name` and at most one separator.
pub fn strip<'a>(name: &str, text: &'a str) -> Option<&'a str> {
    let mut rest = text;
    for letter in letters(name) {
        let mut chars = rest.trim_start_matches(separates).chars();
        if !chars.next().is_some_and(|c| c.to_lowercase().eq([letter])) {
            return None;
        }
        rest = chars.as_str();
    }
    match name.ends_with(separates) {
        true => Some(rest.strip_prefix(separates).unwrap_or(rest)),
        false => Some(rest),
    }
}

/// The known names that `text` probably means, nearest first; empty if none is near.
pub fn near<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let written: Vec<char> = letters(text).collect();
    let mut found: Vec<(usize, &str)> = Vec::new();
    for name in known {
        let name_letters: Vec<char> = letters(name).collect();
        let far = if continues(text, name) { Some(0) } else { distance(&written, &name_letters) };
        if let Some(far) = far
            && !found.iter().any(|(_, other)| *other == name)
        {
            found.push((far, name));
        }
    }
    found.sort_by_key(|(far, _)| *far);
    let best = found.first().map_or(0, |(far, _)| *far);
    found
        .into_iter()
        .filter(|(far, _)| *far <= best + 1)
        .map(|(_, name)| name)
        .take(MOST_OFFERED)
        .collect()
}

/// "did you mean `a` or `b`?"; `None` if nothing is near.
pub fn meant<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let names: Vec<String> = near(text, known).iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("did you mean {one}?")),
        [most @ .., last] => Some(format!("did you mean {} or {last}?", most.join(", "))),
    }
}

/// The same after a semicolon, to follow an error; empty if none is near.
pub fn offer<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    meant(text, known).map_or_else(String::new, |meant| format!("; {meant}"))
}

/// Whether `name` is `text` and more words: `cwnd_segments` is `cwnd` with its unit.
fn continues(text: &str, name: &str) -> bool {
    let rest = strip(text, name);
    letters(text).next().is_some() && rest.is_some_and(|rest| rest.starts_with(separates))
}

/// Number of letters that are wrong, missing, extra or exchanged with their neighbour. `None` if
/// `written` is not near `name`: near is at most one such letter, plus one for every six.
fn distance(written: &[char], name: &[char]) -> Option<usize> {
    let most = 1 + name.len() / 6;
    if written.len() >= LEAST_BEGINNING && name.starts_with(written) {
        return Some(most.min(name.len() - written.len()));
    }
    if written.len().abs_diff(name.len()) > most || written.is_empty() {
        return None;
    }
    let width = name.len() + 1;
    let mut rows: [Vec<usize>; 3] = [Vec::new(), (0..width).collect(), (0..width).collect()];
    for (i, letter) in written.iter().enumerate() {
        rows.rotate_left(1);
        rows[2] = Vec::with_capacity(width);
        rows[2].push(i + 1);
        for (j, other) in name.iter().enumerate() {
            let replaced = rows[1][j] + usize::from(letter != other);
            let mut least = replaced.min(rows[1][j + 1] + 1).min(rows[2][j] + 1);
            if i > 0 && j > 0 && *letter == name[j - 1] && written[i - 1] == *other {
                least = least.min(rows[0][j - 1] + 1);
            }
            rows[2].push(least);
        }
    }
    Some(rows[2][name.len()]).filter(|far| *far <= most && *far < name.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn case_hyphens_underscores_and_spaces_do_not_matter() {
        for text in ["fully-coupled", "Fully Coupled", "FULLY_COUPLED", "fullycoupled"] {
            assert_eq!(find(text, ["lia", "fully-coupled"]), Some("fully-coupled"), "{text}");
        }
        assert_eq!(find("fully-coupledx", ["fully-coupled"]), None);
        assert_eq!(find("fully:coupled", ["fully-coupled"]), None);
    }

    #[test]
    fn a_name_that_is_written_as_it_is_known_goes_before_one_of_another_spelling() {
        assert_eq!(find("a-1", ["A1", "a-1"]), Some("a-1"));
        assert_eq!(find("A-1", ["A1", "a-1"]), None);
    }

    #[test]
    fn what_follows_a_name_is_left_as_it_is_written() {
        assert_eq!(strip("acks-", "ACKS 7"), Some("7"));
        assert_eq!(strip("acks-", "acks7"), Some("7"));
        assert_eq!(strip("acks-", "acks--1"), Some("-1"));
        assert_eq!(strip("", "0.5"), Some("0.5"));
        assert_eq!(strip("acks-", "ack"), None);
    }

    #[test]
    fn what_is_near_is_offered_and_nothing_else() {
        let known = ["reno", "phi", "lia", "olia", "balia", "lp", "mtcp", "fully-coupled"];
        assert_eq!(near("oila", known), ["olia"]);
        assert_eq!(near("lai", known), ["lia"]);
        assert_eq!(near("full", known), ["fully-coupled"]);
        for text in ["cubic", "semantics", "", "x", "a name that is nothing like any other"] {
            assert_eq!(near(text, known), [""; 0], "{text}");
        }
        assert_eq!(offer("oila", known), "; did you mean `olia`?");
        assert_eq!(meant("lix", ["lia", "lib"]), Some("did you mean `lia` or `lib`?".into()));
        assert_eq!(offer("cubic", known), "");
    }

    #[test]
    fn a_name_that_is_the_text_and_further_words_is_offered_first() {
        let known = ["cwn", "cwnd_segments", "cwnd_segments_max", "t_s", "ts"];
        assert_eq!(near("cwnd", known), ["cwnd_segments", "cwnd_segments_max", "cwn"]);
        assert_eq!(near("T", known), ["t_s", "ts"]);
        assert_eq!(near("_", known), [""; 0]);
    }

    proptest! {
        #[test]
        fn a_name_is_found_however_it_is_cased_and_separated(
            name in "[a-z]{1,8}(-[a-z]{1,4}){0,3}", seps in prop::collection::vec("[-_ ]?", 20), upper: [bool; 20],
        ) {
            let letters = name.chars().filter(|c| *c != '-').enumerate();
            let text: String = letters.map(|(i, c)| {
                let c = if upper[i % 20] { c.to_ascii_uppercase() } else { c };
                format!("{}{c}", seps[i % 20])
            }).collect();
            prop_assert_eq!(find(&text, [name.as_str()]), Some(name.as_str()));
        }

        #[test]
        fn one_wrong_letter_is_near(name in "[a-z]{2,12}", at in 0_usize..12, letter in "[a-z]") {
            let mut text = name.clone();
            text.insert_str(at.min(name.len()), &letter);
            prop_assert_eq!(near(&text, [name.as_str()]), [name.as_str()]);
        }

        #[test]
        fn no_text_makes_the_comparison_panic(text in "\\PC*", name in "\\PC{0,8}") {
            let _ = (near(&text, [name.as_str()]), strip(&name, &text), find(&text, [name.as_str()]));
        }
    }
}
