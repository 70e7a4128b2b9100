//! The driver: our endpoints on the wall clock, as the senders of a plan's users.
//!
//! A class of users over TCP and MPTCP has a [`host::Host`], and for each path a socket on which
//! packets go to the emulator and come back. The receivers are any system's; in the tests of this
//! project, Linux. What TCP has not, network coding and the reports of TFRC, needs our receivers
//! too: users of such a class have a [`courier`] connection, both ends of which are here.
//!
//! ```text
//!   Senders:  writes ─► host::Host ─ TCP ─► a socket for each path ─► emulator ─► Linux
//!   Couriers: writes ─► courier::Initiator ─ UDP ─► the same ─► emulator ─► courier::Responder
//! ```
#![cfg(target_os = "linux")]

mod couriers;
mod driver;
mod report;
mod senders;
mod users;

pub use driver::{Driver, Sockets};
pub use report::Report;
pub use users::{Endpoints, UserState};
