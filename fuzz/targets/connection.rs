//! Both endpoints with any loss, lateness and copies between them for a while: afterwards every
//! byte has arrived once and in order.
#![no_main]

use arbitrary::{Result, Unstructured};
use fuzz::Boxed;
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use transport::{Receiver, ReceiverSettings, Sender};
use units::{Span, Time};
use wire::{Ack, Data, Report};

const TRANSFER: u64 = 60_000;

#[derive(Clone)]
enum Moving {
    Data(usize, Data),
    Ack(usize, Ack),
    Report(usize, Ack, Report),
}

struct Pair {
    sender: Sender<Boxed>,
    receiver: Receiver,
    moving: BTreeMap<(Time, u64), Moving>,
    now: Time,
    count: u64,
}

fuzz_target!(|bytes: &[u8]| {
    let _ = play(&mut Unstructured::new(bytes));
});

fn play(bytes: &mut Unstructured<'_>) -> Result<()> {
    let paths = bytes.int_in_range(1..=3)?;
    let (mut sender, settings, name) = fuzz::sender(bytes, paths, Some(TRANSFER))?;
    let coded = fuzz::code(bytes, &mut sender, &settings)?;
    let mut receiver = Receiver::new(
        ReceiverSettings {
            transit: false,
            sack: settings.sack,
            dsack: settings.modern.dsack,
            delayed_ack: bytes.arbitrary::<bool>()?.then_some(Span::millis(40)),
            buffer: settings.receive_buffer,
            autotune: false,
            tfrc: settings.tfrc,
            echo: false,
        },
        paths,
    );
    coded.iter().for_each(|path| receiver.set_coding(*path));
    let (moving, now) = (BTreeMap::new(), Time::ZERO);
    let mut pair = Pair { sender, receiver, moving, now, count: 0 };
    pair.send(bytes);
    while pair.receiver.delivered() < TRANSFER || pair.sender.completed().is_none() {
        assert!(pair.step(bytes), "{name}: {} of {TRANSFER} arrived", pair.receiver.delivered());
        assert!(
            pair.count < 200_000,
            "{name}: {} of {TRANSFER} after {:?}: {settings:?} {:?}",
            pair.receiver.delivered(),
            pair.now,
            pair.sender.report(0)
        );
    }
    assert_eq!(pair.receiver.delivered(), TRANSFER);
    Ok(())
}

impl Pair {
    /// What the network does with the next packet; when the bytes are used up, it carries
    /// everything.
    fn put(&mut self, bytes: &mut Unstructured<'_>, moving: Moving) {
        let path = match moving {
            Moving::Data(path, _) | Moving::Ack(path, _) | Moving::Report(path, ..) => path as u64,
        };
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
            self.sender.on_sent(sent.path, sent.data.len);
            self.put(bytes, Moving::Data(sent.path, sent.data));
        }
        // A timer that is looked at too early brings nothing forth.
        if self.sender.next_deadline() > self.now {
            self.sender.on_deadline(self.now);
            let early = self.sender.poll_transmit(self.now);
            assert!(early.is_none(), "too early: {early:?} at {:?}", self.now);
        }
    }

    /// The next thing happens; whether there was one.
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
                    if let Some(ack) = self.receiver.on_data(self.now, path, &data) {
                        self.put(bytes, Moving::Ack(path, ack));
                    }
                }
                Some(Moving::Ack(path, ack)) => self.sender.on_ack(self.now, path, &ack),
                Some(Moving::Report(path, ack, report)) => {
                    self.sender.on_report(self.now, path, &ack, &report);
                }
                None => {}
            }
        } else if next == delayed {
            while let Some((path, ack)) = self.receiver.on_deadline(self.now) {
                match self.receiver.report(self.now, path) {
                    None => self.put(bytes, Moving::Ack(path, ack)),
                    Some(report) => self.put(bytes, Moving::Report(path, ack, report)),
                }
            }
        } else {
            self.sender.on_deadline(self.now);
        }
        self.send(bytes);
        true
    }
}
