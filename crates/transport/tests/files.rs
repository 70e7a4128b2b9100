//! Transfers of a file over two paths with random loss and reordering; one path is cut. With every
//! controller the receiver's application must read all bytes of the file in order. On a coded path,
//! the bytes themselves are combined and decoded beside the endpoints' combinations.

use coding::{Combination, Decoder};
use control::{AnyController, ControllerKind, ControllerSpec, Settings};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use transport::coded::{self, Coding};
use transport::tcp::{self, ReceiverSettings};
use transport::{
    Options, ReceivingEndpoint, Scheduler, SenderSettings, SendingEndpoint, Source, tfrc,
};
use units::{Bytes, Span, Time};
use wire::{Range, Segment};

const SEGMENT: u32 = 1000;
/// Time without a new byte after which a transfer counts as stuck: 33 of the longest timeouts. A
/// whole transfer may take longer: `nice`, whose window comes to 1/48, waits for a timeout of two
/// minutes for each packet where a path loses a quarter and the other one is cut.
const ENOUGH: Span = Span::millis(4_000_000);

/// Every controller with each of its options, without the kernel's.
fn controllers() -> Vec<String> {
    let all = ControllerSpec::all().into_iter();
    all.filter(|spec| {
        !matches!(spec.kind(), ControllerKind::Kernel(_) | ControllerKind::KernelScheme(_))
    })
    .map(|spec| spec.to_string())
    .collect()
}

/// The faults of the network.
#[derive(Clone, Debug)]
struct Network {
    /// Probability that a packet is lost, either way.
    loss: f64,
    /// Largest extra delay of a packet, in ms.
    jitter: u64,
    /// When the first path is cut, in ms.
    cut: u64,
    seed: u64,
}

/// Packets in flight.
#[derive(Clone, Debug)]
enum Moving {
    /// With the bytes of a combination.
    Data(usize, Segment, Vec<u8>),
    Answer(usize, Segment),
}

/// The data in a combination.
type Combined<S> = fn(&S, usize, &wire::Combination) -> Vec<Range>;

/// Both endpoints, and a network between them that carries bytes.
struct Pair<S, R> {
    sender: S,
    receiver: R,
    combined: Combined<S>,
    network: Network,
    moving: BTreeMap<(Time, u64), Moving>,
    /// The buffer that the application reads; missing bytes are zero.
    buffer: Vec<u8>,
    /// Decoders of the combinations on each path.
    decoders: [Decoder<Vec<u8>>; 2],
    now: Time,
    /// When a byte last came that was missing until then.
    fresh: Time,
    count: u64,
}

/// The bytes of a file, none of them zero.
fn file(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 31 % 251) as u8 + 1).collect()
}

impl<S: SendingEndpoint, R: ReceivingEndpoint> Pair<S, R> {
    fn new(
        sender: S,
        receiver: R,
        combined: Combined<S>,
        network: &Network,
        length: usize,
    ) -> Self {
        Pair {
            sender,
            receiver,
            combined,
            network: network.clone(),
            moving: BTreeMap::new(),
            buffer: vec![0; length],
            decoders: [Decoder::new(1 << 16), Decoder::new(1 << 16)],
            now: Time::ZERO,
            fresh: Time::ZERO,
            count: 0,
        }
    }

    /// A number from 0 to 1 (splitmix64; Steele et al. 2014).
    fn rng(&mut self) -> f64 {
        self.network.seed = self.network.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.network.seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as f64 / u64::MAX as f64
    }

    fn put(&mut self, moving: Moving) {
        let (Moving::Data(path, ..) | Moving::Answer(path, _)) = moving;
        let cut = path == 0 && self.now >= Time::ZERO + Span::millis(self.network.cut);
        if cut || self.rng() < self.network.loss {
            return;
        }
        let late = self.rng() * self.network.jitter as f64;
        let delay = Span::millis(10 + 15 * path as u64) + Span::from_seconds(late / 1e3);
        self.count += 1;
        self.moving.insert((self.now + delay, self.count), moving);
    }

    fn send(&mut self, file: &[u8]) {
        while let Some(sent) = self.sender.poll_transmit(self.now) {
            let (path, segment) = (sent.path, sent.segment.into());
            self.sender.on_sent(path, segment.bytes());
            let mut bytes = Vec::new();
            if let Segment::Combination(combination) = &segment {
                let ranges = (self.combined)(&self.sender, path, combination);
                let symbols: Vec<_> = ranges.iter().map(|range| symbol(file, *range)).collect();
                bytes = coefficients(combination).combine(symbols.iter());
            }
            self.put(Moving::Data(path, segment, bytes));
        }
    }

