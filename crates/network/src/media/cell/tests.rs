//! The cell compared with closed forms, and invariants of arbitrary scenes.

use super::*;
use crate::testing::{Lcg, Never, TestPacket, queues};
use proptest::prelude::*;

const FAIR: Scheduler = Scheduler::ProportionalFair;

fn user(snr_db: f64) -> CellUser {
    CellUser { snr_db: Some(snr_db), fading: None }
}

/// Packets that always wait in each link: more than two TTIs carry.
const WAITING: u32 = 20;

/// Links that always have packets of 1500 bytes, and others that have some at times.
struct Saturated {
    cell: Cell<TestPacket>,
    rng: Lcg,
    now: Time,
    saturated: usize,
    /// Packets that have arrived, by link.
    arrived: Vec<u64>,
}

fn settings(scheduler: Scheduler, users: &[CellUser]) -> CellSettings {
    CellSettings {
        blocks: 50,
        blocks_up: 25,
        scheduler,
        averaging: Span::millis(100),
        overhead: 0.25,
        radio: None,
        users: users.to_vec(),
    }
}

fn cell(scheduler: Scheduler, users: &[CellUser], links: &[(usize, usize)]) -> Saturated {
    saturated(&settings(scheduler, users), &vec![Station::default(); users.len() + 1], links)
}

fn saturated(settings: &CellSettings, stations: &[Station], links: &[(usize, usize)]) -> Saturated {
    let cell = Cell::new(settings, stations, links);
    let (arrived, rng) = (vec![0; links.len()], Lcg(3));
    Saturated { cell, rng, now: Time::ZERO, saturated: links.len(), arrived }
}

/// Links from the base to each of this many users.
fn downlinks(users: usize) -> Vec<(usize, usize)> {
    (1..=users).map(|user| (0, user)).collect()
}

impl Saturated {
    fn offer(&mut self, link: u32, bytes: u32) {
        assert!(self.cell.offer(self.now, link, TestPacket::of(bytes), &mut self.rng));
    }

    /// Runs for this many milliseconds more, and returns the rate at which packets arrived on each
    /// link, in b/s.
    fn run(&mut self, millis: u64) -> Vec<f64> {
        if self.now == Time::ZERO {
            (0..self.saturated as u32).for_each(|l| (0..WAITING).for_each(|_| self.offer(l, 1500)));
        }
        let before = self.arrived.clone();
        let end = self.now + Span::millis(millis);
        while self.cell.next_wake() <= end {
            self.now = self.cell.next_wake();
            self.cell.wake(self.now, &mut self.rng);
            let outcomes: Vec<_> = self.cell.outcomes().drain(..).collect();
            for outcome in outcomes {
                match outcome {
                    Outcome::Arrived { link, .. } => self.arrived[link as usize] += 1,
                    Outcome::Left { link, .. } if (link as usize) < self.saturated => {
                        self.offer(link, 1500);
                    }
                    Outcome::Left { .. } | Outcome::Lost { .. } => {}
                }
            }
        }
        self.now = end;
        let new = self.arrived.iter().zip(before).map(|(now, before)| (now - before) as f64);
        new.map(|packets| packets * 12_000.0 / (millis as f64 / 1e3)).collect()
    }
}

fn jain(rates: &[f64]) -> f64 {
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(a, b), rate| (a + rate, b + rate * rate));
    sum * sum / (rates.len() as f64 * squares)
}

