//! Impairments of a link: random loss, outages, jitter, reordering, copies.

use super::{LinkSettings, Passage};
use crate::Rng;
use crate::loss::{Loss, LossPlace, LossProcess};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::VecDeque;
use units::{InvalidParameter, PROBABILITY, Span, Time};

/// Packets that are held back at the end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// Probability that a packet is held back.
    #[schemars(extend("range" = PROBABILITY.right))]
    pub probability: f64,
    /// How long such a packet is held back.
    pub delay: Span,
}

impl Reorder {
    /// Checks the parameters.
    ///
    /// # Errors
    /// The probability is outside its range.
    pub fn check(&self) -> Result<(), InvalidParameter> {
        PROBABILITY.check("probability", &self.probability)
    }
}

/// The impairments of a link, and the packets held by them.
pub(super) struct Impairments<P> {
    loss: Option<LossProcess>,
    /// Whether loss on the line is drawn when a packet comes out. Otherwise it is drawn when the
    /// packet is offered; its ordinal is then known, because packets inside are never dropped,
    /// copied or overtaken.
    late_loss: bool,
    up: bool,
    /// Packets that came out so far, and the ordinals of those inside that will be lost instead.
    delivered: u64,
    doomed: VecDeque<u64>,
    /// Packets lost at random, or because the link was down.
    pub(super) losses: u64,
    /// Largest extra delay of a packet.
    jitter: Span,
    reorder: Option<Reorder>,
    /// Probability that a packet comes out twice.
    duplicate: f64,
    /// Packets held back, in the order in which they come out; all are held equally long.
    late: VecDeque<(Time, P)>,
    /// A packet whose copy has just come out.
    original: Option<P>,
}

impl<P: Copy> Impairments<P> {
    /// The impairments of `settings`; `departure` says that the queue decides on departure.
    pub(super) fn new(settings: &LinkSettings, departure: bool) -> Self {
        let &LinkSettings { loss, reorder, duplicate, jitter, .. } = settings;
        Impairments {
            loss: loss.map(LossProcess::new),
            late_loss: departure || reorder.is_some() || duplicate > 0.0,
            up: true,
            delivered: 0,
            doomed: VecDeque::new(),
            losses: 0,
            jitter,
            reorder,
            duplicate,
            late: VecDeque::new(),
            original: None,
        }
    }

    /// Whether the link is free of impairments.
    pub(super) fn are_none(&self) -> bool {
        self.loss.is_none() && !self.rearrange() && self.jitter == Span::ZERO
    }

    /// Whether packets may leave the link in another order than its line, or more often.
    pub(super) fn rearrange(&self) -> bool {
        self.reorder.is_some() || self.duplicate > 0.0
    }

    /// Sets a new loss probability, independent for each packet, and whether the link is up.
    pub(super) fn change(&mut self, loss: Option<f64>, up: Option<bool>) {
        if let Some(probability) = loss {
            let new = Loss { probability, place: LossPlace::After, chain: None };
            self.loss.get_or_insert(LossProcess::new(new)).set_probability(probability);
        }
        self.up = up.unwrap_or(self.up);
    }

    /// Whether the link loses a packet that is offered before its queue judges it.
    pub(super) fn lose_before(&mut self, rng: &mut impl Rng) -> bool {
        let lost = !self.up || (self.strikes_at(LossPlace::Before) && self.strikes(rng));
        self.losses += u64::from(lost);
        lost
    }

    /// Whether an offered packet will be lost on the line, if that is drawn now.
    pub(super) fn strikes_early(&mut self, rng: &mut impl Rng) -> bool {
        !self.late_loss && self.strikes_at(LossPlace::After) && self.strikes(rng)
    }

    /// Marks the last offered packet as lost on the line; `inside` packets are on the line.
    pub(super) fn doom(&mut self, inside: u32) {
        self.doomed.push_back(self.delivered + u64::from(inside));
    }

    /// The extra delay of the next packet.
    pub(super) fn jitter(&mut self, rng: &mut impl Rng) -> Span {
        match self.jitter {
            Span::ZERO => Span::ZERO,
            most => Span((rng.uniform() * most.0 as f64) as u64),
        }
    }

    /// The packet whose copy came out last, unless it is held back at `now`.
    pub(super) fn pass_original(&mut self, now: Time, rng: &mut impl Rng) -> Option<Passage<P>> {
        let original = self.original.take()?;
        self.pass_once(now, original, rng)
    }

    /// Passes `packet`, which is at the end of the line at `now`, unless it is held back.
    pub(super) fn pass(&mut self, now: Time, packet: P, rng: &mut impl Rng) -> Option<Passage<P>> {
        self.delivered += 1;
        let doomed = self.doomed.front() == Some(&self.delivered);
        if doomed {
            self.doomed.pop_front();
        }
        let late = self.late_loss && self.strikes_at(LossPlace::After);
        if doomed || (late && self.strikes(rng)) {
            self.losses += 1;
            return Some(Passage::Lost(packet));
        }
        if self.duplicate > 0.0 && rng.uniform() < self.duplicate {
            self.original = Some(packet);
            return Some(Passage::Copy(packet));
        }
        self.pass_once(now, packet, rng)
    }

    /// Passes `packet`, which is not lost and comes out once, unless it is held back.
    fn pass_once(&mut self, now: Time, packet: P, rng: &mut impl Rng) -> Option<Passage<P>> {
        match self.reorder.filter(|reorder| rng.uniform() < reorder.probability) {
            Some(reorder) => {
                self.late.push_back((now + reorder.delay, packet));
                None
            }
            None => Some(Passage::Out(packet)),
        }
    }

    /// A packet that was held back until `now`.
    pub(super) fn take_late(&mut self, now: Time) -> Option<P> {
        self.late.front().filter(|(at, _)| *at <= now)?;
        self.late.pop_front().map(|(_, packet)| packet)
    }

    /// When one of its packets comes out; never while it is empty.
    pub(super) fn due(&self) -> Time {
        match self.original {
            Some(_) => Time::ZERO, // at once
            None => self.late.front().map_or(Time::NEVER, |(at, _)| *at),
        }
    }

    /// Packets that left the line and have not come out yet.
    pub(super) fn carried(&self) -> usize {
        self.late.len() + usize::from(self.original.is_some())
    }

    /// Whether random loss is configured at this place.
    fn strikes_at(&self, place: LossPlace) -> bool {
        self.loss.as_ref().is_some_and(|loss| loss.is(place))
    }

    /// Whether random loss strikes the next packet.
    fn strikes(&mut self, rng: &mut impl Rng) -> bool {
        self.loss.as_mut().is_some_and(|loss| loss.strikes(rng))
    }
}