    fn answer(&mut self) {
        while let Some(answer) = self.receiver.on_deadline(self.now) {
            self.put(Moving::Answer(answer.path, answer.segment.into()));
        }
    }

    fn arrive(&mut self, moving: Moving, file: &[u8]) {
        match moving {
            Moving::Data(path, segment, bytes) => {
                self.copy(path, &segment, bytes, file);
                let Ok(data) = segment.try_into() else { panic!("it is for the receiver") };
                if let Some(answer) = self.receiver.on_data(self.now, path, &data) {
                    self.put(Moving::Answer(path, answer.into()));
                }
            }
            Moving::Answer(path, segment) => {
                let Ok(answer) = segment.try_into() else { panic!("it is for the sender") };
                self.sender.on_answer(self.now, path, &answer);
            }
        }
    }

    /// Copies data that arrived, or was decoded, to the application's buffer.
    fn copy(&mut self, path: usize, segment: &Segment, bytes: Vec<u8>, file: &[u8]) {
        let (now, fresh, buffer) = (self.now, &mut self.fresh, &mut self.buffer);
        let mut write = |start: usize, bytes: &[u8]| {
            let place = &mut buffer[start..start + bytes.len()];
            if place.contains(&0) {
                *fresh = now;
            }
            place.copy_from_slice(bytes);
        };
        let (dsn, len) = match segment {
            Segment::Data(data) => (data.dsn, data.len),
            Segment::TfrcData(data) => (data.dsn, data.len),
            Segment::Combination(combination) => {
                let what = coefficients(combination);
                self.decoders[path].on_packet(what, bytes, |_, symbol| {
                    let number = |bytes: &[u8]| {
                        bytes.iter().fold(0, |high, byte| high << 8 | usize::from(*byte))
                    };
                    let (start, len) = (number(&symbol[..8]), number(&symbol[8..12]));
                    write(start, &symbol[12..12 + len]);
                });
                return;
            }
            other => panic!("{other:?} went to the receiver"),
        };
        write(dsn as usize, &file[dsn as usize..dsn as usize + len as usize]);
    }

    /// Transfers the file; the error says what did not arrive.
    fn carry(mut self, file: &[u8]) -> Result<(), String> {
        self.send(file);
        while self.sender.completed().is_none() {
            let arrival = self.moving.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
            let (timer, delayed) = (self.sender.next_deadline(), self.receiver.next_deadline());
            let next = arrival.min(timer).min(delayed);
            if next > self.fresh + ENOUGH {
                return Err(format!("{} of {}", self.receiver.delivered(), file.len()));
            }
            self.now = self.now.max(next);
            if next == arrival {
                let (_, moving) = self.moving.pop_first().expect("there is one");
                self.arrive(moving, file);
            } else if next == delayed {
                self.answer();
            } else {
                self.sender.on_deadline(self.now);
            }
            self.send(file);
            let read = self.receiver.delivered() as usize;
            if self.buffer[..read] != file[..read] {
                return Err(format!("one of the first {read} bytes never came"));
            }
        }
        match self.receiver.delivered() as usize == file.len() {
            true => Ok(()),
            false => Err("the sender thinks that it is done".into()),
        }
    }
}

fn settings(name: &str, length: usize) -> SenderSettings {
    let needs = name.parse::<ControllerSpec>().expect("a controller").needs();
    let options = Options {
        payload: Bytes(SEGMENT.into()),
        receive_buffer: Bytes(1 << 17),
        ..Options::default()
    };
    let source = Source::Transfer(Bytes(length as u64));
    SenderSettings::new(options, needs, source)
}

/// The combined data of a segment: its position, its length, and its bytes.
fn symbol(file: &[u8], range: Range) -> Vec<u8> {
    let mut symbol = range.start.to_be_bytes().to_vec();
    symbol.extend((range.len() as u32).to_be_bytes());
    symbol.extend(&file[range.start as usize..range.end as usize]);
    symbol
}

/// The coding of each path, if it is coded.
type Coded = [Option<Coding>; 2];

fn coefficients(combination: &wire::Combination) -> Combination {
    let wire::Combination { first, count, key, .. } = *combination;
    Combination { base: first, count, key }
}

