//! Numbers on the wire, which wrap, and the numbers of 64 bits that stand for them inside.

/// The sequence numbers of one direction of a subflow: 32 bits on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sequence {
    /// The number on the wire of byte 0.
    base: u32,
}

impl Sequence {
    /// The first byte after a SYN numbered `syn` is byte `first` inside.
    pub(crate) fn after_syn(syn: u32, first: u64) -> Self {
        Sequence { base: syn.wrapping_add(1).wrapping_sub(first as u32) }
    }

    /// The number on the wire of byte `inside`.
    pub(crate) fn wire(self, inside: u64) -> u32 {
        self.base.wrapping_add(inside as u32)
    }

    /// The byte with the number `wire` that is closest to `near`; `None` below byte 0.
    pub(crate) fn inside(self, wire: u32, near: u64) -> Option<u64> {
        let distance = wire.wrapping_sub(self.wire(near)) as i32;
        near.checked_add_signed(i64::from(distance))
    }
}

/// The data sequence numbers of one direction of a connection: 64 bits, or the lower 32 of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataSequence {
    /// The number on the wire of the first byte of data.
    first: u64,
}

impl DataSequence {
    /// The numbers after `initial`, which the key of the data's sender gives (RFC 8684 §3.1).
    pub(crate) fn after(initial: u64) -> Self {
        DataSequence { first: initial.wrapping_add(1) }
    }

    /// The number on the wire of byte `inside`.
    pub(crate) fn wire(self, inside: u64) -> u64 {
        self.first.wrapping_add(inside)
    }

    /// The byte with the number `wire`, or with these lower 32 bits if not `wide`, that is closest
    /// to `near`; `None` below byte 0, or too far away to be meant.
    pub(crate) fn inside(self, wire: u64, wide: bool, near: u64) -> Option<u64> {
        let distance = match wide {
            true => wire.wrapping_sub(self.wire(near)) as i64,
            false => i64::from((wire as u32).wrapping_sub(self.wire(near) as u32) as i32),
        };
        near.checked_add_signed(distance).filter(|_| distance.unsigned_abs() < 1 << 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_survive_the_wire_wherever_they_wrap(
            syn in any::<u32>(), first in 0..u64::MAX / 2, ahead in 0..1_u64 << 31
        ) {
            let sequence = Sequence::after_syn(syn, first);
            prop_assert_eq!(sequence.wire(first), syn.wrapping_add(1));
            let byte = first + ahead / 2;
            prop_assert_eq!(sequence.inside(sequence.wire(byte), first), Some(byte));
            prop_assert_eq!(sequence.inside(sequence.wire(first), byte), Some(first));
        }

        #[test]
        fn data_numbers_survive_with_64_bits_and_with_32(
            initial in any::<u64>(), near in 0..1_u64 << 50, ahead in 0..1_u64 << 30
        ) {
            let sequence = DataSequence::after(initial);
            let wire = sequence.wire(near + ahead);
            prop_assert_eq!(sequence.inside(wire, true, near), Some(near + ahead));
            prop_assert_eq!(sequence.inside(wire & 0xffff_ffff, false, near), Some(near + ahead));
        }
    }

    #[test]
    fn a_number_before_the_first_byte_is_refused() {
        assert_eq!(Sequence::after_syn(10, 0).inside(9, 0), None);
        let sequence = DataSequence::after(10);
        assert_eq!(sequence.inside(10, true, 0), None);
        assert_eq!(sequence.inside(1 << 60, true, 0), None);
    }
}
