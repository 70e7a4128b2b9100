//! Frames of a sealed datagram, in network byte order. The path is the datagram's.
//!
//! ```text
//!  combination  1 | start 4 | stamp 8 | coding header 12 | symbol: dsn 8, length 4, payload
//!  coded ack    2 | first unseen 4 | received 4 | covered 4 | data ack 8 | edge 8 | echo 8 |
//!                   transit 8
//!  data         3 | start 8 | seq 8 | dsn 8 | stamp 8 | length 2 | payload
//!  ack          4 | ack 8 | data ack 8 | edge 8 | echo 8 | transit 8 | blocks 1 | blocks, 16 each
//!  probe        5 | token 8
//!  answer       6 | token 8
//!  close        7 | reason 1
//!  timed        8 | start 4 | number 4 | dsn 8 | stamp 8 | round trip 4 | payload
//!  report       9 | next 4 | events 4 | data ack 8 | edge 8 | echo 8 | delay 8 | rate 8 |
//!                   intervals 1 | missing 1 | intervals, 4 each | missing ranges, 16 each
//! ```
//!
//! `start` is the first number of the path since it last joined: a receiver that sees a higher one
//! than before forgets what it waited for. A combination, data and a timed segment
//! (TFRC's) end the datagram.

use coding::{Combination, Header};
use units::{Span, Time};
use wire::{Ack, CodedAck, Data, Flags, MAX_SACKS, Range, Sacks, TfrcData, TfrcReport};

const COMBINATION: u8 = 1;
const CODED_ACK: u8 = 2;
const DATA: u8 = 3;
const ACK: u8 = 4;
const PROBE: u8 = 5;
const ANSWER: u8 = 6;
const CLOSE: u8 = 7;
const TIMED: u8 = 8;
const REPORT: u8 = 9;

/// Bytes of position and length before the payload of a coded symbol.
pub(crate) const TAG_LEN: usize = 12;

/// Bytes of a combination besides payload: the longest frame that carries payload.
pub(crate) const OVERHEAD: usize = 1 + 4 + 8 + Header::LEN + TAG_LEN;

/// Most loss intervals of a report: eight closed ones and the open one (RFC 5348 §5.4).
const MOST_INTERVALS: usize = 9;

/// Most missing ranges of a report, so that it fits into the smallest datagram.
const MOST_MISSING: usize = 28;

/// Bytes of the longest frame without payload: a report with all ranges.
pub(crate) const LONGEST: usize = 1 + 2 * 4 + 5 * 8 + 2 + MOST_INTERVALS * 4 + MOST_MISSING * 16;

/// Longest round trip that a timed segment may name: a receiver remembers the arrivals of one.
const LONGEST_RTT_US: u32 = 10_000_000;

/// Positions and times are below this, so that sums of them do not overflow.
const MOST: u64 = 1 << 62;

/// A frame; `'a` is the datagram's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Frame<'a> {
    Combination { start: u32, stamp: Time, what: Combination, symbol: &'a [u8] },
    CodedAck(CodedAck),
    Data { start: u64, data: Data, payload: &'a [u8] },
    Ack(Ack),
    Probe(u64),
    Answer(u64),
    Close(u8),
    Timed { start: u32, data: TfrcData, payload: &'a [u8] },
    Report(TfrcReport),
}

/// Reads numbers from the front of bytes.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take().map(u8::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_be_bytes)
    }

    /// A position or a time.
    fn place(&mut self) -> Option<u64> {
        self.u64().filter(|place| *place < MOST)
    }

    fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

/// The frames of a datagram. A frame that cannot be read is `None`, and the last.
pub(crate) fn frames(bytes: &[u8]) -> impl Iterator<Item = Option<Frame<'_>>> {
    let mut reader = Reader(bytes);
    std::iter::from_fn(move || {
        let before = reader.0;
        let frame = (!before.is_empty()).then(|| frame(&mut reader))?;
        if frame.is_none() {
            reader.0 = &[];
        }
        Some(frame)
    })
}

