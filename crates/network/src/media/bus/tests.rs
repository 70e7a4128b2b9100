//! The bus compared with closed forms, and invariants of arbitrary scenes.

use super::*;
use crate::testing::{Lcg, Never, TestPacket, queues};
use crate::{DropTail, Queue};
use proptest::prelude::*;

const ETHERNET: BusSettings = BusSettings { rate: Rate(10_000_000), delay: Span(6_560) };

/// Senders that always have two packets of `bytes` for one receiving station.
struct Saturated {
    bus: Bus<TestPacket>,
    rng: Lcg,
    bytes: u32,
    delivered: Vec<u64>,
    lost: u64,
    arrivals: Vec<(Time, u32)>,
}

/// Stations with ns-3's queue.
fn stations(count: usize) -> Vec<Station> {
    let queue = Queue::DropTail(DropTail::of(100));
    vec![Station { queue, ..Station::default() }; count]
}

fn saturated(settings: BusSettings, senders: usize, bytes: u32) -> Saturated {
    let links: Vec<_> = (0..senders).map(|from| (from, senders)).collect();
    let bus = Bus::new(settings, &stations(senders + 1), &links);
    let (delivered, rng) = (vec![0; senders], Lcg(5 + senders as u64));
    let mut run = Saturated { bus, rng, bytes, delivered, lost: 0, arrivals: Vec::new() };
    (0..2 * senders as u32).for_each(|packet| run.offer(Time::ZERO, packet / 2));
    run
}

impl Saturated {
    fn offer(&mut self, now: Time, link: u32) {
        assert!(self.bus.offer(now, link, TestPacket::of(self.bytes), &mut self.rng));
    }

    fn run(mut self, seconds: f64) -> Self {
        let end = Time::ZERO + Span::from_seconds(seconds);
        while self.bus.next_wake() <= end {
            let now = self.bus.next_wake();
            self.bus.wake(now, &mut self.rng);
            let outcomes: Vec<Outcome<TestPacket>> = self.bus.outcomes().drain(..).collect();
            for outcome in outcomes {
                match outcome {
                    Outcome::Arrived { link, .. } => {
                        self.delivered[link as usize] += 1;
                        self.arrivals.push((now, link));
                    }
                    Outcome::Left { link, lost, .. } => {
                        self.lost += u64::from(lost);
                        self.offer(now, link);
                    }
                    Outcome::Lost { .. } => unreachable!("single hops"),
                }
            }
        }
        self
    }

    fn all(&self) -> f64 {
        self.delivered.iter().sum::<u64>() as f64
    }

    /// Jain's index of the packets delivered by the senders.
    fn jain(&self) -> f64 {
        let squares: f64 = self.delivered.iter().map(|packets| (packets * packets) as f64).sum();
        self.all() * self.all() / (self.delivered.len() as f64 * squares)
    }
}

#[test]
fn a_frame_on_the_wire_has_a_header_a_check_sequence_and_at_least_64_bytes() {
    let us = |us: f64| Span((us * 1e3) as u64);
    assert_eq!(ETHERNET.duration(1500), us(1214.4));
    assert_eq!(ETHERNET.duration(46), us(51.2));
    assert_eq!(ETHERNET.duration(40), us(51.2));
    assert_eq!(ETHERNET.duration(47), us(52.0));
    assert_eq!(ETHERNET.gap(), us(9.6));
    let odd = BusSettings { rate: Rate(7_000_000), delay: Span::ZERO };
    assert_eq!(odd.duration(46), Span(73_143), "rounded up");
}