fn transfer(name: &str, network: &Network, length: usize, coded: Coded) -> Result<(), String> {
    transfer_with(settings(name, length), name, network, coded)
}

fn transfer_with(
    sending: SenderSettings,
    name: &str,
    network: &Network,
    coded: Coded,
) -> Result<(), String> {
    let control = AnyController::new(&name.parse().expect("a controller"), Settings::default(), 2);
    let control = control.expect("it is not the kernel's");
    let Source::Transfer(Bytes(length)) = sending.source else { panic!("a file has an end") };
    let length = length as usize;
    let (segment, receive_buffer) = (sending.options.segment(), sending.options.first_buffer());
    let receiving = ReceiverSettings { options: sending.options.clone(), transit: true };
    if name.parse::<ControllerSpec>().is_ok_and(|spec| spec.needs().reports) {
        let settings = tfrc::Settings { segment, source: sending.source, receive_buffer };
        let sender = tfrc::Sender::new(Arc::new(settings), control, 2, Time::ZERO);
        let receiver = tfrc::Receiver::new(receive_buffer, 2);
        return Pair::new(sender, receiver, |_, _, _| vec![], network, length).carry(&file(length));
    }
    let sender = tcp::Sender::new(Arc::new(sending), control, 2, Time::ZERO);
    let receiver = tcp::Receiver::new(receiving, 2);
    if coded == [None; 2] {
        return Pair::new(sender, receiver, |_, _, _| vec![], network, length).carry(&file(length));
    }
    let sender = coded::Sender::new(sender, coded);
    let receiver = coded::Receiver::new(receiver, coded.map(|coding| coding.is_some()));
    Pair::new(sender, receiver, coded::Sender::combined, network, length).carry(&file(length))
}

fn network() -> impl Strategy<Value = Network> {
    let cut = prop_oneof![0_u64..3000, Just(u64::MAX >> 24)];
    (0.0..0.25, 0_u64..60, cut, any::<u64>()).prop_map(|(loss, jitter, cut, seed)| Network {
        loss,
        jitter,
        cut,
        seed,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_controller_delivers_a_file_byte_for_byte(network in network(), length in 1_usize..150_000) {
        for name in controllers() {
            let done = transfer(&name, &network, length, [None; 2]);
            prop_assert!(done.is_ok(), "{name}: {done:?}");
        }
    }

    #[test]
    fn every_scheduler_delivers_a_file_byte_for_byte(
        network in network(),
        length in 1_usize..150_000,
        small in any::<bool>(),
    ) {
        for scheduler in Scheduler::examples() {
            let mut sending = settings("lia", length);
            if small {
                sending.options.receive_buffer = Bytes(8_000);
            }
            let kind = format!("{scheduler:?}");
            sending.options.scheduler = scheduler;
            let done = transfer_with(sending, "lia", &network, [None; 2]);
            prop_assert!(done.is_ok(), "{kind}: {done:?}");
        }
    }

    #[test]
    fn connections_that_suspend_paths_deliver_a_file_byte_for_byte(
        network in network(),
        length in 1_usize..1_000_000,
        coded in any::<[bool; 2]>(),
        up_to in prop::option::of(1.15..2.0),
        name in prop::sample::select(vec!["lia", "olia", "couple-plus", "reno"]),
    ) {
        let mut sending = settings(name, length);
        sending.options.suspend = true;
        let coding = Coding { redundancy: 1.15, window: 6, up_to };
        let coded = coded.map(|coded| coded.then_some(coding));
        let done = transfer_with(sending, name, &network, coded);
        prop_assert!(done.is_ok(), "{done:?}");
    }

    #[test]
    fn coded_paths_deliver_a_file_byte_for_byte(
        network in network(),
        length in 1_usize..150_000,
        redundancy in 1.0..1.6,
        window in 1_u8..40,
        both in any::<bool>(),
    ) {
        let coding = Some(Coding { redundancy, window, up_to: None });
        let reports = |name: &String| name.parse::<ControllerSpec>().is_ok_and(|spec| spec.needs().reports);
        for name in controllers().into_iter().filter(|name| !reports(name)) {
            let coded = [coding.filter(|_| both), coding];
            let done = transfer(&name, &network, length, coded);
            prop_assert!(done.is_ok(), "{name}: {done:?}");
        }
    }
}
