//! The `host` crate as a library that packetdrill loads and tests in place of a kernel
//! (`packetdrill --so_filename`).
//!
//! ```text
//!   packetdrill ─ calls of sockets, packets, clock ─► exported.rs   the C interface
//!                                                     shared.rs     threads that block
//!                                                     calls.rs      calls of sockets
//!                                                     stack.rs      host::Host in virtual time
//!   shell commands of a script ─► namespace ────────► configured.rs sysctls, `ip mptcp`
//! ```
//!
//! Time is virtual: it goes on when packetdrill sleeps, waits for a packet or looks at the clock.
//! So a result does not depend on the load of the machine. `tools/drill.py` runs the scripts.

mod calls;
mod configured;
mod exported;
mod hashes;
mod interface;
mod paths;
#[cfg(not(test))] // it would stand before libc in the tests too
mod preloaded;
mod shared;
mod sockets;
mod stack;
