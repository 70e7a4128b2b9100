//! The controllers in the kernel, as reported by the kernel instead of by the files in a directory.

use crate::controller::{COUNTS, read_counters};
use crate::operations::{Members, OPERATIONS, failed};
use crate::{Counters, PROGRAMS, WRITTEN, pins};
use libbpf_rs::btf::Btf;
use libbpf_rs::query::{LinkInfo, LinkInfoIter, LinkTypeInfo, ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{Error, ErrorKind, MapCore, MapFlags, MapHandle};
use rustix::thread::{CapabilitySet, capabilities};

/// The capability needed to list links.
const LISTS: CapabilitySet = CapabilitySet::SYS_ADMIN;

/// A controller registered in the kernel under its own name.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its name in the kernel.
    pub kernel_name: String,
    /// The kernel's number of the BPF link that registers it.
    pub link: u32,
    map: u32,
}

/// The controllers in the kernel, whoever has loaded them, and wherever they are pinned.
///
/// Without `CAP_SYS_ADMIN` links cannot be listed: then the controllers pinned by
/// [`Controller::pin`].
///
/// [`Controller::pin`]: crate::Controller::pin
///
/// # Errors
/// The kernel's error or, if links cannot be listed, the directory of a pin that is not root's
/// alone.
pub fn loaded() -> Result<Vec<Loaded>, Error> {
    let registered: Vec<(u32, u32)> =
        LinkInfoIter::default().filter_map(|link| registration(&link)).collect();
    if registered.is_empty() {
        // A refusal by the kernel ends the list too.
        let listed = capabilities(None).is_ok_and(|own| own.effective.contains(LISTS));
        return if listed { Ok(Vec::new()) } else { pinned() };
    }
    let value = Value::of_this_kernel()?;
    let mut found = Vec::new();
    for (link, map) in registered {
        let name = match MapHandle::from_map_id(map) {
            Ok(map) => value.name(&map)?,
            Err(error) if error.kind() == ErrorKind::NotFound => continue, // unloaded meanwhile
            Err(error) => return Err(error),
        };
        let kernel_name = String::from_utf8_lossy(&name).into_owned();
        let shipped = PROGRAMS.iter().any(|program| program.kernel_name == kernel_name);
        if shipped || kernel_name.starts_with(WRITTEN) {
            found.push(Loaded { kernel_name, link, map });
        }
    }
    Ok(found)
}

impl Loaded {
    /// Its counters.
    ///
    /// # Errors
    /// The kernel's error, for example that only `CAP_SYS_ADMIN` may read them.
    pub fn counters(&self) -> Result<Counters, Error> {
        let map = MapHandle::from_map_id(self.map)?;
        let callback = Value::of_this_kernel()?.callback(&map)?;
        let options = ProgInfoQueryOptions::default().include_map_ids(true);
        let program = ProgInfoIter::with_query_opts(options).find(|info| info.id == callback);
        for id in program.map(|info| info.map_ids).unwrap_or_default() {
            let map = MapHandle::from_map_id(id)?;
            if map.name() == COUNTS {
                return read_counters(&map);
            }
        }
        Err(failed(format!("the map {COUNTS} of {} is not there", self.kernel_name)))
    }
}

/// The controllers whose pinned link still registers them.
fn pinned() -> Result<Vec<Loaded>, Error> {
    let mut found = Vec::new();
    for kernel_name in pins::names()? {
        if let Some(link) = pins::pinned(&kernel_name)?
            && let Some((link, map)) = registration(&link.info()?)
        {
            found.push(Loaded { kernel_name, link, map });
        }
    }
    Ok(found)
}

/// The numbers of a link and of the structure of callbacks that it registers.
fn registration(link: &LinkInfo) -> Option<(u32, u32)> {
    match &link.info {
        // a detached link has no map
        LinkTypeInfo::StructOps(of) if of.map_id != 0 => Some((link.id, of.map_id)),
        _ => None,
    }
}

/// Offsets in the value of a struct_ops map, where callbacks are program numbers.
struct Value {
    name: usize,
    callback: usize,
}

impl Value {
    fn of_this_kernel() -> Result<Self, Error> {
        let types = Btf::from_vmlinux()?;
        let operations = Members::of(&types, OPERATIONS)?;
        let data = Members::of(&types, &format!("bpf_struct_ops_{OPERATIONS}"))?.offset("data")?;
        Ok(Value {
            name: data + operations.offset("name")?,
            callback: data + operations.offset("cong_control")?,
        })
    }

    fn read(map: &MapHandle, place: usize, size: usize) -> Result<Vec<u8>, Error> {
        let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY)?.unwrap_or_default();
        let bytes = value.get(place..place + size);
        bytes.map(<[u8]>::to_vec).ok_or_else(|| failed("struct_ops are shorter than BTF says"))
    }

    /// The name, without trailing zeros; for another kind of structure, arbitrary bytes.
    fn name(&self, map: &MapHandle) -> Result<Vec<u8>, Error> {
        if (map.value_size() as usize) < self.name + 16 {
            return Ok(Vec::new());
        }
        let bytes = Self::read(map, self.name, 16)?;
        Ok(bytes.split(|byte| *byte == 0).next().unwrap_or_default().to_vec())
    }

    /// The number of the program that handles ACKs.
    fn callback(&self, map: &MapHandle) -> Result<u32, Error> {
        let bytes = Self::read(map, self.callback, 4)?;
        Ok(bytes.try_into().map_or(0, u32::from_ne_bytes))
    }
}
