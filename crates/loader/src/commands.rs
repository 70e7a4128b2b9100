//! The commands and their options.

use crate::output::say;
use crate::{check, shared, status};
use clap::{Args, Parser, Subcommand};
use kernel::{Operator, Place, Refused, Replaced, Unloaded, available};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

pub(crate) const OPERATOR: Operator = Operator { words: "anabranch-linux" };

/// Time between two passes of `couple`; subflows keep their round trips of the last 1.28 s.
const PASS: Duration = Duration::from_millis(250);

/// How long a subflow believes what it was told, in seconds: `AB_BELIEVED` in bpf/sense.h.
const BELIEVED_S: u32 = 5;

/// Exit status for a wrong input, and for a check that did not hold.
const WRONG: u8 = 2;
const NOT_HELD: u8 = 1;

/// What a name of a controller may be.
fn names() -> String {
    let laws = kernel::PROGRAMS.iter().map(kernel::Program::law).collect::<Vec<_>>().join(", ");
    format!(
        "A law: {laws}. A law takes +sbd, as in lia+sbd: it then couples only subflows that share a \
         bottleneck"
    )
}

/// Coupled congestion control for MPTCP, in the running kernel.
#[derive(Parser)]
#[command(name = "anabranch-linux", bin_name = "anabranch-linux", version)]
#[command(arg_required_else_help = true)]
#[command(after_help = "Exit status: 0 done, 1 a check did not hold, 2 the input was wrong.")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show the kernel features that `load` needs. Status 1 if one is missing
    #[command(after_help = "Example: anabranch-linux check")]
    Check {
        /// Write JSON to this file; without a file, or to -, is standard output
        #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
        json: Option<PathBuf>,
    },
    /// Load a controller until `unload` or reboot: connections that select its name are coupled
    #[command(after_help = "Example: anabranch-linux load olia && \
                            sysctl -w net.ipv4.tcp_congestion_control=ab_olia")]
    Load {
        #[arg(help = names())]
        name: String,
        /// Lower limit of ssthresh on coupled subflows, in segments, instead of the law's own (1
        /// for OLIA and BALIA, 2 for others)
        #[arg(long, value_name = "SEGMENTS")]
        #[arg(value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
        min_ssthresh: Option<u32>,
        /// If one is loaded under this name, put this one into its place: connections keep the
        /// earlier one until they close, new ones get this one, and defaults stay
        #[arg(long)]
        replace: bool,
    },
    /// Unload a controller from the kernel
    #[command(after_help = "Example: anabranch-linux unload olia")]
    Unload {
        #[arg(help = names())]
        name: String,
        /// Unload it even if sockets use it; they keep it until they close. Defaults become reno
        #[arg(long)]
        force: bool,
    },
    /// Have the processes of a control group or of a service get a loaded controller, until
    /// `unassign` or `unload`, or until the group is gone. Open connections keep theirs
    #[command(after_help = "Example: anabranch-linux assign lia --service nginx")]
    Assign {
        #[arg(help = names())]
        name: String,
        #[command(flatten)]
        place: PlaceArguments,
    },
    /// End an assignment. Open connections keep their controller
    #[command(after_help = "Example: anabranch-linux unassign lia --service nginx")]
    Unassign {
        #[arg(help = names())]
        name: String,
        #[command(flatten)]
        place: PlaceArguments,
    },
    /// Decide which subflows of a loaded controller with +sbd share a bottleneck, until it is
    /// unloaded or Ctrl-C. Without this command all subflows of a connection are coupled
    #[command(after_help = "Example: anabranch-linux couple lia+sbd")]
    Couple {
        #[arg(help = names())]
        name: String,
    },
    /// Show loaded controllers, their connections, and the windows and growth of each subflow
    #[command(after_help = "Example: anabranch-linux status --watch 1")]
    Status {
        /// Write JSON to this file; without a file, or to -, is standard output
        #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
        json: Option<PathBuf>,
        /// Refresh at this interval in seconds, from 0.1 to 3600
        #[arg(long, short, value_name = "SECONDS")]
        watch: Option<f64>,
        /// Show every connection, and all columns
        #[arg(long)]
        wide: bool,
    },
    /// Say which subflows of a capture share a bottleneck, from their delays and losses. Status 1
    /// if nothing is known of any pair
    #[command(after_help = "Example: anabranch-linux shared c.pcapng --json shared.json")]
    Shared {
        /// A pcapng or pcap file from the sender's side; each pair of its subflows is judged
        capture: PathBuf,
        /// How it is decided: correlation, dwc, losses or rfc8382
        #[arg(long, short, default_value = "correlation")]
        detector: String,
        /// Write JSON to this file; - is standard output
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
        /// Take a truncated capture as far as it goes
        #[arg(long)]
        partial: bool,
    },
}

/// Who gets a controller.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct PlaceArguments {
    /// A control group of version 2: its directory, or its path as /proc/PID/cgroup has it
    #[arg(long, value_name = "PATH")]
    cgroup: Option<PathBuf>,
    /// A unit of systemd that runs, such as nginx or nginx.service
    #[arg(long, value_name = "UNIT")]
    service: Option<String>,
}

impl PlaceArguments {
    fn place(self) -> Place {
        match self.service {
            Some(unit) => Place::Service(unit),
            None => Place::Cgroup(self.cgroup.unwrap_or_default()),
        }
    }
}

/// Runs the command that was typed.
pub(crate) fn main() -> ExitCode {
    // Wrong arguments end here, with the status 2.
    let Arguments { command } = Arguments::parse();
    match run(command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(NOT_HELD),
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(WRONG)
        }
    }
}

