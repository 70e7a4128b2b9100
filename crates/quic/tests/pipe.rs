//! A connection over pipes with a rate, a delay and losses, in virtual time.

use proptest::prelude::*;
use quic::{Control, Receiver, Sender, Settings};
use std::collections::BTreeMap;
use std::sync::Arc;
use transport::{Options, ReceivingEndpoint, SendingEndpoint, Source};
use units::{Bytes, Rate, Span, Time};
use wire::{QuicAnswer, QuicDatagram};

/// The rate of each pipe.
const BYTES_PER_SECOND: u64 = 2_500_000;

/// The longest time that a datagram waits for its turn.
const QUEUE: Span = Span::millis(30);

/// What a pipe does to datagrams.
#[derive(Clone, Copy, Debug)]
struct Pipe {
    delay: Span,
    /// Of 256 datagrams so many are lost, at random.
    loss: u8,
    /// From this time on it loses all.
    dies: Time,
}

const FAST: Pipe = Pipe { delay: Span::millis(10), loss: 0, dies: Time::NEVER };
const SLOW: Pipe = Pipe { delay: Span::millis(25), ..FAST };

enum Traveller {
    Data(QuicDatagram),
    Answer(QuicAnswer),
}

/// A connection and what is on its way, by the time of arrival and the order of departure.
struct Network {
    pipes: Vec<Pipe>,
    /// For each path, when the last datagram of data has left.
    free: Vec<Time>,
    sender: Sender,
    receiver: Receiver,
    travelling: BTreeMap<(Time, u64), (usize, Traveller)>,
    departed: u64,
    random: u64,
    /// Of all times, paths and sizes.
    digest: u64,
    now: Time,
}

impl Network {
    fn new(pipes: &[Pipe], source: Source, seed: u64, control: &str) -> Self {
        let spec = control.parse().expect("a controller");
        let control = Control::new(&spec, control::Settings::default(), pipes.len());
        let control = control.expect("the stack tells what it needs");
        let backup = vec![false; pipes.len()];
        let settings = Settings { options: Options::default(), source, control, backup };
        let settings = Arc::new(settings);
        Network {
            pipes: pipes.to_vec(),
            free: vec![Time::ZERO; pipes.len()],
            receiver: Receiver::new(&settings, seed),
            sender: Sender::new(settings, Time::ZERO, seed),
            travelling: BTreeMap::new(),
            departed: 0,
            random: seed,
            digest: 0,
            now: Time::ZERO,
        }
    }

