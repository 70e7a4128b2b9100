//! Both roles in virtual time, over paths that lose packets, fail and move.

use super::{Connecting, Ground, Held, Listening, Way};
use crate::carrier::{Carrier, News, Snapshot};
use courier::{Read, Route, SecretKey, Settings, StreamId, Streams, Transmit};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::{Arc, Mutex};
use units::{Span, Time};
use wire::packet::Endpoint;

const PORT: u16 = 4500;
const DELAY: Span = Span::millis(5);

/// Addresses of the near host by path, which a test may change.
type Addresses = Arc<Mutex<Vec<Option<Ipv4Addr>>>>;

/// And the last port.
struct Places(Addresses, u16);

impl Ground for Places {
    fn address(&self, path: usize) -> Option<Ipv4Addr> {
        self.0.lock().unwrap()[path]
    }

    fn hold(&mut self, address: Ipv4Addr) -> Option<Held> {
        self.1 += 1;
        Some(Held { end: Endpoint { address, port: self.1 }, _socket: None })
    }
}

fn settings() -> Settings {
    Settings { buffer: 256 << 10, ..Settings::new("lia".parse().unwrap()) }
}

fn far_address(path: usize) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::new(198, 51, 100, path as u8), PORT)
}

fn secret(seed: u8) -> SecretKey {
    SecretKey::new(&mut |bytes: &mut [u8]| bytes.fill(seed))
}

fn near(spare: [bool; 2], places: Places) -> Connecting {
    let way = |path: usize| Way { remote: far_address(path), spare: spare[path] };
    let (ways, far) = ([way(0), way(1)], secret(2).public());
    Connecting::new(secret(1), far, settings(), &ways, Box::new(places)).unwrap()
}

struct World {
    near: Connecting,
    far: Listening,
    addresses: Addresses,
    up: Vec<bool>,
    /// Percent of packets that are lost.
    loss: u64,
    random: u64,
    /// By time and number: whether to the far side, path, packet.
    moving: BTreeMap<(Time, u64), (bool, usize, Vec<u8>)>,
    now: Time,
    count: u64,
    news: [Vec<News>; 2],
}

impl World {
    /// Two paths; the near host has the key 1, and `allowed` is that of the host that may connect.
    fn new(spare: [bool; 2], allowed: u8) -> Self {
        let address = |path: u8| Some(Ipv4Addr::new(192, 0, 2, path));
        let addresses: Addresses = Arc::new(Mutex::new(vec![address(0), address(1)]));
        let near = near(spare, Places(addresses.clone(), 1000));
        let far = secret(2);
        let at = vec![far_address(0), far_address(1)];
        let known = [secret(allowed).public()];
        let far = Listening::new(far, &known, settings(), at, vec![]).unwrap();
        World {
            near,
            far,
            addresses,
            up: vec![true; 2],
            loss: 0,
            random: 7,
            moving: BTreeMap::new(),
            now: Time(1),
            count: 0,
            news: [vec![], vec![]],
        }
    }

    fn carry(&mut self, up: bool, path: usize, bytes: Vec<u8>) {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if self.up[path] && (self.random >> 33) % 100 >= self.loss {
            self.count += 1;
            self.moving.insert((self.now + DELAY, self.count), (up, path, bytes));
        }
    }

    fn send(&mut self) {
        while let Some(Transmit { route, bytes }) = self.near.poll_transmit(self.now) {
            self.carry(true, route.local, bytes);
        }
        while let Some(Transmit { route, bytes }) = self.far.poll_transmit(self.now) {
            self.carry(false, route.local, bytes);
        }
        self.news[0].extend(std::iter::from_fn(|| self.near.news(self.now)));
        self.news[1].extend(std::iter::from_fn(|| self.far.news(self.now)));
    }

    /// The next event, if one comes before `until`.
    fn step(&mut self, until: Time) -> bool {
        self.send();
        let arrival = self.moving.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
        let next = arrival.min(self.near.next_deadline()).min(self.far.next_deadline());
        if next > until {
            self.now = self.now.max(until);
            return false;
        }
        self.now = self.now.max(next);
        if next == arrival
            && let Some((_, (up, path, bytes))) = self.moving.pop_first()
        {
            let route = Route { local: path, remote: far_address(path).into() };
            match up {
                true => self.far.on_datagram(self.now, route, &bytes),
                false => self.near.on_datagram(self.now, route, &bytes),
            }
        }
        self.near.on_deadline(self.now);
        self.far.on_deadline(self.now);
        true
    }

    fn run_for(&mut self, span: Span) {
        let until = self.now + span;
        while self.step(until) {}
    }

    fn establish(&mut self) {
        self.run_for(Span::millis(1_500));
        let connected = |news: &News| matches!(news, News::Connected(..));
        assert!(self.news.iter().all(|side| side.iter().any(connected)), "{:?}", self.news);
    }

