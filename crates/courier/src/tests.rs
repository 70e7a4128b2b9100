//! Both ends in virtual time, over a network that loses, delays, copies and changes datagrams.

use crate::{
    Closed, Event, Gone, Initiator, PublicKey, Read, Responder, Route, SecretKey, Settings,
    StreamId, Streams, Transmit,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use units::{Span, Time};

/// Numbers that follow from a seed: SplitMix64.
#[derive(Clone)]
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ word >> 31
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }
}

impl crate::Entropy for Numbers {
    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.iter_mut().for_each(|byte| *byte = self.next() as u8);
    }
}

/// What a path does to datagrams, in percent, and its delay.
#[derive(Clone, Copy, Debug)]
struct Fate {
    loss: u64,
    late: u64,
    copy: u64,
    change: u64,
    delay: Span,
    up: bool,
}

const CLEAN: Fate = Fate { loss: 0, late: 0, copy: 0, change: 0, delay: Span::millis(5), up: true };

/// The address of the initiator on path `path` after it moved `moves` times.
fn address(path: usize, moves: u16) -> Route {
    let port = 100 + 10 * path as u16 + moves;
    Route { local: path, remote: ([192, 0, 2, 1], port).into() }
}

fn server(path: usize) -> Route {
    Route { local: path, remote: ([198, 51, 100, path as u8], 9).into() }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    Initiator,
    Responder,
}

/// A datagram under way: towards which end, from which route.
type Moving = (To, Route, Vec<u8>);

struct World {
    initiator: Initiator,
    responder: Responder,
    paths: Vec<Fate>,
    /// How often the initiator's address of a path has changed, by a NAT between the two.
    moves: Vec<u16>,
    /// By time and number.
    moving: BTreeMap<(Time, u64), Moving>,
    /// All datagrams towards the responder, if they are recorded.
    record: Option<Vec<(Route, Vec<u8>)>>,
    now: Time,
    count: u64,
    random: Numbers,
    number: Option<u64>,
    ended: Vec<Closed>,
}

fn keys() -> (SecretKey, SecretKey) {
    (SecretKey([1; 32]), SecretKey([2; 32]))
}

fn settings(controller: &str) -> Settings {
    Settings { buffer: 256 << 10, ..Settings::new(controller.parse().unwrap()) }
}

impl World {
    fn new(settings: [Settings; 2], paths: &[Fate], seed: u64) -> Self {
        let (mut random, (client, host)) = (Numbers(seed), keys());
        let routes: Vec<_> = (0..paths.len()).map(server).collect();
        let [one, other] = settings;
        let initiator = Initiator::new(client.clone(), host.public(), one, &routes);
        let allowed: [PublicKey; 1] = [client.public()];
        let responder = Responder::new(host, allowed, other, Time::ZERO, &mut random);
        World {
            initiator,
            responder,
            paths: paths.to_vec(),
            moves: vec![0; paths.len()],
            moving: BTreeMap::new(),
            record: None,
            now: Time::ZERO,
            count: 0,
            random,
            number: None,
            ended: vec![],
        }
    }

    fn carry(&mut self, to: To, path: usize, from: Route, bytes: Vec<u8>) {
        let Fate { loss, late, copy, change, delay, up } = self.paths[path];
        if !up || self.random.chance(loss) {
            return;
        }
        for _ in 0..if self.random.chance(copy) { 2 } else { 1 } {
            let mut bytes = bytes.clone();
            if self.random.chance(change) {
                let at = self.random.next() as usize % bytes.len();
                bytes[at] ^= 1 << (self.random.next() % 8);
            }
            let more = if self.random.chance(late) { self.random.next() % 40 } else { 0 };
            self.count += 1;
            let at = self.now + delay + Span::millis(more);
            self.moving.insert((at, self.count), (to, from, bytes));
        }
    }

