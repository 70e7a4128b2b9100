//! Controllers that outlive the process: pinned in the kernel's file system for BPF.

use crate::controller::{COUNTS, Controller, map, read_counters};
use crate::{Counters, Program};
use libbpf_rs::{Error, MapHandle};
use rustix::mount::{MountFlags, mount};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Where controllers are pinned: a directory for each, by its name in the kernel.
pub const DIRECTORY: &str = "/sys/fs/bpf/anabranch";

fn place(program: &Program) -> PathBuf {
    Path::new(DIRECTORY).join(program.kernel_name)
}

impl Controller {
    /// Pins it, so that it stays when this process ends.
    ///
    /// # Errors
    /// What the kernel answers; nothing is left behind then.
    pub fn pin(mut self, program: &Program) -> Result<(), Error> {
        mounted()?;
        let place = place(program);
        remove(&place).ok(); // what a loader that was killed has left
        fs::create_dir_all(&place)?;
        let pinned = map(&self.object, COUNTS)
            .and_then(|counters| MapHandle::try_from(&counters))
            .and_then(|mut counters| counters.pin(place.join("counters")))
            .and_then(|()| self.link.pin(place.join("link")));
        if pinned.is_err() {
            remove(&place).ok(); // the first error is the one to tell
        }
        pinned
    }
}

/// The file system that holds pins is not mounted everywhere.
fn mounted() -> Result<(), Error> {
    let parent = "/sys/fs/bpf";
    let mounts = fs::read_to_string("/proc/self/mounts")?;
    if mounts.lines().any(|line| line.split(' ').nth(1) == Some(parent)) {
        return Ok(());
    }
    Ok(mount("bpf", parent, "bpf", MountFlags::empty(), None).map_err(io::Error::from)?)
}

fn remove(place: &Path) -> Result<(), Error> {
    for name in ["link", "counters"] {
        match fs::remove_file(place.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    fs::remove_dir(place)?;
    fs::remove_dir(DIRECTORY).ok(); // if it was the last one
    Ok(())
}

/// Whether a controller is pinned.
pub fn pinned(program: &Program) -> bool {
    place(program).join("link").exists()
}

/// What a pinned controller has counted.
///
/// # Errors
/// `NotFound` if it is not pinned; otherwise what the kernel answers.
pub fn pinned_counters(program: &Program) -> Result<Counters, Error> {
    let path = place(program).join("counters");
    fs::metadata(&path)?;
    read_counters(&MapHandle::from_pinned_path(&path)?)
}

/// Takes a pinned controller out; connections that use it keep it until they end.
///
/// # Errors
/// `NotFound` if it is not pinned; otherwise what the kernel answers.
pub fn unload(program: &Program) -> Result<(), Error> {
    let place = place(program);
    fs::metadata(&place)?;
    remove(&place)
}
