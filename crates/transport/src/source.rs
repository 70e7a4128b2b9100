//! Sources of a sender's data.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use units::{Bytes, NANOS, Rate, Span, Time};
use wire::Range;

/// The data of the application.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Unlimited data.
    Bulk,
    /// This many bytes, then nothing.
    Transfer(Bytes),
    /// Writes of one segment at a constant rate of payload.
    Paced(Rate),
    /// The same with pauses.
    Intermittent(Rate, Arc<WritePeriods>),
    /// Data of an application that runs. After a write, call `on_written` of the sender.
    Live(Written),
}

/// How many bytes an application that runs has written; clones share the count.
#[derive(Clone, Debug, Default)]
pub struct Written(Arc<AtomicU64>);

impl Written {
    /// The count.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets the count.
    pub fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }
}

/// Counts are equal if they are of the same application.
impl PartialEq for Written {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// When an application writes: periods since the start of the connection, in order and disjoint.
#[derive(Clone, Debug, PartialEq)]
pub struct WritePeriods {
    /// Beginning, end, and the time spent writing before.
    periods: Vec<(Span, Span, Span)>,
}

impl WritePeriods {
    /// Writing and pausing in turn, with these lengths.
    pub fn new(lengths: impl IntoIterator<Item = (Span, Span)>) -> Self {
        let (mut at, mut written) = (Span::ZERO, Span::ZERO);
        let periods = lengths.into_iter().map(|(on, off)| {
            let period = (at, at + on, written);
            (at, written) = (at + on + off, written + on);
            period
        });
        WritePeriods { periods: periods.collect() }
    }

    /// Time spent writing in the first `since_start`.
    fn active(&self, since_start: Span) -> Span {
        let index = self.periods.partition_point(|(from, ..)| *from <= since_start);
        index.checked_sub(1).map_or(Span::ZERO, |last| {
            let (from, until, before) = self.periods[last];
            before + (since_start.min(until) - from)
        })
    }

    /// When more than `active` will have been spent writing; `None` if never.
    fn reaches(&self, active: Span) -> Option<Span> {
        let index = self
            .periods
            .partition_point(|(from, until, before)| *before + (*until - *from) <= active);
        let (from, _, before) = self.periods.get(index)?;
        Some(*from + (active - *before))
    }
}

/// Whole segments of `segment` bytes that `rate` earns in `active`, including the first segment,
/// which is written at once.
fn earned(active: Span, Rate(bps): Rate, segment: u32) -> u64 {
    let (bits, segment) = (8 * u64::from(segment), u64::from(segment));
    let segments = match active.0.checked_mul(bps) {
        Some(product) => product / NANOS / bits, // mostly; more digits divide slowly
        None => {
            let product = u128::from(active.0) * u128::from(bps);
            (product / u128::from(NANOS) / u128::from(bits)) as u64
        }
    };
    (segments + 1) * segment
}

/// The time in which `rate` earns `bytes`.
fn earns(bytes: u64, Rate(bps): Rate) -> Span {
    Span(match bytes.checked_mul(8 * NANOS) {
        Some(product) => product.div_ceil(bps),
        None => (u128::from(bytes) * 8 * u128::from(NANOS)).div_ceil(u128::from(bps)) as u64,
    })
}

impl Source {
    /// Payload bytes written in the first `since_start` of the connection, in whole segments of
    /// `segment` bytes for a paced source.
    #[inline(always)] // runs for every segment
    pub fn written(&self, since_start: Span, segment: u32) -> u64 {
        match self {
            Source::Bulk => u64::MAX,
            _ => self.written_in(since_start, segment),
        }
    }

    #[inline(never)]
    fn written_in(&self, since_start: Span, segment: u32) -> u64 {
        match self {
            Source::Bulk => u64::MAX,
            Source::Transfer(Bytes(bytes)) => *bytes,
            Source::Paced(rate) => earned(since_start, *rate, segment),
            Source::Intermittent(rate, turns) => earned(turns.active(since_start), *rate, segment),
            Source::Live(written) => written.get(),
        }
    }

