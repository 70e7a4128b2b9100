//! From what stations of a plan share to the elements that it is.

use crate::settings::queue;
use network::adhoc::{Adhoc, Routing, Way};
use network::dot11::{
    AfterCollision, Medium, MediumSettings, Phy, Radio, RateControl, Standard, StationSettings,
};
use network::routing::{AodvSettings, OlsrSettings};
use network::{
    Bus, BusSettings, BusStation, Cell, CellSettings, CellUser, Fading, Packet, Place, Rng,
    Scheduler, Trajectory,
};
use scenario::schema;
use scenario::{Air as Ends, PlanCell, PlanKind, PlanMedium, PlanStation, PlanWifi};
use units::{Rate, Time};

/// dB by which a signal is to exceed the threshold of the mode that the ideal rate control chooses.
const MARGIN_DB: f64 = 2.0;

/// Something that stations share.
pub(crate) enum Shared<F> {
    Medium(Box<Medium<F>>),
    Adhoc(Box<Adhoc<F>>),
    Bus(Box<Bus<F>>),
    /// With the propagation that says how strong users' signals are, if places do, and of which users.
    Cell(Box<Cell<F>>, Option<(Radio, Vec<bool>)>),
}

/// What a medium of a plan is, with these lanes and with its nodes where they are at first.
pub(crate) fn build<F: Packet>(
    planned: &PlanMedium,
    ways: &[Ends],
    ground: &[Trajectory],
    rng: &mut impl Rng,
) -> Shared<F> {
    let lanes: Vec<_> = ways.iter().map(|ends| (ends.from[0], ends.to[0])).collect();
    match &planned.kind {
        PlanKind::Wifi(wifi) => {
            let settings = medium_settings(wifi);
            let station = |own: &PlanStation| station_settings(wifi, own, ground);
            let stations: Vec<_> = planned.stations.iter().map(station).collect();
            let Some(routing) = wifi.routing else {
                let lanes: Vec<_> = lanes.into_iter().map(|(from, to)| (from, Some(to))).collect();
                return Shared::Medium(Box::new(Medium::new(settings, &stations, &lanes, rng)));
            };
            let ways = ways.iter().map(|ends| Way { from: ends.from.clone(), to: ends.to.clone() });
            let ways = ways.collect();
            Shared::Adhoc(Box::new(Adhoc::new(
                settings,
                &stations,
                how(routing, &wifi.access),
                ways,
                rng,
            )))
        }
        PlanKind::Bus(bus) => {
            let settings = BusSettings { rate: bus.rate, delay: bus.delay };
            let station = |own: &PlanStation| BusStation { queue: queue(&own.queue, None) };
            let stations: Vec<_> = planned.stations.iter().map(station).collect();
            Shared::Bus(Box::new(Bus::new(settings, &stations, &lanes)))
        }
        PlanKind::Cell(cell) => {
            let users = 1..planned.stations.len();
            let at_first = |user: usize| {
                let places = |own: usize| place(&planned.stations[own], ground, Time::ZERO);
                cell.radio.map(|own| snr_db(&radio(&own), places(0), places(user)))
            };
            let told = |user: usize| cell.users[user - 1].snr_db;
            let user = |user: usize| CellUser {
                snr_db: told(user).or_else(|| at_first(user)).unwrap_or_default(),
                fading: cell.users[user - 1].fading.map(fading),
                queue: queue(&planned.stations[user].queue, None),
            };
            let users: Vec<_> = users.map(user).collect();
            let by_place = || cell.users.iter().map(|user| user.snr_db.is_none()).collect();
            let own_radio = cell.radio.map(|own| (radio(&own), by_place()));
            Shared::Cell(Box::new(Cell::new(cell_settings(cell), &users, &lanes)), own_radio)
        }
    }
}

fn cell_settings(planned: &PlanCell) -> CellSettings {
    let (blocks_down, blocks_up) = (planned.blocks, planned.blocks_up);
    let scheduler = match planned.scheduler {
        schema::CellScheduler::ProportionalFair => {
            Scheduler::ProportionalFair { time_constant: planned.averaging }
        }
        schema::CellScheduler::RoundRobin => Scheduler::RoundRobin,
        schema::CellScheduler::MaxRate => Scheduler::MaxRate,
    };
    CellSettings { blocks_down, blocks_up, scheduler, overhead: planned.overhead }
}

fn fading(planned: schema::Fading) -> Fading {
    Fading { deviation_db: planned.deviation_db, coherence: planned.coherence }
}

/// The signal-to-noise ratio in dB between two places.
pub(crate) fn snr_db(radio: &Radio, from: Place, to: Place) -> f64 {
    radio.received_dbm(from, to) - radio.noise_dbm
}

fn radio(planned: &schema::Radio) -> Radio {
    Radio {
        power_dbm: planned.power_dbm,
        loss_at_1m_db: planned.loss_at_1m_db.unwrap_or(Radio::default().loss_at_1m_db),
        exponent: planned.exponent,
        noise_dbm: planned.noise_dbm,
        sense_dbm: planned.sense_dbm,
    }
}

fn how(routing: schema::Routing, access: &[usize]) -> Routing {
    match routing {
        schema::Routing::Oracle => Routing::Oracle,
        schema::Routing::Association => Routing::Association { points: access.to_vec() },
        schema::Routing::Aodv => Routing::Aodv(AodvSettings::default()),
        schema::Routing::Olsr => Routing::Olsr(OlsrSettings::default()),
    }
}

/// Where a station is at a time.
pub(crate) fn place(station: &PlanStation, ground: &[Trajectory], now: Time) -> Place {
    match station.node {
        Some(node) => ground[node].at(now),
        None => Place { x: station.place.0, y: station.place.1 },
    }
}

fn standard(planned: &PlanWifi) -> Standard {
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
fn mode(planned: &PlanWifi, rate: Rate) -> usize {
    Phy::new(standard(planned)).mode(rate).unwrap_or_default()
}

fn medium_settings(planned: &PlanWifi) -> MediumSettings {
    MediumSettings {
        standard: standard(planned),
        rates: match planned.control {
            schema::RateControl::Fixed => RateControl::Fixed(mode(planned, planned.rate)),
            schema::RateControl::Arf => RateControl::Arf,
            schema::RateControl::Ideal => RateControl::Ideal(MARGIN_DB),
        },
        broadcast: mode(planned, planned.broadcast),
        attempts: planned.attempts,
        ack_timeout: planned.ack_timeout,
        after_collision: AfterCollision::Eifs,
        radio: planned.radio.as_ref().map(radio),
    }
}

fn station_settings(
    medium: &PlanWifi,
    planned: &PlanStation,
    ground: &[Trajectory],
) -> StationSettings {
    StationSettings {
        place: place(planned, ground, Time::ZERO),
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
            let medium = PlanWifi {
                standard: planned,
                wide,
                short_guard,
                streams,
                rate: Rate(0),
                control: schema::RateControl::Fixed,
                broadcast: Rate(0),
                attempts: 7,
                ack_timeout: None,
                radio: None,
                routing: None,
                access: Vec::new(),
            };
            let modes = Phy::new(standard(&medium)).modes;
            let own: Vec<u64> = modes.iter().map(|mode| mode.rate.0).collect();
            assert_eq!(scenario::rates(planned, wide, short_guard, streams), own, "{planned:?}");
        }
    }
}
