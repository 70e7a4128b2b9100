//! Both ends of a channel, with somebody between them who cuts the stream of bytes as he likes and
//! may change, drop, repeat and add bytes. Nothing may panic. What arrives on a stream is the
//! beginning of what was written to it; all of it, if nobody touched the bytes.
#![no_main]

use arbitrary::{Result, Unstructured};
use courier::{Channel, Gate, Read, SecretKey, Settings, StreamId, Streams};
use libfuzzer_sys::fuzz_target;
use std::collections::VecDeque;
use units::{Rate, Span, Time};

const BYTES: usize = 30_000;

fuzz_target!(|bytes: &[u8]| {
    let _ = play(&mut Unstructured::new(bytes));
});

/// Bytes that follow from a count.
fn entropy(count: &mut u64) -> impl FnMut(&mut [u8]) + '_ {
    move |into: &mut [u8]| {
        for byte in into {
            *count = count.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
            *byte = (*count >> 56) as u8;
        }
    }
}

struct Ends {
    one: Channel,
    other: Channel,
    gate: Gate,
    now: Time,
    count: u64,
    /// Bytes under way to the responder, and to the initiator.
    moving: [VecDeque<u8>; 2],
    stream: Option<StreamId>,
    sent: usize,
    got: Vec<u8>,
}

impl Ends {
    fn write(&mut self, data: &[u8]) {
        if self.stream.is_none() && self.one.is_established() {
            self.stream = self.one.open(b"x").ok();
        }
        if let Some(id) = self.stream {
            self.sent += self.one.write(id, &data[self.sent..]).unwrap_or(0);
        }
        for (end, moving) in [&mut self.one, &mut self.other].into_iter().zip(&mut self.moving) {
            while let Some(bytes) = end.poll(self.now, 1 << 20) {
                moving.extend(bytes);
            }
        }
    }

    /// The first `len` bytes under way in a direction arrive.
    fn deliver(&mut self, down: bool, len: usize) {
        let moving = &mut self.moving[usize::from(down)];
        let part: Vec<u8> = moving.drain(..len.min(moving.len())).collect();
        let random = &mut entropy(&mut self.count);
        match down {
            true => self.one.on_bytes(self.now, &part, random),
            false => self.gate.on_bytes(self.now, &mut self.other, &part, random),
        }
        let (Some(id), mut part) = (self.stream, [0; 4096]) else { return };
        while let Ok(Read::Bytes(count)) = self.other.read(id, &mut part) {
            self.got.extend(&part[..count]);
        }
    }

    fn wait(&mut self, span: Span) {
        self.now = self.now + span;
        self.one.on_deadline(self.now);
        self.other.on_deadline(self.now);
    }

    /// One thing that happens; returns whether it touched the bytes.
    fn fate(&mut self, bytes: &mut Unstructured<'_>) -> Result<bool> {
        let down = bytes.arbitrary()?;
        let moving = &mut self.moving[usize::from(down)];
        let at = bytes.int_in_range(0..=2000usize)?;
        match bytes.int_in_range(0..=15u8)? {
            0 if at < moving.len() => {
                let change = bytes.arbitrary::<u8>()?;
                moving[at] ^= change;
                return Ok(change != 0);
            }
            1 if at < moving.len() => {
                moving.remove(at);
                return Ok(true);
            }
            2 if at < moving.len() => {
                let again: Vec<u8> = moving.range(..at).copied().collect();
                again.into_iter().rev().for_each(|byte| moving.push_front(byte));
                return Ok(at > 0);
            }
            3 => {
                let own: Vec<u8> = bytes.arbitrary()?;
                own.iter().for_each(|byte| moving.push_front(*byte));
                return Ok(!own.is_empty());
            }
            4 => {
                self.wait(Span::millis(at as u64));
                // Handshakes and connections have an end that comes without the stranger, too.
                return Ok(self.one.closed().is_some() || self.other.closed().is_some());
            }
            _ => self.deliver(down, at),
        }
        Ok(false)
    }
}

fn play(bytes: &mut Unstructured<'_>) -> Result<()> {
    let (mut count, now) = (3, Time(1));
    let (client, host) =
        (SecretKey::new(&mut entropy(&mut 1)), SecretKey::new(&mut entropy(&mut 2)));
    let mut settings = Settings::new("lia".parse().expect("it is registered"));
    if bytes.arbitrary()? {
        settings.rate = Some(Rate(1_000_000));
    }
    let gate = Gate::new(host.clone(), [client.public()], settings.clone(), now);
    let one = Channel::initiate(client, host.public(), &settings, now);
    let other = gate.receive(now, &mut entropy(&mut count));
    let moving = [VecDeque::new(), VecDeque::new()];
    let (stream, sent, got) = (None, 0, vec![]);
    let mut ends = Ends { one, other, gate, now, count, moving, stream, sent, got };
    let data: Vec<u8> = (0..BYTES).map(|at| (at % 251) as u8).collect();
    let (mut touched, mut steps) = (false, 0);
    while !bytes.is_empty() && steps < 2000 {
        ends.write(&data);
        touched |= ends.fate(bytes)?;
        steps += 1;
    }
    for _ in 0..2000 {
        ends.write(&data);
        if !ends.moving.iter().all(VecDeque::is_empty) {
            ends.deliver(false, usize::MAX);
            ends.deliver(true, usize::MAX);
            continue;
        }
        let next = ends.one.next_deadline().min(ends.other.next_deadline());
        if ends.got.len() == BYTES || next == Time::NEVER {
            break;
        }
        ends.wait(next.since(ends.now).clamp(Span::millis(1), Span::millis(1000)));
    }
    assert!(data.starts_with(&ends.got), "other bytes than were sent");
    assert!(touched || ends.got.len() == BYTES, "{} of {BYTES} arrived", ends.got.len());
    Ok(())
}
