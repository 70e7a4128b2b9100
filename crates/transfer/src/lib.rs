//! Files over multipath QUIC on real sockets, with noq and tokio.
//!
//! A [`Server`] offers a file or a directory; a [`Fetch`] takes one file over one path for each
//! local address. Both are made, then run on the calling thread until their end or until
//! [`Stop::stop`]. Sockets are bound when they are made, so a thread that has entered a network
//! namespace serves that namespace.
//!
//! The server sends, so the congestion controller is the server's: see [`controllers`].

pub mod controllers;
mod fetch;
mod identity;
mod lanes;
mod message;
mod output;
mod report;
mod serve;
mod shelf;
mod socket;
mod target;
mod transport;

pub use fetch::{Fetch, FetchOptions, Progress, sha256};
pub use identity::{Identity, Trust};
pub use message::SendingPath;
pub use report::{Lane, Report, Sample};
pub use serve::{ServeOptions, Served, Server};
pub use service::{Error, Stop};
