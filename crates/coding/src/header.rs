//! The headers of real packets, in network byte order.
//!
//! ```text
//!  coded packet      0      1      2      4          8              11      12
//!                   | 0xC1 | 0    | len  | base     | key          | count | symbol, `len` bytes
//!  acknowledgement   0      1      2      4              8      12        16
//!                   | 0xC2 | flag | 0    | first unseen | rank | highest |
//! ```
//!
//! The first byte is kind and version. A packet with another first byte, a reserved bit set, the
//! wrong length, or contradictory numbers is refused.

use crate::Combination;
use alloc::vec::Vec;

/// The first byte of a coded packet.
const CODED: u8 = 0xC1;
/// The first byte of an acknowledgement.
const ACKNOWLEDGEMENT: u8 = 0xC2;

/// The header before a coded symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The combination of the symbol.
    pub combination: Combination,
    /// Length of the coded symbol, in bytes.
    pub len: u16,
}

impl Header {
    /// Bytes of a header.
    pub const LEN: usize = 12;

    /// Appends the header; the symbol follows it.
    pub fn encode(&self, to: &mut Vec<u8>) {
        let [high, low] = self.len.to_be_bytes();
        to.extend([CODED, 0, high, low]);
        to.extend(self.combination.pack().to_be_bytes());
    }

    /// The header of a packet, and the symbol after it, which ends with the packet.
    pub fn decode(packet: &[u8]) -> Option<(Self, &[u8])> {
        let (header, symbol) = packet.split_first_chunk::<{ Self::LEN }>()?;
        let [CODED, 0, high, low, word @ ..] = *header else { return None };
        let combination = Combination::unpack(u64::from_be_bytes(word));
        let len = u16::from_be_bytes([high, low]);
        combination.end()?;
        (symbol.len() == usize::from(len)).then_some((Self { combination, len }, symbol))
    }
}

/// The answer of a coded path's receiver (Xue et al. 2017, §IV-A: loss flag, received count,
/// highest number).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The first segment that is not seen.
    pub first_unseen: u32,
    /// Number of seen segments.
    pub rank: u32,
    /// One past the highest segment in any packet.
    pub highest: u32,
}

impl Acknowledgement {
    /// Bytes of an acknowledgement.
    pub const LEN: usize = 16;

    /// Whether more segments were covered than are seen: a packet is lost or late.
    pub fn loss_flag(&self) -> bool {
        self.rank < self.highest
    }

    /// Degrees of freedom that are missing.
    pub fn lost(&self) -> u32 {
        self.highest.saturating_sub(self.rank)
    }

    /// Appends the acknowledgement.
    pub fn encode(&self, to: &mut Vec<u8>) {
        to.extend([ACKNOWLEDGEMENT, u8::from(self.loss_flag()), 0, 0]);
        for number in [self.first_unseen, self.rank, self.highest] {
            to.extend(number.to_be_bytes());
        }
    }

    /// Parses the acknowledgement that fills a packet.
    pub fn decode(packet: &[u8]) -> Option<Self> {
        let packet: &[u8; Self::LEN] = packet.try_into().ok()?;
        let [ACKNOWLEDGEMENT, flag @ 0..=1, 0, 0, numbers @ ..] = packet else { return None };
        let word = |at: usize| numbers.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
        let said = Self { first_unseen: word(0)?, rank: word(4)?, highest: word(8)? };
        (said.is_possible() && said.loss_flag() == (*flag == 1)).then_some(said)
    }

    /// All segments below the first unseen one are seen, and seen segments were covered.
    fn is_possible(&self) -> bool {
        let all = self.first_unseen == self.highest;
        self.first_unseen <= self.rank
            && self.rank <= self.highest
            && all == (self.rank == self.highest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn coded(base: u32, count: u8, key: u32, symbol: &[u8]) -> (Header, Vec<u8>) {
        let combination = Combination { base, count, key };
        let header = Header { combination, len: symbol.len() as u16 };
        let mut packet = vec![];
        header.encode(&mut packet);
        packet.extend(symbol);
        (header, packet)
    }

    #[test]
    fn a_packet_is_laid_out_as_documented() {
        let (_, packet) = coded(0x0102_0304, 6, 0x0A0B0C, b"xy");
        assert_eq!(packet, [0xC1, 0, 0, 2, 1, 2, 3, 4, 0x0A, 0x0B, 0x0C, 6, b'x', b'y']);
        let mut packet = vec![];
        Acknowledgement { first_unseen: 1, rank: 2, highest: 5 }.encode(&mut packet);
        assert_eq!(packet, [0xC2, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5]);
    }

    #[test]
    fn acknowledgements_that_contradict_themselves_are_refused() {
        let decoded = |first_unseen, rank, highest| {
            let mut packet = vec![];
            Acknowledgement { first_unseen, rank, highest }.encode(&mut packet);
            Acknowledgement::decode(&packet)
        };
        assert!(decoded(3, 4, 6).is_some_and(|said| said.loss_flag() && said.lost() == 2));
        assert!(decoded(6, 6, 6).is_some_and(|said| !said.loss_flag() && said.lost() == 0));
        for (first_unseen, rank, highest) in [(5, 4, 6), (3, 7, 6), (5, 6, 6), (7, 6, 6)] {
            assert_eq!(decoded(first_unseen, rank, highest), None);
        }
        let mut packet = vec![];
        Acknowledgement { first_unseen: 3, rank: 4, highest: 6 }.encode(&mut packet);
        packet[1] = 0; // it claims that nothing is lost
        assert_eq!(Acknowledgement::decode(&packet), None);
    }

    proptest! {
        #[test]
        fn a_coded_packet_comes_back(
            base in 0..u32::MAX - 255, count in 1u8.., key in 0u32..1 << 24, symbol in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let (header, packet) = coded(base, count, key, &symbol);
            prop_assert_eq!(Header::decode(&packet), Some((header, &symbol[..])));
            for cut in 0..packet.len() {
                prop_assert_eq!(Header::decode(&packet[..cut]), None);
            }
        }

        #[test]
        fn an_acknowledgement_comes_back(first_unseen in 0u32..9, seen in 0u32..9, lost in 1u32..9) {
            let rank = first_unseen + seen;
            let said = Acknowledgement { first_unseen, rank, highest: rank + lost };
            let mut packet = vec![];
            said.encode(&mut packet);
            prop_assert_eq!(Acknowledgement::decode(&packet), Some(said));
            for cut in 0..packet.len() {
                prop_assert_eq!(Acknowledgement::decode(&packet[..cut]), None);
            }
        }

        #[test]
        fn whatever_is_decoded_is_what_encoding_gives(
            mut packet in prop::collection::vec(any::<u8>(), 0..40), kind in 0u8..4,
        ) {
            let len = packet.len();
            if len >= 4 { // makes it likely to be parsed
                let (reserved, rest) = (packet[1] & 1, len.saturating_sub(12) as u8);
                packet[..4].copy_from_slice(&[0xC0 | kind, reserved, 0, rest]);
            }
            if let Some((header, symbol)) = Header::decode(&packet) {
                let mut again = vec![];
                header.encode(&mut again);
                again.extend(symbol);
                prop_assert_eq!(&again, &packet);
            }
            if let Some(said) = Acknowledgement::decode(&packet) {
                let mut again = vec![];
                said.encode(&mut again);
                prop_assert_eq!(&again, &packet);
            }
        }
    }
}
