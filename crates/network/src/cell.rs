//! A cell: a base station that shares resource blocks among users, as LTE does.
//!
//! Time is divided into transmission time intervals (TTIs) of 1 ms, the same for both directions. In each, the
//! scheduler of a direction (`scheduler.rs`) gives the resource blocks to the users that have something to receive or
//! to send. How much a block carries follows from the user's signal (`channel.rs`). A packet goes `offer` → the user's
//! queue in that direction → segments in as many TTIs as it needs (`bearer.rs`) → at the end of the TTI with its last
//! byte, [`Outcome::Arrived`] and [`Outcome::Left`]. One that comes during a TTI waits for the next one.
//! The cell has one event pending, the end of the TTI, and none while nothing is queued.
//!
//! Source: 3GPP TS 36.211 (frames, resource blocks), TS 36.213 §7.2.3 (quality and efficiency). What LTE has and this
//! has not:
//!
//! * HARQ, RLC retransmissions, and block errors at all: what is sent is received. The thresholds are those of a block
//!   error rate of 10 %, whose repetitions would cost a tenth of the rate and 8 ms each.
//! * Reports of quality that are late or of single subbands: the scheduler knows the signal of the TTI that it fills,
//!   the same in all blocks. With frequency-selective channels it could choose among blocks as well.
//! * Transport blocks of the sizes of TS 36.213 Table 7.1.7.2.1-1, resource block groups, and contiguous blocks in the
//!   uplink: any number of blocks carries its part, in whole bytes. Headers of PDCP, RLC and MAC are in no packet.
//! * Scheduling requests and grants of the uplink, which take some milliseconds; buffer reports: the base knows what
//!   waits at its users.
//! * Uplink power control: both directions have one signal, and fade together. A user that transmits on few blocks does
//!   not put more power into each.
//! * Several antennas, carrier aggregation, 256-QAM; TDD (both directions have their own blocks).
//! * Interference that changes with neighbours' load: it is a part of the mean and of the fading.
//! * RRC, idle states, discontinuous reception, paging, random access, handover: a user is in the cell and awake.
//! * Bearers with different QoS: a user has one queue in each direction.

mod bearer;
mod channel;
mod scheduler;
#[cfg(test)]
mod tests;

use crate::host::Bound;
use crate::shared::{Counters, Outcome};
use crate::{Packet, Queue, Rng};
use bearer::Bearer;
pub use channel::Fading;
use channel::{Channel, block_bytes};
pub use scheduler::Scheduler;
use scheduler::{Allocator, Grant, Want};
use units::{NANOS, Span, Time};

/// A transmission time interval.
const TTI: Span = Span::millis(1);

/// Which way packets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the base to a user.
    Down,
    /// From a user to the base.
    Up,
}

const DIRECTIONS: [Direction; 2] = [Direction::Down, Direction::Up];

/// What a cell is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellSettings {
    /// Resource blocks of 180 kHz towards users: 6, 15, 25, 50, 75 or 100 in LTE.
    pub blocks_down: u32,
    /// Resource blocks towards the base.
    pub blocks_up: u32,
    /// Who gets them, in each direction by itself.
    pub scheduler: Scheduler,
    /// Part of the symbols that carry control and reference signals, in `[0, 1)`.
    pub overhead: f64,
}

impl Default for CellSettings {
    /// 10 MHz for each direction; proportional fair over 100 ms.
    fn default() -> Self {
        let scheduler = Scheduler::ProportionalFair { time_constant: Span::millis(100) };
        CellSettings { blocks_down: 50, blocks_up: 50, scheduler, overhead: 0.25 }
    }
}

/// What one user of a cell is.
#[derive(Clone, Debug, PartialEq)]
pub struct CellUser {
    /// Mean signal-to-noise ratio in dB, the same in both directions.
    pub snr_db: f64,
    /// How it varies; without, it is constant.
    pub fading: Option<Fading>,
    /// The queueing discipline of its queue at the base, and of its own; an early detection has no idle time here.
    pub queue: Queue,
}

impl Default for CellUser {
    fn default() -> Self {
        let queue = Queue::DropTail { packets: 1000, bytes: u64::MAX };
        CellUser { snr_db: 20.0, fading: None, queue }
    }
}

/// One direction of a cell.
struct Side<F> {
    allocator: Allocator,
    /// Of each user.
    bearers: Vec<Bearer<F>>,
}

/// A cell: station 0 is its base, the others are its users in order.
pub struct Cell<F> {
    overhead: f64,
    /// Of each user; user u is station u + 1.
    channels: Vec<Channel>,
    /// Down and up.
    sides: [Side<F>; 2],
    /// Of each lane, the user and the direction.
    lanes: Vec<(usize, Direction)>,
    counters: Vec<Counters>,
    /// Packets inside.
    packets: u64,
    /// When the TTI under way ends, or the first one begins; never while there are no packets.
    due: Time,
    wants: Vec<Want>,
    grants: Vec<Grant>,
    outcomes: Vec<Outcome<F>>,
}

/// User and direction of a lane between two stations, if one of them is the base.
fn bearer_of((from, to): (usize, usize)) -> Option<(usize, Direction)> {
    match (from, to) {
        (0, 0) => None,
        (0, user) => Some((user - 1, Direction::Down)),
        (user, 0) => Some((user - 1, Direction::Up)),
        _ => None,
    }
}

