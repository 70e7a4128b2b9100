//! Datagrams as they are on the wire, in network byte order. The first byte is the kind.
//!
//! ```text
//!  hello     1 | nonce 8 | zeros: as long as a cookie datagram
//!  cookie    2 | nonce 8 | cookie 16
//!  initiate  3 | cookie 16 | first message of Noise
//!  accept    4 | session 4 | second message of Noise
//!  sealed    5 | session 4 | nonce 8 | frames, encrypted
//! ```
//!
//! An end tells its session's number in its message of Noise: a number in the clear could be
//! changed on the way, and the peer would send all of its datagrams to nobody.
//!
//! No answer to a host without a session is longer than what it answers.

use crate::cookie::COOKIE_BYTES;

const HELLO: u8 = 1;
const COOKIE: u8 = 2;
const INITIATE: u8 = 3;
const ACCEPT: u8 = 4;
const SEALED: u8 = 5;

/// Bytes before the encrypted frames.
pub(crate) const SEALED_HEADER: usize = 1 + 4 + 8;

/// A datagram, not authenticated yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Datagram<'a> {
    /// Asks for a cookie.
    Hello { nonce: [u8; 8] },
    /// The answer.
    Cookie { nonce: [u8; 8], cookie: [u8; COOKIE_BYTES] },
    /// Begins a handshake.
    Initiate { cookie: [u8; COOKIE_BYTES], message: &'a [u8] },
    /// Ends it.
    Accept { to: u32, message: &'a [u8] },
    /// Frames of a session.
    Sealed { to: u32, nonce: u64, body: &'a [u8] },
}

fn number(bytes: &[u8; 4]) -> u32 {
    u32::from_be_bytes(*bytes)
}

/// Parses a datagram; `None` for another protocol's.
pub(crate) fn parse(bytes: &[u8]) -> Option<Datagram<'_>> {
    let (kind, rest) = bytes.split_first()?;
    match *kind {
        HELLO => {
            let (nonce, zeros) = rest.split_first_chunk()?;
            (zeros == [0; COOKIE_BYTES]).then_some(Datagram::Hello { nonce: *nonce })
        }
        COOKIE => {
            let (nonce, cookie) = rest.split_first_chunk()?;
            Some(Datagram::Cookie { nonce: *nonce, cookie: cookie.try_into().ok()? })
        }
        INITIATE => {
            let (cookie, message) = rest.split_first_chunk()?;
            Some(Datagram::Initiate { cookie: *cookie, message })
        }
        ACCEPT => {
            let (to, message) = rest.split_first_chunk()?;
            Some(Datagram::Accept { to: number(to), message })
        }
        SEALED => {
            let (to, rest) = rest.split_first_chunk()?;
            let (nonce, body) = rest.split_first_chunk()?;
            Some(Datagram::Sealed { to: number(to), nonce: u64::from_be_bytes(*nonce), body })
        }
        _ => None,
    }
}

/// The header of a sealed datagram.
pub(crate) fn sealed_header(to: u32, nonce: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1500);
    bytes.push(SEALED);
    bytes.extend(to.to_be_bytes());
    bytes.extend(nonce.to_be_bytes());
    bytes
}

impl Datagram<'_> {
    /// Its bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Datagram::Hello { nonce } => [&[HELLO], &nonce[..], &[0; COOKIE_BYTES]].concat(),
            Datagram::Cookie { nonce, cookie } => [&[COOKIE], &nonce[..], cookie].concat(),
            Datagram::Initiate { cookie, message } => [&[INITIATE], &cookie[..], message].concat(),
            Datagram::Accept { to, message } => {
                [&[ACCEPT], &to.to_be_bytes()[..], message].concat()
            }
            Datagram::Sealed { to, nonce, body } => {
                let mut bytes = sealed_header(*to, *nonce);
                bytes.extend(*body);
                bytes
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_is_parsed_is_what_encoding_gives(
            kind in 0u8..7, rest in prop::collection::vec(prop_oneof![3 => any::<u8>(), 1 => Just(0)], 0..60),
        ) {
            let bytes = [&[kind], &rest[..]].concat();
            if let Some(datagram) = parse(&bytes) {
                prop_assert_eq!(datagram.encode(), bytes);
            }
        }

        #[test]
        fn a_datagram_comes_back(nonce: [u8; 8], cookie: [u8; 16], to: u32, counter: u64, body: Vec<u8>) {
            for datagram in [
                Datagram::Hello { nonce },
                Datagram::Cookie { nonce, cookie },
                Datagram::Initiate { cookie, message: &body },
                Datagram::Accept { to, message: &body },
                Datagram::Sealed { to, nonce: counter, body: &body },
            ] {
                let bytes = datagram.encode();
                prop_assert_eq!(parse(&bytes), Some(datagram));
            }
        }
    }

    #[test]
    fn a_hello_is_as_long_as_its_answer() {
        let (nonce, cookie) = ([1; 8], [2; COOKIE_BYTES]);
        let [hello, answer] =
            [Datagram::Hello { nonce }, Datagram::Cookie { nonce, cookie }].map(|it| it.encode());
        assert_eq!(hello.len(), answer.len());
    }
}
