//! The agenda: pending wake-ups in total order.
//!
//! A source (a link, an endpoint's timer) has at most one wake-up pending. Order is total: by time,
//! then by source. Simultaneous events therefore happen in the order of their sources' numbers in
//! every run. Few sources are in a tournament, many in a timing wheel, which can also have an event
//! for each packet on a line (`lines.rs`). The choice affects only the run time.

use crate::event_source::EventSource;
use std::num::NonZeroU32;
use tournament::Tournament;
use units::Time;
use wheel::Wheel;

pub(crate) use wheel::{MOST_SHOWN, Soon};

mod tournament;
mod wheel;

/// The place of a packet on a line, among those of all lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(NonZeroU32);

impl Place {
    /// The place with a number, or none for zero.
    #[inline(always)] // runs for every event
    pub(crate) fn of(number: u32) -> Option<Self> {
        NonZeroU32::new(number).map(Place)
    }

    #[inline(always)] // runs for every event
    pub(crate) fn number(self) -> u32 {
        self.0.get()
    }
}

/// What happens at a time: a source is woken, or a packet comes out of the line that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) source: EventSource,
    /// Where the packet is.
    pub(crate) place: Option<Place>,
}

impl Due {
    #[inline(always)] // runs for every event
    fn wake_up(source: EventSource) -> Self {
        Due { source, place: None }
    }
}

/// Pending wake-ups in total order.
#[repr(u8)] // a separate tag, which one instruction reads
pub(crate) enum Agenda {
    /// For few sources.
    Few(Tournament),
    /// For many sources.
    Many(Wheel),
}

impl Agenda {
    /// An agenda without wake-ups after `until`, for sources that are woken about as often as
    /// `weights` says, compared with each other. The weights affect only the run time.
    pub(crate) fn new(weights: &[u32], until: Time) -> Self {
        match weights.len() <= tournament::MOST && until < tournament::LATEST {
            true => Agenda::Few(Tournament::new(weights)),
            false => Agenda::Many(Wheel::new(weights.len())),
        }
    }

    /// Wakes `source`, which has no wake-up pending, at `when`, which is not in the past.
    #[inline(always)] // runs for every hop
    pub(crate) fn schedule(&mut self, source: EventSource, when: Time) {
        match self {
            Agenda::Few(few) => few.schedule(source, when),
            Agenda::Many(many) => many.schedule(source, when),
        }
    }

    /// Wakes `source`, which [`Agenda::pop`] has just returned, again at `next`, or no more. This
    /// or [`Agenda::reschedule`] must be called for it before any other call for it, and before
    /// the next wake-up.
    #[inline(always)] // runs for every event
    pub(crate) fn follow(&mut self, source: EventSource, next: Option<Time>) {
        match self {
            Agenda::Few(few) => few.follow(source, next),
            Agenda::Many(many) => {
                if let Some(when) = next {
                    many.schedule(source, when);
                }
            }
        }
    }

    /// Wakes `source` at `when` at the latest: an earlier wake-up stays, a later one is moved
    /// forward.
    #[inline(always)] // after every ACK; an earlier wake-up mostly stays
    pub(crate) fn advance(&mut self, source: EventSource, when: Time) {
        match self {
            Agenda::Few(few) => few.schedule(source, when),
            Agenda::Many(many) => many.advance(source, when),
        }
    }

    /// Whether packets of lines can be on it.
    pub(crate) fn carries(&self) -> bool {
        matches!(self, Agenda::Many(_))
    }

    /// A packet comes out of `line` at `when`, which is not in the past.
    #[inline(always)] // runs for every hop into a line
    pub(crate) fn carry(&mut self, line: EventSource, when: Time, place: Place) {
        match self {
            Agenda::Few(_) => unreachable!("a line in a world with few sources"),
            Agenda::Many(many) => many.carry(line, when, place),
        }
    }

    /// The packets that will come out of lines, and these lines, in any order.
    pub(crate) fn packets(&self) -> impl Iterator<Item = (EventSource, Place)> {
        let many = match self {
            Agenda::Few(_) => None,
            Agenda::Many(many) => Some(many.packets()),
        };
        many.into_iter().flatten()
    }

    /// Wakes `source` at `when`, whatever was pending.
    pub(crate) fn reschedule(&mut self, source: EventSource, when: Time) {
        match self {
            Agenda::Few(few) => few.reschedule(source, when),
            Agenda::Many(many) => many.reschedule(source, when),
        }
    }

