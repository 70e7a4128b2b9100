//! What an operator asks for: controllers that stay when the command has ended, with refusals that
//! name the remedy.

use crate::namespaces::{CHOICE, chosen, everywhere, read_setting, write_setting};
use crate::operator::{Operator, Refused, Use, known, used};
use crate::programs::WRITTEN;
use crate::rights::{LOCKED, locked};
use crate::{
    Assigned, Controller, Coupler, ErrorKind, PROGRAMS, Program, Replaced, Settings, assigned,
    program, unload,
};
use control::ControllerSpec;
use std::num::NonZeroU32;
use std::time::Duration;
use std::{io, thread};

/// The congestion controls that the kernel has now.
const AVAILABLE: &str = "net.ipv4.tcp_available_congestion_control";

/// How often it is looked whether the kernel has released a name, and how many times: it waits for
/// readers of its list. In all 10 s.
const LOOK: Duration = Duration::from_millis(5);
const LOOKS: u32 = 2_000;

/// A controller that was taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unloaded {
    /// Its name in the kernel.
    pub kernel_name: String,
    /// How many sockets keep it until they close; `None` if that is unknown. Sockets that keep an
    /// earlier controller of the same name are not counted.
    pub kept: Option<usize>,
    /// The control groups that it was assigned to.
    pub cgroups: Vec<String>,
}

/// What became of the defaults that named a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reno {
    /// In how many namespaces new connections now get Reno.
    pub changed: usize,
    /// Whether all namespaces were looked at, instead of the caller's alone.
    pub whole: bool,
}

/// A controller as it was named.
struct Named {
    program: &'static Program,
    sbd: bool,
}

impl Operator {
    /// The shipped controller with this name, which is the law's own, one that papers use, or the
    /// kernel's; `+sbd` behind it couples only subflows that share a bottleneck.
    fn named(&self, name: &str) -> Result<Named, Refused> {
        let laws = || PROGRAMS.iter().map(Program::law);
        let kernel_names = || PROGRAMS.iter().map(|program| &*program.kernel_name);
        let spec: Option<ControllerSpec> = name.parse().ok();
        let sbd = spec.as_ref().is_some_and(|spec| spec.detector().is_some());
        let meant = || {
            let spec = spec.as_ref().filter(|spec| spec.ported() && spec.written().is_none())?;
            spec.described().map(|law| law.names[0])
        };
        let own = || units::name::find(name, kernel_names());
        let found = units::name::find(name, laws()).or_else(own).or_else(meant);
        if let Some(program) = found.and_then(program) {
            return Ok(Named { program, sbd });
        }
        let all = laws().collect::<Vec<_>>().join(", ");
        let offer = units::name::offer(name, laws());
        let text = format!("there is no controller `{name}` for the kernel{offer}");
        Err(Refused(match name.ends_with(".h") || name.contains(".law") {
            true => format!(
                "`{name}` is the file of a law, and this program has no compiler for it\n\
                 help: `anabranch linux load {name}`, which has; those that ship are {all}"
            ),
            false => format!("{text}\nhelp: those that it can run are {all}"),
        }))
    }

    /// The name in the kernel of a shipped law; that of a user's law stands for itself.
    ///
    /// # Errors
    /// That there is none, with the names that are.
    pub fn kernel_name(&self, name: &str) -> Result<String, Refused> {
        let file = name.ends_with(".h") || name.contains(".law");
        match name.starts_with(WRITTEN) && !file {
            true => Ok(name.to_owned()),
            false => Ok(self.named(name)?.program.kernel_name.to_string()),
        }
    }

