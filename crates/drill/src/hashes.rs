//! The hashes that packetdrill asks AF_ALG for.

use hmac::{Hmac, KeyInit, Mac};
use sha1::{Digest, Sha1};
use sha2::Sha256;

/// A socket that hashes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Hashing {
    /// The algorithm.
    pub(crate) name: String,
    pub(crate) key: Vec<u8>,
    pub(crate) data: Vec<u8>,
}

impl Hashing {
    /// The sum; `None` for an algorithm that packetdrill does not use.
    pub(crate) fn sum(&self) -> Option<Vec<u8>> {
        Some(match self.name.as_str() {
            "sha1" => Sha1::digest(&self.data).to_vec(),
            "sha256" => Sha256::digest(&self.data).to_vec(),
            "hmac(sha1)" => {
                let mac = Hmac::<Sha1>::new_from_slice(&self.key).ok()?;
                mac.chain_update(&self.data).finalize().into_bytes().to_vec()
            }
            "hmac(sha256)" => {
                let mac = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
                mac.chain_update(&self.data).finalize().into_bytes().to_vec()
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231 §4.3 and RFC 2202 §3, second cases; `printf abc | sha256sum`.
    #[test]
    fn sums_are_those_of_the_standards() {
        let sum = |name: &str, key: &str, data: &str| {
            let it = Hashing { name: name.into(), key: key.into(), data: data.into() };
            it.sum()
                .expect("a known algorithm")
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect::<String>()
        };
        let data = "what do ya want for nothing?";
        assert!(sum("hmac(sha256)", "Jefe", data).starts_with("5bdcc146bf60754e6a042426089575c7"));
        assert_eq!(sum("hmac(sha1)", "Jefe", data), "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
        assert!(sum("sha256", "", "abc").starts_with("ba7816bf8f01cfea414140de5dae2223"));
        assert_eq!(sum("sha1", "", "abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
    }
}
