//! The media of a plan: which links are lanes of them, and what is counted on each.

use crate::Stream;
use crate::settings::queue;
use network::dot11::{Medium, MediumSettings, Phy, Radio, RateControl, Standard, StationSettings};
use network::{Counters, Frame, Outcome, Place, StationCounters};
use scenario::schema;
use scenario::{Plan, PlanMedium, PlanStation};
use units::{Rate, Time};

/// Among the hops: the first number of a lane. No world has as many links.
pub const LANES: u32 = 3 << 30;

/// dB by which a signal is to exceed the threshold of the mode that the ideal rate control chooses.
const MARGIN_DB: f64 = 2.0;

/// A link that is a part of a medium.
#[derive(Clone, Copy, Debug)]
struct Lane {
    /// Index of the medium, and its lane there.
    medium: u32,
    lane: u32,
    /// The link of the plan that it is.
    planned: u32,
}

/// A medium with its randomness.
struct Channel<F> {
    medium: Medium<F>,
    stream: Stream,
    /// The number of each of its lanes among all.
    lanes: Vec<u32>,
    stations: u32,
}

/// What came out of a medium.
#[derive(Clone, Copy, Debug)]
pub enum Aired<F> {
    /// A packet goes on from the end of a lane.
    Out(F),
    /// The sender of a lane is done with a packet, which is `lost` if it never comes out.
    Done {
        /// Number of the lane.
        lane: u32,
        /// The packet.
        frame: F,
        /// Whether it never comes out.
        lost: bool,
    },
    /// A packet whose sender was done with it never comes out.
    Lost(F),
}

/// The media of a plan.
pub struct Air<F> {
    channels: Vec<Channel<F>>,
    lanes: Vec<Lane>,
    /// What has happened on each lane since the start.
    counts: Vec<Counters>,
    /// Packets in each lane.
    inside: Vec<u64>,
}

impl<F> Default for Air<F> {
    fn default() -> Self {
        Air { channels: Vec::new(), lanes: Vec::new(), counts: Vec::new(), inside: Vec::new() }
    }
}

impl<F: Frame> Air<F> {
    /// The media of `plan` for the run with `seed`.
    pub fn new(plan: &Plan, seed: u64) -> Self {
        let mut air = Air::default();
        for (number, planned) in plan.media.iter().enumerate() {
            let own = plan.links.iter().enumerate().filter_map(|(link, planned)| {
                planned.air.filter(|place| place.medium == number).map(|place| (link, place))
            });
            let (mut ways, mut lanes) = (Vec::new(), Vec::new());
            for (link, place) in own {
                lanes.push(air.lanes.len() as u32);
                let (medium, lane) = (number as u32, ways.len() as u32);
                air.lanes.push(Lane { medium, lane, planned: link as u32 });
                ways.push((place.from, Some(place.to)));
            }
            let stations: Vec<_> =
                planned.stations.iter().map(|station| station_settings(planned, station)).collect();
            let mut stream = Stream::new(seed, "medium", &planned.name, 0);
            let medium = Medium::new(medium_settings(planned), &stations, &ways, &mut stream);
            let stations = stations.len() as u32;
            air.channels.push(Channel { medium, stream, lanes, stations });
        }
        air.counts = vec![Counters::default(); air.lanes.len()];
        air.inside = vec![0; air.lanes.len()];
        air
    }

    /// How many media there are.
    pub fn media(&self) -> u32 {
        self.channels.len() as u32
    }

    /// The lane that a link of the plan is.
    pub fn lane_of(&self, planned: usize) -> Option<u32> {
        let lane = self.lanes.iter().position(|lane| lane.planned as usize == planned)?;
        Some(lane as u32)
    }

    /// The medium of a lane.
    pub fn medium_of(&self, lane: u32) -> u32 {
        self.lanes[lane as usize].medium
    }

    /// When `medium` is to be woken next.
    pub fn next_wake(&self, medium: u32) -> Time {
        self.channels[medium as usize].medium.next_wake()
    }

    /// A packet comes to a lane; returns whether its station has room for it.
    pub fn offer(&mut self, now: Time, lane: u32, frame: F) -> bool {
        let Lane { medium, lane: own, .. } = self.lanes[lane as usize];
        let Channel { medium, stream, .. } = &mut self.channels[medium as usize];
        let taken = medium.offer(now, own, frame, stream);
        let counts = &mut self.counts[lane as usize];
        counts.arrived += 1;
        counts.queue_drops += u64::from(!taken);
        self.inside[lane as usize] += u64::from(taken);
        taken
    }

