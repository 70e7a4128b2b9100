//! A hostile sender: segments of any number, length and mapping. The receiver must not panic, must
//! acknowledge only bytes that arrived, and must never reduce an acknowledgement.
#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use transport::tcp::{Receiver, ReceiverSettings};
use transport::{DelayedAck, Options, ReceivingEndpoint, Transmit, tfrc};
use units::{Bytes, Span, Time};
use wire::{Ack, Data, Flags, TfrcData};

#[derive(Arbitrary, Debug)]
enum Step {
    Data { path: u8, seq: u16, dsn: u16, len: u8, flags: u8 },
    Wild { path: u8, seq: u64, dsn: u64, len: u16 },
    Wait { millis: u8 },
    Join { path: u8, seq: u16 },
}

#[derive(Arbitrary, Debug)]
enum Packet {
    Data { path: u8, number: u64, near: bool, dsn: u16, len: u8, rtt_us: u32 },
    Wait { millis: u8 },
    Join { path: u8, first: u64 },
}

const DELAYED_ACKS: [DelayedAck; 3] =
    [DelayedAck::After(Span::ZERO), DelayedAck::After(Span::millis(40)), DelayedAck::AsLinux];

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Unstructured::new(bytes);
    let _ = match bool::arbitrary(&mut bytes) {
        Ok(true) => play_tfrc(&mut bytes),
        _ => play(&mut bytes),
    };
});

/// A receiver of TFRC: its reports must be short, finite, and about packets that were sent.
fn play_tfrc(bytes: &mut Unstructured<'_>) -> Result<()> {
    let paths = bytes.int_in_range(1..=3)?;
    let mut receiver = tfrc::Receiver::new(1 << bytes.int_in_range(10..=20u8)?, paths);
    let (mut now, mut most) = (Time(1), 0);
    for _ in 0..300 {
        if bytes.is_empty() {
            break;
        }
        match Packet::arbitrary(bytes)? {
            Packet::Data { path, number, near, dsn, len, rtt_us } => {
                let number = if near { number % 200 } else { number };
                let (dsn, len) = (u64::from(dsn), u32::from(len).max(1));
                most = most.max(dsn + u64::from(len));
                let data = TfrcData { number, dsn, len, rtt_us, stamp: now };
                let answer = receiver.on_data(now, usize::from(path) % paths, &data);
                assert!(answer.is_none(), "it reports by deadline");
            }
            Packet::Wait { millis } => {
                now = now + Span::millis(u64::from(millis));
                while let Some(Transmit { segment, .. }) = receiver.on_deadline(now) {
                    assert!(segment.intervals.len() <= 9 && segment.received.is_finite());
                    let sent = |gap: &wire::Range| !gap.is_empty() && gap.end <= most;
                    assert!(segment.missing.iter().all(sent), "{segment:?}");
                }
            }
            Packet::Join { path, first } => receiver.join(usize::from(path) % paths, first),
        }
    }
    Ok(())
}

fn play(bytes: &mut Unstructured<'_>) -> Result<()> {
    let paths = bytes.int_in_range(1..=3)?;
    let options = Options {
        sack: bool::arbitrary(bytes)?,
        dsack: bool::arbitrary(bytes)?,
        delayed_ack: *bytes.choose(&DELAYED_ACKS)?,
        receive_buffer: Bytes(1 << bytes.int_in_range(10..=20u8)?),
        autotune: bool::arbitrary(bytes)?,
        ..Options::default()
    };
    let settings = ReceiverSettings { options, transit: true };
    let mut receiver = Receiver::new(settings, paths);
    let mut now = Time(1);
    let mut acked = vec![0; paths];
    let mut most = 0;
    let mut data_acked = 0;
    for _ in 0..300 {
        if bytes.is_empty() {
            break;
        }
        let (path, data) = match Step::arbitrary(bytes)? {
            Step::Data { path, seq, dsn, len, flags } => {
                let flags = [Flags::NONE, Flags::MARKED, Flags::REDUCED, Flags::SYN]
                    [usize::from(flags) % 4];
                let (seq, dsn, len) = (u64::from(seq), u64::from(dsn), u32::from(len));
                (path, Data { seq, dsn, len, stamp: now, flags })
            }
            Step::Wild { path, seq, dsn, len } => {
                // Numbers are 64 bits wide and never wrap: no range may end beyond them.
                let (seq, dsn) = (seq >> 1, dsn >> 1);
                (path, Data { seq, dsn, len: u32::from(len), stamp: now, ..Data::default() })
            }
            Step::Wait { millis } => {
                now = now + Span::millis(u64::from(millis));
                while let Some(Transmit { path, segment }) = receiver.on_deadline(now) {
                    check(&segment, &mut acked[path], &mut data_acked, most);
                }
                continue;
            }
            // A connection with a single path is that path: there is no join.
            Step::Join { .. } if paths == 1 => continue,
            Step::Join { path, seq } => {
                let path = usize::from(path) % paths;
                receiver.join(path, u64::from(seq));
                acked[path] = u64::from(seq);
                most = most.max(u64::from(seq));
                continue;
            }
        };
        let path = usize::from(path) % paths;
        most = most.max(data.seq.max(data.dsn) + u64::from(data.len));
        if let Some(ack) = receiver.on_data(now, path, &data) {
            check(&ack, &mut acked[path], &mut data_acked, most);
        }
    }
    Ok(())
}

fn check(ack: &Ack, acked: &mut u64, data_acked: &mut u64, most: u64) {
    assert!(ack.ack >= *acked && ack.data_ack >= *data_acked, "{ack:?} took back {acked}");
    assert!(ack.ack <= most && ack.data_ack <= most, "{ack:?} of what was never sent");
    assert!(ack.window_edge >= ack.data_ack);
    for block in ack.sacks.blocks() {
        assert!(!block.is_empty() && block.end <= most, "{ack:?}");
    }
    (*acked, *data_acked) = (ack.ack, ack.data_ack);
}
