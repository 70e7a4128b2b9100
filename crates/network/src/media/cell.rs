//! A cell: a base station that shares resource blocks among users, as LTE does.
//!
//! Time is divided into transmission time intervals (TTIs) of 1 ms, the same for both directions.
//! In each, the scheduler of a direction (`scheduler.rs`) gives the resource blocks to the users
//! that have data to receive or to send. How much a block carries follows from the user's signal
//! (`channel.rs`). A packet goes `offer` → the user's queue in that direction → segments in as many
//! TTIs as it needs (`bearer.rs`) → at the end of the TTI with its last byte, [`Outcome::Arrived`]
//! and [`Outcome::Left`]. One that comes during a TTI waits for the next one. The cell has one
//! event pending, the end of the TTI, and none while nothing is queued.
//!
//! Source: 3GPP TS 36.211 (frames, resource blocks), TS 36.213 §7.2.3 (quality and efficiency).
//! Parts of LTE that this model leaves out:
//!
//! * HARQ, RLC retransmissions, and block errors at all: what is sent is received. The thresholds
//!   are those of a block error rate of 10 %, whose repetitions would cost a tenth of the rate and
//!   8 ms each.
//! * Reports of quality that are late or of single subbands: the scheduler knows the signal of the
//!   TTI that it fills, the same in all blocks. With frequency-selective channels it could choose
//!   among blocks as well.
//! * Transport blocks of the sizes of TS 36.213 Table 7.1.7.2.1-1, resource block groups, and
//!   contiguous blocks in the uplink: any number of blocks carries its part, in whole bytes.
//!   Headers of PDCP, RLC and MAC are in no packet.
//! * Scheduling requests and grants of the uplink, which take some milliseconds; buffer reports:
//!   the base knows the backlog of each user.
//! * Uplink power control: both directions have one signal, and fade together. A user that
//!   transmits on few blocks does not put more power into each.
//! * Several antennas, carrier aggregation, 256-QAM; TDD (both directions have their own blocks).
//! * Interference that changes with neighbours' load: it is a part of the mean and of the fading.
//! * RRC, idle states, discontinuous reception, paging, random access, handover: a user is in the
//!   cell and awake.
//! * Bearers with different QoS: a user has one queue in each direction.

mod bearer;
mod channel;
mod scheduler;
#[cfg(test)]
mod tests;

use crate::host::LinkPacket;
use crate::shared::{Counters, Ends, Kind, Outcome, SharedMedium, Station};
use crate::{Packet, Position, Radio, Rng};
use bearer::Bearer;
pub use channel::Fading;
use channel::{Channel, block_bytes};
pub use scheduler::Scheduler;
use scheduler::{Allocator, Grant, Want};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use units::{NANOS, Span, Time};

/// A transmission time interval.
const TTI: Span = Span::millis(1);

/// The direction of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the base to a user.
    Down,
    /// From a user to the base.
    Up,
}

const DIRECTIONS: [Direction; 2] = [Direction::Down, Direction::Up];

/// A cell of a plan; its first station is the base.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "PlanCell")]
pub struct CellSettings {
    /// Resource blocks from the base to users.
    pub blocks: u32,
    /// Resource blocks from users to the base.
    pub blocks_up: u32,
    /// How blocks are allocated to users.
    pub scheduler: Scheduler,
    /// Averaging time of the rates of users, for proportional fair.
    #[serde(rename = "averaging_s")]
    pub averaging: Span,
    /// Fraction of the blocks that carries no data.
    pub overhead: f64,
    /// Propagation, with the loss at one metre, if signals depend on positions.
    pub radio: Option<Radio>,
    /// Its users, in the order of the stations after the base.
    pub users: Vec<CellUser>,
}

