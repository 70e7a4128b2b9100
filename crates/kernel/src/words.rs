//! Plain structures of BPF as bytes in the machine's order.

/// Reads fields one after another; what is missing is zero.
pub(crate) struct Words<'a>(pub(crate) &'a [u8]);

impl Words<'_> {
    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut value = [0; N];
        let n = N.min(self.0.len());
        value[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        value
    }

    pub(crate) fn u8(&mut self) -> u8 {
        self.bytes::<1>()[0]
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_ne_bytes(self.bytes())
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_ne_bytes(self.bytes())
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from_ne_bytes(self.bytes())
    }

    pub(crate) fn i64(&mut self) -> i64 {
        i64::from_ne_bytes(self.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_short_reads_as_zero() {
        let mut words = Words(&[1, 0, 0, 0, 2]);
        assert_eq!((words.u32(), words.u8(), words.u64()), (1u32.to_le(), 2, 0));
    }
}
