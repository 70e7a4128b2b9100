//! Which mode a station sends in: always the same, by what was acknowledged, or by the signal.

/// How a station chooses its mode towards another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ModeChoice {
    /// Always this mode.
    Fixed(usize),
    /// Auto rate fallback (Kamerman and Monteban, Bell Labs Technical Journal 1997): one mode up
    /// after ten acknowledged frames in a row, one down after two that were not, or if the first in
    /// a new mode is not.
    Arf,
    /// The fastest mode whose threshold the signal exceeds by this margin in dB: what a station
    /// would choose that knew the signal.
    Ideal(f64),
}

/// Acknowledged frames in a row after which the next mode is tried.
const UP: u32 = 10;
/// Frames in a row that were not, after which it is left.
const DOWN: u32 = 2;

/// ARF towards one station.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arf {
    pub(super) mode: usize,
    successes: u32,
    failures: u32,
    /// Nothing has been sent in this mode since it was tried.
    tries: bool,
}

impl Arf {
    pub(super) fn new(mode: usize) -> Self {
        Arf { mode, ..Arf::default() }
    }

    /// An attempt was acknowledged, or not; `modes` are there.
    pub(super) fn told(&mut self, acknowledged: bool, modes: usize) {
        if acknowledged {
            (self.successes, self.failures, self.tries) = (self.successes + 1, 0, false);
            if self.successes >= UP && self.mode + 1 < modes {
                *self = Arf { mode: self.mode + 1, tries: true, ..Arf::default() };
            }
            return;
        }
        (self.failures, self.successes) = (self.failures + 1, 0);
        if (self.tries || self.failures >= DOWN) && self.mode > 0 {
            *self = Arf::new(self.mode - 1);
        }
        self.tries = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_acknowledged_frames_try_the_next_mode_and_the_first_failure_leaves_it() {
        let mut arf = Arf::new(3);
        (0..9).for_each(|_| arf.told(true, 8));
        assert_eq!(arf.mode, 3);
        arf.told(true, 8);
        assert_eq!(arf.mode, 4);
        arf.told(false, 8);
        assert_eq!(arf.mode, 3);
    }

    #[test]
    fn two_failures_in_a_row_leave_a_mode_and_the_ends_stay() {
        let mut arf = Arf::new(1);
        for acknowledged in [false, true, false, true] {
            arf.told(acknowledged, 8);
        }
        assert_eq!(arf.mode, 1);
        (0..20).for_each(|_| arf.told(false, 8));
        assert_eq!(arf.mode, 0);
        (0..200).for_each(|_| arf.told(true, 8));
        assert_eq!(arf.mode, 7);
    }
}