#[test]
fn a_user_alone_has_its_peak_rate_in_each_direction_whatever_the_scheduler() {
    for scheduler in [FAIR, Scheduler::RoundRobin, Scheduler::MaxRate] {
        for snr_db in [-6.0, 3.0, 12.0, 30.0] {
            let mut run = cell(scheduler, &[user(snr_db)], &[(0, 1), (1, 0)]);
            let rates = run.run(20_000);
            let peaks = [Direction::Down, Direction::Up].map(|way| run.cell.rate_bps(1, way));
            for (rate, peak) in rates.iter().zip(peaks) {
                // Less the data on its way at the end: a TTI, and a packet.
                let rest = peak * 0.001 + 12_000.0;
                assert!((peak - rate) * 20.0 <= rest && *rate <= peak, "{snr_db}: {rate} {peak}");
            }
        }
    }
    let best = cell(FAIR, &[user(30.0)], &[]).cell;
    // 50 blocks of 168 · 0.75 symbols of 5.5547 bits: 4374 bytes in a millisecond.
    assert_eq!(best.rate_bps(1, Direction::Down), 34_992_000.0);
}

#[test]
fn over_constant_channels_fair_and_round_robin_give_equal_times_so_that_rates_are_peaks_by_n() {
    for scheduler in [FAIR, Scheduler::RoundRobin] {
        for n in [2, 5, 10] {
            let users: Vec<_> = (0..n).map(|at| user(-5.0 + 3.0 * at as f64)).collect();
            let links: Vec<_> = (1..=n).flat_map(|user| [(0, user), (user, 0)]).collect();
            let mut run = cell(scheduler, &users, &links);
            run.run(1_000);
            let rates = run.run(60_000);
            for (link, rate) in rates.iter().enumerate() {
                let (user, way) = (1 + link / 2, DIRECTIONS[link % 2]);
                let share = run.cell.rate_bps(user, way) / n as f64;
                // The slowest has 236 packets, and one of them is 0.4 %.
                assert!((rate / share - 1.0).abs() < 0.005, "{scheduler:?} {n} {link}: {rate}");
            }
        }
    }
}

#[test]
fn the_maximum_rate_is_given_to_the_best_and_shared_by_equals() {
    let mut run =
        cell(Scheduler::MaxRate, &[user(9.0), user(21.0), user(21.5), user(15.0)], &downlinks(4));
    let rates = run.run(10_000);
    assert_eq!([rates[0], rates[3]], [0.0, 0.0]);
    for user in [1, 2] {
        let half = run.cell.rate_bps(user + 1, Direction::Down) / 2.0;
        assert!((rates[user] / half - 1.0).abs() < 0.002, "{rates:?}");
    }
}

/// Mean rate in b/s of the best of n users, each with `fading` around a mean: the sum over the
/// table's steps, each with the Gaussian probability that the best of them is there.
fn best_of(n: i32, mean_db: f64, fading: Fading) -> f64 {
    let rate = |db: f64| cell(FAIR, &[user(db)], &[]).cell.rate_bps(1, Direction::Down);
    let all_below = |db: f64| {
        let deviations = (mean_db - db) / fading.deviation_db;
        libm::pow(0.5 * libm::erfc(deviations / libm::sqrt(2.0)), f64::from(n))
    };
    let steps = (-200..600).map(|tenths| f64::from(tenths) / 10.0);
    steps.map(|db| rate(db + 0.05) * (all_below(db + 0.1) - all_below(db))).sum()
}

#[test]
fn with_equal_fading_proportional_fair_has_the_rate_of_the_best_and_equal_shares() {
    let fading = Fading { deviation_db: 5.0, coherence: Span::millis(10) };
    let users = vec![CellUser { fading: Some(fading), ..user(10.0) }; 8];
    let total = |scheduler, averaging| {
        let settings = CellSettings { averaging, ..settings(scheduler, &users) };
        let mut run = saturated(&settings, &vec![Station::default(); 9], &downlinks(8));
        let rates = run.run(200_000);
        assert!(jain(&rates) > 0.95, "{scheduler:?}: {rates:?}");
        rates.iter().sum::<f64>()
    };
    let long = Span::millis(2_000);
    let (fair, turns, most) =
        (total(FAIR, long), total(Scheduler::RoundRobin, long), total(Scheduler::MaxRate, long));
    let (best, one) = (best_of(8, 10.0, fading), best_of(1, 10.0, fading));
    assert!((turns / one - 1.0).abs() < 0.02, "{turns} for {one}");
    assert!((most / best - 1.0).abs() < 0.02, "{most} for {best}");
    // An average over 200 times the coherence hardly moves, so that the best rate is first; one
    // over 10 times follows.
    assert!(fair < most && fair > 0.98 * best, "{fair} for {best}");
    let quick = total(FAIR, Span::millis(100));
    assert!(quick < fair && quick > 1.5 * turns, "{quick} {turns}");
}

