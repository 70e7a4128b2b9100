//! Which stations of a channel are kept together, as they have sensed the same.

use super::Channel;
use super::rates::ModeChoice;
use super::sensing::Sensing;
use super::station::Station;
use crate::{Packet, radio};
use units::Time;

impl<P: Packet> Channel<P> {
    /// Whether every station senses every other one and decodes what it may send.
    pub(super) fn hear_all(&self) -> bool {
        let Some(radio) = self.settings.radio else {
            return true;
        };
        let modes = |station: usize| match self.choice(station) {
            ModeChoice::Fixed(mode) => [mode, self.settings.broadcast],
            ModeChoice::Arf | ModeChoice::Ideal(_) => [self.phy.modes.len() - 1; 2],
        };
        let hears = |from: usize, to: usize| {
            self.power(from, to) >= radio::ratio(radio.sense_dbm)
                && modes(from).into_iter().all(|mode| self.decodes(from, to, mode))
        };
        let all = || 0..self.stations.len();
        all().all(|from| all().all(|to| to == from || hears(from, to)))
    }

    /// What a station senses.
    pub(super) fn sensing(&self, station: usize) -> &Sensing {
        match self.stations[station].together {
            Some(_) => &self.together.sensing,
            None => &self.stations[station].sensing,
        }
    }

    /// From now on `station` senses and counts for itself, if it did not before; it sends at
    /// `sends_at`, if that is known.
    pub(super) fn part(&mut self, station: usize, sends_at: Time) {
        let own = &mut self.stations[station];
        if let Some(end) = own.together.take() {
            (own.sensing, own.slots) = (self.together.sensing, self.together.left(end));
            self.sends_at[station] = sends_at;
            let place = self.apart.partition_point(|other| *other < station);
            self.apart.insert(place, station);
        }
    }

    /// Puts the stations together that sense the same, after what happened at `now`.
    pub(super) fn gather(&mut self, now: Time) {
        if !self.all_hear {
            return;
        }
        let Channel { apart, together, stations, sends_at, phy, .. } = self;
        apart.retain(|&number| {
            let Station { sensing, slots, waiting, .. } = stations[number];
            if sensing.is_engaged() {
                return true;
            }
            let sends = waiting > 0;
            let usual = if sends { sensing.ends(slots.into(), phy) } else { Time::NEVER };
            let differs = sends_at[number] != usual || !sensing.is_like(&together.sensing, now);
            if !differs {
                stations[number].together = Some(together.join(number, slots, sends));
            }
            differs
        });
    }

    /// From now on every station senses and counts for itself. Who senses one that sends stays the
    /// same until it sends again.
    pub(super) fn disperse(&mut self) {
        if !self.all_hear {
            return;
        }
        while let Some((station, at)) = self.together.take_before(Time::NEVER, &self.phy) {
            self.part(station, at);
        }
        self.together.dissolve();
        for station in 0..self.stations.len() {
            self.part(station, Time::NEVER);
            let others = (0..self.stations.len()).filter(|other| *other != station);
            self.stations[station].hearers = others.map(|other| other as u16).collect();
        }
        self.all_hear = false;
    }
}
