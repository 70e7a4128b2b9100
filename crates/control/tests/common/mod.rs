//! What the test harnesses of this crate share.
#![allow(dead_code, reason = "each harness is a crate of its own and uses a part")]

use control::{Acked, AnyLaw, Phase, described};

/// Values of φ from near 0 to the largest.
const PHIS: [&str; 5] = ["0.1", "0.5", "1", "1.5", "2"];

/// Every registered law under each of its options, with the text that names it.
pub(crate) fn registered() -> Vec<(String, AnyLaw)> {
    let mut laws = Vec::new();
    for law in described() {
        let name = law.names[0];
        let options = law.options.iter().map(|(option, _)| *option).chain(PHIS);
        let texts = std::iter::once(name.to_owned()).chain(options.map(|o| format!("{name}:{o}")));
        let before = laws.len();
        laws.extend(texts.filter_map(|text| text.parse().ok().map(|law| (text, law))));
        assert!(laws.len() > before, "no way to name `{name}` is known to this harness");
    }
    laws
}

/// An acknowledgement that arrived while the window was full.
pub(crate) fn acked(segments: f64, srtt: f64, phase: Phase) -> Acked {
    Acked { segments, srtt, cwnd_limited: true, phase, ..Acked::default() }
}
