//! The medium compared with closed forms: Bianchi's model (JSAC 2000; finite retries: Wu et al.,
//! INFOCOM 2002), the performance anomaly (Heusse et al., INFOCOM 2003), the efficiency of
//! aggregates; and invariants of arbitrary scenes.

use super::*;
use crate::Outcome;
use crate::Position;
use crate::Radio;
use crate::shared::{Counters, SharedMedium, Station};
use crate::testing::{Lcg, TestPacket, queues};
use proptest::prelude::*;
use units::{Span, Time};

const A: PhyKind = PhyKind::A;
const B: PhyKind = PhyKind::B { short_preamble: false };
const G: PhyKind = PhyKind::G { protected: false };
const N: PhyKind = PhyKind::N { five_ghz: true, wide: false, short_guard: false, streams: 1 };

fn fixed(standard: PhyKind) -> ChannelSettings {
    let mode = Phy::new(standard).modes.len() - 1;
    ChannelSettings::new(standard, ModeChoice::Fixed(mode))
}

/// Senders that always have packets of 1500 bytes for one receiving station.
struct Saturated {
    medium: Channel<TestPacket>,
    rng: Lcg,
    delivered: Vec<u64>,
}

fn saturated(settings: ChannelSettings, stations: &[Station]) -> Saturated {
    let senders = stations.len() - 1;
    let links: Vec<_> = (0..senders).map(|from| (from, Some(senders))).collect();
    let mut rng = Lcg(7 + senders as u64);
    let medium = Channel::new(settings, stations, &links, &mut rng);
    let mut run = Saturated { medium, rng, delivered: vec![0; senders] };
    (0..senders as u32).for_each(|link| (0..130).for_each(|_| run.offer(Time::ZERO, link)));
    run
}

fn alike(settings: ChannelSettings, senders: usize) -> Saturated {
    saturated(settings, &vec![Station::default(); senders + 1])
}

impl Saturated {
    fn offer(&mut self, now: Time, link: u32) {
        assert!(self.medium.offer(now, link, TestPacket::of(1500), &mut self.rng));
    }

    fn run(mut self, seconds: f64) -> Self {
        let end = Time::ZERO + Span::from_seconds(seconds);
        while self.medium.next_wake() <= end {
            let now = self.medium.next_wake();
            self.medium.wake(now, &mut self.rng);
            let outcomes: Vec<Outcome<TestPacket>> = self.medium.outcomes().drain(..).collect();
            for outcome in outcomes {
                match outcome {
                    Outcome::Arrived { link, .. } => self.delivered[link as usize] += 1,
                    Outcome::Left { link, .. } => self.offer(now, link),
                    Outcome::Lost { .. } => unreachable!("single hops"),
                }
            }
        }
        self
    }

    fn counters(&self) -> Counters {
        (0..self.delivered.len()).fold(Counters::default(), |mut all, station| {
            let counters = self.medium.counters(station);
            all.attempts += counters.attempts;
            all.unanswered += counters.unanswered;
            all.failures += counters.failures;
            all.acknowledged += counters.acknowledged;
            all
        })
    }
}

/// Probability that a station sends in a slot, and that a transmission collides, with seven
/// attempts.
fn bianchi(n: i32, phy: &Phy) -> (f64, f64) {
    let tau = |p: f64| {
        let (mut weight, mut sum, mut slots) = (1.0, 0.0, 0.0);
        for attempt in 0..7 {
            let cw = ((phy.cw.0 + 1) << attempt).min(phy.cw.1 + 1) - 1;
            (sum, slots) = (sum + weight, slots + weight * (f64::from(cw) / 2.0 + 1.0));
            weight *= p;
        }
        sum / slots
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let p = 0.5 * (low + high);
        let collides = 1.0 - libm::pow(1.0 - tau(p), f64::from(n - 1));
        (low, high) = if collides > p { (p, high) } else { (low, p) };
    }
    (tau(low), low)
}

/// Delivered packets per second in that model, in which stations that collide wait as long as all
/// others.
fn packets_per_second(n: i32, phy: &Phy) -> f64 {
    let (tau, _) = bianchi(n, phy);
    let (mode, n) = (phy.modes.len() - 1, f64::from(n));
    let idle = libm::pow(1.0 - tau, n);
    let success = n * tau * libm::pow(1.0 - tau, n - 1.0);
    let data = phy.duration(phy.framed(1500), mode);
    let succeeds = (data + phy.sifs + phy.modes[mode].ack + phy.difs()).seconds();
    let collides = (data + phy.eifs()).seconds();
    success / (idle * phy.slot.seconds() + success * succeeds + (1.0 - idle - success) * collides)
}