    /// Loads a controller that stays after this process ends. Returns its name in the kernel.
    ///
    /// # Errors
    /// For an unknown name, a controller that is loaded already, a kernel that cannot run it or
    /// does not say what is loaded, and without root; nothing is left behind then.
    pub fn load(&self, name: &str, min_ssthresh: Option<NonZeroU32>) -> Result<String, Refused> {
        let Named { program, sbd } = self.named(name)?;
        let (kernel_name, words) = (program.kernel_name.to_string(), self.words);
        self.check_root("load")?;
        if known()?.iter().any(|one| one.kernel_name == kernel_name) {
            return Err(Refused(format!(
                "{kernel_name} is loaded already; `{words} status` shows it\n\
                 help: `{words} load --replace {name}` puts this one into its place"
            )));
        }
        let settings = Settings { min_ssthresh, sbd, ..Settings::default() };
        let controller = Controller::load(program, &settings).map_err(|error| {
            if error.kind() == ErrorKind::AlreadyExists {
                return Refused(format!("the kernel has a controller {kernel_name} already"));
            }
            let law = format!("{}{}", program.law(), if sbd { "+sbd" } else { "" });
            if locked() {
                return Refused(format!("this kernel cannot run the controller {law}: {LOCKED}"));
            }
            Refused(format!(
                "this kernel cannot run the controller {law}: {error:#}\n\
                 help: `{words} check` shows what is missing"
            ))
        })?;
        let kept = controller.pin(program);
        kept.map_err(|error| Refused(format!("{kernel_name} could not be kept: {error:#}")))?;
        Ok(kernel_name)
    }

    /// Puts a controller into the place of the one that is loaded under its name, with settings
    /// of its own. Connections keep the earlier one until they close; new ones get this one, also
    /// where its name is their default. `None` if none is loaded under this name.
    ///
    /// # Errors
    /// For an unknown name, a controller that is not pinned, a kernel that cannot run this one,
    /// and without root; the earlier one stays in place then.
    pub fn replace(
        &self,
        name: &str,
        min_ssthresh: Option<NonZeroU32>,
    ) -> Result<Option<Replaced>, Refused> {
        let Named { program, sbd } = self.named(name)?;
        self.check_root("load")?;
        self.put(program, &Settings { min_ssthresh, sbd, ..Settings::default() })
    }

    /// Removes a loaded controller. If new connections get it by default, that setting stays:
    /// [`Operator::choose_reno`] changes it.
    ///
    /// # Errors
    /// For an unknown name, a controller that is not loaded, without root and, unless `force` is
    /// set, while sockets use it, while it is the default of new connections, or if either is
    /// unknown.
    pub fn unload(&self, name: &str, force: bool) -> Result<Unloaded, Refused> {
        let kernel_name = self.kernel_name(name)?;
        self.check_root("unload")?;
        let there = known()?;
        let Some(own) = there.iter().find(|one| one.kernel_name == kernel_name) else {
            let names: Vec<&str> = there.iter().map(|one| &*one.kernel_name).collect();
            let rest = match names.is_empty() {
                true => "no controller is".to_owned(),
                false => format!("these are: {}", names.join(", ")),
            };
            return Err(Refused(format!("{kernel_name} is not loaded; {rest}")));
        };
        let kept = self.kept(&kernel_name, force)?;
        let cgroups = Assigned::of(&assigned().unwrap_or_default(), &kernel_name);
        unload(&kernel_name).map_err(|error| match error.kind() {
            ErrorKind::NotFound => self.elsewhere(&kernel_name, own.link),
            _ => Refused(format!("{kernel_name} could not be taken out: {error:#}")),
        })?;
        wait_until_gone(&kernel_name)?;
        Ok(Unloaded { kernel_name, kept, cgroups })
    }

    /// That a loaded controller has no pin of ours.
    pub(crate) fn elsewhere(&self, kernel_name: &str, link: u32) -> Refused {
        Refused(format!(
            "{kernel_name} is in the kernel as BPF link {link}, which is not pinned in \
             /sys/fs/bpf/anabranch: another process may hold it\n\
             help: sudo bpftool link detach id {link}"
        ))
    }

    /// How many sockets have a controller; `None` if that is unknown and `force` is set. Without
    /// `force`, refuses if a socket has it or would get it.
    fn kept(&self, kernel_name: &str, force: bool) -> Result<Option<usize>, Refused> {
        let Use { sockets, listening, .. } = match self.sockets() {
            Ok(rows) => used(&rows, kernel_name),
            Err(_) if force => return Ok(None),
            Err(why) => return Err(why),
        };
        if force {
            return Ok(Some(sockets));
        }
        if sockets > 0 {
            let s = if sockets == 1 { "" } else { "s" };
            return Err(Refused(format!(
                "{kernel_name} is in use by {sockets} socket{s} ({listening} listening)\n\
                 help: close them, or unload it with --force: then they keep it until they close, \
                 and one that listens may hand it on to what it accepts"
            )));
        }
        let chosen = everywhere(|| chosen(kernel_name))?.iter().filter(|(_, it)| *it).count();
        if chosen > 0 {
            let s = if chosen == 1 { "" } else { "s" };
            return Err(Refused(format!(
                "{kernel_name} is the default of new connections in {chosen} network namespace{s}\n\
                 help: choose another one there first: sysctl -w \
                 net.ipv4.tcp_congestion_control=reno; --force does both"
            )));
        }
        Ok(Some(0))
    }

