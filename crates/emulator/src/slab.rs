//! Buffers of the packets inside the network, of one size, allocated once.

/// Bytes of all buffers. The system allocates the memory of a buffer at its first use.
const TOTAL: usize = 256 << 20;
/// Least bytes of a buffer.
const SMALLEST: usize = 2048;

/// Buffers, and the list of free ones.
pub(crate) struct Slab {
    bytes: Vec<u8>,
    size: usize,
    /// The slot freed last is used next: the memory touched is that of the largest number of
    /// packets at one time.
    free: Vec<u32>,
    /// Receives a packet when no slot is free.
    spare: Vec<u8>,
}

impl Slab {
    /// Buffers for packets of up to `largest` bytes, and one byte more to detect longer ones.
    pub(crate) fn new(largest: usize) -> Self {
        let size = (largest + 1).max(SMALLEST);
        let slots = TOTAL / size;
        Slab {
            bytes: vec![0; slots * size],
            size,
            free: (0..slots as u32).rev().collect(),
            spare: vec![0; size],
        }
    }

    /// The next slot; `None` if none is free.
    pub(crate) fn next(&self) -> Option<u32> {
        self.free.last().copied()
    }

    /// The buffer of a slot, or the spare one.
    pub(crate) fn buffer(&mut self, slot: Option<u32>) -> &mut [u8] {
        match slot {
            Some(slot) => {
                let begin = slot as usize * self.size;
                &mut self.bytes[begin..begin + self.size]
            }
            None => &mut self.spare,
        }
    }

    /// Marks the slot of [`Slab::next`] as used.
    pub(crate) fn take(&mut self) {
        self.free.pop();
    }

    /// A used slot with the same contents as `slot`; `None` if none is free.
    pub(crate) fn copy(&mut self, slot: u32) -> Option<u32> {
        let new = self.free.pop()?;
        let begin = slot as usize * self.size;
        self.bytes.copy_within(begin..begin + self.size, new as usize * self.size);
        Some(new)
    }

    /// Marks `slot` as free.
    pub(crate) fn release(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// Slots in use.
    pub(crate) fn used(&self) -> usize {
        self.bytes.len() / self.size - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slot_freed_last_is_used_next_and_slots_run_out_without_panic() {
        let mut slab = Slab::new(65_535);
        let all = slab.free.len();
        for _ in 0..all {
            slab.take();
        }
        assert_eq!((slab.next(), slab.used()), (None, all));
        assert_eq!(slab.buffer(None).len(), 65_536);
        slab.release(7);
        slab.release(3);
        assert_eq!(slab.next(), Some(3));
    }
}