    fn near_streams(&mut self) -> &mut dyn Streams {
        let number = self.near.snapshots()[0].number;
        self.near.streams(number).unwrap()
    }

    fn far_streams(&mut self) -> &mut dyn Streams {
        let number = self.far.snapshots().last().unwrap().number;
        self.far.streams(number).unwrap()
    }

    /// Sends `len` bytes on a new stream; returns how long that took, if all arrived as they were
    /// within a minute.
    fn transfer(&mut self, len: usize) -> Option<Span> {
        let data: Vec<u8> = (0..len).map(|at| (at / 7 % 251) as u8).collect();
        let id = self.near_streams().open(b"there").unwrap();
        self.carry_stream(id, &data, Span::millis(60_000))
    }

    fn carry_stream(&mut self, id: StreamId, data: &[u8], within: Span) -> Option<Span> {
        let (began, mut sent, mut got) = (self.now, 0, Vec::<u8>::new());
        let mut part = vec![0; 65_536];
        while got.len() < data.len() {
            sent += self.near_streams().write(id, &data[sent..]).ok()?;
            let far = self.far_streams();
            let _ = far.accept();
            while let Ok(Read::Bytes(count)) = far.read(id, &mut part) {
                got.extend(&part[..count]);
            }
            if !self.step(began + within) {
                return None;
            }
        }
        assert!(got == data, "other bytes than were sent");
        Some(self.now.since(began))
    }

    fn near(&mut self) -> Snapshot {
        self.near.snapshots().remove(0)
    }

    fn works(&mut self) -> Vec<bool> {
        self.near().paths.iter().map(|path| path.works).collect()
    }

    fn sent(&mut self) -> Vec<u64> {
        self.near().paths.iter().map(|path| path.sent).collect()
    }
}

#[test]
fn a_stream_crosses_over_both_paths() {
    let mut world = World::new([false; 2], 1);
    world.establish();
    assert!(world.transfer(3_000_000).is_some());
    let sent = world.sent();
    assert!(sent.iter().all(|bytes| *bytes > 500_000), "{sent:?}");
    assert_eq!(world.works(), [true, true]);
    let far = world.far.snapshots().remove(0);
    assert_eq!(far.paths.iter().filter(|path| path.works).count(), 2);
    assert!(far.paths.iter().all(|path| path.received > 500_000));
}

#[test]
fn a_path_that_fails_leaves_the_other_and_carries_again_when_it_returns() {
    let mut world = World::new([false; 2], 1);
    world.establish();
    world.up[0] = false;
    assert!(world.transfer(3_000_000).is_some());
    world.run_for(Span::millis(5_000));
    assert_eq!(world.works(), [false, true]);
    world.up[0] = true;
    world.run_for(Span::millis(6_000));
    assert_eq!(world.works(), [true, true]);
    world.up[1] = false;
    assert!(world.transfer(3_000_000).is_some());
    assert!(world.sent()[0] > 3_000_000, "{:?}", world.sent());
}

#[test]
fn a_spare_path_stays_idle_until_no_other_works() {
    for spare in [[true, false], [false, true]] {
        let at = usize::from(spare[1]);
        let mut world = World::new(spare, 1);
        world.establish();
        assert!(world.transfer(2_000_000).is_some());
        let sent = world.sent();
        // Handshake and acknowledgements alone.
        assert!(sent[at] < 2_000 && sent[1 - at] > 2_000_000, "{sent:?}");
        world.up[1 - at] = false;
        assert!(world.transfer(2_000_000).is_some());
        assert!(world.sent()[at] > 2_000_000);
    }
}

#[test]
fn a_first_path_that_is_dead_does_not_keep_the_others_from_connecting() {
    let mut world = World::new([false; 2], 1);
    world.up[0] = false;
    world.run_for(Span::millis(8_000));
    world.establish();
    assert!(world.transfer(100_000).is_some());
    world.up[0] = true;
    world.run_for(Span::millis(7_000));
    assert!(world.transfer(2_000_000).is_some());
    assert!(world.sent()[0] > 100_000);
}

#[test]
fn a_host_without_an_allowed_key_is_refused_and_nothing_is_held_for_it() {
    let mut world = World::new([false; 2], 9);
    world.run_for(Span::millis(10_000));
    world.up = vec![false; 2];
    world.run_for(Span::millis(30_000));
    assert!(world.news.iter().all(Vec::is_empty), "{:?}", world.news);
    assert!(world.far.guests() == 0 && world.far.snapshots().is_empty());
    assert!(world.far.holds_nothing());
}

