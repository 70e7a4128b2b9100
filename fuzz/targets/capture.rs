//! Any bytes as a capture: the result is its packets, or the place of the first error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use units::Span;

fuzz_target!(|bytes: &[u8]| {
    let Ok(capture) = wire::capture::read(bytes, Span::millis(100), wire::capture::Part::default())
    else {
        return;
    };
    let segments: u64 =
        capture.subflows.iter().map(|subflow| subflow.forth.packets + subflow.back.packets).sum();
    assert_eq!(capture.packets, segments + capture.others);
    let placed: usize = capture.connections.iter().map(|one| one.subflows.len()).sum();
    assert_eq!(placed, capture.subflows.len());
    for direction in capture.subflows.iter().flat_map(|subflow| [&subflow.forth, &subflow.back]) {
        assert!(direction.again_bytes <= direction.payload_bytes);
        assert_eq!(direction.binned.iter().sum::<u64>(), direction.data_ip_bytes);
    }
});