#[test]
fn one_station_alone_sends_a_packet_every_difs_backoff_data_sifs_and_ack() {
    for (standard, slots) in [(B, 15.5), (G, 7.5), (A, 7.5)] {
        let run = alike(fixed(standard), 1).run(20.0);
        let phy = run.medium.phy();
        let mode = phy.modes.len() - 1;
        let frame = phy.duration(phy.framed(1500), mode);
        let cycle = phy.difs() + frame + phy.sifs + phy.modes[mode].ack;
        let cycle = cycle.seconds() + slots * phy.slot.seconds();
        let ratio = run.delivered[0] as f64 / 20.0 * cycle;
        assert!((ratio - 1.0).abs() < 0.005, "{standard:?}: {ratio}");
    }
}

#[test]
fn throughput_collisions_and_drops_are_those_of_bianchi_s_model_with_seven_attempts() {
    for standard in [B, G, A] {
        for n in [2, 5, 10, 20, 50] {
            // In the model, stations that have collided wait as long as all others; in the standard
            // they begin earlier.
            let ack_timeout = Some(Phy::new(standard).eifs());
            let settings = ChannelSettings { ack_timeout, ..fixed(standard) };
            let run = alike(settings, n as usize).run(40.0);
            let (_, p) = bianchi(n, run.medium.phy());
            let all = run.counters();
            let collided = all.unanswered as f64 / all.attempts as f64;
            assert!((collided - p).abs() < 0.025, "{standard:?} {n}: {collided} for {p}");
            let rate = run.delivered.iter().sum::<u64>() as f64 / 40.0;
            let ratio = rate / packets_per_second(n, run.medium.phy());
            assert!((ratio - 1.0).abs() < 0.03, "{standard:?} {n}: {ratio}");
            let expected = libm::pow(p, 7.0) * (all.acknowledged + all.failures) as f64;
            let drops = all.failures as f64 / expected;
            assert!(expected < 50.0 || (0.7..1.4).contains(&drops), "{standard:?} {n}: {drops}");
        }
    }
}

#[test]
fn ten_stations_have_equal_shares_over_a_minute() {
    for standard in [B, G] {
        let run = alike(fixed(standard), 10).run(60.0);
        let shares: Vec<f64> = run.delivered.iter().map(|packets| *packets as f64).collect();
        let squares: f64 = shares.iter().map(|share| share * share).sum();
        let sum: f64 = shares.iter().sum();
        let jain = sum * sum / (10.0 * squares);
        assert!(jain > 0.99, "{standard:?}: {jain}");
    }
}

#[test]
fn one_slow_station_slows_all_down_to_the_same_rate() {
    let phy = Phy::new(B);
    let mut stations = vec![Station::default(); 4];
    stations[0].rate = Some(phy.modes[0].rate);
    let run = saturated(fixed(B), &stations).run(120.0);
    let each: Vec<f64> = run.delivered.iter().map(|packets| *packets as f64 / 120.0).collect();
    assert!(each.iter().all(|rate| (rate / each[0] - 1.0).abs() < 0.06), "{each:?}");
    // Eq. 5 to 8 of Heusse et al., with a first window of 32 slots.
    let n = 3.0;
    let collides = 1.0 - libm::pow(1.0 - 1.0 / 32.0, n - 1.0);
    let turn = |mode: usize| {
        let data = phy.duration(phy.framed(1500), mode);
        let overhead = phy.difs() + phy.sifs + phy.modes[mode].ack;
        let contention = phy.slot.seconds() * (1.0 + collides) / (2.0 * n) * 16.0;
        (data + overhead).seconds() + contention
    };
    let (slow, fast) = (turn(0), turn(3));
    let jam = 2.0 / n * slow + (1.0 - 2.0 / n) * fast;
    let published = 1.0 / ((n - 1.0) * fast + slow + collides * jam * n);
    assert!((each[1] / published - 1.0).abs() < 0.06, "{} {published}", each[1]);
}

