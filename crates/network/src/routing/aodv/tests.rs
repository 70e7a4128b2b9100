//! One router between calls, routers on graphs, and whether their routes ever make a loop.

mod bench;
mod loops;
mod losses;
mod networks;
mod steps;
