//! What a controller is told before it is loaded: `struct ab_settings` in `bpf/guard.h`.

/// Settings of a controller.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Another name than its own in the kernel, at most 15 characters: a controller for one process.
    pub name: Option<String>,
    /// Smallest slow-start threshold of coupled paths in segments, at least 1.
    pub min_ssthresh: u32,
    /// Fraction of callbacks to ignore, below 1: only to test that missed ones are survived.
    pub skips: f64,
    /// Whether to record each step under the law.
    pub record: bool,
    /// A fault of its arithmetic: only to test that such a one is found.
    pub fault: Fault,
}

/// A fault planted in a controller: `enum ab_fault` in `bpf/guard.h`, in the same order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// None.
    #[default]
    Sound,
    /// What a step leaves beside whole segments is dropped.
    RemainderDropped,
    /// The round-trip times of two paths are swapped.
    TripsSwapped,
    /// The fraction of the window is reset between two steps.
    CreditReset,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { name: None, min_ssthresh: 1, skips: 0.0, record: false, fault: Fault::Sound }
    }
}

impl Settings {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let skips = (self.skips * f64::from(u32::MAX)) as u32;
        let words = [self.min_ssthresh.max(1), skips, u32::from(self.record), self.fault as u32];
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }
}
