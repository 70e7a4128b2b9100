//! Controllers that outlive the process, pinned in the kernel's file system for BPF.
//!
//! If bpffs is mounted with the kernel's default mode, 1777, any user may have created directories
//! there. The owner of a pin's directory can remove the controller from the kernel, hide it, or
//! redirect root by a symbolic link. So directories are opened one below the other without
//! following links, and are used only if they belong to root and no other user may write to them.
//! After that no other user can exchange them.

use crate::controller::{hear, senses as senses_of};
use crate::{Controller, Program};
use libbpf_rs::{Error, ErrorExt, ErrorKind, Link, MapHandle};
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, Stat, flock, fstat, fstatfs,
    mkdirat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The mount point of bpffs.
const MOUNT: &str = "/sys/fs/bpf";

/// The directory of the controllers there: it has one directory for each, by its name in the
/// kernel.
const OURS: &str = "anabranch";

/// The pin in a controller's directory, and those of one that couples only paths that share.
const LINK: &str = "link";
const EXCHANGE: &str = "exchange";
const GROUPS: &str = "groups";

/// The same two of a controller that is about to replace another one, until it does. bpffs allows
/// no dot in a name.
const NEXT: [(&str, &str); 2] = [("exchange-next", EXCHANGE), ("groups-next", GROUPS)];

/// What the names of the pins of assignments begin with; the number of the control group follows.
pub(crate) const PREFIX: &str = "cgroup-";

/// `f_type` of bpffs (linux/magic.h).
const BPF_FS_MAGIC: i64 = 0xcafe_4a11;

/// Mode bits of a directory that others may write to.
const WRITABLE: Mode = Mode::WGRP.union(Mode::WOTH);

/// Number of attempts to create the directories, which another command may remove meanwhile.
const ATTEMPTS: usize = 10;

impl Controller {
    /// Pins the controller, so that it stays when this process ends.
    ///
    /// # Errors
    /// The kernel's error, or the directory that is not root's alone. Then no pin is left, or the
    /// error names it.
    pub fn pin(mut self, program: &Program) -> Result<(), Error> {
        let name = &*program.kernel_name;
        let place = made(name)?;
        place.clear()?; // remains of a loader that was killed
        self.pin_into(&place).map_err(|error| match remove(name) {
            Ok(()) => error,
            Err(also) => error.context(format!("{also}")),
        })
    }

    /// The controller itself comes last: what is pinned without it is no controller.
    fn pin_into(&mut self, place: &Directory) -> Result<(), Error> {
        if let Some((mut exchange, mut groups)) = senses_of(&mut self.object)? {
            exchange.pin(place.path.join(EXCHANGE))?;
            groups.pin(place.path.join(GROUPS))?;
        }
        self.link.pin(place.path.join(LINK))
    }
}

/// Has `update` change what the pinned link of a controller registers, and pins the exchange and
/// the groups of the new one in place of the old one's. The pin of the link stays.
///
/// # Errors
/// `NotFound` if the controller is not pinned, and the error of `update`: then all is as before.
/// Otherwise the kernel's error, or the directory that is not root's alone.
pub(crate) fn exchanged(
    kernel_name: &str,
    senses: Option<(Link, MapHandle)>,
    update: impl FnOnce(&Link) -> Result<(), Error>,
) -> Result<(), Error> {
    hear();
    let place = Directory::of(kernel_name)?;
    let link = Link::open(place.path.join(LINK))?;
    place.forget(&NEXT.map(|(next, _)| next))?; // remains of a loader that was killed
    let coupling = senses.is_some();
    if let Some((mut exchange, mut groups)) = senses {
        exchange.pin(place.path.join(NEXT[0].0))?;
        groups.pin(place.path.join(NEXT[1].0))?;
    }
    if let Err(error) = update(&link) {
        place.forget(&NEXT.map(|(next, _)| next))?;
        return Err(error);
    }
    if !coupling {
        return Ok(place.forget(&NEXT.map(|(_, name)| name))?);
    }
    for (next, name) in NEXT {
        let path = place.path.join(next);
        renameat(&place.fd, next, &place.fd, name).map_err(|error| about(&path, error))?;
    }
    Ok(())
}

/// The number of the pinned exchange, which differs from that of each other one; `None` if no
/// controller with one is pinned.
///
/// # Errors
/// The kernel's error, or the directory that is not root's alone.
pub(crate) fn exchange_number(kernel_name: &str) -> io::Result<Option<u64>> {
    let looked = Directory::of(kernel_name)
        .and_then(|place| Ok(statat(&place.fd, EXCHANGE, AtFlags::SYMLINK_NOFOLLOW)?.st_ino));
    match looked {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        looked => looked.map(Some),
    }
}