#[test]
fn aggregates_spread_one_contention_over_their_packets() {
    let run = alike(fixed(N), 1).run(10.0);
    let phy = run.medium.phy();
    // 5.484 ms at 65 Mb/s are 28 packets of 4 + 1540 bytes.
    let packets = run.delivered[0] as f64 / run.counters().attempts as f64;
    assert!((packets - 28.0).abs() < 0.05, "{packets}");
    let frame = phy.duration(28 * phy.padded(1500), 7);
    let cycle = phy.difs() + frame + phy.sifs + phy.modes[7].block_ack;
    let cycle = cycle.seconds() + 7.5 * phy.slot.seconds();
    let ratio = run.delivered[0] as f64 / 10.0 * cycle / 28.0;
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
}

fn at(x: f64) -> Station {
    Station { position: Position { x, y: 0.0 }, ..Station::default() }
}

/// 802.11a at 54 Mb/s or less, over distances.
fn located(mode: ModeChoice, stations: &[Station]) -> Saturated {
    let radio = Some(Radio::default());
    saturated(ChannelSettings { mode, radio, ..fixed(A) }, stations)
}

#[test]
fn stations_that_do_not_sense_each_other_collide_at_the_receiver() {
    let collisions = |apart: f64| {
        let run = located(ModeChoice::Fixed(0), &[at(-apart), at(apart), at(0.0)]).run(20.0);
        let all = run.counters();
        all.unanswered as f64 / all.attempts as f64
    };
    let reach = Radio::default().reach_m(Radio::default().sense_dbm);
    let (near, hidden) = (collisions(0.4 * reach), collisions(0.55 * reach));
    assert!((near - 0.1046).abs() < 0.02, "{near}: as two that hear each other");
    assert!(hidden > 0.4, "{hidden}");
}

#[test]
fn the_stronger_of_two_that_collide_may_be_received() {
    let run = located(ModeChoice::Fixed(0), &[at(5.0), at(-40.0), at(0.0)]).run(20.0);
    let lost = [0, 1].map(|station| {
        let counters = run.medium.counters(station);
        counters.unanswered as f64 / counters.attempts as f64
    });
    assert!(lost[0] < 0.001 && lost[1] > 0.05, "{lost:?}");
}

#[test]
fn a_broadcast_reaches_who_is_near_at_most_once_and_is_not_answered() {
    let radio = Some(Radio::default());
    let stations = [at(0.0), at(20.0), at(50.0), at(5_000.0)];
    let mut rng = Lcg(1);
    let mut medium =
        Channel::new(ChannelSettings { radio, ..fixed(A) }, &stations, &[(0, None)], &mut rng);
    assert!(medium.offer(Time::ZERO, 0, TestPacket::of(100), &mut rng));
    let mut heard = Vec::new();
    while medium.next_wake() != Time::NEVER {
        medium.wake(medium.next_wake(), &mut rng);
        for outcome in medium.outcomes().drain(..) {
            match outcome {
                Outcome::Arrived { at, .. } => heard.push(at),
                Outcome::Left { lost, .. } => assert!(!lost),
                Outcome::Lost { .. } => unreachable!("single hops"),
            }
        }
    }
    assert_eq!(heard, [1, 2]);
    assert_eq!(medium.counters(0).attempts, 1);
}

#[test]
fn broadcasts_are_sent_one_by_one_where_packets_to_one_station_are_aggregated() {
    let stations = [at(0.0), at(20.0), at(30.0)];
    let mut rng = Lcg(1);
    let mut medium = Channel::new(fixed(N), &stations, &[(0, None)], &mut rng);
    for number in 0..3 {
        medium.offer_first(Time::ZERO, 0, TestPacket { number, ..TestPacket::of(100) }, &mut rng);
    }
    let mut heard = Vec::new();
    while medium.next_wake() != Time::NEVER {
        medium.wake(medium.next_wake(), &mut rng);
        heard.extend(medium.outcomes().drain(..).filter_map(|outcome| match outcome {
            Outcome::Arrived { at, packet, .. } => Some((packet.number, at)),
            Outcome::Left { .. } | Outcome::Lost { .. } => None,
        }));
    }
    assert_eq!(heard, [(0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)]);
}

