//! A station's backoff: when it may send (IEEE 802.11-2012 §9.3.4).
//!
//! Slots are never ticked. A station knows the start of its count. The number of slots counted when
//! the medium becomes busy follows from the time. The time at which it will send is known from the
//! moment the medium becomes idle.

use super::phy::Phy;
use super::sensing::Sensing;
use crate::host::HostQueue;
use crate::shared::{self, Counters};
use crate::{Packet, Rng};
use units::{Span, Time};

/// Length of a burst of noise: about that of seven attempts with their backoffs. A packet whose
/// first attempt begins within a burst is lost.
const BURST: Span = Span::millis(20);

/// The state of one station.
pub(super) struct Station<P> {
    pub(super) settings: shared::Station,
    /// The station's own fixed mode, if it has one.
    pub(super) mode: Option<usize>,
    pub(super) host: HostQueue<P>,
    pub(super) counters: Counters,
    /// Transmissions in each mode.
    pub(super) sent_in: Vec<u64>,
    /// Numbers of its links.
    pub(super) links: Vec<u32>,
    /// Whether positions have changed since its hearers were recorded.
    pub(super) moved: bool,
    /// Packets in its links, held by the driver.
    pub(super) waiting: u32,
    /// The station's sensing state; stale while it is [`Station::together`] with others.
    pub(super) sensing: Sensing,
    /// While the station shares the sensing state of others: the count at which its backoff ends.
    pub(super) together: Option<u64>,
    /// Slots left of its backoff when it began to count.
    pub(super) slots: u32,
    /// Largest backoff of the next attempt.
    cw: u32,
    /// When the next burst of noise comes.
    pub(super) noise_at: Time,
}

impl<P: Packet> Station<P> {
    pub(super) fn new(settings: shared::Station, phy: &Phy) -> Self {
        Station {
            host: HostQueue::new(settings.queue.clone()),
            mode: settings.rate.and_then(|rate| phy.mode(rate)),
            settings,
            counters: Counters::default(),
            sent_in: vec![0; phy.modes.len()],
            links: Vec::new(),
            moved: true,
            waiting: 0,
            sensing: Sensing::IDLE,
            together: None,
            slots: 0,
            cw: phy.cw.0,
            noise_at: Time::ZERO,
        }
    }

    /// When it sends if nothing happens before; `Time::NEVER` if it has no packet or waits for the
    /// medium.
    pub(super) fn sends_at(&self, now: Time, phy: &Phy) -> Time {
        match self.waiting {
            0 => Time::NEVER,
            _ => self.sensing.ends(self.slots.into(), phy).max(now),
        }
    }

    pub(super) fn draw(&mut self, rng: &mut dyn Rng) {
        self.slots = (rng.uniform() * f64::from(self.cw + 1)) as u32;
    }

    /// The first packet arrived. If the medium is busy and the backoff is used up, draws a new
    /// backoff.
    pub(super) fn redraw(&mut self, rng: &mut dyn Rng) {
        if self.slots == 0 && self.sensing.is_busy() && !self.sensing.is_engaged() {
            self.draw(rng);
        }
    }

    /// The station senses a new transmission and stops counting. If it begins to send within this
    /// slot, at `sends_at`, it has not noticed.
    pub(super) fn sense(&mut self, now: Time, sends_at: &mut Time, phy: &Phy) {
        if *sends_at >= now + phy.slot {
            *sends_at = Time::NEVER;
        }
        let counted = self.sensing.sense(now, phy);
        self.slots = self.slots.saturating_sub(counted);
    }

    /// A transmission that the station sensed has ended. After the last one, the medium is idle for
    /// it. One that has not noticed sends at `sends_at`, within the slot.
    pub(super) fn settle(&mut self, now: Time, sends_at: &mut Time, phy: &Phy) {
        self.sensing.settle(now, phy);
        if *sends_at == Time::NEVER {
            *sends_at = self.sends_at(now, phy);
        }
    }

    /// Begins to send. Counted slots stay counted.
    pub(super) fn begin(&mut self, now: Time, phy: &Phy) {
        let counted = self.sensing.begin(now, phy);
        self.slots = self.slots.saturating_sub(counted);
    }

    /// Ends the station's exchange; `lost` says that no acknowledgement came. Draws a new backoff,
    /// whose count starts `ifs` later unless a sensed transmission has already set the start.
    pub(super) fn resolve(
        &mut self,
        now: Time,
        lost: bool,
        ifs: Span,
        phy: &Phy,
        rng: &mut dyn Rng,
    ) {
        self.draw_after(lost, phy, rng);
        self.sensing.resolve(now, ifs);
    }

    /// Draws the backoff after an exchange.
    pub(super) fn draw_after(&mut self, lost: bool, phy: &Phy, rng: &mut dyn Rng) {
        self.cw = if lost { (2 * self.cw + 1).min(phy.cw.1) } else { phy.cw.0 };
        self.draw(rng);
    }

