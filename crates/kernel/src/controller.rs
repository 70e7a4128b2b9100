//! A loaded and attached controller.

use crate::operations::{Members, OPERATIONS, failed};
use crate::programs::Program;
use crate::{Counters, Settings};
use libbpf_rs::btf::Btf;
use libbpf_rs::query::ProgInfoIter;
use libbpf_rs::{
    Error, ErrorKind, Link, MapCore, MapFlags, MapHandle, MapMut, MapType, Object, ObjectBuilder,
    OpenObject, PrintLevel, Program as Loaded, ProgramInput, RingBufferBuilder, set_print,
};
use ports::{Port, Step};
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};
use zerocopy::{FromBytes, IntoBytes};

/// A controller in the kernel, selectable by its name until this value is dropped.
pub struct Controller {
    name: String,
    /// Number of the law's own notes.
    notes: usize,
    pub(crate) object: Object,
    pub(crate) link: Link,
}

/// Cost of the callbacks, from the kernel's statistics of programs (`kernel.bpf_stats_enabled`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// For each callback by name: calls, and ns spent.
    pub callbacks: BTreeMap<String, [u64; 2]>,
}

/// The names of the maps and of the program that are looked up.
pub(crate) const COUNTS: &str = "ab_counts";
const STEPS: &str = "ab_records";
const REPLAY: &str = "ab_replay";
/// Those of a controller that couples only paths that share.
const SENSES: &str = "ab_senses";
const GROUPS: &str = "ab_groups";
const EXCHANGE: &str = "ab_exchange";

/// Bytes of the smallest ring buffer: a page.
const LEAST_RING: u32 = 4096;

/// Bytes of a controller's name in the kernel, with the terminating zero.
const NAME_BYTES: usize = 16;

/// Messages of libbpf during loading, for the error.
static SAID: Mutex<String> = Mutex::new(String::new());

fn listen(level: PrintLevel, text: String) {
    if level == PrintLevel::Warn {
        SAID.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
    }
}

/// Keeps the messages of libbpf for errors, instead of on standard error.
pub(crate) fn hear() {
    set_print(Some((PrintLevel::Warn, listen)));
}

impl Controller {
    /// Loads `program` and attaches it.
    ///
    /// # Errors
    /// `AlreadyExists` if a controller of this name is loaded; otherwise the kernel's error with
    /// libbpf's messages.
    pub fn load(program: &Program, settings: &Settings) -> Result<Self, Error> {
        explained(|| {
            let (name, mut object) = prepared(program, settings)?;
            let link = operations(&mut object)?.attach_struct_ops()?;
            Ok(Controller {
                name,
                notes: program.port.as_ref().map_or(0, Port::notes),
                object,
                link,
            })
        })
    }

    /// Its name in the kernel.
    pub fn kernel_name(&self) -> &str {
        &self.name
    }

    /// Its counters.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn counters(&self) -> Result<Counters, Error> {
        read_counters(&map(&self.object, COUNTS)?)
    }

    /// The steps recorded since the last call, oldest first; empty unless `Settings::record` was
    /// set.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn steps(&self) -> Result<Vec<Step>, Error> {
        let steps = Mutex::new(Vec::new());
        let records = map(&self.object, STEPS)?;
        let mut ring = RingBufferBuilder::new();
        ring.add(&records, |bytes| {
            if let Some(step) = Step::from_bytes(bytes, self.notes) {
                steps.lock().unwrap_or_else(PoisonError::into_inner).push(step);
            }
            0
        })?;
        let ring = ring.build()?;
        ring.consume()?;
        drop(ring);
        Ok(steps.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// The step again, run by the kernel from its views; needs `Settings::record`.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn replay(&mut self, step: &Step) -> Result<Step, Error> {
        let replay = self.object.progs_mut().find(|program| program.name() == REPLAY);
        let replay =
            replay.ok_or_else(|| failed("the object has no program that repeats steps"))?;
        let mut bytes = step.to_bytes(self.notes);
        let context_in = Some(bytes.as_mut_slice());
        replay.test_run(ProgramInput { context_in, ..ProgramInput::default() })?;
        Step::from_bytes(&bytes, self.notes).ok_or_else(|| failed("a step has not its size"))
    }

    /// The cost of its callbacks; zero unless the kernel keeps statistics.
    pub fn cost(&self) -> Cost {
        let ids: Vec<u32> = self.object.progs().filter_map(|program| id_of(&program)).collect();
        let own = ProgInfoIter::default().filter(|info| ids.contains(&info.id));
        Cost {
            callbacks: own
                .map(|info| {
                    (info.name.to_string_lossy().into_owned(), [info.run_cnt, info.run_time_ns])
                })
                .collect(),
        }
    }
}

fn id_of(program: &Loaded<'_>) -> Option<u32> {
    Loaded::id_from_fd(program.as_fd()).ok()
}

/// The result of `load`; its error has the messages of libbpf.
pub(crate) fn explained<T>(load: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    hear();
    SAID.lock().unwrap_or_else(PoisonError::into_inner).clear();
    load().map_err(|error| {
        let said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        match error.kind() {
            ErrorKind::AlreadyExists => error,
            _ if said.trim().is_empty() => error,
            _ => libbpf_rs::ErrorExt::context(error, said.trim_end().to_owned()),
        }
    })
}

