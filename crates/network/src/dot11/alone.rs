//! Frames that nothing disturbs. Where all stations hear each other and share one sensing state,
//! most frames begin more than a slot before any other station would. Until such a frame and its
//! answer are over, all other stations wait, and afterwards its sender senses the same as they. So
//! the sender need not part from them: one exchange and the shared state say everything.

use super::Channel;
use super::channel::{ACK_BYTES, End, Stage};
use crate::{Packet, Rng};
use units::{Span, Time};

impl<P: Packet> Channel<P> {
    /// If a single station begins to send now, and no exchange is under way, its exchange begins
    /// alone.
    #[inline]
    pub(super) fn begins_alone(&mut self, now: Time, rng: &mut dyn Rng) -> bool {
        if !self.exchanges.is_empty() {
            return false;
        }
        let Some((station, at)) = self.together.take_before(now + Span(1), &self.phy) else {
            return false;
        };
        if self.apart.is_empty()
            && self.together.sends_at(&self.phy) >= now + self.phy.slot
            && let Some(link) = self.oldest_link(station)
            && self.links[link as usize].to.is_some()
        {
            let exchange = self.first_stage(now, link, rng);
            self.next_wake = exchange.until;
            self.alone = Some(exchange);
            self.together.sense(now, &self.phy);
            return true;
        }
        self.part(station, at);
        false
    }

    /// A station has begun to send. If it is the only one that is not with the others any more,
    /// nothing disturbs its exchange.
    pub(super) fn rejoin_alone(&mut self, now: Time) {
        if let ([exchange], [only]) = (&*self.exchanges, &*self.apart)
            && exchange.to.is_some()
            && usize::from(*only) == exchange.from
            && self.all_hear
            && !self.together.sensing.is_reserved(now)
            && !self.stations[exchange.from].sensing.is_reserved(now)
        {
            self.alone = self.exchanges.pop();
            self.apart.clear();
        }
    }

    /// The data of an exchange alone ends.
    #[inline(never)] // does not save what the next stage needs
    pub(super) fn data_ends_alone(&mut self, now: Time, rng: &mut dyn Rng) {
        debug_assert!(self.exchanges.is_empty() && self.apart.is_empty(), "others send or differ");
        let Some(exchange) = self.alone else {
            return;
        };
        if !self.receive(&exchange, rng) {
            return self.falls_silent_alone(now);
        }
        let until = self.answer_ends_at(now, &exchange);
        self.together.sensing.heard(Some(until));
        self.together.sensing.leave();
        self.together.sense(now, &self.phy);
        if let Some(alone) = &mut self.alone {
            (alone.stage, alone.until) = (Stage::Answer, until);
        }
        self.next_wake = until;
        if let Some(to) = exchange.to {
            self.pass_on(exchange.link, to);
        }
    }

    /// The data of an exchange alone ends, and none of it is received.
    #[cold]
    fn falls_silent_alone(&mut self, now: Time) {
        self.disturb_alone();
        self.falls_silent(now, 0);
        self.next_wake = self.first();
    }

    /// The answer of an exchange alone ends.
    #[inline(never)] // does not save what the stage before needs
    pub(super) fn answer_ends_alone(&mut self, now: Time, rng: &mut dyn Rng) {
        debug_assert!(self.exchanges.is_empty() && self.apart.is_empty(), "others send or differ");
        let Some(exchange) = self.alone.take() else {
            return;
        };
        let answered = self.arrives(&exchange, ACK_BYTES, rng);
        self.together.sensing.leave();
        self.together.sensing.settle(now, &self.phy);
        let end = self.take_out(&exchange, answered);
        let station = &mut self.stations[exchange.from];
        station.draw_after(end == End::Lost, &self.phy, rng);
        let sends = station.waiting > 0;
        station.together = Some(self.together.join(exchange.from, station.slots, sends));
        if end == End::Done {
            self.refill(now, &exchange, rng);
        }
        self.next_wake = self.together.sends_at(&self.phy); // no other station differs
    }

    /// Lets the sender of an exchange alone part from the others, because they will no longer sense
    /// the same.
    pub(super) fn disturb_alone(&mut self) {
        let Some(exchange) = self.alone.take() else {
            return;
        };
        // While its data is on the air it senses nothing. It senses the answer to it like all
        // others, whose NAV ends with that answer.
        let sensing = self.together.sensing.of_sender(exchange.stage == Stage::Answer);
        let station = &mut self.stations[exchange.from];
        (station.sensing, station.slots, station.together) = (sensing, 0, None);
        self.sends_at[exchange.from] = Time::NEVER;
        self.apart.push(exchange.from as u16); // it is the only one
        self.exchanges.push(exchange);
    }

    /// The first packet of a station that shares the state of others.
    #[inline] // runs for many packets
    pub(super) fn arrival_together(&mut self, now: Time, from: usize, end: u64, rng: &mut dyn Rng) {
        let Channel { together, stations, phy, .. } = self;
        let station = &mut stations[from];
        station.slots = together.left(end);
        let busy = together.sensing.is_busy();
        if busy && station.slots == 0 {
            station.draw(rng);
        }
        let at = together.sensing.ends(station.slots.into(), phy);
        if at < now {
            self.part(from, Time::NEVER); // its backoff has ended: it sends now
            return;
        }
        station.together = Some(together.join(from, station.slots, true));
        self.next_wake = self.next_wake.min(at);
    }
}
