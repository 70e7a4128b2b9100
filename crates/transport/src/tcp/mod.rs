//! TCP, and MPTCP over several paths: a plain TCP connection is a connection with one path.

mod autotune;
mod delaying;
mod linux_ack;
mod mapping;
mod path;
mod prr;
mod receiver;
mod scoreboard;
mod sender;
mod tracking;
mod usual;

pub use delaying::DelayedData;
pub use receiver::{Receiver, ReceiverSettings};
pub use sender::{Sender, Usual};
pub use usual::UsualAck;
