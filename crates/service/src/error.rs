//! What goes wrong, and whose fault it is.

use std::fmt;

/// Why a program does nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// An option has a value that cannot be right.
    Wrong {
        /// The option, as the command line has it without its dashes.
        field: &'static str,
        /// What is wrong with which value, and what would be right.
        why: String,
    },
    /// The network, the peer or a file failed.
    Failed(String),
}

impl Error {
    /// A wrong option.
    pub fn wrong(field: &'static str, why: impl Into<String>) -> Self {
        Self::Wrong { field, why: why.into() }
    }

    /// A failure of what is outside of us, with what was tried.
    pub fn failed(what: impl fmt::Display, why: impl fmt::Display) -> Self {
        Self::Failed(format!("{what}: {why}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong { field, why } => write!(out, "{field}: {why}"),
            Self::Failed(why) => out.write_str(why),
        }
    }
}

impl std::error::Error for Error {}
