//! A hostile peer: ACKs of data never sent, shrinking windows, overlapping SACK blocks, stale data
//! acks, echoes from the future. The sender must not panic and must never send beyond its windows.
#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use control::ControllerSpec;
use fuzz::{AnySender, Chosen, SEGMENT};
use libfuzzer_sys::fuzz_target;
use transport::SendingEndpoint;
use units::{Span, Time};
use wire::{Ack, CodedAck, Flags, Range, Sacks, Segment, TfrcReport};

#[derive(Arbitrary, Debug)]
enum Step {
    Ack {
        path: u8,
        ack: u16,
        data_ack: u16,
        window: i32,
        echo: i16,
        blocks: [(u16, u8); 3],
        flags: u8,
    },
    /// An ACK with numbers of any size.
    Wild {
        path: u8,
        ack: u64,
        data_ack: u64,
        window: u64,
        echo: u64,
        block: (u64, u64),
    },
    /// An answer of a receiver of combinations.
    Coded {
        path: u8,
        seen: u32,
        received: u16,
        highest: u32,
        data_ack: u16,
        window: u16,
    },
    /// A report of a TFRC receiver.
    Report {
        path: u8,
        heard: u64,
        data_ack: u16,
        echo: u64,
        delay: u64,
        received: f64,
        events: u64,
        intervals: [u64; 3],
        missing: [(u64, u64); 2],
    },
    Wait {
        millis: u16,
    },
    Timer,
    Join {
        path: u8,
    },
    Leave {
        path: u8,
    },
}

struct Peer {
    sender: AnySender,
    controller: ControllerSpec,
    paths: usize,
    now: Time,
    /// Right edge of the receive window, the furthest ever announced.
    edge: u64,
    /// The largest window so far on each path.
    peak: Vec<f64>,
    next: Vec<u64>,
    /// Paths whose packets are combinations.
    coded: Vec<bool>,
}

fuzz_target!(|bytes: &[u8]| {
    let _ = play(&mut Unstructured::new(bytes));
});

fn play(bytes: &mut Unstructured<'_>) -> Result<()> {
    let paths = bytes.int_in_range(1..=3)?;
    let Chosen { sender, settings, controller, coded } = fuzz::sender(bytes, paths, None)?;
    let (now, edge) = (Time(1_000_000_000), settings.options.first_buffer());
    let (peak, next) = (vec![settings.options.initial_window; paths], vec![0; paths]);
    let mut peer = Peer { sender, controller, paths, now, edge, peak, next, coded };
    peer.send();
    for _ in 0..200 {
        if bytes.is_empty() {
            break;
        }
        peer.step(Step::arbitrary(bytes)?);
        peer.send();
    }
    Ok(())
}

fn flags(bits: u8) -> Flags {
    let known = [Flags::ECHO, Flags::SYN, Flags::CONFIRM, Flags::MARKED];
    let chosen = known.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
    chosen.fold(Flags::NONE, |all, (_, one)| all.with(*one))
}