    /// Does what is due on `medium` at `now`, and says what came of it.
    pub fn wake(&mut self, now: Time, medium: u32) -> impl Iterator<Item = Aired<F>> {
        let Channel { medium, stream, lanes, .. } = &mut self.channels[medium as usize];
        medium.wake(now, stream);
        let (counts, inside) = (&mut self.counts, &mut self.inside);
        medium.outcomes().map(|outcome| match outcome {
            Outcome::Arrived { lane, frame, .. } => {
                let lane = lanes[lane as usize] as usize;
                counts[lane].carried_bytes += u64::from(frame.bytes());
                inside[lane] -= 1;
                Aired::Out(frame)
            }
            Outcome::Left { lane, frame, lost } => {
                let lane = lanes[lane as usize];
                counts[lane as usize].losses += u64::from(lost);
                inside[lane as usize] -= u64::from(lost);
                Aired::Done { lane, frame, lost }
            }
        })
    }

    /// Packets inside all media.
    pub fn carried(&self) -> u64 {
        self.inside.iter().sum()
    }

    /// For each lane: the link of the plan, what has happened there, and packets in it.
    pub fn lanes(&self) -> impl Iterator<Item = (usize, Counters, u64)> {
        let rows = self.lanes.iter().zip(&self.counts).zip(&self.inside);
        rows.map(|((lane, counts), inside)| (lane.planned as usize, *counts, *inside))
    }

    /// For each station of each medium what it has counted, and packets in its queue.
    pub fn stations(&self) -> impl Iterator<Item = (StationCounters, u32)> {
        self.channels.iter().flat_map(|channel| {
            let row = |station| {
                let station = station as usize;
                (channel.medium.counters(station), channel.medium.backlog(station))
            };
            (0..channel.stations).map(row)
        })
    }
}

fn standard(planned: &PlanMedium) -> Standard {
    let n = |five_ghz| Standard::N {
        five_ghz,
        wide: planned.wide,
        short_guard: planned.short_guard,
        streams: planned.streams as u8,
    };
    match planned.standard {
        schema::Standard::B => Standard::B { short_preamble: false },
        schema::Standard::BShort => Standard::B { short_preamble: true },
        schema::Standard::A => Standard::A,
        schema::Standard::G => Standard::G { protected: false },
        schema::Standard::GProtected => Standard::G { protected: true },
        schema::Standard::N2 => n(false),
        schema::Standard::N5 => n(true),
    }
}

/// The mode of a rate, which is one of the standard's.
fn mode(planned: &PlanMedium, rate: Rate) -> usize {
    Phy::new(standard(planned)).mode(rate).unwrap_or_default()
}

fn medium_settings(planned: &PlanMedium) -> MediumSettings {
    MediumSettings {
        standard: standard(planned),
        rates: match planned.control {
            schema::RateControl::Fixed => RateControl::Fixed(mode(planned, planned.rate)),
            schema::RateControl::Arf => RateControl::Arf,
            schema::RateControl::Ideal => RateControl::Ideal(MARGIN_DB),
        },
        attempts: planned.attempts,
        ack_timeout: planned.ack_timeout,
        radio: planned.radio.map(|radio| Radio {
            power_dbm: radio.power_dbm,
            loss_at_1m_db: radio.loss_at_1m_db.unwrap_or(Radio::default().loss_at_1m_db),
            exponent: radio.exponent,
            noise_dbm: radio.noise_dbm,
            sense_dbm: radio.sense_dbm,
        }),
    }
}

fn station_settings(medium: &PlanMedium, planned: &PlanStation) -> StationSettings {
    StationSettings {
        place: Place { x: planned.place.0, y: planned.place.1 },
        queue: queue(&planned.queue, None),
        ring: planned.ring,
        residual: planned.residual_loss,
        noise: planned.noise,
        rates: planned.rate.map(|rate| RateControl::Fixed(mode(medium, rate))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rates_that_a_scenario_may_name_are_the_modes_of_the_medium() {
        use schema::Standard::{A, B, BShort, G, GProtected, N2, N5};
        for (planned, wide, short_guard, streams) in [
            (B, false, false, 1),
            (BShort, false, false, 1),
            (A, false, false, 1),
            (G, false, false, 1),
            (GProtected, false, false, 1),
            (N2, false, false, 1),
            (N5, true, true, 4),
            (N5, true, false, 3),
        ] {
            let medium = PlanMedium {
                name: "x".into(),
                standard: planned,
                wide,
                short_guard,
                streams,
                rate: Rate(0),
                control: schema::RateControl::Fixed,
                attempts: 7,
                ack_timeout: None,
                radio: None,
                stations: Vec::new(),
            };
            let modes = Phy::new(standard(&medium)).modes;
            let own: Vec<u64> = modes.iter().map(|mode| mode.rate.0).collect();
            assert_eq!(scenario::rates(planned, wide, short_guard, streams), own, "{planned:?}");
        }
    }
}