    fn send(&mut self) {
        while let Some(Transmit { route, bytes }) = self.initiator.poll_transmit(self.now) {
            let path = route.local;
            let from = address(path, self.moves[path]);
            self.carry(To::Responder, path, from, bytes);
        }
        while let Some(Transmit { route, bytes }) = self.responder.poll_transmit(self.now) {
            let path = route.local;
            if route == address(path, self.moves[path]) {
                self.carry(To::Initiator, path, server(path), bytes);
            }
        }
        while let Some(event) = self.responder.poll_event() {
            match event {
                Event::Connected(number, key) => {
                    assert_eq!(key, keys().0.public());
                    self.number = Some(number);
                }
                Event::Ended(_, why) => self.ended.push(why),
            }
        }
    }

    /// The next event, if one comes before `until`.
    fn step(&mut self, until: Time) -> bool {
        self.send();
        let arrival = self.moving.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
        let timers = self.initiator.next_deadline().min(self.responder.next_deadline());
        let next = arrival.min(timers);
        if next > until {
            self.now = self.now.max(until);
            return false;
        }
        self.now = self.now.max(next);
        if next == arrival {
            let (_, (to, from, bytes)) = self.moving.pop_first().unwrap();
            match to {
                To::Initiator => {
                    self.initiator.on_datagram(self.now, from, &bytes, &mut self.random);
                }
                To::Responder => {
                    self.record.iter_mut().for_each(|all| all.push((from, bytes.clone())));
                    self.responder.on_datagram(self.now, from, &bytes, &mut self.random);
                }
            }
        } else {
            self.initiator.on_deadline(self.now, &mut self.random);
            self.responder.on_deadline(self.now, &mut self.random);
        }
        true
    }

    fn run_for(&mut self, span: Span) {
        let until = self.now + span;
        while self.step(until) {}
    }

    fn client(&mut self) -> &mut dyn Streams {
        self.initiator.connection().expect("it is established")
    }

    fn host(&mut self) -> &mut crate::Connection {
        let number = self.number.expect("it is established");
        self.responder.connection(number).expect("it has not ended")
    }

    fn establish(&mut self) {
        let until = self.now + Span::millis(60_000);
        while self.number.is_none() || self.initiator.connection().is_none() {
            assert!(self.step(until), "no connection after a minute");
        }
    }
}

fn pattern(seed: usize, len: usize) -> Vec<u8> {
    (0..len).map(|at| ((at * 7 + seed) % 253) as u8).collect()
}

/// Reads what there is; returns whether the stream has ended.
fn read(from: &mut dyn Streams, stream: StreamId, into: &mut Vec<u8>) -> Result<bool, Gone> {
    let mut part = [0; 4096];
    loop {
        match from.read(stream, &mut part)? {
            Read::Bytes(count) => into.extend(&part[..count]),
            Read::Wait => return Ok(false),
            Read::End => return Ok(true),
        }
    }
}

/// A stream over which both ends write and read.
struct Exchange {
    id: StreamId,
    /// To send, then received, at the initiator and at the responder.
    data: [Vec<u8>; 2],
    sent: [usize; 2],
    got: [Vec<u8>; 2],
    over: [bool; 2],
}

impl Exchange {
    fn open(world: &mut World, seed: usize, bytes: [usize; 2]) -> Self {
        let id = world.client().open(format!("stream {seed}").as_bytes()).unwrap();
        let data = [pattern(seed, bytes[0]), pattern(seed + 99, bytes[1])];
        Exchange { id, data, sent: [0; 2], got: [vec![], vec![]], over: [false; 2] }
    }

    fn go_on(&mut self, world: &mut World) {
        self.one_end(world.client(), 0);
        let _ = world.host().accept();
        let id = self.id;
        if world.host().read(id, &mut []).is_ok() {
            self.one_end(world.host(), 1);
        }
    }