/// A user of a cell of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "PlanCellUser")]
pub struct CellUser {
    /// Its mean signal-to-noise ratio in dB; `None` if it depends on positions.
    pub snr_db: Option<f64>,
    /// Fading of its signal.
    #[serde(flatten, serialize_with = "FadingKeys::write")]
    #[schemars(with = "FadingKeys")]
    pub fading: Option<Fading>,
}

/// Fading as it is written, among the keys of its user.
#[derive(Serialize, JsonSchema)]
struct FadingKeys {
    /// Standard deviation of its signal in dB, with fading.
    deviation_db: Option<f64>,
    /// Coherence time of its signal, with fading: after it the autocorrelation is 1/e.
    coherence_s: Option<Span>,
}

impl FadingKeys {
    fn write<S: Serializer>(fading: &Option<Fading>, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = FadingKeys {
            deviation_db: fading.map(|fading| fading.deviation_db),
            coherence_s: fading.map(|fading| fading.coherence),
        };
        keys.serialize(serializer)
    }
}

impl Kind for CellSettings {
    fn build<P: Packet>(
        &self,
        stations: &[Station],
        links: &[Ends],
        _rng: &mut dyn Rng,
    ) -> Box<dyn SharedMedium<P>> {
        Box::new(Cell::new(self, stations, &links.iter().map(Ends::first).collect::<Vec<_>>()))
    }

    fn examples() -> Vec<Self> {
        let fading = Fading { deviation_db: 5.0, coherence: Span::millis(10) };
        let user = CellUser { snr_db: Some(12.0), fading: Some(fading) };
        let example = |scheduler| CellSettings {
            blocks: 25,
            blocks_up: 6,
            scheduler,
            averaging: Span::millis(100),
            overhead: 0.25,
            radio: Some(Radio::default()),
            users: vec![CellUser { snr_db: None, fading: None }, user],
        };
        let all = [Scheduler::ProportionalFair, Scheduler::RoundRobin, Scheduler::MaxRate];
        all.map(example).to_vec()
    }
}

/// One direction of a cell.
struct Side<P> {
    allocator: Allocator,
    /// One for each user.
    bearers: Vec<Bearer<P>>,
}

/// A cell: station 0 is its base, the others are its users in order.
pub struct Cell<P> {
    overhead: f64,
    radio: Option<Radio>,
    /// For each user, whether its signal follows from its position.
    by_position: Vec<bool>,
    /// One for each user; user u is station u + 1.
    channels: Vec<Channel>,
    /// Down and up.
    sides: [Side<P>; 2],
    /// For each link, the user and the direction.
    links: Vec<(usize, Direction)>,
    counters: Vec<Counters>,
    /// Packets inside.
    packets: u64,
    /// When the TTI under way ends, or the first one begins; never while there are no packets.
    due: Time,
    wants: Vec<Want>,
    grants: Vec<Grant>,
    outcomes: Vec<Outcome<P>>,
}

/// User and direction of a link between two stations, if one of them is the base.
fn bearer_of((from, to): (usize, usize)) -> Option<(usize, Direction)> {
    match (from, to) {
        (0, 0) => None,
        (0, user) => Some((user - 1, Direction::Down)),
        (user, 0) => Some((user - 1, Direction::Up)),
        _ => None,
    }
}