    fn depart(&mut self, path: usize, traveller: Traveller) {
        let bytes = match &traveller {
            Traveller::Data(datagram) => datagram.bytes.len(),
            Traveller::Answer(QuicAnswer(datagram)) => datagram.bytes.len(),
        };
        for word in [self.now.0, path as u64, bytes as u64] {
            self.digest = (self.digest.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
        self.departed += 1;
        let Pipe { delay, loss, dies } = self.pipes[path];
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut leaves = self.now;
        if matches!(traveller, Traveller::Data(_)) {
            leaves = self.free[path].max(self.now);
            if leaves.since(self.now) > QUEUE {
                return;
            }
            leaves = leaves + Span(bytes as u64 * 1_000_000_000 / BYTES_PER_SECOND);
            self.free[path] = leaves;
        }
        if (self.random >> 56) as u8 >= loss && self.now < dies {
            self.travelling.insert((leaves + delay, self.departed), (path, traveller));
        }
    }

    /// Runs until `end`, or until the transfer is complete.
    fn run(&mut self, end: Time) {
        loop {
            while let Some(sent) = self.sender.poll_transmit(self.now) {
                self.depart(sent.path, Traveller::Data(sent.segment));
            }
            while self.receiver.next_deadline() <= self.now {
                while let Some(sent) = self.receiver.on_deadline(self.now) {
                    self.depart(sent.path, Traveller::Answer(sent.segment));
                }
            }
            let arrival = self.travelling.first_key_value().map_or(Time::NEVER, |(key, _)| key.0);
            let timer = self.sender.next_deadline().min(self.receiver.next_deadline());
            let next = arrival.min(timer.max(self.now));
            if next > end || self.sender.completed().is_some() {
                return;
            }
            self.now = next;
            if next == arrival {
                let (_, (path, traveller)) = self.travelling.pop_first().expect("it was found");
                match traveller {
                    Traveller::Data(it) => drop(self.receiver.on_data(next, path, &it)),
                    Traveller::Answer(it) => self.sender.on_answer(next, path, &it),
                }
            } else {
                self.sender.on_deadline(next);
            }
        }
    }
}

#[test]
fn a_transfer_over_two_paths_arrives_whole_and_uses_both() {
    let size = 3_000_000;
    let mut network = Network::new(&[FAST, SLOW], Source::Transfer(Bytes(size)), 1, "noq:newreno");
    network.run(Time::from(Span::millis(60_000)));
    assert!(network.sender.completed().is_some());
    assert_eq!(network.receiver.delivered(), size);
    for path in [0, 1] {
        assert!(network.receiver.taken(path) > size / 20, "path {path} has a share");
    }
}

#[test]
fn two_runs_have_equal_times_and_sizes_though_their_keys_differ() {
    let lossy = [Pipe { loss: 5, ..FAST }, Pipe { loss: 3, ..SLOW }];
    let run = |seed| {
        let mut network = Network::new(&lossy, Source::Bulk, seed, "noq:cubic");
        network.run(Time::from(Span::millis(1_500)));
        (network.digest, network.departed)
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7).0, run(8).0);
}

#[test]
fn an_application_with_a_rate_gets_it() {
    let mut network = Network::new(&[FAST], Source::Paced(Rate(8_000_000)), 1, "noq:newreno");
    network.run(Time::from(Span::millis(2_000)));
    let delivered = network.receiver.delivered();
    assert!((1_930_000..=2_002_000).contains(&delivered), "{delivered} of 2 MB");
}

#[test]
fn the_windows_and_round_trips_of_both_paths_are_reported() {
    for name in ["noq:newreno", "noq:cubic", "noq:bbr3", "olia"] {
        let mut network = Network::new(&[FAST, SLOW], Source::Bulk, 1, name);
        network.run(Time::from(Span::millis(600)));
        let [fast, slow] = [0, 1].map(|path| network.sender.report(path));
        assert!(fast.cwnd > 10.0 && slow.cwnd > 10.0, "{name}: {fast:?} {slow:?}");
        assert!((20.0..60.0).contains(&(fast.srtt.seconds() * 1e3)), "{name}: {fast:?}");
        // The stack acknowledges the data of every path on the first one: 25 ms there, 10 ms back.
        assert!((35.0..75.0).contains(&(slow.srtt.seconds() * 1e3)), "{name}: {slow:?}");
    }
}

#[test]
fn a_path_leaves_and_joins_again() {
    let mut network = Network::new(&[FAST, SLOW], Source::Bulk, 1, "noq:newreno");
    let mut shares = Vec::new();
    for step in 1..=3 {
        let before = [0, 1].map(|path| network.receiver.taken(path));
        // What was on its way is still counted to the path.
        network.run(Time::from(Span::millis(400 * step)));
        shares.push([0, 1].map(|path| network.receiver.taken(path) - before[path]));
        match step {
            1 => network.sender.leave(0),
            _ => drop(network.sender.join(0)),
        }
    }
    assert!(shares[0][0] > 100_000 && shares[2][0] > 100_000, "{shares:?}");
    assert!(shares[1][0] < shares[1][1], "{shares:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() })]

    /// The receiver asserts that each byte is in its place.
    #[test]
    fn whatever_is_lost_all_bytes_arrive_in_order(
        seed in any::<u64>(),
        loss in [0u8..40, 0..40],
        delays in [1u64..80, 1..80],
        size in 1u64..200_000,
        dies in prop::option::of(300u64..1_500),
    ) {
        let pipe = |path: usize| Pipe {
            delay: Span::millis(delays[path]),
            loss: loss[path],
            dies: match (path, dies) {
                (1, Some(at)) => Time::from(Span::millis(at)),
                _ => Time::NEVER,
            },
        };
        let source = Source::Transfer(Bytes(size));
        let mut network = Network::new(&[pipe(0), pipe(1)], source, seed, "noq:newreno");
        network.run(Time::from(Span::millis(600_000)));
        prop_assert_eq!(network.receiver.delivered(), size);
        prop_assert!(network.sender.completed().is_some());
    }
}
