//! The choice of a controller for the processes of a control group: `bpf/assign.bpf.c`.

use crate::controller::explained;
use crate::operations::failed;
use crate::operator::{Operator, Refused, known};
use crate::pins::{self, PREFIX, end};
use crate::programs::ASSIGN;
use libbpf_rs::query::LinkTypeInfo;
use libbpf_rs::{Error, ErrorKind, Link, ObjectBuilder};
use rustix::fs::{Mode, OFlags, fstat, fstatfs, open};
use std::collections::VecDeque;
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};

/// `f_type` of control groups of version 2 (linux/magic.h).
const CGROUP2_MAGIC: i64 = 0x6367_7270;

/// Bytes of a controller's name, with the terminating zero.
const NAME_BYTES: usize = 16;

/// The processes that get a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Those of a control group of version 2, by its directory, or by its path in /proc/PID/cgroup.
    Cgroup(PathBuf),
    /// Those of a unit of systemd that runs.
    Service(String),
}

/// A control group whose processes get a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// The controller's name in the kernel.
    pub controller: String,
    /// The directory of the group; `None` if no mounted file system shows it.
    pub cgroup: Option<PathBuf>,
    number: u64,
    pin: String,
}

impl Assigned {
    /// The groups that a controller is assigned to, as [`Assigned::told`] tells them.
    pub fn of(all: &[Assigned], kernel_name: &str) -> Vec<String> {
        let own = all.iter().filter(|one| one.controller == kernel_name && one.number != 0);
        own.map(Assigned::told).collect()
    }

    /// The directory, or the number where no directory is known.
    pub fn told(&self) -> String {
        match &self.cgroup {
            Some(path) => path.display().to_string(),
            None => format!("number {}", self.number),
        }
    }
}

/// A control group that was found.
struct Group {
    fd: OwnedFd,
    path: PathBuf,
    number: u64,
}

impl Operator {
    /// Has TCP sockets and MPTCP subflows of the processes of a place get a loaded controller when
    /// they connect or are accepted. Ends with the group, with [`Operator::unassign`], and when the
    /// controller is unloaded. Returns the directory of the group.
    ///
    /// # Errors
    /// For a place that is not there or that has a controller, for a controller that is not
    /// loaded, and without root.
    pub fn assign(&self, name: &str, place: &Place) -> Result<PathBuf, Refused> {
        let kernel_name = self.kernel_name(name)?;
        self.check_root("assign")?;
        self.assign_loaded(&kernel_name, place)
    }

    /// The same by the name in the kernel, for a caller that has looked at rights.
    ///
    /// # Errors
    /// As [`Operator::assign`].
    pub fn assign_loaded(&self, kernel_name: &str, place: &Place) -> Result<PathBuf, Refused> {
        let words = self.words;
        if !known()?.iter().any(|one| one.kernel_name == kernel_name) {
            let law = told_law(kernel_name);
            return Err(Refused(format!(
                "{kernel_name} is not loaded\nhelp: `{words} load {law}` first"
            )));
        }
        let group = found(place)?;
        for one in assigned()? {
            if one.number == 0 {
                pins::forget(&one.controller, &one.pin)?; // its group is gone
            } else if one.number == group.number {
                let (there, law) = (one.told(), told_law(&one.controller));
                let has = &one.controller;
                return Err(Refused(format!(
                    "{there} has {has} already\n\
                     help: `{words} unassign {law} --cgroup {there}` first"
                )));
            }
        }
        let kept = attached(kernel_name, &group).and_then(|mut link| {
            pins::keep(kernel_name, &format!("{PREFIX}{}", group.number), &mut link)
        });
        kept.map_err(|error| match error.kind() {
            ErrorKind::NotFound => Refused(format!(
                "{kernel_name} is not pinned in /sys/fs/bpf/anabranch: another process may hold it"
            )),
            _ => Refused(format!(
                "{kernel_name} could not be assigned to {}: {error:#}",
                group.path.display()
            )),
        })?;
        Ok(group.path)
    }

    /// Ends an assignment; open connections keep their controller. Returns the directory of the
    /// group.
    ///
    /// # Errors
    /// If the place is not there or has another controller or none, and without root.
    pub fn unassign(&self, name: &str, place: &Place) -> Result<PathBuf, Refused> {
        let kernel_name = self.kernel_name(name)?;
        self.check_root("unassign")?;
        self.unassign_loaded(&kernel_name, place)
    }

    /// The same by the name in the kernel, for a caller that has looked at rights.
    ///
    /// # Errors
    /// As [`Operator::unassign`].
    pub fn unassign_loaded(&self, kernel_name: &str, place: &Place) -> Result<PathBuf, Refused> {
        let group = found(place)?;
        let all = assigned()?;
        let mut own = all.iter().filter(|one| one.controller == kernel_name);
        let Some(one) = own.clone().find(|one| one.number == group.number) else {
            let there: Vec<String> = own.by_ref().map(Assigned::told).collect();
            let rest = match there.is_empty() {
                true => "it is assigned to none".to_owned(),
                false => format!("it is assigned to {}", there.join(", ")),
            };
            let path = group.path.display();
            return Err(Refused(format!("{kernel_name} is not assigned to {path}; {rest}")));
        };
        let kept = pins::kept(kernel_name, &one.pin)?;
        kept.iter().filter(|(pin, _)| *pin == one.pin).try_for_each(|(_, link)| end(link))?;
        pins::forget(kernel_name, &one.pin)?;
        Ok(group.path)
    }
}