impl Peer {
    fn step(&mut self, step: Step) {
        match step {
            Step::Ack { path, ack, data_ack, window, echo, blocks, flags: bits } => {
                let unit = |number: u16| u64::from(number) * u64::from(SEGMENT) / 2;
                let sacks = blocks.map(|(start, segments)| {
                    let start = unit(start);
                    Range { start, end: start + u64::from(segments) * u64::from(SEGMENT) / 2 }
                });
                let data_ack = unit(data_ack);
                self.acknowledge(
                    path,
                    Ack {
                        ack: unit(ack),
                        data_ack,
                        window_edge: data_ack.saturating_add_signed(i64::from(window)),
                        echo: Time(self.now.0.saturating_add_signed(i64::from(echo) * 1_000_000)),
                        transit: Span(u64::from(echo.unsigned_abs()) * 1_000_000),
                        sacks: Sacks::new(sacks.into_iter().filter(|block| !block.is_empty())),
                        flags: flags(bits),
                    },
                );
            }
            Step::Coded { path, seen, received, highest, data_ack, window } => {
                let data_ack = u64::from(data_ack) * u64::from(SEGMENT);
                let window_edge = data_ack + 100 * u64::from(window);
                let (echo, transit, received) = (self.now, Span::ZERO, u32::from(received));
                self.answer(
                    path,
                    window_edge,
                    CodedAck {
                        first_unseen: seen,
                        received,
                        covered: highest,
                        data_ack,
                        window_edge,
                        echo,
                        transit,
                    },
                );
            }
            Step::Wild { path, ack, data_ack, window, echo, block } => {
                let sack = Range { start: block.0, end: block.1 };
                let sacks = Sacks::new(Some(sack));
                let (echo, transit, flags) = (Time(echo), Span(echo), Flags::NONE);
                // A window of 2^40 bytes is more than TCP can announce.
                let window_edge = data_ack.saturating_add(window % (1 << 40));
                self.acknowledge(
                    path,
                    Ack { ack, data_ack, window_edge, echo, transit, sacks, flags },
                );
            }
            Step::Report {
                path,
                heard,
                data_ack,
                echo,
                delay,
                received,
                events,
                intervals,
                missing,
            } => {
                let data_ack = u64::from(data_ack) * u64::from(SEGMENT);
                let missing = missing.map(|(start, end)| Range { start, end }).to_vec();
                let report = TfrcReport {
                    next: heard,
                    data_ack,
                    window_edge: data_ack,
                    echo: Time(echo),
                    delay: Span(delay),
                    received,
                    events,
                    intervals: intervals.to_vec(),
                    missing,
                };
                self.answer(path, data_ack, report);
            }
            Step::Wait { millis } => self.now = self.now + Span::millis(u64::from(millis)),
            Step::Timer => {
                let due = self.sender.next_deadline();
                if due < self.now + Span::millis(3_600_000) {
                    self.now = self.now.max(due);
                }
                self.sender.on_deadline(self.now);
            }
            Step::Join { path } => {
                let path = usize::from(path) % self.paths;
                self.sender.leave(path);
                self.next[path] = self.sender.join(path);
            }
            Step::Leave { path } => self.sender.leave(usize::from(path) % self.paths),
        }
    }

    fn acknowledge(&mut self, path: u8, ack: Ack) {
        self.answer(path, ack.window_edge, ack);
    }

    fn answer(&mut self, path: u8, edge: u64, answer: impl Into<Segment>) {
        self.edge = self.edge.max(edge);
        self.sender.on_answer(self.now, usize::from(path) % self.paths, &answer.into());
    }

    fn send(&mut self) {
        let peaks = self.peak.iter_mut().zip(0..);
        peaks.for_each(|(peak, path)| *peak = peak.max(self.sender.report(path).cwnd));
        for count in 0.. {
            assert!(count < 100_000, "{}: it does not stop", self.controller);
            let before: Vec<_> = (0..self.paths).map(|path| self.sender.report(path)).collect();
            let Some(sent) = self.sender.poll_transmit(self.now) else {
                break;
            };
            let path = sent.path;
            self.sender.on_sent(path, sent.segment.bytes());
            let data = match sent.segment {
                Segment::Data(data) => data,
                Segment::TfrcData(data) => {
                    assert!(data.len <= SEGMENT);
                    assert!(data.dsn + u64::from(data.len) <= self.edge, "beyond the window");
                    continue; // it has no congestion window
                }
                Segment::Combination(combination) => {
                    let AnySender::Coded(sender) = &self.sender else {
                        panic!("{combination:?} of a sender that does not code");
                    };
                    let of = sender.combined(path, &combination);
                    assert!(of.iter().all(|range| range.end <= self.edge), "beyond the window");
                    continue; // redundancy exceeds the window; its numbers are those of segments
                }
                other => panic!("no sender sends {other:?}"),
            };
            assert!(data.len <= SEGMENT);
            assert!(data.dsn + u64::from(data.len) <= self.edge, "beyond the receive window");
            if self.coded[path] {
                assert!(data.len == 0, "{data:?} is not coded");
                continue;
            }
            // New data follows the data sent before, without a gap.
            assert!(data.seq <= self.next[path], "{}: a hole before {}", self.controller, data.seq);
            self.next[path] = self.next[path].max(data.seq + u64::from(data.len));
            let after = self.sender.report(path);
            self.peak[path] = self.peak[path].max(after.cwnd);
            // Data thought lost may turn out to be in flight: then the pipe is above the window.
            // Even then nothing is sent, except by recovery, which has its own count, and by a
            // probe (RFC 8985 §7). Limited transmit sends two segments beyond the window (RFC
            // 3042).
            let excused = after.recovering || after.probes > before[path].probes;
            let most = (self.peak[path] + 2.0) * f64::from(SEGMENT);
            let pipe = before[path].pipe as f64;
            assert!(pipe <= most || excused, "{}: {after:?} over {most}", self.controller);
        }
    }
}