fn frame<'a>(reader: &mut Reader<'a>) -> Option<Frame<'a>> {
    match reader.u8()? {
        COMBINATION => {
            let (start, stamp) = (reader.u32()?, Time(reader.place()?));
            let (header, symbol) = Header::decode(reader.rest())?;
            let what = header.combination;
            (symbol.len() >= TAG_LEN).then_some(Frame::Combination { start, stamp, what, symbol })
        }
        CODED_ACK => Some(Frame::CodedAck(CodedAck {
            first_unseen: reader.u32()?,
            received: reader.u32()?,
            covered: reader.u32()?,
            data_ack: reader.place()?,
            window_edge: reader.place()?,
            echo: Time(reader.place()?),
            transit: Span(reader.place()?),
        })),
        DATA => {
            let (start, seq, dsn) = (reader.place()?, reader.place()?, reader.place()?);
            let (stamp, len) = (Time(reader.place()?), reader.take().map(u16::from_be_bytes)?);
            let payload = reader.rest();
            let data = Data { seq, dsn, len: u32::from(len), stamp, flags: Flags::NONE };
            (len > 0 && payload.len() == usize::from(len)).then_some(Frame::Data {
                start,
                data,
                payload,
            })
        }
        ACK => {
            let (ack, data_ack, window_edge) = (reader.place()?, reader.place()?, reader.place()?);
            let (echo, transit) = (Time(reader.place()?), Span(reader.place()?));
            let mut blocks = [Range::default(); MAX_SACKS];
            let count = usize::from(reader.u8()?);
            for block in blocks.get_mut(..count)? {
                *block = Range { start: reader.place()?, end: reader.place()? };
                (block.start < block.end).then_some(())?;
            }
            let sacks = Sacks::first(count, blocks);
            let flags = Flags::NONE;
            Some(Frame::Ack(Ack { ack, data_ack, window_edge, echo, transit, sacks, flags }))
        }
        PROBE => reader.u64().map(Frame::Probe),
        ANSWER => reader.u64().map(Frame::Answer),
        CLOSE => reader.u8().map(Frame::Close),
        TIMED => timed(reader),
        REPORT => report(reader).map(Frame::Report),
        _ => None,
    }
}

fn timed<'a>(reader: &mut Reader<'a>) -> Option<Frame<'a>> {
    let (start, number, dsn) = (reader.u32()?, u64::from(reader.u32()?), reader.place()?);
    let (stamp, rtt_us, payload) = (Time(reader.place()?), reader.u32()?, reader.rest());
    let data = TfrcData { number, dsn, len: payload.len() as u32, rtt_us, stamp };
    let right = rtt_us <= LONGEST_RTT_US && !payload.is_empty() && u64::from(start) <= number;
    right.then_some(Frame::Timed { start, data, payload })
}

fn report(reader: &mut Reader<'_>) -> Option<TfrcReport> {
    let (next, events) = (u64::from(reader.u32()?), u64::from(reader.u32()?));
    let (data_ack, window_edge) = (reader.place()?, reader.place()?);
    let (echo, delay) = (Time(reader.place()?), Span(reader.place()?));
    let received = Some(f64::from_bits(reader.u64()?)).filter(|rate| *rate >= 0.0)?;
    let (intervals, missing) = (usize::from(reader.u8()?), usize::from(reader.u8()?));
    if intervals > MOST_INTERVALS || missing > MOST_MISSING {
        return None;
    }
    let intervals =
        (0..intervals).map(|_| Some(u64::from(reader.u32()?))).collect::<Option<_>>()?;
    let range = |_| {
        let range = Range { start: reader.place()?, end: reader.place()? };
        (range.start < range.end).then_some(range)
    };
    let missing = (0..missing).map(range).collect::<Option<_>>()?;
    Some(TfrcReport {
        next,
        data_ack,
        window_edge,
        echo,
        delay,
        received,
        events,
        intervals,
        missing,
    })
}