/// Removes a pinned controller; connections that use it keep it until they end.
///
/// # Errors
/// `NotFound` if it is not pinned; otherwise the kernel's error, or the directory that is not
/// root's alone.
pub fn unload(kernel_name: &str) -> Result<(), Error> {
    hear();
    let place = Directory::of(kernel_name)?;
    let link = Link::open(place.path.join(LINK))?;
    for name in place.names()?.iter().filter(|name| name.starts_with(PREFIX)) {
        end(&Link::open(place.path.join(name))?)?;
    }
    // Without this the kernel unregisters it some time after the pin is removed. Before Linux 6.11
    // such links cannot be detached.
    match link.detach() {
        Err(error) if error.kind() != ErrorKind::Unsupported => return Err(error),
        _ => {}
    }
    drop(link);
    Ok(remove(kernel_name)?)
}

/// Ends what a link does at once: to close it ends it some time later.
pub(crate) fn end(link: &Link) -> Result<(), Error> {
    match link.detach() {
        // its group is gone
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// The exchange and the groups of a pinned controller that couples only paths that share.
///
/// # Errors
/// `NotFound` if no such controller is pinned; otherwise the kernel's error, or the directory that
/// is not root's alone.
pub(crate) fn senses(kernel_name: &str) -> Result<(Link, MapHandle), Error> {
    hear();
    let place = Directory::of(kernel_name)?;
    let exchange = Link::open(place.path.join(EXCHANGE))?;
    Ok((exchange, MapHandle::from_pinned_path(place.path.join(GROUPS))?))
}

/// The link of a pinned controller; `None` if it is not pinned.
///
/// # Errors
/// The kernel's error, or the directory that is not root's alone: files in such a directory cannot
/// be trusted.
pub(crate) fn pinned(kernel_name: &str) -> Result<Option<Link>, Error> {
    hear();
    let link = Directory::of(kernel_name)
        .map_err(Error::from)
        .and_then(|place| Link::open(place.path.join(LINK)));
    match link {
        Ok(link) => Ok(Some(link)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The names in the kernel of all controllers that have a directory.
///
/// # Errors
/// The kernel's error, or the directory that is not root's alone.
pub(crate) fn names() -> io::Result<Vec<String>> {
    let ours = match Directory::root().and_then(|root| root.open(OURS)) {
        Ok(ours) => ours,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = ours.names()?;
    names.sort();
    Ok(names)
}

/// Pins a link in the directory of a loaded controller. A pin of that name must not be there.
///
/// # Errors
/// `NotFound` if the controller is not pinned; otherwise the kernel's error, or the directory that
/// is not root's alone.
pub(crate) fn keep(kernel_name: &str, name: &str, link: &mut Link) -> Result<(), Error> {
    link.pin(Directory::of(kernel_name)?.path.join(name))
}

/// The links in the directory of a controller whose pins have names that begin with `prefix`, by
/// name; none without that directory.
///
/// # Errors
/// The kernel's error, or the directory that is not root's alone.
pub(crate) fn kept(kernel_name: &str, prefix: &str) -> Result<Vec<(String, Link)>, Error> {
    hear();
    let place = match Directory::of(kernel_name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        place => place?,
    };
    let names = place.names()?.into_iter().filter(|name| name.starts_with(prefix));
    names.map(|name| Ok((name.clone(), Link::open(place.path.join(name))?))).collect()
}

/// Removes a pin in the directory of a controller.
///
/// # Errors
/// The kernel's error, or the directory that is not root's alone.
pub(crate) fn forget(kernel_name: &str, name: &str) -> io::Result<()> {
    Directory::of(kernel_name)?.forget(&[name])
}

/// The directory of a controller, created if it is missing.
fn made(kernel_name: &str) -> io::Result<Directory> {
    mounted()?;
    let mut attempts = 1..ATTEMPTS;
    loop {
        match Directory::root()?.make(OURS).and_then(|ours| ours.make(kernel_name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && attempts.next().is_some() => {}
            found => return found,
        }
    }
}

/// Removes the directory of a controller and its files, and the parent directory if it becomes
/// empty.
fn remove(kernel_name: &str) -> io::Result<()> {
    Directory::of(kernel_name)?.clear()?;
    let root = Directory::root()?;
    root.open(OURS)?.remove(kernel_name)?;
    match root.remove(OURS) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()), // by another command
        done => done,
    }
}

/// Mounts bpffs, if it is not mounted, for root alone.
///
/// A second mount would hide the pins of the first. So the directory below is locked meanwhile: who
/// waited for another command finds bpffs mounted.
fn mounted() -> io::Result<()> {
    if !missing() {
        return Ok(());
    }
    let below = openat(CWD, MOUNT, flags(), Mode::empty())?;
    flock(&below, FlockOperation::LockExclusive)?;
    if missing() {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        mount("bpf", MOUNT, "bpf", flags, Some(c"mode=0700")).map_err(|error| {
            told(format!(
                "bpffs cannot be mounted at {MOUNT}: {error}\n\
                 help: sudo mount -t bpf -o mode=0700 bpf {MOUNT}"
            ))
        })?;
    }
    Ok(())
}

/// Whether bpffs is not mounted.
fn missing() -> bool {
    Directory::root().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// An open directory that is root's alone: names are resolved in this directory, even if its path
/// changes.
struct Directory {
    fd: OwnedFd,
    path: PathBuf,
}

impl Directory {
    /// The root of bpffs. `NotFound` if bpffs is not mounted.
    fn root() -> io::Result<Self> {
        let path = Path::new(MOUNT);
        let fd = openat(CWD, path, flags(), Mode::empty())?;
        if fstatfs(&fd)?.f_type != BPF_FS_MAGIC {
            return Err(io::Error::new(io::ErrorKind::NotFound, "bpffs is not mounted"));
        }
        let of = fstat(&fd)?;
        let mode = Mode::from_raw_mode(of.st_mode);
        let remedy = if of.st_uid != 0 {
            format!("sudo chown root:root {MOUNT}")
        } else if mode.intersects(WRITABLE) && !mode.contains(Mode::SVTX) {
            format!("sudo chmod 0700 {MOUNT}")
        } else {
            return Ok(Directory { fd, path: path.to_owned() });
        };
        Err(refused(path, &of, &remedy))
    }

    /// The directory of a controller. `NotFound` if it does not exist.
    fn of(kernel_name: &str) -> io::Result<Self> {
        Directory::root()?.open(OURS)?.open(kernel_name)
    }

    /// A directory in this one.
    fn open(&self, name: &str) -> io::Result<Self> {
        let path = self.path.join(name);
        let remedy = format!("sudo rm -r {}", path.display());
        let fd = match openat(&self.fd, name, flags(), Mode::empty()) {
            Err(Errno::NOTDIR | Errno::LOOP) => {
                let of = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
                return Err(refused(&path, &of, &remedy));
            }
            opened => opened?,
        };
        let of = fstat(&fd)?;
        if of.st_uid != 0 || Mode::from_raw_mode(of.st_mode).intersects(WRITABLE) {
            return Err(refused(&path, &of, &remedy));
        }
        Ok(Directory { fd, path })
    }

    /// A directory in this one, created if it is missing.
    fn make(&self, name: &str) -> io::Result<Self> {
        match mkdirat(&self.fd, name, Mode::RWXU) {
            Err(Errno::EXIST) | Ok(()) => self.open(name),
            Err(error) => Err(about(&self.path.join(name), error)),
        }
    }

    /// The names in it.
    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if !matches!(name.as_str(), "." | "..") {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Removes every file in it.
    fn clear(&self) -> io::Result<()> {
        let names = self.names()?;
        self.forget(&names.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Removes these files of it, as far as they are there.
    fn forget(&self, names: &[&str]) -> io::Result<()> {
        for name in names {
            match unlinkat(&self.fd, *name, AtFlags::empty()) {
                Err(Errno::NOENT) | Ok(()) => {}
                Err(error) => return Err(about(&self.path.join(name), error)),
            }
        }
        Ok(())
    }

    /// Removes an empty directory in this one.
    fn remove(&self, name: &str) -> io::Result<()> {
        let removed = unlinkat(&self.fd, name, AtFlags::REMOVEDIR);
        removed.map_err(|error| about(&self.path.join(name), error))
    }
}

fn flags() -> OFlags {
    OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// The kernel's error, with its kind and the path.
fn about(path: &Path, error: Errno) -> io::Error {
    let error = io::Error::from(error);
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn told(text: String) -> io::Error {
    io::Error::other(text)
}

/// The error for a directory below which pins are refused.
fn refused(path: &Path, of: &Stat, remedy: &str) -> io::Error {
    let why = match FileType::from_raw_mode(of.st_mode) {
        FileType::Directory if of.st_uid != 0 => format!("belongs to user {}", of.st_uid),
        FileType::Directory => {
            format!("may be written by others than root (mode {:04o})", of.st_mode & 0o7777)
        }
        FileType::Symlink => format!("is a symbolic link, of user {}", of.st_uid),
        _ => format!("is not a directory, and belongs to user {}", of.st_uid),
    };
    told(format!(
        "{} {why}, and whoever can write there can take a controller out\nhelp: {remedy}",
        path.display()
    ))
}