/// The object of a controller in the kernel, not yet registered there, and its name.
pub(crate) fn prepared(program: &Program, settings: &Settings) -> Result<(String, Object), Error> {
    let mut open = ObjectBuilder::default().open_memory(&program.object)?;
    configure(&mut open, settings)?;
    match (settings.record, &program.port) {
        (false, _) => trim(&mut open)?,
        (true, Some(_)) => {}
        (true, None) => return Err(failed("steps are kept of laws in text, and this one is in C")),
    }
    if !settings.sbd {
        without_senses(&mut open)?;
    }
    let name = settings.name.clone().unwrap_or_else(|| program.kernel_name.clone().into_owned());
    fit(&mut open, program, &name)?;
    Ok((name, open.load()?))
}

/// The structure of callbacks.
pub(crate) fn operations(object: &mut Object) -> Result<MapMut<'_>, Error> {
    let found = object.maps_mut().find(|map| map.map_type() == MapType::StructOps);
    found.ok_or_else(|| failed("the object has no controller"))
}

/// The program that reads the subflows, and the map of their groups; `None` without `sbd`.
pub(crate) fn senses(object: &mut Object) -> Result<Option<(Link, MapHandle)>, Error> {
    if !object.progs().any(|program| program.name() == EXCHANGE && program.autoload()) {
        return Ok(None);
    }
    let senses = MapHandle::try_from(&map(object, SENSES)?)?;
    let groups = MapHandle::try_from(&map(object, GROUPS)?)?;
    let program = object.progs_mut().find(|program| program.name() == EXCHANGE);
    let program = program.ok_or_else(|| failed("the object has no exchange of groups"))?;
    Ok(Some((program.attach_iter(senses.as_fd())?, groups)))
}

/// The settings are the only variable in the section of constants.
fn configure(open: &mut OpenObject, settings: &Settings) -> Result<(), Error> {
    let mut constants =
        open.maps_mut().filter(|map| map.name().to_string_lossy().ends_with(".rodata"));
    let place = constants.next();
    let mut map = place.ok_or_else(|| failed("the object has no settings"))?;
    let value = map.initial_value_mut().unwrap_or_default();
    settings
        .constants()
        .write_to(value)
        .map_err(|_| failed("the object has other constants beside the settings"))
}

/// Removes the parts that only tests need: the record of steps, and the program that replays them.
fn trim(open: &mut OpenObject) -> Result<(), Error> {
    for mut map in open.maps_mut().filter(|map| map.name() == STEPS) {
        map.set_max_entries(LEAST_RING)?;
    }
    for mut program in open.progs_mut().filter(|program| program.name() == REPLAY) {
        program.set_autoload(false);
    }
    Ok(())
}

/// Removes the parts that detect shared bottlenecks; the code that refers to their maps is dead.
fn without_senses(open: &mut OpenObject) -> Result<(), Error> {
    for mut map in open.maps_mut().filter(|map| map.name() == SENSES || map.name() == GROUPS) {
        map.set_autocreate(false)?;
    }
    for mut program in open.progs_mut().filter(|program| program.name() == EXCHANGE) {
        program.set_autoload(false);
    }
    Ok(())
}

/// Adapts the structure of callbacks to this kernel: its name, and one callback for the beginning
/// of a transmission.
fn fit(open: &mut OpenObject, program: &Program, name: &str) -> Result<(), Error> {
    let types = Btf::from_raw(&program.kernel_name, &program.object)?;
    let types = types.ok_or_else(|| failed("the object has no BTF"))?;
    let own = Members::of(&types, OPERATIONS)?;
    let kernel = Members::of(&Btf::from_vmlinux()?, OPERATIONS)?;
    let mut found = open.maps_mut().find(|map| map.map_type() == MapType::StructOps);
    let operations = found.as_mut().and_then(|map| map.initial_value_mut());
    let operations = operations.ok_or_else(|| failed("the object has no controller"))?;
    let mut put = |member: &str, value: &[u8]| {
        let place = own.offset(member)?;
        let room = operations.get_mut(place..place + value.len());
        room.ok_or_else(|| failed("BTF of the object is not that of its controller"))?
            .copy_from_slice(value);
        Ok(())
    };
    put(kernel.unused(), &[0; size_of::<usize>()])?;
    let mut text = [0; NAME_BYTES];
    if name.len() >= NAME_BYTES {
        return Err(failed(format!("`{name}` has more than {} characters", NAME_BYTES - 1)));
    }
    text[..name.len()].copy_from_slice(name.as_bytes());
    put("name", &text)
}

/// The map whose name has this suffix; libbpf puts the object's name before those of sections.
pub(crate) fn map<'a>(object: &'a Object, end: &str) -> Result<libbpf_rs::Map<'a>, Error> {
    object
        .maps()
        .find(|map| map.name().to_string_lossy().ends_with(end))
        .ok_or_else(|| failed(format!("the object has no map {end}")))
}

/// The sum over all processors.
pub(crate) fn read_counters(map: &impl MapCore) -> Result<Counters, Error> {
    let values = map.lookup_percpu(&0u32.to_ne_bytes(), MapFlags::ANY)?.unwrap_or_default();
    let read = |value: &Vec<u8>| match Counters::read_from_prefix(value) {
        Ok((counters, _)) => Ok(counters),
        Err(_) => Err(failed("the counters of the object are too short")),
    };
    values.iter().map(read).sum()
}
