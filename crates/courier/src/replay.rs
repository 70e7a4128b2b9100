//! The replay window of a path: which counters have arrived (RFC 6479, with words that rotate).

/// Counters that a datagram may be late by. A path reorders far less.
const DEPTH: u64 = 2048;
const WORDS: usize = DEPTH as usize / 64;

/// Counters that have arrived.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// One past the highest.
    end: u64,
    /// Bit `n % DEPTH` is set if counter `n` has arrived; valid for the last `DEPTH` before `end`.
    seen: [u64; WORDS],
}

impl Default for Window {
    fn default() -> Self {
        Window { end: 0, seen: [0; WORDS] }
    }
}

fn place(counter: u64) -> (usize, u64) {
    ((counter % DEPTH / 64) as usize, 1 << (counter % 64))
}

impl Window {
    /// Whether `counter` has not arrived and is not too old to tell.
    pub(crate) fn is_new(&self, counter: u64) -> bool {
        let (word, bit) = place(counter);
        counter >= self.end || (counter + DEPTH >= self.end && self.seen[word] & bit == 0)
    }

    /// `counter`, which is new, has arrived.
    pub(crate) fn take(&mut self, counter: u64) {
        if counter >= self.end {
            if counter - self.end >= DEPTH {
                self.seen = [0; WORDS];
            } else {
                for skipped in self.end..=counter {
                    let (word, bit) = place(skipped);
                    self.seen[word] &= !bit;
                }
            }
            self.end = counter + 1;
        }
        let (word, bit) = place(counter);
        self.seen[word] |= bit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_counter_is_taken_once_and_refused_only_when_it_came_or_is_old(
            steps in prop::collection::vec((0u64..5000, any::<bool>()), 1..400),
        ) {
            let (mut window, mut seen) = (Window::default(), BTreeSet::new());
            let mut base = 0;
            for (offset, advance) in steps {
                base += if advance { offset } else { 0 };
                let counter = (base + offset).saturating_sub(1000);
                let highest = seen.last().copied();
                let old = highest.is_some_and(|highest| counter + DEPTH < highest + 1);
                prop_assert_eq!(window.is_new(counter), !old && !seen.contains(&counter));
                if window.is_new(counter) {
                    window.take(counter);
                    seen.insert(counter);
                }
            }
        }
    }
}
