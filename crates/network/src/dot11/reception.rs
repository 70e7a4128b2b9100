//! Reception: which packets of a transmission its receiver receives.

use super::Channel;
use super::channel::{Exchange, Stage};
use crate::radio::LastReception;
use crate::{Packet, Rng};

impl<P: Packet> Channel<P> {
    /// Adds up the interference between the exchange at `index`, which begins to send, and all
    /// others.
    pub(super) fn interfere(&mut self, index: usize) {
        if self.exchanges.len() == 1 {
            return; // mostly
        }
        let mut exchanges = core::mem::take(&mut self.exchanges);
        let (others_before, rest) = exchanges.split_at_mut(index);
        if let [own, others_after @ ..] = rest {
            for other in others_before.iter_mut().chain(others_after) {
                self.disturb(own, other);
                self.disturb(other, own);
            }
        }
        self.exchanges = exchanges;
    }

    /// Adds what the receiver of `victim` hears of the sender of `by`, if both send.
    #[inline(always)] // in a collision it runs for each pair
    fn disturb(&self, by: &Exchange, victim: &mut Exchange) {
        if let (Some(sender), Some(receiver)) = (by.sender(), victim.receiver()) {
            match sender == receiver {
                true => victim.deaf = true,
                false => victim.interference += self.power(sender, receiver),
            }
        }
    }

    /// Probability that `station` receives this many bytes from `sender` with this interference.
    #[inline] // runs twice for every frame
    pub(super) fn received(
        &self,
        sender: usize,
        station: usize,
        interference: f64,
        mode: usize,
        bytes: u32,
        last: &LastReception,
    ) -> f64 {
        if self.settings.radio.is_none() {
            return f64::from(u8::from(interference == 0.0));
        }
        let ratio = self.power(sender, station) / (self.noise + interference);
        if self.certain[mode].is_exceeded_by(ratio) {
            return 1.0; // mostly
        }
        last.received(ratio, self.phy.modes[mode].threshold_db, bytes)
    }

    /// Whether the present receiver receives the frame that ends now.
    #[inline(always)] // runs twice for every frame
    pub(super) fn arrives(&self, exchange: &Exchange, bytes: u32, rng: &mut dyn Rng) -> bool {
        let (Some(from), Some(to)) = (exchange.sender(), exchange.receiver()) else {
            return false;
        };
        if self.settings.radio.is_none() && exchange.interference == 0.0 {
            return !exchange.deaf; // mostly
        }
        let data = exchange.stage == Stage::Data;
        let mode = if data { exchange.mode } else { 0 };
        let last = &self.links[exchange.link as usize].last[usize::from(data)];
        let received = self.received(from, to, exchange.interference, mode, bytes, last);
        !exchange.deaf && (received >= 1.0 || rng.uniform() < received)
    }

    /// Decides which packets of an exchange are received. Returns whether any is, in which case the
    /// receiver sends an acknowledgement.
    #[inline(always)] // runs for every frame
    pub(super) fn receive(&mut self, exchange: &Exchange, rng: &mut dyn Rng) -> bool {
        let link = exchange.link as usize;
        if exchange.packets == 1
            && let Some(front) = self.links[link].next()
        {
            let bytes = self.phy.framed(front.packet.bytes());
            let received = !front.doomed && self.arrives(exchange, bytes, rng);
            self.links[link].queue[0].received |= received;
            return received;
        }
        let (mut left, mut any, mut at) = (exchange.packets, false, 0);
        while left > 0
            && let Some(waiting) = self.links[link].queue.get(at)
        {
            at += 1;
            if waiting.done {
                continue;
            }
            left -= 1;
            let bytes = self.phy.framed(waiting.packet.bytes());
            if !waiting.doomed && self.arrives(exchange, bytes, rng) {
                self.links[link].queue[at - 1].received = true;
                any = true;
            }
        }
        any
    }
}
