//! Records: how messages of Noise lie in one ordered stream of bytes, as TCP carries it.
//!
//! ```text
//!  length 2 | message: that many bytes
//! ```
//!
//! The length is in the clear. Whoever changes it cuts a message that cannot be opened.

use crate::noise::TAG_BYTES;
use snow::StatelessTransportState;

/// Bytes of the length before a message.
pub(crate) const PREFIX: usize = 2;
/// Most bytes of what a record seals: a record is opened when it is whole.
pub(crate) const MOST_PLAIN: usize = 16 << 10;
/// Records under one key; then both ends derive the next one and forget the last (§11.3 of Noise).
const RECORDS_PER_KEY: u64 = 1 << 16;

/// A record of `message`, which is at most 65,535 bytes long.
pub(crate) fn record(message: &[u8]) -> Vec<u8> {
    let length = u16::try_from(message.len()).expect("messages of Noise are that short");
    [&length.to_be_bytes(), message].concat()
}

/// A record is longer than it may be here, or empty.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WrongLength;

/// Cuts a stream of bytes into records.
#[derive(Debug, Default)]
pub(crate) struct Cutter {
    /// The beginning of a record whose end has not arrived.
    partial: Vec<u8>,
}

impl Cutter {
    /// Takes bytes of the stream from the front of `bytes` until a record is whole; returns its
    /// message. `None`: it took all, and more have to come.
    pub(crate) fn next(
        &mut self,
        bytes: &mut &[u8],
        most: usize,
    ) -> Result<Option<Vec<u8>>, WrongLength> {
        self.take(bytes, PREFIX);
        let Some((length, _)) = self.partial.split_first_chunk::<PREFIX>() else { return Ok(None) };
        let length = usize::from(u16::from_be_bytes(*length));
        if length == 0 || length > most {
            return Err(WrongLength);
        }
        self.take(bytes, PREFIX + length);
        if self.partial.len() < PREFIX + length {
            return Ok(None);
        }
        Ok(Some(std::mem::take(&mut self.partial).split_off(PREFIX)))
    }

    /// Takes bytes until there are `wanted`.
    fn take(&mut self, bytes: &mut &[u8], wanted: usize) {
        let missing = wanted.saturating_sub(self.partial.len()).min(bytes.len());
        let (taken, rest) = bytes.split_at(missing);
        self.partial.extend(taken);
        *bytes = rest;
    }
}

/// The keys of both directions. Each record has the next number as its nonce, so one that is
/// missing, repeated or moved is not opened.
#[derive(Debug)]
pub(crate) struct Keys {
    state: StatelessTransportState,
    sealed: u64,
    opened: u64,
}

impl Keys {
    pub(crate) fn new(state: StatelessTransportState) -> Self {
        Keys { state, sealed: 0, opened: 0 }
    }