/// Appends a report. Ranges beyond the first [`MOST_MISSING`] are for later reports.
fn encode_report(report: &TfrcReport, to: &mut Vec<u8>) {
    let short = |number: u64| u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes();
    let TfrcReport { data_ack, window_edge, echo, delay, .. } = *report;
    let intervals = &report.intervals[..report.intervals.len().min(MOST_INTERVALS)];
    let missing = &report.missing[..report.missing.len().min(MOST_MISSING)];
    to.push(REPORT);
    [report.next, report.events].map(short).iter().for_each(|number| to.extend(number));
    for number in [data_ack, window_edge, echo.0, delay.0, report.received.to_bits()] {
        to.extend(number.to_be_bytes());
    }
    to.extend([intervals.len() as u8, missing.len() as u8]);
    intervals.iter().for_each(|interval| to.extend(short(*interval)));
    for Range { start, end } in missing {
        to.extend(start.to_be_bytes());
        to.extend(end.to_be_bytes());
    }
}

impl Frame<'_> {
    /// Appends its bytes.
    pub(crate) fn encode(&self, to: &mut Vec<u8>) {
        let mut put = |kind: u8, numbers: &[u64]| {
            to.push(kind);
            numbers.iter().for_each(|number| to.extend(number.to_be_bytes()));
        };
        match self {
            Frame::Combination { start, stamp, what, symbol } => {
                to.push(COMBINATION);
                to.extend(start.to_be_bytes());
                to.extend(stamp.0.to_be_bytes());
                Header { combination: *what, len: symbol.len() as u16 }.encode(to);
                to.extend(*symbol);
            }
            Frame::CodedAck(ack) => {
                to.push(CODED_ACK);
                for number in [ack.first_unseen, ack.received, ack.covered] {
                    to.extend(number.to_be_bytes());
                }
                for number in [ack.data_ack, ack.window_edge, ack.echo.0, ack.transit.0] {
                    to.extend(number.to_be_bytes());
                }
            }
            Frame::Data { start, data, payload } => {
                put(DATA, &[*start, data.seq, data.dsn, data.stamp.0]);
                to.extend((data.len as u16).to_be_bytes());
                to.extend(*payload);
            }
            Frame::Ack(ack) => {
                let Ack { data_ack, window_edge, echo, transit, .. } = *ack;
                put(ACK, &[ack.ack, data_ack, window_edge, echo.0, transit.0]);
                let blocks = ack.sacks.blocks();
                to.push(blocks.len() as u8);
                for block in blocks {
                    to.extend(block.start.to_be_bytes());
                    to.extend(block.end.to_be_bytes());
                }
            }
            Frame::Probe(token) => put(PROBE, &[*token]),
            Frame::Answer(token) => put(ANSWER, &[*token]),
            Frame::Close(reason) => to.extend([CLOSE, *reason]),
            Frame::Timed { start, data, payload } => {
                to.push(TIMED);
                for number in [*start, data.number as u32] {
                    to.extend(number.to_be_bytes());
                }
                to.extend(data.dsn.to_be_bytes());
                to.extend(data.stamp.0.to_be_bytes());
                to.extend(data.rtt_us.min(LONGEST_RTT_US).to_be_bytes());
                to.extend(*payload);
            }
            Frame::Report(report) => encode_report(report, to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(of: &[Frame<'_>]) -> Vec<u8> {
        let mut bytes = vec![];
        of.iter().for_each(|frame| frame.encode(&mut bytes));
        bytes
    }

    proptest! {
        #[test]
        fn frames_come_back(
            places in prop::array::uniform5(0..MOST), numbers: [u32; 3], count in 0usize..=3,
            key in 0u32..1 << 24, segments in 1u8.., payload in prop::collection::vec(any::<u8>(), 12..60),
        ) {
            let [a, b, c, d, e] = places;
            let blocks = [Range { start: a / 2, end: a / 2 + 9 }; MAX_SACKS];
            let what = Combination { base: numbers[0] / 2, count: segments, key };
            let data = Data { seq: a, dsn: b, stamp: Time(c), len: payload.len() as u32, flags: Flags::NONE };
            let timed = TfrcData {
                number: u64::from(numbers[1].max(numbers[2])), dsn: a, len: data.len,
                rtt_us: numbers[0] % LONGEST_RTT_US, stamp: Time(b),
            };
            let small = [
                Frame::CodedAck(CodedAck {
                    first_unseen: numbers[0], received: numbers[1], covered: numbers[2],
                    data_ack: a, window_edge: b, echo: Time(c), transit: Span(d),
                }),
                Frame::Ack(Ack {
                    ack: a, data_ack: b, window_edge: c, echo: Time(d), transit: Span(e),
                    sacks: Sacks::first(count, blocks), flags: Flags::NONE,
                }),
                Frame::Probe(e), Frame::Answer(u64::MAX), Frame::Close(3),
                Frame::Report(TfrcReport {
                    next: u64::from(numbers[0]), events: u64::from(numbers[1]), data_ack: a,
                    window_edge: b, echo: Time(c), delay: Span(d), received: e as f64,
                    intervals: vec![u64::from(numbers[2]); 3 * count], missing: blocks[..count].to_vec(),
                }),
            ];
            for last in [
                Frame::Combination { start: numbers[1], stamp: Time(d), what, symbol: &payload },
                Frame::Data { start: d, data, payload: &payload },
                Frame::Timed { start: numbers[1], data: timed, payload: &payload },
            ] {
                let sent: Vec<_> = small.iter().cloned().chain([last]).collect();
                let read: Vec<_> = bytes(&sent).each();
                prop_assert_eq!(read.len(), sent.len());
                for (sent, read) in sent.iter().zip(read) {
                    prop_assert_eq!(bytes(std::slice::from_ref(sent)), read);
                }
            }
        }

        #[test]
        fn what_is_read_is_what_encoding_gives(kind in 0u8..11, rest in prop::collection::vec(prop_oneof![any::<u8>(), 0u8..3], 0..120)) {
            let datagram = [&[kind], &rest[..]].concat();
            let read: Vec<_> = frames(&datagram).collect();
            if let Some(whole) = read.iter().cloned().collect::<Option<Vec<_>>>() {
                // Equal values may differ in unused blocks only.
                prop_assert_eq!(bytes(&whole), datagram);
            }
        }
    }

    trait Reread {
        fn each(&self) -> Vec<Vec<u8>>;
    }

    impl Reread for Vec<u8> {
        /// The bytes of each frame that is read from these.
        fn each(&self) -> Vec<Vec<u8>> {
            frames(self).map(|frame| bytes(&[frame.expect("it can be read")])).collect()
        }
    }

    #[test]
    fn the_constants_are_the_lengths() {
        let full = Sacks::new([Range { start: 1, end: 2 }; MAX_SACKS]);
        let ack = Ack {
            ack: 0,
            data_ack: 0,
            window_edge: 0,
            echo: Time(0),
            transit: Span(0),
            sacks: full,
            flags: Flags::NONE,
        };
        assert!(bytes(&[Frame::Ack(ack)]).len() <= LONGEST);
        let range = Range { start: 1, end: 2 };
        let (intervals, missing) = (vec![1; MOST_INTERVALS + 1], vec![range; MOST_MISSING + 1]);
        let report = TfrcReport { intervals, missing, ..TfrcReport::default() };
        assert_eq!(bytes(&[Frame::Report(report)]).len(), LONGEST);
        let smallest = 600 - crate::datagram::SEALED_HEADER - crate::noise::TAG_BYTES;
        assert!(LONGEST <= smallest, "a frame fits into the smallest datagram");
        let what = Combination { base: 0, count: 1, key: 0 };
        let combination =
            Frame::Combination { start: 0, stamp: Time(0), what, symbol: &[0; TAG_LEN] };
        assert_eq!(bytes(&[combination]).len(), OVERHEAD);
    }
}
