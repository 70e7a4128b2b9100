//! A qlog of every path, in the version of qvis or in that of the current drafts.
//!
//! A segment is a packet with one stream frame whose offset is its data sequence number; packets of
//! a path are numbered in the order of sending, so that a retransmission has its own number. An ACK
//! is a packet with an ack frame over the numbers that it newly acknowledges.
//!
//! Packets of QUIC are encrypted: numbers, acknowledgements and losses are those that the sender
//! notes. An acknowledgement may arrive on another path than that of its packets, so that it is an
//! event of its own.

mod draft;
mod happening;
mod older;

use draft::Draft;
use happening::{Form, Happening, Named, Packet};
use older::Older;
use scenario::Plan;
use scenario::schema::Protocol;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};
use transport::{Note, Noted, PathReport};
use units::Time;
use wire::{Ack, Data, Flags, Segment};

/// Versions and serializations of qlog.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QlogForm {
    /// Version 0.3 as JSON, a trace for each path: qvis reads it.
    #[default]
    Older,
    /// The current drafts as JSON, a trace for each connection.
    Draft,
    /// The current drafts as JSON-SEQ, one stream of events.
    DraftSequence,
}

/// A packet not acknowledged yet.
struct Outstanding {
    number: u64,
    end: u64,
}

/// A path.
struct Path {
    /// Bytes of payload of a full segment, and of the headers of every packet.
    segment: u32,
    header: u32,
    /// By its first byte.
    outstanding: BTreeMap<u64, Outstanding>,
    sent: u64,
    received: u64,
    metrics: Value,
    phase: &'static str,
    counts: (u64, u64),
}

/// A log that is being written.
pub(super) struct Qlog {
    form: Box<dyn Form>,
    paths: Vec<Path>,
}

/// Where the events of a path go.
struct Log<'a> {
    form: &'a mut dyn Form,
    now: Time,
    path: usize,
}

impl Log<'_> {
    fn tell(&mut self, what: &Happening<'_>) {
        self.form.tell(self.now, self.path, what);
    }
}

impl Qlog {
    pub(super) fn new(out: Box<dyn Write + Send>, form: QlogForm, plan: &Plan, seed: u64) -> Self {
        let title = format!("{} with seed {seed}", plan.name);
        let users = plan.classes.iter().flat_map(|c| (0..c.count).map(move |user| (c, user)));
        let (mut names, mut paths) = (Vec::new(), Vec::new());
        for (flow, (class, user)) in users.enumerate() {
            let protocol = match class.protocol {
                Protocol::Tcp if class.controller.needs().reports => "TFRC",
                Protocol::Tcp => "TCP",
                Protocol::Udp => "UDP",
                Protocol::Quic => "QUIC",
            };
            for index in 0..class.paths.len() {
                let group = format!("{}.{user}", class.name);
                names.push(Named { group, flow, index, protocol });
                paths.push(Path {
                    segment: class.transport.payload.0 as u32,
                    header: (class.transport.packet.0 - class.transport.payload.0) as u32,
                    outstanding: BTreeMap::new(),
                    sent: 0,
                    received: 0,
                    metrics: Value::Null,
                    phase: "",
                    counts: (0, 0),
                });
            }
        }
        let form: Box<dyn Form> = match form {
            QlogForm::Older => Box::new(Older::new(out, title, names)),
            QlogForm::Draft => Box::new(Draft::new(out, title, names, false)),
            QlogForm::DraftSequence => Box::new(Draft::new(out, title, names, true)),
        };
        Qlog { form, paths }
    }

    fn path(&mut self, now: Time, path: u32) -> (&mut Path, Log<'_>) {
        let path = path as usize;
        (&mut self.paths[path], Log { form: &mut *self.form, now, path })
    }

    /// A sender has sent `segment`.
    pub(super) fn sent(&mut self, now: Time, path: u32, segment: &Segment) {
        if let Segment::QuicDatagram(_) = segment {
            return; // its sender's note says more
        }
        let (path, mut log) = self.path(now, path);
        path.on_sent(&mut log, segment);
    }

    /// Notes of the sender whose first path is `first`.
    pub(super) fn notes(&mut self, now: Time, first: u32, notes: &[Note]) {
        // Packets of one path that were acknowledged together are one event.
        let mut acked: Vec<u64> = Vec::new();
        for (place, note) in notes.iter().enumerate() {
            let (_, mut log) = self.path(now, first + note.path as u32);
            match note.what {
                // The drafts mean a QUIC packet, without UDP and IP (quic-events-13 §1.2).
                Noted::Sent { kind, number, bytes: length, payload } => {
                    log.tell(&Happening::Sent(Packet {
                        kind,
                        number,
                        length,
                        payload,
                        stream: None,
                    }));
                }
                Noted::Acked(number) => {
                    acked.push(number);
                    let goes_on = notes.get(place + 1).is_some_and(|next| {
                        next.path == note.path && matches!(next.what, Noted::Acked(_))
                    });
                    if !goes_on {
                        log.tell(&Happening::Acked(&std::mem::take(&mut acked)));
                    }
                }
                Noted::Lost(number) => log.tell(&Happening::Lost { number }),
            }
        }
    }

    /// `answer` arrived at the sender.
    pub(super) fn heard(&mut self, now: Time, path: u32, answer: &Segment) {
        let (path, mut log) = self.path(now, path);
        let length = path.header + answer.bytes();
        match answer {
            Segment::Ack(ack) => path.on_ack(&mut log, ack),
            // Its numbers are those of segments, not of packets.
            Segment::CodedAck(_) => path.on_answer(&mut log, "1RTT", length, None, &[]),
            Segment::QuicAnswer(_) => path.on_datagram(&mut log, answer.bytes()),
            _ => path.on_answer(&mut log, "1RTT", length, Some(answer.bytes()), &[]),
        }
    }

