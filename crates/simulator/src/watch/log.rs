//! The log of events: some are noted when they happen, others are found in a sender's counters.

use crate::trace::{Event, EventKind, Trace};
use transport::PathReport;
use units::Time;

/// Events counted by a path's sender.
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

/// Initial capacity of a log, in entries.
const FIRST: usize = 1024;

/// Events so far, and the counts of each path when its sender was last looked at.
pub(super) struct Log {
    trace: Box<Trace>,
    /// Entries for which there is memory.
    most: usize,
    counted: Vec<Counts>,
}

impl Log {
    /// A log that ends after `most` entries.
    pub(super) fn new(most: usize) -> Self {
        Log { trace: Box::default(), most, counted: Vec::new() }
    }

    /// Adds an event. The first event that does not fit ends the log, but not the run.
    pub(super) fn note(&mut self, event: Event) {
        if self.trace.ended.is_some() {
            return;
        }
        if self.has_room() {
            self.trace.events.push(event);
        } else {
            self.trace.ended = Some(event.at);
        }
    }

    /// Whether one more entry fits. Capacity doubles as that of a `Vec`, up to `most`; a failed
    /// allocation does not abort the program.
    fn has_room(&mut self) -> bool {
        let events = &mut self.trace.events;
        if events.len() < events.capacity().min(self.most) {
            return true;
        }
        let more = events.len().max(FIRST).min(self.most - events.len());
        more > 0 && events.try_reserve_exact(more).is_ok()
    }

    /// The sender of `path` had an event: each count that has grown is an event at `now`.
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
        self.trace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_has_risen_is_one_event_at_the_time_of_the_look() {
        let mut log = Log::new(usize::MAX);
        let report = PathReport { timeouts: 1, recoveries: 2, ..PathReport::default() };
        log.state(Time(5), 3, &report);
        log.state(Time(6), 3, &report);
        log.state(Time(7), 3, &PathReport { timeouts: 2, ..report });
        let found: Vec<_> =
            log.finish().events.iter().map(|it| (it.at.0, it.kind, it.path)).collect();
        let (timeout, recovery) = (EventKind::Timeout, EventKind::Recovery);
        assert_eq!(found, [(5, timeout, 3), (5, recovery, 3), (7, timeout, 3)]);
    }

    #[test]
    fn a_log_without_room_keeps_what_it_has_and_says_when_it_ended() {
        let dropped = |at| Event { at: Time(at), kind: EventKind::Dropped, path: 0, link: Some(0) };
        for most in [0, 1, FIRST, FIRST + 1, 5000] {
            let mut log = Log::new(most);
            (0..10_000).for_each(|at| log.note(dropped(at)));
            let Trace { events, ended } = *log.finish();
            assert_eq!(ended, Some(Time(most as u64)));
            assert!(events.iter().map(|it| it.at.0).eq(0..most as u64));
            assert!(events.capacity() <= most, "{} for {most}", events.capacity());
        }
    }
}