#[test]
fn stations_may_be_moved_at_any_instant() {
    let radio = Some(Radio { sense_dbm: -60.0, ..Radio::default() });
    let mut rng = Lcg(5);
    let stations: Vec<_> = (0..8).map(|station| at(f64::from(station) * 9.0)).collect();
    let links: Vec<_> = (0..8).map(|from| (from, Some((from + 1) % 8))).collect();
    let mut medium =
        Channel::new(ChannelSettings { radio, ..fixed(A) }, &stations, &links, &mut rng);
    let mut arrived = 0;
    for step in 0..40_000u64 {
        let now = Time(step * 20_000); // every 20 us
        while medium.next_wake() <= now {
            medium.wake(medium.next_wake(), &mut rng);
            arrived += medium
                .outcomes()
                .drain(..)
                .filter(|it| matches!(it, Outcome::Arrived { .. }))
                .count();
        }
        let shift = (step % 7) as f64;
        let x = |station: u32| f64::from(station) * 9.0 + shift * f64::from(station % 3);
        let positions: Vec<_> = (0..8).map(|station| Position { x: x(station), y: 0.0 }).collect();
        medium.set_positions(now, &positions);
        if step % 50 == 0 {
            for link in 0..8 {
                medium.offer(now, link, TestPacket::of(500), &mut rng);
            }
        }
    }
    assert!(arrived > 2_000, "{arrived}: nobody is deaf for good");
}

#[test]
fn arf_settles_on_the_ideal_rate_in_a_still_scene() {
    for metres in [8.0, 25.0, 33.0, 45.0] {
        let run = |mode| located(mode, &[at(metres), at(0.0)]).run(20.0);
        let best = (0..8).map(|mode| run(ModeChoice::Fixed(mode)).delivered[0]).max().unwrap();
        let (arf, ideal) = (run(ModeChoice::Arf), run(ModeChoice::Ideal(1.5)));
        let used = |run: &Saturated| {
            let sent = run.medium.sent_in(0);
            let most = (0..8).max_by_key(|mode| sent[*mode]).unwrap();
            (most, sent[most] as f64 / sent.iter().sum::<u64>() as f64)
        };
        assert_eq!(used(&arf).0, used(&ideal).0, "{metres} m");
        assert!(used(&arf).1 > 0.8, "{metres} m: {:?}", arf.medium.sent_in(0));
        // Every eleventh frame tries a mode in which it is lost.
        let share = |run: &Saturated| run.delivered[0] as f64 / best as f64;
        assert!(share(&ideal) > 0.95 && share(&arf) > 0.8, "{metres} m: {}", share(&arf));
    }
}

#[test]
fn noise_takes_packets_at_its_rate_and_a_residual_loss_by_their_number() {
    let noise = Station { noise: Some(Span::millis(100)), ..Station::default() };
    let run = saturated(fixed(A), &[noise, Station::default()]).run(100.0);
    let failures = run.counters().failures as f64;
    assert!((900.0..1100.0).contains(&failures), "{failures}");
    let residual = Station { residual_loss: 0.01, ..Station::default() };
    let run = saturated(fixed(A), &[residual, Station::default()]).run(20.0);
    let Counters { failures, acknowledged, .. } = run.counters();
    let ratio = failures as f64 / (failures + acknowledged) as f64;
    assert!((0.009..0.011).contains(&ratio), "{ratio}");
}

/// Positions of up to six stations on a line, links between them, and packets: time, link, length.
type Scene = (Vec<f64>, Vec<(usize, usize)>, Vec<(u64, usize, u32)>);

fn scene() -> impl Strategy<Value = Scene> {
    let positions = proptest::collection::vec(0.0..150.0f64, 2..6);
    positions.prop_flat_map(|positions| {
        let count = positions.len();
        let link = (0..count, 1..count).prop_map(move |(from, by)| (from, (from + by) % count));
        let links = proptest::collection::vec(link, 1..6);
        (Just(positions), links).prop_flat_map(|(positions, links)| {
            let packet = (0..20_000u64, 0..links.len(), 40..1500u32);
            (Just(positions), Just(links), proptest::collection::vec(packet, 1..120))
        })
    })
}