#[test]
fn a_backoff_is_drawn_from_1_to_2_to_the_retries_less_1_and_at_most_1000_slots() {
    // Values of ns-3's `Backoff` after each increment: 2^k − 1 with k up to 10, cut at 1000.
    let largest = [1, 3, 7, 15, 31, 63, 127, 255, 511, 1000, 1000, 1000];
    let drawn: Vec<u32> = (1..=12).map(|retry| slots(retry, &mut Never)).collect();
    assert_eq!(drawn, largest);
    assert_eq!(slots(1000, &mut Never), 1000);
    let mut rng = Lcg(3);
    for (retry, most) in (1..).zip(largest) {
        let drawn: Vec<u32> = (0..40_000).map(|_| slots(retry, &mut rng)).collect();
        let mean = drawn.iter().sum::<u32>() as f64 / 40_000.0;
        let expected = f64::from(1 + most) / 2.0;
        assert!(drawn.iter().all(|slots| (1..=most).contains(slots)), "{retry}");
        assert!((mean / expected - 1.0).abs() < 0.015, "{retry}: {mean}");
    }
}

#[test]
fn one_station_sends_a_packet_every_frame_delay_and_gap() {
    for (rate, delay) in [(10_000_000, 6_560), (100_000_000, 6_560), (1_000_000, 0)] {
        for bytes in [40, 576, 1500] {
            let settings = BusSettings { rate: Rate(rate), delay: Span(delay) };
            let run = saturated(settings, 1, bytes).run(1.0);
            let cycle = settings.duration(bytes) + settings.delay + settings.gap();
            let expected = (1..).map(|packet| Time(packet * cycle.0 - settings.gap().0));
            assert!(run.arrivals.iter().zip(expected).all(|((at, _), due)| *at == due));
            assert_eq!(run.arrivals.len() as u64, (units::NANOS + settings.gap().0) / cycle.0);
            assert_eq!(run.bus.deferrals(0), 0);
        }
    }
}

#[test]
fn saturated_stations_have_equal_shares_and_lose_nothing() {
    for n in [2, 5, 10] {
        let run = saturated(ETHERNET, n, 500).run(100.0);
        let most = 100.0 / ETHERNET.duration(500).seconds();
        assert!(run.jain() > 0.95, "{n}: {:?}", run.delivered);
        assert!(run.all() <= most, "{n}: {}", run.all() / most);
        assert_eq!(run.lost, 0, "{n}");
        assert!((0..n).all(|station| run.bus.counters(station).queue_drops == 0));
    }
}

/// Mean time in seconds for which the bus is idle between two frames of n saturated stations: until
/// the gap of the last sender is over, or until another station tries before. Each of those tries
/// at a uniform place in its backoffs of 1 to 1000 slots. So with probability 1 − x / 500.5 slots
/// it has not tried after x.
fn idles(n: usize, gap: Span) -> f64 {
    let (mean, n) = (500.5 * SLOT.seconds(), n as f64);
    mean / n * (1.0 - libm::pow(1.0 - gap.seconds() / mean, n))
}

#[test]
fn the_throughput_of_many_is_that_of_frame_delay_and_the_shortest_of_gap_and_backoffs() {
    // Between short frames the bus changes hands often. Some stations have then backed off only a
    // few times, and try more often than in the model.
    for (bytes, of_idle, of_all) in [(1500, 0.005, 0.000_1), (46, 0.08, 0.01)] {
        for n in [2, 5, 10, 20] {
            let run = saturated(ETHERNET, n, bytes).run(50.0);
            let busy = (ETHERNET.duration(bytes) + ETHERNET.delay).seconds();
            let idle = 50.0 / run.all() - busy;
            let model = idles(n, ETHERNET.gap());
            assert!((idle / model - 1.0).abs() < of_idle, "{n}, {bytes} B: {idle} for {model}");
            let ratio = run.all() * (busy + model) / 50.0;
            assert!((ratio - 1.0).abs() < of_all, "{n}, {bytes} B: {ratio}");
        }
    }
}