    fn one_end(&mut self, end: &mut dyn Streams, me: usize) {
        if self.over[me] && self.sent[me] > self.data[me].len() {
            return;
        }
        let rest = &self.data[me][self.sent[me].min(self.data[me].len())..];
        if !rest.is_empty() {
            self.sent[me] += end.write(self.id, rest).unwrap();
        } else if self.sent[me] == self.data[me].len() {
            end.finish(self.id);
            self.sent[me] += 1;
        }
        self.over[me] = self.over[me] || read(end, self.id, &mut self.got[me]).unwrap();
    }

    fn is_complete(&self) -> bool {
        self.over == [true; 2]
    }

    fn check(&self) {
        assert!(self.got[0] == self.data[1] && self.got[1] == self.data[0]);
    }
}

/// Exchanges bytes over several streams at once; returns the time that it took.
fn exchange(world: &mut World, streams: usize, bytes: [usize; 2]) -> Span {
    let from = world.now;
    let mut all: Vec<_> = (0..streams).map(|seed| Exchange::open(world, seed, bytes)).collect();
    while !all.iter().all(Exchange::is_complete) {
        all.iter_mut().for_each(|exchange| exchange.go_on(world));
        let until = world.now + Span::millis(10_000);
        assert!(world.step(until), "nothing moves at {:?}", world.now);
        assert!(world.now < from + Span::millis(600_000), "not done after ten minutes");
    }
    all.iter().for_each(Exchange::check);
    world.now.since(from)
}

