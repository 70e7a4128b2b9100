//! Errors of tables in a scenario: the key or the bytes in the file, the problem, and a right
//! value.

use crate::error::Error;
use crate::name::Name;
use core::ops::Range;
use std::collections::BTreeSet;
use units::InvalidParameter;

/// What an error is about: bytes of the file, or a dotted key, which may be left out there.
pub(crate) enum Subject {
    Bytes(Range<usize>),
    Key(String),
}

/// An error, and what it is about.
pub(crate) struct Located {
    pub(crate) error: Error,
    pub(crate) subject: Subject,
}

impl Located {
    /// An error about a name in the file.
    pub(crate) fn at(name: &Name, error: Error) -> Self {
        Located { error, subject: Subject::Bytes(name.span.clone()) }
    }

    /// An error about a dotted key, such as `link.ap1.queue`.
    pub(crate) fn key(key: impl Into<String>, error: Error) -> Self {
        Located { error, subject: Subject::Key(key.into()) }
    }
}

/// A key of a table that is wrong. The table does not know where it stands in the file.
pub(crate) struct WrongKey {
    /// The key below the table, such as `queue.red.max`.
    pub(crate) key: String,
    /// What is wrong.
    pub(crate) what: String,
    /// What would be right.
    pub(crate) right: String,
}

impl WrongKey {
    /// The error that `key` is `value`.
    pub(crate) fn value(key: &str, value: impl ToString, right: impl Into<String>) -> Self {
        let what = format!("{key} is {}", value.to_string());
        WrongKey { key: key.into(), what, right: right.into() }
    }

    /// Another error about `key`.
    pub(crate) fn new(key: &str, what: impl Into<String>, right: impl Into<String>) -> Self {
        WrongKey { key: key.into(), what: what.into(), right: right.into() }
    }

    /// The same key as seen from the table that contains `table`.
    pub(crate) fn below(self, table: &str) -> Self {
        WrongKey { key: format!("{table}.{}", self.key), ..self }
    }

    /// The same key and value with `prefix` before both.
    pub(crate) fn prefixed(self, prefix: &str) -> Self {
        let (key, what) = (format!("{prefix}{}", self.key), format!("{prefix}{}", self.what));
        WrongKey { key, what, ..self }
    }

    /// The error in the table of `kind` with this name.
    pub(crate) fn of(self, kind: &str, name: &str) -> Located {
        let error = Error::new(format!("{kind} `{name}`: {}", self.what)).help(self.right);
        Located::key(format!("{kind}.{name}.{}", self.key), error)
    }

    /// The error in the whole file as a table.
    pub(crate) fn of_file(self) -> Located {
        Located::key(self.key, Error::new(self.what).help(self.right))
    }

    /// The error in the single table with this key.
    pub(crate) fn within(self, table: &str) -> Located {
        let error = Error::new(format!("{table}: {}", self.what)).help(self.right);
        Located::key(format!("{table}.{}", self.key), error)
    }
}

impl From<InvalidParameter> for WrongKey {
    fn from(InvalidParameter { key, value, right }: InvalidParameter) -> Self {
        WrongKey::value(&key, value, right)
    }
}

/// Checks that all names of a kind differ, and that each is allowed in a dotted key.
pub(crate) fn unique<'a>(kind: &str, names: impl Iterator<Item = &'a Name>) -> Result<(), Located> {
    let mut seen = BTreeSet::new();
    for name in names {
        if name.text.is_empty() || name.text.contains('.') {
            let error = Error::new(format!("a {kind} is called `{}`", name.text));
            return Err(Located::at(name, error.help("a name is not empty and has no dot")));
        }
        if !seen.insert(&name.text) {
            let error = Error::new(format!("two {kind}s are called `{}`", name.text));
            return Err(Located::at(name, error.help("give one of them another name")));
        }
    }
    Ok(())
}

/// A line of a file inside a scenario that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadLine {
    /// Its number, from 1 on.
    pub(crate) line: usize,
    /// What is wrong with it.
    pub(crate) why: String,
}

impl BadLine {
    /// The error about the key with the text of the file.
    pub(crate) fn of(self, key: &str, right: &str) -> WrongKey {
        WrongKey::value(key, format!("wrong: line {}: {}", self.line, self.why), right)
    }
}

/// Help for a file that was not read with its scenario.
pub(crate) fn not_read(text: &str) -> String {
    format!("a file is named by a scenario file or an override: in a text, give `{text}`")
}
