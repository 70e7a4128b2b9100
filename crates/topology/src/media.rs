//! From the media of a plan to network elements.

use network::adhoc::{Adhoc, Routing};
use network::dot11::{
    AfterCollision, Channel, ChannelSettings, Phy, RateControl, Standard, StationSettings,
};
use network::routing::{AodvSettings, OlsrSettings};
use network::{
    Bus, BusSettings, BusStation, Cell, CellSettings, CellUser, Ends, Fading, Packet, Place, Radio,
    Rng, Scheduler, SharedMedium, Trajectory,
};
use scenario::schema;
use scenario::{PlanCell, PlanCellUser, PlanKind, PlanMedium, PlanStation, PlanWifi};
use units::{Rate, Time};

/// dB by which a signal is to exceed the threshold of the mode that the ideal rate control chooses.
const MARGIN_DB: f64 = 2.0;

/// A medium of a plan with these links, and with its nodes where they are at first.
pub(crate) fn build<P: Packet>(
    planned: &PlanMedium,
    ends: &[Ends],
    nodes: &[Trajectory],
    rng: &mut dyn Rng,
) -> Box<dyn SharedMedium<P>> {
    let stations = planned.stations.iter();
    let links: Vec<_> = ends.iter().map(|ends| (ends.from[0], ends.to[0])).collect();
    match &planned.kind {
        PlanKind::Wifi(wifi) => {
            let stations: Vec<_> = stations.map(|own| station_settings(wifi, own, nodes)).collect();
            let settings = channel_settings(wifi);
            match wifi.routing {
                Some(own) => {
                    let routing = routing(own, &wifi.access);
                    Box::new(Adhoc::new(settings, &stations, routing, ends.to_vec(), rng))
                }
                None => {
                    let links: Vec<_> = links.iter().map(|(from, to)| (*from, Some(*to))).collect();
                    Box::new(Channel::new(settings, &stations, &links, rng))
                }
            }
        }
        PlanKind::Bus(bus) => {
            let settings = BusSettings { rate: bus.rate, delay: bus.delay };
            let station = |own: &PlanStation| BusStation { queue: own.queue.clone() };
            let stations: Vec<_> = stations.map(station).collect();
            Box::new(Bus::new(settings, &stations, &links))
        }
        PlanKind::Cell(cell) => {
            let user = |(own, user): (&PlanStation, &PlanCellUser)| CellUser {
                snr_db: user.snr_db,
                place: place(own, nodes, Time::ZERO),
                fading: user.fading.map(fading),
                queue: own.queue.clone(),
            };
            let users: Vec<_> = stations.skip(1).zip(&cell.users).map(user).collect();
            let base = place(&planned.stations[0], nodes, Time::ZERO);
            Box::new(Cell::new(cell_settings(cell, base), &users, &links))
        }
    }
}

fn cell_settings(planned: &PlanCell, base: Place) -> CellSettings {
    let (blocks_down, blocks_up) = (planned.blocks, planned.blocks_up);
    let scheduler = match planned.scheduler {
        schema::CellScheduler::ProportionalFair => {
            Scheduler::ProportionalFair { time_constant: planned.averaging }
        }
        schema::CellScheduler::RoundRobin => Scheduler::RoundRobin,
        schema::CellScheduler::MaxRate => Scheduler::MaxRate,
    };
    let radio = planned.radio.as_ref().map(radio);
    CellSettings { blocks_down, blocks_up, scheduler, overhead: planned.overhead, radio, base }
}

fn fading(planned: schema::Fading) -> Fading {
    Fading { deviation_db: planned.deviation_db, coherence: planned.coherence }
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

fn routing(planned: schema::Routing, access: &[usize]) -> Routing {
    match planned {
        schema::Routing::Oracle => Routing::Oracle,
        schema::Routing::Association => Routing::Association { points: access.to_vec() },
        schema::Routing::Aodv => Routing::Aodv(AodvSettings::default()),
        schema::Routing::Olsr => Routing::Olsr(OlsrSettings::default()),
    }
}

/// Where a station is at a time.
pub(crate) fn place(station: &PlanStation, nodes: &[Trajectory], now: Time) -> Place {
    match station.node {
        Some(node) => nodes[node].at(now),
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

fn channel_settings(planned: &PlanWifi) -> ChannelSettings {
    ChannelSettings {
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
    nodes: &[Trajectory],
) -> StationSettings {
    StationSettings {
        place: place(planned, nodes, Time::ZERO),
        queue: planned.queue.clone(),
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