    /// Whether a packet whose first attempt begins now will be lost whatever the attempts.
    #[inline(always)] // runs for every packet
    pub(super) fn dooms(&mut self, now: Time, rng: &mut dyn Rng) -> bool {
        let mut noisy = false;
        while let Some(gap) = self.settings.noise.filter(|_| self.noise_at <= now) {
            noisy |= now.since(self.noise_at) <= BURST;
            self.noise_at = self.noise_at + exponential(gap, rng) + Span(1);
        }
        noisy || (self.settings.residual_loss > 0.0 && rng.uniform() < self.settings.residual_loss)
    }
}

/// An exponentially distributed time.
pub(super) fn exponential(mean: Span, rng: &mut dyn Rng) -> Span {
    Span((-libm::log1p(-rng.uniform()) * mean.0 as f64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dot11::{AfterCollision, PhyKind};
    use crate::testing::{Always, Never, TestPacket};

    /// A station with a packet to send and `slots` of backoff, since `Time::ZERO`.
    fn waiting(phy: &Phy, slots: u32) -> Station<TestPacket> {
        let mut station = Station::new(shared::Station::default(), phy);
        (station.waiting, station.slots) = (1, slots);
        station
    }

    #[test]
    fn counting_stops_while_the_medium_is_busy_and_goes_on_after_an_interframe_space() {
        let phy = Phy::new(PhyKind::A);
        let mut station = waiting(&phy, 5);
        let at = |us: u64| Time(us * 1_000);
        let mut sends_at = station.sends_at(at(0), &phy);
        assert_eq!(sends_at, at(45));
        station.sense(at(20), &mut sends_at, &phy); // two slots are over
        assert_eq!(sends_at, Time::NEVER);
        assert_eq!(station.sends_at(at(20), &phy), Time::NEVER);
        station.sensing.leave();
        station.sensing.settle(at(100), &phy);
        assert_eq!(station.sends_at(at(100), &phy), at(100 + 34 + 3 * 9));
    }

    #[test]
    fn who_would_begin_within_a_slot_has_not_noticed_that_another_one_has() {
        let phy = Phy::new(PhyKind::A);
        let at = |us: u64| Time(us * 1_000);
        let after = |senses_at| {
            let mut sends_at = at(27);
            waiting(&phy, 3).sense(at(senses_at), &mut sends_at, &phy);
            sends_at
        };
        assert_eq!((after(19), after(18)), (at(27), Time::NEVER));
    }

    #[test]
    fn after_what_it_cannot_decode_a_station_waits_longer_and_for_a_reservation_until_it_ends() {
        let phy = Phy::new(PhyKind::A);
        let at = |us: u64| Time(us * 1_000);
        let counts_from = |nav: Option<Time>| {
            let mut station = waiting(&phy, 0);
            station.sense(at(0), &mut { Time::NEVER }, &phy);
            station.sensing.heard(nav);
            station.sensing.leave();
            station.sensing.settle(at(200), &phy);
            station.sends_at(at(200), &phy)
        };
        assert_eq!(counts_from(Some(at(100))), at(234));
        assert_eq!(counts_from(Some(at(244))), at(244 + 34));
        assert_eq!(counts_from(None), at(200 + 94));
    }

    #[test]
    fn a_collision_costs_eifs_or_difs_and_a_frame_that_is_disturbed_later_costs_eifs() {
        let at = |us: u64| Time(us * 1_000);
        let counts_from = |after_collision, second: u64| {
            let mut phy = Phy::new(PhyKind::A);
            phy.after_collision = after_collision;
            let mut station = waiting(&phy, 0);
            for begins in [0, second] {
                station.sense(at(begins), &mut { Time::NEVER }, &phy);
            }
            for ends in [200, 210] {
                station.sensing.heard(Some(at(244)));
                station.sensing.leave();
                station.sensing.settle(at(ends), &phy);
            }
            station.sends_at(at(210), &phy)
        };
        assert_eq!(counts_from(AfterCollision::Eifs, 8), at(210 + 94));
        assert_eq!(counts_from(AfterCollision::Difs, 8), at(210 + 34));
        assert_eq!(counts_from(AfterCollision::Difs, 9), at(210 + 94));
    }

    #[test]
    fn the_window_doubles_after_a_loss_up_to_its_bound_and_is_reset_by_a_success() {
        let phy = Phy::new(PhyKind::A);
        let mut station = waiting(&phy, 0);
        let mut drawn = |lost: bool| {
            station.resolve(Time::ZERO, lost, Span::ZERO, &phy, &mut Never);
            station.slots
        };
        let grown: Vec<u32> = (0..8).map(|_| drawn(true)).collect();
        assert_eq!(grown, [31, 63, 127, 255, 511, 1023, 1023, 1023]);
        assert_eq!(drawn(false), 15);
        station.resolve(Time::ZERO, true, Span::ZERO, &phy, &mut Always);
        assert_eq!(station.slots, 0);
    }
}
