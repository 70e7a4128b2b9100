//! The option of Multipath TCP (RFC 8684 §3), and values derived from the keys of a connection.

mod checksum;
mod keys;
mod option;

pub use checksum::checksum;
pub use keys::{Hash, Keys, initial_data_sequence, token};
pub(crate) use option::KIND;
pub use option::{Mapping, Mptcp};