#[test]
fn what_one_user_does_not_need_is_shared_by_the_others() {
    for scheduler in [FAIR, Scheduler::RoundRobin] {
        let users = [user(12.0), user(12.0), user(6.0)];
        let mut run = cell(scheduler, &users, &[(0, 2), (0, 3), (0, 1)]);
        run.saturated = 2;
        run.run(1_000);
        let used = |run: &Saturated| [2, 3, 1].map(|user| run.cell.blocks(user, Direction::Down));
        let (before, mut rates) = (used(&run), [0.0; 3]);
        for _ in 0..6_000 {
            run.offer(2, 1250); // 1 Mb/s, of 17.2 Mb/s
            run.run(10).iter().zip(&mut rates).for_each(|(rate, sum)| *sum += rate / 6_000.0);
        }
        let blocks: Vec<f64> =
            used(&run).iter().zip(before).map(|(now, then)| (now - then) as f64).collect();
        let all = 50.0 * 60_000.0;
        assert!((rates[2] * 1250.0 / 1500.0 / 1e6 - 1.0).abs() < 0.001, "{rates:?}");
        assert!(blocks[2] / all < 0.08, "{blocks:?}");
        assert!((blocks.iter().sum::<f64>() / all - 1.0).abs() < 1e-4, "nothing is left over");
        for link in [0, 1] {
            let rest = 0.5 * (1.0 - blocks[2] / all);
            assert!((blocks[link] / all / rest - 1.0).abs() < 0.01, "{scheduler:?} {blocks:?}");
            let peak = run.cell.rate_bps(link + 2, Direction::Down);
            assert!((rates[link] / peak / rest - 1.0).abs() < 0.01, "{scheduler:?} {rates:?}");
        }
    }
}

#[test]
fn a_packet_waits_for_the_next_tti_and_arrives_at_the_end_of_the_one_with_its_last_byte() {
    let settings = CellSettings { blocks_up: 50, ..settings(FAIR, &[user(30.0), user(0.0)]) };
    let mut cell = Cell::new(&settings, &vec![Station::default(); 3], &[(0, 1), (2, 0)]);
    assert_eq!(cell.next_wake(), Time::NEVER);
    let at = |us: u64| Time(us * 1_000);
    let seen = |cell: &mut Cell<TestPacket>, from: u64, link: u32, bytes: u32| {
        assert!(cell.offer(at(from), link, TestPacket::of(bytes), &mut Never));
        let mut seen = Vec::new();
        while cell.next_wake() != Time::NEVER {
            let now = cell.next_wake();
            cell.wake(now, &mut Never);
            seen.push((now.0 / 1_000, cell.outcomes().drain(..).count()));
        }
        seen
    };
    assert_eq!(seen(&mut cell, 300, 0, 4374), [(1_000, 0), (2_000, 2)]);
    assert_eq!(seen(&mut cell, 5_000, 0, 4375), [(5_000, 0), (6_000, 0), (7_000, 2)]);
    // At 0 dB 50 blocks carry 50 · 126 · 0.377 bits, which are 296 bytes.
    assert_eq!(seen(&mut cell, 7_001, 1, 593), [(8_000, 0), (9_000, 0), (10_000, 0), (11_000, 2)]);
    let (base, second) = (cell.counters(0), cell.counters(2));
    assert_eq!((base.attempts, base.acknowledged, base.airtime), (3, 2, Span::millis(3)));
    assert_eq!((second.attempts, second.acknowledged, second.airtime), (3, 1, Span::millis(3)));
}

