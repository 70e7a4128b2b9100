//! `anabranch-linux`: `anabranch linux` for machines that have neither Python nor a compiler, and
//! `anabranch shared`. What the commands do is in the crates `kernel` and `sharing`.

#[cfg(target_os = "linux")]
mod check;
#[cfg(target_os = "linux")]
mod commands;
#[cfg(target_os = "linux")]
mod output;
#[cfg(target_os = "linux")]
mod shared;
#[cfg(target_os = "linux")]
mod status;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    commands::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("error: the controllers are for the kernel of Linux");
    ExitCode::from(2)
}
