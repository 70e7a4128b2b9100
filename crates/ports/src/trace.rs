//! Checks of a recorded trace: each step by itself in every form of the law, and against the last
//! step of its socket.

use crate::port::Port;
use crate::step::Step;
use std::collections::BTreeMap;

/// Number of wrong steps of a trace, by kind of error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// The same C built natively gives another result.
    pub native: usize,
    /// The readable law differs beyond the stated bound.
    pub readable: usize,
    /// The law had another round-trip time of its own path than the socket.
    pub misread: usize,
    /// The step does not begin with the window after the socket's last step, fraction included,
    /// although no other cause has moved it.
    pub broken: usize,
}

impl Port {
    /// Judges steps in the order in which they were made.
    pub fn judge(&self, steps: &[Step]) -> Judged {
        let mut left: BTreeMap<u32, Step> = BTreeMap::new();
        let mut judged = Judged::default();
        for step in steps {
            let again = Step { backoff: step.backoff, ..self.replay(step) };
            let own = step.views.path.get(step.views.me as usize).map(|view| view.srtt);
            let last = left.insert(step.socket, *step);
            let broken = last.is_some_and(|last| {
                last.breaks == step.breaks
                    && (last.after_cwnd, last.after_credit)
                        != (step.before_cwnd, step.before_credit)
            });
            judged.native += usize::from(again != *step);
            judged.readable += usize::from(!self.is_readable(step));
            judged.misread += usize::from(own != Some(step.srtt));
            judged.broken += usize::from(broken);
        }
        judged
    }
}