#[test]
fn dead_paths_end_both_sides_and_the_near_one_connects_again() {
    let mut world = World::new([false; 2], 1);
    world.establish();
    let id = world.near_streams().open(b"there").unwrap();
    world.up = vec![false; 2];
    world.run_for(Span::millis(16_000));
    for side in &world.news {
        assert!(matches!(&side[..], [News::Connected(..), News::Ended(..)]), "{side:?}");
    }
    assert!(world.near.streams(1).is_none() && world.far.guests() == 0);
    world.up = vec![true; 2];
    world.run_for(Span::millis(10_000));
    world.establish();
    assert!(world.near_streams().write(id, b"x").is_err());
    assert!(world.transfer(1_000_000).is_some());
}

#[test]
fn a_side_that_closes_ends_the_other_at_once() {
    let mut world = World::new([false; 2], 1);
    world.establish();
    world.far.close();
    world.run_for(Span::millis(20));
    assert!(matches!(world.news[0].last(), Some(News::Ended(..))), "{:?}", world.news[0]);
}

#[test]
fn a_new_connection_of_a_host_replaces_the_one_before() {
    let mut world = World::new([false; 2], 1);
    world.establish();
    // The host begins anew, as after a power failure: it sends nothing about the old connection.
    world.near = near([false; 2], Places(world.addresses.clone(), 2000));
    world.run_for(Span::millis(3_000));
    let after = &world.news[1];
    assert!(matches!(
        &after[..],
        [News::Connected(1, _), News::Ended(1, _), News::Connected(2, _)]
    ));
    assert!(world.transfer(500_000).is_some());
}

#[test]
fn a_path_with_another_address_joins_from_there() {
    let mut world = World::new([false; 2], 1);
    world.establish();
    let moved = Ipv4Addr::new(192, 0, 2, 77);
    world.addresses.lock().unwrap()[1] = Some(moved);
    world.run_for(Span::millis(3_000));
    assert_eq!(world.works(), [true, true]);
    let far = world.far.snapshots().remove(0);
    let remotes = far.paths.iter().filter_map(|path| Some(path.route?.remote.ip()));
    assert!(remotes.collect::<Vec<_>>().contains(&moved.into()));
    assert!(world.transfer(1_000_000).is_some());
}

#[test]
fn strangers_of_one_address_get_few_connections_at_a_time() {
    let mut world = World::new([false; 2], 1);
    let own = host::Settings::new("reno".parse().unwrap());
    let mut count = 4;
    let random = move || {
        count += 1;
        count << 32 | count
    };
    let mut stranger = host::Host::new(own, random).unwrap();
    for port in 0..40 {
        let local = Endpoint { address: Ipv4Addr::new(203, 0, 113, 5), port: 100 + port };
        let remote = Endpoint { address: *far_address(0).ip(), port: PORT };
        stranger.connect(world.now, local, remote).unwrap();
    }
    let route = Route { local: 0, remote: far_address(0).into() };
    for _ in 0..10 {
        while let Some(packet) = stranger.poll(world.now) {
            world.far.on_datagram(world.now, route, &packet);
        }
        world.far.on_deadline(world.now);
        while let Some(Transmit { bytes, .. }) = world.far.poll_transmit(world.now) {
            stranger.on_packet(world.now, &bytes);
        }
    }
    assert_eq!(world.far.guests(), super::listening::OF_ONE_ADDRESS);
    world.run_for(Span::millis(30_000));
    assert_eq!(world.far.guests(), 1, "the host with the key");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn bytes_are_the_same_though_packets_are_lost(loss in 0u64..6, seed: u64) {
        let mut world = World::new([false; 2], 1);
        (world.loss, world.random) = (loss, seed);
        world.run_for(Span::millis(8_000));
        world.establish();
        prop_assert!(world.transfer(400_000).is_some());
    }

    #[test]
    fn no_packet_makes_either_side_panic(
        packets in prop::collection::vec((any::<bool>(), 0usize..3, prop::collection::vec(any::<u8>(), 0..80)), 0..40),
        at: Vec<prop::sample::Index>,
    ) {
        let mut world = World::new([false; 2], 1);
        world.establish();
        let _ = world.near_streams().open(b"there").unwrap();
        world.send();
        let real: Vec<_> = world.moving.values().cloned().collect();
        let changed = real.iter().zip(at).map(|((up, path, bytes), at)| {
            let mut bytes = bytes.clone();
            let at = at.index(bytes.len());
            bytes[at] ^= 1;
            (*up, *path, bytes)
        });
        for (up, path, bytes) in packets.into_iter().chain(changed) {
            let route = Route { local: path, remote: far_address(path).into() };
            match up {
                true => world.far.on_datagram(world.now, route, &bytes),
                false => world.near.on_datagram(world.now, route, &bytes),
            }
        }
        prop_assert!(world.transfer(10_000).is_some());
    }
}
