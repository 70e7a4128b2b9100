//! The choice of a station's transmission mode: fixed, by acknowledgements, or by the signal.

/// The rule for a station's mode towards another station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ModeChoice {
    /// Always this mode.
    Fixed(usize),
    /// Auto rate fallback (Kamerman and Monteban, Bell Labs Technical Journal 1997): one mode up
    /// after ten acknowledged frames in a row, one down after two frames without acknowledgement,
    /// or if the first frame in a new mode has none.
    Arf,
    /// The fastest mode whose threshold the signal exceeds by this margin in dB: the choice of a
    /// station that knows the signal.
    Ideal(f64),
}

/// Acknowledged frames in a row after which the next mode is tried.
const UP: u32 = 10;
/// Frames in a row without acknowledgement, after which the mode is left.
const DOWN: u32 = 2;

/// ARF towards one station.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arf {
    pub(super) mode: usize,
    successes: u32,
    failures: u32,
    /// No frame has been sent in this mode yet since the mode was raised.
    tries: bool,
}

impl Arf {
    pub(super) fn new(mode: usize) -> Self {
        Arf { mode, ..Arf::default() }
    }

    /// Reports an attempt, acknowledged or not; there are `modes` modes.
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