/// Runs a command; whether what it checks holds.
fn run(command: Command) -> Result<bool, Refused> {
    match command {
        Command::Check { json } => check::command(json.as_deref()),
        Command::Load { name, min_ssthresh, replace } => {
            load(&name, min_ssthresh, replace).map(|()| true)
        }
        Command::Unload { name, force } => unload(&name, force).map(|()| true),
        Command::Assign { name, place } => {
            let path = OPERATOR.assign(&name, &place.place())?;
            let name = OPERATOR.kernel_name(&name)?;
            say(&format!(
                "new connections of {} get {name}; open ones keep theirs",
                path.display()
            ))?;
            Ok(true)
        }
        Command::Unassign { name, place } => {
            let path = OPERATOR.unassign(&name, &place.place())?;
            let name = OPERATOR.kernel_name(&name)?;
            say(&format!("{} is no longer assigned {name}", path.display()))?;
            Ok(true)
        }
        Command::Couple { name } => couple(&name).map(|()| true),
        Command::Status { json, watch, wide } => {
            status::command(json.as_deref(), watch, wide).map(|()| true)
        }
        Command::Shared { capture, detector, json, partial } => {
            shared::command(&capture, &detector, json.as_deref(), partial)
        }
    }
}

fn load(name: &str, min_ssthresh: Option<u32>, replace: bool) -> Result<(), Refused> {
    let min_ssthresh = min_ssthresh.and_then(NonZeroU32::new);
    if replace && let Some(done) = OPERATOR.replace(name, min_ssthresh)? {
        return say(&told(&done));
    }
    let kernel_name = OPERATOR.load(name, min_ssthresh)?;
    say(&format!(
        "loaded as {kernel_name}; select it with sysctl -w \
         net.ipv4.tcp_congestion_control={kernel_name}, or by TCP_CONGESTION on a socket"
    ))
}

/// What a replacement did.
fn told(done: &Replaced) -> String {
    let Replaced { kernel_name, earlier, defaults, whole } = done;
    let mut text = format!("replaced {kernel_name}");
    text += &match earlier {
        Some(0) => String::new(),
        None => "; the number of sockets that keep the earlier one is unknown".to_owned(),
        Some(1) => "; 1 socket keeps the earlier one until it closes".to_owned(),
        Some(count) => format!("; {count} sockets keep the earlier one until they close"),
    };
    if *defaults > 0 {
        let s = if *defaults == 1 { "" } else { "s" };
        text += &format!("\nit is the default of {defaults} network namespace{s}, as before");
    }
    if !whole {
        text += "\nother network namespaces were not looked at, and those whose default it is still \
                 give the earlier one to new connections: that needs CAP_SYS_ADMIN and CAP_SYS_PTRACE";
    }
    text
}

fn unload(name: &str, force: bool) -> Result<(), Refused> {
    let Unloaded { kernel_name, kept, cgroups } = OPERATOR.unload(name, force)?;
    let left = match kept {
        Some(0) => String::new(),
        None => "the number of sockets that keep it until they close is unknown".to_owned(),
        Some(1) => "1 socket keeps it until it closes".to_owned(),
        Some(count) => format!("{count} sockets keep it until they close"),
    };
    match left.is_empty() {
        true => say("unloaded")?,
        false => say(&format!(
            "unloaded; {left}\nA listening socket may pass it on to connections that it accepts."
        ))?,
    }
    for cgroup in cgroups {
        say(&format!("{cgroup} is no longer assigned {kernel_name}"))?;
    }
    if !force {
        return Ok(());
    }
    let reno = OPERATOR.choose_reno(&kernel_name)?;
    if reno.changed > 0 {
        let s = if reno.changed == 1 { "" } else { "s" };
        let count = reno.changed;
        let text = "changed the default from";
        say(&format!("{text} {kernel_name} to reno in {count} network namespace{s}"))?;
    }
    match reno.whole {
        true => Ok(()),
        false => say("other network namespaces were not checked: that needs CAP_SYS_ADMIN and \
                      CAP_SYS_PTRACE"),
    }
}

fn couple(name: &str) -> Result<(), Refused> {
    let kernel_name = OPERATOR.kernel_name(name)?;
    say(&format!(
        "deciding which subflows of {kernel_name} share a bottleneck; Ctrl-C ends it, and after \
         {BELIEVED_S} s all are coupled"
    ))?;
    let mut coupler = OPERATOR.coupler(name)?;
    while available()?.contains(&kernel_name) {
        coupler.pass()?;
        thread::sleep(PASS);
    }
    say(&format!("{kernel_name} was unloaded"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent_and_the_manual_has_each_of_them() {
        let arguments = Arguments::command();
        arguments.clone().debug_assert();
        let manual = include_str!("../../../packaging/anabranch-linux.8").replace('\\', "");
        for command in arguments.get_subcommands() {
            assert!(manual.contains(&format!("anabranch-linux {}", command.get_name())));
            for option in command.get_arguments().filter_map(clap::Arg::get_long) {
                assert!(manual.contains(&format!("--{option}")), "--{option}");
            }
        }
    }

    #[test]
    fn the_detectors_in_the_help_are_those_that_there_are() {
        let help = Arguments::command().find_subcommand("shared").unwrap().clone().render_help();
        for kind in sharing::AnyDetector::ALL {
            let name = kind.described().names[0];
            assert!(help.to_string().contains(name), "{name}");
        }
    }
}