/// All assignments to controllers that are pinned, those whose group is gone among them: they have
/// the number 0 and no directory.
///
/// # Errors
/// The kernel's error, or the directory of a pin that is not root's alone.
pub fn assigned() -> Result<Vec<Assigned>, Error> {
    let mut all = Vec::new();
    for controller in pins::names()? {
        for (pin, link) in pins::kept(&controller, PREFIX)? {
            let number = match link.info()?.info {
                LinkTypeInfo::Cgroup(of) => of.cgroup_id,
                _ => 0,
            };
            all.push(Assigned { controller: controller.clone(), cgroup: None, number, pin });
        }
    }
    let wanted = all.iter().filter(|one| one.number != 0).count();
    if wanted > 0 {
        for (path, number) in groups() {
            for one in all.iter_mut().filter(|one| one.number == number) {
                one.cgroup.get_or_insert_with(|| path.clone());
            }
        }
    }
    Ok(all)
}

/// The name of a controller in commands.
fn told_law(kernel_name: &str) -> &str {
    crate::program(kernel_name).map_or(kernel_name, crate::Program::law)
}

/// The program for one controller, at a group.
fn attached(kernel_name: &str, group: &Group) -> Result<Link, Error> {
    explained(|| {
        let mut open = ObjectBuilder::default().open_memory(ASSIGN)?;
        let mut constants =
            open.maps_mut().filter(|map| map.name().to_string_lossy().ends_with(".rodata"));
        let mut map = constants.next().ok_or_else(|| failed("assign.o has no name to set"))?;
        let value = map.initial_value_mut().unwrap_or_default();
        if value.len() != NAME_BYTES || kernel_name.len() >= NAME_BYTES {
            return Err(failed("assign.o has other constants beside the name"));
        }
        value[..kernel_name.len()].copy_from_slice(kernel_name.as_bytes());
        drop(constants);
        let object = open.load()?;
        let program = object.progs_mut().next();
        let program = program.ok_or_else(|| failed("assign.o has no program"))?;
        program.attach_cgroup(group.fd.as_raw_fd())
    })
}

/// The control group of a place.
fn found(place: &Place) -> Result<Group, Refused> {
    match place {
        Place::Cgroup(path) => group(path),
        Place::Service(unit) => service(unit),
    }
}

/// A control group by its directory, or by its path as the kernel tells it.
fn group(path: &Path) -> Result<Group, Refused> {
    let mounts = mounts();
    let inside = path.strip_prefix("/").unwrap_or(path);
    let places = mounts.iter().map(|mount| mount.join(inside));
    for place in std::iter::once(path.to_owned()).chain(places) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(fd) = open(&place, flags, Mode::empty()) else { continue };
        if fstatfs(&fd).is_ok_and(|of| of.f_type == CGROUP2_MAGIC) {
            let number = fstat(&fd).map_err(|error| Refused(error.to_string()))?.st_ino;
            let path = fs::canonicalize(&place).unwrap_or(place);
            return Ok(Group { fd, path, number });
        }
    }
    let remedy = match mounts.first() {
        Some(mount) => format!("those are the directories below {}", mount.display()),
        None => "none is mounted: mount -t cgroup2 cgroup2 /sys/fs/cgroup".to_owned(),
    };
    Err(Refused(format!("{} is not a control group of version 2; {remedy}", path.display())))
}

/// The control group of a unit of systemd, which has its name.
fn service(unit: &str) -> Result<Group, Refused> {
    let name = if unit.contains('.') { unit.to_owned() } else { format!("{unit}.service") };
    let mut there: Vec<PathBuf> = groups()
        .map(|(path, _)| path)
        .filter(|path| {
            path.file_name().is_some_and(|own| own.as_encoded_bytes() == name.as_bytes())
        })
        .collect();
    match there.len() {
        1 => group(&there.remove(0)),
        0 => Err(Refused(format!(
            "the unit {name} has no control group: it does not run\n\
             help: start it first; --cgroup takes a directory"
        ))),
        _ => {
            let list: Vec<String> = there.iter().map(|path| path.display().to_string()).collect();
            let list = list.join(", ");
            Err(Refused(format!(
                "{name} is the name of several control groups: {list}\n\
                                 help: name one of them with --cgroup"
            )))
        }
    }
}

/// Every mounted control group with its number, a group before those in it.
fn groups() -> impl Iterator<Item = (PathBuf, u64)> {
    let mounted = mounts().into_iter().filter_map(|path| {
        let number = fs::metadata(&path).ok()?.ino();
        Some((path, number))
    });
    let mut left: VecDeque<(PathBuf, u64)> = mounted.collect();
    std::iter::from_fn(move || {
        let (path, number) = left.pop_front()?;
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|of| of.is_dir()) {
                left.push_back((entry.path(), entry.ino()));
            }
        }
        Some((path, number))
    })
}

/// Where control groups of version 2 are mounted.
fn mounts() -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let fields = table.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let of = |row: Vec<&str>| (row.get(2) == Some(&"cgroup2")).then(|| PathBuf::from(row[1]));
    fields.filter_map(of).collect()
}
