//! Values derived from two keys: tokens, the first data sequence number, and authentication codes.

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::net::IpAddr;

/// The hash of a version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// Version 0 (RFC 6824): SHA-1.
    Sha1,
    /// Version 1 (RFC 8684): SHA-256.
    Sha256,
}

impl Hash {
    /// The hash that `version` of the protocol uses.
    pub fn of_version(version: u8) -> Self {
        if version == 0 { Hash::Sha1 } else { Hash::Sha256 }
    }

    fn digest(self, key: u64) -> Vec<u8> {
        match self {
            Hash::Sha1 => Sha1::digest(key.to_be_bytes()).to_vec(),
            Hash::Sha256 => Sha256::digest(key.to_be_bytes()).to_vec(),
        }
    }

    fn code(self, key: &[u8], message: &[u8]) -> Vec<u8> {
        const ANY: &str = "an HMAC takes a key of any length";
        match self {
            Hash::Sha1 => {
                let mut mac = Hmac::<Sha1>::new_from_slice(key).expect(ANY);
                mac.update(message);
                mac.finalize().into_bytes().to_vec()
            }
            Hash::Sha256 => {
                let mut mac = Hmac::<Sha256>::new_from_slice(key).expect(ANY);
                mac.update(message);
                mac.finalize().into_bytes().to_vec()
            }
        }
    }
}

/// The token that names a connection in a join: the first 32 bits of the hash of a key (RFC 8684
/// §3.2).
pub fn token(hash: Hash, key: u64) -> u32 {
    let digest = hash.digest(key);
    u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]])
}

/// The data sequence number of the SYN of the host with `key`: the last 64 bits of its hash (RFC
/// 8684 §3.1).
pub fn initial_data_sequence(hash: Hash, key: u64) -> u64 {
    let digest = hash.digest(key);
    last_eight(&digest)
}

fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|i| bytes[i])
}

fn last_eight(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(first(&bytes[bytes.len() - 8..]))
}

/// The keys of both hosts of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// The key of the host that opened the connection.
    pub initiator: u64,
    /// The key of the other host.
    pub responder: u64,
    /// The hash of the negotiated version.
    pub hash: Hash,
}

impl Keys {
    fn both(first: u64, second: u64) -> Vec<u8> {
        [first.to_be_bytes(), second.to_be_bytes()].concat()
    }

    fn nonces(first: u32, second: u32) -> Vec<u8> {
        [first.to_be_bytes(), second.to_be_bytes()].concat()
    }

    /// The responder's proof in its SYN/ACK of a join: 64 bits (RFC 8684 §3.2, HMAC-B).
    pub fn responder_code(&self, initiator_nonce: u32, responder_nonce: u32) -> u64 {
        let key = Keys::both(self.responder, self.initiator);
        let code = self.hash.code(&key, &Keys::nonces(responder_nonce, initiator_nonce));
        u64::from_be_bytes(first(&code))
    }

    /// The initiator's proof in the third packet of a join: 160 bits (RFC 8684 §3.2, HMAC-A).
    pub fn initiator_code(&self, initiator_nonce: u32, responder_nonce: u32) -> [u8; 20] {
        let key = Keys::both(self.initiator, self.responder);
        first(&self.hash.code(&key, &Keys::nonces(initiator_nonce, responder_nonce)))
    }

    /// The code of an address that the initiator announces: the last 64 bits (RFC 8684 §3.4.1).
    pub fn address_code(&self, id: u8, address: IpAddr, port: Option<u16>) -> u64 {
        let mut message = vec![id];
        match address {
            IpAddr::V4(address) => message.extend(address.octets()),
            IpAddr::V6(address) => message.extend(address.octets()),
        }
        message.extend(port.unwrap_or(0).to_be_bytes());
        last_eight(&self.hash.code(&Keys::both(self.initiator, self.responder), &message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash of eight bytes, as `printf '\x01…' | sha256sum` prints it.
    #[test]
    fn token_and_first_data_sequence_number_are_the_ends_of_the_hash_of_the_key() {
        // SHA-256 of 01 02 03 04 05 06 07 08:
        // 66840dda154e8a113c31dd0ad32f7f3a366a80e8136979d8f5a101d3d29d6f72
        let key = 0x0102_0304_0506_0708;
        assert_eq!(token(Hash::Sha256, key), 0x6684_0dda);
        assert_eq!(initial_data_sequence(Hash::Sha256, key), 0xf5a1_01d3_d29d_6f72);
        // SHA-1: dd5783bcf1e9002bc00ad5b83a95ed6e4ebb4ad5
        assert_eq!(token(Hash::Sha1, key), 0xdd57_83bc);
    }

    #[test]
    fn each_side_proves_that_it_knows_both_keys_and_both_nonces() {
        let keys = Keys { initiator: 1, responder: 2, hash: Hash::Sha256 };
        let proof = keys.responder_code(3, 4);
        assert_ne!(proof, keys.responder_code(3, 5));
        assert_ne!(proof, Keys { initiator: 9, ..keys }.responder_code(3, 4));
        assert_ne!(proof.to_be_bytes(), keys.initiator_code(3, 4)[..8]);
    }
}