    /// Has new connections get Reno where they get a controller.
    ///
    /// # Errors
    /// If a default cannot be changed.
    pub fn choose_reno(&self, kernel_name: &str) -> Result<Reno, Refused> {
        match everywhere(|| choose_reno_here(kernel_name)) {
            Ok(found) => {
                let changed = found.iter().filter(|(_, changed)| *changed).count();
                Ok(Reno { changed, whole: true })
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let changed = usize::from(choose_reno_here(kernel_name)?);
                Ok(Reno { changed, whole: false })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What decides for a loaded controller which subflows share a bottleneck.
    ///
    /// # Errors
    /// For an unknown name, without root, and if no controller is loaded under this name, or one
    /// that couples all subflows.
    pub fn coupler(&self, name: &str) -> Result<Coupler, Refused> {
        let kernel_name = self.kernel_name(name)?;
        self.check_root("couple")?;
        let words = self.words;
        Coupler::pinned(&kernel_name).map_err(|error| {
            if error.kind() != ErrorKind::NotFound {
                return error.into();
            }
            let there = available().is_ok_and(|names| names.contains(&kernel_name));
            let plain = name.strip_suffix("+sbd").unwrap_or(name);
            let (what, first) = match there {
                true => ("couples all subflows", format!("`{words} unload {plain}`, then ")),
                false => ("is not loaded", String::new()),
            };
            Refused(format!("{kernel_name} {what}\nhelp: {first}`{words} load {plain}+sbd`"))
        })
    }
}

/// The congestion controls that the kernel has now.
///
/// # Errors
/// The kernel's error.
pub fn available() -> io::Result<Vec<String>> {
    let names = read_setting(AVAILABLE)?.unwrap_or_default();
    Ok(names.split(' ').map(str::to_owned).collect())
}

/// Waits until the kernel has no control of this name.
fn wait_until_gone(kernel_name: &str) -> Result<(), Refused> {
    for _ in 0..LOOKS {
        if !available()?.iter().any(|name| name == kernel_name) {
            return Ok(());
        }
        thread::sleep(LOOK);
    }
    Err(Refused(format!(
        "{kernel_name} was unpinned, and is still in the kernel after 10 s: another process holds \
         it\nhelp: `sudo bpftool link` shows which"
    )))
}

/// Has them get Reno; whether they got the controller.
fn choose_reno_here(kernel_name: &str) -> io::Result<bool> {
    let changes = chosen(kernel_name)?;
    if changes {
        write_setting(CHOICE, "reno")?;
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPERATOR: Operator = Operator { words: "anabranch-linux" };

    #[test]
    fn a_law_is_found_by_each_of_its_names_and_with_sbd() {
        for name in ["fully-coupled", "Fully_Coupled", "ab_fullycoupled", "fully-coupled+sbd"] {
            assert_eq!(OPERATOR.kernel_name(name).as_deref(), Ok("ab_fullycoupled"), "{name}");
        }
        assert_eq!(OPERATOR.kernel_name("law_mine").as_deref(), Ok("law_mine"));
        assert!(OPERATOR.named("lia+sbd").is_ok_and(|named| named.sbd));
        assert!(OPERATOR.named("ab_lia").is_ok_and(|named| !named.sbd));
    }

    #[test]
    fn an_unknown_law_is_answered_with_those_that_there_are() {
        let wrong = OPERATOR.kernel_name("oliva").unwrap_err().0;
        assert!(
            wrong.starts_with(
                "there is no controller `oliva` for the kernel; did you mean `olia`?\n"
            )
        );
        assert!(wrong.ends_with(
            "help: those that it can run are balia, coupled-cubic, ewtcp, fully-coupled, lia, olia, \
             reno, semicoupled"
        ));
        for name in ["olia+hystart", "OLIA+sbd:rfc8382", "cubic"] {
            assert!(OPERATOR.kernel_name(name).is_err(), "{name}");
        }
        assert!(OPERATOR.kernel_name("my.law").unwrap_err().0.contains("no compiler"));
    }
}
