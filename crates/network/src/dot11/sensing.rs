//! A station's sensing of the medium, and the start of its backoff count.

use super::phy::{AfterCollision, Phy};
use units::{Span, Time};

/// Reception of the signals that a station senses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Reception {
    /// At most one transmission.
    #[default]
    Clear,
    /// Several transmissions that began within one slot.
    Collision,
    /// A signal too weak to decode, or disturbed after it had begun.
    Undecoded,
}

/// The sensing state of a station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sensing {
    /// Number of transmissions that it senses now.
    busy: u32,
    /// Since when it has sensed a transmission.
    busy_since: Time,
    /// The reception of what it senses, or sensed last.
    reception: Reception,
    /// The station sends, or waits for the answer.
    engaged: bool,
    /// NAV: end of the reservation of the medium by decoded frames.
    nav: Time,
    /// Start of its slot count, past or future; never while the medium is busy.
    counts_from: Time,
}

impl Sensing {
    /// An idle medium, from the beginning of time.
    pub(super) const IDLE: Sensing = Sensing {
        busy: 0,
        busy_since: Time::ZERO,
        reception: Reception::Clear,
        engaged: false,
        nav: Time::ZERO,
        counts_from: Time::ZERO,
    };

    /// Whether the medium is busy.
    pub(super) fn is_busy(&self) -> bool {
        self.busy > 0
    }

    /// Whether its NAV is set beyond `now`.
    pub(super) fn is_reserved(&self, now: Time) -> bool {
        self.nav > now
    }

    /// Whether the station sends, or waits for the answer.
    pub(super) fn is_engaged(&self) -> bool {
        self.engaged
    }

    /// When a backoff of this many slots ends, if no transmission begins before and the station is
    /// free.
    pub(super) fn ends(&self, slots: u64, phy: &Phy) -> Time {
        debug_assert!(self.busy == 0 || self.counts_from == Time::NEVER, "it counts meanwhile");
        if self.engaged || self.counts_from == Time::NEVER {
            return Time::NEVER;
        }
        self.counts_from + Span(phy.slot.0 * slots)
    }

    /// The station senses a new transmission. Returns the slots that it has counted before.
    #[inline] // runs for every frame
    pub(super) fn sense(&mut self, now: Time, phy: &Phy) -> u32 {
        let mut counted = 0;
        if self.busy == 0 {
            (self.busy_since, self.reception) = (now, Reception::Clear);
            counted = self.stop(now, phy);
        } else if now < self.busy_since + phy.slot {
            self.disturb(Reception::Collision);
        } else {
            self.disturb(Reception::Undecoded);
        }
        self.busy += 1;
        counted
    }

    /// Stops the backoff counter. Returns the slots that it has counted.
    fn stop(&mut self, now: Time, phy: &Phy) -> u32 {
        if now < self.counts_from {
            self.counts_from = Time::NEVER;
            return 0; // the count has not begun
        }
        let counted = now.since(self.counts_from).0 / phy.slot.0;
        self.counts_from = Time::NEVER;
        u32::try_from(counted).unwrap_or(u32::MAX)
    }

    /// Begins to send. Frames that arrive meanwhile are lost, but do not count as undecoded.
    /// Returns the slots that the station has counted.
    pub(super) fn begin(&mut self, now: Time, phy: &Phy) -> u32 {
        (self.engaged, self.reception) = (true, Reception::Clear);
        self.stop(now, phy)
    }

    /// Whether it has heard a single transmission since the medium became busy.
    pub(super) fn hears_clearly(&self) -> bool {
        self.reception == Reception::Clear && !self.engaged
    }

    /// The state of the sender of the only frame that is on the air, where this is the state of
    /// all others; `answered` says that the frame is an answer to it.
    pub(super) fn of_sender(&self, answered: bool) -> Sensing {
        let busy = u32::from(answered);
        Sensing { busy, engaged: true, reception: Reception::Clear, ..*self }
    }

    /// Marks the present reception as undecodable for reason `by`, unless the station sends itself.
    /// The first reason counts.
    fn disturb(&mut self, by: Reception) {
        if self.hears_clearly() {
            self.reception = by;
        }
    }

    /// A frame ended: it set our NAV to `nav`, or we could not decode it.
    pub(super) fn heard(&mut self, nav: Option<Time>) {
        match nav {
            Some(nav) if self.hears_clearly() => self.nav = self.nav.max(nav),
            _ => self.disturb(Reception::Undecoded),
        }
    }

    /// A sensed transmission ended. [`Sensing::settle`] then takes effect if no other one follows.
    pub(super) fn leave(&mut self) {
        self.busy -= 1;
    }

    /// If the medium is idle now, restarts the count after an interframe space.
    pub(super) fn settle(&mut self, now: Time, phy: &Phy) {
        if self.busy == 0 {
            self.counts_from = match core::mem::take(&mut self.reception) {
                Reception::Undecoded => now + phy.eifs(),
                Reception::Collision if phy.after_collision == AfterCollision::Eifs => {
                    now + phy.eifs()
                }
                Reception::Clear | Reception::Collision => now.max(self.nav) + phy.difs(),
            };
        }
    }

    /// Ends the station's exchange. It counts from `ifs` later, unless a sensed transmission has
    /// already set the start.
    pub(super) fn resolve(&mut self, now: Time, ifs: Span) {
        self.engaged = false;
        if self.busy == 0 {
            self.counts_from = match self.counts_from {
                Time::NEVER => now + ifs,
                from => from.max(now),
            };
        }
    }

    /// Whether it equals `other` from `now` on, as long as both sense the same.
    pub(super) fn is_like(&self, other: &Sensing, now: Time) -> bool {
        let reserved = |sensing: &Sensing| sensing.nav.max(now);
        let since = |sensing: &Sensing| if sensing.busy > 0 { sensing.busy_since } else { now };
        // What mostly differs comes first.
        self.engaged == other.engaged
            && self.counts_from == other.counts_from
            && self.busy == other.busy
            && self.reception == other.reception
            && reserved(self) == reserved(other)
            && since(self) == since(other)
    }
}
