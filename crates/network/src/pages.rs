//! Huge pages for large arrays.

/// Arrays below this do not get huge pages, of which each has 2 MiB.
const LEAST: usize = 1 << 21;

/// Reserves room for `more` items. If that is much memory, asks the system for huge pages: a run
/// with 100,000 flows visits its arrays in random order, and with small pages nearly every visit
/// also misses the processor's cache of page addresses.
pub fn reserve_in_huge_pages<T>(items: &mut Vec<T>, more: usize) {
    items.reserve_exact(more);
    let room = items.spare_capacity_mut();
    if size_of_val(room) >= LEAST {
        ask(room.as_mut_ptr().cast(), size_of_val(room));
    }
}

/// Asks for huge pages in `begin..begin + bytes`. A system that has none changes nothing.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the call takes an address")]
fn ask(begin: *mut u8, bytes: usize) {
    use rustix::mm::{Advice, madvise};
    const PAGE: usize = 1 << 12; // an address that is no multiple of larger pages is refused
    let skipped = begin.align_offset(PAGE);
    // SAFETY: the range is inside an allocation. The advice changes neither what memory holds nor
    // whether it may be read.
    let _ = unsafe {
        madvise(begin.wrapping_add(skipped).cast(), bytes - skipped, Advice::LinuxHugepage)
    };
}

#[cfg(not(target_os = "linux"))]
fn ask(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_keeps_its_items_and_has_room_for_more() {
        let mut items: Vec<u64> = (0..10).collect();
        reserve_in_huge_pages(&mut items, LEAST);
        assert!(items.capacity() >= 10 + LEAST);
        let begin = items.as_ptr();
        items.extend(10..LEAST as u64);
        assert_eq!(items.as_ptr(), begin);
        assert!(items.into_iter().eq(0..LEAST as u64));
    }
}
