//! Replacement in place: the pinned link of a controller registers another one of the same name.
//!
//! The kernel puts the new one into its list before it takes the old one out
//! (`tcp_update_congestion_control`), so the name is there at every moment. Each socket that has
//! the old one holds a reference to it, and so does each network namespace whose default it is,
//! until that default is set again.

use crate::controller::{explained, operations, prepared, senses};
use crate::namespaces::{CHOICE, chosen, everywhere, write_setting};
use crate::operations::failed;
use crate::operator::{Operator, Refused, known, used};
use crate::{Controller, ErrorKind, Program, Settings, pins};
use libbpf_rs::{Error, Link};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// A controller that has replaced another one of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// Its name in the kernel.
    pub kernel_name: String,
    /// Sockets that keep an earlier controller of this name until they close; `None` if that is
    /// unknown.
    pub earlier: Option<usize>,
    /// Network namespaces whose default was set again.
    pub defaults: usize,
    /// Whether all namespaces were looked at, instead of the caller's alone.
    pub whole: bool,
}

impl Controller {
    /// Loads `program` in place of the pinned controller of the same name. Sockets that have the
    /// earlier one keep it, and so do the defaults of network namespaces until they are set again.
    ///
    /// # Errors
    /// `NotFound` if no controller of this name is pinned; otherwise the kernel's error with
    /// libbpf's messages. Then the earlier one is in place.
    pub fn replace(program: &Program, settings: &Settings) -> Result<(), Error> {
        explained(|| {
            let (name, mut object) = prepared(program, settings)?;
            let coupling = senses(&mut object)?;
            let mut map = operations(&mut object)?;
            pins::exchanged(&name, coupling, |link| {
                // The kernel takes the callbacks in, and then refuses a second one of this name. A
                // link can be given such a structure alone.
                match map.attach_struct_ops() {
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(error),
                    Ok(_) => return Err(failed(format!("{name} was unloaded meanwhile"))),
                }
                Ok(update(link, map.as_fd())?)
            })
        })
    }
}

/// Has `link` register the callbacks of `map` instead of those that it registers now.
#[expect(unsafe_code, reason = "libbpf-rs updates the program of a link, and not its structure")]
fn update(link: &Link, map: BorrowedFd<'_>) -> io::Result<()> {
    let (link, map) = (link.as_fd().as_raw_fd(), map.as_raw_fd());
    // SAFETY: both descriptors are open as long as they are borrowed, and the pointer to options is
    // null, which stands for none.
    match unsafe { libbpf_sys::bpf_link_update(link, map, std::ptr::null()) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(-error)),
    }
}

/// Sets the default again in the namespace of the calling thread if it has this name: it is then
/// the controller that has the name now. Whether it had.
fn choose_again_here(kernel_name: &str) -> io::Result<bool> {
    let chosen = chosen(kernel_name)?;
    if chosen {
        write_setting(CHOICE, kernel_name)?;
    }
    Ok(chosen)
}

/// In how many namespaces the default was set again, and whether all were looked at.
fn choose_again(kernel_name: &str) -> io::Result<(usize, bool)> {
    let count = |found: &[(u64, bool)]| found.iter().filter(|(_, chosen)| *chosen).count();
    // Twice: a namespace made meanwhile may have copied the host's default before that was set.
    let twice = everywhere(|| choose_again_here(kernel_name))
        .and_then(|_| everywhere(|| choose_again_here(kernel_name)));
    match twice {
        Ok(found) => Ok((count(&found), true)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Ok((usize::from(choose_again_here(kernel_name)?), false))
        }
        Err(error) => Err(error),
    }
}

impl Operator {
    /// Puts `program` into the place of the controller that is loaded under its name. New
    /// connections get it, also where the name is a default. `None` if none is loaded under it.
    pub(crate) fn put(
        &self,
        program: &Program,
        settings: &Settings,
    ) -> Result<Option<Replaced>, Refused> {
        let kernel_name = program.kernel_name.to_string();
        let Some(own) = known()?.into_iter().find(|one| one.kernel_name == kernel_name) else {
            return Ok(None);
        };
        if pins::pinned(&kernel_name)?.is_none() {
            return Err(self.elsewhere(&kernel_name, own.link));
        }
        Controller::replace(program, settings).map_err(|error| {
            let why = match error.kind() {
                ErrorKind::Unsupported => "this kernel cannot replace one, Linux 6.4 can",
                _ => "the earlier one stays in place",
            };
            Refused(format!(
                "{kernel_name} could not be replaced; {why}: {error:#}\n\
                 help: `{} check` shows what is missing",
                self.words
            ))
        })?;
        let (defaults, whole) = choose_again(&kernel_name)?;
        let earlier = self.sockets().ok().map(|rows| used(&rows, &kernel_name).earlier);
        Ok(Some(Replaced { kernel_name, earlier, defaults, whole }))
    }
}
