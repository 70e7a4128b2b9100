//! Noise by `snow`: the handshake IK, in which the initiator knows the responder's static key and
//! the responder learns the initiator's, and sessions whose nonces are explicit.
//!
//! The upper byte of a nonce is the path, and each path counts for itself: paths with different
//! delays do not push each other's datagrams out of the replay window, and the path of a datagram
//! is authenticated.

use crate::key::KEY_BYTES;
use crate::replay::Window;
use crate::{Entropy, MAX_PATHS, PublicKey, SecretKey, datagram, draw};
use snow::params::{CipherChoice, DHChoice, HashChoice, NoiseParams};
use snow::resolvers::{CryptoResolver, DefaultResolver, RingResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use snow::{Builder, Error, HandshakeState, StatelessTransportState};
use units::Time;

const PATTERN: &str = "Noise_IK_25519_ChaChaPoly_BLAKE2s";

/// Both ends mix it into the handshake: other versions do not understand each other.
const PROLOGUE: &[u8] = b"anabranch-courier/2";

/// Bytes of an authentication tag.
pub(crate) const TAG_BYTES: usize = 16;
/// Bytes of the first message without its payload: ephemeral key, static key with tag, tag.
pub(crate) const FIRST_BYTES: usize = 32 + 48 + TAG_BYTES;
/// Bytes of the second message without its payload: ephemeral key, tag.
pub(crate) const SECOND_BYTES: usize = 32 + TAG_BYTES;

const COUNTER_BITS: u32 = 56;

/// Primitives of snow, with an ephemeral key from the caller's entropy. The cipher is ring's, in
/// assembly: the default one is half as fast where the compiler may use SSE2 alone.
struct Given([u8; KEY_BYTES]);

/// Gives the bytes once: a second key from them would be the same.
struct Once(Option<[u8; KEY_BYTES]>);

impl Random for Once {
    fn try_fill_bytes(&mut self, into: &mut [u8]) -> Result<(), Error> {
        let bytes = self.0.take().filter(|bytes| bytes.len() == into.len()).ok_or(Error::Rng)?;
        into.copy_from_slice(&bytes);
        Ok(())
    }
}

impl CryptoResolver for Given {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(Once(Some(self.0))))
    }
    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        DefaultResolver.resolve_dh(choice)
    }
    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        DefaultResolver.resolve_hash(choice)
    }
    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        RingResolver.resolve_cipher(choice)
    }
}

/// A handshake in the role of the initiator, if a `peer` is given.
fn handshake(
    own: &SecretKey,
    peer: Option<&PublicKey>,
    cookie: &[u8],
    entropy: &mut dyn Entropy,
) -> Option<HandshakeState> {
    let params: NoiseParams = PATTERN.parse().expect("snow knows the pattern");
    let prologue = [PROLOGUE, cookie].concat();
    let builder = Builder::with_resolver(params, Box::new(Given(draw(entropy))))
        .local_private_key(&own.0)
        .and_then(|builder| builder.prologue(&prologue))
        .ok()?;
    match peer {
        None => builder.build_responder().ok(),
        Some(peer) => builder.remote_public_key(&peer.0).ok()?.build_initiator().ok(),
    }
}

/// The initiator's handshake after its first message.
#[derive(Debug)]
pub(crate) struct Begun(HandshakeState);

/// Begins a handshake with `peer`; returns it with its first message. `None` for a key of the peer
/// that no host can have.
pub(crate) fn begin(
    own: &SecretKey,
    peer: &PublicKey,
    cookie: &[u8],
    payload: &[u8],
    entropy: &mut dyn Entropy,
) -> Option<(Begun, Vec<u8>)> {
    let mut state = handshake(own, Some(peer), cookie, entropy)?;
    let mut message = vec![0; FIRST_BYTES + payload.len()];
    let len = state.write_message(payload, &mut message).ok()?;
    message.truncate(len);
    Some((Begun(state), message))
}

impl Begun {
    /// The responder's message arrived: its payload, and the keys. After a message that is not the
    /// responder's, the handshake cannot go on and a new one has to begin.
    pub(crate) fn finish(mut self, message: &[u8]) -> Option<(Vec<u8>, StatelessTransportState)> {
        let mut payload = vec![0; message.len()];
        let len = self.0.read_message(message, &mut payload).ok()?;
        payload.truncate(len);
        Some((payload, self.0.into_stateless_transport_mode().ok()?))
    }
}

/// A first message that a responder has read.
#[derive(Debug)]
pub(crate) struct Asked {
    state: HandshakeState,
    /// The initiator.
    pub(crate) peer: PublicKey,
    /// Its payload.
    pub(crate) payload: Vec<u8>,
}

/// Reads the first message of a handshake.
pub(crate) fn read(
    own: &SecretKey,
    cookie: &[u8],
    message: &[u8],
    entropy: &mut dyn Entropy,
) -> Option<Asked> {
    let mut state = handshake(own, None, cookie, entropy)?;
    let mut payload = vec![0; message.len()];
    let len = state.read_message(message, &mut payload).ok()?;
    payload.truncate(len);
    let peer = PublicKey(state.get_remote_static()?.try_into().ok()?);
    Some(Asked { state, peer, payload })
}

impl Asked {
    /// Answers with `payload`: the second message, and the session.
    pub(crate) fn answer(self, payload: &[u8], ids: Ids, now: Time) -> Option<(Vec<u8>, Session)> {
        let (message, state) = self.reply(payload)?;
        Some((message, Session::new(state, ids, now)))
    }

