//! The two ends of a QUIC connection, each of which is an endpoint of noq-proto as it is published:
//! its handshake, cryptography, loss detection, pacing, flow control and choice of paths.
//!
//! noq-proto does no input or output and takes time as an argument, so that an end keeps the
//! contract of [`transport::SendingEndpoint`] or [`transport::ReceivingEndpoint`] in virtual time.
//! The sender of data is the client: its first path is opened by the handshake, and the others when
//! the connection is established. Each path has its own pair of addresses.
//!
//! Equal seeds give equal times and sizes of all datagrams. The bytes of a datagram are not equal,
//! because TLS draws its keys from the operating system; no length depends on a key ([`tls`]).

mod clock;
mod control;
mod headers;
mod host;
mod notes;
mod pattern;
mod receiver;
mod sender;
mod settings;
mod tls;

pub use control::Control;
pub use receiver::Receiver;
pub use sender::Sender;
pub use settings::{HEADER_BYTES, MIN_PACKET, Settings, segment};
