//! What the stations of a channel hear of a transmission: its beginning, its end, and the
//! reservation that it carries.

use super::Channel;
use super::channel::Exchange;
use super::phy::Phy;
use super::station::Station;
use crate::Packet;
use units::Time;

impl<P: Packet> Channel<P> {
    /// Notifies the stations that sense `sender` that it begins to send.
    #[inline(always)] // it has one caller
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
        self.each_hearer(sender, |own, sends_at, phy| own.sense(now, sends_at, phy));
    }

    /// Calls `hears` with each station that senses `sender` and has a sensing state of its own, and
    /// with the time at which it sends.
    fn each_hearer(
        &mut self,
        sender: usize,
        mut hears: impl FnMut(&mut Station<P>, &mut Time, &Phy),
    ) {
        let Channel { all_hear, apart, hearers, stations, sends_at, phy, .. } = self;
        let hearers = if *all_hear { apart } else { &hearers[sender] };
        for hearer in hearers.iter().map(|hearer| usize::from(*hearer)) {
            if hearer != sender {
                hears(&mut stations[hearer], &mut sends_at[hearer], phy);
            }
        }
    }

    /// The stations that sense `sender` stop sensing it.
    fn leave(&mut self, sender: usize) {
        if self.all_hear {
            self.together.sensing.leave();
        }
        self.each_hearer(sender, |own, _, _| own.sensing.leave());
    }

    /// The transmission of `sender` ends without an answer.
    #[inline] // runs for many frames
    pub(super) fn clear(&mut self, now: Time, sender: usize) {
        if self.all_hear {
            self.together.sensing.leave();
            self.together.sensing.settle(now, &self.phy);
        }
        self.each_hearer(sender, |own, sends_at, phy| {
            own.sensing.leave();
            own.settle(now, sends_at, phy);
        });
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
        let mut hearers = core::mem::take(&mut self.hearers[sender]);
        let heard = |to: &usize| *to != sender && self.power(sender, *to) >= self.least_power;
        hearers.clear();
        hearers.extend((0..self.stations.len()).filter(heard).map(|to| to as u16));
        self.hearers[sender] = hearers;
    }

    /// The answer of `to` follows the data of `from` before any station can begin: for stations
    /// that sense both, the medium stays busy.
    pub(super) fn answer(&mut self, now: Time, from: usize, to: usize) {
        self.leave(from);
        self.tell(now, to);
        if self.stations[to].together.is_none() {
            self.stations[to].sense(now, &mut self.sends_at[to], &self.phy);
        }
        if !self.all_hear {
            self.each_hearer(from, |own, sends_at, phy| own.settle(now, sends_at, phy));
        }
    }

    /// Stations that sense the data of an exchange set their NAV to `reserved`, or fail to decode
    /// it.
    #[inline] // runs for many frames
    pub(super) fn overhear(&mut self, exchange: &Exchange, reserved: Time) {
        let Exchange { from, mode, .. } = *exchange;
        if self.all_hear {
            self.together.sensing.heard(Some(reserved));
            return self.each_hearer(from, |own, _, _| own.sensing.heard(Some(reserved)));
        }
        for at in 0..self.hearers[from].len() {
            let hearer = usize::from(self.hearers[from][at]);
            let decoded = self.decodes(from, hearer, mode);
            self.stations[hearer].sensing.heard(decoded.then_some(reserved));
        }
    }

    /// Whether `station` decodes at least half of the frames of `sender` without interference.
    fn decodes(&self, sender: usize, station: usize, mode: usize) -> bool {
        let snr = self.power(sender, station) / self.noise;
        self.settings.radio.is_none() || self.thresholds[mode].is_met_by(snr)
    }
}