#[test]
fn who_has_the_bus_keeps_it_until_a_retry_falls_into_a_gap_and_few_wait_in_vain() {
    let run = saturated(ETHERNET, 2, 1500).run(400.0);
    let turns = run.arrivals.windows(2).filter(|pair| pair[0].1 != pair[1].1).count() as f64;
    // A retry falls into the gap if a backoff ends there: after one of 52 frames.
    let expected = run.all() * ETHERNET.gap().seconds() / (500.5 * SLOT.seconds());
    assert!((turns / expected - 1.0).abs() < 0.05, "{turns} for {expected}");
    let failures = [0, 1].map(|station| run.bus.counters(station).failures);
    assert_eq!(run.lost, failures[0] + failures[1]);
    // A thousand retries miss all gaps once in 2500 turns: 2.4 packets of 325,000.
    let cycle = ETHERNET.duration(1500) + ETHERNET.delay + ETHERNET.gap();
    let misses = 1.0 - ETHERNET.gap().seconds() / cycle.seconds();
    let in_vain = turns * libm::pow(misses, 1000.0);
    assert!((run.lost as f64 - in_vain).abs() < 4.0, "{} for {in_vain}", run.lost);
}

#[test]
fn a_packet_is_given_up_when_the_bus_is_busy_after_a_thousand_retries() {
    // 1500 B take 1.2144 s, and a thousand backoffs at most 2.013 ms + 990 · 1 ms.
    let slow = BusSettings { rate: Rate(10_000), delay: Span::ZERO };
    let mut bus = Bus::new(slow, &stations(3), &[(0, 2), (1, 2)]);
    assert!(bus.offer(Time::ZERO, 0, TestPacket::of(1500), &mut Never));
    bus.wake(Time::ZERO, &mut Never);
    let asked = Time(5_000);
    assert!(bus.offer(asked, 1, TestPacket { number: 1, ..TestPacket::of(46) }, &mut Never));
    assert!(bus.offer(asked, 1, TestPacket { number: 2, ..TestPacket::of(46) }, &mut Never));
    bus.wake(asked, &mut Never);
    assert_eq!((bus.deferrals(1), bus.backlog(1)), (1000, 2));
    let given_up = bus.next_wake();
    assert_eq!(given_up, asked + Span(992_013_000));
    bus.wake(given_up, &mut Never);
    let outcomes: Vec<_> = bus.outcomes().drain(..).collect();
    let packet = TestPacket { number: 1, ..TestPacket::of(46) };
    assert_eq!(outcomes, [Outcome::Left { link: 1, packet, lost: true }]);
    assert_eq!((bus.counters(1).failures, bus.backlog(1)), (1, 1));
    // The next packet counts its retries from zero, and is sent once the bus is idle.
    while bus.next_wake() != Time::NEVER {
        bus.wake(bus.next_wake(), &mut Never);
    }
    assert_eq!((bus.counters(1).acknowledged, bus.counters(1).failures), (1, 1));
    assert!(bus.deferrals(1) < 2000, "its counter was reset: {}", bus.deferrals(1));
}

#[test]
fn of_two_that_try_at_one_instant_the_one_that_set_out_first_sends() {
    let mut bus = Bus::new(ETHERNET, &stations(3), &[(0, 2), (1, 2)]);
    for link in [1, 0] {
        assert!(bus.offer(Time(100), link, TestPacket::of(46), &mut Never));
    }
    bus.wake(Time(100), &mut Never);
    assert_eq!([bus.counters(0).attempts, bus.counters(1).attempts], [0, 1]);
    // The other station backs off by 1, 3, 7, 15, 31 and 63 µs, while the bus is busy for 51.2 and
    // 6.56 µs.
    let mut seen = Vec::new();
    while bus.next_wake() != Time::NEVER {
        let now = bus.next_wake();
        bus.wake(now, &mut Never);
        seen.extend(bus.outcomes().drain(..).map(|outcome| (now.0 - 100, outcome)));
    }
    let packet = TestPacket::of(46);
    let expected = [
        (51_200, Outcome::Left { link: 1, packet, lost: false }),
        (57_760, Outcome::Arrived { link: 1, at: 2, packet }),
        (120_000 + 51_200, Outcome::Left { link: 0, packet, lost: false }),
        (120_000 + 57_760, Outcome::Arrived { link: 0, at: 2, packet }),
    ];
    assert_eq!(seen, expected);
}

