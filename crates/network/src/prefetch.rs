//! Prefetching: asks the processor for memory that will be read soon.

/// Starts to load the beginning of `thing` into the nearest cache. A run with 100,000 flows visits
/// 350 MB in random order; prefetching for a few events ahead makes it a sixth faster.
#[inline(always)] // one instruction
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "there is no safe prefetch on stable Rust")
)]
pub fn prefetch<T>(thing: &T) {
    // SAFETY: the instruction belongs to SSE, which every x86-64 processor has. It reads and writes
    // no memory that a program could observe, and never faults, whatever the address.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(thing).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = thing;
}
