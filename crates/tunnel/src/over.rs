//! What is under the streams.

use std::str::FromStr;

/// What is under the streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// `courier`, in datagrams of UDP.
    Udp,
    /// Multipath TCP of `host`, in packets of its own.
    Mptcp,
}

impl FromStr for Over {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "udp" => Ok(Over::Udp),
            "mptcp" => Ok(Over::Mptcp),
            _ => Err(format!("{text:?} is no transport of a tunnel; give udp or mptcp")),
        }
    }
}
