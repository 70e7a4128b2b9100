//! Prefetching: asks the processor for memory that will be read soon.

/// Bytes of a cache line, on most processors.
const LINE: usize = 64;

/// Starts to load all of `thing` into the nearest cache.
#[inline(always)] // called for many things in turn
pub fn prefetch_whole<T>(thing: &T) {
    let begin = std::ptr::from_ref(thing).cast::<u8>();
    (0..size_of::<T>()).step_by(LINE).for_each(|offset| prefetch_at(begin.wrapping_add(offset)));
    if align_of::<T>() < LINE {
        prefetch_at(begin.wrapping_add(size_of::<T>() - 1)); // it may end in one line more
    }
}

/// Starts to load the beginning of `thing` into the nearest cache.
#[inline(always)] // one instruction
pub fn prefetch<T>(thing: &T) {
    prefetch_at(std::ptr::from_ref(thing).cast());
}

/// Starts to load the cache line at `address`, which may be any, into the nearest cache.
#[inline(always)] // one instruction
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "there is no safe prefetch on stable Rust")
)]
pub fn prefetch_at(address: *const u8) {
    // SAFETY: the instruction belongs to SSE, which every x86-64 processor has. It reads and writes
    // no memory that a program could observe, and never faults, whatever the address.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