impl<P: Packet> Cell<P> {
    /// A cell with these stations: the first is the base; `links` lead between it and the others.
    ///
    /// # Panics
    /// If a direction has no blocks, all symbols are overhead, a link does not lead between the
    /// base and a user, or a user has no signal.
    pub fn new(settings: &CellSettings, stations: &[Station], links: &[(usize, usize)]) -> Self {
        let CellSettings { blocks, blocks_up, scheduler, averaging, overhead, radio, .. } =
            *settings;
        assert!(blocks > 0 && blocks_up > 0, "a direction has blocks");
        assert!((0.0..1.0).contains(&overhead), "some symbols carry data");
        let (base, users) = stations.split_first().expect("a cell has a base");
        let channel = |(own, user): (&Station, &CellUser)| {
            let by_position = || radio.map(|radio| radio.snr_db(base.position, own.position));
            let mean = user.snr_db.or_else(by_position).expect("a user has a signal");
            Channel::new(mean, user.fading)
        };
        let bearer = |(number, link): (usize, &(usize, usize))| {
            let own = bearer_of(*link).filter(|(user, _)| *user < users.len());
            own.unwrap_or_else(|| panic!("link {number} is not between the base and a user"))
        };
        let side = |blocks: u32| Side {
            allocator: Allocator::new(scheduler, averaging, blocks, users.len()),
            bearers: users.iter().map(|user| Bearer::new(user.queue.clone())).collect(),
        };
        Cell {
            overhead,
            radio,
            by_position: settings.users.iter().map(|user| user.snr_db.is_none()).collect(),
            channels: users.iter().zip(&settings.users).map(channel).collect(),
            sides: [side(blocks), side(blocks_up)],
            links: links.iter().enumerate().map(bearer).collect(),
            counters: vec![Counters::default(); users.len() + 1],
            packets: 0,
            due: Time::NEVER,
            wants: Vec::with_capacity(users.len()),
            grants: Vec::with_capacity(users.len()),
            outcomes: Vec::new(),
        }
    }

    /// Resource blocks used since the start for data to or from the user with this station number.
    ///
    /// # Panics
    /// If the station is not a user.
    pub fn blocks(&self, user: usize, direction: Direction) -> u64 {
        self.sides[direction as usize].bearers[user - 1].blocks
    }

    /// Rate of the user with this station number if it were alone and its signal at the mean, in
    /// bits per second.
    ///
    /// # Panics
    /// If the station is not a user.
    pub fn rate_bps(&self, user: usize, direction: Direction) -> f64 {
        let bits = self.channels[user - 1].mean_bits(self.overhead);
        let bytes = block_bytes(self.sides[direction as usize].allocator.blocks(), bits);
        (8 * bytes * (NANOS / TTI.0)) as f64
    }

    /// Reports packets that a discipline dropped after accepting them.
    fn report_drops(&mut self, user: usize, direction: Direction) {
        let bearer = &mut self.sides[direction as usize].bearers[user];
        while let Some(LinkPacket { link, packet }) = bearer.host.dropped() {
            self.packets -= 1;
            self.counters[sender(user, direction)].queue_drops += 1;
            self.outcomes.push(Outcome::Left { link, packet, lost: true });
        }
    }

    /// The packets completed by the TTI that ends have arrived.
    fn arrive(&mut self) {
        for direction in DIRECTIONS {
            for (user, bearer) in self.sides[direction as usize].bearers.iter_mut().enumerate() {
                let at = if direction == Direction::Down { user as u32 + 1 } else { 0 };
                for LinkPacket { link, packet } in bearer.arrived() {
                    self.packets -= 1;
                    self.counters[sender(user, direction)].acknowledged += 1;
                    self.outcomes.push(Outcome::Arrived { link, at, packet });
                    self.outcomes.push(Outcome::Left { link, packet, lost: false });
                }
            }
        }
    }

    /// Collects the users that want blocks in the TTI that begins, and how many.
    fn gather(&mut self, now: Time, direction: Direction, rng: &mut dyn Rng) {
        self.wants.clear();
        let side = &self.sides[direction as usize];
        let most = side.allocator.blocks();
        for (user, bearer) in side.bearers.iter().enumerate() {
            let need = bearer.need();
            if need == 0 {
                continue;
            }
            let bits = self.channels[user].bits(now.0 / TTI.0, self.overhead, rng);
            if bits > 0.0 {
                let blocks = libm::ceil(8.0 * need as f64 / bits).min(f64::from(most)) as u32;
                let rate = 8.0 * block_bytes(most, bits) as f64;
                self.wants.push(Want { user, blocks, bits, rate, metric: 0.0 });
            }
        }
    }

