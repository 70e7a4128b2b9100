//! The stations of a channel that share one sensing state, because they have sensed the same.

use super::Channel;
use super::rates::ModeChoice;
use super::sensing::Sensing;
use super::together::Together;
use crate::radio::{self, Threshold};
use crate::{Packet, Position};
use units::Time;

impl<P: Packet> Channel<P> {
    /// Whether all stations certainly sense and decode each other, judged by the diagonal of their
    /// bounding rectangle.
    pub(super) fn hear_all(&self) -> bool {
        let Some(radio) = self.settings.radio else {
            return true;
        };
        let x = self.stations.iter().map(|station| station.settings.position.x);
        let y = self.stations.iter().map(|station| station.settings.position.y);
        let (low, high) = (
            Position { x: least(x.clone()), y: least(y.clone()) },
            Position { x: -least(x.map(|x| -x)), y: -least(y.map(|y| -y)) },
        );
        let power = radio::ratio(radio.received_dbm(low, high));
        let decoded = |mode: usize| self.thresholds[mode].is_exceeded_by(power / self.noise);
        let heard = Threshold::new(radio.sense_dbm).is_exceeded_by(power);
        heard
            && (0..self.stations.len()).all(|station| match self.choice(station) {
                ModeChoice::Fixed(mode) => decoded(mode) && decoded(self.settings.broadcast),
                ModeChoice::Arf | ModeChoice::Ideal(_) => (0..self.phy.modes.len()).all(decoded),
            })
    }

    /// Stations moved: they may stop sharing a sensing state, or share one again.
    pub(super) fn regroup(&mut self, now: Time) {
        match self.hear_all() {
            false => self.disperse(),
            // Not while a frame is on the air: some stations may not have sensed its beginning.
            true if !self.all_hear && self.exchanges.is_empty() => {
                (self.all_hear, self.together) = (true, Together::new());
                self.gather(now);
            }
            true => {}
        }
    }

    /// The sensing state of a station.
    pub(super) fn sensing(&self, station: usize) -> &Sensing {
        match self.stations[station].together {
            Some(_) => &self.together.sensing,
            None => &self.stations[station].sensing,
        }
    }

    /// Gives `station` its own sensing state and backoff, if it shared them; it sends at
    /// `sends_at`, if that is known.
    pub(super) fn part(&mut self, station: usize, sends_at: Time) {
        let own = &mut self.stations[station];
        if let Some(end) = own.together.take() {
            (own.sensing, own.slots) = (self.together.sensing, self.together.left(end));
            self.sends_at[station] = sends_at;
            let place = self.apart.partition_point(|other| usize::from(*other) < station);
            self.apart.insert(place, station as u16);
        }
    }

    /// Lets stations with the same state share it, after the events at `now`.
    pub(super) fn gather(&mut self, now: Time) {
        if self.apart.len() <= self.exchanges.len() || !self.all_hear {
            return; // there are at most those whose exchanges are under way
        }
        let Channel { apart, together, stations, sends_at, phy, .. } = self;
        apart.retain(|number| {
            let number = usize::from(*number);
            let own = &mut stations[number];
            if !own.sensing.is_like(&together.sensing, now) {
                return true;
            }
            let sends = own.waiting > 0;
            let usual = if sends { own.sensing.ends(own.slots.into(), phy) } else { Time::NEVER };
            let differs = sends_at[number] != usual;
            if !differs {
                own.together = Some(together.join(number, own.slots, sends));
            }
            differs
        });
    }

    /// Gives every station its own sensing state and backoff. The stations that sense a sender stay
    /// the same until it sends again.
    pub(super) fn disperse(&mut self) {
        if !self.all_hear {
            return;
        }
        self.disturb_alone();
        while let Some((station, at)) = self.together.take_before(Time::NEVER, &self.phy) {
            self.part(station, at);
        }
        self.together.dissolve();
        for station in 0..self.stations.len() {
            self.part(station, Time::NEVER);
            let others = (0..self.stations.len()).filter(|other| *other != station);
            self.hearers[station] = others.map(|other| other as u16).collect();
        }
        self.all_hear = false;
    }
}

fn least(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(f64::INFINITY, f64::min)
}
