//! Static keys of hosts: Curve25519, as 64 hexadecimal digits.

use crate::{Entropy, draw};
use snow::params::DHChoice;
use snow::resolvers::{CryptoResolver, DefaultResolver};
use std::fmt;
use std::str::FromStr;

/// Bytes of a key.
pub(crate) const KEY_BYTES: usize = 32;

/// The secret key of a host. `Debug` does not show it.
#[derive(Clone)]
pub struct SecretKey(pub(crate) [u8; KEY_BYTES]);

/// The public key of a host: its name towards others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey(pub(crate) [u8; KEY_BYTES]);

/// The text is not a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidKey(String);

impl SecretKey {
    /// A new key.
    pub fn new(entropy: &mut dyn Entropy) -> Self {
        SecretKey(draw(entropy))
    }

    /// The public key that belongs to it.
    pub fn public(&self) -> PublicKey {
        let dh = DefaultResolver.resolve_dh(&DHChoice::Curve25519);
        let mut dh = dh.expect("the feature use-curve25519 is on");
        dh.set(&self.0);
        PublicKey(dh.pubkey().try_into().expect("keys of Curve25519 have 32 bytes"))
    }

    /// The key as 64 hexadecimal digits, for a file that others cannot read.
    pub fn reveal(&self) -> String {
        hex(&self.0)
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "SecretKey(of {})", self.public())
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "PublicKey({self})")
    }
}

impl FromStr for SecretKey {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        // The text may be a secret: errors show its length alone.
        parsed(text).map(SecretKey).ok_or_else(|| {
            let digits = text.trim().len();
            InvalidKey(format!("a text of {digits} characters is not a secret key; {RIGHT}"))
        })
    }
}

impl FromStr for PublicKey {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        parsed(text)
            .map(PublicKey)
            .ok_or_else(|| InvalidKey(format!("{text:?} is not a public key; {RIGHT}")))
    }
}

const RIGHT: &str = "a key is 64 hexadecimal digits";

impl fmt::Display for InvalidKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for InvalidKey {}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn parsed(text: &str) -> Option<[u8; KEY_BYTES]> {
    let digits = text.trim().as_bytes();
    if digits.len() != 2 * KEY_BYTES {
        return None;
    }
    let digit = |at: usize| char::from(digits[at]).to_digit(16);
    let mut key = [0; KEY_BYTES];
    for (at, byte) in key.iter_mut().enumerate() {
        *byte = (digit(2 * at)? << 4 | digit(2 * at + 1)?) as u8;
    }
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_was_written_and_its_secret_is_not_shown() {
        let secret = SecretKey([0xA5; 32]);
        assert_eq!(secret.reveal().parse::<SecretKey>().unwrap().0, secret.0);
        let public = secret.public();
        assert_eq!(format!(" {public}\n").parse(), Ok(public));
        assert!(!format!("{secret:?}").contains("a5a5a5"));
    }

    #[test]
    fn the_public_key_is_that_of_rfc_7748() {
        // §6.1, Bob's keys.
        let secret = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb";
        let secret: SecretKey = secret.parse().unwrap();
        let public = "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f";
        assert_eq!(secret.public().to_string(), public);
    }

    #[test]
    fn what_is_not_a_key_is_refused_with_what_would_be_right() {
        let error = "xyz".parse::<PublicKey>().unwrap_err().to_string();
        assert!(error.contains("\"xyz\"") && error.contains("64 hexadecimal digits"), "{error}");
        let error = "5ec7e7".parse::<SecretKey>().unwrap_err().to_string();
        assert!(!error.contains("5ec7e7"), "{error}");
        assert!("+1".repeat(32).parse::<PublicKey>().is_err());
    }
}