impl<F: Packet> Cell<F> {
    /// A cell with `users`, and `lanes` between the base, which is station 0, and them, which are stations from 1 on.
    ///
    /// # Panics
    /// If a direction has no blocks, all symbols are overhead, or a lane does not lead between the base and a user.
    pub fn new(settings: CellSettings, users: &[CellUser], lanes: &[(usize, usize)]) -> Self {
        let CellSettings { blocks_down, blocks_up, scheduler, overhead } = settings;
        assert!(blocks_down > 0 && blocks_up > 0, "a direction has blocks");
        assert!((0.0..1.0).contains(&overhead), "some symbols carry data");
        let way = |(number, lane): (usize, &(usize, usize))| {
            let way = bearer_of(*lane).filter(|(user, _)| *user < users.len());
            way.unwrap_or_else(|| panic!("lane {number} is not between the base and a user"))
        };
        let side = |blocks: u32| Side {
            allocator: Allocator::new(scheduler, blocks, users.len()),
            bearers: users.iter().map(|user| Bearer::new(user.queue.clone())).collect(),
        };
        Cell {
            overhead,
            channels: users.iter().map(|user| Channel::new(user.snr_db, user.fading)).collect(),
            sides: [side(blocks_down), side(blocks_up)],
            lanes: lanes.iter().enumerate().map(way).collect(),
            counters: vec![Counters::default(); users.len() + 1],
            packets: 0,
            due: Time::NEVER,
            wants: Vec::with_capacity(users.len()),
            grants: Vec::with_capacity(users.len()),
            outcomes: Vec::new(),
        }
    }

    /// What a station has counted. An attempt is what one TTI carries from it to one receiver; all are answered, and
    /// nothing is given up; an acknowledged packet is one that has been received. Airtime is TTIs in which it sends.
    pub fn counters(&self, station: usize) -> Counters {
        self.counters[station]
    }

    /// Packets that wait in a station, with those that are being sent: of the base, for all users.
    pub fn backlog(&self, station: usize) -> u32 {
        let side = |direction: Direction| &self.sides[direction as usize].bearers;
        match station.checked_sub(1) {
            None => side(Direction::Down).iter().map(Bearer::backlog).sum(),
            Some(user) => side(Direction::Up)[user].backlog(),
        }
    }

    /// Resource blocks that have carried something to or from the user with a station's number, since the start.
    ///
    /// # Panics
    /// If that is no user.
    pub fn blocks(&self, user: usize, direction: Direction) -> u64 {
        self.sides[direction as usize].bearers[user - 1].blocks
    }

    /// What the user with a station's number would be given if it were alone and its signal at the mean, in bits per
    /// second.
    ///
    /// # Panics
    /// If that is no user.
    pub fn rate_bps(&self, user: usize, direction: Direction) -> f64 {
        let bits = self.channels[user - 1].mean_bits(self.overhead);
        let bytes = block_bytes(self.sides[direction as usize].allocator.blocks(), bits);
        (8 * bytes * (NANOS / TTI.0)) as f64
    }

    /// From the next TTI on, the user with a station's number has another mean signal-to-noise ratio, in dB. Its fading
    /// goes on as it was.
    ///
    /// # Panics
    /// If that is no user.
    pub fn set_snr(&mut self, now: Time, user: usize, snr_db: f64) {
        debug_assert!(self.due >= now, "a TTI has ended that nobody was woken for");
        self.channels[user - 1].mean_db = snr_db;
    }

    /// When [`Cell::wake`] is to be called next.
    pub fn next_wake(&self) -> Time {
        self.due
    }

    /// What has happened since it was asked last.
    pub fn outcomes(&mut self) -> impl Iterator<Item = Outcome<F>> {
        self.outcomes.drain(..)
    }

    /// A packet comes to the sender of `lane`; returns whether the queue of its user and direction takes it.
    pub fn offer(&mut self, now: Time, lane: u32, frame: F, rng: &mut impl Rng) -> bool {
        let (user, direction) = self.lanes[lane as usize];
        let counters = &mut self.counters[sender(user, direction)];
        counters.offered += 1;
        let host = &mut self.sides[direction as usize].bearers[user].host;
        if !host.offer(now, Bound { lane, frame }, rng) {
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

    /// What a discipline has dropped after it had taken it.
    fn report_drops(&mut self, user: usize, direction: Direction) {
        let bearer = &mut self.sides[direction as usize].bearers[user];
        while let Some(Bound { lane, frame }) = bearer.host.dropped() {
            self.packets -= 1;
            self.counters[sender(user, direction)].queue_drops += 1;
            self.outcomes.push(Outcome::Left { lane, frame, lost: true });
        }
    }

    /// Does what is due at `now`: a TTI ends, and the next one begins.
    pub fn wake(&mut self, now: Time, rng: &mut impl Rng) {
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

    /// The packets that are complete with the TTI that ends have arrived.
    fn arrive(&mut self) {
        for direction in DIRECTIONS {
            for (user, bearer) in self.sides[direction as usize].bearers.iter_mut().enumerate() {
                let at = if direction == Direction::Down { user as u32 + 1 } else { 0 };
                for Bound { lane, frame } in bearer.arrived() {
                    self.packets -= 1;
                    self.counters[sender(user, direction)].acknowledged += 1;
                    self.outcomes.push(Outcome::Arrived { lane, at, frame });
                    self.outcomes.push(Outcome::Left { lane, frame, lost: false });
                }
            }
        }
    }

    /// Which users want how many blocks in the TTI that begins.
    fn gather(&mut self, now: Time, direction: Direction, rng: &mut impl Rng) {
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

    /// The TTI begins: who is given blocks fills them.
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

/// The station that sends what a user receives or sends.
fn sender(user: usize, direction: Direction) -> usize {
    match direction {
        Direction::Down => 0,
        Direction::Up => user + 1,
    }
}