    /// The TTI begins: users fill the blocks that they were given.
    fn send(&mut self, now: Time, direction: Direction) {
        let tti = now.0 / TTI.0;
        let mut grants = core::mem::take(&mut self.grants);
        grants.clear();
        self.sides[direction as usize].allocator.allocate(tti, &mut self.wants, &mut grants);
        let mut sends = false;
        for Grant { user, blocks, bits } in &grants {
            let Side { allocator, bearers } = &mut self.sides[direction as usize];
            let carried = bearers[*user].carry(now, block_bytes(*blocks, *bits));
            if carried > 0 {
                bearers[*user].blocks += u64::from(*blocks);
                allocator.credit(tti, *user, 8.0 * carried as f64);
                let counters = &mut self.counters[sender(*user, direction)];
                counters.attempts += 1;
                if direction == Direction::Up || !sends {
                    counters.airtime += TTI;
                }
                sends = true;
            }
            self.report_drops(*user, direction);
        }
        self.grants = grants;
    }
}

impl<P: Packet> SharedMedium<P> for Cell<P> {
    fn offer(&mut self, now: Time, link: u32, packet: P, rng: &mut dyn Rng) -> bool {
        let (user, direction) = self.links[link as usize];
        let counters = &mut self.counters[sender(user, direction)];
        counters.offered += 1;
        let host = &mut self.sides[direction as usize].bearers[user].host;
        if !host.offer(now, LinkPacket { link, packet }, rng) {
            counters.queue_drops += 1;
            return false;
        }
        self.packets += 1;
        self.report_drops(user, direction);
        if self.due == Time::NEVER && self.packets > 0 {
            self.due = Time(now.0.div_ceil(TTI.0) * TTI.0);
        }
        true
    }

    /// Runs the events due at `now`: a TTI ends, and the next one begins.
    fn wake(&mut self, now: Time, rng: &mut dyn Rng) {
        while self.due <= now {
            let at = self.due;
            self.arrive();
            for direction in DIRECTIONS {
                self.gather(at, direction, rng);
                self.send(at, direction);
            }
            self.due = if self.packets > 0 { at + TTI } else { Time::NEVER };
        }
    }

    fn next_wake(&self) -> Time {
        self.due
    }

    fn outcomes(&mut self) -> &mut Vec<Outcome<P>> {
        &mut self.outcomes
    }

    /// The counters of a station. An attempt is the data of one TTI to one receiver. All attempts
    /// are answered, and no packet is given up. An acknowledged packet is a received one. Airtime
    /// is the TTIs in which the station sends.
    fn counters(&self, station: usize) -> Counters {
        self.counters[station]
    }

    /// Packets that wait or are being sent at a station; at the base, for all users together.
    fn backlog(&self, station: usize) -> u32 {
        let side = |direction: Direction| &self.sides[direction as usize].bearers;
        match station.checked_sub(1) {
            None => side(Direction::Down).iter().map(Bearer::backlog).sum(),
            Some(user) => side(Direction::Up)[user].backlog(),
        }
    }

    /// From the next TTI on, users whose signal follows from their position have a new mean; fading
    /// continues.
    fn set_positions(&mut self, now: Time, positions: &[Position]) {
        debug_assert!(self.due >= now, "a TTI has ended that nobody was woken for");
        let (Some(radio), Some((base, users))) = (self.radio, positions.split_first()) else {
            return;
        };
        let channels = self.channels.iter_mut().zip(&self.by_position).zip(users);
        for ((channel, _), position) in channels.filter(|((_, by_position), _)| **by_position) {
            channel.mean_db = radio.snr_db(*base, *position);
        }
    }
}

/// The station that sends a user's packets in this direction.
fn sender(user: usize, direction: Direction) -> usize {
    match direction {
        Direction::Down => 0,
        Direction::Up => user + 1,
    }
}