    /// The next event at or before `end`. After a wake-up, [`Agenda::follow`] must be called. If
    /// many are due, `ahead` is called with some that follow soon. `MANY` is [`Agenda::carries`].
    #[inline(always)] // it has one caller
    pub(crate) fn pop<const MANY: bool>(
        &mut self,
        end: Time,
        ahead: impl FnOnce(Soon<'_>),
    ) -> Option<(Time, Due)> {
        match self {
            Agenda::Few(few) if !MANY => {
                few.pop(end).map(|(when, source)| (when, Due::wake_up(source)))
            }
            Agenda::Many(many) if MANY => many.pop(end, ahead),
            _ => unreachable!("`MANY` is what `carries` says"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// One agenda of each kind.
    fn agendas(sources: usize) -> [Agenda; 2] {
        let weights: Vec<u32> = (0..sources as u32).map(|source| source % 3 * source).collect();
        let few = Agenda::new(&weights, Time::ZERO);
        assert!(matches!(few, Agenda::Few(_)));
        let many = Agenda::new(&weights, tournament::LATEST);
        assert!(matches!(many, Agenda::Many(_)), "a run of months");
        [few, many]
    }

    fn pop(agenda: &mut Agenda, end: Time) -> Option<(Time, EventSource)> {
        let due = match agenda.carries() {
            true => agenda.pop::<true>(end, |_| {}),
            false => agenda.pop::<false>(end, |_| {}),
        };
        due.map(|(when, due)| (when, due.source))
    }

    /// The next wake-up by `end`, which is not followed by another one of its source.
    fn next_by(agenda: &mut Agenda, end: u64) -> Option<(Time, EventSource)> {
        let (when, source) = pop(agenda, Time(end))?;
        agenda.follow(source, None);
        Some((when, source))
    }

    proptest! {
        /// Compared with a plain sorted map: the same wake-ups in the same order, for arbitrary
        /// calls.
        #[test]
        fn wake_ups_come_in_the_order_of_time_and_then_of_source(
            steps in prop::collection::vec((0u32..20, 0u64..(1 << 40), 0u32..40, 0u8..5), 1..300),
        ) {
            for mut agenda in agendas(20) {
                let mut model: BTreeMap<EventSource, Time> = BTreeMap::new();
                let mut now = Time::ZERO;
                for (number, gap, shrink, what) in &steps {
                    let source = EventSource(*number);
                    if *what < 2 {
                        let expected = model.iter().map(|(e, t)| (*t, *e)).min();
                        let got = pop(&mut agenda, Time::NEVER);
                        prop_assert_eq!(got, expected);
                        if let Some((when, source)) = got {
                            now = when;
                            model.remove(&source);
                            let next = (gap % 2 == 0).then(|| Time(now.0 + (gap >> shrink)));
                            agenda.follow(source, next);
                            next.map(|next| model.insert(source, next));
                        }
                    } else if *what == 2 {
                        let when = Time(now.0 + (gap >> shrink));
                        agenda.reschedule(source, when);
                        model.insert(source, when);
                    } else if *what == 3 && gap % 4 == 0 {
                        agenda.reschedule(source, Time::NEVER);
                        model.remove(&source);
                    } else {
                        let when = Time(now.0 + (gap >> shrink));
                        agenda.advance(source, when);
                        let pending = model.entry(source).or_insert(when);
                        *pending = when.min(*pending);
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_after_the_end_is_handed_out_and_the_rest_can_still_be_had() {
        for mut agenda in agendas(2) {
            agenda.schedule(EventSource(0), Time(1_000_000));
            agenda.schedule(EventSource(1), Time(3_000_000_000));
            let mut pop = |end| next_by(&mut agenda, end);
            assert_eq!(pop(2_000_000), Some((Time(1_000_000), EventSource(0))));
            assert_eq!(pop(2_000_000), None);
            assert_eq!(pop(2_999_999_999), None);
            agenda.schedule(EventSource(0), Time(2_000_001));
            let mut pop = |end| next_by(&mut agenda, end);
            assert_eq!(pop(4_000_000_000), Some((Time(2_000_001), EventSource(0))));
            assert_eq!(pop(4_000_000_000), Some((Time(3_000_000_000), EventSource(1))));
        }
    }

    #[test]
    fn simultaneous_wake_ups_come_in_the_order_of_their_sources_at_any_number_of_sources() {
        for sources in [1, 2, 3, 63, 64, 65, tournament::MOST] {
            for mut agenda in agendas(sources) {
                let all = 0..sources as u32;
                all.clone().rev().for_each(|it| agenda.schedule(EventSource(it), Time(5_000)));
                let woken = std::iter::from_fn(|| next_by(&mut agenda, 5_000));
                assert!(woken.map(|(_, source)| source.0).eq(all), "{sources} sources");
            }
        }
    }
}
