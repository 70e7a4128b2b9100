//! Detection over what was recorded: a capture, or samples of any origin.

use crate::{AnyDetector, Detection, Sample};
use alloc::vec::Vec;
use units::{Span, Time};

/// Weight of a sample in the smoothed round trip (RFC 6298).
const SMOOTHING: f64 = 1.0 / 8.0;

/// What is known of a path, each list in the order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traced {
    /// Its packets.
    pub samples: Vec<Sample>,
    /// When its sender found loss events.
    pub lost: Vec<Time>,
}

impl Traced {
    /// From the round trips of a path, each with the time of sending, and the times of its
    /// retransmissions: several in one round trip are one loss event.
    pub fn of(delays: &[(Time, Span)], repeats: &[Time]) -> Self {
        let mut own = delays.first().map_or(0.0, |(_, delay)| delay.seconds());
        let mut smoothed = Vec::with_capacity(delays.len());
        let mut samples = Vec::with_capacity(delays.len());
        for &(sent, delay) in delays {
            own += SMOOTHING * (delay.seconds() - own);
            smoothed.push(own);
            samples.push(Sample { sent, delay, rtt: Span::from_seconds(own) });
        }
        let trip = Span::from_seconds(median(smoothed));
        let mut lost: Vec<Time> = Vec::new();
        for &at in repeats {
            if lost.last().is_none_or(|last| at > *last + trip) {
                lost.push(at);
            }
        }
        Traced { samples, lost }
    }
}

/// The median, zero of nothing.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.get(half) {
        None => 0.0,
        Some(upper) if values.len() % 2 == 1 => *upper,
        Some(upper) => 0.5 * (values[half - 1] + upper),
    }
}

/// What happened on a path, at the time when its sender learned of it.
enum Event<'a> {
    Delay(&'a Sample),
    Loss,
}

/// Feeds a detector with the paths in the order of time, and shows it to `visit` whenever its
/// groups changed, and at the end.
pub fn follow(kind: AnyDetector, paths: &[Traced], mut visit: impl FnMut(Time, &Detection)) {
    let mut events: Vec<(Time, usize, Event<'_>)> = Vec::new();
    for (path, traced) in paths.iter().enumerate() {
        let delay = |sample| (Sample::learned(sample), path, Event::Delay(sample));
        events.extend(traced.samples.iter().map(delay));
        events.extend(traced.lost.iter().map(|at| (*at, path, Event::Loss)));
    }
    events.sort_by_key(|(at, path, _)| (*at, *path));
    let mut detection = Detection::new(kind, paths.len());
    let mut last = Time::ZERO;
    for (at, path, event) in events {
        match event {
            Event::Delay(sample) => detection.on_delay(path, sample),
            Event::Loss => detection.on_loss(path, at),
        }
        if detection.look(at) {
            visit(at, &detection);
        }
        last = at;
    }
    visit(last, &detection);
}

impl Sample {
    /// When the sender learned of it.
    fn learned(&self) -> Time {
        self.sent + self.rtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::millis(ms)
    }

    #[test]
    fn retransmissions_of_one_round_trip_are_one_loss_event() {
        let delays: Vec<(Time, Span)> = (0..9).map(|n| (at(n * 10), Span::millis(50))).collect();
        let traced = Traced::of(&delays, &[at(20), at(30), at(70), at(71)]);
        assert_eq!(traced.lost, [at(20), at(71)]);
        assert!(traced.samples.iter().all(|sample| sample.rtt == Span::millis(50)));
        assert_eq!(Traced::of(&[], &[]), Traced::default());
    }

    #[test]
    fn paths_whose_delays_rise_and_fall_together_are_found_to_share() {
        let wave = |n: u64, shift: u64| 20 + (n + shift) * (n + shift) / 1000 % 40;
        let path = |shift| {
            let delays = (0..20_000).map(|n| (at(n), Span::millis(wave(n, shift))));
            Traced::of(&delays.collect::<Vec<_>>(), &[])
        };
        let mut last = 0.0;
        follow(AnyDetector::DEFAULT, &[path(0), path(0)], |_, found| last = found.confidence(0, 1));
        assert!(last > 0.9, "{last}");
    }
}
