//! The driver: our endpoints on the wall clock, as the senders of a plan's users.
//!
//! Each class of users has a [`host::Host`], and for each path a socket on which packets go to the
//! emulator and come back. The receivers are any system's; in the tests of this project, Linux.
//!
//! ```text
//!   Senders: users ─ writes ─► host::Host ─ packets ─► a socket for each path ─► emulator ─► Linux
//! ```
#![cfg(target_os = "linux")]

mod driver;
mod report;
mod senders;

pub use driver::Driver;
pub use report::Report;
pub use senders::{Endpoints, UserState};
