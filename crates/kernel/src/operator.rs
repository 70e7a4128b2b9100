//! A program for operators: its rights, its words, and what it sees in use.

use crate::namespaces::everywhere;
use crate::{Error, Loaded, Reader, Subflow, loaded, rights};
use std::{fmt, io};

/// TCP's state of a socket that listens (include/net/tcp_states.h).
const LISTEN: u8 = 10;

/// A refusal, or an error of the kernel, in words for an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

impl From<String> for Refused {
    fn from(text: String) -> Self {
        Refused(text)
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Refused(format!("{error:#}"))
    }
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Refused(error.to_string())
    }
}

/// A program for operators.
#[derive(Clone, Copy, Debug)]
pub struct Operator {
    /// The words that its commands begin with, for help: `anabranch-linux`.
    pub words: &'static str,
}

/// Number of sockets under a loaded controller, in any state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) sockets: usize,
    /// A socket that listens hands on a controller that it chose itself.
    pub(crate) listening: usize,
    /// Sockets that have a controller of the same name that was taken out.
    pub(crate) earlier: usize,
}

impl Operator {
    /// Refuses without the rights to load controllers and to look at them.
    ///
    /// # Errors
    /// Which right is missing, and how to get it.
    pub fn check_root(&self, command: &str) -> Result<(), Refused> {
        if !rights::is_root() {
            let whole = format!("{} {command}", self.words);
            return Err(Refused(format!("`{whole}` needs root: sudo {whole} …")));
        }
        rights::lacking_for(command).map_or(Ok(()), |why| Err(Refused(why)))
    }

    /// Every TCP socket under one of our controllers, in any state, with the number of its
    /// namespace.
    pub(crate) fn sockets(&self) -> Result<Vec<(u64, Subflow)>, Refused> {
        let words = self.words;
        let read = Reader::new().and_then(|reader| everywhere(|| reader.read()));
        let found = read.map_err(|error: Error| {
            let needs = match rights::lacking_for("status") {
                Some(_) => "; that needs CAP_SYS_ADMIN and CAP_SYS_PTRACE",
                None => "",
            };
            Refused(format!(
                "the sockets under the controllers cannot be read: {error:#}{needs}\n\
                 help: `{words} check` shows what is missing; `{words} unload --force` does not \
                 need them"
            ))
        })?;
        let each = |(number, rows): (u64, Vec<Subflow>)| rows.into_iter().map(move |r| (number, r));
        Ok(found.into_iter().flat_map(each).collect())
    }
}

/// The controllers in the kernel.
pub(crate) fn known() -> Result<Vec<Loaded>, Refused> {
    loaded().map_err(|error| {
        Refused(format!("which controllers are loaded cannot be known: {error:#}"))
    })
}

/// Counts the sockets under a controller.
pub(crate) fn used(rows: &[(u64, Subflow)], kernel_name: &str) -> Use {
    let own: Vec<&Subflow> =
        rows.iter().map(|(_, row)| row).filter(|row| row.controller == kernel_name).collect();
    let now: Vec<&&Subflow> = own.iter().filter(|row| !row.departed).collect();
    let listening = now.iter().filter(|row| row.state == LISTEN).count();
    Use { sockets: now.len(), listening, earlier: own.len() - now.len() }
}