proptest! {
    /// Sharing a sensing state does not change the outcome, though stations move out of each
    /// other's reach and back while frames are on the air.
    #[test]
    fn stations_that_are_kept_together_do_what_each_would_by_itself(
        (_, links, mut packets) in scene(),
        standard in prop_oneof![Just(A), Just(B), Just(N)],
        mode in prop_oneof![Just(ModeChoice::Fixed(1)), Just(ModeChoice::Arf)],
        after_collision in prop::sample::select(vec![AfterCollision::Eifs, AfterCollision::Difs]),
        heard: bool,
        broadcast in 0..3usize,
        gaps in prop::collection::vec(prop_oneof![Just(1.0), Just(1.0), Just(70.0), Just(4000.0)], 120),
        ring in 1..4u32,
        seed in any::<u64>(),
    ) {
        let count = links.iter().map(|(from, to)| from.max(to) + 1).max().unwrap_or(0);
        let stations = vec![Station { residual_loss: 0.05, ring, ..at(1.0) }; count];
        let links: Vec<_> = links.into_iter().enumerate().map(|(number, (from, to))| {
            (from, Some(to).filter(|_| number != broadcast))
        }).collect();
        let radio = heard.then(Radio::default);
        let settings = ChannelSettings { mode, attempts: 4, after_collision, radio, ..fixed(standard) };
        packets.sort_by_key(|packet| packet.0);
        let run = |each: bool, parts_at: usize| {
            let mut rng = Lcg(seed);
            let mut medium = Channel::new(settings, &stations, &links, &mut rng);
            let mut happened = Vec::new();
            for (number, &(at, link, bytes)) in packets.iter().enumerate() {
                let until = Time(at * 400);
                while medium.next_wake() <= until {
                    let now = medium.next_wake();
                    medium.wake(now, &mut rng);
                    happened.extend(medium.outcomes().drain(..).map(|outcome| format!("{now:?} {outcome:?}")));
                }
                let place = |station: usize| Position { x: station as f64 * gaps[number], y: 0.0 };
                medium.set_positions(until, &(0..count).map(place).collect::<Vec<_>>());
                if each && number >= parts_at {
                    medium.disperse();
                }
                let packet = TestPacket { number: number as u32, ..TestPacket::of(bytes) };
                match number % 3 {
                    0 => medium.offer_first(until, link as u32, packet, &mut rng),
                    _ => _ = medium.offer(until, link as u32, packet, &mut rng),
                }
            }
            while medium.next_wake() < Time::NEVER {
                let now = medium.next_wake();
                medium.wake(now, &mut rng);
                happened.extend(medium.outcomes().drain(..).map(|outcome| format!("{now:?} {outcome:?}")));
            }
            happened
        };
        let together = run(false, 0);
        prop_assert_eq!(&run(true, 0), &together);
        prop_assert_eq!(&run(true, packets.len() / 2), &together);
    }

    #[test]
    fn every_packet_leaves_once_and_arrives_at_most_once_in_order(
        (positions, links, mut packets) in scene(),
        standard in prop_oneof![Just(A), Just(B), Just(N)],
        mode in prop_oneof![Just(ModeChoice::Fixed(1)), Just(ModeChoice::Arf), Just(ModeChoice::Ideal(2.0))],
        queue in queues(),
        after_collision in prop::sample::select(vec![AfterCollision::Eifs, AfterCollision::Difs]),
        ring in 1..70u32,
        seed in any::<u64>(),
    ) {
        let stations: Vec<_> =
            positions.iter().map(|x| Station {
                queue: queue.clone(), ring, residual_loss: 0.05, ..at(*x)
            }).collect();
        let links: Vec<_> = links.into_iter().map(|(from, to)| (from, Some(to))).collect();
        let mut rng = Lcg(seed);
        let radio = Some(Radio::default());
        let settings = ChannelSettings { mode, attempts: 4, after_collision, radio, ..fixed(standard) };
        let mut medium = Channel::new(settings, &stations, &links, &mut rng);
        packets.sort_by_key(|packet| packet.0);
        packets.reverse();
        let (mut taken, mut left, mut arrived) = (0, 0, vec![0; links.len()]);
        let mut number = 0;
        loop {
            let next = packets.last().map_or(Time::NEVER, |packet| Time(packet.0 * 1000));
            let now = next.min(medium.next_wake());
            if now == Time::NEVER {
                break;
            }
            if now == next {
                let (_, link, bytes) = packets.pop().expect("there is a next one");
                number += 1;
                let packet = TestPacket { path: link as u32, number, ..TestPacket::of(bytes) };
                taken += u32::from(medium.offer(now, link as u32, packet, &mut rng));
            }
            medium.wake(now, &mut rng);
            for outcome in medium.outcomes().drain(..) {
                match outcome {
                    Outcome::Left { .. } => left += 1,
                    Outcome::Lost { .. } => unreachable!("single hops"),
                    Outcome::Arrived { link, packet, at } => {
                        prop_assert_eq!(links[link as usize].1, Some(at as usize));
                        prop_assert!(packet.number > arrived[link as usize]);
                        arrived[link as usize] = packet.number;
                    }
                }
            }
        }
        prop_assert_eq!(taken, left);
        prop_assert!((0..positions.len()).all(|station| medium.backlog(station) == 0));
    }
}