#[test]
fn a_user_out_of_reach_waits_and_has_another_rate_once_it_has_moved() {
    let radio = Radio::default();
    let at = |snr_db| Position { x: radio.reach_m(radio.noise_dbm + snr_db), y: 0.0 };
    let users = [CellUser { snr_db: None, fading: None }, user(10.0)];
    let settings = CellSettings { radio: Some(radio), ..settings(FAIR, &users) };
    let mut stations = vec![Station::default(); 3];
    stations[1].position = at(-7.5);
    let mut run = saturated(&settings, &stations, &downlinks(2));
    let rates = run.run(1_000);
    assert_eq!((rates[0], run.cell.rate_bps(1, Direction::Down)), (0.0, 0.0));
    assert_eq!((run.cell.backlog(0), run.cell.backlog(1)), (2 * WAITING, 0));
    run.cell.set_positions(run.now, &[Position::default(), at(25.5), at(40.0)]);
    run.run(1_000);
    let half = run.cell.rate_bps(1, Direction::Down) / 2.0;
    assert!(half > 17e6);
    let rates = run.run(10_000);
    assert!((rates[0] / half - 1.0).abs() < 0.01, "{rates:?}");
}

#[test]
#[should_panic(expected = "link 1 is not between the base and a user")]
fn a_lane_between_users_is_refused() {
    cell(FAIR, &[user(1.0), user(1.0)], &[(0, 1), (1, 2)]);
}

/// Means of up to five users, links, and packets: time in µs, link, length.
type Scene = (Vec<f64>, Vec<(usize, usize)>, Vec<(u64, usize, u32)>);

fn scene() -> impl Strategy<Value = Scene> {
    proptest::collection::vec(-5.0..30.0f64, 1..5).prop_flat_map(|means| {
        let link = (1..=means.len(), any::<bool>());
        let link = link.prop_map(|(user, down)| if down { (0, user) } else { (user, 0) });
        let links = proptest::collection::vec(link, 1..6);
        links.prop_flat_map(move |links| {
            let packet = (0..20_000u64, 0..links.len(), 0..1500u32);
            (Just(means.clone()), Just(links), proptest::collection::vec(packet, 1..120))
        })
    })
}

/// The result of a scene: whether each packet was accepted, each exit with its time, and the blocks
/// used up to each TTI's start, by direction and user.
type Played = (Vec<bool>, Vec<(Time, Outcome<TestPacket>)>, Vec<[Vec<u64>; 2]>);

/// Plays a scene to its end. If `curious`, an observer also looks at the cell between events.
fn play(
    cell: &mut Cell<TestPacket>,
    packets: &[(u64, usize, u32)],
    seed: u64,
    curious: bool,
) -> Played {
    let (mut rng, mut played) = (Lcg(seed), Played::default());
    let users = cell.channels.len();
    let mut coming = packets.iter().enumerate().peekable();
    loop {
        let next = coming.peek().map_or(Time::NEVER, |(_, packet)| Time(packet.0 * 1000));
        let now = next.min(cell.next_wake());
        if now == Time::NEVER {
            return played;
        }
        if curious {
            cell.wake(Time(now.0.saturating_sub(1)), &mut rng);
        }
        if now == next
            && let Some((number, (_, link, bytes))) = coming.next()
        {
            let packet =
                TestPacket { path: *link as u32, number: number as u32, ..TestPacket::of(*bytes) };
            played.0.push(cell.offer(now, *link as u32, packet, &mut rng));
        }
        let due = cell.next_wake() == now;
        cell.wake(now, &mut rng);
        played.1.extend(cell.outcomes().drain(..).map(|outcome| (now, outcome)));
        if due {
            let used = |way| (1..=users).map(|user| cell.blocks(user, way)).collect();
            played.2.push(DIRECTIONS.map(used));
        }
    }
}

