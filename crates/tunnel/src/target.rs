//! Where a stream is to go: an address or a name, and a port. On the wire it has SOCKS5's form
//! (RFC 1928 §5): kind, address, port.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The host.
    pub host: Host,
    /// The port.
    pub port: u16,
}

/// A host by address or by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// By address.
    Address(IpAddr),
    /// By name, which the listening side resolves.
    Name(String),
}

/// Whether a name can be one of DNS: letters, digits, hyphens, underscores and dots.
fn is_name(name: &str) -> bool {
    let right = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=253).contains(&name.len()) && name.bytes().all(right)
}

impl Target {
    /// Reads a target that fills `bytes`.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (address, port) = bytes.split_last_chunk::<2>()?;
        let (kind, address) = address.split_first()?;
        let host = match *kind {
            IPV4 => Host::Address(IpAddr::from(<[u8; 4]>::try_from(address).ok()?)),
            IPV6 => Host::Address(IpAddr::from(<[u8; 16]>::try_from(address).ok()?)),
            NAME => {
                let (len, name) = address.split_first()?;
                let name = std::str::from_utf8(name).ok()?;
                (name.len() == usize::from(*len) && is_name(name)).then_some(())?;
                Host::Name(name.to_owned())
            }
            _ => return None,
        };
        Some(Target { host, port: u16::from_be_bytes(*port) })
    }

    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = match &self.host {
            Host::Address(IpAddr::V4(address)) => [&[IPV4], &address.octets()[..]].concat(),
            Host::Address(IpAddr::V6(address)) => [&[IPV6], &address.octets()[..]].concat(),
            Host::Name(name) => [&[NAME, name.len() as u8], name.as_bytes()].concat(),
        };
        bytes.extend(self.port.to_be_bytes());
        bytes
    }

    /// Bytes of a target after its first two, which say how many: for a reader of a stream.
    pub(crate) fn rest(kind: u8, next: u8) -> Option<usize> {
        match kind {
            IPV4 => Some(3 + 2),
            IPV6 => Some(15 + 2),
            NAME => Some(usize::from(next) + 2),
            _ => None,
        }
    }
}

impl FromStr for Target {
    type Err = String;

    /// Parses `HOST:PORT` or `[IPV6]:PORT`.
    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(Target { host: Host::Address(address.ip()), port: address.port() });
        }
        let wrong =
            || format!("{text:?} is no HOST:PORT, as in example.org:443 or [2001:db8::1]:80");
        let (name, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let port = port.parse().map_err(|_| wrong())?;
        if !is_name(name) {
            return Err(wrong());
        }
        Ok(Target { host: Host::Name(name.to_owned()), port })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Address(address) => SocketAddr::new(*address, self.port).fmt(out),
            Host::Name(name) => write!(out, "{name}:{}", self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_target_is_read_as_it_is_written() {
        for text in ["192.0.2.1:80", "[2001:db8::1]:443", "example.org:1"] {
            let target: Target = text.parse().unwrap();
            assert_eq!(target.to_string(), text);
            assert_eq!(Target::decode(&target.encode()), Some(target));
        }
        for text in ["example.org", "a b:80", ":80", "x:99999", "2001:db8::1"] {
            assert!(text.parse::<Target>().unwrap_err().contains("HOST:PORT"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_decoded_is_what_encoding_gives(kind in 0u8..6, rest: Vec<u8>) {
            let bytes = [&[kind], &rest[..]].concat();
            if let Some(target) = Target::decode(&bytes) {
                prop_assert_eq!(target.encode(), bytes);
            }
        }
    }
}
