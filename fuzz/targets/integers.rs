//! Random laws in whole numbers compared with real numbers: the difference must be within the
//! computed bound.
#![no_main]

use arbitrary::Unstructured;
use formula::Number;
use formula::TextLaw;
use formula::integer::{Truncated, View};
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/formula/tests/common/random.rs"]
mod random;

const SEGMENT: f64 = (1u64 << 32) as f64;

/// Growth beyond this is cut off.
const MOST: f64 = (1u64 << 29) as f64;

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Unstructured::new(bytes);
    let text = random::law(&mut |most| bytes.int_in_range(0..=most - 1).unwrap_or(0));
    let law = match TextLaw::read(&text) {
        Ok(law) => law,
        Err(wrong) if wrong.message.contains("may be infinite") => return,
        Err(wrong) => panic!("{text}\n{wrong}"),
    };
    let integer = law.integer().unwrap_or_else(|wrong| panic!("{text}\n{wrong}"));
    let mut number = |bits: u32| {
        let bits = bytes.int_in_range(0..=bits - 1).unwrap_or(0);
        (1u32 << bits) | (bytes.arbitrary::<u32>().unwrap_or(0) & ((1 << bits) - 1))
    };
    // The note of `rtt_min` is a time.
    let sign = if text.contains("rtt_min") { 1.0 } else { -1.0 };
    let views: Vec<View> = (0..2 + number(3) as usize % 7)
        .map(|_| View {
            cwnd: number(24),
            srtt: number(31),
            since_loss: number(24) - 1,
            between_losses: number(24) - 1,
            notes: [number(24), number(12), number(30), 1]
                .map(|note| Truncated::real(sign * f64::from(note) / 4096.0).bits()),
        })
        .collect();
    for me in 0..views.len() {
        if let Some((exact, error)) = integer.growth_within(me, &views)
            && exact.abs() < MOST
            && error.is_finite()
        {
            let off = (integer.growth(me, &views) as f64 / SEGMENT - exact).abs();
            assert!(
                off <= error,
                "{text} growth of {me}: {off} above {error} of {exact} at {views:?}"
            );
        }
        if let Some((exact, error)) = integer.backoff_within(me, &views)
            && exact.abs() < MOST
            && error.is_finite()
        {
            let off = exact - integer.backoff(me, &views) as f64;
            assert!(
                off >= -error && off <= 1.0 + error,
                "{text} backoff of {me}: {off}, {exact} at {views:?}"
            );
        }
    }
});
