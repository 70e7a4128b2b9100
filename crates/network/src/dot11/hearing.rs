//! What the stations of a channel hear of a transmission: its beginning, its end, and the
//! reservation that it carries.

use super::Channel;
use super::channel::Exchange;
use crate::Packet;
use units::Time;

impl<P: Packet> Channel<P> {
    /// Notifies the stations that sense `sender` that it begins to send.
    pub(super) fn tell(&mut self, now: Time, sender: usize) {
        if self.all_hear {
            while let Some((station, at)) =
                self.together.take_before(now + self.phy.slot, &self.phy)
            {
                self.part(station, at); // it begins within the slot, without having sensed `sender`
            }
            self.together.sense(now, &self.phy);
        } else {
            self.listen(sender);
        }
        for at in 0..self.hearers(sender) {
            let hearer = self.hearer(sender, at);
            if hearer != sender {
                self.sense(now, hearer);
            }
        }
    }

    /// Number of indices of [`Channel::hearer`] for `sender`.
    pub(super) fn hearers(&self, sender: usize) -> usize {
        match self.all_hear {
            true => self.apart.len(),
            false => self.stations[sender].hearers.len(),
        }
    }

    /// A station in `apart` that senses `sender`, or `sender`.
    pub(super) fn hearer(&self, sender: usize, at: usize) -> usize {
        match self.all_hear {
            true => self.apart[at],
            false => usize::from(self.stations[sender].hearers[at]),
        }
    }

    fn sense(&mut self, now: Time, hearer: usize) {
        let committed = self.stations[hearer].sense(now, self.sends_at[hearer], &self.phy);
        if !committed {
            self.sends_at[hearer] = Time::NEVER;
        }
    }

    /// A transmission that `hearer` sensed has ended. After the last one, the medium is idle for
    /// it.
    pub(super) fn settle(&mut self, now: Time, hearer: usize) {
        self.stations[hearer].sensing.settle(now, &self.phy);
        self.schedule(now, hearer); // an unnoticed transmission: it sends within the slot
    }

    /// The stations that sense `sender` stop sensing it.
    fn leave(&mut self, sender: usize) {
        if self.all_hear {
            self.together.sensing.leave();
        }
        for at in 0..self.hearers(sender) {
            let hearer = self.hearer(sender, at);
            if hearer != sender {
                self.stations[hearer].sensing.leave();
            }
        }
    }

    /// The transmission of `sender` ends without an answer.
    pub(super) fn clear(&mut self, now: Time, sender: usize) {
        if self.all_hear {
            self.together.sensing.leave();
            self.together.sensing.settle(now, &self.phy);
        }
        for at in 0..self.hearers(sender) {
            let hearer = self.hearer(sender, at);
            if hearer != sender {
                self.stations[hearer].sensing.leave();
                self.settle(now, hearer);
            }
        }
    }

    /// Records the stations that sense `sender`, which begins to send now. If the frame that it
    /// answers is still on the air, the stations that were notified of that frame are notified of
    /// this one.
    fn listen(&mut self, sender: usize) {
        let sends = |exchange: &&Exchange| exchange.sender() == Some(sender);
        let alone = self.exchanges.iter().filter(sends).count() <= 1;
        if !alone || !core::mem::take(&mut self.stations[sender].moved) {
            return;
        }
        let mut hearers = core::mem::take(&mut self.stations[sender].hearers);
        let heard = |to: &usize| *to != sender && self.power(sender, *to) >= self.least_power;
        hearers.clear();
        hearers.extend((0..self.stations.len()).filter(heard).map(|to| to as u16));
        self.stations[sender].hearers = hearers;
    }

    /// The answer of `to` follows the data of `from` before any station can begin: for stations
    /// that sense both, the medium stays busy.
    pub(super) fn answer(&mut self, now: Time, from: usize, to: usize) {
        self.leave(from);
        self.tell(now, to);
        if self.stations[to].together.is_none() {
            self.sense(now, to);
        }
        if self.all_hear {
            return; // the answer too
        }
        for at in 0..self.hearers(from) {
            self.settle(now, self.hearer(from, at));
        }
    }

    /// Stations that sense the data of an exchange set their NAV to `reserved`, or fail to decode
    /// it.
    pub(super) fn overhear(&mut self, exchange: &Exchange, reserved: Time) {
        if self.all_hear {
            self.together.sensing.heard(Some(reserved));
        }
        for at in 0..self.hearers(exchange.from) {
            let hearer = self.hearer(exchange.from, at);
            if hearer != exchange.from {
                let decoded = self.all_hear || self.decodes(exchange.from, hearer, exchange.mode);
                self.stations[hearer].sensing.heard(decoded.then_some(reserved));
            }
        }
    }

    /// Whether `station` decodes at least half of the frames of `sender` without interference.
    fn decodes(&self, sender: usize, station: usize, mode: usize) -> bool {
        let snr = self.power(sender, station) / self.noise;
        self.settings.radio.is_none() || self.thresholds[mode].is_met_by(snr)
    }
}
