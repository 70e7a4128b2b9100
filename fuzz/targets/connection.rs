//! Both endpoints with arbitrary loss, delay and copies for a while: afterwards every byte must
//! have arrived once and in order.
#![no_main]

use arbitrary::{Result, Unstructured};
use fuzz::{AnySender, Chosen};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use transport::tcp::{self, ReceiverSettings};
use transport::{DelayedAck, Options, ReceivingEndpoint, SendingEndpoint, Transmit, coded, tfrc};
use units::{Span, Time};
use wire::Segment;

const TRANSFER: u64 = 60_000;

#[derive(Clone)]
enum Moving {
    Data(usize, Segment),
    Answer(usize, Segment),
}

enum AnyReceiver {
    Tcp(tcp::Receiver),
    Coded(coded::Receiver),
    Tfrc(tfrc::Receiver),
}

/// Runs the same code for any receiver.
macro_rules! with {
    ($any:expr, $receiver:ident => $what:expr) => {
        match $any {
            AnyReceiver::Tcp($receiver) => $what,
            AnyReceiver::Coded($receiver) => $what,
            AnyReceiver::Tfrc($receiver) => $what,
        }
    };
}

impl AnyReceiver {
    /// Segments of a sender are for its receiver.
    fn on_data(&mut self, now: Time, path: usize, data: Segment) -> Option<Segment> {
        with!(self, receiver => match data.try_into() {
            Ok(data) => receiver.on_data(now, path, &data).map(Into::into),
            Err(other) => panic!("{other:?} is of another protocol"),
        })
    }

    fn on_deadline(&mut self, now: Time) -> Option<(usize, Segment)> {
        with!(self, receiver => {
            let Transmit { path, segment } = receiver.on_deadline(now)?;
            Some((path, segment.into()))
        })
    }

    fn next_deadline(&self) -> Time {
        with!(self, receiver => receiver.next_deadline())
    }

    fn delivered(&self) -> u64 {
        with!(self, receiver => receiver.delivered())
    }
}

struct Pair {
    sender: AnySender,
    receiver: AnyReceiver,
    moving: BTreeMap<(Time, u64), Moving>,
    now: Time,
    count: u64,
}

const DELAYED_ACKS: [DelayedAck; 3] =
    [DelayedAck::After(Span::ZERO), DelayedAck::After(Span::millis(40)), DelayedAck::AsLinux];

fuzz_target!(|bytes: &[u8]| {
    let _ = play(&mut Unstructured::new(bytes));
});

fn play(bytes: &mut Unstructured<'_>) -> Result<()> {
    let paths = bytes.int_in_range(1..=3)?;
    let Chosen { sender, settings, controller, coded } =
        fuzz::sender(bytes, paths, Some(TRANSFER))?;
    let delayed_ack = *bytes.choose(&DELAYED_ACKS)?;
    let options = Options { delayed_ack, ..settings.options.clone() };
    let receiving = ReceiverSettings { options, transit: false };
    let tcp = tcp::Receiver::new(receiving, paths);
    let receiver = match &sender {
        AnySender::Tcp(_) => AnyReceiver::Tcp(tcp),
        AnySender::Coded(_) => AnyReceiver::Coded(coded::Receiver::new(tcp, coded)),
        AnySender::Tfrc(_) => {
            AnyReceiver::Tfrc(tfrc::Receiver::new(settings.options.first_buffer(), paths))
        }
    };
    let (moving, now) = (BTreeMap::new(), Time::ZERO);
    let mut pair = Pair { sender, receiver, moving, now, count: 0 };
    pair.send(bytes);
    pair.look_too_early();
    while pair.receiver.delivered() < TRANSFER || pair.sender.completed().is_none() {
        assert!(
            pair.step(bytes),
            "{controller}: {} of {TRANSFER} arrived",
            pair.receiver.delivered()
        );
        assert!(
            pair.count < 200_000,
            "{controller}: {} of {TRANSFER} after {:?}: {settings:?} {:?}",
            pair.receiver.delivered(),
            pair.now,
            pair.sender.report(0)
        );
    }
    assert_eq!(pair.receiver.delivered(), TRANSFER);
    Ok(())
}

impl Pair {
    /// The fate of the next packet; when the bytes are used up, the network carries everything.
    fn put(&mut self, bytes: &mut Unstructured<'_>, moving: Moving) {
        let (Moving::Data(path, _) | Moving::Answer(path, _)) = moving;
        let path = path as u64;
        let fate = if bytes.is_empty() { 255 } else { bytes.arbitrary::<u8>().unwrap_or(255) };
        let delay = Span::millis(10 + 10 * path);
        let late = match fate {
            0..=40 => return, // lost
            41..=60 => Span::millis(u64::from(fate)),
            _ => Span::ZERO,
        };
        for _ in 0..if (61..=70).contains(&fate) { 2 } else { 1 } {
            self.count += 1;
            self.moving.insert((self.now + delay + late, self.count), moving.clone());
        }
    }

    fn send(&mut self, bytes: &mut Unstructured<'_>) {
        while let Some(sent) = self.sender.poll_transmit(self.now) {
            self.sender.on_sent(sent.path, sent.segment.bytes());
            self.put(bytes, Moving::Data(sent.path, sent.segment));
        }
    }

    /// A timer looked at too early must have no effect. The sender was polled at this time:
    /// otherwise BLEST may now send data that it did not send earlier.
    fn look_too_early(&mut self) {
        if self.sender.next_deadline() > self.now {
            self.sender.on_deadline(self.now);
            let early = self.sender.poll_transmit(self.now);
            assert!(early.is_none(), "too early: {early:?} at {:?}", self.now);
        }
    }

    /// Runs the next event; returns whether there was one.
    fn step(&mut self, bytes: &mut Unstructured<'_>) -> bool {
        let arrival = self.moving.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
        let (timer, delayed) = (self.sender.next_deadline(), self.receiver.next_deadline());
        let next = arrival.min(timer).min(delayed);
        if next == Time::NEVER {
            return false;
        }
        self.count += 1;
        self.now = self.now.max(next);
        if next == arrival {
            match self.moving.pop_first().map(|(_, moving)| moving) {
                Some(Moving::Data(path, data)) => {
                    if let Some(answer) = self.receiver.on_data(self.now, path, data) {
                        self.put(bytes, Moving::Answer(path, answer));
                    }
                    return true;
                }
                Some(Moving::Answer(path, answer)) => {
                    self.sender.on_answer(self.now, path, &answer);
                }
                None => {}
            }
        } else if next == delayed {
            while let Some((path, answer)) = self.receiver.on_deadline(self.now) {
                self.put(bytes, Moving::Answer(path, answer));
            }
            return true;
        } else {
            self.sender.on_deadline(self.now);
        }
        self.send(bytes);
        self.look_too_early();
        true
    }
}
