//! The log of events: some are noted as they happen, others are found in counts of a sender.

use crate::trace::{Event, EventKind, Trace};
use transport::PathReport;
use units::Time;

/// What a path's sender counts and the log tells of.
const COUNTED: [EventKind; 5] = [
    EventKind::Timeout,
    EventKind::Recovery,
    EventKind::Noise,
    EventKind::Congestion,
    EventKind::Asked,
];

/// The counts of a path, in the order of [`COUNTED`].
type Counts = [u64; COUNTED.len()];

fn counts(report: &PathReport) -> Counts {
    let PathReport { timeouts, recoveries, verdicts, .. } = *report;
    [timeouts, recoveries, verdicts.noise, verdicts.congestion, verdicts.asked]
}

/// Events so far, and what each path had counted when its sender was last looked at.
#[derive(Default)]
pub(super) struct Log {
    events: Box<Trace>,
    counted: Vec<Counts>,
}

impl Log {
    pub(super) fn note(&mut self, event: Event) {
        self.events.push(event);
    }

    /// The sender of `path` has been told something: whatever it counts more of has happened now.
    pub(super) fn state(&mut self, now: Time, path: u32, report: &PathReport) {
        let index = path as usize;
        if index >= self.counted.len() {
            self.counted.resize(index + 1, Counts::default());
        }
        let before = std::mem::replace(&mut self.counted[index], counts(report));
        for (kind, (old, new)) in COUNTED.into_iter().zip(before.iter().zip(self.counted[index])) {
            if new > *old {
                self.note(Event { at: now, kind, path, link: None });
            }
        }
    }

    pub(super) fn finish(self) -> Box<Trace> {
        self.events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_has_risen_is_one_event_at_the_time_of_the_look() {
        let mut log = Log::default();
        let report = PathReport { timeouts: 1, recoveries: 2, ..PathReport::default() };
        log.state(Time(5), 3, &report);
        log.state(Time(6), 3, &report);
        log.state(Time(7), 3, &PathReport { timeouts: 2, ..report });
        let found: Vec<_> = log.finish().iter().map(|it| (it.at.0, it.kind, it.path)).collect();
        let (timeout, recovery) = (EventKind::Timeout, EventKind::Recovery);
        assert_eq!(found, [(5, timeout, 3), (5, recovery, 3), (7, timeout, 3)]);
    }
}