    /// Whether it is a transfer that ends at or before `una`.
    #[inline(always)] // runs for every ACK
    pub(crate) fn ends_by(&self, una: u64) -> bool {
        matches!(self, Source::Transfer(total) if una >= total.0)
    }

    /// When more than `bytes` will have been written, if that depends on time alone.
    pub fn next_write(&self, start: Time, bytes: u64) -> Option<Time> {
        match self {
            Source::Bulk | Source::Transfer(_) | Source::Live(_) => None,
            Source::Paced(rate) => Some(start + earns(bytes, *rate)),
            Source::Intermittent(rate, turns) => {
                Some(turns.reaches(earns(bytes, *rate)).map_or(Time::NEVER, |after| start + after))
            }
        }
    }
}

/// Data written by an application and not yet sent by its connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unsent {
    /// When the connection starts.
    pub(crate) start: Time,
    /// Next byte to send for the first time.
    pub(crate) nxt: u64,
    /// Right edge of the receive window; never moves back.
    pub(crate) edge: u64,
}

/// The reason why there is nothing to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The application has written nothing more.
    Application,
    /// The receive window is full.
    Window,
}

impl Unsent {
    pub(crate) fn new(start: Time, edge: u64) -> Self {
        Unsent { start, nxt: 0, edge }
    }

    /// The next data, at most `segment` bytes, that the application wrote and the receive window
    /// admits.
    #[inline(always)] // runs for every segment
    pub(crate) fn next(&self, now: Time, source: &Source, segment: u32) -> Result<Range, Wait> {
        let start = self.nxt;
        let written = self.written(now, source, segment);
        let end = (start + u64::from(segment)).min(written);
        match start < end {
            false => Err(Wait::Application),
            true if end > self.edge => Err(Wait::Window),
            true => Ok(Range { start, end }),
        }
    }

    /// Bytes that the application has written.
    #[inline(always)] // runs for every segment
    pub(crate) fn written(&self, now: Time, source: &Source, segment: u32) -> u64 {
        source.written(now.since(self.start), segment)
    }

    /// When the application writes more, if that depends on time alone; never otherwise.
    #[inline(always)] // runs for every segment
    pub(crate) fn next_write(&self, source: &Source) -> Time {
        source.next_write(self.start, self.nxt).unwrap_or(Time::NEVER)
    }
}

/// At most `most` bytes of the data from `start` on: all that is `written`, and whole segments
/// below the `edge` of the receive window.
pub(crate) fn next(start: u64, most: u64, segment: u64, written: u64, edge: u64) -> Option<Range> {
    let end = start.saturating_add(most).min(written);
    let admitted = start + edge.saturating_sub(start) / segment * segment;
    let end = if end <= edge { end } else { admitted.min(end) };
    (start < end).then_some(Range { start, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paced_source_writes_a_segment_whenever_its_rate_has_earned_one() {
        let source = Source::Paced(Rate(8_000_000)); // 1000 B each ms
        assert_eq!(source.written(Span::ZERO, 1000), 1000);
        let next = source.next_write(Time::ZERO, 1000).unwrap();
        assert_eq!(next, Time(1_000_000));
        assert_eq!(source.written(next.since(Time::ZERO), 1000), 2000);
        assert_eq!(source.written(Span(next.0 - 1), 1000), 1000);
    }

    #[test]
    fn a_source_that_pauses_writes_only_while_it_does_not() {
        let (on, off) = (Span::millis(10), Span::millis(30));
        let turns = Arc::new(WritePeriods::new([(on, off), (on, off)]));
        let source = Source::Intermittent(Rate(8_000_000), turns); // 1000 B each ms of writing
        let written = |ms| source.written(Span::millis(ms), 1000) / 1000;
        assert_eq!([0, 5, 10, 39, 40, 45, 50, 90].map(written), [1, 6, 11, 11, 11, 16, 21, 21]);
        let next = |segments: u64| source.next_write(Time::ZERO, 1000 * segments);
        assert_eq!(next(5), Some(Time(5_000_000)));
        assert_eq!(next(10), Some(Time(40_000_000)));
        assert_eq!(next(20), Some(Time::NEVER));
    }
}
