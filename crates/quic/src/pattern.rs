//! The data of every stream: one block of bytes again and again, so that a receiver can tell
//! whether a byte is in its place.

use bytes::Bytes;
use std::sync::LazyLock;

/// Bytes of the block: prime, so that no size of packets or buffers divides it.
const LENGTH: usize = 1_048_573;

static BLOCK: LazyLock<Bytes> = LazyLock::new(|| {
    let mix = |index: u64| (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8;
    (0..LENGTH as u64).map(mix).collect()
});

/// At most `most` bytes of the stream from `offset` on, without a copy.
pub(crate) fn from(offset: u64, most: u64) -> Bytes {
    let start = (offset % LENGTH as u64) as usize;
    let end = LENGTH.min(start.saturating_add(usize::try_from(most).unwrap_or(LENGTH)));
    BLOCK.slice(start..end)
}

/// Whether these are the bytes of the stream from `offset` on.
pub(crate) fn holds(mut offset: u64, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        let own = from(offset, bytes.len() as u64);
        let (head, rest) = bytes.split_at(own.len());
        if head != own {
            return false;
        }
        (offset, bytes) = (offset + own.len() as u64, rest);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_hold_in_their_place_alone() {
        let offset = 3 * LENGTH as u64 - 10;
        let mut bytes = from(offset, 100).to_vec();
        assert_eq!(bytes.len(), 10, "a block ends");
        bytes.extend_from_slice(&from(offset + 10, 90));
        assert!(holds(offset, &bytes) && !holds(offset + 1, &bytes));
    }
}
