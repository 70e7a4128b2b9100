//! Mappings that arrived on a subflow: where its bytes stand in the connection's data (RFC 8684
//! §3.3.1), and whether they are intact.

use std::borrow::Cow;
use std::collections::VecDeque;
use wire::mptcp::{Mapping, checksum};

/// Most mappings that wait for data; a peer that sends more of them has its packets dropped.
const MOST: usize = 1024;

/// The mappings of one subflow, in the order of its bytes.
#[derive(Debug, Default)]
pub(crate) struct Mappings {
    known: VecDeque<Mapped>,
}

/// One mapping.
#[derive(Debug)]
struct Mapped {
    /// Its first byte in the subflow.
    seq: u64,
    /// The same byte in the connection.
    dsn: u64,
    /// Bytes of data, a DATA_FIN not counted.
    len: u64,
    check: Option<Check>,
}

/// Data that waits for the rest of its mapping, to be checked.
#[derive(Debug)]
struct Check {
    mapping: Mapping,
    bytes: Vec<u8>,
    here: Vec<bool>,
    missing: usize,
}

/// What a payload is.
#[derive(Debug, PartialEq)]
pub(crate) enum Placed<'a> {
    /// No mapping is known for a part of it.
    Unmapped,
    /// The checksum of its mapping is wrong; the mapping begins with this byte of the connection.
    Corrupt(u64),
    /// Data of the connection that may be delivered now: each piece with its first byte.
    Data(Vec<(u64, Cow<'a, [u8]>)>),
}

impl Mapped {
    fn end(&self) -> u64 {
        self.seq + self.len
    }
}

impl Mappings {
    /// Bytes `seq..seq + len` of the subflow are bytes `dsn..` of the connection. With a checksum,
    /// `mapping` is as it stands on the wire, with a data sequence number of 64 bits. The first
    /// mapping of a byte is the one that counts.
    pub(crate) fn add(&mut self, seq: u64, dsn: u64, len: u64, mapping: Mapping) {
        let at = self.known.partition_point(|it| it.end() <= seq);
        let next = self.known.get(at).map_or(u64::MAX, |next| next.seq);
        if len == 0 || seq + len > next || self.known.len() >= MOST {
            return;
        }
        let check = mapping.checksum.map(|_| Check {
            mapping,
            bytes: vec![0; len as usize],
            here: vec![false; len as usize],
            missing: len as usize,
        });
        self.known.insert(at, Mapped { seq, dsn, len, check });
    }

    /// The place of `payload`, which begins with byte `seq` of the subflow.
    pub(crate) fn place<'a>(&mut self, mut seq: u64, mut payload: &'a [u8]) -> Placed<'a> {
        let mut pieces = Vec::new();
        while !payload.is_empty() {
            let at = self.known.partition_point(|it| it.end() <= seq);
            let Some(mapped) = self.known.get_mut(at).filter(|it| it.seq <= seq) else {
                return Placed::Unmapped;
            };
            let length = (mapped.end() - seq).min(payload.len() as u64) as usize;
            let (piece, rest) = payload.split_at(length);
            let offset = seq - mapped.seq;
            match &mut mapped.check {
                None => pieces.push((mapped.dsn + offset, Cow::Borrowed(piece))),
                Some(check) => match check.take(offset as usize, piece) {
                    Checked::Waits => {}
                    Checked::Wrong => return Placed::Corrupt(mapped.dsn),
                    Checked::Right(bytes) => pieces.push((mapped.dsn, Cow::Owned(bytes))),
                },
            }
            (seq, payload) = (seq + length as u64, rest);
        }
        Placed::Data(pieces)
    }

    /// The subflow has all bytes below `seq`.
    pub(crate) fn forget_below(&mut self, seq: u64) {
        while self.known.front().is_some_and(|it| it.end() <= seq) {
            self.known.pop_front();
        }
    }
}

/// What a piece brought.
enum Checked {
    /// Bytes of the mapping are missing, or were delivered before.
    Waits,
    /// The checksum is wrong.
    Wrong,
    /// All bytes of the mapping.
    Right(Vec<u8>),
}

impl Check {
    fn take(&mut self, offset: usize, piece: &[u8]) -> Checked {
        if self.missing == 0 {
            return Checked::Waits;
        }
        let here = &mut self.here[offset..offset + piece.len()];
        for ((here, place), byte) in here.iter_mut().zip(&mut self.bytes[offset..]).zip(piece) {
            if !std::mem::replace(here, true) {
                *place = *byte;
                self.missing -= 1;
            }
        }
        if self.missing > 0 {
            return Checked::Waits;
        }
        match self.mapping.checksum == Some(checksum(&self.mapping, &self.bytes)) {
            true => Checked::Right(std::mem::take(&mut self.bytes)),
            false => Checked::Wrong,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(data_sequence: u64, length: u16, data: Option<&[u8]>) -> Mapping {
        let plain =
            Mapping { data_sequence, wide: true, subflow_sequence: 1, length, checksum: None };
        Mapping { checksum: data.map(|data| checksum(&plain, data)), ..plain }
    }

    #[test]
    fn a_payload_is_split_where_its_mappings_are() {
        let mut mappings = Mappings::default();
        mappings.add(0, 100, 4, mapping(0, 4, None));
        mappings.add(4, 50, 4, mapping(0, 4, None));
        let Placed::Data(pieces) = mappings.place(2, b"abcd") else { panic!("all is mapped") };
        assert_eq!(pieces, [(102, Cow::from(&b"ab"[..])), (50, Cow::from(&b"cd"[..]))]);
        assert_eq!(mappings.place(6, b"abc"), Placed::Unmapped);
        mappings.forget_below(4);
        assert_eq!(mappings.place(2, b"a"), Placed::Unmapped);
    }

    #[test]
    fn a_later_mapping_of_the_same_bytes_is_not_taken() {
        let mut mappings = Mappings::default();
        mappings.add(10, 100, 4, mapping(0, 4, None));
        mappings.add(8, 0, 4, mapping(0, 4, None));
        mappings.add(12, 0, 4, mapping(0, 4, None));
        let Placed::Data(pieces) = mappings.place(10, b"abcd") else { panic!("all is mapped") };
        assert_eq!(pieces, [(100, Cow::from(&b"abcd"[..]))]);
    }

    #[test]
    fn data_with_a_checksum_is_delivered_when_all_of_it_has_arrived_and_once() {
        let mut mappings = Mappings::default();
        mappings.add(0, 7, 4, mapping(9, 4, Some(b"abcd")));
        assert_eq!(mappings.place(2, b"cd"), Placed::Data(vec![]));
        assert_eq!(mappings.place(0, b"ab"), Placed::Data(vec![(7, Cow::from(&b"abcd"[..]))]));
        assert_eq!(mappings.place(0, b"abcd"), Placed::Data(vec![]));
    }

    #[test]
    fn a_changed_byte_is_found() {
        let mut mappings = Mappings::default();
        mappings.add(0, 7, 4, mapping(9, 4, Some(b"abcd")));
        assert_eq!(mappings.place(0, b"abcx"), Placed::Corrupt(7));
    }
}
