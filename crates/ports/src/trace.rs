//! Whether a recorded trace holds: each step by itself in every form of the law, and beside what
//! its socket did before.

use crate::port::Port;
use crate::step::Step;
use std::collections::BTreeMap;

/// How many steps of a trace are wrong, and in what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// They come out otherwise in the same C built natively.
    pub native: usize,
    /// The readable law says otherwise, beyond the stated bound.
    pub readable: usize,
    /// The law saw another round-trip time of its own path than the socket has.
    pub misread: usize,
    /// They do not begin with the window that the socket's last step left, fraction included,
    /// although nothing beside the law has moved it.
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