    /// Answers with `payload`: the second message, and the keys.
    pub(crate) fn reply(mut self, payload: &[u8]) -> Option<(Vec<u8>, StatelessTransportState)> {
        let mut message = vec![0; SECOND_BYTES + payload.len()];
        let len = self.state.write_message(payload, &mut message).ok()?;
        message.truncate(len);
        Some((message, self.state.into_stateless_transport_mode().ok()?))
    }
}

/// The numbers of a session at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ids {
    /// In datagrams that arrive.
    pub(crate) own: u32,
    /// In datagrams that leave.
    pub(crate) peers: u32,
}

/// Keys of a connection for a while.
#[derive(Debug)]
pub(crate) struct Session {
    state: StatelessTransportState,
    pub(crate) ids: Ids,
    /// When its handshake ended.
    pub(crate) born: Time,
    /// Next counter of each path.
    next: [u64; MAX_PATHS],
    arrived: [Window; MAX_PATHS],
}

impl Session {
    pub(crate) fn new(state: StatelessTransportState, ids: Ids, now: Time) -> Self {
        let (next, arrived) = ([0; MAX_PATHS], std::array::from_fn(|_| Window::default()));
        Session { state, ids, born: now, next, arrived }
    }

    /// A datagram with `frames` for `path`.
    pub(crate) fn seal(&mut self, path: usize, frames: &[u8]) -> Vec<u8> {
        let nonce = (path as u64) << COUNTER_BITS | self.next[path];
        self.next[path] += 1; // 2⁵⁶ datagrams last longer than any session
        let mut bytes = datagram::sealed_header(self.ids.peers, nonce);
        let header = bytes.len();
        bytes.resize(header + frames.len() + TAG_BYTES, 0);
        let sealed = self.state.write_message(nonce, frames, &mut bytes[header..]);
        sealed.expect("a datagram is shorter than a message of Noise");
        bytes
    }

    /// Opens `body`; returns its path and frames. `None` for everything that the peer has not sent
    /// under this session, and for what has arrived before.
    pub(crate) fn open(&mut self, nonce: u64, body: &[u8]) -> Option<(usize, Vec<u8>)> {
        let path = (nonce >> COUNTER_BITS) as usize;
        let counter = nonce & ((1 << COUNTER_BITS) - 1);
        let window = self.arrived.get(path)?;
        if !window.is_new(counter) {
            return None;
        }
        let mut frames = vec![0; body.len()]; // with room for the tag: it is opened in place
        let len = self.state.read_message(nonce, body, &mut frames).ok()?;
        frames.truncate(len);
        self.arrived[path].take(counter);
        Some((path, frames))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(seed: u8) -> impl FnMut(&mut [u8]) {
        let mut count = seed;
        move |bytes: &mut [u8]| {
            for byte in bytes {
                count = count.wrapping_mul(37).wrapping_add(11);
                *byte = count;
            }
        }
    }

    fn sessions() -> (Session, Session) {
        let (one, other) = (SecretKey([3; 32]), SecretKey([4; 32]));
        let (begun, first) = begin(&one, &other.public(), b"c", b"hello", &mut from(1)).unwrap();
        let asked = read(&other, b"c", &first, &mut from(2)).unwrap();
        assert_eq!((asked.peer, &asked.payload[..]), (one.public(), &b"hello"[..]));
        let ids = Ids { own: 7, peers: 9 };
        let (second, responder) = asked.answer(b"you", ids, Time(1)).unwrap();
        let ids = Ids { own: 9, peers: 7 };
        let (payload, keys) = begun.finish(&second).unwrap();
        let initiator = Session::new(keys, ids, Time(2));
        assert_eq!(payload, b"you");
        assert!(second.len() < first.len(), "an answer does not amplify");
        (initiator, responder)
    }

    fn opened(session: &mut Session, bytes: &[u8]) -> Option<(usize, Vec<u8>)> {
        let datagram::Datagram::Sealed { to, nonce, body } = datagram::parse(bytes)? else {
            return None;
        };
        assert_eq!(to, session.ids.own);
        session.open(nonce, body)
    }

    #[test]
    fn what_one_end_seals_the_other_opens_once_and_in_any_order() {
        let (mut one, mut other) = sessions();
        let sent: Vec<_> = (0..5).map(|n| one.seal(n % 2, &[n as u8; 3])).collect();
        for at in [3, 0, 4, 1, 2] {
            assert_eq!(opened(&mut other, &sent[at]), Some((at % 2, vec![at as u8; 3])));
            assert_eq!(opened(&mut other, &sent[at]), None, "a replay");
        }
        let back = other.seal(7, b"");
        assert_eq!(opened(&mut one, &back), Some((7, vec![])));
    }

    #[test]
    fn a_changed_bit_anywhere_is_noticed() {
        let (mut one, mut other) = sessions();
        let sent = one.seal(1, b"some frames");
        for at in 5..sent.len() {
            let mut changed = sent.clone();
            changed[at] ^= 0x10;
            assert_eq!(opened(&mut other, &changed), None, "byte {at}");
        }
        assert!(opened(&mut other, &sent).is_some());
    }

    #[test]
    fn a_first_message_for_another_cookie_or_host_is_not_read() {
        let (one, other) = (SecretKey([3; 32]), SecretKey([4; 32]));
        let (_, first) = begin(&one, &other.public(), b"c", b"", &mut from(1)).unwrap();
        assert!(read(&other, b"d", &first, &mut from(2)).is_none());
        assert!(read(&one, b"c", &first, &mut from(2)).is_none());
    }
}