    /// Logs the sender's window and timer.
    pub(super) fn state(&mut self, now: Time, path: u32, report: &PathReport) {
        let (path, mut log) = self.path(now, path);
        path.on_state(&mut log, report);
    }

    /// `path` joins its connection.
    pub(super) fn joined(&mut self, path: u32) {
        self.form.joined(path as usize);
    }

    /// `path` leaves its connection.
    pub(super) fn left(&mut self, now: Time, path: u32) {
        self.form.tell(now, path as usize, &Happening::Left);
    }

    pub(super) fn finish(self) -> io::Result<()> {
        self.form.finish()
    }
}

impl Path {
    fn on_sent(&mut self, log: &mut Log<'_>, segment: &Segment) {
        let number = self.sent;
        self.sent += 1;
        // The packet's part of the connection's data; only all combinations together carry it.
        let (stream, len) = match segment {
            Segment::Data(data) => (Some(data.dsn), data.len),
            Segment::TfrcData(data) => (Some(data.dsn), data.len),
            Segment::Datagram(datagram) => (Some(datagram.offset), datagram.len),
            _ => (None, segment.bytes()),
        };
        if let Segment::Data(data) = segment {
            self.await_ack(log, data, number);
        }
        log.tell(&Happening::Sent(Packet {
            kind: if len == 0 { "handshake" } else { "1RTT" },
            number: Some(number),
            length: len + self.header,
            payload: Some(len),
            stream: stream.filter(|_| len > 0).map(|offset| (offset, len)),
        }));
    }

    /// Packet `number` carries `data`; an earlier packet with the same data was lost.
    fn await_ack(&mut self, log: &mut Log<'_>, data: &Data, number: u64) {
        if data.len == 0 {
            return; // part of a handshake
        }
        let end = data.seq + u64::from(data.len);
        let lost = self.outstanding.insert(data.seq, Outstanding { number, end });
        if let Some(Outstanding { number, .. }) = lost {
            log.tell(&Happening::Lost { number });
        }
    }

    fn on_ack(&mut self, log: &mut Log<'_>, ack: &Ack) {
        let mut numbers = Vec::new();
        while let Some(oldest) = self.outstanding.first_entry() {
            if oldest.get().end > ack.ack {
                break;
            }
            numbers.push(oldest.remove().number);
        }
        for block in ack.sacks.blocks() {
            let within = self.outstanding.range(block.start..block.end.max(block.start));
            let within = within.filter(|(_, one)| one.end <= block.end).map(|(seq, _)| *seq);
            for seq in within.collect::<Vec<_>>() {
                numbers.extend(self.outstanding.remove(&seq).map(|one| one.number));
            }
        }
        numbers.sort_unstable();
        let mut ranges: Vec<[u64; 2]> = Vec::new();
        for number in numbers {
            match ranges.last_mut() {
                Some([_, end]) if *end + 1 == number => *end = number,
                _ => ranges.push([number, number]),
            }
        }
        let kind = if ack.flags.has(Flags::SYN) { "handshake" } else { "1RTT" };
        let options = wire::sack_option_bytes(ack.sacks.blocks().len());
        self.on_answer(log, kind, self.header + options, None, &ranges);
    }

    /// A packet of `length` bytes arrived that acknowledges the packets in `ranges`.
    fn on_answer(
        &mut self,
        log: &mut Log<'_>,
        kind: &'static str,
        length: u32,
        payload: Option<u32>,
        ranges: &[[u64; 2]],
    ) {
        let number = Some(self.received);
        self.received += 1;
        let packet = Packet { kind, number, length, payload, stream: None };
        log.tell(&Happening::Received(packet, ranges));
    }

    /// A datagram with `length` bytes of encrypted packets arrived.
    fn on_datagram(&mut self, log: &mut Log<'_>, length: u32) {
        let packet = Packet { kind: "1RTT", number: None, length, payload: None, stream: None };
        log.tell(&Happening::Received(packet, &[]));
    }

    /// Logs the changed values. The window of a path that is not part of its connection has no
    /// meaning.
    fn on_state(&mut self, log: &mut Log<'_>, report: &PathReport) {
        if !report.member {
            return;
        }
        let segment = f64::from(self.segment);
        let mut metrics = json!({
            "congestion_window": (report.cwnd * segment) as u64,
            "bytes_in_flight": report.pipe,
        });
        if report.srtt.0 > 0 {
            metrics["smoothed_rtt"] = json!(report.srtt.0 as f64 / 1e6);
            metrics["latest_rtt"] = json!(report.latest_rtt.0 as f64 / 1e6);
        }
        if report.ssthresh.is_finite() {
            metrics["ssthresh"] = json!((report.ssthresh * segment) as u64);
        }
        if metrics != self.metrics {
            log.tell(&Happening::Metrics(&metrics));
            self.metrics = metrics;
        }
        let (recoveries, timeouts) =
            std::mem::replace(&mut self.counts, (report.recoveries, report.timeouts));
        if report.recoveries > recoveries {
            self.on_phase(log, "recovery");
        } else if report.timeouts > timeouts {
            self.on_phase(log, "slow_start");
        }
        // A recovery may end with the ACK that began it.
        if !report.recovering {
            let below = report.cwnd < report.ssthresh;
            self.on_phase(log, if below { "slow_start" } else { "congestion_avoidance" });
        }
    }

    fn on_phase(&mut self, log: &mut Log<'_>, new: &'static str) {
        let old = std::mem::replace(&mut self.phase, new);
        if new != old {
            log.tell(&Happening::Phase { old, new });
        }
    }
}
