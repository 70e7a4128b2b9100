//! The network namespaces of the machine, and their settings.

use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The namespace of the calling thread.
const OWN: &str = "/proc/thread-self/ns/net";

/// The congestion control of a namespace's sockets that do not choose one.
pub(crate) const CHOICE: &str = "net.ipv4.tcp_congestion_control";

/// The result of `look` in each network namespace that is found, with its number: those that a
/// thread is in, that a process has open, or that have a name in `/run/netns`. Only the calling
/// thread moves; it is back in its own at the end.
///
/// # Errors
/// Those of `look`, and the kernel's without the right to enter a namespace.
pub fn everywhere<T, E: From<io::Error>>(
    mut look: impl FnMut() -> Result<T, E>,
) -> Result<Vec<(u64, T)>, E> {
    let home = File::open(OWN)?;
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for path in candidates() {
        let linked = match path.starts_with("/proc") {
            true => number(&path),
            false => Some(0), // a name: another file may stand for the same namespace
        };
        if linked.is_none_or(|linked| seen.contains(&linked)) {
            continue;
        }
        // Threads end, and some hide.
        let Ok(file) = File::open(&path) else { continue };
        let Ok(of) = file.metadata() else { continue };
        if !seen.insert(of.ino()) {
            continue;
        }
        match enter(&file) {
            Err(Errno::INVAL) => continue, // the name of something else
            entered => entered.map_err(io::Error::from)?,
        }
        let looked = look();
        enter(&home).map_err(io::Error::from)?;
        found.push((of.ino(), looked?));
    }
    Ok(found)
}

fn enter(namespace: &File) -> Result<(), Errno> {
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
}

/// Files that may stand for a network namespace, the calling thread's own first.
fn candidates() -> impl Iterator<Item = PathBuf> {
    let threads = processes()
        .flat_map(|process| files(&process.join("task")).map(|task| task.join("ns/net")));
    let open = processes().flat_map(|process| files(&process.join("fd")));
    let named = files(Path::new("/run/netns"));
    [PathBuf::from(OWN)].into_iter().chain(threads).chain(open).chain(named)
}

/// The directories of processes.
fn processes() -> impl Iterator<Item = PathBuf> {
    files(Path::new("/proc")).filter(|path| {
        let name = path.file_name().unwrap_or_default();
        name.as_encoded_bytes().first().is_some_and(u8::is_ascii_digit)
    })
}

/// The entries of a directory; none if it cannot be read.
fn files(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// The number of the namespace that a link in `/proc` stands for.
fn number(link: &Path) -> Option<u64> {
    let target = fs::read_link(link).ok()?;
    target.to_str()?.strip_prefix("net:[")?.strip_suffix(']')?.parse().ok()
}

/// A setting of the namespace of the calling thread, such as `net.ipv4.tcp_sack`, fields apart by
/// one blank; `None` if this kernel has no such setting.
///
/// # Errors
/// The kernel's error.
pub fn read_setting(name: &str) -> io::Result<Option<String>> {
    match fs::read_to_string(setting(name)) {
        Ok(text) => Ok(Some(text.split_whitespace().collect::<Vec<_>>().join(" "))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Changes a setting of the namespace of the calling thread.
pub(crate) fn write_setting(name: &str, value: &str) -> io::Result<()> {
    fs::write(setting(name), value)
}

/// Whether new connections get a controller in the namespace of the calling thread.
pub(crate) fn chosen(kernel_name: &str) -> io::Result<bool> {
    Ok(read_setting(CHOICE)?.is_some_and(|choice| choice == kernel_name))
}

fn setting(name: &str) -> PathBuf {
    Path::new("/proc/sys").join(name.replace('.', "/"))
}