/// Links between up to six stations, and packets: time in µs, link, length.
type Scene = (usize, Vec<(usize, usize)>, Vec<(u64, usize, u32)>);

fn scene() -> impl Strategy<Value = Scene> {
    (2..6usize).prop_flat_map(|count| {
        let link = (0..count, 1..count).prop_map(move |(from, by)| (from, (from + by) % count));
        let links = proptest::collection::vec(link, 1..6);
        links.prop_flat_map(move |links| {
            let packet = (0..20_000u64, 0..links.len(), 1..1500u32);
            (Just(count), Just(links), proptest::collection::vec(packet, 1..120))
        })
    })
}

/// The result of a scene: whether each packet was accepted, and each exit with its time.
type Played = (Vec<bool>, Vec<(Time, Outcome<TestPacket>)>);

/// Plays a scene to its end. If `curious`, an observer also looks at the bus between events.
fn play(
    bus: &mut Bus<TestPacket>,
    packets: &[(u64, usize, u32)],
    seed: u64,
    curious: bool,
) -> Played {
    let (mut rng, mut taken, mut seen) = (Lcg(seed), Vec::new(), Vec::new());
    let mut coming = packets.iter().enumerate().peekable();
    loop {
        let next = coming.peek().map_or(Time::NEVER, |(_, packet)| Time(packet.0 * 1000));
        let now = next.min(bus.next_wake());
        if now == Time::NEVER {
            return (taken, seen);
        }
        if curious {
            bus.wake(Time(now.0.saturating_sub(1)), &mut rng);
        }
        if now == next
            && let Some((number, (_, link, bytes))) = coming.next()
        {
            let packet =
                TestPacket { path: *link as u32, number: number as u32, ..TestPacket::of(*bytes) };
            taken.push(bus.offer(now, *link as u32, packet, &mut rng));
        }
        bus.wake(now, &mut rng);
        seen.extend(bus.outcomes().drain(..).map(|outcome| (now, outcome)));
    }
}

proptest! {
    #[test]
    fn every_packet_leaves_once_and_arrives_once_in_order_or_is_counted_as_lost(
        (count, links, mut packets) in scene(),
        queue in queues(),
        rate in 100_000..100_000_000u64,
        delay in 0..100_000u64,
        seed in any::<u64>(),
    ) {
        packets.sort_by_key(|packet| packet.0);
        let settings = BusSettings { rate: Rate(rate), delay: Span(delay) };
        let stations = vec![Station { queue, ..Station::default() }; count];
        let new = || Bus::new(settings, &stations, &links);
        let mut bus = new();
        let (taken, seen) = play(&mut bus, &packets, seed, false);
        let (mut left, mut lost, mut arrived) = (0, 0, vec![0; links.len()]);
        let mut last = vec![None; links.len()];
        for (_, outcome) in &seen {
            match outcome {
                Outcome::Lost { .. } => unreachable!("single hops"),
                Outcome::Left { lost: given_up, .. } => {
                    left += 1;
                    lost += u64::from(*given_up);
                }
                Outcome::Arrived { link, packet, at } => {
                    prop_assert_eq!(links[*link as usize].1, *at as usize);
                    prop_assert!(last[*link as usize] < Some(packet.number));
                    last[*link as usize] = Some(packet.number);
                    arrived[*link as usize] += 1u64;
                }
            }
        }
        let accepted = taken.iter().filter(|taken| **taken).count();
        let refused = (taken.len() - accepted) as u64;
        prop_assert_eq!(left, accepted);
        prop_assert_eq!(arrived.iter().sum::<u64>() + lost, accepted as u64);
        let counted = (0..count).map(|station| bus.counters(station));
        let (drops, failures) = counted.fold((0, 0), |sum, station| {
            (sum.0 + station.queue_drops, sum.1 + station.failures)
        });
        prop_assert_eq!(drops + failures, refused + lost);
        prop_assert!((0..count).all(|station| bus.backlog(station) == 0));
        // Observers do not change the run.
        prop_assert_eq!((taken, seen), play(&mut new(), &packets, seed, true));
    }
}