/// Checks that no TTI uses more blocks than there are, and that no block carries more than its
/// capacity: at the user's signal without fading, at the best signal with it. `bytes` have arrived,
/// by direction and user.
fn within_capacity(
    cell: &Cell<TestPacket>,
    used: &[[Vec<u64>; 2]],
    bytes: &[Vec<u64>; 2],
    fades: bool,
) {
    for way in [0, 1] {
        let most = u64::from(cell.sides[way].allocator.blocks());
        let sums: Vec<u64> = used.iter().map(|used| used[way].iter().sum()).collect();
        assert!(sums.first().is_none_or(|first| *first <= most));
        assert!(sums.windows(2).all(|pair| pair[1] - pair[0] <= most));
        for (user, channel) in cell.channels.iter().enumerate() {
            let best = Channel::new(30.0, None);
            let bits = if fades { &best } else { channel }.mean_bits(0.25);
            let blocks = used.last().map_or(0, |used| used[way][user]);
            assert!(8.0 * bytes[way][user] as f64 <= blocks as f64 * bits);
        }
    }
}

proptest! {
    #[test]
    fn every_packet_leaves_once_and_arrives_once_in_order_in_what_its_blocks_carry(
        (means, links, mut packets) in scene(),
        scheduler in prop_oneof![Just(FAIR), Just(Scheduler::RoundRobin), Just(Scheduler::MaxRate)],
        deviation_db in prop_oneof![Just(0.0), 1.0..8.0f64],
        queue in queues(),
        blocks in (1..30u32, 1..30u32),
        seed in any::<u64>(),
    ) {
        packets.sort_by_key(|packet| packet.0);
        let fading = Fading { deviation_db, coherence: Span::millis(3) };
        let fading = (deviation_db > 0.0).then_some(fading);
        let users: Vec<_> = means.iter().map(|mean| CellUser { fading, ..user(*mean) }).collect();
        let stations = vec![Station { queue, ..Station::default() }; users.len() + 1];
        let (blocks, blocks_up) = blocks;
        let settings = CellSettings { blocks, blocks_up, ..settings(scheduler, &users) };
        let new = || Cell::new(&settings, &stations, &links);
        let mut cell = new();
        let played = play(&mut cell, &packets, seed, false);
        let (mut left, mut lost, mut arrived) = (0, 0, 0);
        let mut last = vec![None; links.len()];
        let mut bytes = [vec![0u64; users.len()], vec![0u64; users.len()]];
        for (now, outcome) in &played.1 {
            match outcome {
                Outcome::Lost { .. } => unreachable!("single hops"),
                Outcome::Left { lost: dropped, .. } => {
                    left += 1;
                    lost += u64::from(*dropped);
                }
                Outcome::Arrived { link, packet, at } => {
                    prop_assert_eq!(links[*link as usize].1, *at as usize);
                    prop_assert!(last[*link as usize] < Some(packet.number));
                    prop_assert_eq!(now.0 % TTI.0, 0);
                    last[*link as usize] = Some(packet.number);
                    arrived += 1;
                    let (user, way) = cell.links[*link as usize];
                    bytes[way as usize][user] += u64::from(packet.bytes);
                }
            }
        }
        let accepted = played.0.iter().filter(|taken| **taken).count();
        prop_assert_eq!(left, accepted);
        prop_assert_eq!(arrived + lost, accepted as u64);
        let drops: u64 = (0..=users.len()).map(|station| cell.counters(station).queue_drops).sum();
        prop_assert_eq!(drops, (packets.len() - accepted) as u64 + lost);
        prop_assert!((0..=users.len()).all(|station| cell.backlog(station) == 0));
        within_capacity(&cell, &played.2, &bytes, fading.is_some());
        // Observers do not change the run.
        prop_assert_eq!(played, play(&mut new(), &packets, seed, true));
    }
}