    /// A record with `plain`, which is at most [`MOST_PLAIN`] bytes long.
    pub(crate) fn seal(&mut self, plain: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; PREFIX + plain.len() + TAG_BYTES];
        let length = (plain.len() + TAG_BYTES) as u16; // at most 16 KiB and the tag
        bytes[..PREFIX].copy_from_slice(&length.to_be_bytes());
        let sealed = self.state.write_message(self.sealed, plain, &mut bytes[PREFIX..]);
        sealed.expect("a record is shorter than a message of Noise");
        self.sealed += 1;
        if self.sealed.is_multiple_of(RECORDS_PER_KEY) {
            self.state.rekey_outgoing();
        }
        bytes
    }

    /// What the next record of the peer seals; `None` for every other message.
    pub(crate) fn open(&mut self, message: &[u8]) -> Option<Vec<u8>> {
        let mut plain = vec![0; message.len()]; // with room for the tag: it is opened in place
        let len = self.state.read_message(self.opened, message, &mut plain).ok()?;
        plain.truncate(len);
        self.opened += 1;
        if self.opened.is_multiple_of(RECORDS_PER_KEY) {
            self.state.rekey_incoming();
        }
        Some(plain)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::SecretKey;
    use crate::noise::{begin, read};
    use proptest::prelude::*;

    /// The keys of two ends.
    pub(crate) fn pair() -> (Keys, Keys) {
        let (one, other) = (SecretKey([3; 32]), SecretKey([4; 32]));
        let mut fill = |bytes: &mut [u8]| bytes.fill(bytes.len() as u8);
        let (begun, first) = begin(&one, &other.public(), b"c", b"", &mut fill).unwrap();
        let (second, responder) =
            read(&other, b"c", &first, &mut fill).unwrap().reply(b"").unwrap();
        let (_, initiator) = begun.finish(&second).unwrap();
        (Keys::new(initiator), Keys::new(responder))
    }

    /// The messages of a stream that arrives in these parts, and whether it went on.
    fn cut(stream: &[u8], parts: &[usize], most: usize) -> (Vec<Vec<u8>>, bool) {
        let (mut cutter, mut found, mut rest) = (Cutter::default(), vec![], stream);
        for part in parts.iter().copied().chain([usize::MAX]) {
            let (mut now, later) = rest.split_at(part.min(rest.len()));
            rest = later;
            loop {
                match cutter.next(&mut now, most) {
                    Ok(Some(message)) => found.push(message),
                    Ok(None) => break,
                    Err(WrongLength) => return (found, false),
                }
            }
        }
        (found, true)
    }

    proptest! {
        #[test]
        fn however_a_stream_is_cut_its_records_are_the_same(
            messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..300), 0..20),
            parts in prop::collection::vec(0usize..700, 0..60),
        ) {
            let stream: Vec<u8> = messages.iter().flat_map(|it| record(it)).collect();
            prop_assert_eq!(cut(&stream, &parts, 300), (messages, true));
        }

        #[test]
        fn any_stream_gives_the_same_records_in_one_part_and_in_many(
            stream in prop::collection::vec(prop_oneof![Just(0u8), 0u8..9, any::<u8>()], 0..600),
            parts in prop::collection::vec(0usize..30, 0..60), most in 1usize..600,
        ) {
            let (messages, went_on) = cut(&stream, &parts, most);
            prop_assert!(messages.iter().all(|it| (1..=most).contains(&it.len())));
            prop_assert_eq!(cut(&stream, &[], most), (messages, went_on));
        }

        #[test]
        fn a_changed_byte_is_the_end_and_what_was_before_it_is_opened(
            plain in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..12),
            at: prop::sample::Index, change in 1u8..,
        ) {
            let (mut one, mut other) = pair();
            let records: Vec<_> = plain.iter().map(|it| one.seal(it)).collect();
            let mut stream = records.concat();
            let at = at.index(stream.len());
            stream[at] ^= change;
            let ends = records.iter().scan(0, |sum, it| { *sum += it.len(); Some(*sum) });
            let whole = ends.take_while(|end| *end <= at).count();
            // More follows, so that a record that was made longer is whole some time.
            stream.extend(vec![0x55; 1 << 16]);
            let (messages, _) = cut(&stream, &[], MOST_PLAIN + TAG_BYTES);
            let opened: Vec<_> = messages.iter().map_while(|it| other.open(it)).collect();
            prop_assert_eq!(&opened[..], &plain[..whole]);
        }
    }

    #[test]
    fn a_record_that_is_missing_repeated_or_moved_is_not_opened() {
        let (mut one, mut other) = pair();
        let sealed: Vec<_> = (0..3u8).map(|at| one.seal(&[at])[PREFIX..].to_vec()).collect();
        assert_eq!(other.open(&sealed[1]), None);
        assert_eq!(other.open(&sealed[0]), Some(vec![0]));
        assert_eq!(other.open(&sealed[0]), None);
        assert_eq!(other.open(&sealed[2]), None);
        assert_eq!(other.open(&sealed[1]), Some(vec![1]));
    }

    #[test]
    fn both_ends_change_their_keys_at_the_same_record() {
        let (mut one, mut other) = pair();
        for at in 0..2 * RECORDS_PER_KEY + 2 {
            let plain = at.to_be_bytes();
            assert_eq!(other.open(&one.seal(&plain)[PREFIX..]), Some(plain.to_vec()), "{at}");
        }
        let (before, _) = pair();
        assert_ne!(
            one.seal(b"x")[PREFIX..],
            Keys { sealed: 2 * RECORDS_PER_KEY + 2, ..before }.seal(b"x")[PREFIX..]
        );
    }
}
