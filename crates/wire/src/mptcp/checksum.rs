//! The checksum of mapped data (RFC 8684 §3.3.1): the one's complement sum of RFC 1071 over a
//! pseudo header and the data.

use super::Mapping;

/// The checksum of `data` under `mapping`, whose data sequence number has all its 64 bits here,
/// also where the option has 32. Its length counts a DATA_FIN as one byte, which has no data.
pub fn checksum(mapping: &Mapping, data: &[u8]) -> u16 {
    let mut header = [0; 16];
    header[..8].copy_from_slice(&mapping.data_sequence.to_be_bytes());
    header[8..12].copy_from_slice(&mapping.subflow_sequence.to_be_bytes());
    header[12..14].copy_from_slice(&mapping.length.to_be_bytes());
    !fold(sum(&header) + sum(data))
}

fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<2>();
    let whole: u64 = words.iter().map(|word| u64::from(u16::from_be_bytes(*word))).sum();
    whole + rest.first().map_or(0, |last| u64::from(*last) << 8)
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mapping(length: usize) -> Mapping {
        Mapping {
            data_sequence: 7,
            wide: true,
            subflow_sequence: 1,
            length: length as u16,
            checksum: None,
        }
    }

    /// RFC 1071 §3 has the words 0001 f203 f4f5 f6f7, whose sum is ddf2.
    #[test]
    fn the_sum_is_that_of_rfc_1071() {
        assert_eq!(fold(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7])), 0xddf2);
        assert_eq!(checksum(&mapping(0), &[]), !8);
    }

    proptest! {
        #[test]
        fn a_changed_byte_changes_the_sum(
            data in prop::collection::vec(any::<u8>(), 1..100), at in any::<prop::sample::Index>(), by in 1..=254_u8
        ) {
            let before = checksum(&mapping(data.len()), &data);
            let mut changed = data.clone();
            let at = at.index(data.len());
            changed[at] = changed[at].wrapping_add(by);
            prop_assert_ne!(before, checksum(&mapping(changed.len()), &changed));
        }
    }
}