fn fates() -> impl Strategy<Value = Fate> {
    (0u64..15, 0u64..30, 0u64..15, 0u64..6, 1u64..60).prop_map(|(loss, late, copy, change, ms)| {
        Fate { loss, late, copy, change, delay: Span::millis(ms), up: true }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_in_order_over_paths_that_lose_delay_copy_and_change(
        paths in prop::collection::vec(fates(), 1..4), seed: u64, coded: [bool; 2],
        controller in prop::sample::select(vec![
            "couple+", "lia", "olia", "reno", "multi-priority", "tfrc", "bilevel-tfrc",
        ]),
        streams in 1usize..4, bytes in prop::array::uniform2(0usize..60_000),
    ) {
        let own = |coded: bool| {
            let mut own = settings(controller);
            own.coding = own.coding.filter(|_| coded);
            own
        };
        let mut world = World::new(coded.map(own), &paths, seed);
        world.establish();
        exchange(&mut world, streams, bytes);
        prop_assert_eq!(world.ended.clone(), vec![]);
    }
}

/// A connection whose first datagram of `kind` has a changed bit at byte `at`.
fn establish_with_a_change(kind: u8, at: usize) -> World {
    let mut world = World::new([settings("lia"), settings("lia")], &[CLEAN], 3);
    let mut changed = false;
    while world.number.is_none() || world.initiator.connection().is_none() {
        world.send();
        let datagrams = world.moving.values_mut().map(|(_, _, bytes)| bytes);
        for bytes in datagrams.filter(|bytes| bytes[0] == kind) {
            bytes[at] ^= u8::from(!changed);
            changed = true;
        }
        assert!(world.step(Time::ZERO + Span::millis(30_000)), "kind {kind}, byte {at}");
    }
    world
}

#[test]
fn a_bit_changed_anywhere_in_a_handshake_makes_no_connection_that_leads_nowhere() {
    for (kind, len) in [(1, 25), (2, 25), (3, 128), (4, 61)] {
        for at in 1..len {
            let mut world = establish_with_a_change(kind, at);
            exchange(&mut world, 1, [2_000; 2]);
        }
    }
}

#[test]
fn a_megabyte_each_way_over_two_paths_is_whole_and_both_paths_carry_it() {
    for coded in [true, false] {
        let mut own = settings("lia");
        own.coding = own.coding.filter(|_| coded);
        let lossy = Fate { loss: 2, late: 5, ..CLEAN };
        let mut world = World::new([own.clone(), own], &[lossy; 2], 5);
        world.establish();
        exchange(&mut world, 3, [400_000; 2]);
        for path in world.host().paths() {
            assert!(path.sent > 100_000 && path.received > 100_000, "{coded}: {path:?}");
        }
    }
}

#[test]
fn a_path_that_fails_and_returns_is_left_and_joined_again() {
    fails_and_returns("lia");
}

#[test]
fn a_path_under_tfrc_that_fails_and_returns_is_left_and_joined_again() {
    fails_and_returns("bilevel-tfrc");
}

fn fails_and_returns(controller: &str) {
    let mut world = World::new([settings(controller), settings(controller)], &[CLEAN; 2], 6);
    world.establish();
    exchange(&mut world, 1, [50_000; 2]);
    world.paths[0].up = false;
    exchange(&mut world, 2, [300_000; 2]);
    world.run_for(Span::millis(10_000));
    assert!(!world.host().is_member(0), "three probes were not answered");
    let before: Vec<_> = world.host().paths().map(|path| path.received).collect();
    exchange(&mut world, 1, [50_000; 2]);
    world.paths[0].up = true;
    world.run_for(Span::millis(6_000));
    assert!(world.host().is_member(0));
    exchange(&mut world, 2, [300_000; 2]);
    let after = world.host().paths().next().unwrap().received;
    assert!(after > before[0] + 100_000, "{after} after {before:?}");
}

#[test]
fn a_failed_path_leaves_after_four_seconds_at_an_end_with_data_in_flight() {
    let slow = Fate { delay: Span::millis(20), ..CLEAN };
    let mut world = World::new([settings("lia"), settings("lia")], &[slow, CLEAN], 12);
    world.establish();
    let id = world.client().open(b"there").unwrap();
    let (mut got, mut left) = (vec![], [None; 2]);
    let from = world.now;
    let down = from + Span::millis(2_000);
    while left.contains(&None) {
        while world.client().write(id, &[5; 4096]).unwrap() > 0 {}
        let _ = world.host().accept();
        got.clear();
        let _ = read(world.host(), id, &mut got);
        world.paths[1].up = world.now < down;
        assert!(world.step(from + Span::millis(20_000)), "{left:?}");
        let works = |all: &crate::Connection| all.paths().nth(1).unwrap().works;
        let here = works(world.initiator.connection().unwrap());
        let works = [here, works(world.host())];
        for (left, works) in left.iter_mut().zip(works) {
            if world.now > down && !works {
                left.get_or_insert(world.now.since(down).seconds());
            }
        }
    }
    // The end that receives has grants in flight.
    assert!(left.iter().flatten().all(|left| (4.0..4.1).contains(left)), "{left:?}");
}

#[test]
fn a_path_follows_its_peer_to_another_address() {
    let mut world = World::new([settings("reno"), settings("reno")], &[CLEAN], 7);
    world.establish();
    exchange(&mut world, 1, [10_000; 2]);
    world.moves[0] = 3;
    exchange(&mut world, 1, [100_000; 2]);
    assert_eq!(world.host().paths().next().unwrap().route, Some(address(0, 3)));
}

#[test]
fn a_local_address_that_is_missing_for_a_while_costs_no_data() {
    let mut world = World::new([settings("lia"), settings("lia")], &[CLEAN; 2], 8);
    world.establish();
    exchange(&mut world, 1, [50_000; 2]);
    world.initiator.rebind(1, None);
    exchange(&mut world, 1, [200_000; 2]);
    world.moves[1] = 1;
    world.initiator.rebind(1, Some(server(1)));
    exchange(&mut world, 2, [400_000; 2]);
    assert_eq!(world.host().paths().nth(1).unwrap().route, Some(address(1, 1)));
}

#[test]
fn keys_are_renewed_while_data_flows_and_old_ones_are_forgotten() {
    let lossy = Fate { loss: 10, ..CLEAN };
    let mut world = World::new([settings("lia"), settings("lia")], &[lossy; 2], 9);
    world.establish();
    let first = world.host().peers_id();
    for _ in 0..20 {
        exchange(&mut world, 1, [20_000; 2]);
        world.run_for(Span::millis(20_000));
    }
    assert!(world.host().keys_from() > Time::ZERO + Span::millis(230_000));
    assert!(!world.initiator.connection().unwrap().holds(first));
    assert_eq!(world.ended, []);
}

#[test]
fn garbage_and_replays_change_nothing() {
    let run = |hostile: bool| {
        let mut world = World::new([settings("couple+"), settings("lia")], &[CLEAN; 2], 10);
        world.record = Some(vec![]);
        world.establish();
        exchange(&mut world, 2, [30_000; 2]);
        if hostile {
            let (mut other, recorded) = (Numbers(77), world.record.take().unwrap());
            // From where they came, from elsewhere, cut, and changed.
            for (from, bytes) in recorded {
                let far = Route { remote: ([203, 0, 113, 9], 9).into(), ..from };
                let sealed = bytes[0] == 5;
                let mut changed = bytes.clone();
                let at = 1 + other.next() as usize % (bytes.len() - 1);
                changed[at] ^= 0x80;
                let cut = &bytes[..at];
                for (from, bytes) in
                    [(from, &bytes[..]), (far, &bytes), (from, &changed), (from, cut)]
                {
                    // A hello is a question that anybody may ask; only its answer is sent.
                    if sealed || bytes[0] == 4 {
                        world.responder.on_datagram(world.now, from, bytes, &mut other);
                        assert_eq!(world.responder.poll_event(), None);
                    }
                }
            }
            for len in 0..200 {
                let noise: Vec<u8> = (0..len).map(|_| other.next() as u8).collect();
                world.responder.on_datagram(world.now, address(0, 0), &noise, &mut other);
                world.initiator.on_datagram(world.now, server(0), &noise, &mut other);
            }
        }
        let took = exchange(&mut world, 2, [30_000; 2]);
        let state: Vec<_> = world.host().paths().collect();
        (took, state, world.now)
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn a_first_message_that_is_repeated_by_another_leads_nowhere() {
    let mut world = World::new([settings("lia"), settings("lia")], &[CLEAN], 11);
    world.record = Some(vec![]);
    world.establish();
    exchange(&mut world, 1, [5_000; 2]);
    let recorded = world.record.take().unwrap();
    let (from, initiate) = recorded.iter().find(|(_, bytes)| bytes[0] == 3).unwrap();
    for _ in 0..5 {
        world.responder.on_datagram(world.now, *from, initiate, &mut Numbers(4));
    }
    let far = Route { remote: ([203, 0, 113, 9], 9).into(), ..*from };
    while world.responder.poll_transmit(world.now).is_some() {}
    world.responder.on_datagram(world.now, far, initiate, &mut Numbers(4));
    assert_eq!(world.responder.poll_transmit(world.now), None, "the cookie is not for it");
    exchange(&mut world, 1, [5_000; 2]);
    assert_eq!(world.ended, []);
}

#[test]
fn a_host_with_another_key_gets_a_cookie_and_nothing_else() {
    let mut world = World::new([settings("lia"), settings("lia")], &[CLEAN], 12);
    let host = keys().1.public();
    world.initiator = Initiator::new(SecretKey([9; 32]), host, settings("lia"), &[server(0)]);
    world.run_for(Span::millis(30_000));
    assert!(world.initiator.connection().is_none() && world.number.is_none());
    // No answer is longer than the question.
    let mut random = Numbers(1);
    for (_, bytes) in [
        (0, vec![1; 25]),
        (0, {
            let mut it = vec![0; 25];
            it[0] = 1;
            it
        }),
    ] {
        world.responder.on_datagram(world.now, address(0, 0), &bytes, &mut random);
        let answer = world.responder.poll_transmit(world.now);
        assert!(answer.is_none_or(|answer| answer.bytes.len() <= bytes.len()));
    }
}

#[test]
fn silence_ends_a_connection_and_its_streams_in_the_time_of_the_settings() {
    let mut world = World::new([settings("lia"), settings("lia")], &[CLEAN; 2], 13);
    world.establish();
    let id = world.client().open(b"x").unwrap();
    world.run_for(Span::millis(100));
    world.paths.iter_mut().for_each(|path| path.up = false);
    world.run_for(Span::millis(14_000));
    assert_eq!(world.ended, []);
    world.run_for(Span::millis(6_000));
    assert_eq!(world.ended, [Closed::Timeout]);
    let connection = world.initiator.connection().unwrap();
    assert_eq!(connection.closed(), Some(Closed::Timeout));
    assert_eq!((connection.changed(), connection.read(id, &mut [0])), (Some(id), Err(Gone)));
    // Both come back.
    world.paths.iter_mut().for_each(|path| path.up = true);
    world.number = None;
    assert_eq!(world.initiator.renew(world.now), Some(Closed::Timeout));
    world.establish();
    exchange(&mut world, 1, [5_000; 2]);
}

#[test]
fn an_initiator_that_begins_anew_replaces_its_connection_and_a_close_is_told() {
    let mut world = World::new([settings("lia"), settings("lia")], &[CLEAN; 2], 14);
    world.establish();
    let (client, host) = keys();
    let routes = [server(0), server(1)];
    world.initiator = Initiator::new(client, host.public(), settings("lia"), &routes);
    world.number = None;
    world.establish();
    assert_eq!(world.ended, [Closed::Replaced]);
    exchange(&mut world, 1, [5_000; 2]);
    world.initiator.connection().unwrap().close();
    world.run_for(Span::millis(100));
    assert_eq!(world.ended, [Closed::Replaced, Closed::Peer]);
}

#[test]
fn a_reader_that_stops_bounds_the_memory_and_stops_no_other_stream() {
    let mut world = World::new([settings("lia"), settings("lia")], &[CLEAN; 2], 15);
    world.establish();
    let stuck: Vec<_> = (0..5).map(|_| world.client().open(b"stuck").unwrap()).collect();
    for _ in 0..200 {
        for id in &stuck {
            world.client().write(*id, &[7; 10_000]).unwrap();
        }
        world.run_for(Span::millis(10));
    }
    assert!(world.host().stream_bytes() <= 5 * (64 << 10));
    let client = world.initiator.connection().unwrap();
    assert!(client.stream_bytes() <= 5 * (64 << 10));
    exchange(&mut world, 1, [300_000; 2]);
    let most = settings("lia").most_bytes(2);
    assert!((10 << 20..200 << 20).contains(&most), "{most}");
}

#[test]
fn a_rate_is_not_exceeded() {
    let mut slow = settings("reno");
    slow.rate = Some(units::Rate(4_000_000));
    let mut world = World::new([slow, settings("reno")], &[CLEAN], 16);
    world.establish();
    let took = exchange(&mut world, 1, [500_000, 0]);
    assert!(took >= Span::millis(1_000), "{took:?}"); // 4 Mb
    assert!(took <= Span::millis(1_400), "{took:?}");
}

#[test]
fn a_spare_path_carries_nothing_while_the_other_works() {
    let mut own = settings("lia");
    own.backup = vec![1];
    let mut world = World::new([own.clone(), own], &[CLEAN; 2], 17);
    world.establish();
    exchange(&mut world, 1, [300_000; 2]);
    assert!(world.host().paths().nth(1).unwrap().received < 3_000);
    world.paths[0].up = false;
    exchange(&mut world, 1, [300_000; 2]);
    assert!(world.host().paths().nth(1).unwrap().received > 300_000);
}
