//! Transport protocols.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A transport protocol.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// TCP or, over several paths, MPTCP.
    #[default]
    Tcp,
    /// UDP: packets are sent at `app_rate`, whether they arrive or not.
    Udp,
    /// QUIC with its multipath extension: two ends of a shipped stack, noq, with its own handshake,
    /// cryptography, loss detection, pacing and choice of paths.
    Quic,
}
